"""No command writes over what it reads: one guard around them all."""

from __future__ import annotations

import functools
import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from discreet.cli.showing import writable

ADDRESSES = ("sqlite:///", "duckdb:///", "duckdb://", "sqlite://")


def guarded(command: click.Command) -> click.Command:
    """The command, which stops before it would write over a file that it is given to read."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            guarded(one)
    if (call := command.callback) is not None:

        @functools.wraps(call)
        def calling(*args: Any, **options: Any) -> Any:
            from discreet.data.files import check_unread, only_reading

            ctx = click.get_current_context()
            with only_reading(_inputs(ctx)):
                for path in _outputs(ctx):
                    check_unread(path)
                return call(*args, **options)

        command.callback = calling
    return command


def _outputs(ctx: click.Context) -> list[str]:
    return [text for one in ctx.command.params if _writes(one) for text in _texts(ctx, one)]


def _inputs(ctx: click.Context) -> list[Path]:
    """Whatever an option names that is there."""
    found = []
    for one in ctx.command.params:
        kept = one.name in ("checkpoint", "cache")  # the program's own, read and written
        if not (kept or _writes(one) or isinstance(one.type, click.Choice)):
            found += [path for text in _texts(ctx, one) for path in _there(text)]
    return found


def _writes(parameter: click.Parameter) -> bool:
    return parameter.callback is writable


def _texts(ctx: click.Context, parameter: click.Parameter) -> list[str]:
    value = ctx.params.get(parameter.name or "")
    return [each for each in (value if isinstance(value, tuple) else (value,)) if _is_text(each)]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _there(text: str) -> Iterator[Path]:
    """The files and folders behind a path, `@FILE`, a pattern, or the address of a file."""
    for address in ADDRESSES:
        text = text.removeprefix(address)
    for name in (text, text.removeprefix("@")):
        try:
            if Path(name).exists():
                yield Path(name)
                return
            if glob.has_magic(name):
                yield from map(Path, glob.iglob(name, recursive=True))
        except (OSError, ValueError):  # a name too long, or with a null
            return
