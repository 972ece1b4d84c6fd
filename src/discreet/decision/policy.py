"""The office's thresholds, in one commented file."""

from __future__ import annotations

import dataclasses
import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError


def _key(
    default: Any, says: str, *, least: float = 0, most: float | None = None, **more: Any
) -> Any:
    return field(default=default, metadata={"says": says, "least": least, "most": most, **more})


@dataclass(frozen=True)
class Small:
    """Identification: counts so small that they point at a person."""

    most: int = _key(2, "counts from 1 to this are small", least=1)
    width: int = _key(3, "beta: upper minus lower bound that every small count must keep")


@dataclass(frozen=True)
class Sample:
    """Data that are a sample: a small count may be large in the population."""

    check: bool = _key(False, "are small counts guarded only if they are small in the population?")
    chance: float = _key(
        0.05, "guarded from this probability on that the population count is small", most=1
    )
    model: str = _key("negative-binomial", "of population counts: negative-binomial or a formula")


@dataclass(frozen=True)
class Closeness:
    """Bounds too close to the true count, whatever its size."""

    share: float = _key(
        0.0, "an interval must reach this share of a count away from it; 0 switches it off", most=1
    )


@dataclass(frozen=True)
class Attribute:
    """Attribute disclosure: what is learned of every member of a group."""

    check: bool = _key(True, "is attribute disclosure checked?")
    share: float = _key(
        0.95, "a lower bound of this share of a group tells the category of its members", most=1
    )
    exclusion: bool = _key(True, "does it count that a category is ruled out for a group?")
    order: int = _key(4, "groups by up to this many variables are checked across margins", least=1)


@dataclass(frozen=True)
class Bounds:
    """How intervals are found, and what is accepted as proof."""

    method: str = _key(
        "auto",
        "auto, closed, shuttle, linear or integer",
        choices=("auto", "closed", "shuttle", "linear", "integer"),
    )
    accept_outer: bool = _key(
        False, "true: intervals that are not proven tight are accepted as wide enough"
    )
    seconds: float = _key(600.0, "time for one set of linear or integer programs")
    witness_seconds: float = _key(
        60.0, "time to look for tables that prove a width; 0 switches it off"
    )
    gigabytes: float = _key(4.0, "memory for the shuttle")


@dataclass(frozen=True)
class Tables:
    """The number of tables that fit: the intruder's doubt about the whole table."""

    least: int = _key(0, "at least so many tables must fit the release; 0 switches it off")
    seconds: float = _key(10.0, "time to count them")


@dataclass(frozen=True)
class Belief:
    """What an intruder believes: an interval can be wide and its true count nearly certain."""

    most: float = _key(
        0.0, "no true small count may be this probable or more; 0 switches it off", most=1
    )
    identified: float = _key(
        1.0,
        "at most this share of the small counts may be guessed right; 1 switches it off",
        most=1,
    )
    threshold: float = _key(0.0, "an intruder acts on a guess of at least this probability", most=1)
    people: float = _key(0.0, "at most so many people identified, on average; 0 switches it off")
    true_table: float = _key(
        1.0, "the true table may have at most this probability; 1 switches it off", most=1
    )
    attribute: float = _key(
        0.0, "no group's true category may be this probable or more; 0 switches it off", most=1
    )
    entropy: float = _key(0.0, "nats that the belief about the table must keep; 0 switches it off")
    zeros: bool = _key(False, "are zeros small counts too?")
    model: str = _key("saturated", "of the intruder: saturated, uniform, average, or a formula")
    prior: float = _key(0.5, "Dirichlet parameter of each cell, above 0")
    standard_error: float = _key(0.002, "of sampled probabilities")
    seconds: float = _key(60.0, "time for the beliefs")

    @property
    def asked(self) -> bool:
        """Is any of the limits on?"""
        limits = (self.most, self.people, self.entropy, self.attribute)
        return any(limits) or self.identified < 1 or self.true_table < 1


@dataclass(frozen=True)
class Knowledge:
    """What a table teaches about one person: the uncertainty that must be left."""

    target: str = _key("", "the variable that an intruder wants to know; empty switches it off")
    group: str = _key("", "what is known of the person: a variable, or A*B")
    uncertainty: str = _key("largest", "largest, entropy, variance, weighted:..., two-sided:A:B")
    measure: str = _key(
        "knowledge",
        "knowledge: at least the limit is left; gain, relative-gain: at most it is gone",
        choices=("knowledge", "gain", "relative-gain"),
    )
    limit: float = _key(0.0, "of what is measured")


@dataclass(frozen=True)
class Alternatives:
    """What is offered when a release does not pass."""

    number: int = _key(3, "how many to offer of each kind")
    seconds: float = _key(60.0, "time for the search")


