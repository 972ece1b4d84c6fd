"""Harm from what is inferred, rightly or wrongly (Lambert 1993, section 6.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.linkage.model import number, only, read_toml
from discreet.intruder.linkage.records import Records, numbers, texts
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.risk.linkage.identification import Identification
from discreet.risk.linkage.inference import (
    Covariate,
    logistic,
    misclassified,
    mixed,
    prior_shares,
    record_beliefs,
)
from discreet.table.cells import frame

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
OUTCOMES = ("none", "FN", "TN", "FF", "FT", "TF", "TT")
SAID = {
    "none": "not identified",
    "FN": "wrong record, nothing inferred",
    "TN": "right record, nothing inferred",
    "FF": "wrong record, false inference",
    "FT": "wrong record, true inference",
    "TF": "right record, false inference",
    "TT": "right record, true inference",
}
FUNCTIONS = {"overestimate": set[str](), "excess": set[str](), "threshold": {"limit", "loss"}}


@dataclass(frozen=True)
class Costs:
    """What an outcome costs a respondent, and how the intruder infers.

    `costs`: of the six outcomes after a link (first letter: is the record right; second: nothing,
    false or true inferred). `bayes`: of each category, after a false (F) and a true (T) link.
    `function`: of a number: overestimate (squared), excess, or loss above a limit.
    `widest`: nothing is inferred of a number whose belief has a larger standard deviation.
    `q`: a released value is right with this probability; `infer`: a category is inferred if it is
    believed at least so much; `belief`: of the linked record, or mixed over all candidates.
    `errors` of the columns to `predict` from: the spread of a number, or how probably a category is
    kept.

    >>> import discreet as dc
    >>> prices = {"FN": 0, "TN": 1, "FF": 2, "FT": 3, "TF": 2, "TT": 10}
    >>> dc.linkage.Costs.of({"sensitive": "ill", "costs": prices}).infer
    0.9
    """

    sensitive: str
    costs: Mapping[str, float] = field(default_factory=dict)
    bayes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    function: str | None = None
    limit: float = 0.0
    loss: float = 1.0
    widest: float = math.inf
    q: float = 1.0
    infer: float | Mapping[str, float] = 0.9
    belief: str = "record"
    predict: tuple[str, ...] = ()
    errors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    groups: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: str | Path) -> Costs:
        return cls.of(read_toml(path), str(path))

    @classmethod
    def of(cls, content: Mapping[str, Any], name: str = "the harm file") -> Costs:
        """From what a TOML file holds."""
        known = {
            "sensitive", "costs", "bayes", "number", "q", "infer", "belief", "predict", "errors",
            "group",
        }  # fmt: skip
        only(content, known, name)
        if not isinstance(content.get("sensitive"), str):
            raise DataError(f'{name} names no column; write sensitive = "COLUMN".')
        kinds = [kind for kind in ("costs", "bayes", "number") if kind in content]
        if len(kinds) != 1:
            raise DataError(f"{name} needs one of the tables [costs], [bayes] and [number].")
        belief = content.get("belief", "record")
        if belief not in ("record", "mixture"):
            raise DataError(f"belief of {name} is {belief!r}; write record or mixture.")
        infer = content.get("infer", 0.9)
        if isinstance(infer, dict):
            cut: Any = {str(k): _share(v, f"infer.{k} of {name}") for k, v in infer.items()}
        else:
            cut = _share(infer, f"infer of {name}")
        given: dict[str, Any] = {
            "q": _share(content.get("q", 1.0), f"q of {name}"),
            "infer": cut,
            "belief": belief,
            "predict": _names(content.get("predict", []), f"predict of {name}"),
            "groups": _names(content.get("group", []), f"group of {name}"),
        }
        given["errors"] = _errors(content.get("errors", {}), given["predict"], name)
        table = content[kinds[0]]
        if kinds[0] == "costs":
            only(table, set(OUTCOMES[1:]), f"[costs] of {name}")
            given["costs"] = _prices(table, OUTCOMES[1:], f"[costs] of {name}")
        elif kinds[0] == "bayes":
            only(table, {"F", "T"}, f"[bayes] of {name}")
            for side in ("F", "T"):
                if not isinstance(table.get(side), dict):
                    raise DataError(f"[bayes] of {name} has no {side}; give a cost of each value.")
            given["bayes"] = {
                side: {str(k): number(v, f"{side}.{k} in [bayes]") for k, v in row.items()}
                for side, row in table.items()
            }
        else:
            given |= _function(table, f"[number] of {name}")
            if "widest" in table and belief != "mixture":
                raise DataError(
                    f"[number] of {name} has widest, but the value of a linked record has no "
                    'spread; write belief = "mixture".'
                )
        return cls(content["sensitive"], **given)


@dataclass(frozen=True, eq=False)
class Harm(Result):
    """Outcome and harm of every respondent.

    `by_outcome` is empty for costs that are no table. `without_link`: respondents whose value is
    inferred from candidates that agree, though no record is linked, and how many rightly.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 62], "ill": ["no", "yes", "no"]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, people, intruder, id="id", also=["ill"])
    >>> costs = dc.linkage.Costs("ill", {"FN": 0, "TN": 1, "FF": 2, "FT": 3, "TF": 2, "TT": 10})
    >>> dc.linkage.harm(records, dc.identify(records, intruder), costs).by_outcome
    {'none': 0, 'FN': 0, 'TN': 0, 'FF': 0, 'FT': 0, 'TF': 0, 'TT': 3}
    """

    costs: Costs
    outcome: Ints
    harm: Floats
    groups: Mapping[str, NDArray[np.object_]]
    without_link: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return f"Harm({self.total:,.6g} to {plural(len(self.harm), 'respondent')})"

    @property
    def total(self) -> float:
        return float(self.harm.sum())

    @property
    def by_outcome(self) -> dict[str, int]:
        """How many respondents have each outcome; they sum to all of them."""
        counts = np.bincount(self.outcome, minlength=len(OUTCOMES))
        return dict(zip(OUTCOMES, counts.tolist(), strict=True))

    @property
    def harm_by_outcome(self) -> dict[str, float]:
        """The sum of harm of each outcome."""
        sums = np.bincount(self.outcome, self.harm, len(OUTCOMES))
        return dict(zip(OUTCOMES, sums.tolist(), strict=True))

    def by_group(self) -> list[dict[str, Any]]:
        found = []
        for name, labels in self.groups.items():
            values, place = np.unique(labels.astype(str), return_inverse=True)
            many, sums = np.bincount(place), np.bincount(place, self.harm)
            linked = np.bincount(place, self.outcome > 0)
            for k, value in enumerate(values.tolist()):
                row = {"group": name, "value": value, "respondents": int(many[k])}
                found.append(row | {"linked": int(linked[k]), "harm": float(sums[k])})
        return found

    def plot(self, **options: Any) -> Any:
        """Bars: the harm of each outcome."""
        from discreet.look.linkcharts import outcome_chart

        many, sums = self.by_outcome, self.harm_by_outcome
        rows = [(SAID[name], many[name], sums[name]) for name in OUTCOMES]
        return outcome_chart(rows, **options)

    def plot_groups(self, **options: Any) -> Any:
        """Bars: the harm to a respondent of each group."""
        from discreet.look.linkcharts import group_chart

        rows = [
            (f"{row['group']} {row['value'] or 'missing'}", row["respondents"], row["harm"])
            for row in self.by_group()
        ]
        return group_chart(rows, **options)

    def to_frame(self, kind: str = "pandas") -> Any:
        names = np.array(OUTCOMES)[self.outcome]
        return frame({"outcome": names, "harm": self.harm, **self.groups}, kind)

    def to_json(self) -> dict[str, Any]:
        known = {"sensitive": self.costs.sensitive, "total": self.total}
        known |= {"average": float(self.harm.mean()), "outcomes": self.by_outcome}
        if self.without_link is not None:
            inferred, right = self.without_link
            known["without_link"] = {"inferred": inferred, "right": right}
        return known | {"groups": self.by_group()}


def harm(records: Records, found: Identification, costs: Costs) -> Harm:
    """What the links that the intruder acts on cost each respondent.

    Of released records that tie, the first is taken.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 62], "ill": ["no", "yes", "no"]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, people, intruder, id="id", also=["ill"])
    >>> costs = dc.linkage.Costs("ill", {"FN": 0, "TN": 1, "FF": 2, "FT": 3, "TF": 2, "TT": 10})
    >>> dc.linkage.harm(records, dc.identify(records, intruder), costs)
    Harm(30 to 3 respondents)
    """
    if records.parents is None:
        raise DataError("harm needs to know which links are true; name the id column (--id).")
    best = np.where(found.linked, found.links.best, -1)
    right = (best >= 0) & (records.parents[best] == np.arange(records.sources))
    groups = {name: texts(records.source[name]) for name in costs.groups}
    if costs.function is not None:
        return _harm_of_number(records, found, costs, best, right, groups)
    true, seen, categories = _categories(records, costs)
    table = misclassified(len(categories), costs.q)
    prior = prior_shares(np.bincount(seen, minlength=len(categories)).astype(float), table)
    priors = _predicted(records, costs, seen, categories) if costs.predict else prior[None]
    beliefs = record_beliefs(seen, table, priors)
    mixture = mixed(found.links, beliefs, prior)[found.links.source.of]
    held = mixture if costs.belief == "mixture" else beliefs[best]
    linked = best >= 0
    inferred = np.where(linked, _inferred(held, costs, categories), -1)
    said = np.where(inferred < 0, 1 + right, 3 + (inferred == true) + 2 * right)
    outcome = np.where(linked, said, 0).astype(np.int64)
    unlinked = ~linked & ((guess := _inferred(mixture, costs, categories)) >= 0)
    quiet = (int(unlinked.sum()), int((unlinked & (guess == true)).sum()))
    if costs.bayes:
        for side, row in costs.bayes.items():
            if odd := [c for c in categories if c not in row]:
                raise DataError(f"{side} in [bayes] has no cost for {odd[0]!r}; write 0 if none.")
        prices = {s: np.array([row[c] for c in categories]) for s, row in costs.bayes.items()}
        felt = np.where(right, held @ prices["T"], held @ prices["F"]) * linked
    else:
        felt = np.array([0.0, *(costs.costs[name] for name in OUTCOMES[1:])])[outcome]
    return Harm(costs, outcome, felt, groups, quiet)


def _harm_of_number(
    records: Records,
    found: Identification,
    costs: Costs,
    best: Ints,
    right: NDArray[np.bool_],
    groups: Mapping[str, NDArray[np.object_]],
) -> Harm:
    name = costs.sensitive
    true = numbers(records.source[name], name, records.names[0])
    seen = numbers(records.released[name], name, records.names[1])
    if np.isnan(true).any() or np.isnan(seen).any():
        raise DataError(f"{name!r} has missing values; harm needs them all.")
    linked, known = best >= 0, np.ones(len(true), bool)
    said = seen[best]
    if costs.belief == "mixture":
        middle = seen.mean()
        powers = np.column_stack([seen - middle, (seen - middle) ** 2])
        first, second = mixed(found.links, powers, powers.mean(0))[found.links.source.of].T
        said = middle + first
        known = second - first**2 <= costs.widest**2
    over = np.maximum(0, said - true)
    price = {
        "overestimate": over**2,
        "excess": over,
        "threshold": costs.loss * (said > costs.limit),
    }
    exactly = np.isclose(said, true, rtol=1e-9, atol=0)
    told = np.where(known, 3 + 2 * right + exactly, 1 + right)
    outcome = np.where(linked, told, 0).astype(np.int64)
    silent = np.array([costs.costs.get(name, 0.0) for name in ("FN", "TN")])[1 * right]
    felt = np.where(linked, np.where(known, price[costs.function or "excess"], silent), 0.0)
    return Harm(costs, outcome, felt, groups)


def _categories(records: Records, costs: Costs) -> tuple[Ints, Ints, list[str]]:
    import pandas as pd

    name = costs.sensitive
    source, released = texts(records.source[name]), texts(records.released[name])
    for values, where in ((source, 0), (released, 1)):
        if (values == "").any():
            row = int(np.argmax(values == "")) + 1
            raise DataError(f"row {row} of {records.names[where]} has no {name!r}; fill it in.")
    codes, found = pd.factorize(np.concatenate([source, released]), sort=True)
    if isinstance(costs.infer, Mapping) and (odd := set(costs.infer) - set(found)):
        raise DataError(f"infer has {min(odd)!r}, which is no value of {name!r}.")
    return codes[: len(source)], codes[len(source) :], [str(value) for value in found]


def _inferred(beliefs: Floats, costs: Costs, categories: list[str]) -> Ints:
    """The category that is believed firmly enough, else -1."""
    if isinstance(costs.infer, Mapping):
        cuts = np.array([costs.infer.get(name, 1.0) for name in categories])
    else:
        cuts = np.full(len(categories), costs.infer)
    enough = beliefs >= cuts - 1e-12
    guess = np.where(enough, beliefs, -1).argmax(1)
    return np.where(enough.any(1), guess, -1)


def _predicted(records: Records, costs: Costs, seen: Ints, categories: list[str]) -> Floats:
    if len(categories) != 2:
        raise DataError(
            f"{costs.sensitive!r} has {len(categories)} values; predict needs a sensitive column "
            "of two."
        )
    covariates = [_covariate(records, name, costs.errors.get(name, {})) for name in costs.predict]
    return logistic(seen, covariates, costs.q).prior


def _covariate(records: Records, name: str, error: Mapping[str, float]) -> Covariate:
    """Numbers, if all values are and none is said to be a category that may be wrong."""
    column = records.released[name]
    if "keep" in error:
        return Covariate.category(name, texts(column), error["keep"])
    try:
        values = numbers(column, name, records.names[1])
    except DataError:
        if "spread" in error:
            raise
        return Covariate.category(name, texts(column))
    if np.isnan(values).any():
        raise DataError(f"{name!r} has missing values; predict from others.")
    return Covariate.number(name, values, error.get("spread", 0.0))


def _share(value: object, what: str) -> float:
    return number(value, what, least=0, most=1)


def _names(value: object, what: str) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise DataError(f"{what} is {value!r}; give a list of columns.")
    return tuple(listed)


def _errors(table: Any, predict: tuple[str, ...], where: str) -> dict[str, dict[str, float]]:
    only(table, set(predict), f"errors of {where}")
    found = {}
    for name, error in table.items():
        what = f"errors.{name} of {where}"
        only(error, {"spread", "keep"}, what)
        if len(error) != 1:
            raise DataError(f"{what} needs the spread of a number, or keep of a category.")
        ends = {"spread": {"above": 0.0}, "keep": {"least": 0.0, "most": 1.0}}
        found[name] = {k: number(v, f"{k} in {what}", **ends[k]) for k, v in error.items()}
    return found


def _prices(table: Mapping[str, Any], outcomes: Sequence[str], where: str) -> dict[str, float]:
    for outcome in outcomes:
        if outcome not in table:
            raise DataError(
                f"{where} has no {outcome} ({SAID[outcome]}); write 0 if it costs nothing."
            )
    return {name: number(table[name], f"{name} in {where}", least=0) for name in outcomes}


def _function(table: Any, where: str) -> dict[str, Any]:
    cost = table.get("cost") if isinstance(table, dict) else None
    if cost not in FUNCTIONS:
        raise DataError(f"cost in {where} is {cost!r}; write one of {', '.join(FUNCTIONS)}.")
    only(table, {"cost", "widest", "FN", "TN"} | FUNCTIONS[cost], where)
    if missing := [name for name in sorted(FUNCTIONS[cost]) if name not in table]:
        raise DataError(f"{where} has no {missing[0]}; cost = {cost!r} needs it.")
    found: dict[str, Any] = {
        name: number(table[name], f"{name} in {where}") for name in FUNCTIONS[cost]
    }
    if "widest" in table:
        found["widest"] = number(table["widest"], f"widest in {where}", above=0)
        found["costs"] = _prices(table, ("FN", "TN"), where)
    elif odd := {"FN", "TN"} & set(table):
        raise DataError(
            f"{where} has {min(odd)}, but a number is always inferred without widest; add it."
        )
    return {"function": cost} | found
