"""Small work in plain Python says what compiled loops say; threads do what one loop does."""

import numba
import numpy as np
import pytest
from numba import njit

import discreet as dc
from discreet._kernels import beliefs, linkage, matching, parallel, tables, tiers, widths
from discreet._kernels.suppression import weighed
from discreet.intruder.posterior.exact.jointree import Join
from discreet.intruder.tables.enumerate import Walk
from discreet.intruder.tables.net import Search
from discreet.intruder.tables.split import open_cells, separate, split


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def same(first, second):
    """Arrays and numbers, in tuples or alone, bit for bit."""
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return np.array_equal(first, second)


def text_of(kernel):
    """The kernel's own loops as Python runs them, without what works on whole arrays."""
    twins, spaces = dict(tiers._TWINS), dict(tiers._SPACES)
    try:
        tiers._TWINS.clear()
        tiers._SPACES.clear()
        return tiers.plain(kernel)
    finally:
        tiers._TWINS.update(twins)
        tiers._SPACES.clear()
        tiers._SPACES.update(spaces)


@pytest.mark.parametrize("strangers", [0, 1, 2, 40])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 2), (3, 5), (9, 7)])
def test_whole_arrays_take_the_steps_of_the_loop(rng, rows, columns, strangers):
    weights = rng.random((rows, columns)) * (rng.random((rows, columns)) < 0.7)
    null, outside = rng.random(rows), rng.random(columns) * (rng.random(columns) < 0.5)
    given = (weights, null, outside, rng.random(columns) * (strangers > 0), float(strangers))
    for kernel in (linkage.permanent_links.kernel, linkage.one_column):
        assert same(tiers.plain(kernel)(*given), text_of(kernel)(*given))
    few = [[part.copy() for part in given[:3]] for _ in range(2)]
    tiers.plain(linkage.balanced)(*few[0], 5)
    text_of(linkage.balanced)(*few[1], 5)
    assert same(tuple(few[0]), tuple(few[1]))


@pytest.mark.parametrize("seed", range(5))
def test_messages_of_all_records_at_once(seed):
    rng = np.random.default_rng(seed)
    many, others = 6, 8
    there = rng.random((many, others)) < 0.6
    there[3] = False  # a record without candidates
    record, source = np.nonzero(there)
    ways = rng.integers(1, 4, others)[source]
    starts = np.concatenate([[0], np.cumsum(there.sum(1))])
    side = (starts, np.arange(len(record)), source, ways)
    rest, total = rng.random(many), rng.random(many)
    floats = [rng.random(len(record)) for _ in range(4)]
    states = []
    for tell in (tiers.plain(beliefs._tell.kernel), text_of(beliefs._tell.kernel)):
        w, heard, told, p = (part.copy() for part in floats)
        last, awake = np.where(np.arange(many) % 2, rest, 0.0), np.arange(many) == 1
        wake, moved = np.zeros(others, bool), np.ones(many)
        own = total.copy()
        tell(0, many, side, w, heard, rest, told, own, p, last, awake, wake, moved)
        states.append((told, p, own, last, awake, wake, moved))
    assert same(*states)
    assert states[0][-1].any()


NAMES = ("low", "high", "stack", "state", "lines")
FORMULAS = ("Race*Income + Income*Gender", "Race*Income + Gender", "Race + Income + Gender")


@pytest.mark.parametrize("formula", FORMULAS)
def test_draws_abreast_are_those_one_by_one(formula):
    table = dc.load("example:tract")
    join = Join.of(dc.Release.margins(table, formula))
    wanted = np.unique(join.keys(table.small().codes))
    seeds = np.random.default_rng(5).integers(0, 1 << 64, 4, np.uint64)
    found = []
    with np.errstate(over="ignore"):
        index = text_of(matching._index)(wanted)
        for count in (tiers.plain(matching._match_counts), text_of(matching._match_counts)):
            counts = np.zeros((4, len(wanted)), np.int32)
            count(1, 4, join.tree, join.items, seeds, *index, counts)
            found.append(counts)
    assert same(*found)
    assert found[0][1:].any()
    assert not found[0][0].any()


@pytest.mark.parametrize("bound", [1, 3, 2**31 + 1, 2**32 - 1])
def test_numbers_below_a_bound_abreast(bound):
    """Every other one is drawn again below 2^31 + 1."""
    states = np.random.default_rng(2).integers(0, 1 << 64, 20, np.uint64)
    each = [states[k : k + 1].copy() for k in range(20)]
    with np.errstate(over="ignore"):
        numbers = [text_of(matching._below)(bound, state) for state in each]
    assert matching._all_below(bound, states).tolist() == numbers
    assert states.tolist() == [int(state[0]) for state in each]


