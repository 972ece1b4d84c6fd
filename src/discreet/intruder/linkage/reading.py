"""Intruders as TOML files describe them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.settings import Keys, number, only
from discreet.data.smallfiles import as_number, read_csv
from discreet.errors import DataError
from discreet.intruder.linkage.model import (
    CLOSE,
    MISSING,
    By,
    Grid,
    Key,
    Kind,
    Stated,
    Type,
    _matrix,
)

TYPED = (Kind.CATEGORY, Kind.NORMAL, Kind.LOGNORMAL)
ERRORS = (Kind.NORMAL, Kind.LAPLACE, Kind.UNIFORM, Kind.WRITTEN)
LAWS = (Kind.NORMAL, Kind.LOGNORMAL, Kind.LAPLACE, Kind.UNIFORM, Kind.WRITTEN)
SAID_ONCE = {"seen", "suppressed", "missing"}  # of a key, for all types
HEADS = ("error", "density")


def read_key(name: str, entry: object, where: str, folder: Path = Path()) -> Key:
    """One key, as a table [keys.NAME] says it."""
    what = f"[keys.{name}] of {where}"
    if not isinstance(entry, dict) or "kind" not in entry:
        raise DataError(f"{what} has no kind; write one of {', '.join(Kind)}.")
    if entry["kind"] not in set(Kind):
        raise DataError(f"{what} has the kind {entry['kind']!r}; write one of {', '.join(Kind)}.")
    kind = Kind(entry["kind"])
    keys = Keys(entry, {"kind"} | MAY_HAVE[kind], what, "in")
    key = Key(
        name,
        kind,
        keep=keys.number("keep", 1.0, least=0, most=1),
        matrix=_matrix(keys.get("matrix"), what),
        suppressed=_suppressed(keys),
        joint=keys.texts("joint"),
        seen=_seen(keys, name, folder),
        missing=keys.choice("missing", MISSING, "any"),
    )
    if kind is Kind.OWN:
        return replace(key, **_own(name, keys, where, folder))
    if kind in LAWS:
        key = replace(key, **_personal(keys, folder))
    more = READ.get(kind)
    return replace(key, **more(keys)) if more else key


def _own(name: str, keys: Keys, where: str, folder: Path) -> dict[str, Any]:
    """For each label of a column, what is believed of who has it."""
    column, listed, what = keys.column(), keys.get("of"), keys.where
    if not isinstance(listed, dict) or not listed:
        raise DataError(f"{what} says no belief; write a table [keys.NAME.of.LABEL] for each.")
    found = {}
    for label, said in listed.items():
        inner = read_key(name, said, f"{label!r} in {where}", folder)
        if inner.kind not in LAWS or len(inner.weights) > 1:
            raise DataError(
                f"{label!r} in {what} is of kind {inner.kind}; write one of {', '.join(LAWS)}, "
                "with one spread."
            )
        if inner.continuous and not inner.personal and inner.spread is None:
            raise DataError(f"{label!r} in {what} has no spread; it is not estimated here.")
        if odd := SAID_ONCE & set(said):
            raise DataError(f"{label!r} in {what} has {min(odd)}; say it of the key.")
        found[str(label)] = inner
    return {"column": column, "of": found}


def _personal(keys: Keys, folder: Path) -> dict[str, Any]:
    """Fields of a key that differ by respondent, and of its law."""
    found: dict[str, Any] = {"log": keys.flag("log")}
    if isinstance(keys.get("spread"), dict):
        found["spread_by"] = by_person(keys.get("spread"), keys.what("spread"))
    found["center"] = keys.text("center", "name a column of the source")
    if "sources" in keys:
        found["sources"] = _sources(keys, folder)
    for one, other in (("center", "sources"), ("center", "seen"), ("sources", "seen")):
        if one in keys and other in keys:
            raise DataError(f"{keys.where} has {one} and {other}; give one of them.")
    if keys.get("kind") == Kind.WRITTEN:
        found["density"] = density(keys.get("density"), keys.where, folder)
    return found


def by_person(given: object, what: str) -> By:
    """`{ column = "sd" }`, or with the number of each label: `{ column = "region", values = ... }`.

    >>> by_person({"column": "region", "values": {"North": 1, "South": 3}}, "spread")
    By(column='region', values={'North': 1.0, 'South': 3.0})
    """
    keys = Keys(given, {"column", "values"}, what)
    column, values = keys.column(), keys.get("values")
    if values is None:
        return By(column)
    if not isinstance(values, dict) or not values:
        keys.refuse("values", "give a table from labels to numbers")
    return By(column, {str(k): number(v, f"{k} of {what}") for k, v in values.items()})


def _sources(of: Keys, folder: Path) -> tuple[Stated, ...]:
    found = []
    for where, entry in of.tables("sources", path="keys.NAME."):
        keys = Keys(entry, {"column", "kind", "spread", "density"}, where)
        column, law = keys.column(), keys.get("kind", Kind.NORMAL)
        if law == Kind.LOGNORMAL and of.get("kind") == Kind.LOGNORMAL:
            law = Kind.NORMAL  # of the logarithms, as the key is
        if law not in ERRORS:
            raise DataError(f"{where} has the kind {law!r}; write one of {', '.join(ERRORS)}.")
        law = Kind(law)
        if law is not Kind.WRITTEN and "density" in keys:
            raise DataError(f'{where} has a density, but is {law}; write kind = "written".')
        if isinstance(keys.get("spread"), dict):
            said: float | By = by_person(keys.get("spread"), keys.what("spread"))
        else:
            said = keys.number("spread", 1.0 if law is Kind.WRITTEN else None, above=0)
        grid = density(keys.get("density"), where, folder) if law is Kind.WRITTEN else None
        found.append(Stated(column, law, said, grid))
    return tuple(found)


def density(given: object, what: str, folder: Path) -> Grid:
    """Points and heights: a table with `at` and `is`, or a CSV file with `error` and `density`.

    >>> density({"at": [-1, 0, 1], "is": [0, 1, 0]}, "a key", Path())
    ((-1.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    """
    at: object
    heights: object
    if isinstance(given, str):
        at, heights = _columns(folder / given, what)
    elif isinstance(given, dict):
        only(given, {"at", "is"}, f"density in {what}")
        at, heights = (given.get(name) for name in ("at", "is"))
    else:
        raise DataError(
            f"{what} has no density; write density = {{ at = [...], is = [...] }}, or name a CSV "
            "file with the columns error and density."
        )
    if not isinstance(at, list) or not isinstance(heights, list) or len(at) != len(heights):
        raise DataError(f"density in {what} needs as many points `at` as heights `is`.")
    points = tuple(number(one, f"a point of density in {what}") for one in at)
    high = tuple(number(one, f"a height of density in {what}", least=0) for one in heights)
    if len(points) < 2 or not (np.diff(points) > 0).all() or not sum(high) > 0:
        raise DataError(
            f"density in {what} needs two points or more that rise, and a height above 0."
        )
    return points, high


def _columns(path: Path, what: str) -> tuple[list[float], list[float]]:
    read = read_csv(path, named=f", named in {what},")
    if not set(HEADS) <= set(read.heading):
        raise DataError(f"{read.name} has no columns error and density.")
    at, heights = ([as_number(row[name], where) for where, row in read.rows()] for name in HEADS)
    return at, heights


def _noise(keys: Keys) -> dict[str, Any]:
    what, spread = keys.where, keys.get("spread")
    if isinstance(spread, dict) or ("sources" in keys and "spread" not in keys):
        if "weights" in keys:
            raise DataError(f"{what} has weights, but no list of spreads; leave them out.")
        return {}
    if "spread" not in keys:
        raise DataError(f'{what} has no spread; give a standard deviation, or "estimated".')
    if "sources" in keys and not isinstance(spread, int | float):
        raise DataError(f"spread in {what} is what masking adds to its sources; give one number.")
    if spread == "estimated":
        return {}
    spreads = spread if isinstance(spread, list) else [spread]
    weights = keys.get("weights", [1.0] if len(spreads) == 1 else [])
    if len(weights) != len(spreads) or not spreads:
        raise DataError(
            f"{what} has {len(spreads)} spreads and {len(weights)} weights; give as many of each."
        )
    shares = tuple(number(w, f"a weight in {what}", above=0) for w in weights)
    if abs(sum(shares) - 1) > CLOSE:
        raise DataError(f"the weights in {what} sum to {sum(shares):.6g}, not to 1.")
    found = tuple(number(s, f"spread in {what}", above=0) for s in spreads)
    return {"spread": found, "weights": shares}


def _one_spread(keys: Keys) -> dict[str, Any]:
    """Of a law that is no mixture of normals: a number, a column, or none for all sources said."""
    if isinstance(keys.get("spread"), dict):
        return {}
    if "spread" not in keys:
        if keys.get("kind") == Kind.WRITTEN or "sources" in keys:
            return {}
        raise DataError(f"{keys.where} has no spread; give a number, or a column of the source.")
    return {"spread": (keys.number("spread", above=0),)}


def _interval(keys: Keys) -> dict[str, Any]:
    cuts, labels = keys.numbers("cuts"), keys.texts("labels", None)
    if any(b <= a for a, b in pairwise(cuts)):
        raise DataError(f"the cuts in {keys.where} do not rise; sort them.")
    if len(labels) != len(cuts) + 1:
        raise DataError(
            f"{keys.where} has {len(cuts)} cuts and {len(labels)} labels; give one more label than "
            "cuts."
        )
    return {"cuts": cuts, "labels": labels}


def _topcode(keys: Keys) -> dict[str, Any]:
    ends = {side: keys.number(side) for side in ("low", "high") if side in keys}
    if not ends:
        raise DataError(f"{keys.where} has no low and no high; give one.")
    if len(ends) == 2 and ends["low"] >= ends["high"]:
        raise DataError(f"{keys.what('low')} is {ends['low']:g}, not below high, {ends['high']:g}.")
    labels = keys.texts("labels")
    if len(labels) not in (0, 2):
        raise DataError(
            f"{keys.where} has {len(labels)} labels; give two, for below low and above high, or "
            "none."
        )
    return {**ends, "labels": labels}


def _rank(keys: Keys) -> dict[str, Any]:
    window, law = keys.number("window", above=0, most=1), keys.numbers("law", [])
    if law and (min(law) < 0 or abs(sum(law) - 1) > CLOSE):
        raise DataError(
            f"the {keys.what('law')} has to be probabilities that sum to 1; it sums to "
            f"{sum(law):.6g}."
        )
    return {"window": window, "law": law}


def _needs(name: str, say: str) -> Callable[[Keys], dict[str, Any]]:
    def check(keys: Keys) -> dict[str, Any]:
        if name not in keys:
            raise DataError(f"{keys.where} has no {name}; {say}.")
        return {}

    return check


MASKED = {"suppressed", "seen"}
OWN = {"spread", "center", "sources", "missing"} | MASKED
MAY_HAVE = {
    Kind.CATEGORY: {"keep", "matrix", "missing"} | MASKED,
    Kind.NORMAL: {"weights"} | OWN,
    Kind.LOGNORMAL: {"weights"} | OWN,
    Kind.EXACT: MASKED,
    Kind.INTERVAL: {"cuts", "labels"} | MASKED,
    Kind.TOPCODE: {"low", "high", "labels"} | MASKED,
    Kind.RANK: {"window", "law"} | MASKED,
    Kind.SUPPRESSED: MASKED,
    Kind.SHARED: MASKED,
    Kind.SWAPPED: {"keep", "matrix", "joint"} | MASKED,
    Kind.LAPLACE: {"log"} | OWN,
    Kind.UNIFORM: {"log"} | OWN,
    Kind.WRITTEN: {"log", "density"} | OWN,
    Kind.OWN: {"column", "of", "missing", "suppressed"},
    Kind.UNKNOWN: set[str](),
}
READ: dict[Kind, Callable[[Keys], dict[str, Any]]] = {
    Kind.NORMAL: _noise,
    Kind.LOGNORMAL: _noise,
    Kind.LAPLACE: _one_spread,
    Kind.UNIFORM: _one_spread,
    Kind.WRITTEN: _one_spread,
    Kind.INTERVAL: _interval,
    Kind.TOPCODE: _topcode,
    Kind.RANK: _rank,
    Kind.SUPPRESSED: _needs("suppressed", "give the probability that it is missing"),
    Kind.SHARED: _needs("seen", "name a CSV file with what became of each source record"),
}


def _suppressed(keys: Keys) -> float | dict[str, float]:
    given = keys.get("suppressed")
    if isinstance(given, dict):
        return {
            str(one): number(p, f"suppressed of {one} in {keys.where}", least=0, most=1)
            for one, p in given.items()
        }
    return keys.number("suppressed", 0.0, least=0, most=1)


def _seen(keys: Keys, name: str, folder: Path) -> NDArray[np.object_] | None:
    """A column of a CSV file; None where a column `NAME released` says no."""
    given = keys.text("seen", "name a CSV file")
    if given is None:
        return None
    read = read_csv(folder / given, named=f", named in {keys.where},", between=",", empty=True)
    if name not in read.heading:
        raise DataError(f"{read.name} has no column {name!r} with rows.")
    seen = np.empty(len(read.lines), object)
    seen[:] = [None if row.get(f"{name} released") == "no" else row[name] for _, row in read.rows()]
    return seen


def read_types(of: Keys, keys: tuple[Key, ...], tied: set[str]) -> tuple[Type, ...]:
    found = []
    for what, entry in of.tables("types", [{"share": 1}]):
        one = Keys(entry, {"share", "keys"}, what)
        said = Keys(one.get("keys", {}), {key.name for key in keys}, one.what("keys"))
        own = {k.name: _typed(k, said.get(k.name), what) for k in keys if k.name in said}
        if both := sorted(tied & set(own)):
            raise DataError(f"{what} names {both[0]!r}, whose noise is correlated; name others.")
        found.append(Type(one.number("share", above=0, most=1), own))
    if abs((total := sum(t.share for t in found)) - 1) > CLOSE:
        raise DataError(f"the shares of the types of {of.where} sum to {total:.6g}, not to 1.")
    return tuple(found)


def _typed(key: Key, entry: object, what: str) -> Key:
    """The key as one type masks it, of the same kind."""
    if key.kind is Kind.UNKNOWN:
        raise DataError(f"{what} names {key.name!r}, which the intruder does not know.")
    if key.kind not in TYPED:
        raise DataError(
            f"{what} names {key.name!r}, a key of kind {key.kind}; types can differ in keys of "
            f"kind {', '.join(TYPED)}."
        )
    if not isinstance(entry, dict) or {"kind", *SAID_ONCE} & set(entry):
        if isinstance(entry, dict) and "kind" not in entry:
            raise DataError(
                f"{what} says what is missing, seen or suppressed of {key.name!r}; say it in the "
                "key."
            )
        raise DataError(f"{what} needs a table [types.keys.{key.name}] without a kind.")
    found = read_key(key.name, {"kind": key.kind, **entry}, what)
    if key.personal or found.personal or found.center:
        raise DataError(
            f"{what} names {key.name!r}, which is believed person by person; types can differ in "
            "other keys."
        )
    if key.continuous and any(k.spread is None or len(k.weights) > 1 for k in (key, found)):
        raise DataError(
            f"{what} names {key.name!r}, whose spread is estimated or a mixture; give one number "
            "in the key and in the type."
        )
    return found


def read_correlation(
    given: object, keys: tuple[Key, ...], name: str
) -> dict[tuple[str, str], float | By]:
    """Pairs of normal or lognormal keys: `value`, or `covariance` where both have one spread."""
    found: dict[tuple[str, str], float | By] = {}
    normal = {key.name: key for key in keys if key.continuous and len(key.weights) == 1}
    for entry in given if isinstance(given, list) else [given]:
        if not isinstance(entry, dict):
            raise DataError(f"correlation of {name} needs a table [[correlation]] for each pair.")
        only(entry, {"keys", "value", "covariance"}, f"[[correlation]] of {name}")
        pair = entry.get("keys")
        if not isinstance(pair, list) or len(set(pair)) != 2 or not set(pair) <= set(normal):
            raise DataError(
                f"a correlation of {name} is between {pair!r}; name two normal or lognormal keys."
            )
        found[pair[0], pair[1]] = _tie(entry, [normal[one] for one in pair], name)
    return found


def _tie(entry: Mapping[str, Any], keys: list[Key], name: str) -> float | By:
    what = f"a correlation of {name}"
    if "covariance" not in entry:
        if isinstance(entry.get("value"), dict):
            return by_person(entry["value"], what)
        return number(entry.get("value"), what, above=-1, below=1)
    if "value" in entry:
        raise DataError(f"{what} has a value and a covariance; give one of them.")
    if any(key.spread is None or key.personal for key in keys):
        raise DataError(
            f"{what} is a covariance, but a spread is estimated or differs by respondent; give the "
            "correlation as value."
        )
    common = number(entry["covariance"], f"a covariance of {name}")
    value = common / float(np.prod([key.spread[0] for key in keys if key.spread]))
    return number(value, f"{what}, by its covariance,", above=-1, below=1)
