"""Tables as they are published: files, and the record of how they were made."""

from discreet.report.written.writing import FORMATS, write

__all__ = ["FORMATS", "write"]
