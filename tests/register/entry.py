"""What a paper has, what does it in discreet, and the number: a row of docs/papers/register.md."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main


@dataclass(frozen=True)
class Entry:
    """`how` is an expression of `dc` or a command `discreet ...`; both are run as they stand.

    place    where in the paper, e.g. "Table 2", "section 6"
    about    what it is, in a few words
    printed  the number as the paper has it, "" for a recommendation without one
    right    what `how` gives: a number, a text, or a list of these
    pick     of a command, where in its JSON document the number is: "rows.0.after"
    given    statements run before an expression (`dc`, `np` are there); shown above it
    files    a command's files, by name
    within   how far from `right` (absolute)
    code     a command's exit code
    note     a misprint, or the reading that was taken
    nltcs    needs the survey's table
    """

    place: str
    about: str
    printed: str
    how: str
    right: Any
    pick: str = ""
    given: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    within: float = 5e-4
    code: int = 0
    note: str = ""
    nltcs: bool = False

    def value(self) -> Any:
        """By the public door alone."""
        if not self.how.startswith("discreet "):
            names = _given(self.given, tuple(sorted(self.files.items())))
            return _plain(eval(self.how, dict(names)))
        result = CliRunner().invoke(main, [*shlex.split(self.how)[1:], "--json"])
        assert result.exit_code == self.code, result.output
        found: Any = json.loads(result.stdout)
        for step in filter(None, self.pick.split(".")):
            found = found[int(step)] if re.fullmatch(r"-?\d+", step) else found[step]
        return _plain(found)

    def agrees(self, found: Any) -> bool:
        if isinstance(self.right, str | bool) or self.right is None:
            return bool(found == self.right)
        try:
            return bool(np.allclose(found, self.right, rtol=0, atol=self.within))
        except (TypeError, ValueError):
            return bool(found == self.right)

    def row(self) -> str:
        """Of the page's table; numbers are those that the test has compared."""
        how = "; ".join([*self.given.strip().splitlines(), self.how]).replace("|", "\\|")
        note = f" ({self.note})" if self.note else ""
        return (
            f"| {self.place} | {self.about} | {self.printed or '-'} | {shown(self.right)}{note} "
            f"| `{how}` |"
        )


@lru_cache(1)
def _given(statements: str, files: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """What the statements name; rows one after the other that share them share the work."""
    names: dict[str, Any] = {"dc": dc, "np": np}
    exec(statements, names)
    return names


def shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
