"""What an intruder knows: how the masked record of each respondent would look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.settings import Keys, number
from discreet.data.smallfiles import read_toml
from discreet.errors import DataError
from discreet.look.result import Shown

LOSE = 1e-3
TOP = 150
CLOSE = 1e-6
MISSING = ("any", "kept")
Grid = tuple[tuple[float, ...], tuple[float, ...]]  # points and heights of a density


class Kind(StrEnum):
    """How a key is masked, in the intruder's eyes.

    >>> import discreet as dc
    >>> [kind.value for kind in dc.linkage.Kind][:4]
    ['category', 'normal', 'lognormal', 'exact']
    """

    CATEGORY = "category"
    NORMAL = "normal"
    LOGNORMAL = "lognormal"
    EXACT = "exact"  # released as it is
    INTERVAL = "interval"  # the interval in which a number lies
    TOPCODE = "topcode"  # as it is, but for a code beyond a low and a high end
    RANK = "rank"  # a number whose rank is near
    SUPPRESSED = "suppressed"  # as it is, or missing
    SHARED = "shared"  # what it became, for who can repeat the mask; many share it
    SWAPPED = "swapped"  # columns that went together to another record
    LAPLACE = "laplace"  # a number with double exponential error
    UNIFORM = "uniform"  # a number with an error within a range
    WRITTEN = "written"  # a number whose error has a density that is written down
    OWN = "own"  # a number of which a column says what is believed of each respondent
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class By(Shown):
    """A number of each respondent: a column of the source, or what its labels stand for.

    >>> By("region", {"North": 1.0, "South": 3.0}).column
    'region'
    """

    column: str
    values: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Stated(Shown):
    """One of several sources of a key: a column that states each respondent's value with error.

    The law of stated - true is `normal`, `laplace`, `uniform` or `written`, as in a key.

    >>> Stated("tax", spread=0.1)
    Stated(tax normal)
    """

    column: str
    kind: Kind = Kind.NORMAL
    spread: float | By = 1.0
    density: Grid | None = None

    def __repr__(self) -> str:
        return f"Stated({self.column} {self.kind})"


@dataclass(frozen=True)
class Key(Shown):
    """One key: how its masked value varies around the value in the source.

    A category stays with probability `keep` or is replaced by any other, or follows `matrix`
    (from source to released category). A number has a standard deviation `spread`, of its
    logarithm if lognormal, or a mixture of several with `weights`; None is to be estimated.
    A rank moves by up to `window` of the records that have a value, and equal parts of that
    distance have the probabilities `law`. `seen`, one entry a source record, stands in for the
    values of the source: what a shared key became, or what the mask started from; None marks a
    record that is never released. `missing`, of a category, normal or lognormal key: "kept" if
    exactly what is missing in the source is missing in the release; if "any", a value that is
    missing on one side tells nothing. Other kinds keep it.

    What is believed may differ by respondent. `center`: a column of the source that the released
    value varies around, in place of the key's own. `spread_by`: each respondent's own spread.
    `sources`: columns that state the value, each with its own error; the belief is the product of
    their likelihoods, and `spread` what masking adds, if anything. `laplace` errors have the
    standard deviation `spread`, `uniform` ones half that width, `written` ones the `density`
    (points, heights) of released - true, stretched by `spread`; `log`: of the logarithms. An `own`
    key is, for each respondent, the key of the mapping `of` that the source's `column` names.

    >>> import discreet as dc
    >>> intruder = dc.linkage.Intruder.of({"keys": {"sex": {"kind": "category", "keep": 0.9}}})
    >>> intruder.keys[0].kind, intruder.keys[0].keep
    (<Kind.CATEGORY: 'category'>, 0.9)
    """

    name: str
    kind: Kind
    keep: float = 1.0
    matrix: Mapping[str, Mapping[str, float]] | None = None
    spread: tuple[float, ...] | None = None
    weights: tuple[float, ...] = (1.0,)
    cuts: tuple[float, ...] = ()  # interval: label i is for numbers in [cuts[i - 1], cuts[i])
    labels: tuple[str, ...] = ()  # interval: one more than cuts; topcode: below low, above high
    low: float | None = None
    high: float | None = None
    window: float | None = None  # rank: how far ranks move at most, as a share of all records
    law: tuple[float, ...] = ()  # rank: probabilities of equal parts of the window; else uniform
    suppressed: float | Mapping[str, float] = 0.0  # that it is missing, also by category
    joint: tuple[str, ...] = ()  # swapped: columns that go along with this one
    seen: NDArray[np.object_] | None = field(default=None, compare=False, repr=False)
    missing: str = "any"
    center: str | None = None
    spread_by: By | None = None
    sources: tuple[Stated, ...] = ()
    density: Grid | None = None
    log: bool = False
    column: str | None = None
    of: Mapping[str, Key] | None = None

    def __post_init__(self) -> None:
        if self.missing not in MISSING:
            raise DataError(
                f"missing of {self.name!r} is {self.missing!r}; write one of {', '.join(MISSING)}."
            )

    @property
    def continuous(self) -> bool:
        return self.kind in (Kind.NORMAL, Kind.LOGNORMAL)

    @property
    def personal(self) -> bool:
        """Whether it is weighed person by person: its law is no common normal one."""
        own = self.spread_by is not None or bool(self.sources)
        return own or self.kind in (Kind.LAPLACE, Kind.UNIFORM, Kind.WRITTEN, Kind.OWN)

    @property
    def numeric(self) -> bool:
        """Whether it is a number with error."""
        return self.continuous or self.personal

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the source that it reads."""
        found = [one for one in (self.spread_by, *(s.spread for s in self.sources))
                 if isinstance(one, By)]  # fmt: skip
        named = [one.column for one in found] + [one.column for one in self.sources]
        if self.kind is Kind.OWN:
            each = [name for key in (self.of or {}).values() for name in key.columns]
            return tuple(dict.fromkeys([self.column or self.name, *each, *named]))
        if not self.sources:
            named = [self.center or self.name, *named]
        return tuple(dict.fromkeys([*named, *self.joint]))


