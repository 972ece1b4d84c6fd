"""The priors that a users file names: one, or a class whose worst counts."""

from __future__ import annotations

import math

from discreet.decision.users.measures import prior_name
from discreet.errors import DataError
from discreet.intruder.posterior.whole_table import Model
from discreet.table.formula import Formula
from discreet.table.table import Table

SATURATED = Model("saturated", seconds=math.inf)


def read_priors(given: object, where: str, table: Table) -> list[Model]:
    """The class of priors; none if the file says nothing.

    >>> from discreet.table.load import load
    >>> found = read_priors(["uniform", "saturated:1"], "Ann", load("example:tract"))
    >>> [prior_name(model) for model in found]
    ['uniform', 'saturated:1']
    """
    if given is None:
        return []
    listed = given if isinstance(given, list) else [given]
    if not listed:
        raise DataError(f"prior of {where} is an empty list; name at least one.")
    found = [_model(each, where, table) for each in listed]
    names = [prior_name(model) for model in found]
    if twice := [one for one in names if names.count(one) > 1]:
        raise DataError(f"prior of {where} has {twice[0]} twice; name it once.")
    return found


def _model(given: object, where: str, table: Table) -> Model:
    if not isinstance(given, str):
        raise DataError(
            f"prior of {where} has {given!r}; write uniform, saturated:ALPHA, release, average or "
            "the formula of a model."
        )
    name, _, rest = given.partition(":")
    if name == "saturated":
        try:
            alpha = float(rest) if rest else 0.5
        except ValueError:
            alpha = math.nan
        if not (alpha > 0 and math.isfinite(alpha)):
            raise DataError(f"prior of {where} has {given!r}; write saturated:0.5.")
        return Model("saturated", alpha, seconds=math.inf)
    if given not in ("uniform", "release", "average"):
        Formula.parse(given, table.names, files=False)
    return Model(given, seconds=math.inf)
