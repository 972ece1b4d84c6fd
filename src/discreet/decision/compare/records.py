"""One mask of a file of records: made, attacked by who knows it, and weighed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.data.roles import GROUP
from discreet.decision.compare.inferred import inferred
from discreet.decision.compare.nobody import of_nobody
from discreet.decision.compare.plan import Candidate, Plan
from discreet.decision.compare.raked import raked
from discreet.decision.compare.repeats import following, hidden_by, pairs_left_out, repeats
from discreet.decision.compare.sensitive import (
    are_numbers,
    became,
    having,
    is_fixed,
    is_number,
    with_levels,
)
from discreet.decision.compare.tried import Tried
from discreet.decision.law.policy import Policy
from discreet.errors import DataError
from discreet.intruder.linkage.model import Kind
from discreet.look.words import percent, plural
from discreet.masks.records.chain import chained, shuffled
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import MaskedFile
from discreet.risk.linkage.disclosed import Disclosed, disclosed
from discreet.risk.linkage.identification import identify

UNIQUE = 0.5  # share of different values from which a column tells people apart
HOMES = 10  # different values from which a column may number households
ALIKE = 6  # records with a value of a masked column, up to which it looks like such a number, too


def make_file(file: RecordFile, candidate: Candidate, seed: int) -> MaskedFile:
    """The masked file of a candidate, the same for the same seed.

    In random order, and with new numbers of households, so that neither tells who they are.
    """
    rng = candidate.rng(seed)
    masked = shuffled(chained(candidate.steps).apply(file, rng), rng)
    if file.household is None or file.household not in masked.data.columns:
        return masked
    homes = RecordFile(masked.data).labels(file.household)
    names, place = np.unique(homes, return_inverse=True)
    numbers = rng.permutation(len(names)) + 1
    fresh = numbers[place].astype(object)
    fresh[homes == ""] = None
    return replace(masked, data=masked.data.assign(**{file.household: fresh}))


def try_file(file: RecordFile, candidate: Candidate, plan: Plan, policy: Policy) -> Tried:
    """What a mask of a file risks and is worth."""
    from discreet.utility.summary import worth

    masked = make_file(file, candidate, plan.seed)
    found, repeated = attack(file, masked, plan, policy.masks.act)
    aside = {file.household, file.weight}
    columns = [name for name in file.data.columns if name not in aside]
    numbers = [name for name in columns if is_number(file, name)]
    within = _within(file, masked)
    true, seen = _as_numbers(file, numbers), _as_numbers(RecordFile(masked.data), numbers)

    def score(names: list[str]) -> float:
        categories = [name for name in names if name not in numbers]
        some = [name for name in names if name in numbers]
        coarse = {name: within[name] for name in names if name in within}
        options: dict[str, Any] = {"weight": file.weight, "within": coarse}
        return float(worth(true, seen, categories=categories, numbers=some, **options).score)

    return Tried(
        candidate.name,
        candidate.method,
        found.to_json(),
        score(columns),
        {user.name: score(list(user.columns)) for user in plan.readers},
        None,
        found.exact == 1,
        found.pruned + found.error,
        (*masked.said, *repeated, *_of_released(found, len(masked)), *_trust(found)),
        len(masked),
        _doubt(file, masked, plan),
        not_computed=_not_computed(plan, found),
        inferred=_inferred(file, masked, plan, found),
    )


def _not_computed(plan: Plan, found: Disclosed) -> dict[str, str]:
    """Risks that were not looked at, and why."""
    if found.attribute is not None:
        return {}
    if plan.sensitive:
        return {"attribute": "not computed: every sensitive column is a key, and known already"}
    return {"attribute": "not computed: no column is said to be sensitive"}


def _inferred(
    file: RecordFile, masked: MaskedFile, plan: Plan, found: Disclosed
) -> dict[str, dict[str, float]]:
    """What a model gets right of each sensitive column, with a person's record and without."""
    learnt: dict[str, dict[str, float]] = {}
    for name in plan.sensitive:
        if name in plan.keys:
            continue
        for column in with_levels(file, _weighed_as_before(file, masked), name, plan.keys):
            one = inferred(file, masked, plan.keys, column)
            if one is not None:
                told = float(found.told[column.name].mean())
                rates = {"released": one.released, "baseline": one.baseline}
                learnt[column.name] = {"told": told, **rates}
    return learnt


