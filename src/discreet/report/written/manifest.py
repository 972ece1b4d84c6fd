"""The record of a release: what was made, how and by what; nothing of the data."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import Enum
from importlib.metadata import version
from typing import Any

import numpy as np

from discreet.decision.law.policy import DEFAULTS, Policy
from discreet.errors import OutputError
from discreet.report.written.shown import Shown
from discreet.sheets.grouping import Grouping
from discreet.sheets.labels import line_of
from discreet.sheets.released import FORMAT, VERSION, adds, covers

MEANING = "not shown, so that nobody's data are disclosed"
SECRET = re.compile(r"(.*[_ -])?(seed|secret|salt|key|keys)", re.IGNORECASE)


def manifest(
    tables: Sequence[Shown],
    symbol: str,
    record: Mapping[str, object],
    files: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """What `sheets.released` reads back."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": f"discreet {version('discreet')}",
        "symbol": symbol,
        "symbols": {symbol: MEANING},
        "record": plain(record, "record"),
        "tables": [_table(table) for table in tables],
        "files": list(files),
    }


def record_of(policy: Policy) -> dict[str, str]:
    """What the files of a release say of the policy: its thresholds only if these are public.

    >>> from discreet.decision.law.policy import Policy
    >>> record_of(Policy()), record_of(Policy.of({"published.thresholds": True, "small.width": 5}))
    ({}, {'policy': "discreet's defaults (small.width = 5, published.thresholds = true)"})
    """
    if policy.published.thresholds:
        return {"policy": policy.described}
    return {} if policy.name == DEFAULTS else {"policy": policy.name}  # the defaults are public


def _table(table: Shown) -> dict[str, Any]:
    sheet = table.sheet
    return {
        "name": sheet.name,
        "title": sheet.title,
        "measure": {key: name for key, name in asdict(sheet.measure).items() if name},
        "variables": [_grouping(grouping) for grouping in sheet.groupings],
        "where": [_grouping(grouping) for grouping in sheet.where],
        "whole": table.whole,
        "decimals": table.decimals,
        "exact": table.exact,
        "hidden": np.flatnonzero(np.isnan(table.values)).tolist(),
        "method": table.method,
        "parameters": plain(table.parameters, f"parameters of {table.method}"),
    }


def _grouping(grouping: Grouping) -> dict[str, Any]:
    every = Grouping.of(grouping.variable)
    return {
        "name": grouping.name,
        "covers": covers(grouping),
        "lines": [_line(grouping, every, place) for place in range(len(grouping))],
    }


def _line(grouping: Grouping, every: Grouping, place: int) -> dict[str, Any]:
    """With its categories only if its label does not say them: they might be known from the data
    alone. `adds` if the lines below make it up."""
    line = grouping.lines[place]
    said: dict[str, Any] = {"label": line.label, "depth": line.depth}
    said["adds"] = adds(grouping.lines, place)
    meant = line_of(every, line.label)
    if meant is None or meant.codes != line.codes:
        said["categories"] = [grouping.variable.categories[code] for code in sorted(line.codes)]
    return said


def _numeric(value: object) -> bool:
    """Numbers or bytes, which a seed is made of; a fingerprint is text."""
    if isinstance(value, list | tuple | np.ndarray):
        return any(_numeric(one) for one in value)
    return isinstance(value, int | float | bytes | np.number) and not isinstance(value, bool)


def plain(value: object, what: str) -> Any:
    """As JSON; a secret must be its fingerprint, and what is no plain value is refused."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            if SECRET.fullmatch(str(key)) and _numeric(one):
                raise OutputError(
                    f"{key!r} in {what} is the secret itself; write its fingerprint, as text."
                )
        return {str(key): plain(one, what) for key, one in value.items()}
    if isinstance(value, Enum):
        return plain(value.value, what)
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist(), what)
    if isinstance(value, list | tuple | set | frozenset):
        return [
            plain(one, what)
            for one in (value if isinstance(value, list | tuple) else sorted(value))
        ]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise OutputError(
        f"a {type(value).__name__} in {what} cannot be recorded; write it as text or numbers."
    )
