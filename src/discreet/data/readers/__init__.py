"""The kinds of files that are read: one module each, found by itself.

A module has `SUFFIXES`, how the names of its files end, and `read(path, name)`, which gives a
`Source`; `name` is what messages call it. With `TABLES = True` a file can hold several tables, and
`read(path, name, table)` takes the name of one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast

from discreet.data.source import Source


class Reader(Protocol):
    """What a module here has."""

    SUFFIXES: tuple[str, ...]

    def read(self, path: Path, name: str, table: str | None = None, /) -> Source: ...


def _found() -> dict[str, Reader]:
    names = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    modules = [cast(Reader, importlib.import_module(name)) for name in names]
    return {suffix: module for module in modules for suffix in module.SUFFIXES}


READERS: Mapping[str, Reader] = _found()


def reader_of(path: Path) -> Reader | None:
    """The reader of a file by the end of its name, the longest that is known.

    >>> reader_of(Path("people.doc")) is None
    True
    """
    suffix = suffix_of(path)
    return None if suffix is None else READERS[suffix]


def suffix_of(path: Path) -> str | None:
    """How the name of a file ends, of those that are read."""
    ends = [suffix for suffix in READERS if path.name.lower().endswith(suffix)]
    return max(ends, key=len, default=None)
