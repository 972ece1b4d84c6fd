"""Work on programs that is counted, so that questions about many groups come to an end."""

from __future__ import annotations

PROGRAMS = 200_000  # open cells of all programs and walks together, at the usual effort
BRANCHED = 10  # times as much for an integer program
PROJECTED = 3 * 10**9  # multiplications of projections, beside tables that show a width
ALONE = 1000  # times as many where projections are what shows it


class Work:
    """What is left of it, and whether it did not suffice.

    >>> work = Work(10)
    >>> work.take(7), work.take(7), work.short
    (True, False, True)
    """

    def __init__(self, most: float) -> None:
        self.most = self.left = most
        self.short = False

    def take(self, cells: int) -> bool:
        """Is there enough for a program over so many cells?"""
        self.short = self.short or cells > self.left
        if not self.short:
            self.left -= cells
        return not self.short

    def shares(self, number: int, unit: float) -> list[Work]:
        """What is left, in equal shares that count in units of so much."""
        return [Work(self.left / (number * unit)) for _ in range(number)]

    def spend(self, shares: list[Work], unit: float) -> None:
        """What was used of shares."""
        self.left -= unit * sum(share.most - share.left for share in shares)
        self.short = self.short or any(share.short for share in shares)
