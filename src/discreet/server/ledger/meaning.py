"""What the data of a data set mean: all that is said of its variables, as one text with a hash.

The same counts are judged otherwise if a variable is no longer sensitive, or if other combinations
are impossible. The ledger keeps the text that a custodian answers for, and its hash in every entry.

    {"variables": [{"name": "Town", "categories": ["Ash", ...], "role": "identifying",
                    "sensitive": [...], "hierarchy": [["Ash", "North"], ...],
                    "values": [["0 to 17", 0, 18], ...]}, ...],
     "within": [["Town", "Region"]],
     "impossible": [{"variables": ["Sex", "Births"], "combinations": [["male", "1"], ...]}],
     "others_can_occur": true, "sampling_fraction": 0.1, "weights": ..., "count": ...,
     "missing": "drop", "missing_values": [...], "previous": ...}

What there is nothing to say about is left out, so that a later version with further keys gives the
same text where these say nothing.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from hashlib import sha256
from typing import Any

from discreet.data.codebook import Codebook, Missing
from discreet.data.previous import Previous
from discreet.data.variable import Role, Variable
from discreet.look.words import both, listed, number, plural
from discreet.server.ledger.schema import canonical
from discreet.table.impossible import Combination, by_names, spelled
from discreet.table.table import Table

MOST_LISTED = 2_000  # combinations of the same variables; of more the text has a hash
NAMED = 5  # categories or combinations in a sentence
OTHER = "What the codebook says of the data was changed."
ROLES = {
    Role.BOTH: "identifying and sensitive",
    Role.UNSTATED: "of no stated role",
}
OF_A_VARIABLE = {"name", "categories", "role", "sensitive", "hierarchy", "values"}
SENTENCES = {"variables", "within", "impossible", "others_can_occur"}
Content = Mapping[str, Any]


@dataclass(frozen=True)
class Meaning:
    """What the data mean, as canonical JSON.

    >>> from discreet.table.load import load
    >>> meaning = Meaning.of(load("example:tract"))
    >>> meaning
    Meaning(d4d000cc)
    >>> meaning.content["variables"][0]
    {'categories': ['Male', 'Female'], 'name': 'Gender', 'role': 'identifying'}
    """

    text: str

    def __repr__(self) -> str:
        return f"Meaning({self.hash[:8]})"

    @classmethod
    def of(cls, table: Table, book: Codebook | None = None, *, count: str | None = None) -> Meaning:
        """What a table says by itself, with what only its codebook says.

        `count` is the column that the counts came from.
        """
        book = Codebook() if book is None else book
        said = {
            "variables": [_variable(variable) for variable in table.variables],
            "within": sorted(map(list, table.nestings)),
            "impossible": _combinations(table.impossible),
            "others_can_occur": any(coding.denied for coding in table.codings),
            "sampling_fraction": table.sampling_fraction,
            "weights": book.weights,
            "count": count,
            "missing": None if book.missing is Missing.CATEGORY else book.missing,
            "missing_values": sorted(book.missing_values),
            "previous": {} if book.previous == Previous() else dataclasses.asdict(book.previous),
        }
        return cls(canonical(_plain(_without_nothing(said))))

    @cached_property
    def hash(self) -> str:
        return hash_of(self.text)

    @property
    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found

    def differences(self, newer: Meaning) -> tuple[str, ...]:
        """Sentences that name what is said otherwise in a newer one; none if nothing is.

        >>> import dataclasses
        >>> from discreet.table.load import load
        >>> table = load("example:tract")
        >>> income = dataclasses.replace(table.variables[2], role=Role.NEITHER)
        >>> changed = dataclasses.replace(table, variables=(*table.variables[:2], income))
        >>> Meaning.of(table).differences(Meaning.of(changed))
        ('Income was identifying and sensitive, and is neither.',)
        """
        if self.text == newer.text:
            return ()
        old, new = self.content, newer.content
        said = (
            *_changed_variables(old, new),
            *_changed_nestings(old, new),
            *_changed_combinations(old, new),
            *_changed_rest(old, new),
        )
        return said or (OTHER,)


def hash_of(text: str) -> str:
    """SHA-256 of the text of a meaning."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def stated(text: str) -> list[dict[str, Any]]:
    """The combinations that nobody can have, by their variables, as a text of a meaning says."""
    found: list[dict[str, Any]] = json.loads(text).get("impossible", [])
    return found


# The text


def _variable(variable: Variable) -> dict[str, Any]:
    """In an order that does not depend on how the codebook was written."""
    place = variable.categories.index
    tree = variable.hierarchy.pairs if variable.hierarchy else ()
    return _without_nothing(
        {
            "name": variable.name,
            "categories": variable.categories,
            "role": variable.role,
            "sensitive": sorted(variable.sensitive, key=place),
            "hierarchy": sorted(tree),
            "values": sorted(variable.values),
            "level_of": variable.level_of,
        }
    )


def _combinations(impossible: Iterable[Combination]) -> list[dict[str, Any]]:
    """By their variables; too many of them as a hash."""
    found = []
    for names, group in sorted(by_names(impossible).items()):
        cells = sorted([category for _, category in combination] for combination in group)
        many = {"number": len(cells), "sha256": hash_of(canonical(cells))}
        few = {"combinations": cells}
        found.append({"variables": names, **(few if len(cells) <= MOST_LISTED else many)})
    return found


