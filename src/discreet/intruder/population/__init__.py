"""How many people of the population are behind the cells of a sample."""
