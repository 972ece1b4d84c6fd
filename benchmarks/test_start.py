"""How long it takes before anything is done: imports, and what is compiled for a first answer."""

import copy
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numba
import numpy as np
import pytest
from click.testing import CliRunner

from discreet._kernels import tables, tiers
from discreet.cli import main
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
RELEASE = ("--release", "Race*Income + Income*Gender")
ROUNDED = (
    "example:tract",
    "--release",
    "Race*Gender",
    "--method",
    "round",
    "--rounding",
    "conventional",
    "--base",
)
TRACT = ("--users", "users.toml", "--limit", "0.9")
PEOPLE = ("people.csv", "--without", "id,w")
KINDS = (
    ("identify", *FILES, "--id", "id"),
    ("frontier", "example:tract"),
    ("posterior", "example:tract", *RELEASE, "--model", "average"),
    ("mask", "example:tract", "--release", "Race*Gender + Gender*Income"),
    ("assess", "example:tract", *RELEASE),
    ("bounds", "people.csv", "--variables", "age,region,ill", "--release", "age*region + ill"),
    ("posterior", "example:blond", "--release", "Hair + Income"),
    ("widths", "example:czech"),
    ("uniques", "people.csv", "--keys", "age,region", "--weights", "w"),
    ("mask", *PEOPLE, "--method", "swap", "--with", "block=ill", "--with", "rate=0.3",
     "--keys", "age,region"),
    ("mask", *PEOPLE, "--method", "microaggregate", "--with", "columns=pay,age", "--with", "k=4",
     "--keys", "age,pay"),
    ("compare", "example:tract", "--masks", "masks.toml", "--set", "masks.limit=0.5"),
    ("publish", "areas.csv", "--sample-size", "sampled", "--population", "people", "--cell-count",
     "ill", "--alpha", "0.7", "--beta", "2", "--risk", "0.2"),
    ("count", "example:czech", "--release", "A*B + C*D*E*F"),
    ("choose", "example:tract", *TRACT, *RELEASE, "--nothing"),
    ("knowledge", "example:estates", "--target", "Estate", "--group", "Region", "--uncertainty",
     "entropy", "--limit", "0.25"),
    ("mask", *ROUNDED, "3", "--out", "threes", "--force"),
    ("mask", *ROUNDED, "5", "--out", "fives", "--force"),
    ("together", "example:tract", "--variables", "Race,Gender", "--released", "threes",
     "--released", "fives"),
)  # fmt: skip


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


@pytest.mark.parametrize("arguments", KINDS[:4], ids=lambda given: given[0])
def test_the_first_answer_on_a_small_file(arguments, tmp_path, claim):
    """Easy: forty people, eighteen cells. Cold, nothing is compiled yet; warm, all of it."""
    limit = 9 if "average" in arguments else 5  # drawn tables are weighed one by one
    with _example_files():
        cold, built = spent(arguments, tmp_path)
        warm, _ = spent(arguments, tmp_path)
    print(f"\n{arguments[0]}: {cold:.1f} s cold ({built} loops), {warm:.1f} s warm")
    claim(
        "start", f"First answer of `{arguments[0]}`, nothing compiled yet", ours=cold,
        size="40 people or 18 cells", why=f"Processor seconds; once compiled {warm:.1f} s.",
    )  # fmt: skip
    assert cold < limit


def test_after_setup_nothing_is_compiled(tmp_path):
    """One command of each kind, on other data than those of the set-up."""
    seconds, built = spent(("setup",), tmp_path)
    print(f"\nsetup: {built} loops, {seconds:.0f} s")
    assert built > 50
    with _example_files():
        for arguments in KINDS:
            seconds, built = spent(arguments, tmp_path)
            print(f"{' '.join(arguments)}: {seconds:.1f} s")
            assert built == 0, arguments
    assert spent(("setup",), tmp_path)[1] == 0


COMPARED = {
    "beliefs.propagated", "beliefs.entangled", "clusters._clusters", "linkblocking.log_weights",
    "linkage.balanced", "linkage.permanent_links", "matching._chain", "matching._match_counts",
    "matching._index", "modular.echelon", "modular.publish", "suppression.cover",
    "suppression.weighed", "tables._walk", "tables.last_free", "tables.narrow",
    "widths._extreme_sums",
}  # fmt: skip


def test_compiled_and_plain_to_the_last_bit(monkeypatch):
    """Every small piece of work of these commands is done both ways."""
    original, met, differ = tiers.plain, Counter(), Counter()

    def both(kernel):
        with monkeypatch.context() as patch:
            patch.setattr(tiers, "plain", original)
            slow = original(kernel)

        def run(*given):
            other = copy.deepcopy(given)
            found, compiled = slow(*given), kernel(*other)
            name = f"{kernel.py_func.__module__.split('.')[-1]}.{kernel.__name__}"
            met[name] += 1
            differ[name] += not (same(found, compiled) and same(given, other))
            return found

        return run

    monkeypatch.setattr(numba, "get_num_threads", lambda: 1)  # parts share what they write into
    monkeypatch.setattr(tiers, "plain", both)
    monkeypatch.setattr(tiers, "built", lambda kernel: False)
    monkeypatch.setattr(tables, "built", lambda kernel: False)
    with _example_files():
        for seed in range(6):
            _random_people(np.random.default_rng(seed), 8 + 6 * seed)
            for arguments in (*KINDS[:4], ("widths", "example:tract")):
                CliRunner().invoke(main, [*arguments], catch_exceptions=False)
    print(f"\n{dict(met)}")
    assert not +differ
    assert set(met) >= COMPARED


def same(first, second):
    """Arrays, numbers and tuples of them; what is not a number equals itself."""
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return np.array_equal(first, second, equal_nan=np.asarray(first).dtype.kind == "f")


def _random_people(rng, number):
    """Ages that are hard to tell apart, and a noisy copy."""
    for name, noise in (("people.csv", 0), ("masked.csv", 2)):
        if name == "people.csv":
            ages, regions = rng.integers(20, 30, number), rng.integers(0, 3, number)
        shown = ages + np.rint(noise * rng.normal(size=number)).astype(int)
        rows = [f"{k},{a},{'NSW'[r]}" for k, (a, r) in enumerate(zip(shown, regions, strict=True))]
        Path(name).write_text("\n".join(["id,age,region", *rows]) + "\n")
