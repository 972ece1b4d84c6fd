"""How commands show a result: as a page in the terminal, as an HTML file, or as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from discreet.cli.again import again
from discreet.cli.options import Command, data_file, json_option, print_json


def writable(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
    """The path, refused before long work if nothing can be written there."""
    from discreet.data.files import check_writable

    if path:
        check_writable(path)
    return path


def page_options(command: Command) -> Command:
    """`--html` and `--json`."""
    html_option = click.option(
        "--html",
        metavar="OUT",
        callback=writable,
        help="Write the report, one self-contained file.",
    )
    return html_option(json_option(command))


def show(
    result: Any,
    *,
    html: str | None,
    document: Mapping[str, Any] | None = None,
    data: str | None = None,
    private: bool = False,
    **options: Any,
) -> None:
    """Write the page of a result if that is asked for; print its JSON document, or the page.

    `data` is what the result is of; the options are those of the page. Both say how it is done
    again; the document does not if what was typed is `private`, as a seed that undoes a mask.
    """
    how = again(click.get_current_context())
    if html or document is None:
        from discreet.look.pages import page_of

        page = page_of(result, **options | ({"data": data_file(data)} if data else {}))
    if html:
        from discreet.data.files import write_text
        from discreet.report.html import html_page

        write_text(html, html_page(replace(page, again=how)))
    if document is not None:
        print_json({**document, **({"again": how} if how and not private else {})})
        return
    from rich.console import Console

    from discreet.report.terminal import print_page

    print_page(page, Console(highlight=False))
    if html:
        click.echo(f"Report: {html}")