@dataclass(frozen=True)
class Type:
    """A share of the released records; keys that it names are masked in its own way."""

    share: float
    keys: Mapping[str, Key] = field(default_factory=dict)


@dataclass(frozen=True)
class Intruder(Shown):
    """The keys, and what else is known or feared.

    `types`: a released record is of one of these, all its keys alike. `correlation`: that of the
    errors of two keys, normal or lognormal; a `By` if it differs by respondent.
    `population`: people that the sample was drawn from, if more than the source file has.
    `present`: the target is known to be in the released file. `wrong` and `missed`: losses of a
    wrong link and of none where there is one. `lose`: the share of true pairs that may be pruned;
    `top`: most candidates that are kept for a released record.

    >>> Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    Intruder(age normal)
    """

    keys: tuple[Key, ...]
    correlation: Mapping[tuple[str, str], float | By] = field(default_factory=dict)
    population: int | None = None
    present: bool = False
    wrong: float | None = None
    missed: float = 1.0
    lose: float = LOSE
    top: int = TOP
    types: tuple[Type, ...] = (Type(1.0),)

    def __repr__(self) -> str:
        return f"Intruder({', '.join(f'{key.name} {key.kind}' for key in self.keys)})"

    @classmethod
    def read(cls, path: str | Path) -> Intruder:
        return cls.of(read_toml(path), str(path), Path(path).parent)

    def write(self, path: str | Path) -> None:
        """A TOML file that `read` reads, and a CSV file beside it if keys have `seen`.

        >>> import tempfile
        >>> intruder = Intruder.of({"keys": {"age": {"kind": "rank", "window": 0.05}}})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     intruder.write(f"{folder}/intruder.toml")
        ...     Intruder.read(f"{folder}/intruder.toml") == intruder
        True
        """
        from discreet.intruder.linkage.writing import write_intruder

        write_intruder(self, Path(path))

    @classmethod
    def of(
        cls, content: Mapping[str, Any], name: str = "the intruder", folder: Path = Path()
    ) -> Intruder:
        """From what a TOML file holds; files that it names are in `folder`."""
        from discreet.intruder.linkage.reading import read_correlation, read_key, read_types

        known = {"keys", "types", "correlation", "population", "present", "losses", "lose", "top"}
        file = Keys(content, known, name)
        listed = file.get("keys")
        if not isinstance(listed, dict) or not listed:
            raise DataError(f"{name} describes no key; write a table [keys.NAME] for each.")
        keys = tuple(read_key(key, entry, name, folder) for key, entry in listed.items())
        losses = Keys(file.get("losses", {}), {"wrong", "missed"}, f"[losses] of {name}")
        correlation = read_correlation(file.get("correlation", []), keys, name)
        tied = {key for pair in correlation for key in pair}
        return cls(
            keys,
            correlation,
            None if file.get("population") is None else file.whole("population", 1, 1),
            file.flag("present"),
            losses.number("wrong", 1, above=0) if losses.said else None,
            losses.number("missed", 1, least=0),
            file.number("lose", LOSE, above=0, most=0.5),
            file.whole("top", TOP, 1),
            read_types(file, keys, tied),
        )

    def only_keys(self, names: list[str]) -> Intruder:
        """The same intruder with these keys; a column that goes along with others brings them."""
        from dataclasses import replace

        described = {name: key for key in self.keys for name in key.joint}
        described |= {key.name: key for key in self.keys}
        for name in names:
            if name not in described:
                raise DataError(
                    f"the intruder file does not describe the key {name!r}; add [keys.{name}], "
                    'with kind = "unknown" if the intruder does not know it.'
                )
        names = list(dict.fromkeys(described[name].name for name in names))
        pairs = {k: v for k, v in self.correlation.items() if set(k) <= set(names)}
        types = tuple(
            Type(t.share, {k: v for k, v in t.keys.items() if k in names}) for t in self.types
        )
        keys = tuple(described[name] for name in names)
        return replace(self, keys=keys, correlation=pairs, types=types)


def _matrix(given: object, what: str) -> dict[str, dict[str, float]] | None:
    if given is None:
        return None
    if not isinstance(given, dict) or not all(isinstance(row, dict) for row in given.values()):
        raise DataError(f"the matrix in {what} needs a table for each source category.")
    rows = {
        str(a): {str(b): number(p, f"{a} to {b} in {what}", least=0) for b, p in row.items()}
        for a, row in given.items()
    }
    for category, row in rows.items():
        if abs(sum(row.values()) - 1) > CLOSE:
            raise DataError(
                f"the probabilities of {category!r} in {what} sum to {sum(row.values()):.6g}, "
                "not to 1."
            )
    return rows
