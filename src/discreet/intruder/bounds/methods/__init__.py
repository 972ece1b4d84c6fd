"""The methods for bounds: one file each, by whose name it is asked for."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, cast

from discreet.errors import DataError

if TYPE_CHECKING:
    from discreet.intruder.bounds.method import Method

METHODS = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def find_method(name: str) -> Method:
    """The method of that name, loaded where it is asked for."""
    if name not in METHODS:
        raise DataError(f"there is no method {name!r}; choose {', '.join(METHODS)}.")
    return cast("Method", importlib.import_module(f"{__name__}.{name}"))
