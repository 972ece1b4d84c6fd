"""The office's thresholds, in one commented file."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.data.settings import as_toml, flattened
from discreet.data.settings import key as key
from discreet.data.smallfiles import read_toml
from discreet.decision.law.implied import with_implied
from discreet.decision.survey.section import Publish
from discreet.errors import PolicyError, alike
from discreet.intruder.bounds.methods import METHODS
from discreet.look.notebook import Rows
from discreet.look.result import Shown

DEFAULTS = "discreet's defaults"
EFFORT = {
    *("bounds.effort", "bounds.seconds", "bounds.witness_effort", "bounds.witness_seconds"),
    "bounds.gigabytes",
}
DAY = 86_400.0
MOST_SAID = 8  # keys that were changed
GONE = "bounds.accept_outer"
LARGEST = 2**63 - 1  # what TOML and databases hold


@dataclass(frozen=True)
class Sample:
    """Data that are a sample: a small count may be large in the population."""

    check: bool = key(False, "are small counts guarded only if they are small in the population?")
    chance: float = key(
        0.05, "guarded from this probability on that the population count is small", most=1
    )
    model: str = key("negative-binomial", "of population counts: negative-binomial or a formula")


@dataclass(frozen=True)
class Bounds:
    """How intervals are found, and what is accepted as proof."""

    method: str = key("auto", f"one of {', '.join(METHODS)}", choices=METHODS)
    proof: str = key(
        "integer",
        "what must reach a width: integer (tables of whole numbers), linear (tables of fractions), "
        "outer (nothing)",
        choices=("integer", "linear", "outer"),
    )
    effort: float = key(1.0, "times the usual work on integer programs", least=0.001)
    seconds: float = key(DAY, "stop programs after so long, whatever is found by then")
    witness_effort: float = key(
        1.0, "times the usual work on tables that prove a width; 0 switches it off"
    )
    witness_seconds: float = key(DAY, "stop looking for these after so long; 0 switches it off")
    gigabytes: float = key(4.0, "memory for the shuttle")

    @property
    def looks(self) -> bool:
        """Are tables looked for that prove a width?"""
        return self.witness_effort > 0 and self.witness_seconds > 0


@dataclass(frozen=True)
class Alternatives:
    """What is offered when a release does not pass."""

    number: int = key(3, "how many to offer of each kind")
    effort: float = key(1.0, "times the usual work on the search", least=0.001)
    seconds: float = key(DAY, "stop it after so long, with what was found by then")


@dataclass(frozen=True)
class Server:
    """What a table server answers, and how."""

    rule: str = key(
        "static",
        "static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: "
        "what is safe as far as the public can tell",
        choices=("static", "myopic", "simulatable"),
    )
    approval: str = key(
        "review",
        "what a custodian must approve: never (doubt is refused), review (doubt), always",
        choices=("never", "review", "always"),
    )
    approvers: int = key(
        1, "custodians who must approve a request, and a change of the policy", least=1, most=2
    )
    one_way: bool = key(True, "are the one-way margins out from the start?")
    curated: bool = key(False, "can only margins be asked for that the custodian has listed?")
    max_order: int = key(0, "most variables of a margin; 0: any number")
    cells: int = key(100_000, "most cells of a table that is answered", least=1)
    step_variables: int = key(
        0, "most variables of a request beyond a released margin in it; 0: any number"
    )
    step_cells: int = key(0, "most cells that a request may newly publish; 0: any number")
    quota: int = key(0, "new tables for one user in a day; 0: any number")
    delta: float = key(0.05, "simulatable: most probability of an unsafe answer", most=1)
    gate: bool = key(
        True, "simulatable: is what the data speak against refused, though that refusal speaks?"
    )
    draws: int = key(400, "simulatable: tables drawn to judge a request", least=2)
    perturbed: bool = key(
        False, "is a table drawn from what is out offered instead of one that is refused as unsafe?"
    )
    slot: float = key(
        0.25, "seconds: decisions by the data leave after this, or twice, four times, ... as much"
    )

    @property
    def speaks(self) -> bool:
        """Do the confidential cells have a say in what is refused?"""
        return self.rule == "myopic" or (self.rule == "simulatable" and self.gate)


@dataclass(frozen=True)
class Contributors:
    """Tables of sums: who is behind a cell. Counts are judged by `published`."""

    least: int = key(3, "no printed sum of fewer contributors; 0 or 1 switches it off")
    p: float = key(
        10.0, "p%: the next largest may not tell the largest closer than so much; 0 switches it off"
    )
    q: float = key(
        100.0, "pq: how well the others are known before, in percent", least=0.001, most=100
    )
    coalition: int = key(1, "so many of the next largest tell each other", least=1, most=5)
    n: int = key(0, "(n, k) dominance: so many of the largest; 0 switches it off", most=6)
    k: float = key(75.0, "(n, k) dominance: may have no more than so much of a sum", least=0.001)
    request: float = key(0.0, "who asked is protected from so much of a sum on, in percent")
    range: float = key(10.0, "percent of a value that stays open where too few contribute")
    weights: str = key(
        "total",
        "a weighted contribution is judged as it is in the weighted sum (total), or as so many "
        "contributors of its size (repeated)",
        choices=("total", "repeated"),
    )
    alone: bool = key(True, "does the only contributor to a hidden cell know it?")
    zeros: bool = key(True, "is a sum of 0 hidden if fewer than `least` are there, with 0 each?")


@dataclass(frozen=True)
class Masks:
    """Masks of records and tables side by side: what an intruder may find who knows the mask."""

    risk: str = key(
        "disclosed",
        "what is limited: disclosed (share of those guarded of whom something right is stated: a "
        "link or a sensitive value, or a small count), identified (links alone), attribute (values "
        "alone), perceived (stated, rightly or not), expected (mean probability of the truth), "
        "highest (largest)",
        choices=("disclosed", "identified", "attribute", "perceived", "expected", "highest"),
    )
    limit: float = key(0.01, "the most of it that a mask may have", most=1)
    act: float = key(0.5, "an intruder states what is at least so probable", most=1)
    inferred: float = key(
        1.0, "so much more may a model of the file get right of who is in it", most=1
    )


CORE: dict[str, Any] = {
    "masks": Masks,
    "publish": Publish,
    "contributors": Contributors,
    "sample": Sample,
    "bounds": Bounds,
    "alternatives": Alternatives,
    "server": Server,
}


def sections() -> dict[str, Any]:
    """Every section of a policy: one for each rule there is, then those that serve them all."""
    from discreet.decision.law.rules import rules

    return {rule.section: rule.keys for rule in rules() if rule.keys} | CORE


@dataclass(frozen=True, eq=False)
class Policy(Shown):
    """Every threshold that a verdict rests on; `locked` says which are fixed, and by whom.

    A section is an attribute: that of a rule (`small`, `attribute`, ...), or `sample`, `bounds`,
    `alternatives`, `server`. `given` holds the sections that are not the defaults; `changed` the
    keys that were changed for this run, `stated` all that were set.

    >>> Policy.of({"small.width": 5}).small.width
    5
    """

    name: str = DEFAULTS
    given: Mapping[str, Any] = field(default_factory=dict)
    locked: Mapping[str, str] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    stated: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> Any:
        given = self.__dict__.get("given", {})
        if name in given:
            return given[name]
        if name in CORE:
            return CORE[name]()
        if name.startswith("_") or name not in (known := sections()):
            raise AttributeError(f"a policy has no section {name!r}.")
        return known[name]()

    def _shown_line(self) -> str:
        return f"Policy({self.described})"

    def _shown_rows(self, most: int) -> Rows:
        """Every threshold that is not the default; of the defaults, the first."""
        values, usual = self.to_dict(), Policy().to_dict()
        changed = [name for name, value in values.items() if value != usual[name]]
        names = changed or list(values)
        columns = {
            "key": names[:most],
            "value": [as_toml(values[name]) for name in names[:most]],
            "default": [as_toml(usual[name]) for name in names[:most]],
            "locked by": [self.locked.get(name, "") for name in names[:most]],
        }
        return Rows(columns, len(names))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy):
            return NotImplemented
        return self.described == other.described and self.to_dict() == other.to_dict()

    @property
    def described(self) -> str:
        """The name, and what was changed for this run: `office (small.width = 5)`.

        Under the name of the defaults, all that is not the default.
        """
        values, keys = self.to_dict(), self.changed
        if self.name == DEFAULTS:
            usual = Policy().to_dict()
            keys = tuple(k for k, v in values.items() if v != usual[k] and k not in EFFORT)
        listed = [f"{key} = {as_toml(values[key])}" for key in keys[:MOST_SAID]]
        if len(keys) > MOST_SAID:
            listed.append(f"{len(keys) - MOST_SAID} more keys changed")
        return f"{self.name} ({', '.join(listed)})" if listed else self.name

    def effort(self, **bounds: Any) -> Policy:
        """The same thresholds, with other keys of `bounds`: how hard it is worked, not on what."""
        part = dataclasses.replace(self.bounds, **bounds)
        return dataclasses.replace(self, given={**self.given, "bounds": part})

    @classmethod
    def of(cls, changes: Mapping[str, Any]) -> Policy:
        """The defaults with some keys changed: `{"small.width": 5}`."""
        return cls().change(changes)

    @classmethod
    def read(cls, path: str | Path) -> Policy:
        """A TOML file; `extends` names another that comes first, `locked` what it fixes."""
        return cls()._read(Path(path), ())

    @classmethod
    def loads(cls, text: str) -> Policy:
        """What `to_toml` wrote, now or in an earlier version."""
        return cls()._merged(renewed(flattened(tomllib.loads(text))), "policy")

    def _read(self, path: Path, above: tuple[Path, ...]) -> Policy:
        content = read_toml(path, "the policy ", PolicyError)
        base, parent = self, content.pop("extends", None)
        if parent is not None:
            if path.resolve() in above:
                raise PolicyError(f"the policy {str(path)!r} extends itself.")
            base = self._read(path.parent / str(parent), (*above, path.resolve()))
        return base._merged(content, path.stem)

    def _merged(self, content: dict[str, Any], name: str) -> Policy:
        name, locked = content.pop("name", name), content.pop("locked", [])
        if not isinstance(locked, list):
            raise PolicyError(f"locked = {locked!r} must be a list of keys.")
        changed = self.change(flattened(content))
        for one in locked:
            _find(one)
        return dataclasses.replace(
            changed, name=str(name), locked={key: str(name) for key in locked} | dict(self.locked)
        )

    def change(self, changes: Mapping[str, Any]) -> Policy:
        """The policy with some keys changed; a locked key refuses another value."""
        policy = dataclasses.replace(self, stated=self.stated | set(changes))
        for name, value in with_implied(changes, self, Policy().small.most).items():
            section, entry = _find(name)
            value = _checked(name, value, entry)
            part = getattr(policy, section)
            if name in self.locked and value != getattr(part, entry.name):
                raise PolicyError(
                    f"{name} is locked at {getattr(part, entry.name)!r} by the policy "
                    f"{self.locked[name]!r}; it cannot be set to {value!r}."
                )
            part = dataclasses.replace(part, **{entry.name: value})
            policy = dataclasses.replace(policy, given={**policy.given, section: part})
        held = f"publish.{self.publish.limit}"
        if held in self.locked and (other := self.publish.replaced_by(policy.publish)):
            raise PolicyError(
                f"{held} is locked by the policy {self.locked[held]!r}; {other} cannot take its "
                "place."
            )
        return policy

    def set(self, assignments: Iterable[str]) -> Policy:
        """The policy after `small.width=5`-style assignments."""
        changes = {}
        for assignment in assignments:
            key, equals, text = assignment.partition("=")
            if not equals:
                raise PolicyError(f"{assignment!r} is no assignment; write key=value.")
            try:
                changes[key.strip()] = tomllib.loads(f"v = {text.strip()}")["v"]
            except tomllib.TOMLDecodeError:
                changes[key.strip()] = text.strip()
        return self.for_this_run(changes)

    def for_this_run(self, changes: Mapping[str, Any]) -> Policy:
        """The policy with some keys changed, which is said wherever its name is."""
        policy, before = self.change(changes), self.to_dict()
        new = [key for key, value in policy.to_dict().items() if value != before[key]]
        return dataclasses.replace(policy, changed=tuple(dict.fromkeys((*self.changed, *new))))

    def to_dict(self) -> dict[str, Any]:
        """Every key and its value."""
        return {key: getattr(getattr(self, s), e.name) for key, (s, e) in _keys().items()}

    def to_toml(self) -> str:
        """The policy as a file, with what each key means."""
        lines = [f"name = {as_toml(self.name)}", f"locked = {as_toml(sorted(self.locked))}", ""]
        for name, section in sections().items():
            lines += [f"[{name}]  # {section.__doc__}"]
            for entry in dataclasses.fields(section):
                value = as_toml(getattr(getattr(self, name), entry.name))
                lines.append(f"{entry.name} = {value}  # {entry.metadata['says']}")
            lines.append("")
        return "\n".join(lines)


def renewed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a policy that an earlier version wrote, by their names of today."""
    found = dict(content)
    if GONE in found:
        found["bounds.proof"] = "outer" if found.pop(GONE) is True else "integer"
    if isinstance(locked := found.get("locked"), list):
        found["locked"] = ["bounds.proof" if key == GONE else key for key in locked]
    return found


