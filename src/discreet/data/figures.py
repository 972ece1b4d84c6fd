"""Figures as files have them: counts, thousands, marks for what is hidden, shares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.totals import words

WHOLE = r"^\s*(0|[1-9]\d*)(\.0+)?\s*$"  # 01 is a code
THOUSANDS = r"^\s*[1-9]\d{0,2}([,.'’   ]\d{3})+\s*$"
FRACTION = r"^\s*-?\d*[.,]\d+\s*$"
PERCENT = r"^\s*-?\d+([.,]\d+)?\s*%\s*$"
MARK = (
    r"^\s*(x|c|s|u|z|\*+|\.{1,3}|…|:|-+|–|—|n/?a|nan|[<≤]\s*\d+"
    r"|\(?supp?r?\w*\)?|\d+\s*[-–]\s*\d+)\s*$"
)
PERCENTS = words(
    """% percent percents percentage percentages pct perc pc share shares proportion proportions
    prop rate rates ratio prozent anteil anteile quote pourcentage pourcentages taux porcentaje
    proporción percentuale percentagem procent andel"""
)
MEASURES = words(
    """count counts n number numbers frequency freq persons people cases anzahl häufigkeit effectif
    effectifs frecuencia casos aantal antal"""
)


def is_text(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def holds_counts(column: Any) -> bool:
    """Whole numbers from 0 on, also with a separator of thousands; others may be hidden by a mark,
    and up to half of them anything else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if is_text(column):
        whole = pc.match_substring_regex(column, WHOLE)
        grouped = pc.match_substring_regex(column, THOUSANDS)
        hidden = pc.match_substring_regex(column, MARK, ignore_case=True)
        empty = pc.match_substring_regex(column, r"^\s*$")
        number = pc.fill_null(pc.or_(whole, grouped), False)
        found = int(pc.sum(number).as_py() or 0)
        other = pc.fill_null(pc.or_(hidden, empty), True)
        all_known = bool(pc.all(pc.or_(number, other)).as_py())
        below = pc.match_substring_regex(column, r"^\s*[<≤]\s*\d+\s*$")
        some = found > 0 or bool(pc.any(pc.fill_null(below, False)).as_py())
        return bool(0 < len(column) <= 2 * found) or (all_known and some and len(column) > 0)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return False
    values = column.cast(pa.float64(), safe=False).drop_null().to_numpy()
    values = values[np.isfinite(values)]
    counts = (values >= 0) & (values == np.floor(values))
    return bool(0 < len(column) <= 2 * len(values) and counts.all())


def holds_figures(column: Any) -> bool:
    """Texts of which most have one number, whatever stands beside it: `12 persons`, `n=12`."""
    import pyarrow.compute as pc

    if not is_text(column):
        return False
    figures = pc.match_substring_regex(column, r"^\D*\d[\d.,'’ ]*\D*$")
    return bool(0 < len(column) < 2 * int(pc.sum(figures).as_py() or 0))


def numbers_of(column: Any) -> NDArray[np.float64] | None:
    """The numbers of a column that has no other values, missing ones left out.

    >>> import pyarrow as pa
    >>> numbers_of(pa.chunked_array([["1", "2,5", None, " "]]))
    array([1. , 2.5])
    """
    import pyarrow as pa

    kind = column.type
    if is_text(column):
        texts = [t for value in column.to_pylist() if value is not None and (t := value.strip())]
        if not texts or not all(_NUMBER.fullmatch(text) for text in texts):
            return None
        return np.array([float(text.replace(",", ".")) for text in texts])
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = column.cast(pa.float64(), safe=False).drop_null().to_numpy()
        return np.asarray(values[np.isfinite(values)], np.float64)
    return None


_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def is_fractional(column: Any) -> bool:
    """Shares and means: numbers that are not whole, at least in part."""
    values = numbers_of(column)
    return values is not None and bool((values % 1 != 0).any())


def is_percent(column: Any, name: str) -> bool:
    """Percent signs, or fractions under a telling name."""
    import pyarrow.compute as pc

    if is_text(column):
        signs = pc.match_substring_regex(column, PERCENT)
        if 2 * int(pc.sum(signs).as_py() or 0) > len(column):
            return True
    return bool(_parts(name) & PERCENTS) and numbers_of(column) is not None


def adds_up(column: Any) -> bool:
    """Is the sum 1 or 100, once or several times?"""
    import pyarrow.compute as pc

    if is_text(column):
        column = pc.replace_substring_regex(column, r"\s*%\s*$", "")
    values = numbers_of(column)
    if values is None or not len(values) or (values < 0).any():
        return False
    total = float(values.sum())
    for whole in (100.0, 1.0):
        times = round(total / whole)
        if 0 < times <= len(values) / 2 and abs(total - times * whole) <= 0.01 * whole * times:
            return True
    return False


def are_shares(columns: Sequence[Any]) -> bool:
    """Do several columns add up to 1 or 100: in each row, each of them by itself, or together?"""
    import pyarrow.compute as pc

    values = []
    for column in columns:
        if is_text(column):
            column = pc.replace_substring_regex(column, r"\s*%\s*$", "")
        found = numbers_of(column)
        if found is None or len(found) != len(column) or (found < 0).any():
            return False
        values.append(found)
    table = np.array(values)
    if len(table) < 2 or not (table % 1 != 0).any():
        return False
    if any(abs(table.sum() - whole) <= min(0.051 * table.size, 0.01 * whole) for whole in (1, 100)):
        return True  # of all together
    slack = 0.051 * max(table.shape)  # each is rounded to a tenth, if not better
    return any(
        bool((np.abs(table.sum(axis=axis) - whole) <= min(slack, 0.02 * whole)).all())
        for axis in (0, 1)
        for whole in (1.0, 2.0, 100.0, 200.0)  # with totals, twice
    )


def measures(labels: Sequence[str]) -> tuple[str, str] | None:
    """A category that counts and one that gives shares, if both are there.

    >>> measures(["Percent", "Count"]), measures(["Ash", "Birch"])
    (('Count', 'Percent'), None)
    """
    count = next((text for text in labels if _parts(text) & MEASURES), None)
    share = next((text for text in labels if _parts(text) & PERCENTS), None)
    return (count, share) if count is not None and share is not None and count != share else None


def _parts(text: str) -> set[str]:
    found = set(re.split(r"[\W\d_]+", text.casefold()))
    return found | ({"%"} if "%" in text else set())


def hint(text: str) -> str:
    """What to do about a count that is written in another way, or nothing.

    >>> hint("1,234")
    ' It has a separator of thousands: write 1234.'
    """
    if re.match(THOUSANDS, text):
        return f" It has a separator of thousands: write {re.sub(r'[^0-9]', '', text)}."
    if re.match(PERCENT, text):
        return " Percentages count nobody: give the counts."
    if re.match(MARK, text, re.IGNORECASE):
        return " It may stand for a count that is hidden: give the file before suppression."
    return ""


def thousands(values: Sequence[Any]) -> tuple[str, str] | None:
    """1.000 beside 950: one that may be a thousand, and one without a point."""
    texts = [value.strip() for value in values if isinstance(value, str)]
    pointed = next((text for text in texts if re.fullmatch(r"[1-9]\d{0,2}(\.000)+", text)), None)
    plain = next((text for text in texts if re.fullmatch(r"[1-9]\d*", text)), None)
    return (pointed, plain) if pointed is not None and plain is not None else None
