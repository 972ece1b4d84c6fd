"""May these tables be published? Policy, rules, verdict, assessment."""
