"""A batch of sheets before the custodian: a verdict for each, for all together, and a mask."""