@dataclass(frozen=True)
class Server:
    """What a table server answers, and how."""

    rule: str = _key(
        "static",
        "static: a frontier chosen once; myopic: what is safe with all that is out; simulatable: "
        "what is safe as far as the public can tell",
        choices=("static", "myopic", "simulatable"),
    )
    approval: str = _key(
        "review",
        "what a custodian must approve: never (doubt is refused), review (doubt), always",
        choices=("never", "review", "always"),
    )
    one_way: bool = _key(True, "are the one-way margins out from the start?")
    curated: bool = _key(False, "can only margins be asked for that the custodian has listed?")
    max_order: int = _key(0, "most variables of a margin; 0: any number")
    cells: int = _key(100_000, "most cells of a table that is answered", least=1)
    step_variables: int = _key(
        0, "most variables of a request beyond a released margin in it; 0: any number"
    )
    step_cells: int = _key(0, "most cells that a request may newly publish; 0: any number")
    quota: int = _key(0, "new tables for one user in a day; 0: any number")
    delta: float = _key(0.05, "simulatable: most probability of an unsafe answer", most=1)
    draws: int = _key(400, "simulatable: tables drawn to judge a request", least=2)
    slot: float = _key(
        0.25, "seconds: decisions by the data leave after this, or twice, four times, ... as much"
    )


SECTIONS: dict[str, Any] = {
    "small": Small,
    "sample": Sample,
    "closeness": Closeness,
    "attribute": Attribute,
    "tables": Tables,
    "bounds": Bounds,
    "belief": Belief,
    "knowledge": Knowledge,
    "alternatives": Alternatives,
    "server": Server,
}


@dataclass(frozen=True)
class Policy:
    """Every threshold that a verdict rests on; `locked` says which are fixed, and by whom.

    >>> Policy.of({"small.width": 5}).small.width
    5
    """

    name: str = "discreet's defaults"
    small: Small = field(default_factory=Small)
    sample: Sample = field(default_factory=Sample)
    closeness: Closeness = field(default_factory=Closeness)
    attribute: Attribute = field(default_factory=Attribute)
    tables: Tables = field(default_factory=Tables)
    bounds: Bounds = field(default_factory=Bounds)
    belief: Belief = field(default_factory=Belief)
    knowledge: Knowledge = field(default_factory=Knowledge)
    alternatives: Alternatives = field(default_factory=Alternatives)
    server: Server = field(default_factory=Server)
    locked: Mapping[str, str] = field(default_factory=dict)

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
        """What `to_toml` wrote."""
        return cls()._merged(tomllib.loads(text), "policy")

    def _read(self, path: Path, above: tuple[Path, ...]) -> Policy:
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise PolicyError(f"cannot read the policy {str(path)!r}: {error}.") from error
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
        changed = self.change(_flat(content))
        for key in locked:
            _find(key)
        return dataclasses.replace(
            changed, name=str(name), locked={key: str(name) for key in locked} | dict(self.locked)
        )

    def change(self, changes: Mapping[str, Any]) -> Policy:
        """The policy with some keys changed; a locked key refuses another value."""
        policy = self
        for key, value in changes.items():
            section, entry = _find(key)
            value = _checked(key, value, entry)
            part = getattr(policy, section)
            if key in self.locked and value != getattr(part, entry.name):
                raise PolicyError(
                    f"{key} is locked at {getattr(part, entry.name)!r} by the policy "
                    f"{self.locked[key]!r}; it cannot be set to {value!r}."
                )
            part = dataclasses.replace(part, **{entry.name: value})
            policy = dataclasses.replace(policy, **{section: part})
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
        return self.change(changes)

    def to_dict(self) -> dict[str, Any]:
        """Every key and its value."""
        return {key: getattr(getattr(self, s), e.name) for key, (s, e) in _keys().items()}

    def to_toml(self) -> str:
        """The policy as a file, with what each key means."""
        lines = [f"name = {_toml(self.name)}", f"locked = {_toml(sorted(self.locked))}", ""]
        for name, section in SECTIONS.items():
            lines += [f"[{name}]  # {section.__doc__}"]
            for entry in dataclasses.fields(section):
                value = _toml(getattr(getattr(self, name), entry.name))
                lines.append(f"{entry.name} = {value}  # {entry.metadata['says']}")
            lines.append("")
        return "\n".join(lines)


def _keys() -> dict[str, tuple[str, dataclasses.Field[Any]]]:
    return {
        f"{name}.{entry.name}": (name, entry)
        for name, section in SECTIONS.items()
        for entry in dataclasses.fields(section)
    }


def _find(key: object) -> tuple[str, dataclasses.Field[Any]]:
    keys = _keys()
    if key in keys:
        return keys[str(key)]
    near = difflib.get_close_matches(str(key), keys, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(keys)}."
    raise PolicyError(f"a policy has no key {key!r}; {hint}")


def _flat(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _checked(key: str, value: Any, entry: dataclasses.Field[Any]) -> Any:
    kind = type(entry.default)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise PolicyError(f"{key} = {value!r} must be {_KINDS[kind]}.")
    meta = entry.metadata
    if choices := meta.get("choices"):
        if value not in choices:
            raise PolicyError(f"{key} = {value!r} must be one of {', '.join(choices)}.")
    elif kind in (int, float) and not (
        value >= meta["least"] and (meta["most"] is None or value <= meta["most"])
    ):
        most = "" if meta["most"] is None else f" and at most {meta['most']}"
        raise PolicyError(f"{key} = {value!r} must be at least {meta['least']}{most}.")
    return value


_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)
