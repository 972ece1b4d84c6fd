"""What the columns mean: categories and their order, roles, missing values, weights."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from discreet.data.describing import WORDS, About, words_of
from discreet.data.frames import label
from discreet.data.hierarchy import Hierarchy
from discreet.data.impossible import Impossible
from discreet.data.values import as_range
from discreet.errors import CodebookError, DataError

MISSING = "(missing)"


class Role(StrEnum):
    """What a variable can do to a person; `UNSTATED` is treated as `BOTH`.

    >>> import discreet as dc
    >>> [role.value for role in dc.codebooks.Role]
    ['identifying', 'sensitive', 'both', 'neither', 'unstated']
    >>> dc.codebooks.Role.UNSTATED.identifies, dc.codebooks.Role.SENSITIVE.identifies
    (True, False)
    """

    IDENTIFYING = "identifying"
    SENSITIVE = "sensitive"
    BOTH = "both"
    NEITHER = "neither"
    UNSTATED = "unstated"

    @property
    def identifies(self) -> bool:
        """Can somebody who knows the person observe it?"""
        return self in (Role.IDENTIFYING, Role.BOTH, Role.UNSTATED)

    @property
    def is_sensitive(self) -> bool:
        """Would the person mind if it were learned?"""
        return self in (Role.SENSITIVE, Role.BOTH, Role.UNSTATED)


class Missing(StrEnum):
    """How missing values count."""

    CATEGORY = "category"
    DROP = "drop"


@dataclass(frozen=True)
class Variable:
    """A named axis: its categories in order, and what it can do to a person.

    >>> import discreet as dc
    >>> income = dc.load("example:tract").variables[2]
    >>> income.name, income.size, income.role.value
    ('Income', 3, 'both')
    >>> income.code(income.categories[1])
    1
    """

    name: str
    categories: tuple[str, ...]
    role: Role = Role.UNSTATED
    sensitive: tuple[str, ...] = ()
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    values: tuple[tuple[str, float, float], ...] = field(default=(), repr=False)  # low and high

    def __post_init__(self) -> None:
        if not self.categories:
            raise CodebookError(f"variable {self.name!r} has no categories; list at least one.")
        if twice := _twice(self.categories):
            raise CodebookError(
                f"variable {self.name!r} lists the category {twice!r} twice; list it once."
            )
        if strange := set(self.sensitive) - set(self.categories):
            raise CodebookError(
                f"{min(strange)!r} is called sensitive but is no category of {self.name!r}; "
                f"it has {', '.join(self.categories[:10])}."
            )

    @property
    def size(self) -> int:
        return len(self.categories)

    @property
    def sensitive_codes(self) -> tuple[int, ...]:
        """The categories whose disclosure harms: those named, or all of a sensitive variable."""
        if not self.role.is_sensitive:
            return ()
        if not self.sensitive:
            return tuple(range(self.size))
        return tuple(self.categories.index(category) for category in self.sensitive)

    def code(self, category: object) -> int:
        """The place of a category among the categories."""
        try:
            return self.categories.index(label(category))
        except ValueError:
            raise CodebookError(
                f"{self.name!r} has no category {label(category)!r}; "
                f"it has {', '.join(self.categories[:10])}."
            ) from None

    def merged(self, groups: Iterable[object]) -> Variable:
        """The variable after each category was replaced by its group."""
        named = [str(group) for group in groups]
        if len(named) != self.size:
            raise CodebookError(
                f"{self.name!r} has {self.size} categories but {len(named)} groups; "
                "give each category its group."
            )
        kept = tuple(dict.fromkeys(named))
        group_of = dict(zip(self.categories, named, strict=True))
        sensitive = tuple(dict.fromkeys(group_of[category] for category in self.sensitive))
        alone = {name for name in kept if named.count(name) == 1 and name in self.categories}
        values = tuple(each for each in self.values if each[0] in alone)
        return dataclasses.replace(self, categories=kept, sensitive=sensitive, values=values)


@dataclass(frozen=True)
class Entry:
    """What a codebook says of one column; what it does not say comes from the data."""

    labels: Mapping[str, str] = field(default_factory=dict)
    role: Role = Role.UNSTATED
    sensitive: tuple[str, ...] = ()
    hierarchy: Hierarchy | None = None
    within: str | None = None
    title: str | None = None
    description: str | None = None
    unit: str | None = None
    map: Path | None = None
    map_key: str | None = None
    values: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True)
class Codebook:
    """The custodian's knowledge of a file that the file itself does not carry.

    >>> book = Codebook.of({"Income": {"role": "sensitive", "categories": ["low", "high"]}})
    >>> book.entries["Income"].role.is_sensitive
    True
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    missing: Missing = Missing.CATEGORY
    missing_values: frozenset[str] = frozenset()
    weights: str | None = None
    sampling_fraction: float | None = None
    impossible: Impossible = field(default_factory=Impossible)
    about: About = field(default_factory=About)

    @classmethod
    def read(cls, path: str | Path) -> Codebook:
        """A TOML file; hierarchies are inline or CSV files beside it."""
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CodebookError(
                f"cannot read the codebook {str(path)!r}: {reason}; check the path."
            ) from None
        except UnicodeDecodeError:
            raise CodebookError(
                f"the codebook {str(path)!r} is not UTF-8; save it as UTF-8 and try again."
            ) from None
        except tomllib.TOMLDecodeError as error:
            raise CodebookError(
                f"the codebook {str(path)!r} is not TOML: {error}; repair that place."
            ) from None
        if "folder" in content:
            raise CodebookError(_unknown("folder"))
        return cls.of(**content, folder=path.parent)

    @classmethod
    def of(
        cls,
        variables: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        missing: str = Missing.CATEGORY,
        missing_values: Iterable[object] = (),
        weights: str | None = None,
        sampling_fraction: float | None = None,
        impossible: object = None,
        about: object = None,
        folder: Path | None = None,
        **unknown: object,
    ) -> Codebook:
        """The same from Python values; `folder` is where hierarchies and maps lie."""
        if unknown:
            raise CodebookError(_unknown(min(unknown)))
        if missing not in tuple(Missing):
            raise CodebookError(f"missing = {missing!r} must be 'category' or 'drop'.")
        if weights is not None and not isinstance(weights, str):
            raise CodebookError(f"weights = {weights!r} must be the name of a column.")
        fraction = sampling_fraction
        if fraction is not None and not (type(fraction) in (int, float) and 0 < fraction <= 1):
            raise CodebookError(
                f"sampling_fraction = {fraction!r} must be a number above 0 and at most 1."
            )
        if variables is not None and not isinstance(variables, Mapping):
            raise CodebookError(f"variables = {variables!r} must be a table of variables.")
        entries = {n: _entry(n, e, folder or Path()) for n, e in (variables or {}).items()}
        values = frozenset(_texts("missing_values", missing_values))
        return cls(
            entries,
            Missing(missing),
            values,
            weights,
            fraction,
            Impossible.of(impossible),
            About() if about is None else About.of(about),
        )

    def over(self, other: Codebook | None) -> Codebook:
        """Both; where they differ, this one holds.

        >>> mine = Codebook.of({"Sex": {"role": "identifying"}})
        >>> mine.over(Codebook.of({"Sex": {"labels": {"1": "m", "2": "f"}}})).entry("Sex").labels
        {'1': 'm', '2': 'f'}
        """
        if other is None:
            return self
        entries = {
            name: _stated(self.entry(name), other.entry(name))
            for name in dict.fromkeys([*other.entries, *self.entries])
        }
        return dataclasses.replace(_stated(self, other), entries=entries)

    def entry(self, name: str) -> Entry:
        return self.entries.get(name, Entry())

    def category(self, name: str, text: str) -> str:
        """The label of a category that is given by its label or its code."""
        labels = self.entry(name).labels
        return text if text in labels.values() else labels.get(text, text)

    def check_columns(self, columns: Iterable[str]) -> None:
        """Every column that the codebook speaks of must be there."""
        columns = list(columns)
        outer = [entry.within for entry in self.entries.values() if entry.within]
        named = [*self.entries, *([self.weights] if self.weights else []), *outer]
        named += self.impossible.names
        if lost := [name for name in named if name not in columns]:
            raise CodebookError(
                f"the codebook describes {lost[0]!r}, but the data have no such column; "
                f"they have {', '.join(map(repr, columns[:10]))}."
            )


