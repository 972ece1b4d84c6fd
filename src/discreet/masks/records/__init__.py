"""Masks of records: each gives back the masked file and what an intruder knows of the mask."""
