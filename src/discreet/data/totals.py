"""Rows that are totals of others: whoever is in a cell would be counted again."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.data.codebook import MISSING, Codebook, Variable
from discreet.data.encode import alike
from discreet.errors import DataError, WrongKind


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NAMES = words(
    """total totals all sum overall everyone everybody subtotal _t gesamt insgesamt summe alle
    zusammen ensemble tous toutes somme totale tutti tutte somma suma soma todos todas totaal
    totalt summa alla ialt yhteensä razem ogółem celkem tot sum. σ gesamtergebnis összesen összes
    итого всего всього всички общо σύνολο toplam ukupno skupaj spolu kokku kopā cyfanswm samtals
    合計 总计 總計 합계 المجموع"""
) | {"grand total", "both sexes", "all ages", "all persons", "total general", "i alt", "iš viso"}
# with these a row is a total only if it is the sum of others; SQL's ROLLUP leaves totals empty
PERHAPS = frozenset({"t", MISSING})
NO_CHANCE = 50  # sums whatever they are called: one in so many if counts are as likely as smaller
BEGINNINGS = ("total ", "total, ", "total: ", "all ")

Codes = NDArray[np.unsignedinteger[Any]]
Labels = dict[int, set[int]]  # of variables by their places: codes of categories


class Totals(StrEnum):
    """What becomes of rows that are totals; they are refused if nothing is said."""

    DROP = "drop"
    KEEP = "keep"

    @classmethod
    def named(cls, name: str | None) -> Totals | None:
        if name is not None and name not in [*cls]:
            raise DataError(f"totals is {name!r}; choose {' or '.join(cls)}.")
        return None if name is None else cls(name)


@dataclass(frozen=True, eq=False)
class Found:
    """The rows that are totals, and the categories that say so."""

    rows: NDArray[np.bool_]
    labels: Mapping[str, frozenset[str]]

    def forget(self, variable: Variable) -> Variable:
        """The variable without those categories."""
        gone = self.labels.get(variable.name, frozenset())
        return dataclasses.replace(
            variable,
            categories=tuple(c for c in variable.categories if c not in gone),
            sensitive=tuple(c for c in variable.sensitive if c not in gone),
        )


def is_total(label: str) -> bool:
    """Is a category called like a total?

    >>> [is_total(name) for name in ("Total", "(all)", "_T", "Totnes")]
    [True, True, True, False]
    """
    return label.casefold().strip(" :.*()[]") in NAMES


def check_people(variables: Iterable[Variable], totals: str | None, where: str) -> None:
    """Refuse a category of people that is called like a total."""
    check_totals(((v.name, v.categories) for v in variables), totals, where, Codebook())


def check_totals(
    columns: Iterable[tuple[str, Collection[object]]],
    totals: str | None,
    where: str,
    book: Codebook,
) -> None:
    """The same of columns with their values, which the codebook may call something else."""
    if (said := Totals.named(totals)) is Totals.KEEP:
        return
    check_labels(columns, ("totals", "keep"), where, book)
    if said is Totals.DROP:
        raise WrongKind(
            lambda say: (
                f"{say('totals', 'drop')} is for cells, and {where} is read as records; "
                "leave it out."
            )
        )


def check_labels(
    columns: Iterable[tuple[str, Collection[object]]],
    answer: tuple[str, object],
    where: str,
    book: Codebook,
) -> None:
    """Refuse a value that is called like a total, unless the `answer` was that it is none.

    Codes are called what the codebook says.
    """
    several = ((name, _called(name, known, book)) for name, known in columns if len(known) > 1)
    named = ((name, text) for name, texts in several for text in texts if is_total(text))
    if (first := next(named, None)) is not None:
        raise WrongKind(
            lambda say: (
                f"{where} has {first[1]!r} in {first[0]!r} among people: is that row a total? Take "
                f"it out, or say {say(*answer)} if it is a category like any other."
            )
        )


def _called(name: str, values: Iterable[object], book: Codebook) -> Iterator[str]:
    coded = bool(book.entry(name).labels)
    return (book.label(name, one) for one in values if coded or isinstance(one, str))


def find_totals(
    variables: Sequence[Variable], codes: Codes, counts: Ints, totals: str | None, where: str
) -> Found | None:
    """The rows to drop, if that is said; totals are refused otherwise, and always if they do not
    add up. Each must be the sum of all rows without a total that agree with it elsewhere."""
    said = Totals.named(totals)
    if said is Totals.KEEP:
        return None
    labels = _labels(variables, codes, is_total)
    if labels:
        _check_sums(variables, codes, counts, labels, where)
    labels = _also(variables, codes, counts, labels)
    if not labels:
        if said is Totals.DROP:
            raise WrongKind(
                lambda say: (
                    f"no category of {where} is a total by its name or its counts; leave out "
                    f"{say('totals', 'drop')}, or call it Total."
                )
            )
        return None
    at = _marked(codes, labels)
    rows = np.asarray(at.any(axis=1))
    if said is Totals.DROP:
        named = {
            variables[v].name: frozenset(variables[v].categories[c] for c in found)
            for v, found in labels.items()
        }
        return Found(rows, named)
    row = int(rows.argmax())
    place = int(at[row].argmax())
    label = variables[place].categories[codes[row, place]]
    raise WrongKind(
        lambda say: (
            f"{where} has rows that are sums of others, such as {_cell(variables, codes[row])}, so "
            f"that people count more than once: say {say('totals', 'drop')}, or "
            f"{say('totals', 'keep')} if {label!r} is a category like any other."
        )
    )


def _labels(variables: Sequence[Variable], codes: Codes, test: Any) -> Labels:
    """Categories that pass a test, of variables that have others too: a constant doubles nobody."""
    found: Labels = {}
    for place, variable in enumerate(variables):
        listed = {code for code, label in enumerate(variable.categories) if test(label)}
        if listed:
            there = set(np.unique(codes[:, place]).tolist())
            if listed & there and there - listed:
                found[place] = listed & there
    return found


def _perhaps(label: str) -> bool:
    text = label.casefold().strip()
    return text in PERHAPS or text.startswith(BEGINNINGS)


def _also(variables: Sequence[Variable], codes: Codes, counts: Ints, labels: Labels) -> Labels:
    """Further categories that may be totals, and are by their counts."""
    found = {place: set(listed) for place, listed in labels.items()}
    perhaps = _labels(variables, codes, _perhaps)
    tried = [(place, code) for place, listed in perhaps.items() for code in listed]
    tried += _halves(variables, codes, counts)
    more = True
    while more:
        more = False
        for place, code in tried:
            if code in found.get(place, ()):
                continue
            wider = found | {place: found.get(place, set()) | {code}}
            others = set(np.unique(codes[:, place]).tolist()) - wider[place]
            asked = codes[:, place] == code
            if len(others) < 2 or not counts[asked].any():
                continue
            if (_sums(codes, counts, wider) == counts).all():
                found, more = wider, True
    return found


def _halves(variables: Sequence[Variable], codes: Codes, counts: Ints) -> Iterator[tuple[int, int]]:
    """Categories of half of all people, as all others together, in cells too many or too large
    for chance."""
    for place, variable in enumerate(variables):
        sums = np.bincount(codes[:, place], counts, variable.size)
        for code in np.flatnonzero(2 * sums == sums.sum()).tolist():
            if np.log1p(counts[codes[:, place] == code]).sum() >= np.log(NO_CHANCE):
                yield place, code


def _marked(codes: Codes, labels: Labels) -> NDArray[np.bool_]:
    """Where a row has the label of a total, rows x variables."""
    at = np.zeros(codes.shape, bool)
    for place, listed in labels.items():
        at[:, place] = np.isin(codes[:, place], list(listed))
    return at


def _sums(codes: Codes, counts: Ints, labels: Labels) -> Ints:
    """What each row should count: itself, or all rows without a total that it stands for."""
    at, sums = _marked(codes, labels), counts.copy()
    plain = np.flatnonzero(~at.any(axis=1))
    for pattern in np.unique(at[at.any(axis=1)], axis=0):
        rows = np.flatnonzero((at == pattern).all(axis=1))
        both = codes[np.concatenate([plain, rows])][:, ~pattern]
        number = alike(both.T, len(both))
        amounts = np.zeros(int(number.max(initial=0)) + 1, np.int64)
        np.add.at(amounts, number[: len(plain)], counts[plain])
        sums[rows] = amounts[number[len(plain) :]]
    return sums


def _check_sums(
    variables: Sequence[Variable], codes: Codes, counts: Ints, labels: Labels, where: str
) -> None:
    sums = _sums(codes, counts, labels)
    wrong = sums != counts
    if not wrong.any():
        return
    row = int(wrong.argmax())
    place = int(_marked(codes, labels)[row].argmax())
    label = variables[place].categories[codes[row, place]]
    raise WrongKind(
        lambda say: (
            f"{_cell(variables, codes[row])} of {where} looks like a total, but counts "
            f"{counts[row]:,} where the rows it stands for sum to {sums[row]:,}: repair it, or say "
            f"{say('totals', 'keep')} if {label!r} is a category like any other."
        )
    )


def _cell(variables: Sequence[Variable], codes: Codes) -> str:
    pairs = zip(variables, codes, strict=True)
    return ", ".join(f"{variable.name}={variable.categories[code]}" for variable, code in pairs)
