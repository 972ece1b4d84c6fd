"""A key of a policy: its default, what it means, and what it can be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any


def key(
    default: Any, says: str, *, least: float = 0, most: float | None = None, **more: Any
) -> Any:
    """A key of a section: its default, what it means, and the range of its values."""
    return field(default=default, metadata={"says": says, "least": least, "most": most, **more})


def flattened(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Tables in tables as `section.key`."""
    flat: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            flat |= flattened(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def as_toml(value: Any) -> str:
    """A value as a policy file writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(as_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)
