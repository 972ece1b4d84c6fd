"""What the published tables say for certain about the small counts behind them."""

import discreet as dc

table = dc.load("example:tract")
small = table.small()

release = dc.Release.margins(table, "Race*Income + Income*Gender")
intervals = dc.bounds(release, small)
print(intervals)
print(intervals.to_frame(counts=small.counts).to_string(index=False))

# The third pair closes a circle: no formula any more, so linear programs find the intervals.
more = dc.Release.margins(table, "Race*Income + Income*Gender + Gender*Race")
print(dc.bounds(more, small))

# Somebody who knows one count can work out others.
rich = {"Gender": "Male", "Race": "Chinese", "Income": "over $25,000"}
print(dc.bounds(more.insider(rich, 2), small))
