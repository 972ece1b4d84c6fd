"""Puts the public names of modules where a page asks for them, for mkdocstrings to describe."""

import re
from importlib import import_module
from typing import Any

ASKED = re.compile(r"<!-- names of ([\w.]+) -->")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Each name once; where a module repeats one, a link to it."""
    seen: set[str] = set()
    return ASKED.sub(lambda asked: described(asked[1], seen), markdown)


def described(module: str, seen: set[str]) -> str:
    found = import_module(module)
    homes = {name: home_of(found, name) for name in found.__all__}
    again = [name for name in homes if homes[name] in seen]
    fresh = [name for name in homes if homes[name] not in seen]
    seen.update(homes.values())
    blocks = [] if module == "discreet.core" else [found.__doc__ or ""]
    if again:
        links = ", ".join(f"[`{name}`][{homes[name]}]" for name in again)
        blocks.append(f"Described above: {links}.")
    return "\n\n".join([*blocks, *(f"::: {homes[name]}" for name in fresh)])


def home_of(module: Any, name: str) -> str:
    found = getattr(module, name)
    return f"{found.__module__}.{found.__qualname__}"
