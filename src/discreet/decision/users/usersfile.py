"""A users file: intruders and scientists, as an agency writes them down.

Section 3 of Dobra, Fienberg & Trottini 2003: a target, a loss, a prior or a class of priors, a
threshold, and what the agency loses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.decision.users.entry import Entry
from discreet.decision.users.users import User
from discreet.errors import DataError
from discreet.intruder.linkage.model import only, read_toml
from discreet.look.result import Shown
from discreet.look.words import plural
from discreet.table.table import Table

EXAMPLE = """\
[[users]]
name = "a neighbour"
role = "intruder"
target = "small"                  # cells, nonzero, table, "A*B", { cell = { A = "x" } }
loss = "zero-one"                 # absolute, squared, log, lengths, "loss:FILE"
prior = ["uniform", "saturated:0.5", "release"]   # a class: the worst counts
threshold = 0.6                   # gives up if more uncertain than this
right = 1.0                       # what the agency loses by a right guess,
wrong = 0.2                       # by a wrong one,
idle = 0.0                        # and if the intruder gives up

[[users]]
name = "guesses a cell"
measure = "identified"            # (5); tightness (3), true-table (4)
prior = "release"
weight = 0.5                      # the scale of this intruder's risk

[[users]]
name = "a sociologist"
role = "scientist"
target = { share = { Income = "up to $10,000" }, of = { Race = "Black" } }
loss = "squared"
prior = "uniform"
weight = 3                        # against other scientists
"""


@dataclass(frozen=True)
class Users(Shown):
    """The users of a file: intruders with the scales of their risks, scientists with weights.

    >>> from discreet.table.load import load
    >>> Users.of({"users": [{"measure": "tightness"}]}, load("example:tract"))
    Users(1 intruder, 0 scientists)
    """

    intruders: tuple[User, ...]
    scientists: tuple[User, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    said: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return (
            f"Users({plural(len(self.intruders), 'intruder')}, "
            f"{plural(len(self.scientists), 'scientist')})"
        )

    @classmethod
    def read(cls, path: str | Path, table: Table) -> Users:
        return cls.of(read_toml(path), table, str(path), Path(path).parent)

    @classmethod
    def of(
        cls,
        content: Mapping[str, Any],
        table: Table,
        name: str = "the users file",
        folder: Path = Path(),
    ) -> Users:
        """From what a TOML file holds; files that it names are in `folder`."""
        only(content, {"users"}, name)
        given = content.get("users")
        if not isinstance(given, list) or not given:
            raise DataError(f"{name} names no user; write a table [[users]] for each.")
        found = [
            Entry(entry, f"user {place} of {name}", table, folder)
            for place, entry in enumerate(given, 1)
        ]
        names = [entry.name for entry in found]
        if twice := [one for one in names if names.count(one) > 1]:
            raise DataError(f"two users of {name} are called {twice[0]!r}; give each a name.")
        intruders = [entry for entry in found if entry.role == "intruder"]
        scientists = [entry for entry in found if entry.role == "scientist"]
        if not intruders:
            raise DataError(f"{name} names no intruder; there is no risk without one.")
        weights = np.array([entry.weight for entry in scientists])
        users = {entry.name: entry.user() for entry in found}
        widths = [entry.name for entry in intruders if entry.measure == "tightness"]
        if widths and len(intruders) > 1:
            raise DataError(
                f"the risk by {widths[0]!r} is minus a width, never the worst beside risks from 0 "
                "on, and would not count; choose by tightness in a file without other intruders."
            )
        return cls(
            tuple(users[entry.name] for entry in intruders),
            tuple(users[entry.name] for entry in scientists),
            tuple(entry.weight for entry in intruders),
            tuple((weights / weights.sum()).tolist()) if scientists else (),
            tuple((entry.name, entry.words()) for entry in found),
        )
