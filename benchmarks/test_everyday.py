"""Everyday files: skewed categories that hang together, long and wide; the time of every command.

    pytest benchmarks/test_everyday.py -n0 -s

prints a table in Markdown: processor and wall seconds, cold (no kernel compiled yet) and warm.
`DISCREET_EVERYDAY=/folder/src` times another copy of the program; what does not end in
`DISCREET_EVERYDAY_LIMIT` seconds of the processor is printed as such.
"""

import itertools
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SEED = 20
LIMIT = int(os.environ.get("DISCREET_EVERYDAY_LIMIT", "60"))  # for one command
ENDS = 60.0  # processor seconds for `assess` of the file of nine columns, warm
ROLES = {
    "identifying": ("sex", "age", "region", "marital", "edu", "house"),
    "sensitive": ("income", "health"),
    "neither": ("job",),
}


def people(number, columns=9, seed=SEED):
    """Persons; the old are married, widowed and ill, those with much school earn more."""
    rng = np.random.default_rng(seed)

    def pick(weights):
        weights = np.broadcast_to(np.asarray(weights, float), (number, np.shape(weights)[-1]))
        ends = np.cumsum(weights / weights.sum(1, keepdims=True), axis=1)
        return (rng.random(number)[:, None] > ends[:, :-1]).sum(1)

    def leaning(weights, pull, by):
        step = np.linspace(-0.5, 0.5, len(weights))
        return np.asarray(weights) * np.exp(pull * by[:, None] * step)

    sex, age = pick([0.49, 0.51]), pick([5, 7, 9, 10, 10, 9, 8, 7, 6, 5, 3, 2])
    old = (age - 5.5) / 5.5
    region, marital = pick(1 / np.arange(1, 11)), pick(leaning([6, 9, 2, 1.2], 3, old))
    edu = pick(leaning([2, 5, 4, 2, 0.7], -1.2, old))
    school = (edu - 2) / 2
    job = pick(leaning([3, 6, 5, 4, 3, 2, 1.5, 0.8, 0.3], 2.5, school))
    frame = pd.DataFrame(
        {
            "sex": sex,
            "age": age,
            "region": region,
            "marital": marital,
            "edu": edu,
            "job": job,
            "income": pick(leaning([3, 5, 6, 4, 2, 0.6], 3, (school + job / 8 - 0.5) / 1.5)),
            "health": pick(leaning([8, 3, 1], 2.2, old)),
            "house": pick(leaning([4, 5, 3, 2, 0.6], -2, old)),
        }
    )
    for more in range(columns - 9):
        size, by = 2 + more % 4, frame.iloc[:, more % 9].to_numpy(float)
        by = (by - by.mean()) / by.std()
        frame[f"q{more + 1}"] = pick(np.exp(-0.7 * np.arange(size) * (1 + 0.5 * by[:, None])))
    return frame.iloc[:, :columns]


def pairs(names):
    return " + ".join("*".join(pair) for pair in itertools.combinations(names.split(), 2))


