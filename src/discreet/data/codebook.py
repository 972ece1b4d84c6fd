"""What the columns mean: categories and their order, roles, missing values, weights."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from discreet.data.bands import Bands
from discreet.data.describing import WORDS, About, words_of
from discreet.data.frames import label
from discreet.data.hierarchy import Hierarchy
from discreet.data.impossible import Impossible
from discreet.data.previous import Previous
from discreet.data.settings import only
from discreet.data.smallfiles import first_twice, read_toml
from discreet.data.values import as_range
from discreet.data.variable import Role as Role
from discreet.data.variable import Variable as Variable
from discreet.data.variable import check_sensitive
from discreet.errors import CodebookError, DataError
from discreet.look.notebook import Rows
from discreet.look.result import Shown

MISSING = "(missing)"
KEYS = {
    "variables", "missing", "missing_values", "weights", "sampling_fraction", "impossible", "about",
    "previous",
}  # fmt: skip
OF_VARIABLES = {
    "role", "categories", "labels", "open", "sensitive", "hierarchy", "values", "within", "bands",
    "decimal", "blank", *WORDS,
}  # fmt: skip


class Missing(StrEnum):
    """How missing values count."""

    CATEGORY = "category"
    DROP = "drop"


@dataclass(frozen=True)
class Entry(Shown):
    """What a codebook says of one column; what it does not say comes from the data.

    `open`: the labels need not list every code; one that they do not keeps its own name, and a code
    that does not occur is no category. A code whose label is `MISSING` is a missing value.
    """

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
    open: bool = False
    bands: Bands | None = None
    decimal: str | None = None  # what stands before decimals in a column that is added up
    blank: float | None = None  # the number that a missing value of such a column stands for


@dataclass(frozen=True)
class Codebook(Shown):
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
    previous: Previous = field(default_factory=Previous)  # names of an older state of the data
    documents: bool = False  # made for other data too: it may describe columns that are not there

    def __repr__(self) -> str:
        said = [f"{len(self.entries)} columns"] + [f"weights {self.weights}"] * bool(self.weights)
        if self.sampling_fraction is not None:
            said.append(f"{self.sampling_fraction:.4g} of the people sampled")
        return f"Codebook({', '.join(said)})"

    def _shown_rows(self, most: int) -> Rows | None:
        first = list(self.entries.items())[:most]
        columns = {
            "column": [name for name, _ in first],
            "role": [entry.role.value for _, entry in first],
            "categories": [", ".join(entry.labels.values()) for _, entry in first],
            "title": [entry.title for _, entry in first],
        }
        return Rows(columns, len(self.entries)) if first else None

    @classmethod
    def read(cls, path: str | Path) -> Codebook:
        """A TOML file; hierarchies are inline or CSV files beside it. Or a DDI codebook (.xml), or
        an SDMX data structure (.xml, .json).
        """
        path = Path(path)
        if path.suffix.lower() in (".xml", ".json"):
            from discreet.data.documented import read_documented

            return read_documented(path)
        content = read_toml(path, "the codebook ", CodebookError)
        only(content, KEYS, "a codebook", CodebookError)
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
        previous: object = None,
        folder: Path | None = None,
        **unknown: object,
    ) -> Codebook:
        """The same from Python values; `folder` is where hierarchies and maps lie."""
        only(unknown, KEYS, "a codebook", CodebookError)
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
            Previous() if previous is None else Previous.of(previous),
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
            name: _merged(self.entry(name), other.entry(name))
            for name in dict.fromkeys([*other.entries, *self.entries])
        }
        if other.weights in self.entries:  # which a person calls a variable
            other = dataclasses.replace(other, weights=None)
        return dataclasses.replace(_stated(self, other), entries=entries)

    def among(self, columns: Iterable[str]) -> Codebook:
        """What it says of these columns.

        >>> Codebook.of({"Sex": {"title": "Sex"}, "Age": {}}).among(["Sex"]).entries.keys()
        dict_keys(['Sex'])
        """
        kept = set(columns)
        entries = {name: entry for name, entry in self.entries.items() if name in kept}
        weights = self.weights if self.weights in kept else None
        return dataclasses.replace(self, entries=entries, weights=weights)

    def entry(self, name: str) -> Entry:
        return self.entries.get(name, Entry())

    @property
    def classifying(self) -> frozenset[str]:
        """Columns that people are classified by, since it says how; a title is said of counts too,
        and so is a role of neither.

        >>> sorted(Codebook.of({"n": {"title": "People"}, "Sex": {"role": "both"}}).classifying)
        ['Sex']
        """
        silent = (Role.UNSTATED, Role.NEITHER)
        return frozenset(
            name
            for name, entry in self.entries.items()
            if entry.role not in silent
            or entry.labels
            or entry.hierarchy is not None
            or entry.values
            or entry.bands is not None
        )

    def label(self, name: str, value: object) -> str:
        """What a value of a column is called: the label of its code, or itself.

        >>> book = Codebook.of({"Sex": {"labels": {"1": "m", "2": "f"}}})
        >>> book.label("Sex", 2.0), book.label("Sex", 9)
        ('f', '9')
        """
        return self.entry(name).labels.get(label(value), label(value))

    def category(self, name: str, text: str) -> str:
        """The label of a category that is given by its label or its code."""
        labels = self.entry(name).labels
        return text if text in labels.values() else labels.get(text, text)

    def fitted(self, columns: Iterable[str]) -> Codebook:
        """What a documentation says of these columns.

        >>> book = Codebook.of({"Sex": {"title": "Sex"}, "Age": {"title": "Age"}})
        >>> list(book.fitted(["Sex", "Town"]).entries)
        ['Sex']
        """
        columns = list(columns)
        kept = self.among(columns)
        if not kept.entries:
            raise CodebookError(
                f"the codebook describes {', '.join(map(repr, [*self.entries][:3]))}, and none "
                f"of the columns {', '.join(map(repr, columns[:10]))}; give that of these data."
            )
        return dataclasses.replace(kept, documents=False)

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


def _merged(first: Entry, second: Entry) -> Entry:
    """Whether a list of labels is open goes with the list, which can name labels of the other."""
    found = _stated(first, second)
    if not first.labels:
        return found
    codes = {text: code for code, text in second.labels.items()}
    known = first.labels.keys() <= codes.keys()
    labels = {
        codes.get(key, key) if known or key not in second.labels else key: text
        for key, text in first.labels.items()
    }
    return dataclasses.replace(found, labels=labels, open=first.open)


def _entry(name: str, content: Mapping[str, Any], folder: Path) -> Entry:
    only(content, OF_VARIABLES, f"variable {name!r}", CodebookError)
    role = content.get("role", Role.UNSTATED)
    if role not in tuple(Role):
        raise CodebookError(f"role = {role!r} of {name!r} must be one of {', '.join(Role)}.")
    sensitive = _texts(f"sensitive of {name!r}", content.get("sensitive", ()))
    check_sensitive(name, Role(role), sensitive)
    tree = content.get("hierarchy")
    if isinstance(tree, str | Path):
        tree = Hierarchy.read(folder / tree)
    elif tree is not None and not isinstance(tree, Hierarchy):
        tree = Hierarchy.of(tree)
    outer = content.get("within")
    if outer is not None and (not isinstance(outer, str) or outer == name):
        raise CodebookError(f"within = {outer!r} of {name!r} must be the name of another column.")
    said, labels = words_of(name, content, folder), _labels(name, content)
    values, unlisted = _values(name, content.get("values"), labels), content.get("open", False)
    if not isinstance(unlisted, bool):
        raise CodebookError(f"open = {unlisted!r} of {name!r} must be true or false.")
    bands = Bands.of(content["bands"], name) if "bands" in content else None
    decimal, blank = content.get("decimal"), content.get("blank")
    if decimal not in (None, ".", ","):
        raise CodebookError(f'decimal = {decimal!r} of {name!r} must be "." or ",".')
    if blank is not None and not (type(blank) in (int, float) and 0 <= blank < math.inf):
        raise CodebookError(f"blank = {blank!r} of {name!r} must be a number of 0 or more.")
    said |= {"values": values, "open": unlisted, "bands": bands, "decimal": decimal, "blank": blank}
    return Entry(labels, Role(role), sensitive, tree, outer, **said)


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
    if twice := first_twice(found):
        raise CodebookError(f"variable {name!r} lists the category {twice!r} twice; list it once.")
    return {text: text for text in found}


def _texts(what: str, values: object) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise CodebookError(f"{what} = {values!r} must be a list.")
    return tuple(label(value) for value in values)
