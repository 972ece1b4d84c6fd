"""Numbers with hundreds of values, grouped inside the engine; bands say where they begin and end.

    [k w, (k + 1) w)     bands of one width w
    [c_i, c_i+1)         between cut points

As labels: `20,000 to under 30,000`, `50,000 or more`, which `data/values.py` reads back.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.source import Source, engine_errors
from discreet.errors import CodebookError, DataError, WrongKind
from discreet.look.telling import tell

if TYPE_CHECKING:
    from discreet.data.codebook import Codebook, Variable

MANY = 100  # different numbers, beyond which they classify nobody as they stand
MOST = 1_000  # bands
SHARE = 0.9  # of the values that are numbers, in a column of numbers
PLAIN = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
GROUPED = r"^[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$"  # 20,000
COMMA = r"^[+-]?[0-9]+,[0-9]+$"  # 1,5
CODE = r"^0[0-9]"  # 01 is a code

_PARSED = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Bands:
    """Bands of one width, between cut points, or with about equal numbers of people; or none:
    each number is a category.

    >>> Bands.of(10000, "Income"), Bands.of("0, 10000, 50000", "Income").cuts
    (Bands(10,000 wide), (Decimal('0'), Decimal('10000'), Decimal('50000')))
    """

    width: Decimal | None = None
    cuts: tuple[Decimal, ...] = ()
    equal: int | None = None

    @classmethod
    def of(cls, said: object, name: str) -> Bands:
        """A width, cut points, `quantiles:K` or `none`."""
        if isinstance(said, Bands):
            return said
        listed: list[object]
        if isinstance(said, str):
            text = said.strip()
            if text.lower() == "none":
                return cls()
            if found := re.fullmatch(r"quantiles:\s*(\d{1,4})", text, re.I):
                if not 2 <= int(found[1]) <= MANY:
                    raise CodebookError(f"the bands of {name!r} are {text!r}; give 2 to {MANY}.")
                return cls(equal=int(found[1]))
            listed = list(text.split(","))
            if len(listed) > 1 and not str(listed[-1]).strip():
                listed = listed[:-1]  # 18, is one cut point
            elif len(listed) == 1:
                return cls._wide(listed[0], said, name)
        elif isinstance(said, Sequence):
            listed = list(said)
        else:
            return cls._wide(said, said, name)
        cuts = tuple(_number(part, said, name) for part in listed)
        if not cuts or list(cuts) != sorted(set(cuts)) or len(cuts) > MOST:
            raise CodebookError(f"the bands of {name!r} are {said!r}; give rising cut points.")
        return cls(cuts=cuts)

    @classmethod
    def _wide(cls, value: object, said: object, name: str) -> Bands:
        width = _number(value, said, name)
        if width <= 0:
            raise CodebookError(f"the bands of {name!r} are {said!r} wide; give a width above 0.")
        return cls(width=width)

    @property
    def exact(self) -> bool:
        """Is each number a category?"""
        return self == Bands()

    def __repr__(self) -> str:
        return f"Bands({self})"

    def __str__(self) -> str:
        if self.width is not None:
            return f"{_shown(self.width, True)} wide"
        if self.equal is not None:
            return f"{self.equal} with about equal numbers"
        return (
            f"cut at {', '.join(_shown(cut, True) for cut in self.cuts)}" if self.cuts else "none"
        )


def parse_bands(texts: Iterable[str]) -> dict[str, Bands]:
    """`NAME=WIDTH`, `NAME=CUT,CUT`, `NAME=quantiles:K`, `NAME=none`.

    >>> parse_bands(["Age=5"])
    {'Age': Bands(5 wide)}
    """
    found: dict[str, Bands] = {}
    for text in texts:
        name, equals, said = text.rpartition("=")
        if not (equals and name.strip() and said.strip()):
            raise DataError(
                f"--band {text!r} has no bands; write NAME=10000, NAME=0,10000,50000, "
                "NAME=quantiles:5 or NAME=none."
            )
        if name.strip() in found:
            raise DataError(f"--band names {name.strip()!r} twice; name it once.")
        found[name.strip()] = Bands.of(said, name.strip())
    return found


def banded(source: Source, codebook: Codebook, keep: Collection[str] = ()) -> Source:
    """The source with its numbers in the bands that the codebook has for them.

    Missing values, codes with a label and what is no number stay as they are; `keep` names columns
    that stay too.
    """
    for name, entry in codebook.entries.items():
        if entry.bands is None or entry.bands.exact or name in keep:
            continue
        apart = {*codebook.missing_values, *entry.labels}
        source = _banded(source, name, entry.bands, apart)
    return source


def check_cells_unbanded(codebook: Codebook) -> None:
    """Cells are counted already."""
    for name, entry in codebook.entries.items():
        if entry.bands is not None and not entry.bands.exact:
            raise DataError(f"bands of {name!r} are for records; group the cells before.")


def check_numbers(variables: Sequence[Variable], codebook: Codebook, where: str) -> None:
    """Refuse hundreds of numbers as categories: what people with 9,998 and 9,999 have in common
    is not seen then."""
    many = {
        v.name: numbers
        for v in variables
        if v.size > MANY and not _settled(codebook, v.name) and (numbers := _numbers(v.categories))
    }
    if not many:
        return
    name, *others = many
    more = f" (as {', '.join(map(repr, others))})" if others else ""
    raise WrongKind(
        lambda say: (
            f"{name!r}{more} of {where} has {len(many[name]):,} different numbers, too many for "
            f"categories: group them by {_say_band(say, name, proposed(many[name]))}, leave "
            f"{'them' if others else 'it'} out by {say('without', ','.join(many))}, or say "
            f"{_say_band(say, name, 'none')} if each number is a category."
        )
    )


def _say_band(say: Any, name: str, bands: str) -> str:
    typed: str = say("band", f"{name}={bands}")
    shown = bands if bands != "none" else repr(bands)
    return typed if typed.startswith("--") else f"bands={{{name!r}: {shown}}}"


def _settled(codebook: Codebook, name: str) -> bool:
    """Does the codebook list its categories, or group them?"""
    entry = codebook.entry(name)
    return bool((entry.labels and not entry.open) or entry.hierarchy or entry.bands)


def _numbers(labels: Sequence[str]) -> list[float]:
    """The numbers that labels are, if there are hundreds and little else; 01 is a code."""
    if any(re.match(CODE, label) for label in labels):
        return []
    comma = any(re.match(COMMA, label) and not re.match(GROUPED, label) for label in labels)
    clean = [label.replace(",", "." if comma else "") for label in labels]
    found = [float(text) for text in clean if re.match(PLAIN, text)]
    return found if len(found) > MANY and len(found) >= SHARE * len(labels) else []


def proposed(numbers: Sequence[float]) -> str:
    """A round width that makes about ten bands.

    >>> proposed([3.0, 88_120.0])
    '10000'
    """
    rough = (max(numbers) - min(numbers)) / 10 or 1.0
    step = 10.0 ** math.floor(math.log10(rough))
    width = next(times * step for times in (1, 2, 5, 10) if times * step >= rough)
    return _shown(Decimal(f"{width:.10g}"), False)


def _banded(source: Source, name: str, bands: Bands, apart: Collection[str]) -> Source:
    import ibis

    number, text = _as_number(source, name)
    kept = sorted(value for value in apart if _PARSED.fullmatch(value))
    low, high = _ends(source, name, number, kept)
    found = _labels(_cuts(source, name, bands, number, kept, low, high), low, high)
    labels = [label for label, _ in found]
    cases: list[tuple[Any, Any]] = [(number == float(value), value) for value in kept]
    cases.append((number.isnull(), text))
    cases += [(number < float(top), label) for label, top in found[:-1]]
    expression = ibis.cases(*cases, else_=labels[-1])
    records = source.records.mutate(**{name: expression})
    tell(f"{name!r} of {source.name} is read in {len(labels)} bands, {bands}.")
    return replace(source, records=records, orders={**source.orders, name: tuple(labels)})


def _as_number(source: Source, name: str) -> tuple[Any, Any]:
    """A column as numbers, null where it has none, and as text."""
    import ibis

    column = source.records[name]
    if column.type().is_numeric():
        number = column.cast("float64")
        # SQLite has no nan: it is null there
        if column.type().is_floating() and source.records.get_backend().name != "sqlite":
            number = ibis.ifelse(number.isnan() | number.isinf(), ibis.null("float64"), number)
        return number, ibis.ifelse(number.notnull(), column.cast("string"), ibis.null("string"))
    if not column.type().is_string():
        raise DataError(
            f"column {name!r} of {source.name} holds {column.type()} values, which are no numbers; "
            "bands are for numbers."
        )
    text = column.strip()
    with engine_errors(source.name):
        row = source.records.aggregate(
            point=source.records.count(where=text.re_search(r"\.")),
            comma=source.records.count(where=text.re_search(COMMA) & ~text.re_search(GROUPED)),
        )
        found = row.to_pyarrow().to_pylist()[0]
    if found["comma"]:
        if found["point"]:
            raise DataError(
                f"column {name!r} of {source.name} has points and commas in its numbers; write "
                "all with a point, as 1.5."
            )
        clean = text.replace(",", ".")
    else:
        clean = ibis.ifelse(text.re_search(GROUPED), text.replace(",", ""), text)
    cast = clean.try_cast if source.records.get_backend().name == "duckdb" else clean.cast
    number = ibis.ifelse(clean.re_search(PLAIN), cast("float64"), ibis.null("float64"))
    return number, column


def _ends(source: Source, name: str, number: Any, kept: Sequence[str]) -> tuple[float, float]:
    """The smallest and the largest number, those that are kept apart."""
    where = number.notnull()
    for value in kept:
        where = where & (number != float(value))
    with engine_errors(source.name):
        row = source.records.aggregate(low=number.min(where=where), high=number.max(where=where))
        found = row.to_pyarrow().to_pylist()[0]
    if found["low"] is None:
        raise DataError(f"column {name!r} of {source.name} has no numbers; bands are for numbers.")
    return float(found["low"]), float(found["high"])


def _cuts(
    source: Source,
    name: str,
    bands: Bands,
    number: Any,
    kept: Sequence[str],
    low: float,
    high: float,
) -> tuple[Decimal, ...]:
    if bands.cuts:
        return bands.cuts
    if bands.width is not None:
        first, last = (
            int((Decimal(repr(end)) / bands.width).to_integral_value(ROUND_FLOOR))
            for end in (low, high)
        )
        if last - first + 1 > MOST:
            raise DataError(
                f"bands of {_shown(bands.width, True)} make {last - first + 1:,} categories of "
                f"{name!r} in {source.name}; give a larger width."
            )
        return tuple(bands.width * place for place in range(first, last + 2))
    with engine_errors(source.name):
        values = source.records.select(value=number).filter(lambda t: t["value"].notnull())
        found = values["value"].value_counts(name="n").to_pyarrow()
    value, times = (found[column].to_numpy().astype(float) for column in found.column_names[:2])
    right = np.isfinite(value) & ~np.isin(value, [float(each) for each in kept])
    order = np.argsort(value[right])
    value, times = value[right][order], times[right][order].cumsum()
    shares = np.arange(1, bands.equal or 2) / (bands.equal or 2) * times[-1]
    exact = value[np.searchsorted(times, shares)]
    return _rounded(exact, low, high, name, source.name)


def _rounded(exact: Any, low: float, high: float, name: str, where: str) -> tuple[Decimal, ...]:
    """Round cut points: a person's own number is none."""
    gaps = np.diff([low, *exact, high])
    gap = float(gaps[gaps > 0].min()) if (gaps > 0).any() else 1.0
    step = Decimal(10) ** (math.floor(math.log10(gap)) - 1)
    cuts = {(Decimal(repr(float(cut))) / step).to_integral_value() * step for cut in exact}
    inside = sorted(cut for cut in cuts if low < cut <= high)
    if not inside:
        raise DataError(f"{name!r} of {where} has too few values for such bands; give a width.")
    return tuple(inside)


