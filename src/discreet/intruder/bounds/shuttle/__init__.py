"""Outer bounds of every sum of a table at once: the generalised shuttle."""
