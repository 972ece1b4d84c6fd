"""How probable each count is, given a release: exact, by chains, averaged over models."""
