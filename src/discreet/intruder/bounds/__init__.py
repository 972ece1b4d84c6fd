"""Feasible intervals: what a release says for certain."""
