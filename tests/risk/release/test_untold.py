"""Variables that no margin has: dropped only where nothing of their own is told, by enumeration."""

import dataclasses
from itertools import combinations

import numpy as np
import pytest

from discreet.data.codebook import Role
from discreet.decision.law.case import Case
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.release.release import Release
from discreet.risk.release.nature import Nature
from discreet.table.cells import Cells
from discreet.table.table import Table
from lawcases import LawCase, _attribute, _sums, fitting, listed, random_roles

QUIET = {"small.width": 0, "published.least": 0}
SHAPES = [(3, 3), (4, 3), (4, 2), (3, 2, 2), (2, 3, 2), (3, 3, 2), (4, 2, 2), (2, 2, 2, 2)]
SHARES, CASES, CHUNKS = (0.5, 0.7, 0.95, 1.0), 40, 10


def ward_and_ill(**more):
    """Nobody in w1 has x, as is stated; 20 people are there, all of them with y."""
    names = {"Ward": ["w0", "w1"], "Ill": ["x", "y", "z"]}
    table = Table.of([[20, 30, 0], [0, 20, 0]], **names)
    return table.excluding([{"Ward": "w1", "Ill": "x"}]), Policy.of({**QUIET, **more})


def random_case(rng):
    """A table of which a margin has not all variables, and combinations that nobody can have.

    Often one variable lies within another one, or nearly so.
    """
    shape = SHAPES[rng.integers(len(SHAPES))]
    axes = len(shape)
    possible = rng.random(shape) < 1
    for a, b in combinations(range(axes), 2):
        if rng.random() < 0.6:
            home = rng.integers(shape[b], size=shape[a])
            near = home[:, None] == np.arange(shape[b])
            tie = near | (rng.random(near.shape) < rng.choice([0, 0.2, 0.8]))
            possible &= np.expand_dims(tie, [c for c in range(axes) if c not in (a, b)])
    shares = rng.dirichlet(np.full(possible.size, rng.choice([0.3, 0.6, 3.0]))).reshape(shape)
    if not (shares * possible).sum():
        return random_case(rng)
    shares = shares * possible / (shares * possible).sum()
    array = rng.multinomial(int(rng.integers(3, 16)), shares.ravel()).reshape(shape)
    table = random_roles(rng, array)
    stated = [
        {table.names[a]: f"{chr(97 + a)}{c}" for a, c in zip(pair, cell, strict=True)}
        for pair in combinations(range(axes), 2)
        for cell in np.argwhere(_sums(possible[None], pair)[0] == 0).tolist()
    ]
    spoken = rng.permutation(axes)[: rng.integers(1, axes)].tolist()
    inside = [s for n in range(1, len(spoken) + 1) for s in combinations(sorted(spoken), n)]
    margins = tuple(sorted({inside[i] for i in rng.integers(len(inside), size=2)}))
    policy = {
        "attribute.share": float(rng.choice(SHARES)),
        "attribute.exclusion": bool(rng.random() < 0.6),
        "attribute.order": int(rng.integers(1, 5)),
    }
    return LawCase(table.excluding(stated), array, margins, Policy.of({**QUIET, **policy}))


def with_a_cell(rng, case):
    """A cell of any variables is known, too, mostly that nobody is in it; the tables that fit."""
    release = Release.margins(case.table, case.formula)
    tables = fitting(case)
    axes = sorted(rng.choice(case.array.ndim, rng.integers(1, case.array.ndim + 1), replace=False))
    shown = _sums(case.array[None], axes)[0]
    empty = np.argwhere(shown == 0)
    chosen = empty if len(empty) and rng.random() < 0.8 else list(np.ndindex(shown.shape))
    code = tuple(chosen[rng.integers(len(chosen))])
    cell = {case.table.names[a]: f"{chr(97 + a)}{c}" for a, c in zip(axes, code, strict=True)}
    count = int(shown[code])
    ways = [release.publish, release.insider, lambda cell, n: release.between(cell, n, n)]
    return ways[rng.integers(3)](cell, count), tables[_sums(tables, axes)[:, *code] == count]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_groups_of_what_no_margin_has_are_judged_as_by_enumeration(chunk, known):
    dropped = 0
    for seed in range(chunk * CASES, (chunk + 1) * CASES):
        rng = np.random.default_rng(seed)
        case = random_case(rng)
        if listed(case.array, case.margins, case.table) is None:
            continue
        release, tables = Release.margins(case.table, case.formula), fitting(case)
        if known:
            release, tables = with_a_cell(rng, case)
        found, broken = decide(case.table, release, case.policy), _attribute(case, tables)
        assert found.verdict is not (Verdict.PASS if broken else Verdict.FAIL), (seed, found)
        told = Case(case.table, release, case.policy).told
        dropped += bool({v.name for v in case.table.variables} - {*told.table.names})
    assert known or dropped > CASES // 5


