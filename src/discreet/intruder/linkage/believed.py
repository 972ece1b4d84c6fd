"""Keys that differ by respondent, with the columns of the source that say how."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from discreet.arrays import Bools, Floats
from discreet.errors import DataError
from discreet.intruder.linkage.kinds import source_numbers
from discreet.intruder.linkage.laws import Factor, Law, log_integral
from discreet.intruder.linkage.model import By, Grid, Intruder, Key, Kind
from discreet.intruder.linkage.own import Around, Belief, Combined, Own
from discreet.intruder.linkage.reading import ERRORS
from discreet.intruder.linkage.reading import density as read_density
from discreet.intruder.linkage.records import Records, numbers, texts

FINER, NEAR = 20, 1e-6  # nodes of a second integral, and how far it may be from the first


def own_keys(intruder: Intruder) -> list[Key]:
    """Keys that are weighed person by person, also for the sake of others they are tied to."""
    known = [key for key in intruder.keys if key.kind is not Kind.UNKNOWN]
    tied = {name for pair in intruder.correlation for name in pair}
    loose = any(isinstance(value, By) for value in intruder.correlation.values())
    loose |= any(key.personal for key in known if key.name in tied)
    return [key for key in known if key.personal or (loose and key.name in tied)]


def own_beliefs(records: Records, intruder: Intruder) -> Own:
    """What is believed of each respondent by itself."""
    keys = own_keys(intruder)
    if not keys:
        return Own()
    beliefs = tuple(_belief(records, key) for key in keys)
    names = [key.name for key in keys]
    tied = [k for k, name in enumerate(names) if any(name in pair for pair in intruder.correlation)]
    for k in tied:
        cases = beliefs[k].cases
        if len(cases) > 1 or not isinstance(cases[0], Around) or cases[0].law.kind != "normal":
            raise DataError(
                f"the error of {names[k]!r} is correlated with another, but not normal; correlate "
                "normal or lognormal keys."
            )
    return Own(beliefs, tuple(tied), _correlations(records, intruder, [names[k] for k in tied]))


def _belief(records: Records, key: Key) -> Belief:
    x = numbers(records.released[key.name], key.name, records.names[1])
    if key.kind is not Kind.OWN:
        if _in_logs(key):
            _positive(x, key.name, records.names[1])
        every = np.ones(records.sources, bool)
        return Belief(key.name, x, (_case(records, key, every),), np.zeros(records.sources, int))
    if not key.of or key.column is None:
        raise DataError(
            f"the own key {key.name!r} names no column and no beliefs; give `column` and `of`."
        )
    labels, names = texts(records.source[key.column]), list(key.of)
    if odd := sorted(set(labels) - set(names)):
        raise DataError(
            f"{key.column!r} of {records.names[0]} has {odd[0]!r}, of which {key.name!r} does not "
            "say what is believed; add it."
        )
    which = np.array([names.index(one) for one in labels], np.int64)
    used = sorted(set(which.tolist()))
    cases = tuple(_case(records, key.of[names[c]], which == c) for c in used)
    return Belief(key.name, x, cases, np.searchsorted(used, which))


def _in_logs(key: Key) -> bool:
    return key.log or key.kind is Kind.LOGNORMAL


def law_of(kind: Kind, density: Grid | None, name: str) -> Law:
    """The law of an error of this kind."""
    if kind is Kind.WRITTEN:
        if density is None:
            raise DataError(f"the error of {name!r} has no density; give points and heights.")
        at, heights = (list(part) for part in density)
        return Law("written", read_density({"at": at, "is": heights}, repr(name), Path()))
    if kind is Kind.LOGNORMAL or kind in ERRORS:
        return Law("normal" if kind is Kind.LOGNORMAL else str(kind))
    raise DataError(f"the error of {name!r} is of kind {kind}; use one of {', '.join(ERRORS)}.")


def _case(records: Records, key: Key, here: Bools) -> Around | Combined:
    """What is believed of respondents who are `here`; others may lack it."""
    if key.kind is Kind.OWN:
        raise DataError(f"a belief about {key.name!r} is itself of kind own; say it by its kind.")
    logs, law = _in_logs(key), law_of(key.kind, key.density, key.name)
    if not key.sources:
        center = _scaled(source_numbers(records, key), key.name, records, logs, here)
        there = here & ~np.isnan(center)
        return Around(law, center, _spread(records, key, there), logs)
    factors: list[Factor] = []
    known = np.zeros(records.sources, bool)
    for one in key.sources:
        values = numbers(records.source[one.column], one.column, records.names[0])
        values = _scaled(values, one.column, records, logs, here)
        there = here & ~np.isnan(values)
        spread = _each(records, one.spread, there, one.column)
        known |= there
        if one.kind is Kind.LOGNORMAL and not logs:
            raise DataError(
                f"{one.column!r} states {key.name!r} with a lognormal error, but the key is "
                f"{key.kind}; make the key lognormal."
            )
        factors.append((law_of(one.kind, one.density, one.column), values, spread))
    plain = key.spread is None and key.spread_by is None
    noise = None if plain else (law, _spread(records, key, known))
    if all(one[0].kind == "normal" for one in factors) and (noise is None or law.kind == "normal"):
        return _precisely(factors, noise, logs)
    found = Combined(tuple(factors), noise, logs)
    _check_total(found, records, key.name)
    return found


def _precisely(factors: list[Factor], noise: tuple[Law, Floats] | None, logs: bool) -> Around:
    """Normal sources: weighted by their precision, which adds up."""
    each = [np.where(np.isnan(c), 0.0, s**-2.0) for _, c, s in factors]
    precision = np.sum(each, 0)
    weighted = np.sum([p * np.nan_to_num(f[1]) for p, f in zip(each, factors, strict=True)], 0)
    known = precision > 0
    some = np.where(known, precision, 1.0)
    variance = np.where(known, 1 / some, 1.0) + (0.0 if noise is None else noise[1] ** 2)
    return Around(Law("normal"), np.where(known, weighted / some, np.nan), np.sqrt(variance), logs)


def _check_total(found: Combined, records: Records, name: str) -> None:
    """The sources of a person must allow some value, and be integrated well."""
    some = np.flatnonzero(~np.isnan(found.center))
    total = found.total[some]
    if not np.isfinite(total).all():
        row = int(some[np.argmin(np.isfinite(total))]) + 1
        raise DataError(
            f"the sources of {name!r} contradict each other in row {row} of {records.names[0]}: no "
            "value fits all; allow wider errors."
        )
    again = log_integral([(law, c[some], s[some]) for law, c, s in found.factors], FINER)
    if len(some) and (worst := float(np.abs(again - total).max())) > NEAR:
        row = int(some[np.abs(again - total).argmax()]) + 1
        raise DataError(
            f"the sources of {name!r} are so far apart in row {row} of {records.names[0]} that "
            f"their product is known to {worst:.1g} only; allow wider errors."
        )


def _spread(records: Records, key: Key, there: Bools) -> Floats:
    given: float | By | None = key.spread_by
    if given is None and key.spread is not None:
        if len(key.spread) > 1:
            raise DataError(
                f"{key.name!r} has a mixture of spreads; what differs by respondent has one."
            )
        given = key.spread[0]
    if given is None and key.kind is Kind.WRITTEN:
        given = 1.0
    if given is None:
        raise DataError(f"{key.name!r} has no spread; give a number, or a column of the source.")
    return _each(records, given, there, key.name)


def _each(records: Records, given: float | By, there: Bools, name: str) -> Floats:
    """A number above 0 for everybody who is `there`; 1 for all others."""
    if not isinstance(given, By):
        if not (np.isfinite(given) and given > 0):
            raise DataError(f"a spread of {name!r} is {given:g}; give a number above 0.")
        return np.full(records.sources, float(given))
    found = _by(records, given)
    bad = there & ~((found > 0) & np.isfinite(found))
    if bad.any():
        row = int(np.argmax(bad)) + 1
        raise DataError(
            f"row {row} of {records.names[0]} has no number above 0 in {given.column!r}, the "
            f"spread of {name!r}; give one."
        )
    return np.where(there, found, 1.0)


def _by(records: Records, given: By) -> Floats:
    if given.values is None:
        return numbers(records.source[given.column], given.column, records.names[0])
    labels = texts(records.source[given.column])
    if odd := sorted(set(labels) - set(given.values)):
        raise DataError(
            f"{given.column!r} of {records.names[0]} has {odd[0]!r}, of which no number is given; "
            "add it."
        )
    values: Mapping[str, float] = given.values
    return np.array([float(values[one]) for one in labels])


def _scaled(values: Floats, name: str, records: Records, logs: bool, here: Bools) -> Floats:
    values = np.where(here, values, np.nan)
    if not logs:
        return values
    _positive(values, name, records.names[0])
    return np.log(values)


def _positive(values: Floats, name: str, where: str) -> None:
    if (low := values[~np.isnan(values)].min(initial=1)) <= 0:
        raise DataError(f"{name!r} of {where} has {low:g}; a lognormal key needs numbers above 0.")


def _correlations(records: Records, intruder: Intruder, names: list[str]) -> Floats:
    """One matrix, or one for each respondent."""
    own = any(isinstance(value, By) for value in intruder.correlation.values())
    found = np.tile(np.eye(len(names)), (records.sources if own else 1, 1, 1))
    for pair, value in intruder.correlation.items() if names else ():
        a, b = (names.index(name) for name in pair)
        each = _by(records, value) if isinstance(value, By) else value
        if isinstance(value, By) and not (np.abs(each) < 1).all():
            row = int(np.argmin(np.abs(each) < 1)) + 1
            raise DataError(
                f"row {row} of {records.names[0]} has no number between -1 and 1 in "
                f"{value.column!r}, the correlation of {' and '.join(pair)}; give one."
            )
        found[:, a, b] = found[:, b, a] = each
    if names and np.linalg.eigvalsh(found).min() <= 1e-9:
        raise DataError("the correlations are impossible together: no noise has all of them.")
    return found
