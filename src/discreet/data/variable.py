"""A named axis: its categories in order, and what it can do to a person."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from discreet.data.frames import label
from discreet.data.hierarchy import Hierarchy
from discreet.data.smallfiles import first_twice
from discreet.errors import CodebookError
from discreet.look.notebook import Rows
from discreet.look.result import Shown


class Role(StrEnum):
    """What a variable can do to a person; `UNSTATED` is treated as `BOTH`.

    >>> import discreet as dc
    >>> [role.value for role in dc.codebooks.Role]
    ['identifying', 'sensitive', 'both', 'neither', 'unstated']
    >>> dc.codebooks.Role.UNSTATED.identifies, dc.codebooks.Role.SENSITIVE.identifies
    (True, False)
    """

    IDENTIFYING = "identifying"
    SENSITIVE = "sensitive"
    BOTH = "both"
    NEITHER = "neither"
    UNSTATED = "unstated"

    @property
    def identifies(self) -> bool:
        """Can somebody who knows the person observe it?"""
        return self in (Role.IDENTIFYING, Role.BOTH, Role.UNSTATED)

    @property
    def is_sensitive(self) -> bool:
        """Would the person mind if it were learned?"""
        return self in (Role.SENSITIVE, Role.BOTH, Role.UNSTATED)


@dataclass(frozen=True)
class Variable(Shown):
    """A named axis: its categories in order, and what it can do to a person.

    >>> import discreet as dc
    >>> income = dc.load("example:tract").variables[2]
    >>> income.name, income.size, income.role.value
    ('Income', 3, 'both')
    >>> income.code(income.categories[1])
    1
    """

    name: str
    categories: tuple[str, ...]
    role: Role = Role.UNSTATED
    sensitive: tuple[str, ...] = ()
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    values: tuple[tuple[str, float, float], ...] = field(default=(), repr=False)  # low and high
    level_of: str | None = field(default=None, repr=False)  # the variable that it is a level of

    def __post_init__(self) -> None:
        if not self.categories:
            raise CodebookError(f"variable {self.name!r} has no categories; list at least one.")
        if twice := first_twice(self.categories):
            raise CodebookError(
                f"variable {self.name!r} lists the category {twice!r} twice; list it once."
            )
        if strange := set(self.sensitive) - set(self.categories):
            raise CodebookError(
                f"{min(strange)!r} is called sensitive but is no category of {self.name!r}; "
                f"it has {', '.join(self.categories[:10])}."
            )
        check_sensitive(self.name, self.role, self.sensitive)

    def _shown_rows(self, most: int) -> Rows:
        shown = self.categories[:most]
        return Rows({"code": range(len(shown)), "category": shown}, self.size)

    @property
    def size(self) -> int:
        return len(self.categories)

    @property
    def base(self) -> str:
        """Its name; of a level that of the variable whose categories it merges."""
        return self.level_of or self.name

    @property
    def sensitive_codes(self) -> tuple[int, ...]:
        """The categories whose disclosure harms: those named, or all of a sensitive variable."""
        if not self.role.is_sensitive:
            return ()
        if not self.sensitive:
            return tuple(range(self.size))
        return tuple(self.categories.index(category) for category in self.sensitive)

    def code(self, category: object) -> int:
        """The place of a category among the categories."""
        try:
            return self.categories.index(label(category))
        except ValueError:
            raise CodebookError(
                f"{self.name!r} has no category {label(category)!r}; "
                f"it has {', '.join(self.categories[:10])}."
            ) from None

    def merged(self, groups: Iterable[object]) -> Variable:
        """The variable after each category was replaced by its group."""
        named = [str(group) for group in groups]
        if len(named) != self.size:
            raise CodebookError(
                f"{self.name!r} has {self.size} categories but {len(named)} groups; "
                "give each category its group."
            )
        kept = tuple(dict.fromkeys(named))
        group_of = dict(zip(self.categories, named, strict=True))
        sensitive = tuple(dict.fromkeys(group_of[category] for category in self.sensitive))
        alone = {name for name in kept if named.count(name) == 1 and name in self.categories}
        values = tuple(each for each in self.values if each[0] in alone)
        return dataclasses.replace(self, categories=kept, sensitive=sensitive, values=values)


def check_sensitive(name: str, role: Role, sensitive: Sequence[str]) -> None:
    """Sensitive categories are of a variable that is sensitive: else nothing would guard them."""
    if sensitive and not role.is_sensitive:
        also = Role.BOTH if role.identifies else Role.SENSITIVE
        raise CodebookError(
            f"{name!r} has the role {role.value!r}, and {sensitive[0]!r} of it is called "
            f"sensitive; both cannot be. Give it the role {also.value!r}, or take its sensitive "
            "categories out."
        )
