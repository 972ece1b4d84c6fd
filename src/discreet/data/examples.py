"""The examples: published tables that ship, and one that is found through DISCREET_DATA."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from discreet.data.codebook import Codebook
from discreet.errors import DataError
from discreet.look.result import Shown

PREFIX = "example:"
FOLDER = Path(__file__).parent / "shipped"


@dataclass(frozen=True)
class Example(Shown):
    """A data set with known answers: where it stands and where it comes from."""

    name: str
    source: str
    count: str | None = "n"
    shipped: bool = True

    @property
    def path(self) -> Path:
        if self.shipped:
            return FOLDER / f"{self.name}.csv"
        folder = os.environ.get("DISCREET_DATA")
        path = Path(folder or ".") / f"{self.name}.csv"
        if not folder or not path.is_file():
            where = f"{folder!r} has no {path.name}" if folder else "it is not set"
            raise DataError(
                f"example:{self.name} is not shipped: set DISCREET_DATA to the folder that has "
                f"{path.name} ({where})."
            )
        return path

    @property
    def codebook(self) -> Codebook:
        path = FOLDER / f"{self.name}.toml"
        return Codebook.read(path) if path.is_file() else Codebook()


EXAMPLES = (
    Example(
        "tract",
        "Gender, race and income in a U.S. census tract, 1990; Fienberg, Makov & Steele 1998, "
        "Table 1 of Dobra, Fienberg & Trottini 2003",
    ),
    Example(
        "estates",
        "Estates of $10 million or more by region and value (millions), returns filed in 1983; "
        "Bentz & Schwartz 1985, Table 1 of Duncan & Lambert 1986",
    ),
    Example(
        "czech",
        "Risk factors for coronary thrombosis among 1,841 Czech car workers; "
        "Edwards & Havranek 1985",
    ),
    Example(
        "blond",
        "Hair colour and income in a town where every blond has a high income; "
        "discussion of Dobra, Fienberg & Trottini 2003",
    ),
    Example(
        "nltcs",
        "Sixteen activities of daily living, National Long Term Care Survey, four waves pooled; "
        "Erosheva 2002, the table of Dobra, Erosheva & Fienberg 2002",
        count=None,
        shipped=False,
    ),
)


def find_example(name: str) -> Example:
    """The example with that name, with or without `example:` before it."""
    name = name.removeprefix(PREFIX)
    for example in EXAMPLES:
        if example.name == name:
            return example
    raise DataError(
        f"there is no example {name!r}; there are "
        f"{', '.join(example.name for example in EXAMPLES)}."
    )


def examples() -> tuple[Example, ...]:
    """The data sets with known answers; `load("example:NAME")` reads one.

    >>> [example.name for example in examples()]
    ['tract', 'estates', 'czech', 'blond', 'nltcs']
    """
    return EXAMPLES
