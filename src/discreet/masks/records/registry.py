"""Every mask of records, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import DataError
from discreet.masks.records.mask import Mask

MASKS: dict[str, type[Mask]] = {}


def mask_of(method: str, options: Mapping[str, Any]) -> Mask:
    """A mask by its name and options."""
    if method not in MASKS:
        raise DataError(f"there is no mask {method!r}; choose one of {', '.join(MASKS)}.")
    return MASKS[method].of(options)
