"""How a command ends: 0 and 1 are verdicts, whatever else happens."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from discreet.cli.interrupts import CODE, interrupted, say_interrupted
from discreet.errors import DisclosureError, WrongKind

CLOSED = 141
DEBUG = "DISCREET_DEBUG"


class Ended(click.ClickException):
    """One sentence on standard error."""

    def show(self, file: Any = None) -> None:
        say(self.message)


class WrongInput(Ended):
    exit_code = 2


class Unfinished(Ended):
    """A defect, or too little memory."""

    exit_code = 3


class Interrupted(Ended):
    exit_code = CODE

    def show(self, file: Any = None) -> None:
        say_interrupted()


def say(sentence: str) -> None:
    """On standard error."""
    click.echo(f"discreet: {sentence}", err=True)


@contextmanager
def spoken_warnings() -> Iterator[None]:
    """A warning of this program is a sentence, said once, without a path; one of a library is for
    those who look for a defect."""
    shown, said = warnings.showwarning, set[str]()

    def speak(message: Any, category: Any, *place: Any, **more: Any) -> None:
        if not category.__module__.startswith("discreet."):
            if _debugging():
                shown(message, category, *place, **more)
        elif (sentence := str(message)) not in said:
            said.add(sentence)
            say(sentence)

    warnings.showwarning = speak
    try:
        yield
    finally:
        warnings.showwarning = shown


@contextmanager
def closed_pipes() -> Iterator[None]:
    """Whoever reads the output may close it: that is no verdict, wherever it is noticed."""
    try:
        yield
    except BrokenPipeError:
        _let_go()
        raise SystemExit(CLOSED) from None
    except SystemExit as ended:
        if ended.code == CLOSED or isinstance(ended.__context__, BrokenPipeError):
            _let_go()
            raise SystemExit(CLOSED) from None
        raise


def _let_go() -> None:
    """What is still to be written goes nowhere, or it would be an error at the very end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError):  # closed, or no file
            pass
    os.close(nowhere)


@contextmanager
def endings() -> Iterator[None]:
    """Whatever is raised gets its sentence and its exit code."""
    try:
        with _sentences():
            yield
    except click.exceptions.Exit:
        raise
    except BaseException:
        if interrupted():  # and turned into another error on its way
            raise Interrupted("interrupted") from None
        raise


@contextmanager
def _sentences() -> Iterator[None]:
    try:
        yield
    except (click.UsageError, click.exceptions.Exit):
        raise
    except WrongKind as error:
        raise WrongInput(error.typed) from error
    except DisclosureError as error:
        raise WrongInput(str(error)) from error
    except click.ClickException as error:
        raise WrongInput(error.format_message()) from error
    except (KeyboardInterrupt, click.Abort):
        raise Interrupted("interrupted") from None
    except MemoryError as error:
        _show_traceback()
        what = f" ({error})" if str(error) else ""
        raise Unfinished(
            f"the memory does not suffice{what}; classify by fewer variables or take a larger "
            "machine."
        ) from error
    except (Exception, SystemExit) as error:
        if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):
            raise click.exceptions.Exit(CLOSED) from None  # the reader has seen enough
        if isinstance(error, SystemExit) and error.code not in (0, 1, None):
            raise
        _show_traceback()
        first = (str(error).strip().splitlines() or [""])[0]
        raise Unfinished(
            f"this is a defect of discreet: {type(error).__name__}: {first}; run again with "
            f"{DEBUG}=1 for the traceback, and report it."
        ) from error


def _show_traceback() -> None:
    if _debugging():
        click.echo(traceback.format_exc(), err=True, nl=False)


def _debugging() -> bool:
    return os.environ.get(DEBUG, "0") not in ("", "0")
