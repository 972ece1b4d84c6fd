"""The rows of one session, and whether it may write the page.

The page holds ratios from one run on one machine, so only a session that ran every claim of it
writes docs; any other writes to benchmarks/out.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterable
from pathlib import Path

from claims import Claim, Run
from claims_machine import machine, versions

HERE = Path(__file__).parent
CLAIMS = re.compile(r"def test_\w+\([^)]*\bclaim\b")


class Claiming:
    """What a test calls: once a row, or `absent` for a rival that is not installed."""

    def __init__(self, session: Session, test: str, large: bool) -> None:
        self.session, self.test, self.large = session, test, large

    def __call__(
        self, topic, what, *, ours, rival=None, theirs=None, size="", memory=None, growth=(), why=""
    ):
        """A row of the page: seconds, MiB, and pairs of size and our seconds."""
        numbers = [None if at is None else float(at) for at in (theirs, memory)]
        pairs = tuple((float(size), float(seconds)) for size, seconds in growth)
        row = Claim(
            topic, what, float(ours), rival, numbers[0], str(size), numbers[1], pairs, why,
            self.large,
        )  # fmt: skip
        self.session.claim(self.test, row)
        return row

    def absent(self, rival, install):
        """The rival is not here; `install` says how it comes. The test is skipped."""
        import pytest

        self.session.absent[rival] = install
        self.session.excused.add(self.test)
        pytest.skip(f"{rival} is not installed: {install}")


class Session:
    """Rows by test, and which tests that claim something ran to their end."""

    def __init__(self, folder: Path = HERE) -> None:
        self.folder = folder
        self.docs, self.out = folder.parent / "docs", folder / "out"
        self.rows: dict[str, list[Claim]] = {}
        self.absent: dict[str, str] = {}
        self.wanted: dict[str, bool] = {}  # a test that claims, and whether its data are large
        self.excused: set[str] = set()
        self.done: set[str] = set()
        self.whole = False
        self.load = os.getloadavg()[0]

    def claim(self, test: str, row: Claim) -> None:
        if any(row.name == other.name for rows in self.rows.values() for other in rows):
            raise ValueError(f"{row.topic}: {row.what!r} is claimed twice; say what differs.")
        self.rows.setdefault(test, []).append(row)

    def collected(self, files: Iterable[Path], picked: bool) -> None:
        """Which files were read; `picked` is True if tests were named one by one."""
        claiming = {
            path
            for path in self.folder.glob("test_*.py")
            if CLAIMS.search(path.read_text(encoding="utf-8"))
        }
        self.whole = not picked and claiming <= set(files)

    def ended(self, test: str, outcome: str) -> None:
        """A test that failed claims nothing."""
        if outcome == "passed" or (outcome == "skipped" and test in self.excused):
            self.done.add(test)
        else:
            self.done.discard(test)
            self.rows.pop(test, None)

    @property
    def missing(self) -> list[str]:
        """Tests that claim and did not run to their end, those of large data last."""
        left = [test for test in self.wanted if test not in self.done]
        return sorted(left, key=lambda test: (self.wanted[test], test))

    @property
    def stored(self) -> Run | None:
        path = self.docs / "benchmarks.json"
        return Run.read(path) if path.exists() else None

    def complete(self) -> bool:
        """True if every claim of the page ran; large ones may lack where the page has none."""
        before = self.stored
        needed = before is not None and any(claim.large for claim in before.claims)
        return self.whole and all(self.wanted[test] and not needed for test in self.missing)

    def run(self) -> Run:
        rows = [row for rows in self.rows.values() for row in rows]
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        left_out = tuple(test.rpartition("/")[2] for test in self.missing)
        found = Run(
            today, machine(), versions(), tuple(sorted(rows, key=lambda row: row.topic)),
            dict(sorted(self.absent.items())), left_out, load=round(self.load, 1),
        )  # fmt: skip
        return found.since(self.stored)

    def write(self) -> tuple[Run, Path] | None:
        """The page, its data and charts, to docs or to benchmarks/out; None without a row."""
        if not any(self.rows.values()):
            return None
        from claims_page import write_page

        run, folder = self.run(), self.docs if self.complete() else self.out
        write_page(run, folder)
        return run, folder
