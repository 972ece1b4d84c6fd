"""The command line."""

try:
    from discreet.cli.main import main
except KeyboardInterrupt:  # before there is a command to end
    raise SystemExit(130) from None

__all__ = ["main"]
