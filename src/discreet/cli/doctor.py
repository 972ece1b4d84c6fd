"""`discreet doctor`: what is there, what is missing for what, and whether one answer is right."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version

import click

from discreet.cli.options import json_option, print_json

# What an extra is for, and a package of it that nothing else brings along.
EXTRAS = {
    "formats": ("SPSS, Stata, SAS and R files", "pyreadstat"),
    "sdmx": ("data structures of SDMX", "pysdmx"),
    "polars": ("frames of polars", "polars"),
    "postgres": ("records in PostgreSQL", "psycopg"),
    "sqlite": ("records in SQLite", "regex"),
    "spark": ("records in Spark", "pyspark"),
    "delta": ("Delta tables", "deltalake"),
    "cluster": ("work on a dask cluster", "distributed"),
    "server": ("serve, ledger, accounts", "fastapi"),
    "redis": ("one limit for several servers", "redis"),
    "privacy": ("differentially private masks", "opendp"),
    "gpu": ("linear bounds on a GPU", "torch"),
}
PROGRAMS = {"markov": "Markov bases beyond the theorems (4ti2)"}
KNOWN = ("example:tract", "Race*Income + Income*Gender", "0-1")  # Male, Chinese, up to $10,000


@dataclass(frozen=True)
class Finding:
    """One line: what, whether it is there, and what follows."""

    what: str
    ok: bool
    needed: bool
    says: str

    @property
    def mark(self) -> str:
        return "✓" if self.ok else "✗" if self.needed else "-"


@click.command("doctor", epilog="Example: discreet doctor")
@json_option
@click.pass_context
def doctor_command(ctx: click.Context, as_json: bool) -> None:
    """Is everything there, and is a known answer right?

    Exit code 3: something that is needed is missing, or the known answer does not come out.
    """
    found = [*_packages(), *_extras(), *_programs(), *_places(), _known_answer()]
    well = all(line.ok for line in found if line.needed)
    if as_json:
        lines = [{"what": f.what, "ok": f.ok, "needed": f.needed, "says": f.says} for f in found]
        print_json({"well": well, "version": version("discreet"), "findings": lines})
    else:
        click.echo(f"discreet {version('discreet')}, Python {sys.version.split()[0]}")
        width = max(len(line.what) for line in found)
        for line in found:
            click.echo(f"{line.mark} {line.what:<{width}}  {line.says}")
        click.echo("All that is needed is there." if well else "Mend what is marked ✗.")
    ctx.exit(0 if well else 3)


def _packages() -> list[Finding]:
    from packaging.requirements import Requirement

    found = []
    for text in requires("discreet") or ():
        need = Requirement(text)
        if need.marker and not need.marker.evaluate({"extra": ""}):
            continue
        try:
            has = version(need.name)
        except PackageNotFoundError:
            says = "missing; install discreet again: pip install --force-reinstall discreet"
            found.append(Finding(need.name, False, True, says))
            continue
        fits = need.specifier.contains(has, prereleases=True)
        says = has if fits else f"{has}, and discreet needs {need.specifier}: pip install '{text}'"
        found.append(Finding(need.name, fits, True, says))
    return found


def _extras() -> list[Finding]:
    found = []
    for name, (use, package) in EXTRAS.items():
        try:
            found.append(Finding(f"[{name}]", True, False, f"{package} {version(package)}: {use}"))
        except PackageNotFoundError:
            says = f"not installed, for {use}: pip install 'discreet[{name}]'"
            found.append(Finding(f"[{name}]", False, False, says))
    return found


def _programs() -> list[Finding]:
    return [
        Finding(name, bool(path), False, f"{path or 'not installed'}: {use}")
        for name, use in PROGRAMS.items()
        for path in [shutil.which(name)]
    ]


def _places() -> list[Finding]:
    """Where compiled kernels and large counts are kept."""
    import tempfile

    from discreet.cli.setup import cache_folder
    from discreet.errors import DataError

    try:
        writable, kept = True, f"kept in {cache_folder()}"
    except DataError as error:
        writable, kept = False, str(error)
    spill = tempfile.gettempdir()
    free = shutil.disk_usage(spill).free / 2**30
    return [
        Finding("compiled kernels", writable, False, kept),
        Finding("temporary folder", free > 1, False, f"{free:,.0f} GiB free ({spill})"),
    ]


def _known_answer() -> Finding:
    """The interval of a cell of Dobra, Fienberg & Trottini 2003 that is proven by hand."""
    what = "a known answer"
    data, formula, expected = KNOWN
    try:
        from discreet.intruder.bounds.bounder import bounds
        from discreet.release.release import Release
        from discreet.table.load import load

        table = load(data)
        found = bounds(Release.margins(table, formula), table.small())
    except Exception as error:  # noqa: BLE001 whatever is wrong is what is asked
        return Finding(what, False, True, f"{type(error).__name__}: {error}")
    got = f"{found.lower[0]}-{found.upper[0]}"
    says = f"a count of 1 in {data} is bounded to {got}"
    if got != expected:
        return Finding(what, False, True, f"{says}, and {expected} is right")
    return Finding(what, True, True, says)
