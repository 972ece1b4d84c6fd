"""What can go wrong, said so that it can be repaired."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Iterable


def alike(name: object, known: Iterable[str], least: float = 0.6) -> str | None:
    """The known name that is written much like this one, whatever the capitals."""
    folded = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(str(name).casefold(), folded, 1, least)
    return folded[close[0]] if close else None


def near(name: object, known: Iterable[str], there: str = "there are", most: int = 10) -> str:
    """The name that was meant, or those that there are.

    >>> near("Regoin", ["Region", "Sex"]), near("q", ["Region", "Sex"])
    ("did you mean 'Region'?", 'there are Region, Sex.')
    """
    known = list(known)
    if (found := alike(name, known)) is not None:
        return f"did you mean {found!r}?"
    return f"{there} {', '.join(known[:most])}." if known else "there is none."


def reason(error: Exception) -> str:
    """Why a file cannot be read or written."""
    return str(getattr(error, "strerror", None) or error).lower()


class DisclosureError(Exception):
    """Wrong input: one sentence that names the value and the repair.

    Its children say what is wrong: data, a codebook, a formula, a release, a policy, a solver.

    >>> import discreet as dc
    >>> try:
    ...     dc.load("example:tracts")
    ... except dc.DisclosureError as error:
    ...     print(error)
    there is no example 'tracts'; there are tract, estates, czech, blond, nltcs.
    """


class DataError(DisclosureError):
    """Records or cells that cannot be read as they are."""


class WrongKind(DataError):
    """Data that may not be what they are read as: cells, totals or a cross-tab taken for people.

    The sentence names arguments of Python; `typed` is the same with options of the command line.

    >>> error = WrongKind(lambda say: f"say {say('count', 'n')} or {say('records', True)}.")
    >>> print(error, error.typed)
    say count='n' or records=True. say --count n or --records.
    """

    def __init__(self, sentence: Callable[[Callable[[str, object], str]], str]) -> None:
        super().__init__(sentence(lambda name, value: f"{name}={value!r}"))
        self.typed = sentence(_option)


def _option(name: str, value: object) -> str:
    if (name, value) == ("totals", "drop"):
        return "--drop-totals"
    return f"--{name}" if value is True else f"--{name} {shlex.quote(str(value))}"


class OptionError(DataError):
    """An option of a mask that means nothing: an unknown name, or a value that it cannot have."""


class CodebookError(DisclosureError):
    """A codebook, hierarchy or category that does not fit the data."""


class FormulaError(DisclosureError):
    """A release formula that cannot be read."""


class InconsistentRelease(DisclosureError):
    """Published values that no table has."""


class PolicyError(DisclosureError):
    """A policy file with a wrong key, value or an attempt on a locked key."""


class SolverError(DisclosureError):
    """A program that could not be solved within its limits."""


class Stopped(DisclosureError):
    """Work that a limit ended before there was an answer: a rule that asks for it is in doubt."""


class TooLarge(DataError, Stopped):
    """A question whose answer takes more work than any limit allows."""


class LedgerError(DisclosureError):
    """A ledger that cannot be opened, is not empty where it must be, or was tampered with."""


class OutputError(DisclosureError):
    """A file that cannot be written."""


class WorkersLost(UserWarning):
    """Workers that were to share the work and did not: the answer is the same, only later."""


class ConvergenceWarning(UserWarning):
    """Draws that are not yet what they should be."""
