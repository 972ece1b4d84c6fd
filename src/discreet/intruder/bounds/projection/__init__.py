"""Linear bounds at any size, by projections, sixteen programs to a core."""
