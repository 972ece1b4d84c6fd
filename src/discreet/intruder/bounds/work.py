"""Work on programs that is counted, so that questions about many groups come to an end."""

from __future__ import annotations

PROGRAMS = 200_000  # open cells of all programs and walks together, at the usual effort
BRANCHED = 10  # times as much for an integer program


class Work:
    """What is left of it, and whether it did not suffice.

    >>> work = Work(10)
    >>> work.take(7), work.take(7), work.short
    (True, False, True)
    """

    def __init__(self, most: float) -> None:
        self.left, self.short = most, False

    def take(self, cells: int) -> bool:
        """Is there enough for a program over so many cells?"""
        self.short = self.short or cells > self.left
        if not self.short:
            self.left -= cells
        return not self.short
