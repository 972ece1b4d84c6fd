"""Records: where they come from, what their columns mean, counting inside the engine."""