T = TypeVar("T", Entry, Codebook)


def _stated(first: T, second: T) -> T:
    """What the first states, and the second where the first says nothing."""
    silent = type(first)()
    said = {
        part.name: getattr(first, part.name)
        for part in dataclasses.fields(first)
        if getattr(first, part.name) != getattr(silent, part.name)
    }
    return dataclasses.replace(second, **said)


def _unknown(key: str) -> str:
    return (
        f"a codebook has no key {key!r}; it has variables, missing, missing_values, weights, "
        "sampling_fraction, impossible and about."
    )


def _entry(name: str, content: Mapping[str, Any], folder: Path) -> Entry:
    known = {"role", "categories", "labels", "sensitive", "hierarchy", "values", "within", *WORDS}
    if not isinstance(content, Mapping):
        raise CodebookError(f"variable {name!r} = {content!r} must be a table of keys.")
    if wrong := set(content) - known:
        raise CodebookError(
            f"variable {name!r} has no key {min(wrong)!r} in a codebook; "
            f"it can have {', '.join(sorted(known))}."
        )
    role = content.get("role", Role.UNSTATED)
    if role not in tuple(Role):
        raise CodebookError(f"role = {role!r} of {name!r} must be one of {', '.join(Role)}.")
    sensitive = _texts(f"sensitive of {name!r}", content.get("sensitive", ()))
    tree = content.get("hierarchy")
    if isinstance(tree, str | Path):
        tree = Hierarchy.read(folder / tree)
    elif tree is not None and not isinstance(tree, Hierarchy):
        tree = Hierarchy.of(tree)
    outer = content.get("within")
    if outer is not None and (not isinstance(outer, str) or outer == name):
        raise CodebookError(f"within = {outer!r} of {name!r} must be the name of another column.")
    said, labels = words_of(name, content, folder), _labels(name, content)
    values = _values(name, content.get("values"), labels)
    return Entry(labels, Role(role), sensitive, tree, outer, **said, values=values)


