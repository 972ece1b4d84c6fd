"""From risk and worth to a decision."""
