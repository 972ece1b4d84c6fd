"""Routes under /api/v1: each calls one function and returns one view."""
