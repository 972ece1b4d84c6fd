"""Several releases of one table behind masks, read together by an intruder who knows the masks."""
