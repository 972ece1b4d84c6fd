"""Linear bounds by projections: against HiGHS, on the release of the 2002 paper, and in use.

The NLTCS release is hard: 41,388 open cells under 4,014 margins. The rival is HiGHS on the
independent rows, warm; on small tables the program's own `by_programs`, which shares its vertices
among cells.
"""

import json
import random
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from discreet.decision.answering import Desk, Outcome
from discreet.decision.frontier.frontier import frontier, widths_alone
from discreet.decision.frontier.widths import widths
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.intruder.bounds.bounder import bounds
from discreet.intruder.bounds.linear import fitting
from discreet.intruder.bounds.opencells import OpenCells
from discreet.intruder.bounds.part import Part
from discreet.intruder.bounds.projection.reach import reach, values
from discreet.release.release import Release
from discreet.solver import Ended, Limit
from discreet.table.lattice import bits, closure
from discreet.table.table import Table

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parents[1])]

from tests.intruder.bounds.test_projection import held_against_simplex  # noqa: E402

from projectioncases import random_release  # noqa: E402
from secondlook import reached_by_another  # noqa: E402

PAPER = {3: 4011, 4: 3663, 5: 3366}
MOST_SECONDS = 1_200.0  # for one bound by HiGHS


def test_against_highs():
    """200 random tables of up to 4,096 cells, both ends of all small cells."""
    begun, ends, tables = time.perf_counter(), 0, 200
    for seed in range(tables):
        ends += held_against_simplex(seed, 4096, 10**6)
    largest = max(random_release(seed, 4096)[0].size for seed in range(tables))
    print(
        f"\n{ends:,} ends in {tables} tables of up to {largest:,} cells: all equal to HiGHS within "
        f"1e-4, no proven bound inside; {time.perf_counter() - begun:.0f} s"
    )


def test_sparse_2_to_the_10(claim):
    rng = np.random.default_rng(7)
    array = rng.multinomial(1000, rng.dirichlet(np.full(1024, 0.2))).reshape((2,) * 10)
    table = Table.of(array, **{name: range(2) for name in "ABCDEFGHIJ"})
    release = Release.margins(table, list(combinations(table.names, 3)))
    small = table.small()
    bounds(release, small.take([0]), method="linear")
    start = time.perf_counter()
    found = bounds(release, small, method="linear")
    ours = time.perf_counter() - start
    start = time.perf_counter()
    rival = Part(release).by_programs(release.names, small.codes, None)
    theirs = time.perf_counter() - start
    assert np.array_equal(found.lower, rival.lower)
    assert np.array_equal(found.upper, rival.upper)
    print(
        f"\n2^10, n = 1,000, all 3-way margins, {len(small)} small cells: projections {ours:.2f} s,"
        f" linear programs {theirs:.1f} s, ratio {theirs / ours:.1f}, equal intervals"
    )
    claim(
        "bounds", "Linear bounds of 2^10 cells, all 3-way margins", ours=ours,
        rival="our own programs (HiGHS, vertices shared among cells)", theirs=theirs,
        size=f"{len(small)} small cells", why="What programs cost at their best, against "
        "projections.",
    )  # fmt: skip
    assert theirs / ours >= 5


def paper(nltcs):
    """The first 4,011 margins of the paper's list, its part and its small cells."""
    found = widths(nltcs)
    width = dict(zip(found.sets, found.width.tolist(), strict=True))
    order = sorted(width, key=lambda s: (-width[s], -s.bit_count(), -s))
    names = [[nltcs.names[place] for place in bits(s)] for s in order[: PAPER[3]]]
    release = Release.margins(nltcs, names)
    cells = nltcs.small()
    places = np.ravel_multi_index(tuple(cells.codes.astype(np.int64).T), nltcs.shape)
    return release, Part(release), cells, places


def test_the_papers_release(nltcs):
    """All 2,228 small cells: both ends."""
    _, part, cells, places = paper(nltcs)
    start = time.perf_counter()
    projection = part.projection(1 << 30)
    low, high = projection.low.ravel()[places], projection.high.ravel()[places]
    asked = reach(projection, places, low, high, 3)
    quick = time.perf_counter() - start
    found = reach(projection, places, low, high)
    seconds = time.perf_counter() - start
    width = found.upper - found.lower
    both = (found.fit_low == found.lower) & (found.fit_high == found.upper)
    narrow = (high - low == 3) & (found.lower == 0) & (found.upper == 3)
    keep = asked.keep(3) | found.keep(3)
    print(
        f"\n4,011 margins, {len(cells):,} small cells: do they keep 3? {quick:.0f} s; both ends: "
        f"{seconds:.0f} s; narrowest "
        f"{width.min()}; both ends reached at {both.sum():,}, a width of 3 at {keep.sum():,}; "
        f"{narrow.sum()} have [0, 3] of the {(high - low == 3).sum()} of shuttle width 3; "
        f"{(width < high - low).sum()} narrower than by the shuttle"
    )
    assert seconds < 900
    assert width.min() == 3
    assert keep.all()
    assert narrow.sum() == (high - low == 3).sum() == 14


