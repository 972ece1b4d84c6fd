"""Lines of tables: in an order that tells nothing, and as deep as the codebook has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.decision.law.verdict import Verdict
from discreet.report.checking.found import Finding
from discreet.report.checking.tables import Judged
from discreet.sheets.grouping import Grouping, Line
from discreet.sheets.released import MANIFEST

UNPROVEN = ("kept", "drawn", "multiplier", "exceptions")  # what a mask says that no file shows
OWN = 3  # so many groups of an office's own making before their order is looked at


def odd_lines(tables: Sequence[Judged], truth: Mapping[str, Floats]) -> Iterator[Finding]:
    """Lines that are deeper or less deep than in the codebook, and those in another order that is
    the order of their true size, hidden ones among them."""
    for table in tables:
        name = table.sheet.name
        for axis, grouping in enumerate((*table.sheet.groupings, *table.sheet.where)):
            usual = {line.label: line for line in Grouping.of(grouping.variable).lines}
            for line in grouping.lines:
                if not _is_deep(line, usual):
                    text = f"the line {line.label!r} has the depth {line.depth}"
                    yield Finding("content", Verdict.FAIL, text, MANIFEST, name)
            if axis >= len(table.sheet.shape):  # a filter has one line
                continue
            if name not in truth or not table.hidden.any():
                continue
            for own in _siblings(grouping.lines):
                known = all(grouping.lines[i].label in usual for i in own)
                moved = any(
                    min(grouping.lines[a].codes) > min(grouping.lines[b].codes)
                    for a, b in pairwise(own)
                )
                if moved and (known or len(own) >= OWN):
                    values = np.moveaxis(truth[name].take(own, axis), axis, 0)
                    hidden = np.moveaxis(table.hidden.take(own, axis), axis, 0)
                    if _tells(values, hidden):
                        text = (
                            f"its lines of {grouping.name!r} stand in the order of their true "
                            "size, hidden ones among them, and not in that of the codebook"
                        )
                        yield Finding("content", Verdict.REVIEW, text, MANIFEST, name)
                        break


def _is_deep(line: Line, usual: Mapping[str, Line]) -> bool:
    """As in the codebook, or one less where no total stands above."""
    same = usual.get(line.label)
    if same is not None and same.codes == line.codes:
        return line.depth in (same.depth, same.depth - 1)
    return 0 <= line.depth <= max(1, *(one.depth for one in usual.values()))


def _siblings(lines: Sequence[Line]) -> Iterator[list[int]]:
    """The lines of one depth below the same line."""
    open_: dict[int, list[int]] = {}
    for place, line in enumerate(lines):
        for depth in [d for d in open_ if d > line.depth]:
            yield open_.pop(depth)
        open_.setdefault(line.depth, []).append(place)
    yield from open_.values()


def _tells(values: Floats, hidden: NDArray[np.bool_]) -> bool:
    """Do values rise or fall all along the first axis, somewhere where one is hidden?"""
    steps = np.diff(values.reshape(len(values), -1), axis=0)
    sorted_ = (steps >= 0).all(0) | (steps <= 0).all(0)
    return bool((sorted_ & hidden.reshape(len(hidden), -1).any(0) & (steps != 0).any(0)).any())


def written_by_people(manifest: Mapping[str, Any], *, columns: bool) -> tuple[str, ...]:
    """Texts of a release that no program can judge: a person has to read them. With `columns`,
    names of columns were found in the data."""
    found = [f"symbol: {manifest['symbol']}"]
    found += [f"{key}: {value}" for key, value in manifest["record"].items()]
    for table in manifest["tables"]:
        found.append(f"table {table['name']}" + (f": {table['title']}" if table["title"] else ""))
        own = [
            f"{one['name']}: {line['label']}"
            for one in (*table["variables"], *table["where"])
            for line in one["lines"]
            if "categories" in line
        ]
        found += own
        if not columns:
            found += [f"{role}: {name}" for role, name in table["measure"].items()]
        said = table["parameters"]
        found += [f"{key}: {said[key]}" for key in UNPROVEN if said.get(key)]
        found += [f"level of {name}: {level}" for name, level in said.get("levels", {}).items()]
    return tuple(dict.fromkeys(found))
