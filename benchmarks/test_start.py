"""How long it takes before anything is done: imports, and what is compiled for a first answer."""

import json
import os
import subprocess
import sys
import time

import pytest

from discreet.cli.setup import _example_files

RUN = """
import json, resource, sys
from discreet.cli.main import main
from discreet.look.progress import compiling
import numba
compiling.listen()
try:
    main(sys.argv[1:])
except SystemExit as ended:
    assert ended.code in (0, 1, None), ended.code
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([used.ru_utime + used.ru_stime, compiling.built]), file=sys.stderr)
"""
FILES = ("--source", "people.csv", "--released", "masked.csv", "--intruder", "intruder.toml")
KINDS = (
    ("identify", *FILES, "--id", "id"),
    ("frontier", "example:tract"),
    ("assess", "example:tract", "--release", "Race*Income + Income*Gender"),
    ("bounds", "people.csv", "--variables", "age,region,ill", "--release", "age*region + ill"),
    ("posterior", "example:blond", "--release", "Hair + Income"),
    ("widths", "example:czech"),
    ("uniques", "people.csv", "--keys", "age,region", "--weights", "w"),
)


@pytest.mark.parametrize(
    ("arguments", "limit"), [(["-c", "import discreet"], 0.5), (["-m", "discreet", "--help"], 0.3)]
)
def test_the_start_is_quick(arguments, limit):
    best = min(_seconds(arguments) for _ in range(5))
    print(f"\n{' '.join(arguments)}: {best:.2f} s")
    assert best < limit


def _seconds(arguments):
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def spent(arguments, cache):
    """Processor seconds of a command, and how many loops it compiled."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.splitlines()[-1])


@pytest.mark.parametrize("arguments", KINDS[:2], ids=lambda given: given[0])
def test_the_first_answer_on_a_small_file(arguments, tmp_path):
    """Easy: forty people, eighteen cells. Cold, nothing is compiled yet; warm, all of it."""
    with _example_files():
        cold, built = spent(arguments, tmp_path)
        warm, _ = spent(arguments, tmp_path)
    print(f"\n{arguments[0]}: {cold:.1f} s cold ({built} loops), {warm:.1f} s warm")
    assert cold < 5


def test_after_setup_nothing_is_compiled(tmp_path):
    """One command of each kind, on other data than those of the set-up."""
    seconds, built = spent(("setup",), tmp_path)
    print(f"\nsetup: {built} loops, {seconds:.0f} s")
    assert built > 50
    with _example_files():
        for arguments in KINDS:
            seconds, built = spent(arguments, tmp_path)
            print(f"{arguments[0]}: {seconds:.1f} s")
            assert built == 0, arguments
    assert spent(("setup",), tmp_path)[1] == 0
