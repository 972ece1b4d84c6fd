"""Cells left out so that those that must stay secret cannot be worked out from the rest."""