def _values(
    name: str, content: object, labels: Mapping[str, str]
) -> tuple[tuple[str, float, float], ...]:
    """The number or the range that each category stands for, by its code or label."""
    if content is None:
        return ()
    if not isinstance(content, Mapping):
        raise CodebookError(
            f"values of {name!r} = {content!r} must map categories to a number or [low, high]."
        )
    found: dict[str, tuple[float, float]] = {}
    for key, said in content.items():
        category = labels.get(label(key), label(key))
        if labels and category not in labels.values():
            raise CodebookError(
                f"values of {name!r} has {key!r}, which is none of its categories; it has "
                f"{', '.join(list(labels.values())[:10])}."
            )
        try:
            found[category] = as_range(said, f"the value of {key!r} of {name!r}")
        except DataError as error:
            raise CodebookError(str(error)) from None
    return tuple((category, low, high) for category, (low, high) in found.items())


def _labels(name: str, content: Mapping[str, Any]) -> dict[str, str]:
    labels, categories = content.get("labels"), content.get("categories")
    if labels is not None and categories is not None:
        raise CodebookError(
            f"variable {name!r} has both labels and categories; labels alone give order and names."
        )
    if labels is not None and not isinstance(labels, Mapping):
        raise CodebookError(f"labels of {name!r} = {labels!r} must map each code to its label.")
    if labels is not None:
        return {label(code): label(text) for code, text in labels.items()}
    found = _texts(f"categories of {name!r}", categories or ())
    if twice := _twice(found):
        raise CodebookError(f"variable {name!r} lists the category {twice!r} twice; list it once.")
    return {text: text for text in found}


def _texts(what: str, values: object) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise CodebookError(f"{what} = {values!r} must be a list.")
    return tuple(label(value) for value in values)


def _twice(values: Iterable[str]) -> str | None:
    seen: set[str] = set()
    return next((value for value in values if value in seen or seen.add(value)), None)  # type: ignore[func-returns-value]
