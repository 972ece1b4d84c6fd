"""Beliefs without sampling: sums over all tables that fit, and closed forms."""
