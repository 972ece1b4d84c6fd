"""Tables as an office prints them: totals, hierarchies, several codings, one system of sums."""
