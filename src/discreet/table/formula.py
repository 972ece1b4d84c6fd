"""Release formulas: `Race*Income + Income*Gender` names two margins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from discreet.errors import FormulaError
from discreet.look.notebook import Rows
from discreet.look.result import Shown
from discreet.look.words import plural
from discreet.table import lattice, notation
from discreet.table.graph import Graph, JunctionTree, components, is_graphical

Margin = tuple[str, ...]


@dataclass(frozen=True)
class Formula(Shown):
    """The margins of a release, among the variables of a table.

    >>> release = Formula.parse("Race*Income + Income*Gender", ["Gender", "Race", "Income"])
    >>> release
    Formula(Race*Income + Gender*Income: 2 margins of 3 variables)
    >>> release.is_decomposable, release.separators
    (True, (('Income',),))
    """

    names: tuple[str, ...]
    sets: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names) or not all(self.names):
            raise FormulaError(
                f"the variables {', '.join(map(repr, self.names))} need names that differ and are "
                "not empty; rename the columns"
            )
        if 0 in self.sets:
            raise FormulaError("a margin of the release has no variable; name at least one")
        if any(s >> len(self.names) for s in self.sets):
            raise FormulaError(
                f"a margin of the release has the bit set {max(self.sets)}, but there are only "
                f"{len(self.names)} variables; use bits 0 to {len(self.names) - 1}"
            )

    @classmethod
    def parse(cls, text: str, names: Iterable[str], *, files: bool = True) -> Formula:
        """Read a formula; with `files=False`, for text from strangers, `@FILE` is refused.

        >>> Formula.parse("`Age group`*Sex + Town", ["Age group", "Sex", "Town"]).margins
        (('Age group', 'Sex'), ('Town',))
        """
        names = tuple(names)
        if files and text.lstrip().startswith("@"):
            return cls(names, notation.read_file(text.strip()[1:].strip(), names))
        return cls(names, notation.read(text, names, "the release formula"))

    @classmethod
    def of(cls, margins: Iterable[Iterable[str]], names: Iterable[str]) -> Formula:
        """A formula from lists of names.

        >>> print(Formula.of([["A", "B"], ["C"]], "ABC"))
        A*B + C
        """
        names = tuple(names)
        sets = (notation.bit_set(margin, names, "the release") for margin in margins)
        return cls(names, tuple(dict.fromkeys(sets)))

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The listed margins, each in the order of the table."""
        return tuple(map(self._named, self.sets))

    @cached_property
    def frontier(self) -> Formula:
        """The listed margins that no other contains."""
        kept = set(lattice.maximal(self.sets))
        return Formula(self.names, tuple(s for s in self.sets if s in kept))

    def closure(self) -> Formula:
        """Every margin that follows by adding up, one-way margins first."""
        released = lattice.closure(self.sets)
        return Formula(self.names, tuple(sorted(released, key=lambda s: (s.bit_count(), s))))

    def by_order(self) -> dict[int, int]:
        """How many margins of each order are released."""
        return lattice.count_by_order(self.sets)

    def contains(self, margin: str | Iterable[str]) -> bool:
        """Whether a margin, as names or as text, is released or follows by adding up.

        >>> release = Formula.parse("A*B + C", "ABC")
        >>> release.contains(["B"]), release.contains("A*C")
        (True, False)
        """
        if isinstance(margin, str):
            wanted = notation.read(margin, self.names, "the margin")
        else:
            wanted = (notation.bit_set(margin, self.names, "the margin"),)
        return all(any(not w & ~s for s in self.sets) for w in wanted)

    @cached_property
    def graph(self) -> Graph:
        """The graph that joins variables of one margin."""
        return Graph.of(self.sets, len(self.names))

    @cached_property
    def is_graphical(self) -> bool:
        """Whether the maximal margins are the cliques of the graph."""
        return is_graphical(self.sets, len(self.names))

    @cached_property
    def is_decomposable(self) -> bool:
        """Whether the maximal margins are the cliques of a chordal graph."""
        return self.graph.is_chordal and self.is_graphical

    @property
    def is_reducible(self) -> bool:
        """Whether a released margin, or the total, separates the variables into parts."""
        return len(self.prime_components) > 1

    @cached_property
    def cliques(self) -> tuple[Margin, ...]:
        """The cliques of the graph; a variable in no margin is one by itself."""
        return tuple(map(self._named, self.graph.cliques()))

    @cached_property
    def junction_tree(self) -> JunctionTree[Margin]:
        """The tree of the parts that released margins separate: of a decomposable formula, its
        margins."""
        return components(self.sets, len(self.names)).map(self._named)

    @property
    def prime_components(self) -> tuple[Margin, ...]:
        """The parts that released margins separate."""
        return self.junction_tree.nodes

    @property
    def separators(self) -> tuple[Margin, ...]:
        """What separates the parts, each as often as it occurs; the total is `()`."""
        return self.junction_tree.separators

    def _named(self, s: int) -> Margin:
        return tuple(self.names[p] for p in lattice.bits(s))

    def __add__(self, other: Formula) -> Formula:
        """Both releases together."""
        if self.names != other.names:
            raise FormulaError(
                f"two formulas add up only over the same variables, not {', '.join(self.names)} "
                f"and {', '.join(other.names)}; build both from one table"
            )
        return Formula(self.names, tuple(dict.fromkeys(self.sets + other.sets)))

    def __len__(self) -> int:
        return len(self.sets)

    def __iter__(self) -> Iterator[Margin]:
        return iter(self.margins)

    def __str__(self) -> str:
        return " + ".join("*".join(map(notation.quoted, margin)) for margin in self.margins)

    def _shown_rows(self, most: int) -> Rows | None:
        shown = self.margins[:most]
        columns = {"margin": ["*".join(m) for m in shown], "order": [len(m) for m in shown]}
        return Rows(columns, len(self)) if shown else None

    def __repr__(self) -> str:
        shown = notation.printable(str(self)) or "nothing"
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        return f"Formula({shown}: {plural(len(self), 'margin')} of {len(self.names)} variables)"


def as_formula(formula: str | Formula | Iterable[Iterable[str]], names: tuple[str, ...]) -> Formula:
    """A formula over `names` from text, margins, another formula, or a release of margins alone.

    What else a release tells would be lost, and a verdict without it would be too mild.
    """
    decision = getattr(formula, "decision", formula)  # of a frontier or an alternative
    if beside := getattr(getattr(decision, "release", decision), "beside", ""):
        raise FormulaError(
            f"margins are taken here, and this release has {beside} beside them, which would be "
            "left out; use decide(table, release) or bounds(release), which look at all of it, or "
            "give its margins alone, as release.formula."
        )
    formula = getattr(formula, "formula", formula)
    if isinstance(formula, str):
        return Formula.parse(formula, names)
    margins = formula.margins if isinstance(formula, Formula) else formula
    return Formula.of(margins, names)


def margin_names(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The variables of the one margin that a formula, or a plain name, stands for."""
    if text in names:
        return (text,)
    margins = Formula.parse(text, names, files=False).margins
    if len(margins) > 1:
        raise FormulaError(f"{text!r} names {len(margins)} margins; name one, as in A*B.")
    return margins[0]