def _without_nothing(said: Content) -> dict[str, Any]:
    return {key: value for key, value in said.items() if value}


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


# What changed


def _changed_variables(old: Content, new: Content) -> Iterator[str]:
    before, after = ({v["name"]: v for v in said.get("variables", ())} for said in (old, new))
    for name in before.keys() - after.keys():
        yield f"{name} is no variable any more."
    for name in after:
        if name not in before:
            yield f"{name} is a variable now."
        else:
            yield from _changed_variable(name, before[name], after[name])


def _changed_variable(name: str, old: Content, new: Content) -> Iterator[str]:
    if old["role"] != new["role"]:
        yield f"{name} was {_role(old)}, and is {_role(new)}."
    if old["categories"] != new["categories"]:
        yield f"{name} has other categories, or in another order."
    if old.get("sensitive") != new.get("sensitive"):
        yield f"Sensitive of {name} was {_sensitive(old)}, and is {_sensitive(new)}."
    yield from _changed_groups(name, dict(old.get("hierarchy", ())), dict(new.get("hierarchy", ())))
    before, after = (
        {category: (low, high) for category, low, high in said.get("values", ())}
        for said in (old, new)
    )
    if others := [c for c in {**before, **after} if before.get(c) != after.get(c)]:
        yield f"The numbers that categories of {name} stand for changed: {listed(others, NAMED)}."
    keys = (old.keys() | new.keys()) - OF_A_VARIABLE
    if others := [key for key in sorted(keys) if old.get(key) != new.get(key)]:
        yield f"Of {name}, {both(others)} changed."


def _role(variable: Content) -> str:
    role = Role(variable["role"])
    return ROLES.get(role, role.value)


def _sensitive(variable: Content) -> str:
    """Which categories are guarded."""
    if not Role(variable["role"]).is_sensitive:
        return "nothing"
    return listed(variable.get("sensitive", ()), NAMED) or "every category"


def _changed_groups(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    if bool(old) != bool(new):
        yield f"The categories of {name} are {'merged now' if new else 'not merged any more'}."
        return
    others = [code for code in {**old, **new} if old.get(code) != new.get(code)]
    for code in others[:NAMED]:
        was, is_ = (
            f"in {groups[code]}" if code in groups else "in no group" for groups in (old, new)
        )
        yield f"{code} of {name} was {was}, and is {is_}."
    if len(others) > NAMED:
        yield f"{number(len(others) - NAMED)} more categories of {name} are in other groups."


def _changed_nestings(old: Content, new: Content) -> Iterator[str]:
    before, after = ({tuple(pair) for pair in said.get("within", ())} for said in (old, new))
    for inner, outer in sorted(before - after):
        yield f"{inner} lies within {outer} no more."
    for inner, outer in sorted(after - before):
        yield f"{inner} lies within {outer} now."


def _changed_combinations(old: Content, new: Content) -> Iterator[str]:
    before, after = (
        {tuple(group["variables"]): group for group in said.get("impossible", ())}
        for said in (old, new)
    )
    for names in sorted(before.keys() | after.keys()):
        was, is_ = before.get(names, {}), after.get(names, {})
        if was == is_:
            continue
        if "sha256" in was or "sha256" in is_:
            counts = [_number(group) for group in (was, is_)]
            yield (
                f"Of {both(names)} other combinations are impossible: "
                f"{plural(counts[0], 'combination')} before, {number(counts[1])} now."
            )
            continue
        gone, fresh = _beyond(names, was, is_), _beyond(names, is_, was)
        for cells, when in ((gone, "impossible no more"), (fresh, "impossible now")):
            if cells:
                verb = "is" if len(cells) == 1 else "are"
                yield f"{'; '.join(cells[:NAMED])}{_more(cells)} {verb} {when}."
    if old.get("others_can_occur") != new.get("others_can_occur"):
        can = "can occur" if new.get("others_can_occur") else "are not said to occur any more"
        yield f"Combinations that nobody has in the data {can}."


def _number(group: Content) -> int:
    return int(group.get("number", len(group.get("combinations", ()))))


def _beyond(names: Iterable[str], group: Content, other: Content) -> list[str]:
    """The combinations of one group that the other has not."""
    known = {tuple(cell) for cell in other.get("combinations", ())}
    cells = [tuple(cell) for cell in group.get("combinations", ())]
    return [spelled(tuple(zip(names, cell, strict=True))) for cell in cells if cell not in known]


def _more(cells: list[str]) -> str:
    return f" and {number(len(cells) - NAMED)} more" if len(cells) > NAMED else ""


def _changed_rest(old: Content, new: Content) -> Iterator[str]:
    """Weights, the count, missing values, and whatever has no sentence of its own."""
    for key in sorted((old.keys() | new.keys()) - SENTENCES):
        if old.get(key) != new.get(key):
            was, is_ = (_shown(said.get(key)) for said in (old, new))
            yield f"{key} was {was}, and is {is_}."


def _shown(value: Any) -> str:
    if value is None:
        return "not said"
    if isinstance(value, list):
        return listed([str(one) for one in value], NAMED)
    return value if isinstance(value, str) else canonical(value)
