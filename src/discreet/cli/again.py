"""What a person types to get a report again: the command, every option in effect, the files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

TYPED = "discreet.typed"
SECRET = ("--secret",)
LEFT_OUT = "..."
# where the answer goes; none of them shapes it
OUTPUTS = ("html", "as_json", "export", "chart", "out", "force", "formats", "cache", "workers")
KNOWN = (*OUTPUTS, "data", "source", "intruder")  # written, or hashed already
ADDRESS = re.compile(r"(?i)://|\b(user|password|passwd|pwd)\s*=")


def typed(ctx: click.Context, args: Sequence[str]) -> None:
    """Keep what was typed, before it is parsed."""
    ctx.meta[TYPED] = list(args)


def again(ctx: click.Context) -> dict[str, Any] | None:
    """The command as it was typed, without passwords and secrets; the options in effect, those
    that were not typed included; the hash of each file that an option names."""
    if TYPED not in ctx.meta:
        return None
    from importlib.metadata import version

    return {
        "command": command_line(ctx.meta[TYPED]),
        "version": version("discreet"),
        "options": _options(ctx),
        "files": _files(ctx),
    }


def command_line(args: Sequence[str]) -> str:
    """Quoted for a shell.

    >>> command_line(["bounds", "postgresql://ann:secret@host/db", "--release", "A*B"])
    "discreet bounds postgresql://host/db --release 'A*B'"
    >>> command_line(["mask", "people.csv", "--secret", "sixteen letters or more"])
    'discreet mask people.csv --secret ...'
    """
    shown, secret = ["discreet"], False
    for arg in args:
        name, equals, _ = arg.partition("=")
        if secret:
            shown.append(LEFT_OUT)
        elif equals and name in SECRET:
            shown.append(f"{name}={LEFT_OUT}")
        else:
            shown.append(_without_password(arg))
        secret = not secret and arg in SECRET
    return shlex.join(shown).replace(f"'{LEFT_OUT}'", LEFT_OUT)


def _without_password(text: str) -> str:
    if not ADDRESS.search(text):
        return text
    from discreet.data.database import hidden

    return hidden(text)


def _options(ctx: click.Context) -> dict[str, Any]:
    """By the name of the option; what is not set is left out."""
    found: dict[str, Any] = {}
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        if parameter.name in OUTPUTS or value is None or value is False or value == ():
            continue
        name = parameter.opts[0].lstrip("-")
        if parameter.opts[0] in SECRET:
            found[name] = LEFT_OUT
        elif isinstance(value, tuple):
            found[name] = [_plain(each) for each in value]
        elif value != float("inf"):
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return _without_password(value)
    return value if isinstance(value, bool | int | float) else str(value)


def _files(ctx: click.Context) -> dict[str, str]:
    """Codebook, policy, list of tables, priors: whatever an option names and is a file."""
    from discreet.decision.law.assess import file_hash

    found = {}
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        if isinstance(parameter, click.Argument) or parameter.name in KNOWN:
            continue
        for each in value if isinstance(value, tuple) else (value,):
            path = each.removeprefix("@") if isinstance(each, str) else ""
            if path and _is_file(path):
                found[path] = file_hash(path)
    return found


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a name too long, or with a null
        return False
