"""Which cells of a sheet tell too much by themselves, and how far they must stay open."""
