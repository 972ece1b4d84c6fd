"""What intruder files say of respondents one by one: spreads, sources, written densities."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import DataError
from discreet.intruder.linkage.model import By, Grid, Key, Kind, Stated, number, only

ERRORS = (Kind.NORMAL, Kind.LAPLACE, Kind.UNIFORM, Kind.WRITTEN)
HEADS = ("error", "density")


def by_person(given: object, what: str) -> By:
    """`{ column = "sd" }`, or with the number of each label: `{ column = "region", values = ... }`.

    >>> by_person({"column": "region", "values": {"North": 1, "South": 3}}, "spread")
    By(column='region', values={'North': 1.0, 'South': 3.0})
    """
    only(given, {"column", "values"}, what)
    assert isinstance(given, dict)
    column, values = given.get("column"), given.get("values")
    if not isinstance(column, str):
        raise DataError(f"{what} names no column of the source; write column = NAME.")
    if values is None:
        return By(column)
    if not isinstance(values, dict) or not values:
        raise DataError(f"values of {what} is {values!r}; give a table from labels to numbers.")
    return By(column, {str(k): number(v, f"{k} of {what}") for k, v in values.items()})


def personal(entry: Mapping[str, Any], what: str, folder: Path) -> dict[str, Any]:
    """Fields of a key that differ by respondent, and of its law."""
    found: dict[str, Any] = {}
    if isinstance(entry.get("spread"), dict):
        found["spread_by"] = by_person(entry["spread"], f"spread in {what}")
    if "center" in entry:
        if not isinstance(entry["center"], str):
            raise DataError(
                f"center in {what} is {entry['center']!r}; name a column of the source."
            )
        found["center"] = entry["center"]
    if "sources" in entry:
        if "center" in entry:
            raise DataError(f"{what} has a center and sources; give one of them.")
        found["sources"] = _sources(entry["sources"], entry["kind"], what, folder)
    for name in ("center", "sources"):
        if name in entry and "seen" in entry:
            raise DataError(f"{what} has {name} and seen; give one of them.")
    if not isinstance(entry.get("log", False), bool):
        raise DataError(f"log in {what} is {entry['log']!r}; write true or false.")
    found["log"] = entry.get("log", False)
    if entry["kind"] == Kind.WRITTEN:
        found["density"] = density(entry.get("density"), what, folder)
    return found


def one_spread(entry: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Of a law that is no mixture of normals: a number, a column, or none for all sources said."""
    given = entry.get("spread")
    if isinstance(given, dict):
        return {}
    if given is None:
        if entry["kind"] == Kind.WRITTEN or "sources" in entry:
            return {}
        raise DataError(f"{what} has no spread; give a number, or a column of the source.")
    return {"spread": (number(given, f"spread in {what}", above=0),)}


def _sources(given: object, kind: str, what: str, folder: Path) -> tuple[Stated, ...]:
    if not isinstance(given, list) or not given:
        raise DataError(f"sources of {what} needs a table [[keys.NAME.sources]] for each.")
    found = []
    for place, entry in enumerate(given, 1):
        where = f"source {place} of {what}"
        only(entry, {"column", "kind", "spread", "density"}, where)
        if not isinstance(entry.get("column"), str):
            raise DataError(f"{where} names no column; write column = NAME.")
        law = entry.get("kind", Kind.NORMAL)
        if law == Kind.LOGNORMAL and kind == Kind.LOGNORMAL:
            law = Kind.NORMAL  # of the logarithms, as the key is
        if law not in ERRORS:
            raise DataError(f"{where} has the kind {law!r}; write one of {', '.join(ERRORS)}.")
        law = Kind(law)
        if law is not Kind.WRITTEN and "density" in entry:
            raise DataError(f'{where} has a density, but is {law}; write kind = "written".')
        spread = entry.get("spread", 1.0 if law is Kind.WRITTEN else None)
        if isinstance(spread, dict):
            said: float | By = by_person(spread, f"spread of {where}")
        else:
            said = number(spread, f"spread of {where}", above=0)
        grid = density(entry.get("density"), where, folder) if law is Kind.WRITTEN else None
        found.append(Stated(entry["column"], law, said, grid))
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
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise DataError(f"cannot read {str(path)!r}, named in {what}: {reason}.") from None
    if not rows or not set(HEADS) <= set(rows[0]):
        raise DataError(f"{str(path)!r}, named in {what}, has no columns error and density.")
    found: tuple[list[float], list[float]] = ([], [])
    for place, row in enumerate(rows, 1):
        for name, into in zip(HEADS, found, strict=True):
            try:
                into.append(float(row[name]))
            except (TypeError, ValueError):
                raise DataError(
                    f"row {place} of {str(path)!r} has {row[name]!r} in {name!r}, where a number "
                    "is needed."
                ) from None
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
