"""Masks side by side: what each risks, what it is worth, and which one to choose."""
