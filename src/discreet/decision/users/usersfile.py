"""A users file: intruders and scientists, as an agency writes them down.

Section 3 of Dobra, Fienberg & Trottini 2003: a target, a loss, a prior or a class of priors, a
threshold, and what the agency loses.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.settings import Keys, check_called_apart, number, only
from discreet.data.smallfiles import read_toml
from discreet.decision.users.measures import identified, prior_name, tightness, true_table, under
from discreet.decision.users.priors import SATURATED, read_priors
from discreet.decision.users.threshold import Threshold
from discreet.decision.users.users import Cost, User, own_loss
from discreet.decision.users.wanted import Wanted
from discreet.decision.users.writtenloss import WrittenLoss
from discreet.errors import DataError
from discreet.intruder.posterior.whole_table import Model
from discreet.look.result import Shown
from discreet.look.words import plural
from discreet.risk.uncertainty.base import Uncertainty
from discreet.risk.uncertainty.named import as_uncertainty
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
ROLES = ("intruder", "scientist")
LOSSES = ("zero-one", "absolute", "squared", "log", "lengths")
MEASURES = {
    "tightness": {"small"},
    "true-table": {"prior", "threshold"},
    "identified": {"prior", "threshold", "small", "zeros"},
}
ALL = {"name", "role", "weight"}
KEYS = ALL | {"target", "chances", "loss", "prior", "threshold", "idle", "harm", "small"}
INTRUDES = KEYS | {"near", "right", "wrong"}
CLOSE = 1e-9


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
        tables = Keys(content, {"users"}, name).tables("users")
        found = [Entry(entry, where, table, folder) for where, entry in tables]
        check_called_apart((entry.name for entry in found), f"users of {name}")
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


class Entry:
    """One user of the file, checked key by key."""

    def __init__(self, entry: Any, where: str, table: Table, folder: Path) -> None:
        only(entry, INTRUDES | {"measure", "zeros"}, where)
        measured = "measure" in entry
        self.entry, self.table, self.folder = entry, table, folder
        self.name = str(entry.get("name", entry.get("measure", where)))
        self.where = f"{self.name!r}"
        self.keys = keys = Keys(entry, entry, self.where)
        self.role = keys.choice("role", ROLES, "intruder" if measured else None)
        self.measure = keys.choice("measure", MEASURES) if measured else None
        known = INTRUDES if self.role == "intruder" else KEYS
        if self.measure:
            if self.role == "scientist":
                raise DataError(f"{self.where} has a measure of risk; its role is intruder.")
            known = ALL | {"measure"} | MEASURES[self.measure]
        only(entry, known, self.where)
        self.weight = keys.number("weight", 1, above=0)
        self.small = keys.whole("small", 2, 1)
        self.models = read_priors(entry.get("prior"), self.where, table)

    def user(self) -> User:
        return self._measured() if self.measure else self._written()

    def _measured(self) -> User:
        models = self.models
        if self.measure == "tightness":
            found = tightness(self.table, most=self.small)
        elif self.measure == "true-table":
            given = models or [Model("uniform", seconds=math.inf)]
            found = true_table(self.table, given, threshold=self._threshold(math.inf))
        else:
            found = identified(
                self.table,
                models or [SATURATED],
                below=self.small + 1,
                zeros=self.keys.flag("zeros", True),
                threshold=self._threshold(1.0),
            )
        return dataclasses.replace(found, name=self.name)

    def _written(self) -> User:
        if "target" not in self.entry:
            raise DataError(f"{self.where} has no target; write what this user wants to know.")
        asked = f"target of {self.where}"
        wanted = Wanted.of(self.entry["target"], self.table, self.small, asked)
        loss, written = self._loss(wanted)
        return User.of(
            self.name,
            under(self.models or [SATURATED], wanted.under),  # type: ignore[arg-type]
            loss=loss,
            cost=self._cost(wanted, loss, written),
            threshold=self._threshold(math.inf),
            chances=self._chances(),
        )

    def _chances(self) -> list[float] | None:
        given = self.entry.get("chances")
        if given is None:
            return None
        where = f"chances of {self.where}"
        if not isinstance(given, list):
            raise DataError(f"{where} is {given!r}; list a number for each target.")
        return [number(each, where, least=0, most=1) for each in given]

    def _loss(self, wanted: Wanted) -> tuple[Uncertainty, WrittenLoss | None]:
        given = self.entry.get("loss", "zero-one" if self.role == "intruder" else "squared")
        if isinstance(given, str) and given.startswith("loss:"):
            written = self._file(given, "loss", wanted)
            return written.loss, written
        if given not in LOSSES:
            raise DataError(
                f"loss of {self.where} is {given!r}; write {', '.join(LOSSES)} or loss:FILE."
            )
        return as_uncertainty(given), None

    def _file(self, given: str, key: str, wanted: Wanted) -> WrittenLoss:
        if not wanted.single:
            raise DataError(
                f"{key} of {self.where} is a table of counts, and its target is not a count; take "
                "cells as targets."
            )
        return WrittenLoss.read(self.folder / given.removeprefix("loss:"))

    def _cost(self, wanted: Wanted, loss: Uncertainty, written: WrittenLoss | None) -> Cost:
        """What the agency loses by what this user does."""
        entry = self.entry
        if self.role == "scientist" and "threshold" in entry and "idle" not in entry:
            raise DataError(
                f"{self.where} may give up; write idle, what is lost by a scientist who does."
            )
        idle = self.keys.number("idle", 0.0)
        if "harm" in entry:
            return self._harm(written, wanted, idle)
        if self.role == "scientist":
            return own_loss(loss, idle)
        right, wrong = self.keys.number("right", 1.0), self.keys.number("wrong", 0.0)
        near = self.keys.number("near", least=0) if "near" in entry else None
        if written is not None and not written.guesses:
            raise DataError(
                f"{self.where} has acts that name no count ({written.acts[0]}), so that none is "
                'right or wrong; write harm = "loss:FILE", what the agency loses by each.'
            )
        kind = entry.get("loss", "zero-one")
        if near is None and not wanted.counts and kind in ("squared", "absolute"):
            raise DataError(
                f"{self.where} estimates a number; write near, how far from the truth an estimate "
                "is still right."
            )
        reach = (0.5 if wanted.counts else 0.0) if near is None else near

        def cost(tries: bool, estimate: Any, truth: Any) -> float:
            if not tries:
                return idle
            share = _rightness(kind, written, reach, estimate, truth)
            return right * share + wrong * (1 - share)

        return cost

    def _harm(self, written: WrittenLoss | None, wanted: Wanted, idle: float) -> Cost:
        given = self.entry["harm"]
        if odd := sorted({"right", "wrong", "near"} & set(self.entry)):
            raise DataError(f"{self.where} has harm and {odd[0]}; write one of both.")
        if not isinstance(given, str) or not given.startswith("loss:") or written is None:
            raise DataError(
                f"harm of {self.where} is {given!r}; write loss:FILE, beside a loss that is one."
            )
        harm = self._file(given, "harm", wanted)
        if set(harm.acts) != set(written.acts):
            raise DataError(
                f"{harm.name} has the acts {', '.join(harm.acts)}, the loss "
                f"{', '.join(written.acts)}; give both the same."
            )
        return lambda tries, act, truth: float(harm(act, truth)) if tries else idle

    def _threshold(self, default: float) -> Threshold:
        given = self.entry.get("threshold", default)
        where = f"threshold of {self.where}"
        if isinstance(given, list) and given:
            return Threshold.of([number(each, where) for each in given])
        if isinstance(given, dict):
            only(given, {"between"}, where)
            ends = given.get("between")
            if not isinstance(ends, list) or len(ends) != 2:
                raise DataError(f"{where} is {given!r}; write {{ between = [LOW, HIGH] }}.")
            low, high = (number(end, where) for end in ends)
            if not low < high:
                raise DataError(f"{where} is between {low:g} and {high:g}; the first is smaller.")
            return Threshold.of(lambda u: min(1.0, max(0.0, (high - u) / (high - low))))
        if given == math.inf:
            return Threshold.of(math.inf)
        return Threshold.of(number(given, where))

    def words(self) -> str:
        """What the file says of this user, in a line."""
        entry = self.entry
        said = [self.role]
        if self.measure:
            said.append(f"measure {self.measure}")
        for key in ("target", "loss", "threshold", "near", "right", "wrong", "idle", "harm"):
            if key in entry:
                said.append(f"{key} {_shown(entry[key])}")
        if self.models:
            many = len(self.models) > 1
            names = ", ".join(prior_name(model) for model in self.models)
            said.append(f"the worst of the priors {names}" if many else f"prior {names}")
        if "weight" in entry:
            said.append(f"{'scale' if self.role == 'intruder' else 'weight'} {self.weight:g}")
        return "; ".join(said)


def _rightness(
    kind: str, written: WrittenLoss | None, near: float, estimate: Any, truth: Any
) -> float:
    """1 if an estimate is right, 0 if not; of a distribution, what it gives the truth."""
    if written is not None:
        return float(written.right(estimate, truth))
    if kind == "log":
        return float(estimate.probability(truth))
    if kind == "lengths":
        lower, upper = (np.asarray(end) for end in estimate)
        return float(np.all((lower <= truth) & (np.asarray(truth) <= upper)))
    distance = np.abs(np.asarray(estimate, np.float64) - np.asarray(truth, np.float64))
    return float(np.all(distance <= near + CLOSE))


def _shown(value: object) -> str:
    """As in the file, on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_shown(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return str(value)
