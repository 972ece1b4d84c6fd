"""What a page says, once: a terminal and an HTML file both show it.

A part that is for one of them only says so with `on`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.decision.law.assess import Provenance, file_hash, stamped
from discreet.decision.law.verdict import Verdict

BOTH, TERMINAL, HTML = "both", "terminal", "HTML"
MOST_SHORT, MOST_LONG = 20, 50  # rows of a table in a terminal, in an HTML file


@dataclass(frozen=True, kw_only=True)
class Part:
    """Something in a section."""

    on: str = BOTH


@dataclass(frozen=True)
class Say(Part):
    """A sentence; `tone` is quiet or grave."""

    text: str
    tone: str = ""


@dataclass(frozen=True)
class Points(Part):
    """Sentences of equal rank; those beyond `short` are left out in a terminal."""

    texts: Sequence[str]
    short: int = MOST_SHORT


@dataclass(frozen=True)
class Findings(Part):
    """Verdicts with what each is about and what was found."""

    rows: Sequence[tuple[Verdict, str, str]]


@dataclass(frozen=True)
class Facts(Part):
    """What each fact is about, and the fact."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Rows(Part):
    """A table: labels, then figures; `every` is how many rows there are in all.

    `names` head the labels and `heads` the figures. `words` are heads of columns that are no
    numbers, `of_data` says that the names are those of variables, `total` is a last line, and
    what is `folded` repeats a chart.
    """

    caption: str
    names: Sequence[str]
    labels: Sequence[Sequence[str]]
    heads: Sequence[str]
    figures: Sequence[Sequence[str]]
    every: int = 0
    verdicts: Sequence[Verdict] = ()
    words: Sequence[str] = ()
    kind: str = "more row"
    note: str = ""
    total: Sequence[str] = ()
    short: int = MOST_SHORT
    of_data: bool = False
    folded: bool = False

    @property
    def more(self) -> int:
        """Rows that are not even here."""
        return max(0, self.every - len(self.labels))


@dataclass(frozen=True)
class Chart(Part):
    """A chart for an HTML page; `draw` takes a width and a title, `name` is unique on the page."""

    name: str
    draw: Callable[..., Any]
    description: str
    caption: str = ""


@dataclass(frozen=True)
class Slider(Part):
    """Stops to move between on an HTML page, each with its parts; without a script.

    `name` is unique on the page; `start` is the stop that is shown first.
    """

    name: str
    caption: str
    stops: Sequence[tuple[str, Sequence[Part]]]
    start: int = 0


@dataclass(frozen=True)
class Section(Part):
    """A heading and its parts; a terminal shows the finding, if there is one, as the heading.

    What is `bare` follows the headline in a terminal without a heading.
    """

    title: str
    parts: Sequence[Part]
    finding: str = ""
    bare: bool = False

    @property
    def name(self) -> str:
        """For references."""
        return re.sub(r"\W+", "-", self.title.lower()).strip("-")


@dataclass(frozen=True)
class Page:
    """All that is shown of a result: what it is, the finding, figures, sections.

    `files` are what was read, by what each is; without the first of them the page is of what lay
    in `memory`. A `template` of its own shows `view` instead of the sections. `again` is how it is
    done again: the command, the options in effect, the files that they name with their hashes.
    """

    subject: str
    headline: str
    sections: Sequence[Section]
    verdict: Verdict | None = None
    size: str = ""
    said: Sequence[Say] = ()
    figures: Sequence[tuple[str, str]] = ()
    assumed: Sequence[str] = ()
    files: Mapping[str, str | Path] = field(default_factory=dict)
    memory: str = "a table in memory"
    template: str = "page.html.j2"
    view: Callable[[], dict[str, Any]] = dict
    provenance: Callable[[], Provenance] | None = None
    again: Mapping[str, Any] | None = None

    def sources(self) -> list[tuple[str, str, str]]:
        """What was read: what it is, its name and its hash; what is no file has none."""
        return [(what, *named_file(file)) for what, file in self.files.items()]

    def stamp(self) -> Provenance:
        """What the page is of, and when and by what it was made."""
        if self.provenance is not None:
            return self.provenance()
        read = self.sources()
        return stamped(*(read[0][1:] if read else (self.memory, "")))


def data_file(data: str | Path | None) -> dict[str, str | Path]:
    """The one file that a table came from, if it is known."""
    return {} if data is None else {"Data": data}


def named_file(file: str | Path) -> tuple[str, str]:
    """The name of a file and its hash; what is no file has none."""
    return (Path(file).name, file_hash(file)) if Path(file).is_file() else (str(file), "")
