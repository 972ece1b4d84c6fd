"""A masks file: which masks to compare, for whom, against which intruder."""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.settings import Keys, check_called_apart
from discreet.data.smallfiles import read_toml
from discreet.errors import DataError
from discreet.look.result import Shown
from discreet.masks.masked import BITS
from discreet.masks.records.mask import listed

KINDS = ("records", "table")
KNOWN = {"of", "seed", "keys", "sensitive", "household", "weight", "masks", "users"}


@dataclass(frozen=True)
class Candidate:
    """A mask with its options, or several one after the other."""

    name: str
    steps: tuple[Mapping[str, Any], ...]

    @property
    def method(self) -> str:
        return " + ".join(str(step["method"]) for step in self.steps)

    @property
    def spelled(self) -> str:
        """Methods and options in one line: the same line, the same mask."""
        return json.dumps(list(self.steps), sort_keys=True, ensure_ascii=False, default=str)

    def rng(self, seed: int) -> np.random.Generator:
        """Its own draws, whatever else is compared and in whichever order."""
        return np.random.default_rng([seed, zlib.crc32(self.spelled.encode())])


@dataclass(frozen=True)
class Reader:
    """Somebody who needs some columns, and is served by a utility of `least` for them."""

    name: str
    columns: tuple[str, ...]
    least: float


@dataclass(frozen=True)
class Plan(Shown):
    """Candidates, who uses the data, and what the intruder knows.

    `seed` is as secret as the data: who knows it can undo a mask. A masks file without one has 128
    secret bits, new every time. One that is given by hand can be found by trying (`trial`): what is
    drawn from it is not for release.

    >>> plan = Plan.of({"keys": ["age"], "masks": [{"method": "sample", "share": 0.5}]})
    >>> plan
    Plan(1 mask of records)
    >>> plan.candidates[0].name
    'sample'
    """

    candidates: tuple[Candidate, ...]
    of_table: bool = False
    seed: int = field(default_factory=lambda: secrets.randbits(BITS), repr=False)
    keys: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    household: str | None = None
    weight: str | None = None
    readers: tuple[Reader, ...] = field(default=())
    trial: bool = False

    @property
    def spoken(self) -> tuple[str, ...]:
        """Every name that it says, columns among them."""
        steps = [name for one in self.candidates for step in one.steps for name in _names(step)]
        readers = [name for reader in self.readers for name in reader.columns]
        return (*self.keys, *self.sensitive, *steps, *readers)

    def __repr__(self) -> str:
        from discreet.look.words import plural

        return f"Plan({plural(len(self.candidates), 'mask')} of {KINDS[self.of_table]})"

    @classmethod
    def read(cls, path: str | Path) -> Plan:
        return cls.of(read_toml(path), str(path))

    @classmethod
    def of(cls, content: Mapping[str, Any], name: str = "the masks file") -> Plan:
        """From what a TOML file holds."""
        keys = Keys(content, KNOWN, name)
        kind, trial = keys.choice("of", KINDS, KINDS[0]), keys.get("seed") is not None
        seed = keys.whole("seed", secrets.randbits(BITS))
        masks = tuple(_candidate(entry, what) for what, entry in keys.tables("masks"))
        check_called_apart((mask.name for mask in masks), f"masks of {name}")
        readers = tuple(_reader(entry, what) for what, entry in keys.tables("users", []))
        check_called_apart((user.name for user in readers), f"users of {name}")
        return cls(
            masks,
            kind == "table",
            seed,
            listed(content["keys"], f"keys of {name}") if "keys" in content else (),
            listed(content["sensitive"], f"sensitive of {name}") if "sensitive" in content else (),
            keys.text("household", "name a column"),
            keys.text("weight", "name a column"),
            readers,
            trial,
        )

    def anew(self, name: str) -> Plan:
        """One of the masks alone, drawn from secret bits of its own."""
        chosen = next(one for one in self.candidates if one.name == name)
        return replace(self, candidates=(chosen,), seed=secrets.randbits(BITS), trial=False)


def _names(said: object) -> list[str]:
    """The texts in options of a mask."""
    if isinstance(said, str):
        return [said]
    if isinstance(said, Mapping):
        return [name for pair in said.items() for part in pair for name in _names(part)]
    return [name for part in said for name in _names(part)] if isinstance(said, list) else []


def _candidate(entry: object, what: str) -> Candidate:
    if not isinstance(entry, dict):
        raise DataError(f"{what} must be a table.")
    entry = dict(entry)
    name = entry.pop("name", None)
    steps = entry.pop("chain", None)
    if steps is None:
        steps = [entry]
    elif entry:
        raise DataError(f"{what} has a chain and {sorted(entry)[0]!r}; put that into a step.")
    if not isinstance(steps, list) or not steps or not all(isinstance(s, dict) for s in steps):
        raise DataError(f"the chain of {what} needs a table for each step.")
    for step in steps:
        if not isinstance(step.get("method"), str):
            raise DataError(f"{what} has no method; write which mask it is.")
    said = " + ".join(step["method"] for step in steps)
    return Candidate(str(name or said), tuple(steps))


def _reader(entry: object, what: str) -> Reader:
    keys = Keys(entry, {"name", "columns", "least"}, what)
    columns = listed(keys.get("columns"), keys.what("columns"))
    return Reader(str(keys.get("name", what)), columns, keys.number("least", 0.9, least=0, most=1))