def _keys() -> dict[str, tuple[str, dataclasses.Field[Any]]]:
    return {
        f"{name}.{entry.name}": (name, entry)
        for name, section in sections().items()
        for entry in dataclasses.fields(section)
    }


def _find(key: object) -> tuple[str, dataclasses.Field[Any]]:
    keys = _keys()
    if key in keys:
        return keys[str(key)]
    if key == GONE:
        raise PolicyError(
            f'{GONE} is gone; write bounds.proof = "outer" (or "linear"; "integer" is the default).'
        )
    near = alike(key, keys, 0.5)
    hint = f"did you mean {near}?" if near else f"there are {', '.join(keys)}."
    raise PolicyError(f"a policy has no key {key!r}; {hint}")


def _checked(key: str, value: Any, entry: dataclasses.Field[Any]) -> Any:
    kind = type(entry.default)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise PolicyError(f"{key} = {value!r} must be {_KINDS[kind]}.")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise PolicyError(f"{key} has {len(str(abs(value)))} digits; write a smaller number.")
    meta = entry.metadata
    if choices := meta.get("choices"):
        if value not in choices:
            raise PolicyError(f"{key} = {value!r} must be one of {', '.join(choices)}.")
    elif isinstance(value, float) and not math.isfinite(value):
        raise PolicyError(f"{key} = {value!r} must be a finite number.")
    elif kind in (int, float) and not (
        value >= meta["least"] and (meta["most"] is None or value <= meta["most"])
    ):
        most = "" if meta["most"] is None else f" and at most {meta['most']}"
        raise PolicyError(f"{key} = {value!r} must be at least {meta['least']}{most}.")
    return value


_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
