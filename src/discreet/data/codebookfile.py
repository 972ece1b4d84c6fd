"""A codebook as a file to edit: what is seen is written, what is guessed stands in comments."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from discreet.data.codebook import MISSING, Codebook, Entry
from discreet.data.describing import About
from discreet.data.roles import Guess, Guessed

MOST_WRITTEN = 100  # categories of a column


class Column(Protocol):
    """What is known of a column."""

    @property
    def name(self) -> str: ...
    @property
    def counts(self) -> Mapping[str, int]: ...
    @property
    def size(self) -> int: ...
    @property
    def guess(self) -> Guessed | None: ...
    @property
    def use(self) -> str: ...


def codebook_text(
    where: str, columns: Sequence[Column], book: Codebook, *, stated: Collection[str], sure: bool
) -> str:
    """TOML that `Codebook.read` takes; not `sure` that it is read rightly, all of it is comments.

    A column that stands in a codebook is a variable because a person said so. Nobody has yet, so
    a guess that it is none, or of a role, stands behind a #.
    """
    lines = [f"# What stands in {where}. Edit it, then give it with --codebook."]
    lines += [
        "# Lines behind # say nothing: they are guesses. Take the # away where they are right."
    ]
    if not sure:
        lines += [
            "# A question about these data is open (discreet look), so all lines are comments."
        ]
    mark = "" if sure else "# "
    lines += ["", f'{mark}missing = "{book.missing}"']
    if book.missing_values:
        lines.append(f"{mark}missing_values = {_listed(sorted(book.missing_values))}")
    if book.weights:
        lines.append(f"{mark}weights = {quoted(book.weights)}")
    if book.sampling_fraction is not None:
        lines.append(f"{mark}sampling_fraction = {book.sampling_fraction!r}")
    for column in columns:
        if column.guess is not None and column.guess.guess is Guess.WEIGHT and not book.weights:
            lines.append(f"# weights = {quoted(column.name)}  # a guess: {column.guess.why}")
    if book.impossible.stated or book.about != About():
        lines.append("# impossible and about are to be copied from the other codebook")
    for column in columns:
        lines += ["", *_entry(column, book, column.name in stated, sure)]
    return "\n".join(lines) + "\n"


def _entry(column: Column, book: Codebook, stated: bool, sure: bool) -> list[str]:
    entry, guess = book.entry(column.name), column.guess
    listed = 0 < len(column.counts) <= MOST_WRITTEN or bool(entry.labels)
    known = sure and (stated or (listed and column.use == "variable"))
    mark = "" if known else "# "
    lines = [f"{mark}[variables.{quoted(column.name)}]"]
    if column.use != "variable":
        lines.append(f"# {column.use}: it is a variable only if the # are taken away")
    if stated and entry.role != "unstated":
        lines.append(f'{mark}role = "{entry.role}"')
        if entry.sensitive:
            lines.append(f"{mark}sensitive = {_listed(entry.sensitive)}")
    elif guess is not None and guess.guess.classifies:
        lines.append(f'# role = "{guess.guess}"  # a guess, {guess.why}')
    else:
        lines.append('# role = "identifying"  # or "sensitive", "both", "neither"')
    if entry.labels and any(code != text for code, text in entry.labels.items()):
        pairs = ", ".join(f"{quoted(code)} = {quoted(text)}" for code, text in entry.labels.items())
        lines.append(f"{mark}labels = {{ {pairs} }}")
    elif column.use == "variable" and 0 < len(column.counts) <= MOST_WRITTEN:
        lines.append(f"{mark}categories = {_listed([c for c in column.counts if c != MISSING])}")
    else:
        lines.append(f"# {column.size:,} values, not listed")
    return lines + [f"{mark}{line}" for line in _more(entry)]


def _more(entry: Entry) -> list[str]:
    """What else a codebook has said of a column."""
    words = {name: getattr(entry, name) for name in ("title", "description", "unit", "within")}
    lines = [f"{name} = {quoted(text)}" for name, text in words.items() if text]
    if entry.labels and entry.open:
        lines.append("open = true")
    if entry.hierarchy is not None:
        pairs = [f"{quoted(code)} = {quoted(parent)}" for code, parent in entry.hierarchy.pairs]
        lines.append(f"hierarchy = {{ {', '.join(pairs)} }}")
    if entry.values:
        pairs = [f"{quoted(c)} = [{low!r}, {high!r}]" for c, low, high in entry.values]
        lines.append(f"values = {{ {', '.join(pairs)} }}")
    if entry.map is not None or entry.bands is not None:
        lines.append("# its map and its bands are to be copied from the other codebook")
    return lines


def quoted(text: str) -> str:
    r"""A string of TOML.

    >>> print(quoted('a "b"'), quoted("a\nb"))
    "a \"b\"" "a\nb"
    """
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    plain = plain.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda m: f"\\u{ord(m[0]):04x}", plain) + '"'


def _listed(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"
