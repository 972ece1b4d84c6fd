"""Masks: what is printed instead of the truth, and what an intruder knows who knows the mask."""
