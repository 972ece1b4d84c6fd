"""The command line."""

from discreet.cli.main import main

__all__ = ["main"]
