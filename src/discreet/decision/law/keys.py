"""A key of a policy: its default, what it means, and what it can be."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def key(
    default: Any, says: str, *, least: float = 0, most: float | None = None, **more: Any
) -> Any:
    """A key of a section: its default, what it means, and the range of its values."""
    return field(default=default, metadata={"says": says, "least": least, "most": most, **more})