def _doubt(file: RecordFile, masked: MaskedFile, plan: Plan) -> str | None:
    """Why a person has to look at what was found."""
    if "private" in masked.method.split(" + "):
        return "its noise comes from the seed of the comparison, and is not for release"
    if file.household is not None:
        return (
            "the risks are those of persons by themselves, and members of a household are released "
            "together: an intruder who links whole households finds many more"
        )
    if left := pairs_left_out(file, masked, plan):
        return (
            f"{plural(left, 'pair')} of columns were not looked at for values that tell together "
            "what is masked; leave columns out"
        )
    if file.weight is not None and (strata := _strata_told(masked)):
        return f"weights are divided by the fraction of each {strata}, and tell it though masked"
    if (masked.rows >= 0).all() and raked(file, plan, hidden_by(masked)):
        return f"{file.weight} is a product of factors of the keys, and tells those that are masked"
    spoken = (*plan.keys, *plan.sensitive, file.weight)
    for name in masked.data.columns if len(masked) > 1 else ():
        if name in spoken:
            continue
        there = RecordFile(masked.data).labels(name) != ""
        alike = _alike(file, masked, name)
        if there.mean() <= UNIQUE and there.sum() < HOMES:
            continue
        alike = alike[there]
        if (1 / alike).mean() > UNIQUE:
            whom = "nearly everybody" if there.all() else "nearly all who have it"
            return f"{name} is different for {whom}, and is taken as known to nobody"
        many = len(set(RecordFile(masked.data).labels(name))) > HOMES
        home = ALIKE if name in masked.keys else GROUP
        if many and (alike <= home).mean() > UNIQUE:
            return (
                f"{name} is shared by few records each, as the number of a household is, and "
                "members tell of each other; name the column of households, or leave it out"
            )
    return None


def _strata_told(masked: MaskedFile) -> str | None:
    """A column by whose values a sample was drawn, and that a later step has masked."""
    hidden = hidden_by(masked)
    steps = masked.parameters.get("steps", ())
    return next((s["strata"] for s in steps[:-1] if s.get("strata") in hidden), None)


def _alike(file: RecordFile, masked: MaskedFile, name: str) -> Floats:
    """How many records a column does not tell from each released one.

    Where chance has changed it: how many true values are as near to what is released as its own.
    Values that moved along with others, and those of copies, are still somebody's.
    """
    released = RecordFile(masked.data)
    shown = released.labels(name)
    _, of, many = np.unique(shown, return_inverse=True, return_counts=True)
    moved = any(
        key.kind is Kind.SWAPPED and name in (key.name, *key.joint) for key in masked.keys.values()
    )
    if moved or is_fixed(masked, name):
        copies = max(len(masked) / len(file), 1)
        return np.maximum(many[of] / copies, 1.0)
    found = np.full(len(shown), np.inf)
    if are_numbers(file, name) and are_numbers(released, name):
        values, new = file.numbers(name), released.numbers(name)
        order, off = np.sort(values[~np.isnan(values)]), np.abs(values[masked.rows] - new)
        near = np.searchsorted(order, new + off, "right") - np.searchsorted(order, new - off)
        return np.where(np.isnan(off), found, np.maximum(near, 1))
    true = file.labels(name)
    _, place, often = np.unique(true, return_inverse=True, return_counts=True)
    stayed = true[masked.rows] == shown
    return np.where(stayed, often[place][masked.rows], found)


def _of_released(found: Disclosed, released: int) -> list[str]:
    """Risks are shares of all respondents; of who is released, more may be found."""
    right = float(found.right.sum())
    if released >= len(found.right) or not right:
        return []
    some = percent(right / released, 1)
    return [f"Of the {plural(released, 'released record')}, {some} are identified."]


