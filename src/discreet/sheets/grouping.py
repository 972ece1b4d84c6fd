"""What a sheet shows of one variable: lines, each a set of categories, totals and all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools
from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.look.result import Shown

TOTAL = "Total"


@dataclass(frozen=True)
class Line:
    """A line of a grouping: its label, its categories' codes, how deep it stands below the top."""

    label: str
    codes: frozenset[int]
    depth: int = 0


@dataclass(frozen=True, eq=False)
class Grouping(Shown):
    """Lines over the categories of a variable, from the total down.

    >>> age = Variable("Age", ("0-17", "18-49", "50", "51-"))
    >>> Grouping.of(age).labels
    ('Total', '0-17', '18-49', '50', '51-')
    >>> Grouping.cut(age, {"to 50": ["0-17", "18-49"], "50 and over": ["50", "51-"]}).labels
    ('Total', 'to 50', '50 and over')
    """

    variable: Variable
    lines: tuple[Line, ...]

    def __post_init__(self) -> None:
        if not self.lines:
            raise DataError(f"a table shows no line of {self.variable.name!r}; name at least one.")
        labels = self.labels
        if twice := [label for label in set(labels) if labels.count(label) > 1]:
            raise DataError(
                f"two lines of {self.variable.name!r} are called {min(twice)!r}; rename one."
            )

    @classmethod
    def of(cls, variable: Variable, *, levels: int | None = None, total: bool = True) -> Grouping:
        """All categories below the groups of the variable's hierarchy, and the total.

        `levels` is how many of these are shown, from the top.
        """
        parents = dict(variable.hierarchy.pairs) if variable.hierarchy else {}
        tree = _Tree(variable, parents)
        lines = [Line(_free(TOTAL, tree), frozenset(range(variable.size)))] if total else []
        lines += tree.lines(depth=int(total))
        if levels is not None:
            most = levels - 1 + int(total)
            lines = [line for line in lines if line.depth <= most]
        return cls(variable, tuple(lines))

    @classmethod
    def cut(
        cls, variable: Variable, groups: Mapping[str, Iterable[object]], *, total: bool = True
    ) -> Grouping:
        """Own groups of categories, which may overlap."""
        lines = [
            Line(label, frozenset(variable.code(c) for c in chosen), int(total))
            for label, chosen in groups.items()
        ]
        if total:
            lines.insert(0, Line(TOTAL, frozenset(range(variable.size))))
        return cls(variable, tuple(lines))

    @classmethod
    def only(cls, variable: Variable, categories: Sequence[object]) -> Grouping:
        """One line of these categories together: a filter."""
        codes = frozenset(variable.code(category) for category in categories)
        return cls(variable, (Line(" + ".join(map(str, categories)), codes),))

    @classmethod
    def classes(cls, variable: Variable, atoms: NDArray[np.int64], total: bool = False) -> Grouping:
        """A line for each class of categories, and one for everybody if there are several."""
        lines = []
        if total and atoms.max() > 0:
            lines.append(Line(TOTAL, frozenset(range(variable.size))))
        for atom in range(int(atoms.max()) + 1):
            codes = np.flatnonzero(atoms == atom).tolist()
            label = ", ".join(variable.categories[code] for code in codes)
            lines.append(Line(label, frozenset(codes)))
        return cls(variable, tuple(lines))

    @property
    def name(self) -> str:
        return self.variable.name

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(line.label for line in self.lines)

    @cached_property
    def places(self) -> dict[str, int]:
        """Of every line, by its label."""
        return {label: place for place, label in enumerate(self.labels)}

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def members(self) -> Bools:
        """Which category is in which line: lines x categories."""
        found = np.zeros((len(self.lines), self.variable.size), bool)
        for row, line in enumerate(self.lines):
            found[row, list(line.codes)] = True
        return found

    @property
    def finest(self) -> tuple[int, ...]:
        """The lines that hold no other."""
        inner = self.members
        within = inner @ inner.T.astype(int) == inner.sum(1)[None]  # line x holds line y
        strictly = (
            within & ~np.eye(len(inner), dtype=bool) & (inner.sum(1)[:, None] > inner.sum(1)[None])
        )
        return tuple(int(row) for row in np.flatnonzero(~strictly.any(1)))

    def among(self, codes: frozenset[int]) -> Grouping:
        """The lines of these categories only; a line that loses some is called by what is left.

        >>> age = Variable("Age", ("0-17", "18-49", "50", "51-"))
        >>> Grouping.of(age).among(frozenset({0, 1})).labels
        ('0-17 + 18-49', '0-17', '18-49')
        """
        names = {line.codes: line.label for line in self.lines}
        found: dict[frozenset[int], Line] = {}
        for line in self.lines:
            left = line.codes & codes
            own = " + ".join(self.variable.categories[code] for code in sorted(left))
            if left and left not in found:
                found[left] = Line(names.get(left, own), left, line.depth)
        return Grouping(self.variable, tuple(found.values()))

    def keep(self, labels: Iterable[str]) -> Grouping:
        """Without the lines that are not to be shown."""
        wanted = set(labels)
        return Grouping(self.variable, tuple(x for x in self.lines if x.label in wanted))

    def __repr__(self) -> str:
        return f"Grouping({self.name}: {len(self.lines)} lines)"


class _Tree:
    """The hierarchy over the categories that there are."""

    def __init__(self, variable: Variable, parents: Mapping[str, str]) -> None:
        self.variable, self.parents = variable, parents
        self.codes: dict[str, set[int]] = {}
        self.children: dict[str | None, dict[str, None]] = {}
        for code, category in enumerate(variable.categories):
            at: str = category
            self.codes.setdefault(at, set()).add(code)
            while at in parents:
                self.children.setdefault(parents[at], {})[at] = None
                at = parents[at]
                self.codes.setdefault(at, set()).add(code)
            self.children.setdefault(None, {})[at] = None
        for label, below in self.children.items():
            if label in variable.categories and below:
                raise DataError(
                    f"{label!r} is a category of {variable.name!r} and a group of others in its "
                    "hierarchy; give the group another name."
                )

    def lines(self, depth: int, under: str | None = None) -> list[Line]:
        found = []
        for label in self.children.get(under, {}):
            codes = frozenset(self.codes[label])
            # a group of everybody is the total; a category has its line, even if it is the only one
            whole = (
                under is None
                and len(codes) == self.variable.size
                and label not in self.variable.categories
            )
            below = self.lines(depth if whole else depth + 1, label)
            found += below if whole else [Line(label, codes, depth), *below]
        return found


def _free(label: str, tree: _Tree) -> str:
    while label in tree.codes:
        label = f"({label})"
    return label