RELEASES = {
    "one two-way table": "sex*age",
    "all pairs of four": pairs("sex age edu income"),
    "all pairs of five": pairs("sex age edu income health"),
    "a cycle": "sex*age + age*region + region*income + income*sex",
    "a chain of three-ways": "sex*age*region + age*region*edu + edu*income*health",
    "one five-way": "sex*age*region*marital*edu",
}
PEOPLE = ["--source", "people.csv", "--released", "masked.csv", "--id", "id"]
COMMANDS = {
    "bounds": ["bounds", "nine.csv", "--release", RELEASES["all pairs of four"]],
    "count": ["count", "nine.csv", "--release", "sex*age + age*edu"],
    "posterior": ["posterior", "nine.csv", "--release", "sex*age + age*edu"],
    "uniques": ["uniques", "nine.csv", "--keys", "sex,age,region,marital,edu"],
    "widths": ["widths", "nine.csv", "--variables", "sex,edu,income,health"],
    "frontier": ["frontier", "nine.csv", "--variables", "sex,edu,income,health", "--beta", "3"],
    "assess, an example": ["assess", "example:tract", "--release", "Race*Income"],
    "frontier, an example": ["frontier", "example:czech", "--beta", "3"],
    "bounds, an example": ["bounds", "example:czech", "--release", "A*B + B*C + A*C"],
    "identify, 40 records": ["identify", *PEOPLE, "--intruder", "intruder.toml"],
    "mask, an example": ["mask", "example:tract", "--release", "Race*Income + Gender"],
    "mask, 40 records": [
        *("mask", "people.csv", "--method", "microaggregate", "--with", "columns=age,pay"),
        *("--with", "k=3", "--keys", "age,pay"),
    ],
    "compare, 40 records": ["compare", "people.csv", "--masks", "masks.toml"],
}
INTRUDER = '[keys.age]\nkind = "normal"\nspread = 2.0\n'
MASKS = """seed = 7
keys = ["age", "region"]
sensitive = ["ill"]
[[masks]]
name = "as it is"
method = "sample"
share = 1.0
[[masks]]
name = "half"
method = "sample"
share = 0.5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everyday")
    people(4_000).to_csv(folder / "nine.csv", index=False)
    people(1_000_000, 8, SEED + 1).to_csv(folder / "long.csv", index=False)
    people(5_000, 25, SEED + 2).to_csv(folder / "wide.csv", index=False)
    lines = [f'[variables.{n}]\nrole = "{r}"\n' for r, names in ROLES.items() for n in names]
    (folder / "roles.toml").write_text("".join(lines))
    few = [(k, 20 + 7 * k % 50, 900 + 37 * k % 500, "NSW"[k % 3], "ny"[k % 2]) for k in range(40)]
    few = pd.DataFrame(few, columns=["id", "age", "pay", "region", "ill"])
    few.to_csv(folder / "people.csv", index=False)
    few.assign(age=few.age + 1).to_csv(folder / "masked.csv", index=False)
    (folder / "intruder.toml").write_text(INTRUDER)
    (folder / "masks.toml").write_text(MASKS)
    return folder


def timed(folder, arguments, cache):
    """Exit code, below 0 where it did not end; processor and wall seconds of a command."""
    source = os.environ.get("DISCREET_EVERYDAY")
    more = {"PYTHONPATH": source} if source else {}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    found = subprocess.run(
        [sys.executable, "-m", "discreet", *arguments],
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), **more},
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return found.returncode, busy, time.perf_counter() - begun


def row(name, cells):
    shown = []
    for code, busy, wall in cells:
        broken = f"error {code}" if code > 1 else f"does not end in {LIMIT}"
        shown.append(f"{busy:.1f} / {wall:.1f}" if code in (0, 1) else broken)
    print(f"| {name} | {' | '.join(shown)} |", flush=True)


@pytest.mark.parametrize("file", ["nine", "nine, roles stated", "long", "wide"])
def test_assess(folder, tmp_path_factory, file):
    """Easy where a closed form or a walk shows it; hard where integer programs must."""
    cache, found = Path(tmp_path_factory.getbasetemp()) / "warm", {}
    name, _, roles = file.partition(", ")
    print(f"\n| assess, {file} | processor / wall seconds, warm |\n| --- | --- |")
    for kind, release in RELEASES.items():
        given = ["assess", f"{name}.csv", "--release", release]
        given += ["--codebook", "roles.toml"] if roles else []
        if file == "nine":  # what it compiles serves the others
            timed(folder, given, cache)
        found[kind] = timed(folder, given, cache)
        row(kind, [found[kind]])
    assert all(code in (0, 1) or code < 0 for code, *_ in found.values())
    if name == "nine":
        assert all(code in (0, 1) for code, *_ in found.values())
        assert max(busy for _, busy, _ in found.values()) < ENDS


def test_commands(folder, tmp_path_factory):
    """Each command on the file of nine columns and on small examples."""
    print("\n| command | cold: processor / wall seconds | warm |\n| --- | --- | --- |")
    ended = []
    for number, (name, given) in enumerate(COMMANDS.items()):
        cache = tmp_path_factory.mktemp(f"cold{number}")
        cells = [timed(folder, given, cache) for _ in range(2)]
        row(name, cells)
        ended.append(cells[1][0] in (0, 1))
    assert all(ended)
