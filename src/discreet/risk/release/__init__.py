"""Risk of released margins: small counts, groups, published cells, beliefs."""
