"""One user of a users file, read key by key."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np

from discreet.decision.users.measures import identified, prior_name, tightness, true_table, under
from discreet.decision.users.priors import SATURATED, read_priors
from discreet.decision.users.threshold import Threshold
from discreet.decision.users.users import Cost, User, own_loss
from discreet.decision.users.wanted import Wanted
from discreet.decision.users.writtenloss import WrittenLoss
from discreet.errors import DataError
from discreet.intruder.linkage.model import number, only
from discreet.intruder.posterior.whole_table import Model
from discreet.risk.uncertainty.base import Uncertainty
from discreet.risk.uncertainty.named import as_uncertainty
from discreet.table.table import Table

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


class Entry:
    """One user of the file, checked key by key."""

    def __init__(self, entry: Any, where: str, table: Table, folder: Path) -> None:
        measured = isinstance(entry, dict) and "measure" in entry
        only(entry, INTRUDES | {"measure", "zeros"}, where)
        self.entry, self.table, self.folder = entry, table, folder
        self.name = str(entry.get("name", entry["measure"] if measured else where))
        self.where = f"{self.name!r}"
        self.role = entry.get("role", "intruder" if measured else None)
        if self.role not in ROLES:
            raise DataError(
                f"role of {self.where} is {entry.get('role')!r}; write intruder or scientist."
            )
        self.measure = entry.get("measure")
        if measured:
            if not isinstance(self.measure, str) or self.measure not in MEASURES:
                raise DataError(
                    f"measure of {self.where} is {self.measure!r}; write {', '.join(MEASURES)}."
                )
            if self.role == "scientist":
                raise DataError(f"{self.where} has a measure of risk; its role is intruder.")
            only(entry, ALL | {"measure"} | MEASURES[self.measure], self.where)
        else:
            only(entry, INTRUDES if self.role == "intruder" else KEYS, self.where)
        self.weight = number(entry.get("weight", 1), f"weight of {self.where}", above=0)
        self.small = entry.get("small", 2)
        if not isinstance(self.small, int) or isinstance(self.small, bool) or self.small < 1:
            raise DataError(f"small of {self.where} is {self.small!r}; give a whole number from 1.")
        self.models = read_priors(entry.get("prior"), self.where, table)

    def user(self) -> User:
        return self._measured() if self.measure else self._written()

    def _measured(self) -> User:
        entry, models = self.entry, self.models
        if self.measure == "tightness":
            found = tightness(self.table, most=self.small)
        elif self.measure == "true-table":
            given = models or [Model("uniform", seconds=math.inf)]
            found = true_table(self.table, given, threshold=self._threshold(math.inf))
        else:
            zeros = entry.get("zeros", True)
            if not isinstance(zeros, bool):
                raise DataError(f"zeros of {self.where} is {zeros!r}; write true or false.")
            found = identified(
                self.table,
                models or [SATURATED],
                below=self.small + 1,
                zeros=zeros,
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
        idle = self._number("idle", 0.0)
        if "harm" in entry:
            return self._harm(written, wanted, idle)
        if self.role == "scientist":
            return own_loss(loss, idle)
        right, wrong, near = self._number("right", 1.0), self._number("wrong", 0.0), None
        if written is not None and not written.guesses:
            raise DataError(
                f"{self.where} has acts that name no count ({written.acts[0]}), so that none is "
                'right or wrong; write harm = "loss:FILE", what the agency loses by each.'
            )
        if "near" in entry:
            near = number(entry["near"], f"near of {self.where}", least=0)
        elif not wanted.counts and entry.get("loss", "zero-one") in ("squared", "absolute"):
            raise DataError(
                f"{self.where} estimates a number; write near, how far from the truth an estimate "
                "is still right."
            )
        reach = (0.5 if wanted.counts else 0.0) if near is None else near
        kind = entry.get("loss", "zero-one")

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

    def _number(self, key: str, default: float) -> float:
        return number(self.entry.get(key, default), f"{key} of {self.where}")

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
