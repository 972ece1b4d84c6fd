"""Columns that are added up: numbers as files write them, and which are missing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.data.codebook import MISSING, Codebook
from discreet.data.encode import places
from discreet.data.figures import is_text
from discreet.data.frames import label
from discreet.errors import DataError

DECIMALS = range(7)
LARGEST_WHOLE = 2.0**53  # up to here floats tell whole numbers apart
LARGEST = 1e100  # sums of weighted amounts stay numbers
SPACES, APOSTROPHES = " \u00a0\u2009\u202f", "'\u2019"


@dataclass(frozen=True)
class Convention:
    """What stands before decimals, and what may stand between thousands."""

    decimal: str
    thousands: str

    @property
    def pattern(self) -> str:
        """Of every number that is written so."""
        whole = rf"(\d+|[1-9]\d{{0,2}}([{self.thousands}]\d{{3}})+)"
        point = re.escape(self.decimal)
        return rf"^[+-]?({whole}({point}\d*)?|{point}\d+)([eE][+-]?\d{{1,3}})?$"

    def read(self, texts: Any) -> Floats:
        """The numbers of Arrow texts that are all written so."""
        import pyarrow as pa
        import pyarrow.compute as pc

        plain = pc.replace_substring_regex(texts, rf"[{self.thousands}+]", "")
        plain = pc.replace_substring(plain, self.decimal, ".")
        return np.asarray(plain.cast(pa.float64()).to_numpy(zero_copy_only=False))


CONVENTIONS = (
    *(Convention(".", mark) for mark in (",", SPACES, APOSTROPHES)),
    *(Convention(",", mark) for mark in (".", SPACES, APOSTROPHES)),
)


def amounts(name: str, column: Any, book: Codebook, where: str) -> Floats:
    """The numbers of an Arrow column, nan where one is missing: blank, or a missing code of the
    codebook. Texts are read by the one convention that fits all of them.

    >>> import pyarrow as pa
    >>> texts = pa.chunked_array([["1.000,50", "950", "NA", ""]])
    >>> amounts("Turnover", texts, Codebook.of(missing_values=["NA"]), "'firms.csv'").tolist()
    [1000.5, 950.0, nan, nan]
    """
    import pyarrow as pa

    index, distinct = places(f"{name!r} of {where}", column)
    gone = np.array([_is_missing(name, value, book) for value in distinct], bool)
    values = np.full(len(distinct), np.nan)
    there = np.flatnonzero(~gone)
    if is_text(column):
        texts = pa.array([distinct[i].strip() for i in there.tolist()], pa.string())
        values[there] = _read(name, texts, book, where)
    elif len(there):
        try:
            found = pa.array([distinct[i] for i in there.tolist()], column.type)
            values[there] = found.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError):
            raise DataError(
                f"column {name!r} of {where} holds {column.type}, and numbers are to be added up; "
                "name another column, or mend it."
            ) from None
    if (values > LARGEST).any():
        raise DataError(
            f"column {name!r} of {where} has the value {np.nanmax(values):g}, which is no amount; "
            "mend it."
        )
    if (values < 0).any():
        raise DataError(
            f"column {name!r} of {where} has the value {values[values < 0][0]:g}, and the rules "
            "for contributors are for values of 0 or more; split it into gains and losses. If it "
            "means that the value is missing, list it in the codebook as one of missing_values."
        )
    blank = book.entry(name).blank
    if blank is not None:
        values[np.isnan(values)] = blank
    return np.asarray(values[index])


def _is_missing(name: str, value: Any, book: Codebook) -> bool:
    text = label(value)
    labels = book.entry(name).labels
    return labels[text] == MISSING if text in labels else not text or text in book.missing_values


def _read(name: str, texts: Any, book: Codebook, where: str) -> Floats:
    """Texts as numbers; refused where they fit no convention, or two that differ."""
    import pyarrow.compute as pc

    if not len(texts):
        return np.zeros(0)
    said = book.entry(name).decimal
    allowed = [one for one in CONVENTIONS if said in (None, one.decimal)]
    fits = {one: pc.match_substring_regex(texts, one.pattern) for one in allowed}
    read = {one: one.read(texts) for one, fit in fits.items() if pc.all(fit).as_py()}
    if not read:
        raise DataError(_no_convention(name, texts, fits, where))
    first, *others = read.values()
    for other in others:
        if (differ := np.flatnonzero(first != other)).size:
            at = int(differ[0])
            raise DataError(
                f"column {name!r} of {where} has {texts[at].as_py()!r}, which may be "
                f"{first[at]:,.15g} or {other[at]:,.15g}, and no other value settles it; say in a "
                f'codebook what stands before decimals: [variables.{_key(name)}] decimal = "." '
                'or ",".'
            )
    return first


def _no_convention(name: str, texts: Any, fits: dict[Convention, Any], where: str) -> str:
    """Which value is no number, or which two are written in different ways."""
    each = np.array([fit.to_numpy(zero_copy_only=False) for fit in fits.values()])
    if (strange := np.flatnonzero(~each.any(0))).size:
        text = texts[int(strange[0])].as_py()
        return (
            f"column {name!r} of {where} has {text!r}, and numbers are to be added up; mend it, or "
            f"list it in the codebook if it is missing: missing_values = [{_quoted(text)}]."
        )
    best = each[int(each.sum(1).argmax())]
    odd, plain = int(np.flatnonzero(~best)[0]), int(np.flatnonzero(best)[0])
    return (
        f"column {name!r} of {where} has {texts[plain].as_py()!r} and {texts[odd].as_py()!r}, "
        "which are written in different ways; write all numbers in one."
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def unit_of(values: Floats) -> float:
    """The step in which values are given; 0 for fractions.

    >>> unit_of(np.array([1.5, 3.0])), unit_of(np.array([20.0])), unit_of(np.array([1 / 3]))
    (0.1, 1.0, 0.0)
    """
    for decimals in DECIMALS:
        if np.allclose(values * 10**decimals, np.round(values * 10**decimals), rtol=0, atol=1e-6):
            return float(10.0**-decimals)
    return 0.0


def step_of(values: Floats) -> float:
    """The largest amount of which all are multiples; 0 for fractions.

    >>> step_of(np.array([1.5, 3.0])), step_of(np.array([250.0, 100.0])), step_of(np.array([1 / 3]))
    (1.5, 50.0, 0.0)
    """
    unit = unit_of(values)
    if not unit or values.max(initial=0.0) / unit > LARGEST_WHOLE:
        return unit
    return unit * float(np.gcd.reduce(np.rint(values / unit).astype(np.int64)))
