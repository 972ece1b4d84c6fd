"""Widths and decomposable releases of tables on disk: those of the same tables in memory."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cli.frontier import frontier_command
from discreet.cli.widths import widths_command
from discreet.data.codebook import Variable
from discreet.data.variable import Role
from discreet.decision.frontier import decomposable_facts, decomposable_stored, small_sums
from discreet.decision.frontier.decomposable import decomposable_frontier
from discreet.decision.frontier.decomposed_widths import narrowest_width
from discreet.decision.frontier.frontier import widths_alone
from discreet.decision.frontier.small_sums import MappedSums, VisitedSums
from discreet.decision.frontier.widths import widths
from discreet.decision.law.decide import decide
from discreet.errors import DataError, DisclosureError
from discreet.intruder.bounds.bounder import bounds
from discreet.release.release import Release
from discreet.table import stored_table
from discreet.table.bitmaps import BitMaps
from discreet.table.graph import Graph
from discreet.table.table import Table
from oracle import named, small_tables


def random_table(sizes, records, seed, most=1):
    rng = np.random.default_rng(seed)
    shares = [rng.dirichlet(np.full(size, 3.0)) for size in sizes]
    codes = [rng.choice(size, records, p=p) for size, p in zip(sizes, shares, strict=True)]
    variables = [Variable(f"v{p}", tuple(map(str, range(s)))) for p, s in enumerate(sizes)]
    counts = rng.integers(1, most + 1, records)
    return Table.from_cells(variables, np.stack(codes, 1).astype(np.uint16), counts)


def same(found, known):
    return (
        found.sets == known.sets
        and np.array_equal(found.width, known.width)
        and np.array_equal(found.alone, known.alone)
        and found.small_cells == known.small_cells
    )


@pytest.fixture
def nothing_fits(monkeypatch):
    monkeypatch.setattr(stored_table, "MOST_BYTES", 0)


# Widths


@pytest.mark.parametrize(
    ("sizes", "records", "most", "options"),
    [
        ((2, 3, 4, 2, 1, 3), 300, 5, {}),
        ((3, 4, 2, 3, 4, 2, 3, 2), 3000, 3, {"beta": 4}),
        ((5, 17, 8, 2, 30), 900, 2, {"small": 1}),
        ((2,) * 70, 200, 3, {"max_order": 2}),
        ((300, 299, 2, 3), 400, 2, {}),
        ((2, 2, 3, 4), 60, 2**33, {"small": 2**32}),
        ((2, 3, 2), 40, 3, {"small": 1000}),
    ],
    ids=["constant", "beta", "large", "70 variables", "sparse", "over 2^31", "all small"],
)
def test_widths_on_disk_are_those_in_memory(sizes, records, most, options, tmp_path, monkeypatch):
    table = random_table(sizes, records, 1, most)
    known = widths(table, **options)
    assert same(widths(table.store(tmp_path / "x.cells"), **options), known)
    monkeypatch.setattr(small_sums, "WORTH_MAPS", 0)
    assert same(widths(table, **options), known)


@given(small_tables(most_people=12), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_corners_and_visits_agree(array, small):
    array.flat[0] += 1
    table = named(array)
    lists = [np.array([[p] for p in range(array.ndim)])]
    if array.ndim > 1:
        lists.append(np.array([[0, p] for p in range(1, array.ndim)]))
    visited = VisitedSums(table, small)
    if not visited.watched:
        return
    with BitMaps.of(table, small) as maps:
        mapped = MappedSums(maps)
        for level in lists:
            assert np.array_equal(mapped.at(level), visited.at(level))


def test_corners_that_are_not_kept_are_counted_otherwise(monkeypatch):
    table = random_table((3, 2, 4, 3), 200, 4, 3)
    known = widths(table)
    for name, value in (("MOST_KEPT", 5), ("MOST_CORNERS", 3), ("MOST_PARTS", 4)):
        monkeypatch.setattr(small_sums, "WORTH_MAPS", 0)
        monkeypatch.setattr(small_sums, name, value)
        assert same(widths(table), known)


def test_no_small_cell(tmp_path):
    table = Table.of([[5, 6], [7, 8]], A=["a", "b"], B=["c", "d"])
    with pytest.raises(DisclosureError, match="has no count from 1 to 2"):
        widths(table.store(tmp_path / "x.cells"))


# Decomposable releases


@pytest.mark.parametrize("seed", range(4))
def test_the_search_on_disk_finds_what_is_proven_best(seed, tmp_path, nothing_fits, monkeypatch):
    monkeypatch.setattr(decomposable_stored, "MARGINS", 100)
    rng = np.random.default_rng(seed)
    table = random_table(rng.integers(2, 4, 6 + seed % 3), 700 + 600 * seed, seed)
    best = decomposable_frontier(table, beta=3, effort=0.05)
    found = decomposable_frontier(table.store(tmp_path / "x.cells"), beta=3, restarts=2, effort=0.3)
    assert best.optimal
    assert found.released == best.released
    assert found.min_width >= 3
    judged = bounds(Release.margins(table, found.formula), table.small(2), method="closed")
    assert judged.narrowest == found.min_width
    assert decide(table, found.formula, widths_alone(3)).case.small.narrowest >= 3


def test_the_same_again_and_with_limits(tmp_path, nothing_fits, monkeypatch):
    monkeypatch.setattr(decomposable_stored, "MARGINS", 40)
    table = random_table((3, 2, 3, 2, 3, 2, 3), 1500, 9)
    stored = table.store(tmp_path / "x.cells")
    limits = {"beta": 4, "small": 1, "max_order": 3, "restarts": 2, "effort": 0.1, "seed": 5}
    first = decomposable_frontier(stored, first="v0*v2", **limits)
    again = decomposable_frontier(stored, first="v0*v2", **limits)
    assert first.formula == again.formula
    assert first.value == again.value
    assert first.formula.contains(("v0", "v2"))
    assert max(first.by_order) <= 3
    assert first.released <= first.at_most == 1 + 2 + 4 * 5
    judged = bounds(Release.margins(table, first.formula), table.small(1), method="closed")
    assert judged.narrowest == first.min_width >= 4


def test_lower_bounds_are_seen_to(tmp_path, nothing_fits, monkeypatch):
    """A release whose cliques are wide, and whose lower bounds are not: the stricter bar serves."""
    monkeypatch.setattr(decomposable_stored, "MARGINS", 60)
    asked = []

    def narrow_once(table, near, small):
        asked.append(near)
        return 0 if len(asked) == 1 else narrowest_width(table, near, small)

    monkeypatch.setattr(decomposable_stored, "narrowest_width", narrow_once)
    table = random_table((2, 3, 2, 2, 3), 900, 2)
    found = decomposable_frontier(table.store(tmp_path / "x.cells"), beta=3, restarts=1, effort=0.1)
    assert len(asked) == 2
    assert found.min_width >= 3
    release = Release.margins(table, found.formula)
    small = table.small(2)
    for margin in release.tables:
        assert margin.lookup(small.project(margin.names)).min() >= 5
    monkeypatch.setattr(decomposable_stored, "narrowest_width", lambda *given: 2)
    with pytest.raises(
        DisclosureError, match="leaves a small cell a width of 2, less than beta = 3"
    ):
        decomposable_frontier(table.store(tmp_path / "y.cells"), beta=3, restarts=1, effort=0.1)


@pytest.mark.parametrize("cliques", [(0b111, 0b1110), (0b1, 0b10, 0b100, 0b1000), (0b11, 0b1100)])
def test_the_narrowest_width_is_that_of_the_bounds(cliques, tmp_path):
    table = random_table((3, 2, 3, 2), 60, 8, 2)
    near = Graph.of(cliques, 4).neighbours
    release = Release.margins(table, [table.axes.names_of(c) for c in cliques])
    known = bounds(release, table.small(2), method="closed").narrowest
    assert narrowest_width(table.store(tmp_path / "x.cells"), near, 2) == known


def test_facts_follow_from_what_was_counted(monkeypatch):
    table = random_table((2, 3, 2, 3, 2, 2), 400, 6)
    with BitMaps.of(table, 2) as maps:
        facts = decomposable_stored._counted(maps, 1)
        facts.bar = 3

        def least(s):
            small = table.small(2)
            names = table.axes.names_of(s)
            return int(table.margin(names).lookup(small.project(names)).min())

        facts.count([0b111111, 0b001111])
        for s in range(1, 64):
            if facts.is_wide(s) is not None:
                assert facts.is_wide(s) == (least(s) >= 3)
        assert facts.is_wide(0b111111) is False  # it holds a narrow part, which is remembered
        assert all(least(core) == low < 3 for core, low in facts.cores.items())
        assert all(least(core & ~bit) >= 3 for core in facts.cores for bit in _bits(core))
        guess = facts.guess(open_mind=False)
        from discreet._kernels.watched_counts import thought_wide

        for s in range(1, 64):
            assert thought_wide(guess, s) == bool(facts.is_wide(s))
        monkeypatch.setattr(decomposable_facts, "MOST_CELLS", 5)
        assert facts.is_wide(0b11) is False
        assert not thought_wide(facts.guess(), 0b11)


def _bits(s):
    return [1 << p for p in range(s.bit_length()) if s >> p & 1 and s != 1 << p]


def test_what_the_search_on_disk_refuses(tmp_path, nothing_fits):
    table = random_table((2, 3, 2, 4), 60, 1)
    nested = Table.of([40, 40, 1], Hair=["Black", "Red", "Blond"]).beside(
        "Hair", "Shade", {"Black": "dark", "Red": "light", "Blond": "light"}
    )
    with pytest.raises(
        DataError, match="nobody can have Hair=Black, Shade=light, which is out of reach"
    ):
        decomposable_frontier(nested.store(tmp_path / "a.cells"))
    quiet = Variable("v0", ("0", "1"), Role.SENSITIVE)
    other = Table((quiet, *table.variables[1:]), table.codes, table.counts)
    with pytest.raises(DataError, match="'v0' does not identify"):
        decomposable_frontier(other.store(tmp_path / "b.cells"))
    with pytest.raises(DisclosureError, match="the one-way margins alone leave"):
        decomposable_frontier(table.store(tmp_path / "c.cells"), beta=10**6)
    large = Table.of([[5, 6], [7, 8]], A=["a", "b"], B=["c", "d"])
    with pytest.raises(DisclosureError, match="no count from 1 to 2"):
        decomposable_frontier(large.store(tmp_path / "d.cells"))


# Commands


def run(command, *typed):
    done = CliRunner().invoke(command, list(typed), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_commands_take_the_folder(tmp_path, nothing_fits, monkeypatch):
    monkeypatch.setattr(decomposable_stored, "MARGINS", 20)
    table = random_table((2, 3, 2, 3, 2), 800, 3)
    place = str(tmp_path / "x.cells")
    table.store(place)
    found = json.loads(run(widths_command, place, "--max-order", "2", "--json"))
    known = widths(table, max_order=2)
    assert {(*row["margin"],): row["width"] for row in found["widths"]} == {
        known.margin(s): int(w) for s, w in zip(known.sets, known.width, strict=True)
    }
    typed = (place, "--beta", "3", "--method", "decomposable", "--effort", "0.05")
    best = json.loads(run(frontier_command, *typed, "--json"))
    assert best["certified"]
    assert best["min_width"] >= 3
    page = run(frontier_command, *typed, "--html", str(tmp_path / "page.html"))
    assert "widths alone" in page
    assert f"{best['released']:,} margins keep a width of 3" in page
    for more, said in (
        (("--beta", "3"), "this search needs the table in memory"),
        (("--method", "decomposable"), "give --beta"),
        ((*typed[1:], "--certified"), "--certified needs the table in memory"),
        ((*typed[1:], "--first", "fit"), "this search needs the table in memory"),
    ):
        with pytest.raises(DataError, match=said):
            run(frontier_command, place, *more)