def _labels(cuts: Sequence[Decimal], low: float, high: float) -> list[tuple[str, Decimal]]:
    """In order, each with its end; the open ones only where somebody is."""
    large = max(abs(cut) for cut in cuts) >= 10_000
    said = [_shown(cut, large) for cut in cuts]
    found = [(f"under {said[0]}", cuts[0])] if Decimal(repr(low)) < cuts[0] else []
    for a, b, top in zip(said, said[1:], cuts[1:], strict=False):
        found.append((f"{a} to under {b}", top))
    if Decimal(repr(high)) >= cuts[-1]:
        found.append((f"{said[-1]} or more", Decimal("Infinity")))
    return found


def _shown(value: Decimal, grouped: bool) -> str:
    text = f"{value:,f}" if grouped else f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _number(value: object, said: object, name: str) -> Decimal:
    text = str(value).strip().replace("_", "")
    if isinstance(value, bool) or not _PARSED.fullmatch(text):
        raise CodebookError(
            f"the bands of {name!r} are {said!r}; give a width, cut points, quantiles:K or none."
        )
    return Decimal(text)


def merged(
    codebook: Codebook, said: Mapping[str, object] | Iterable[str] | None, source: Source
) -> Codebook:
    """The codebook with bands that were given beside it."""
    from discreet.data.codebook import Entry

    if not said:
        return codebook
    if isinstance(said, Mapping):
        found = {name: Bands.of(bands, name) for name, bands in said.items()}
    else:
        found = parse_bands([said] if isinstance(said, str) else said)
    entries = dict(codebook.entries)
    for name, bands in found.items():
        if name not in source.columns:
            raise DataError(
                f"{source.name} has no column {name!r} to band; it has "
                f"{', '.join(source.columns[:10])}."
            )
        entries[name] = replace(entries.get(name, Entry()), bands=bands)
    return replace(codebook, entries=entries)
