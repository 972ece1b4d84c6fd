"""The rules that a policy can ask: one file each; other packages add theirs by an entry point."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from discreet.decision.law.rule import Rule
from discreet.errors import PolicyError

if TYPE_CHECKING:
    from discreet.decision.law.policy import Policy

GROUP = "discreet.rules"
_added: list[Rule] = []


def rules() -> tuple[Rule, ...]:
    """Every rule there is, in the order in which they speak."""
    found = (*_shipped(), *_added)
    return tuple(sorted(found, key=lambda rule: (rule.place, rule.name)))


def asked(policy: Policy) -> tuple[Rule, ...]:
    """The rules that a policy asks."""
    return tuple(rule for rule in rules() if rule.asked(policy))


def promises(policy: Policy) -> list[str]:
    """What a policy asks of all that is out together, in words for everybody."""
    return [said for rule in asked(policy) for said in rule.promises(policy)]


def register(rule: Rule) -> None:
    """Add a rule; every verdict from now on asks it."""
    _check_new(rule, rules())
    _added.append(rule)


@contextmanager
def registered(rule: Rule) -> Iterator[None]:
    """With one more rule, for as long as the block lasts."""
    register(rule)
    try:
        yield
    finally:
        _added.remove(rule)


@cache
def _shipped() -> tuple[Rule, ...]:
    """`RULE` of every module here, and the rules of other packages."""
    modules = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    found = [importlib.import_module(name).RULE for name in modules]
    for entry in entry_points(group=GROUP):
        rule = entry.load()
        if not isinstance(rule, Rule):
            raise PolicyError(f"the entry point {entry.name!r} of {GROUP} is no rule.")
        _check_new(rule, found)
        found.append(rule)
    return tuple(found)


def _check_new(rule: Rule, others: Iterable[Rule]) -> None:
    for known in others:
        if known.name == rule.name or (rule.section and known.section == rule.section):
            raise PolicyError(f"there is a rule {known.name!r} already; give {rule!r} other names.")
