"""Which cells of a survey to publish."""
