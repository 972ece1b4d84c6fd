"""What an outcome costs a respondent, as a harm file says it (Lambert 1993, section 6.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.data.settings import Keys, number, only
from discreet.data.smallfiles import read_toml
from discreet.errors import DataError
from discreet.intruder.linkage.records import Records
from discreet.look.result import Shown
from discreet.risk.linkage.harm.losses import AROUND, TAKES, NumberLoss
from discreet.risk.linkage.harm.own import Amount, OwnCost, amount, read_amount

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
KNOWN = {
    "sensitive", "costs", "bayes", "number", "q", "infer", "belief", "predict", "errors", "group",
    "times",
}  # fmt: skip
OF_CATEGORIES = ("q", "infer", "errors")
OF_NUMBERS = {"cost", "widest", "FN", "TN", "F", "near", "spread", "log_spread"}


@dataclass(frozen=True)
class Costs(Shown):
    """What an outcome costs a respondent, and how the intruder infers.

    `costs`: of the six outcomes after a link (first letter: is the record right; second: nothing,
    false or true inferred). `bayes`: of each category, after a false (F) and a true (T) link.
    `function`: of a number, as `NumberLoss` names it, with `limit`, `loss` and other `settings`, or
    any function of the truth and what is believed; `wrong`: the same of a wrong link, if it differs
    (`function`, `limit`, `loss`, `settings`). Any cost may be an `OwnCost`, and `times`
    multiplies all harm to a respondent.
    `widest`: nothing is inferred of a number whose belief has a larger standard deviation; `near`:
    an estimate so near is a true inference; `spread` or `log_spread`: of the error in a released
    number, or its logarithm.
    `q`: a released category is right with this probability; `infer`: one is inferred if it is
    believed at least so much; `belief`: of the linked record, or mixed over all candidates.
    `errors` of the columns to `predict` from: the spread of a number, or how probably a category is
    kept.

    >>> import discreet as dc
    >>> prices = {"FN": 0, "TN": 1, "FF": 2, "FT": 3, "TF": 2, "TT": 10}
    >>> dc.linkage.Costs.of({"sensitive": "ill", "costs": prices}).infer
    0.9
    """

    sensitive: str
    costs: Mapping[str, Amount] = field(default_factory=dict)
    bayes: Mapping[str, Mapping[str, Amount]] = field(default_factory=dict)
    function: str | Callable[[Any, Any], Any] | None = None
    limit: Amount = 0.0
    loss: Amount = 1.0
    widest: float = math.inf
    q: float = 1.0
    infer: float | Mapping[str, float] = 0.9
    belief: str = "record"
    predict: tuple[str, ...] = ()
    errors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    near: float = 0.0
    spread: float = 0.0
    log_spread: float = 0.0
    times: Amount = 1.0
    wrong: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> Costs:
        return cls.of(read_toml(path), str(path))

    @classmethod
    def of(cls, content: Mapping[str, Any], name: str = "the harm file") -> Costs:
        """From what a TOML file holds."""
        keys = Keys(content, KNOWN, name)
        sensitive = keys.column("sensitive")
        kinds = [kind for kind in ("costs", "bayes", "number") if kind in content]
        if len(kinds) != 1:
            raise DataError(f"{name} needs one of the tables [costs], [bayes] and [number].")
        belief = keys.choice("belief", ("record", "mixture"), "record")
        given: dict[str, Any] = {
            "q": keys.number("q", 1.0, least=0, most=1),
            "infer": _cuts(keys.get("infer", 0.9), name),
            "belief": belief,
            "predict": _names(keys, "predict"),
            "groups": _names(keys, "group"),
            "times": read_amount(keys.get("times", 1.0), f"times of {name}", least=0),
        }
        given["errors"] = _errors(content.get("errors", {}), given["predict"], name)
        table, where = content[kinds[0]], f"[{kinds[0]}] of {name}"
        if kinds[0] == "costs":
            only(table, set(OUTCOMES[1:]), where)
            given["costs"] = _prices(table, OUTCOMES[1:], where)
        elif kinds[0] == "bayes":
            given["bayes"] = _bayes(table, where)
        else:
            if odd := [key for key in OF_CATEGORIES if key in content]:
                raise DataError(
                    f"{name} has {odd[0]}, which is for categories; of a number, {where} says "
                    "spread or log_spread."
                )
            given |= _number(table, where, belief)
            if given["predict"] and not (given.get("spread") or given.get("log_spread")):
                raise DataError(
                    f"{name} has predict, but a number that is released without error tells all; "
                    f"say its spread or log_spread in {where}."
                )
        return cls(sensitive, **given)

    @property
    def of_source(self) -> tuple[str, ...]:
        """Columns of the source alone that are needed: groups, and those of own costs."""
        rows = [self.costs, *self.bayes.values(), self.settings, self.wrong]
        rows.append(self.wrong.get("settings", {}))
        every = [value for row in rows for value in row.values()]
        own = [v.column for v in (*every, self.limit, self.loss, self.times) if _is_own(v)]
        return tuple(dict.fromkeys([*self.groups, *own]))

    @property
    def after_wrong_link(self) -> Costs:
        """What a number costs after a wrong link."""
        return replace(self, **self.wrong)

    def number_loss(self, records: Records) -> NumberLoss:
        """The cost of a number, for every respondent."""
        if callable(self.function):
            return NumberLoss("written", function=self.function)
        name = self.function or "excess"
        known = {"limit": self.limit, "loss": self.loss, **self.settings}
        least = {"loss": 0.0, "within": 0.0, "share": 0.0}
        taken = {
            key: amount(value, records, key, least=least.get(key, -math.inf))
            for key, value in known.items()
            if key in TAKES[name]
        }
        return NumberLoss(name, **taken)


def _is_own(value: object) -> bool:
    return isinstance(value, OwnCost)


def _share(value: object, what: str) -> float:
    return number(value, what, least=0, most=1)


def _cuts(infer: object, name: str) -> float | dict[str, float]:
    if isinstance(infer, dict):
        return {str(k): _share(v, f"infer.{k} of {name}") for k, v in infer.items()}
    return _share(infer, f"infer of {name}")


def _names(keys: Keys, key: str) -> tuple[str, ...]:
    said = keys.get(key)
    return (said,) if isinstance(said, str) else keys.texts(key, of="columns")


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


def _prices(table: Mapping[str, Any], outcomes: Sequence[str], where: str) -> dict[str, Amount]:
    for outcome in outcomes:
        if outcome not in table:
            raise DataError(
                f"{where} has no {outcome} ({SAID[outcome]}); write 0 if it costs nothing."
            )
    return {name: read_amount(table[name], f"{name} in {where}", least=0) for name in outcomes}


def _bayes(table: Any, where: str) -> dict[str, dict[str, Amount]]:
    only(table, {"F", "T"}, where)
    for side in ("F", "T"):
        if not isinstance(table.get(side), dict):
            raise DataError(f"{where} has no {side}; give a cost of each value.")
    return {
        side: {str(k): read_amount(v, f"{side}.{k} in [bayes]") for k, v in row.items()}
        for side, row in table.items()
    }


def _number(table: Any, where: str, belief: str) -> dict[str, Any]:
    """What [number] says."""
    cost = _cost(table, where)
    keys = Keys(table, OF_NUMBERS | set(TAKES[cost]) - {"function"}, where, "in")
    found: dict[str, Any] = {"function": cost} | _settings(table, cost, where)
    if "F" in table:
        found["wrong"] = _other(table["F"], f"F in {where}")
    for name in ("spread", "log_spread", "near", "widest"):
        if name in table:
            found[name] = keys.number(name, above=0)
    if "spread" in found and "log_spread" in found:
        raise DataError(f"{where} has spread and log_spread; keep one of them.")
    if "widest" in table:
        if belief != "mixture" and not {"spread", "log_spread"} & set(found):
            raise DataError(
                f"{where} has widest, but the value of a linked record has no spread; write "
                'belief = "mixture", or say its spread.'
            )
        found["costs"] = _prices(table, ("FN", "TN"), where)
    elif odd := {"FN", "TN"} & set(table):
        raise DataError(
            f"{where} has {min(odd)}, but a number is always inferred without widest; add it."
        )
    return found


def _other(table: Any, where: str) -> dict[str, Any]:
    """Another cost, after a wrong link."""
    cost = _cost(table, where)
    only(table, {"cost", *TAKES[cost]} - {"function"}, where)
    return {"function": cost} | _settings(table, cost, where)


def _cost(table: Any, where: str) -> str:
    if not isinstance(table, dict):
        raise DataError(f"{where} must be a table.")
    cost = table.get("cost")
    if not isinstance(cost, str) or cost not in TAKES:
        raise DataError(f"cost in {where} is {cost!r}; write one of {', '.join(TAKES)}.")
    return cost


def _settings(table: Mapping[str, Any], cost: str, where: str) -> dict[str, Any]:
    """The parameters of a cost; those of an old name stand apart."""
    for name in TAKES[cost] if cost == "threshold" else TAKES[cost][:1]:
        if name not in table:
            raise DataError(f"{where} has no {name}; cost = {cost!r} needs it.")
    ends = {"loss": {"least": 0.0}, "within": {"above": 0.0}}
    ends["share"] = {"above": 0.0, "below": 1.0}
    given: dict[str, Any] = {
        name: read_amount(table[name], f"{name} in {where}", **ends.get(name, {}))
        for name in ("limit", "loss", "low", "high", "within", "share")
        if name in table
    }
    if cost in ("inside", "outside") and set(given) - {"loss"} not in map(set, AROUND):
        raise DataError(
            f"{where} needs one interval for cost = {cost!r}: low and high, or within, or share."
        )
    if cost == "written":
        given |= {name: table[name] for name in ("points", "of") if name in table}
        try:
            points = [(float(place), float(price)) for place, price in given["points"]]
            given["points"] = points
        except (TypeError, ValueError):
            raise DataError(
                f"points in {where} is {table['points']!r}; give pairs [place, cost]."
            ) from None
    fixed = {name: value for name, value in given.items() if not _is_own(value)}
    if len(fixed) == len(given):
        try:
            NumberLoss(cost, **given)
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
    kept: dict[str, Any] = {name: given.pop(name) for name in ("limit", "loss") if name in given}
    return {**kept, "settings": given}