def _trust(found: Disclosed) -> list[str]:
    """How far link probabilities are to be trusted."""
    said = []
    if found.exact < 1:
        some = f"exact for {found.exact:.0%} of the records, else " if found.exact else ""
        said.append(f"Link probabilities are {some}approximate.")
    if found.error:
        said.append(
            f"Of combinations that are shown by chance alone, links may be {found.error:.2%} more."
        )
    if found.pruned:
        said.append(f"Pruning may have left out {found.pruned:.2%} of the true links.")
    return said


def _as_numbers(file: RecordFile, numbers: list[str]) -> Any:
    """The frame with numbers as such, where they still are numbers."""
    from contextlib import suppress

    found = {}
    for name in numbers:
        with suppress(DataError):
            found[name] = file.numbers(name)
    return file.data.assign(**found)


def attack(
    file: RecordFile, masked: MaskedFile, plan: Plan, act: float
) -> tuple[Disclosed, tuple[str, ...]]:
    """What an intruder finds who knows the keys of everybody in the file, and the mask; and which
    columns he uses besides, because they give a masked one back. Where records are blanked for
    what a sensitive column has, he works out which ones: who of a class is told the same.

    A sensitive column that is also a key is known already, and counts as a key alone. What follows
    from a sensitive column is as sensitive.
    """
    masked = _weighed_as_before(file, masked)
    with_these = following(file, masked, plan)
    plan = replace(plan, sensitive=(*plan.sensitive, *with_these))
    alike = tuple(f"{a} follows from {b}, and is as sensitive." for a, b in with_these.items())
    plain, more = _attack(file, masked, plan, act), repeats(file, masked, plan)
    if (open_one := masked.unblanked()) is not None:
        plain = plain.telling(_attack(file, open_one, plan, act))
    if more is None:
        return plain, alike
    return plain.worse(_attack(more.file, more.masked, more.plan, act)), (*alike, *more.said)


def _weighed_as_before(file: RecordFile, masked: MaskedFile) -> MaskedFile:
    """Who knows a mask knows by what fraction it has divided the weights."""
    if file.weight not in masked.data.columns or (masked.rows < 0).any():
        return masked
    weights = file.data[file.weight].to_numpy()[masked.rows]
    return replace(masked, data=masked.data.assign(**{str(file.weight): weights}))


def _attack(file: RecordFile, masked: MaskedFile, plan: Plan, act: float) -> Disclosed:
    if not plan.keys:
        raise DataError("the intruder knows no column; name the keys that can be known of people.")
    file.check(*plan.keys, *plan.sensitive)
    names = [name for name in plan.sensitive if name not in plan.keys]
    columns = [one for name in names for one in with_levels(file, masked, name, plan.keys)]
    rare = [one for name in names if (one := having(file, masked, name)) is not None]
    intruder = masked.intruder(plan.keys)
    unknown = all(key.kind is Kind.UNKNOWN for key in intruder.keys)
    if (masked.rows < 0).all() or unknown:
        plain, more = (of_nobody(file, masked, plan.keys, c, act) for c in (columns, rare))
    else:
        found = identify(masked.linked_with(file, plan.keys), intruder, act=act)
        plain, more = (disclosed(found, c) for c in (columns, rare))
    return plain.telling(more) if rare else plain


def _within(file: RecordFile, masked: MaskedFile) -> dict[str, Any]:
    """What each coarse value may be, for a user who spreads it evenly: the values that have it."""
    import pandas as pd

    found: dict[str, Any] = {}
    released = RecordFile(masked.data)
    for name in masked.keys:
        labels, known = file.labels(name), set(file.labels(name))
        became_of = became(file, masked, name)
        numbers = file.numbers(name) if is_number(file, name) else None
        fine: dict[str, Any] = {"": ()} if "" not in known else {}
        still = numbers is not None and is_number(released, name)
        for text in () if still else sorted(set(released.labels(name)) - known - {""}):
            mine = became_of == text
            if numbers is None:
                fine[text] = tuple(sorted(set(labels[mine]) - {""}))
            else:
                low, high = float(np.nanmin(numbers[mine])), float(np.nanmax(numbers[mine]))
                fine[text] = pd.Interval(low, high, closed="both")
        found[name] = fine
    return found
