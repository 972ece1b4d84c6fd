"""Short codes for names and categories, where a format allows only plain letters."""

from discreet.data.codes import codes

__all__ = ["codes"]
