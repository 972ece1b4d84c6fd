"""Intruders as TOML files describe them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.linkage.model import CLOSE, MISSING, Key, Kind, Type, _matrix, number, only
from discreet.intruder.linkage.reading_own import one_spread, personal

TYPED = (Kind.CATEGORY, Kind.NORMAL, Kind.LOGNORMAL)
LAWS = (Kind.NORMAL, Kind.LOGNORMAL, Kind.LAPLACE, Kind.UNIFORM, Kind.WRITTEN)
SAID_ONCE = {"seen", "suppressed", "missing"}  # of a key, for all types


def read_key(name: str, entry: object, where: str, folder: Path = Path()) -> Key:
    """One key, as a table [keys.NAME] says it."""
    what = f"[keys.{name}] of {where}"
    if not isinstance(entry, dict) or "kind" not in entry:
        raise DataError(f"{what} has no kind; write one of {', '.join(Kind)}.")
    if entry["kind"] not in set(Kind):
        raise DataError(f"{what} has the kind {entry['kind']!r}; write one of {', '.join(Kind)}.")
    kind = Kind(entry["kind"])
    only(entry, {"kind"} | MAY_HAVE[kind], what)
    key = Key(
        name,
        kind,
        keep=number(entry.get("keep", 1.0), f"keep in {what}", least=0, most=1),
        matrix=_matrix(entry.get("matrix"), what),
        suppressed=_suppressed(entry.get("suppressed", 0.0), what),
        joint=_texts(entry.get("joint", []), f"joint in {what}"),
        seen=_seen(entry.get("seen"), name, what, folder),
        missing=_missing(entry.get("missing", "any"), what),
    )
    if kind is Kind.OWN:
        return replace(key, **_own(name, entry, what, where, folder))
    if kind in LAWS:
        key = replace(key, **personal(entry, what, folder))
    more = READ.get(kind)
    return replace(key, **more(entry, what)) if more else key


def _own(
    name: str, entry: Mapping[str, Any], what: str, where: str, folder: Path
) -> dict[str, Any]:
    """For each label of a column, what is believed of who has it."""
    column, listed = entry.get("column"), entry.get("of")
    if not isinstance(column, str):
        raise DataError(f"{what} names no column of the source; write column = NAME.")
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
        if odd := {"seen", "suppressed", "missing"} & set(said):
            raise DataError(f"{label!r} in {what} has {min(odd)}; say it of the key.")
        found[str(label)] = inner
    return {"column": column, "of": found}


def _noise(entry: Mapping[str, Any], what: str) -> dict[str, Any]:
    if isinstance(entry.get("spread"), dict) or ("sources" in entry and "spread" not in entry):
        if "weights" in entry:
            raise DataError(f"{what} has weights, but no list of spreads; leave them out.")
        return {}
    if "spread" not in entry:
        raise DataError(f'{what} has no spread; give a standard deviation, or "estimated".')
    if "sources" in entry and not isinstance(entry["spread"], int | float):
        raise DataError(f"spread in {what} is what masking adds to its sources; give one number.")
    if entry["spread"] == "estimated":
        return {}
    spreads = entry["spread"] if isinstance(entry["spread"], list) else [entry["spread"]]
    weights = entry.get("weights", [1.0] if len(spreads) == 1 else [])
    if len(weights) != len(spreads) or not spreads:
        raise DataError(
            f"{what} has {len(spreads)} spreads and {len(weights)} weights; give as many of each."
        )
    shares = tuple(number(w, f"a weight in {what}", above=0) for w in weights)
    if abs(sum(shares) - 1) > CLOSE:
        raise DataError(f"the weights in {what} sum to {sum(shares):.6g}, not to 1.")
    found = tuple(number(s, f"spread in {what}", above=0) for s in spreads)
    return {"spread": found, "weights": shares}


def _interval(entry: Mapping[str, Any], what: str) -> dict[str, Any]:
    cuts = _numbers(entry.get("cuts"), f"cuts in {what}")
    if any(b <= a for a, b in pairwise(cuts)):
        raise DataError(f"the cuts in {what} do not rise; sort them.")
    labels = _texts(entry.get("labels"), f"labels in {what}")
    if len(labels) != len(cuts) + 1:
        raise DataError(
            f"{what} has {len(cuts)} cuts and {len(labels)} labels; give one more label than cuts."
        )
    return {"cuts": cuts, "labels": labels}


def _topcode(entry: Mapping[str, Any], what: str) -> dict[str, Any]:
    ends = {
        side: number(entry[side], f"{side} in {what}") for side in ("low", "high") if side in entry
    }
    if not ends:
        raise DataError(f"{what} has no low and no high; give one.")
    if len(ends) == 2 and ends["low"] >= ends["high"]:
        raise DataError(f"low in {what} is {ends['low']:g}, not below high, {ends['high']:g}.")
    labels = _texts(entry.get("labels", []), f"labels in {what}")
    if len(labels) not in (0, 2):
        raise DataError(
            f"{what} has {len(labels)} labels; give two, for below low and above high, or none."
        )
    return {**ends, "labels": labels}


def _rank(entry: Mapping[str, Any], what: str) -> dict[str, Any]:
    window = number(entry.get("window"), f"window in {what}", above=0, most=1)
    law = _numbers(entry.get("law", []), f"law in {what}")
    if law and (min(law) < 0 or abs(sum(law) - 1) > CLOSE):
        raise DataError(
            f"the law in {what} has to be probabilities that sum to 1; it sums to {sum(law):.6g}."
        )
    return {"window": window, "law": law}


def _needs(name: str, say: str) -> Callable[[Mapping[str, Any], str], dict[str, Any]]:
    def check(entry: Mapping[str, Any], what: str) -> dict[str, Any]:
        if name not in entry:
            raise DataError(f"{what} has no {name}; {say}.")
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
READ: dict[Kind, Callable[[Mapping[str, Any], str], dict[str, Any]]] = {
    Kind.NORMAL: _noise,
    Kind.LOGNORMAL: _noise,
    Kind.LAPLACE: one_spread,
    Kind.UNIFORM: one_spread,
    Kind.WRITTEN: one_spread,
    Kind.INTERVAL: _interval,
    Kind.TOPCODE: _topcode,
    Kind.RANK: _rank,
    Kind.SUPPRESSED: _needs("suppressed", "give the probability that it is missing"),
    Kind.SHARED: _needs("seen", "name a CSV file with what became of each source record"),
}


def _suppressed(given: object, what: str) -> float | dict[str, float]:
    if isinstance(given, dict):
        return {
            str(one): number(p, f"suppressed of {one} in {what}", least=0, most=1)
            for one, p in given.items()
        }
    return number(given, f"suppressed in {what}", least=0, most=1)


def _missing(given: object, what: str) -> str:
    if given not in MISSING:
        raise DataError(f"missing in {what} is {given!r}; write one of {', '.join(MISSING)}.")
    return str(given)


def _texts(given: object, what: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise DataError(f"{what} is {given!r}; give a list of texts.")
    return tuple(given)


def _numbers(given: object, what: str) -> tuple[float, ...]:
    if not isinstance(given, list):
        raise DataError(f"{what} is {given!r}; give a list of numbers.")
    return tuple(number(one, f"a number of {what}") for one in given)


def _seen(given: object, name: str, what: str, folder: Path) -> NDArray[np.object_] | None:
    """A column of a CSV file; None where a column `NAME released` says no."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise DataError(f"seen in {what} is {given!r}; name a CSV file.")
    path = folder / given
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise DataError(f"cannot read {str(path)!r}, named in {what}: {reason}.") from None
    if not rows or name not in rows[0]:
        raise DataError(f"{str(path)!r}, named in {what}, has no column {name!r} with rows.")
    gone = f"{name} released"
    seen = np.empty(len(rows), object)
    seen[:] = [None if row.get(gone) == "no" else (row[name] or "").strip() for row in rows]
    return seen


def read_types(given: object, keys: tuple[Key, ...], tied: set[str], name: str) -> tuple[Type, ...]:
    if not isinstance(given, list) or not given:
        raise DataError(f"types of {name} needs a table [[types]] for each.")
    found = []
    for place, entry in enumerate(given, 1):
        what = f"type {place} of {name}"
        only(entry, {"share", "keys"}, what)
        share = number(entry.get("share"), f"share of {what}", above=0, most=1)
        listed = entry.get("keys", {})
        only(listed, {key.name for key in keys}, f"keys of {what}")
        own = {key.name: _typed(key, listed[key.name], what) for key in keys if key.name in listed}
        if both := sorted(tied & set(own)):
            raise DataError(f"{what} names {both[0]!r}, whose noise is correlated; name others.")
        found.append(Type(share, own))
    if abs((total := sum(t.share for t in found)) - 1) > CLOSE:
        raise DataError(f"the shares of the types of {name} sum to {total:.6g}, not to 1.")
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
