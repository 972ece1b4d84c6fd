"""May these two tables be published together? A verdict, the reasons, and what to do instead."""

import discreet as dc

table = dc.load("example:tract")
print(table)

assessment = dc.assess(table, "Race*Income + Income*Gender")
print(assessment)

if assessment.verdict is not dc.Verdict.PASS:
    offer = assessment.alternatives[0]
    print(f"Take the first offer, {offer.how}: {offer.decision.verdict}")
