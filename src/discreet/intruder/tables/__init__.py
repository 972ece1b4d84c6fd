"""The tables that fit a release: how many there are, one by one, or drawn."""
