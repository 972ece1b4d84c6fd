"""`discreet`: the group of commands, and how errors and interrupts end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any

import click

from discreet.cli.assess import assess_command
from discreet.cli.bounds import bounds_command
from discreet.cli.count import count_command
from discreet.cli.diff import diff_command
from discreet.cli.examples import examples_command
from discreet.cli.frontier import frontier_command
from discreet.cli.policy import policy_command
from discreet.cli.widths import widths_command
from discreet.errors import DisclosureError


class WrongInput(click.ClickException):
    """One sentence on standard error, exit code 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"discreet: {self.message}", err=True)


class Commands(click.Group):
    """Commands whose errors are sentences and whose interruption leaves nothing behind."""

    def invoke(self, ctx: click.Context) -> Any:
        with insistent_interrupts():
            try:
                return super().invoke(ctx)
            except DisclosureError as error:
                raise WrongInput(str(error)) from error
            except KeyboardInterrupt:
                _stop_insisting()
                click.echo("discreet: interrupted; nothing was written.", err=True)
                ctx.exit(130)


@contextmanager
def insistent_interrupts() -> Iterator[None]:
    """A Ctrl-C that a compiler's callback swallows comes again until it arrives."""
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return
    before = {s: signal.signal(s, _interrupt) for s in (signal.SIGINT, signal.SIGALRM)}
    shown = sys.unraisablehook

    def quiet(lost: Any) -> None:
        if lost.exc_type is not KeyboardInterrupt:
            shown(lost)

    sys.unraisablehook = quiet
    try:
        yield
    finally:
        _stop_insisting()
        sys.unraisablehook = shown
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> None:
    signal.setitimer(signal.ITIMER_REAL, 2.0)
    raise KeyboardInterrupt


def _stop_insisting() -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Example: discreet assess example:tract --release "Race*Income + Income*Gender"',
)
@click.version_option(package_name="discreet")
def main() -> None:
    """Decide what can be published from confidential data.

    DATA is a CSV or Parquet file of records, or of cells with --count COLUMN, or example:NAME,
    or a database URL with --table NAME. Exit code 0: PASS or done; 1: REVIEW or FAIL; 2: wrong
    input.
    """


for command in (
    assess_command,
    bounds_command,
    count_command,
    diff_command,
    examples_command,
    frontier_command,
    policy_command,
    widths_command,
):
    main.add_command(command)