@pytest.mark.parametrize("way", ["publish", "insider", "between"])
@pytest.mark.parametrize("cell", [{"Ward": "w1", "Ill": "z"}, {"Ill": "z"}])
def test_a_zero_that_was_told_is_news(way, cell):
    """With what is stated, everybody in w1 has y; nobody knew before."""
    table, policy = ward_and_ill()
    release = Release.margins(table, "Ward")
    values = (0, 0) if way == "between" else (0,)
    assert decide(table, release, policy).verdict == "PASS"
    assert decide(table, getattr(release, way)(cell, *values), policy).verdict == "FAIL"


def test_a_zero_that_was_stated_is_no_news():
    table, policy = ward_and_ill()
    release = Release.margins(table, "Ward").impossible({"Ward": "w1", "Ill": "z"})
    assert decide(table, release, policy).verdict == "PASS"


@pytest.mark.parametrize("exclusion", [False, True])
def test_a_printed_zero_and_what_is_stated_tell_of_a_group_that_is_not_printed(exclusion):
    table, policy = ward_and_ill(**{"attribute.exclusion": exclusion})
    ill = dataclasses.replace(table.variables[1], sensitive=("y",))
    table = dataclasses.replace(table, variables=(table.variables[0], ill))
    found = decide(table, "Ill", policy)
    assert found.verdict == "FAIL"
    assert "20 in w1" in found.reasons[-1].text


def test_a_group_that_lies_nearly_within_a_category():
    """Whoever has s0 is in u0, and hardly anybody else can be."""
    table = Table.of([[100, 3, 0], [0, 3, 200]], U=["u0", "u1"], S=["s0", "s1", "s2"])
    table = table.excluding([{"U": "u0", "S": "s2"}, {"U": "u1", "S": "s0"}])
    assert decide(table, "S", Policy.of(QUIET)).verdict == "FAIL"


def test_a_region_of_towns_may_be_told_of_where_no_town_is():
    """Of 50 and 50 at most 3 have s1: of a town 6%, of both 3%."""
    counts = np.zeros((3, 2, 2), int)
    counts[0, 0], counts[1, 0], counts[2, 1] = (49, 1), (48, 2), (0, 300)
    table = Table.of(counts, Town=["t0", "t1", "t2"], Region=["r0", "r1"], Ill=["s0", "s1"])
    roles = {"Town": Role.IDENTIFYING, "Region": Role.IDENTIFYING, "Ill": Role.SENSITIVE}
    variables = tuple(dataclasses.replace(v, role=roles[v.name]) for v in table.variables)
    table = dataclasses.replace(table, variables=variables)
    within = [("t0", "r1"), ("t1", "r1"), ("t2", "r0")]
    stated = [{"Town": town, "Region": region} for town, region in within]
    table = table.excluding([*stated, {"Town": "t2", "Ill": "s0"}])
    found = decide(table, "Town + Ill", Policy.of(QUIET))
    assert "the 100 in r0" in found.reasons[-1].text


def test_towns_within_regions_are_dropped():
    """A town is known by its region alone, of which all is told; the same where both are tied to
    a third."""
    rng = np.random.default_rng(1)
    counts = np.zeros((6, 3, 2, 4), int)
    for town in range(6):
        counts[town, town // 2, town // 4] = rng.integers(3, 30, 4)
    names = {"Town": range(6), "Region": range(3), "Country": range(2), "Ill": range(4)}
    table = Table.of(counts, **names)
    chain = ["Town", "Region"], ["Region", "Country"]
    for pairs in (chain, (*chain, ["Town", "Country"])):
        stated = [
            {a: str(i), b: str(j)}
            for a, b in pairs
            for i, j in np.argwhere(table.margin([a, b]).dense() == 0).tolist()
        ]
        for formula, left in (("Ill", {"Ill"}), ("Region*Ill", {"Region", "Country", "Ill"})):
            case = Case(table.excluding(stated), None, Policy.of(QUIET))
            case.release = Release.margins(case.table, formula)
            assert {*case.told.table.names} == left


def test_the_total_alone_tells_of_nobody():
    table = Table.of([[9, 8], [8, 9]], A="ab", B="cd")
    total = Release(table.variables, (table.margin(()),))
    assert decide(table, total, Policy.of(QUIET)).verdict == "PASS"


def test_each_group_is_looked_at_once(monkeypatch):
    """By a variable of 437 towns it was looked at 437 times, in 10 GB."""
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 9, (4, 30))
    counts[0, :29] = 0
    table = Table.of(counts, Kind="abcd", Town=[f"t{i}" for i in range(30)])
    nature = Nature.of(table.excluding({"Kind": "a", "Town": f"t{i}"} for i in range(29)))
    every = np.array(list(np.ndindex(table.shape)), np.uint32)
    cells, rows, closed = Cells(table.variables, every, np.ones(120, int)), [], Nature.closed

    def counted(self, variables, codes):
        rows.append(len(codes))
        return closed(self, variables, codes)

    monkeypatch.setattr(Nature, "closed", counted)
    news = ~nature.no_news(cells).reshape(table.shape)
    assert rows == [120]
    assert news[1:].all()
    assert not news[0].any()  # all who are of kind a are in the last town
