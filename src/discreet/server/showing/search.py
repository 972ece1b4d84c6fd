"""Searching what is public: data sets, variables, categories, descriptions, tables that are out.

Every word must be found somewhere: in a variable of the table, or in what is said of its data.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from starlette.requests import HTTPConnection

from discreet.server.showing.catalogue import Catalogue, Overview
from discreet.table.formula import Formula

MOST_WORDS = 12
TABLES = 5  # of a data set, besides the one that fits best
TITLE, CATEGORY, DESCRIPTION = 4.0, 3.0, 1.0  # what it is worth to be found there
WHOLE, BEGINNING, WITHIN = 1.0, 0.75, 0.4  # of a word
EXTRA = 0.05  # for each variable that nobody asked for
SHORTEST = 4  # letters that are found within a word

Kind = Literal["dataset", "table", "possible"]
# Of each word: what it is worth in each variable, and in which category; and in the data's words.
Inside = list[tuple[dict[str, tuple[float, str]], float]]


@dataclass(frozen=True)
class Hit:
    """A data set, a table that is out, or one of variables that fit and that is not out.

    `found`: what the words were found in, as variable and category.
    """

    kind: Kind
    dataset: Overview
    names: tuple[str, ...]
    found: tuple[tuple[str, str], ...]
    score: float


def words_in(text: str) -> list[str]:
    """Words as they are compared: small, without accents.

    >>> words_in("Städte (Größe), 2026")
    ['stadte', 'grosse', '2026']
    """
    spread = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in spread if not unicodedata.combining(c))
    return re.findall(r"\w+", plain)


def worth(word: str, inside: Iterable[str]) -> float:
    """How well a word is found among others."""
    best = 0.0
    for other in inside:
        if other == word:
            return WHOLE
        if other.startswith(word):
            best = max(best, BEGINNING)
        elif len(word) >= SHORTEST and word in other:
            best = max(best, WITHIN)
    return best


@dataclass(frozen=True)
class Index:
    """The words of a data set, and the largest tables of it that are out."""

    dataset: Overview
    largest: tuple[tuple[str, ...], ...]
    data: tuple[str, ...]
    variables: Mapping[str, tuple[tuple[float, str, tuple[str, ...]], ...]]

    @classmethod
    def of(cls, dataset: Overview, margins: Sequence[Sequence[str]]) -> Index:
        largest = Formula.of(margins, dataset.names).frontier.margins if margins else ()
        about = dataset.words.about
        said = [dataset.title, dataset.slug, about.universe, about.source, about.period]
        return cls(
            dataset,
            tuple(largest),
            tuple(words_in(" ".join(part for part in [*said, *about.notes] if part))),
            {name: tuple(_texts(dataset, name)) for name in dataset.names},
        )

    def find(self, words: Sequence[str]) -> Inside:
        """Where each word is found; several words in one category, if one has them all."""
        inside: Inside = [({}, worth(word, self.data)) for word in words]
        for name, texts in self.variables.items():
            found = [
                (label, [weight * worth(word, text) for word in words])
                for weight, label, text in texts
            ]
            found = [(label, scores) for label, scores in found if any(scores)]
            found.sort(key=lambda one: -sum(one[1]))
            for place in range(len(words)):
                best = max(found, key=lambda one: one[1][place], default=None)
                if best is not None and best[1][place]:
                    inside[place][0][name] = best[1][place], best[0]
        return inside

    def hits(self, words: Sequence[str]) -> list[Hit]:
        """Of this data set: itself, and its tables."""
        inside = self.find(words)
        if not all(variables or data for variables, data in inside):
            return []
        hits = [self._hit("dataset", (), inside)]
        best = {max(v, key=lambda name: v[name][0]) for v, data in inside if v}
        asked = tuple(name for name in self.dataset.names if name in best)
        if asked:
            out = any(set(asked) <= set(margin) for margin in self.largest)
            hits.append(self._hit("table" if out else "possible", asked, inside))
        tables = [hit for hit in self._tables(inside) if hit.names != asked]
        return hits + [hit for hit in tables if hit.found][:TABLES]

    def tables(self, words: Sequence[str]) -> list[Hit]:
        """The largest tables that are out and have all words; without words, all of them."""
        return self._tables(self.find(words))

    def _tables(self, inside: Inside) -> list[Hit]:
        fitting = [
            self._hit("table", margin, inside)
            for margin in self.largest
            if all(data or set(variables) & set(margin) for variables, data in inside)
        ]
        return sorted(fitting, key=lambda hit: -hit.score)

    def _hit(self, kind: Kind, names: tuple[str, ...], inside: Inside) -> Hit:
        score, found, wanted = 0.0, dict[tuple[str, str], None](), set[str]()
        for variables, data in inside:
            here = {name: one for name, one in variables.items() if name in names}
            best = max(here, key=lambda name: here[name][0], default=None)
            if best is not None:
                wanted.add(best)
                found[best, here[best][1]] = None
            elif not names:
                found.update({(name, one[1]): None for name, one in list(variables.items())[:3]})
            in_variable = here[best][0] if best is not None else 0.0
            beside = DESCRIPTION / 2 if not names and variables else 0.0
            score += max(in_variable, data * TITLE if not names else data * DESCRIPTION, beside)
        score -= EXTRA * len(set(names) - wanted)
        return Hit(kind, self.dataset, names, tuple(found), score)


def _texts(dataset: Overview, name: str) -> list[tuple[float, str, tuple[str, ...]]]:
    """What is said of a variable, and what that is worth; categories with their label."""
    words = dataset.words.variable(name)
    title = f"{name} {words.title or ''}"
    texts: list[tuple[float, str, tuple[str, ...]]] = [(TITLE, "", tuple(words_in(title)))]
    groups = {group for level in words.levels for group in level}
    for label in dict.fromkeys([*dataset.categories(name), *sorted(groups)]):
        texts.append((CATEGORY, label, tuple(words_in(label))))
    said = f"{words.description or ''} {words.unit or ''}"
    return [*texts, (DESCRIPTION, "", tuple(words_in(said)))]


class Search:
    """Keeps the words of every data set, and reads them anew when its ledger has grown."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._kept: dict[int, Index] = {}

    def indexes(self) -> list[Index]:
        found = []
        for dataset in self.catalogue.datasets():
            kept = self._kept.get(dataset.id)
            if kept is None or kept.dataset.head != dataset.head:
                kept = Index.of(dataset, self.catalogue.margins(dataset.slug))
                self._kept[dataset.id] = kept
            found.append(kept)
        return found

    def find(self, text: str) -> list[Hit]:
        """The best first."""
        words = list(dict.fromkeys(words_in(text)))[:MOST_WORDS]
        if not words:
            return []
        hits = [hit for index in self.indexes() for hit in index.hits(words)]
        return sorted(hits, key=lambda hit: (-hit.score, len(hit.names), hit.dataset.slug))


def search_of(connection: HTTPConnection) -> Search:
    """A dependency: the search of what is served."""
    found: Search = connection.app.state.search
    return found