@pytest.mark.parametrize("few", [1, 300, 2000])
def test_a_walk_goes_on_where_plain_steps_end(monkeypatch, few):
    """Any cut gives the lines of one walk."""
    release = dc.Release.margins(dc.load("example:tract"), "Race*Income + Income*Gender")
    slowly = tiers.plain(tables._walk)
    for block in split(separate(open_cells(release)[0])).blocks:
        found = []
        for walk in (slowly, tables.walk):
            state = vars(Walk(block, Search.of(block)))
            ways = state["search"]
            given = (ways.net, ways.order, ways.last, *(state[f"_{name}"] for name in NAMES))
            with monkeypatch.context() as patch:
                patch.setattr(tables, "_walk", slowly)
                patch.setattr(tables, "built", lambda kernel: False)
                patch.setattr(tables, "FEW", few)
                number = walk(*given, 40)
            found.append((number, state["_lines"][:number], state["_state"], state["_stack"]))
        assert same(*found)
        assert found[0][0] > 0


def test_small_loops_compiled_and_plain(rng):
    """Bit for bit; the large ones are compared where they may be compiled, in benchmarks."""
    starts = np.array([0, 3, 3, 7, 12], np.int32)
    lines = (starts, rng.integers(0, 6, 12).astype(np.int32), rng.normal(size=12))
    given = (*lines, np.array([2, 0, 3]), rng.normal(size=3), 6)
    assert same(weighed.kernel(*given), tiers.plain(weighed.kernel)(*given))
    keys = np.unique(rng.integers(0, 1 << 40, 30))
    with np.errstate(over="ignore"):
        assert same(matching._index(keys), tiers.plain(matching._index)(keys))
    for _ in range(5):
        matrix = rng.integers(0, 2, (5, 7))
        free = tables.last_free.kernel
        assert free(matrix, 2**31 - 1) == tiers.plain(free)(matrix, 2**31 - 1)


def counted(tries):
    @tiers.tiered(lambda number: number)
    @njit
    def kernel(number):
        return number + 1

    return [kernel(number) for number in tries], kernel.kernel


def test_small_work_compiles_nothing():
    found, kernel = counted([1, 5, 100])
    assert found == [2, 6, 101]
    assert not kernel.overloads


def test_much_work_is_compiled_and_all_calls_count():
    found, kernel = counted([tiers.STEPS + 1])
    assert found == [tiers.STEPS + 2]
    assert kernel.overloads
    _, kernel = counted([tiers.STEPS // 2] * 3)
    assert kernel.overloads


def test_ahead_everything_is_compiled():
    with tiers.at_once():
        found, kernel = counted([1])
    assert found == [2]
    assert kernel.overloads


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("length", "share"), [(0, 0), (1, 0), (7, 0), (100, 3)])
def test_threads_do_each_part_once(monkeypatch, threads, length, share):
    monkeypatch.setattr(numba, "get_num_threads", lambda: threads)
    done = np.zeros(length, np.int64)

    def part(first, end, more):
        done[first:end] += more

    parallel.spread(part, length, 2, share=share)
    assert (done == 2).all()


def test_an_error_in_a_thread_is_not_lost(monkeypatch):
    monkeypatch.setattr(numba, "get_num_threads", lambda: 2)

    def fail(first, end):
        raise KeyError(first)

    with pytest.raises(KeyError):
        parallel.spread(fail, 5)


@pytest.mark.parametrize("seed", range(3))
def test_extreme_sums_against_counting(seed):
    rng = np.random.default_rng(seed)
    sizes = np.array([2, 3, 4])
    codes = np.array([rng.integers(0, size, 30) for size in sizes])
    counts = rng.integers(1, 9, 30).astype(np.int32)
    members = np.array([[0, 1], [0, 2], [1, 2]])
    least, greatest = widths.extreme_sums(codes, sizes, counts, 10, members)
    for m, (a, b) in enumerate(members):
        agree = (codes[a][:, None] == codes[a][:10]) & (codes[b][:, None] == codes[b][:10])
        sums = counts @ agree
        assert (least[m], greatest[m]) == (sums.min(), sums.max())
