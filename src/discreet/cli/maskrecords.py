"""`discreet mask` of records: one mask, judged as `discreet compare` does."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, NoReturn

import click

from discreet.cli.compare import finish, reading

if TYPE_CHECKING:
    from discreet.decision.law.policy import Policy


def mask_records(
    ctx: click.Context,
    method: str,
    options: tuple[str, ...],
    policy: Policy,
    *,
    data: str,
    keys: str | None,
    sensitive: str | None,
    seed: int | None,
    out: str | None,
    intruder: str | None,
    force: bool,
    html: str | None,
    as_json: bool,
    household: str | None,
    weight: str | None,
    **more: Any,
) -> NoReturn:
    """Make one mask of a file, judge it, write it, and exit by the verdict."""
    from discreet.decision.compare.compare import compare
    from discreet.errors import DataError

    for name in (
        "tables",
        "release",
        "released",
        "value",
        "holding",
        "shadow",
        "request",
        "unsafe",
    ):
        if more.get(name):
            raise DataError(f"--{name} is for tables, and {method} masks records; leave it out.")
    given_options = dict(map(option, options))
    if odd := sorted({"method", "name", "chain"} & set(given_options)):
        raise DataError(f"--with {odd[0]} is no option of {method}; leave it out.")
    content: dict[str, Any] = {"masks": [{"method": method, **given_options}]}
    given: dict[str, Any] = {"household": household, "weight": weight, "seed": seed}
    given |= {"keys": _names(keys), "sensitive": _names(sensitive)}
    content |= {name: value for name, value in given.items() if value is not None}
    found = compare(data, content, policy, **reading({"data": data, **more}, of_table=False))
    finish(
        ctx, found,
        out=out, intruder=intruder, force=force, name=method, html=html, as_json=as_json,
    )  # fmt: skip
    raise AssertionError("finish exits")


def option(given: str) -> tuple[str, Any]:
    """KEY=VALUE as TOML has it; a word is text, and several are a list.

    >>> option("k=3"), option("columns=age,sex"), option("levels={age=1}")
    (('k', 3), ('columns', ['age', 'sex']), ('levels', {'age': 1}))
    """
    from discreet.errors import DataError

    name, sign, value = given.partition("=")
    if not sign or not name.strip():
        raise DataError(f"--with {given!r} is no KEY=VALUE; write like k=3.")
    try:
        return name.strip(), tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError:
        words = [word.strip() for word in value.split(",")]
        if any(c in value for c in "[]{}\"'"):
            raise DataError(
                f"--with {given!r}: {value!r} is no TOML; check the brackets."
            ) from None
        return name.strip(), words if len(words) > 1 or name.strip() == "columns" else value


def _names(given: str | None) -> list[str] | None:
    return [name.strip() for name in given.split(",")] if given else None
