"""A second look at published files, by code of its own: what each says, cell by cell."""
