"""4ti2 and normaliz: Markov bases, and how many tables fit.

Both are programs of their own that read a small file; their start, some milliseconds, is in their
time. Both work in whole numbers of 64 bits, 4ti2 on one core, normaliz on all.
"""

import shutil
import subprocess
import time

import numpy as np
import pytest
from claims_timing import best

from chaincases import PAIRS
from discreet.intruder.posterior.chains import markov_bases
from discreet.intruder.posterior.chains.markov_bases import minimal_basis
from discreet.intruder.tables.count import count
from discreet.release.release import Release
from discreet.table.load import load


def needs(claim, command, package):
    if shutil.which(command) is None:
        claim.absent(package, f"`apt-get install --no-install-recommends {package}`")


def design(shape, margins):
    """A row a sum of the margins, a column a cell."""
    codes, rows = np.indices(shape).reshape(len(shape), -1), []
    for axes in margins:
        key = np.ravel_multi_index(tuple(codes[list(axes)]), [shape[a] for a in axes])
        rows.append(key == np.arange(np.prod([shape[a] for a in axes]))[:, None])
    return np.concatenate(rows).astype(int)


def write(path, matrix):
    body = "\n".join(" ".join(map(str, row)) for row in matrix.tolist())
    path.write_text(f"{matrix.shape[0]} {matrix.shape[1]}\n{body}\n")


def up_to_sign(moves):
    first = np.take_along_axis(moves, (moves != 0).argmax(1)[:, None], 1)
    return set(map(tuple, (moves * np.sign(first)).tolist()))


def run(words, folder, times):
    """The least seconds of a program."""
    least = np.inf
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
        least = min(least, time.perf_counter() - start)
    return least


@pytest.mark.parametrize(
    ("shape", "degree", "times"),
    [((3, 3, 3), 6, 5), ((3, 3, 4), 8, 5), ((3, 4, 4), 10, 1)],
    ids=str,
)
def test_markov_bases(claim, tmp_path, shape, degree, times):
    """No three-way interaction; the minimal basis is unique, so that both find the same moves.

    Easy for us in that the degree is known, which 4ti2 has to find out; hard in that we list
    candidates of that degree, where 4ti2 computes by critical pairs.
    """
    needs(claim, "4ti2-markov", "4ti2")
    write(tmp_path / "table.mat", design(shape, PAIRS))

    def ours():
        markov_bases._minimal.cache_clear()
        return minimal_basis(shape, PAIRS, degree, effort=10)

    found, seconds = best(ours, times)
    theirs = run(["4ti2-markov", "--precision=64", "-q", "table"], tmp_path, times)
    moves = np.loadtxt(tmp_path / "table.mar", skiprows=1, dtype=int)
    assert up_to_sign(moves) == up_to_sign(found)
    size = " x ".join(map(str, shape))
    claim(
        "Markov bases", f"Moves of {size} tables with all pairs fixed",
        ours=seconds, rival="4ti2 (markov, one core)", theirs=theirs, size=f"{len(found):,} moves",
        why="4ti2 completes critical pairs; we list all candidates of each degree, and are even "
        "told the largest degree (Aoki & Takemura 2003).",
    )  # fmt: skip


FITTING = {
    "two pairs": "Race*Income + Income*Gender",
    "three pairs": "Race*Income + Income*Gender + Race*Gender",
}


@pytest.mark.parametrize("case", FITTING)
def test_tables_that_fit(claim, tmp_path, case):
    """The lattice points of a polytope: cells are at least 0, and every sum is as released.

    Easy for us, because parts that share no sum are counted apart; hard for both, because the
    polytope of three pairs is no product.
    """
    needs(claim, "normaliz", "normaliz")
    table = load("example:tract")
    release = Release.margins(table, FITTING[case])
    found, seconds = best(lambda: count(release, exact=True), 3)
    places = [[table.names.index(name) for name in m] for m in release.formula.margins]
    matrix = design(table.shape, places)
    sums = matrix @ table.dense().ravel()
    rows = "\n".join(" ".join(map(str, [*row, -n])) for row, n in zip(matrix, sums, strict=True))
    (tmp_path / "fit.in").write_text(
        f"amb_space {table.size}\ninhom_equations {len(matrix)}\n{rows}\nnonnegative\n"
        "NumberLatticePoints\n"
    )
    theirs = run(["normaliz", "fit"], tmp_path, 1)
    said = (tmp_path / "fit.out").read_text()
    assert said.startswith(f"{found.tables} lattice points")
    claim(
        "tables that fit", f"How many tables fit the tract table's {case}", ours=seconds,
        rival="normaliz (all cores)", theirs=theirs, size=f"{found.tables:,} tables",
        why=f"Ours is a {found.method}; normaliz takes any polytope and is timed once.",
    )  # fmt: skip
