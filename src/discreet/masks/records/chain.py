"""Masks one after the other, and what an intruder knows of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Ints
from discreet.errors import DataError, OptionError
from discreet.intruder.linkage.compose import compose
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import Mask, MaskedFile


@dataclass(frozen=True)
class Chain(Mask):
    """Masks that are applied in their order; each keeps its promise on what the last one made.

    A step that an intruder can repeat only by knowing the draws of the one before is taken as if
    they were known: the careful side.

    >>> import numpy as np
    >>> import pandas as pd
    >>> file = RecordFile(pd.DataFrame({"age": [31, 47, 88], "sex": ["f", "m", "f"]}))
    >>> top = {"method": "top-code", "columns": "age", "high": 80}
    >>> some = {"method": "sample", "share": 0.67}
    >>> Chain.of({"steps": [top, some]}).apply(file, np.random.default_rng(1))
    MaskedFile(top-code + sample: 2 records, age masked)
    """

    name: ClassVar[str] = "chain"
    promise: ClassVar[str] = "Every step keeps what it promises of the file before it."

    steps: tuple[Mask, ...]

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Chain:
        from discreet.masks.records.registry import mask_of

        steps = options.get("steps", ())
        if not steps:
            raise OptionError("a chain has no step; give one at least.")
        return cls(
            tuple(
                mask_of(step["method"], {k: v for k, v in step.items() if k != "method"})
                for step in steps
            )
        )

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        now, rows = file, np.arange(len(file))
        keys: dict[str, Key] = {}
        made: list[MaskedFile] = []
        correlation: dict[tuple[str, str], float] = {}
        behind: dict[str, Any] = {}
        for step in self.steps:
            masked = step.apply(now, rng)
            if (masked.rows < 0).any() and step is not self.steps[-1]:
                raise DataError(f"{step.name} makes records of nobody; let it be the last step.")
            _refuse_tangles(keys, correlation, masked)
            for name, key in masked.keys.items():
                lifted = _lifted(key, rows, file, now)
                known = file.labels(name)
                keys[name] = compose(keys[name], lifted, known) if name in keys else lifted
            correlation |= masked.correlation
            left = {name: labels for name, labels in behind.items() if name not in masked.keys}
            behind = {name: labels[masked.rows] for name, labels in left.items()}
            behind = {} if (masked.rows < 0).any() else behind | dict(masked.behind)
            made.append(masked)
            rows = np.where(masked.rows >= 0, rows[masked.rows], -1)
            now = replace(now, data=masked.data)
        noisy = {name for name, key in keys.items() if key.continuous}
        return MaskedFile(
            now.data,
            rows,
            keys,
            {pair: value for pair, value in correlation.items() if set(pair) <= noisy},
            " + ".join(one.method for one in made),
            {"steps": [{"method": one.method, **one.parameters} for one in made]},
            tuple(said for one in made for said in one.said),
            behind,
        )

    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        """Nothing of its own: see the steps, each with the file before it."""
        return []


def _refuse_tangles(
    keys: Mapping[str, Key], correlation: Mapping[tuple[str, str], float], masked: MaskedFile
) -> None:
    """Two masks of one column that no key says together."""
    before = {name for key in keys.values() for name in (key.name, *key.joint)}
    for key in masked.keys.values():
        earlier = [one for one in keys.values() if key.name in (one.name, *one.joint)]
        if (key.joint and before & {key.name, *key.joint}) or any(one.joint for one in earlier):
            raise DataError(
                f"{key.name!r} is moved with other columns, and masked by another step too; mask "
                "it once."
            )
    tied = {name for pair in correlation for name in pair}
    if again := sorted(name for name in tied & set(masked.keys) if masked.keys[name].continuous):
        raise DataError(f"{again[0]!r} has correlated noise, and noise once more; add it once.")


def _lifted(key: Key, rows: Ints, file: RecordFile, now: RecordFile) -> Key:
    """The key for all records of the first file, of which only `rows` are left.

    Those that are gone became nothing; where the mask knows no rank or no row of a category that
    is gone, nobody of it can be released.
    """
    if len(rows) == len(file) and (rows == np.arange(len(file))).all():
        return key
    seen = np.full(len(file), None, object)
    if key.seen is not None:
        seen[rows] = key.seen
    elif key.kind is Kind.RANK:
        seen[rows] = now.labels(key.name)
    elif key.kind is Kind.CATEGORY and key.matrix is not None and not key.joint:
        labels = file.labels(key.name)
        there = np.array([not one or one in key.matrix for one in labels])
        if there.all():
            return key
        seen[there] = labels[there]
    else:
        return key
    return replace(key, seen=seen)


def shuffled(masked: MaskedFile, rng: np.random.Generator) -> MaskedFile:
    """In random order, so that the place of a record tells nothing.

    >>> import discreet as dc
    >>> import numpy as np
    >>> import pandas as pd
    >>> file = dc.files.RecordFile(pd.DataFrame({"age": [31, 47, 50]}))
    >>> masked = dc.files.Sample(share=1.0).apply(file, np.random.default_rng(1))
    >>> shuffled(masked, np.random.default_rng(2)).rows
    array([1, 2, 0])
    """
    order = rng.permutation(len(masked))
    data = masked.data.iloc[order].reset_index(drop=True)
    behind = {name: labels[order] for name, labels in masked.behind.items()}
    return replace(masked, data=data, rows=masked.rows[order], behind=behind)


def chained(steps: Sequence[Mapping[str, Any]]) -> Mask:
    """One mask, or a chain of several."""
    chain = Chain.of({"steps": steps})
    return chain if len(chain.steps) > 1 else chain.steps[0]
