"""Large cells beside margins: bounds against every table that fits, and the verdicts on them."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import discreet as dc
from discreet.cli import main
from discreet.decision.frontier.brief import Brief
from discreet.decision.frontier.judge import ShuttleJudge
from discreet.decision.frontier.linear_judge import LinearJudge
from discreet.errors import DataError
from discreet.release.release import BELOW
from oracle import fibre, named, small_tables

TRACT = "Race*Income + Gender"


def fitting(array, axes, least):
    """Every table with these margins, the large cells as they are, all others below `least`."""
    large = array >= least
    tables = fibre(array, axes)
    shown = (tables[:, large] == array[large]).all(1)
    return tables[shown & (tables[:, ~large] < least).all(1)]


def formula(axes):
    return [[chr(65 + axis) for axis in margin] for margin in axes]


@st.composite
def cases(draw):
    """A small table with some large counts, margins of it, and what is large."""
    array = draw(small_tables(most_axes=3, most_people=6, most_cells=8))
    at = draw(st.integers(0, array.size - 1))
    array.flat[at] += draw(st.integers(0, 4))
    k = array.ndim
    every = [tuple(a for a in range(k) if s >> a & 1) for s in range(1, 1 << k)]
    axes = draw(st.lists(st.sampled_from(every), min_size=1, max_size=3, unique=True))
    return array, axes, draw(st.integers(2, 6))


@settings(max_examples=60, deadline=None)
@given(cases())
def test_bounds_are_those_of_every_table_that_fits(case):
    array, axes, least = case
    covered = [*axes, *((a,) for a in range(array.ndim) if not any(a in m for m in axes))]
    table = named(array)
    release = dc.Release.margins(table, formula(covered)).with_large(table, least)
    tables = fitting(array, covered, least).reshape(-1, array.size)
    found = dc.bounds(release, table.all())
    assert found.lower.tolist() == tables.min(0).tolist()
    assert found.upper.tolist() == tables.max(0).tolist()
    assert release.ceiling == least - 1
    outer = dc.bounds(release, table.all(), method="shuttle")
    assert (outer.lower <= tables.min(0)).all()
    assert (outer.upper >= tables.max(0)).all()
    assert (outer.upper[array.ravel() < least] < least).all()


def test_that_a_cell_is_not_published_tells_something():
    """Without the ceiling the count of 1 in B=1 could be anything up to 5; with it, at most 2."""
    array = np.array([[9, 1, 2], [0, 2, 2]])
    table = named(array)
    plain = dc.Release.margins(table, "A + B")
    secret = plain.with_large(table, 9, told=False)
    told = plain.with_large(table, 3)
    assert [known.why for known in told.known].count(BELOW) > 0
    assert secret.ceiling is None
    widths = [dc.bounds(release, table.all()).width.sum() for release in (plain, secret, told)]
    assert widths[0] > widths[1] > widths[2]


def test_ceilings_that_the_margins_have_already_are_left_out():
    table = dc.load("example:tract")
    release = dc.Release.margins(table, TRACT).with_large(table, 100)
    assert len(release.single_cells[0]) == 3
    assert release.ceiling == 99
    assert not [known for known in release.known if known.why == BELOW]
    low = dc.Release.margins(table, "Race + Income + Gender").with_large(table, 100)
    capped = [known for known in low.known if known.why == BELOW]
    assert capped
    assert {(known.lower, known.upper) for known in capped} == {(0, 99)}
    both = release + low
    assert both.ceiling == 99


def test_so_many_largest():
    table = dc.load("example:tract")
    release = dc.Release.margins(table, "Race")
    three = release.with_large(table, number=3)
    assert sorted(three.single_cells[0].counts.tolist()) == [127, 161, 186]
    assert three.ceiling == 126
    tied = named(np.array([[4, 4], [1, 0]]))
    assert len(dc.Release.margins(tied, "A").with_large(tied, number=1).single_cells[0]) == 2


@pytest.mark.parametrize(
    ("asked", "said"),
    [({}, "one of both"), ({"least": 5, "number": 2}, "one of both"), ({"least": 0}, "from 1 on"),
     ({"number": 99}, "the 99 largest of 16")],
)  # fmt: skip
def test_what_cannot_be_meant(asked, said):
    table = dc.load("example:tract")
    with pytest.raises(DataError, match=said):
        dc.Release.margins(table, "Race").with_large(table, **asked)


def test_a_table_of_too_many_cells_is_refused():
    table = dc.Table.of(np.array([5]), A=["x"])
    names = {f"V{i}": list("ab") for i in range(23)}
    wide = dc.Table.from_cells(
        tuple(dc.Table.of(np.zeros(2, int), **{n: c}).variables[0] for n, c in names.items()),
        np.zeros((1, 23), np.uint8), np.array([5]),
    )  # fmt: skip
    with pytest.raises(DataError, match="too many to say of each"):
        dc.Release.margins(wide, "V0").with_large(wide, 3)
    assert dc.Release.margins(table, "A").with_large(table, 5).ceiling == 4


# Verdicts

WIDTHS = {"attribute.check": False, "published.least": 0}


def safe(array, axes, least, beta):
    """By every table that fits: does each count of 1 or 2 keep the width?"""
    small = (array >= 1) & (array <= 2)
    tables = fibre(array, axes) if least is None else fitting(array, axes, least)
    width = tables.max(0) - tables.min(0)
    return bool((width[small] >= beta).all())


def test_verdicts_see_the_large_cells():
    """Random 2 x 2 x 2 tables by brute force."""
    rng = np.random.default_rng(12)
    policy, changed = dc.Policy().change({**WIDTHS, "small.width": 2}), 0
    for _ in range(30):
        array = rng.integers(0, 4, (2, 2, 2))
        array.flat[rng.integers(8)] += 6
        array.flat[rng.integers(8)] += 3
        table, least = named(array), int(rng.integers(4, 7))
        axes = [(0, 1), (1, 2)] if rng.random() < 0.5 else [(0,), (1, 2)]
        verdict = dc.decide(table, formula(axes), policy, large=least).verdict
        assert (verdict.value == "PASS") == safe(array, axes, least, 2)
        changed += safe(array, axes, None, 2) != safe(array, axes, least, 2)
    assert changed > 2


ANTICHAINS = [
    [(0,)], [(1,)], [(2,)], [(0,), (1,)], [(0,), (2,)], [(1,), (2,)], [(0,), (1,), (2,)],
    [(0, 1)], [(0, 2)], [(1, 2)], [(0, 1), (2,)], [(0, 2), (1,)], [(1, 2), (0,)],
    [(0, 1), (0, 2)], [(0, 1), (1, 2)], [(0, 2), (1, 2)], [(0, 1), (0, 2), (1, 2)],
]  # fmt: skip


def worth(axes):
    """How many margins are in a release, sub-margins included."""
    return len({sub for m in axes for k in range(1, len(m) + 1) for sub in combinations(m, k)})


def test_a_frontier_is_the_best_set_beside_the_large_cells():
    """Of all 17 sets of margins, by every table that fits."""
    rng, narrower = np.random.default_rng(5), 0
    for _ in range(5):
        array = rng.integers(0, 3, (2, 2, 2))
        array.flat[rng.integers(8)] += 3
        table, least = named(array), 3
        best = max((worth(a) for a in ANTICHAINS if safe(array, a, least, 2)), default=0)
        if not best:
            with pytest.raises(dc.errors.DisclosureError):
                dc.frontier(table, beta=2, large=least)
            continue
        found = dc.frontier(table, beta=2, large=least)
        assert found.released == best
        assert found.decision.release.ceiling == 2
        listed = dc.frontier(table, beta=2, large=least, method="greedy")
        chosen = [tuple(table.names.index(n) for n in m) for m in listed.formula.margins]
        assert safe(array, chosen, least, 2)
        narrower += dc.frontier(table, beta=2).released > best
    assert narrower


def test_the_quick_judges_know_the_large_cells():
    """The shuttle is outer: what is safe by brute force it lets pass, and it refuses more than
    without the large cells."""
    rng, refused = np.random.default_rng(8), 0
    policy = dc.Policy().change({**WIDTHS, "small.width": 2})
    for _ in range(6):
        array = rng.integers(0, 3, (2, 2, 2))
        array.flat[rng.integers(8)] += 3
        table = named(array)
        for axes in ANTICHAINS[10:]:
            sets = [sum(1 << axis for axis in margin) for margin in axes]
            with_large, plain = (
                ShuttleJudge(Brief(table, policy, large=large)).restart(sets) for large in (3, None)
            )
            assert with_large or not safe(array, axes, 3, 2)
            assert plain or not with_large
            refused += plain and not with_large
    assert refused > 3


def linear_width(array, axes, least, cell):
    """Between the ends of a cell in tables of fractions, by a solver of its own."""
    codes = np.array(list(np.ndindex(array.shape)))
    rows, sums = [], []
    for margin in axes:
        for key in np.ndindex(*(array.shape[a] for a in margin)):
            rows.append((codes[:, list(margin)] == key).all(1).astype(float))
            sums.append(rows[-1] @ array.ravel())
    ends = [(n, n) if n >= least else (0, least - 1) for n in array.ravel().tolist()]
    cost = np.eye(array.size)[cell]
    low, high = (linprog(sign * cost, A_eq=rows, b_eq=sums, bounds=ends).fun for sign in (1, -1))
    return math.floor(-high + 1e-7) - math.ceil(low - 1e-7)


def test_the_linear_judge_agrees_with_a_linear_program():
    rng, said = np.random.default_rng(4), []
    policy = dc.Policy().change({**WIDTHS, "small.width": 2})
    for _ in range(4):
        array = rng.integers(1, 7, (2, 2, 2))
        array.flat[rng.integers(8)] += 6
        small = np.flatnonzero((array.ravel() > 0) & (array.ravel() < 3))
        for axes in ANTICHAINS[10:]:
            judge = LinearJudge(Brief(named(array), policy, large=8))
            held = judge.restart([sum(1 << axis for axis in margin) for margin in axes])
            assert held == all(linear_width(array, axes, 8, cell) >= 2 for cell in small)
            said.append(held)
    assert 2 < sum(said) < len(said) - 2


def run(*args, code=0):
    result = CliRunner().invoke(main, list(args))
    assert result.exit_code == code, result.output
    return result.output


def test_a_file_of_margins_and_large_cells_is_not_taken_for_margins(tmp_path):
    file = tmp_path / "f.json"
    file.write_text(run("frontier", "example:tract", "--beta", "3", "--large", "100", "--json"))
    for option in ("--release", "--released"):
        more = ["--release", "Gender"] * (option == "--released")
        said = run("assess", "example:tract", *more, option, f"@{file}", code=2)
        assert "every count of 100 or more beside them" in said


def test_on_the_command_line():
    table = ("example:tract", "--release", TRACT, "--large", "100")
    found = json.loads(run("bounds", *table, "--cells", "all", "--json"))
    assert found["large"]["least"] == 100
    assert found["large"]["ceiling"] == 99
    assert [each["count"] for each in found["large"]["cells"]] == [161, 186, 127]
    pinned = [each for each in found["cells"] if each["count"] >= 100]
    assert all(each["lower"] == each["upper"] == each["count"] for each in pinned)
    assert found["summary"]["pinned"] >= 3
    assert "all others are below" in run("bounds", *table)
    judged = json.loads(run("assess", *table, "--json", code=1))
    assert judged["large"]["least"] == 100
    assert "with counts of 100 or more" in judged["basis"]
    assert any("at most 99" in said for said in judged["assumptions"])
    for offer in judged["alternatives"]:
        assert not offer["merged"]
    plain = json.loads(run("assess", "example:tract", "--release", "Gender", "--json"))
    assert plain["large"] is None
    out = json.loads(run("frontier", "example:tract", "--beta", "3", "--large", "100", "--json"))
    assert out["large"]["ceiling"] == 99
    run("assess", "example:tract", "--tables", "x.toml", "--large", "9", code=2)
