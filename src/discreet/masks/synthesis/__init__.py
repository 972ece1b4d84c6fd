"""Synthetic data: copies drawn from a model, what they are worth, and what they give away."""
