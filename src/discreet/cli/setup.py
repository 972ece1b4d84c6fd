"""`discreet setup`: what later commands would compile, compiled ahead."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import click

CYCLE = "A*B + B*C + C*D + D*E + E*F + A*F"
PEOPLE = ("--source", "people.csv", "--released", "masked.csv", "--id", "id")
ROUNDED = ("example:tract", "--release", "Race*Income", "--method", "round", "--rounding",
           "conventional", "--base")  # fmt: skip
PLAIN = ("people.csv", "--without", "id,w")
WORK: tuple[tuple[str, ...], ...] = (
    ("assess", "example:tract", "--release", "Race*Income + Income*Gender + Race*Gender"),
    ("assess", "example:czech", "--release", CYCLE),
    ("bounds", "example:czech", "--release", CYCLE, "--method", "shuttle"),
    ("bounds", "example:czech", "--release", CYCLE, "--method", "integer"),
    ("bounds", "example:czech", "--release", CYCLE, "--witness", "1"),
    ("count", "example:tract", "--release", "Race*Income + Income*Gender"),
    ("count", "example:tract", "--release", "Race*Income + Income*Gender + Race*Gender"),
    ("count", "example:tract", "--release", "Race*Income + Income*Gender + Race*Gender",
     "--estimate", "--effort", "0.05"),
    ("count", "example:tract", "--variables", "Race,Income", "--release", "Race + Income"),
    ("widths", "example:tract"),
    ("frontier", "example:tract"),
    ("frontier", "example:czech", "--beta", "50"),
    ("frontier", "example:czech", "--beta", "20", "--method", "decomposable", "--effort", "0.05"),
    ("frontier", "example:czech", "--beta", "20", "--method", "greedy"),
    ("posterior", "example:tract", "--release", "Race*Income + Income*Gender"),
    ("posterior", "example:tract", "--release", "Race*Income + Income*Gender", "--model",
     "Race*Income + Income*Gender", "--draws", "5"),
    ("posterior", "example:tract", "--release", "Race*Income + Income*Gender + Race*Gender"),
    ("posterior", "example:tract", "--release", "Race*Income + Income*Gender", "--model",
     "average", "--effort", "0.1"),
    ("posterior", "example:tract", "--release", "Race*Income + Gender", "--model", "average",
     "--effort", "0.01"),
    ("posterior", "example:tract", "--release", "Race*Income + Gender", "--sampling-fraction",
     "0.5", "--effort", "0.05"),
    ("posterior", "example:czech", "--release", CYCLE, "--effort", "0.05"),
    ("mask", "example:tract", "--release", "Race*Income + Gender"),
    ("mask", "example:tract", "--release", "Race*Income + Gender", "--optimal"),
    ("mask", "example:tract", "--release", "Race*Income", "--method", "round"),
    ("mask", "example:tract", "--release", "Race*Income + Gender", "--method", "merge"),
    ("mask", *PLAIN, "--release", "region*ill", "--method", "cell-key", "--seed", "1"),
    ("mask", *PLAIN, "--tables", "tables.toml", "--method", "perturb", "--seed", "1"),
    ("mask", *PLAIN, "--method", "swap", "--with", "block=region", "--with", "rate=0.5",
     "--keys", "age,ill"),
    ("mask", *PLAIN, "--method", "rank-swap", "--with", "columns=age", "--with", "window=0.2",
     "--keys", "age"),
    ("mask", *PLAIN, "--method", "microaggregate", "--with", "columns=age,pay", "--with", "k=3",
     "--keys", "age,pay"),
    ("mask", *PLAIN, "--method", "univariate", "--with", "columns=age", "--with", "k=3",
     "--keys", "age"),
    ("mask", *PLAIN, "--method", "synthesise", "--keys", "region,ill"),
    ("mask", *ROUNDED, "3", "--out", "threes", "--force"),
    ("mask", *ROUNDED, "5", "--out", "fives", "--force"),
    ("together", "example:tract", "--variables", "Race,Income", "--released", "threes",
     "--released", "fives"),
    ("compare", "example:tract", "--masks", "masks.toml"),
    ("uniques", "people.csv", "--keys", "age,region", "--weights", "w"),
    ("uniques", "people.csv", "--keys", "age,region", "--sensitive", "ill"),
    ("publish", "areas.csv", "--sample-size", "sampled", "--population", "people", "--cell-count",
     "ill", "--alpha", "0.5", "--beta", "1.5", "--risk", "0.25"),
    ("publish", "areas.csv", "--sample-size", "sampled", "--population", "people", "--cell-count",
     "ill", "--risk", "0.25"),
    ("identify", *PEOPLE, "--intruder", "intruder.toml", "--harm", "harm.toml"),
    ("identify", *PEOPLE, "--intruder", "intruder.toml", "--calibrate", "3"),
    ("choose", "example:tract", "--users", "users.toml", "--limit", "0.9", "--release",
     "Race*Income + Gender", "--release", "Race*Income + Income*Gender"),
    ("knowledge", "example:estates", "--target", "Estate", "--group", "Region", "--uncertainty",
     "largest", "--limit", "0.25"),
)  # fmt: skip
HARM = """sensitive = "ill"
q = 0.95
[costs]
FN = 1
TN = 2
FF = 10
FT = 6
TF = 8
TT = 5
"""
MASKS = """of = "table"
seed = 1
[[masks]]
name = "private"
method = "private"
epsilon = 1.0
[[masks]]
name = "graph"
method = "synthesise"
model = "graphical"
"""
TABLES = """[[tables]]
name = "1"
variables = "region*ill"
status = "out"
[[tables]]
name = "2"
variables = "ill*age"
cuts = { age = [40] }
status = "out"
[[tables]]
name = "3"
variables = "region*ill*age"
cuts = { age = [40] }
"""
USERS = """[[users]]
name = "a neighbour"
role = "intruder"
target = "small"
loss = "zero-one"
prior = ["uniform", "saturated:0.5", "release"]
threshold = 0.6
right = 1.0
[[users]]
name = "a scientist"
role = "scientist"
target = "cells"
loss = "squared"
prior = "uniform"
"""
INTRUDER = '[keys.age]\nkind = "normal"\nspread = 2.0\n'
SETTINGS = {"harm": HARM, "intruder": INTRUDER, "masks": MASKS, "tables": TABLES, "users": USERS}


@click.command("setup", epilog="Example: discreet setup")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def setup_command(as_json: bool) -> None:
    """Compile ahead what commands would compile at first.

    Each kind of command is run once on example data; nothing is printed or kept but the compiled
    loops.
    """
    import time

    from discreet.cli.options import print_json
    from discreet.look.words import plural

    folder = cache_folder()
    begun = time.monotonic()
    number, failed = built_ahead(WORK)
    seconds = time.monotonic() - begun
    for task, why in failed.items():
        click.echo(f"discreet: {task}: {why}", err=True)
    if as_json:
        print_json(
            {
                "compiled": number,
                "seconds": round(seconds, 1),
                "folder": str(folder),
                "failed": failed,
            }
        )
    elif not number and not failed:
        click.echo(f"Nothing to do: every loop is compiled already, in {folder}.")
    else:
        click.echo(f"{plural(number, 'loop')} compiled in {seconds:,.0f} s, kept in {folder}.")
    if failed:
        click.get_current_context().exit(1)


def cache_folder() -> Path:
    """Where compiled loops are kept; refused where none can be written."""
    import discreet._kernels
    from discreet.errors import DataError

    named = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(named) if named else Path(discreet._kernels.__path__[0]) / "__pycache__"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial = folder / f".writable-{os.getpid()}"
        trial.touch()
        trial.unlink()
    except OSError:
        raise DataError(
            f"compiled loops cannot be kept in {folder}; set NUMBA_CACHE_DIR to a folder that can "
            "be written."
        ) from None
    return folder


def built_ahead(work: tuple[tuple[str, ...], ...]) -> tuple[int, dict[str, str]]:
    """Run the commands in a folder of their own.

    How many loops were compiled for them; which commands failed, and why: the others go on.
    """
    import shlex

    import numba  # noqa: F401 what is listened to

    from discreet._kernels.tiers import at_once
    from discreet.cli.main import main
    from discreet.look.progress import compiling, track

    compiling.listen()
    before, failed = compiling.built, {}
    with _example_files(), at_once():
        for arguments in track(work, "compiling ahead"):
            try:
                with _quiet():
                    main.main([*arguments], standalone_mode=False)
            except Exception as error:  # noqa: BLE001 whatever it is, it is named
                said = error.format_message() if isinstance(error, click.ClickException) else error
                why = f"{said}".partition("\n")[0]
                failed[shlex.join(arguments)] = why or type(error).__name__
    return compiling.built - before, failed


@contextmanager
def _example_files() -> Iterator[None]:
    """A temporary folder with a few records and a masked copy."""
    from tempfile import TemporaryDirectory

    people = [(k, 20 + 7 * k % 50, 900 + 37 * k % 500, k % 3, k % 2, 2 + k % 4) for k in range(40)]
    head = "id,age,pay,region,ill,w"
    rows = [f"{k},{a},{p},{'NSW'[r]},{('no', 'yes')[i]},{w}" for k, a, p, r, i, w in people]
    near = [f"{k},{a + 1},{p},{'NSW'[r]},{('no', 'yes')[i]},{w}" for k, a, p, r, i, w in people]
    areas = [
        "area,sampled,people,ill",
        *(f"a{k},{40 + k},{900 + 90 * k},{k % 5}" for k in range(9)),
    ]
    texts = {"people.csv": [head, *rows], "masked.csv": [head, *near], "areas.csv": areas}
    here = Path.cwd()
    with TemporaryDirectory() as folder:
        for name, lines in texts.items():
            Path(folder, name).write_text("\n".join(lines) + "\n")
        for name, text in SETTINGS.items():
            Path(folder, f"{name}.toml").write_text(text)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


@contextmanager
def _quiet() -> Iterator[None]:
    """Answers on example data go nowhere; progress still does."""
    import warnings

    with (
        open(os.devnull, "w") as nowhere,
        redirect_stdout(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