@pytest.mark.large
def test_one_bound_against_highs(nltcs, claim):
    release, part, cells, places = paper(nltcs)
    projection = part.projection(1 << 30)
    width = projection.high.ravel()[places] - projection.low.ravel()[places]
    row = int(np.argmin(width))
    start = time.perf_counter()
    task = values(projection, [places[[row]]])[1]
    ours = (time.perf_counter() - start) / 2  # both ends were found
    open_cells = OpenCells.of(release)
    member = np.flatnonzero(open_cells.group(cells.names, cells.codes[[row]]) == 0)
    program = fitting(open_cells)
    start = time.perf_counter()
    found = program.least(member, np.full(len(member), -1.0), Limit(seconds=MOST_SECONDS))
    seconds, ended, value = time.perf_counter() - start, found.ended is Ended.BEST, -found.bound
    print(
        f"\none upper bound of one cell: projections {ours:.2f} s ({task.value:.6f}), HiGHS "
        f"{seconds:.0f} s ({f'{value:.6f}' if ended else 'did not end'}), ratio "
        f"{'' if ended else 'more than '}{seconds / ours:.0f}"
    )
    claim(
        "bounds", "One linear bound of the disability table, 4,011 margins", ours=ours,
        rival="HiGHS (one program, warm)", theirs=seconds, size="41,388 open cells",
        why="HiGHS ended." if ended else "HiGHS was stopped before it ended.",
    )  # fmt: skip
    assert not ended or task.value == pytest.approx(value, abs=1e-4)
    assert seconds / ours >= 200


@pytest.mark.parametrize("beta", [3, 4, 5])
def test_frontiers(nltcs, beta, tmp_path):
    start = time.perf_counter()
    found = frontier(nltcs, beta=beta, proof="linear", seconds=600)
    seconds = time.perf_counter() - start
    print(f"\n{found}: {found.decision.verdict}, {seconds:.0f} s, held back {len(found.held_back)}")
    (tmp_path / f"frontier{beta}.json").write_text(json.dumps(found.to_json()))
    assert found.decision.verdict is Verdict.PASS
    assert found.rung in ("linear", "integer")
    assert found.released > (4400 if beta == 3 else PAPER[beta])
    assert seconds < 900
    rng = np.random.default_rng(beta)
    rows = np.sort(rng.choice(len(nltcs.small()), 24, replace=False))
    again = reached_by_another(nltcs, found.formula, rows, beta)
    print(f"  a second implementation: {again.sum()} of {len(rows)} random cells keep {beta}")
    assert again.all()


def test_what_the_shuttle_alone_called_best(nltcs):
    found = frontier(nltcs, beta=3, proof="outer", seconds=300)
    print(f"\nby outer bounds: {found}")
    for proof in ("linear", "integer"):
        policy = widths_alone(3).change({"bounds.proof": proof, "bounds.witness_seconds": 0.0})
        start = time.perf_counter()
        decision = decide(nltcs, found.formula, policy)
        print(f"  {proof}: {decision.reasons[0]} ({time.perf_counter() - start:.0f} s)")
        assert decision.verdict is not Verdict.PASS
        assert decision.reasons[0].cells


def test_the_desk(nltcs):
    """200 random requests; each set that went out from scratch at 10 points."""
    policy = Policy.of(
        {"server.rule": "myopic", "bounds.proof": "linear", "attribute.check": False,
         "published.least": 0, "server.slot": 0.0, "server.approval": "never"}
    )  # fmt: skip
    desk, rng, seconds, granted = Desk(nltcs, policy), random.Random(1), [], []
    orders = (2, 3, 3, 4, 4, 5)
    for number in range(200):
        margin = sum(1 << place for place in rng.sample(range(16), rng.choice(orders)))
        start = time.perf_counter()
        answer = desk.ask(margin)
        seconds.append(time.perf_counter() - start)
        if answer.outcome is Outcome.GRANTED:
            granted.append(margin)
            desk.take([margin])
        if number % 20 == 19:
            top = [[nltcs.names[place] for place in bits(s)] for s in desk.out]
            quiet = policy.change({"bounds.witness_seconds": 0.0})
            assert decide(nltcs, top, quiet).verdict is Verdict.PASS
    print(
        f"\n200 requests, {len(granted)} granted, {len(closure(desk.out)):,} margins out: median "
        f"{np.median(seconds):.2f} s, 99% {np.quantile(seconds, 0.99):.1f} s, most "
        f"{max(seconds):.1f} s; 10 points from scratch: PASS"
    )
