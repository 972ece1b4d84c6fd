"""What benchmarks claim: a row each, all rows of one run, and what became slower since the last."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

THIRD = 4 / 3  # a row that takes longer by more than a third became slower


@dataclass(frozen=True)
class Claim:
    """Our seconds beside a rival's, measured in the same run with the same answer."""

    topic: str
    what: str
    ours: float
    rival: str | None = None
    theirs: float | None = None
    size: str = ""
    memory: float | None = None  # MiB at the peak
    growth: tuple[tuple[float, float], ...] = ()  # size and our seconds
    why: str = ""
    large: bool = False

    def __post_init__(self) -> None:
        if (self.rival is None) != (self.theirs is None):
            raise ValueError(f"{self.what!r}: a rival has a time, and a time has a rival.")
        if not self.why and (self.ratio is None or self.ratio < 1):
            raise ValueError(f"{self.what!r}: why is there no rival, or why does it win? Say why=.")
        for seconds in (self.ours, self.theirs, *(at for pair in self.growth for at in pair)):
            if seconds is not None and not 0 < seconds < math.inf:
                raise ValueError(f"{self.what!r}: {seconds} is no time or size; it is above 0.")

    @property
    def ratio(self) -> float | None:
        """The rival's seconds by ours: above 1 we are quicker."""
        return None if self.theirs is None else self.theirs / self.ours

    @property
    def name(self) -> tuple[str, str, str]:
        """What makes it the same row in another run."""
        return self.topic, self.what, self.rival or ""

    @property
    def power(self) -> float | None:
        """The p of seconds ~ size^p, by least squares on logarithms."""
        if len({size for size, _ in self.growth}) < 2:
            return None
        xs, ys = ([math.log(value) for value in at] for at in zip(*self.growth, strict=True))
        x, y = sum(xs) / len(xs), sum(ys) / len(ys)
        steep = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
        return steep / sum((a - x) ** 2 for a in xs)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Claim:
        pairs = tuple((size, seconds) for size, seconds in content.get("growth", ()))
        return cls(**{**content, "growth": pairs})


@dataclass(frozen=True)
class Slower:
    """A row that takes longer than in the run before: by the ratio to its rival, or by seconds."""

    topic: str
    what: str
    by: str  # "ratio" or "seconds"
    before: float
    now: float

    @property
    def factor(self) -> float:
        return self.before / self.now if self.by == "ratio" else self.now / self.before

    def __str__(self) -> str:
        unit = " times the rival" if self.by == "ratio" else " s"
        return (
            f"{self.topic}: {self.what}: {self.before:.3g}{unit} before, {self.now:.3g}{unit} now, "
            f"slower by {self.factor - 1:.0%}"
        )


@dataclass(frozen=True)
class Run:
    """All rows of one session on one machine, with what is said of it."""

    date: str
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    claims: tuple[Claim, ...]
    absent: Mapping[str, str] = field(default_factory=dict)  # a rival: how to install it
    left_out: tuple[str, ...] = ()  # tests of large data that did not run
    slower: tuple[Slower, ...] = ()
    compared: str = ""  # the date of the run that it was compared with
    load: float = 0.0  # processes that wanted a core when the run began

    @property
    def busy(self) -> bool:
        """Whether others used the machine, so that its times say little."""
        return self.load > 0.5 * self.machine["cores"]

    def since(self, before: Run | None) -> Run:
        """The same run, with what became slower since another one."""
        if before is None:
            return self
        found = tuple(became_slower(self, before))
        return Run(**{**vars(self), "slower": found, "compared": before.date})

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> Run:
        content = json.loads(path.read_text(encoding="utf-8"))
        content["claims"] = tuple(Claim.of(row) for row in content["claims"])
        content["slower"] = tuple(Slower(**row) for row in content["slower"])
        return cls(**{**content, "left_out": tuple(content["left_out"])})


def became_slower(now: Run, before: Run) -> Iterable[Slower]:
    """Rows slower by more than a third: the ratio to the rival holds on any machine.

    Seconds say it too where the machine is of the same kind.
    """
    known = {claim.name: claim for claim in before.claims}
    same = dict(now.machine) == dict(before.machine)
    for claim in now.claims:
        old = known.get(claim.name)
        if old is None:
            continue
        if claim.ratio and old.ratio and old.ratio > THIRD * claim.ratio:
            yield Slower(claim.topic, claim.what, "ratio", old.ratio, claim.ratio)
        elif same and claim.ours > THIRD * old.ours:
            yield Slower(claim.topic, claim.what, "seconds", old.ours, claim.ours)
