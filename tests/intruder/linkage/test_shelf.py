"""Pairs in memory and on disk: the same answer to the last bit, and nothing left behind."""

import errno
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import discreet as dc
from discreet._kernels.components import components, join, turn
from discreet.errors import DataError
from discreet.intruder.linkage import blocking, search, shelf
from discreet.intruder.linkage.blocking import find_candidates
from discreet.intruder.linkage.encode import encode
from discreet.intruder.linkage.links import given_present, solve
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.intruder.linkage.shelf import Shelf, blocks


def files(rng, sources, released, spread, keep, more):
    y, c = rng.normal(size=sources).round(2), rng.integers(0, 3, sources)
    some = rng.permutation(sources)[:released]
    x = y[some] + spread * rng.normal(size=released)
    seen = np.where(rng.random(released) < keep, c[some], rng.integers(0, 3, released))
    kind = {"kind": "exact"} if keep == 1 else {"kind": "category", "keep": keep}
    intruder = Intruder.of({"keys": {"n": {"kind": "normal", "spread": spread}, "c": kind} | more})
    people = pd.DataFrame({"n": y, "c": c, "id": np.arange(sources)})
    masked = pd.DataFrame({"n": x, "c": seen, "id": some})
    return read_records(people, masked, intruder, id="id"), intruder


def answers(links, parents):
    """All that is read from links."""
    present = given_present(links)
    pairs = links.pairs(parents, np.arange(len(parents)))
    sums = (links.perceived, links.null, links.ties, links.best, pairs, present.chances)
    return (links.chances, links.places, links.starts, *sums)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    spread=st.sampled_from([0.01, 0.1, 0.5]),
    keep=st.sampled_from([1.0, 0.9]),
    dense=st.sampled_from([0, 10**6]),
    exact=st.sampled_from([0, 1 << 9, 1 << 20]),
    strangers=st.sampled_from([0, 7]),
)
def test_pairs_on_disk_give_the_same_links(seed, spread, keep, dense, exact, strangers):
    """However small the blocks and the pieces are."""
    rng = np.random.default_rng(seed)
    records, intruder = files(rng, 50, int(rng.integers(5, 51)), spread, keep, {})
    data, found = encode(records, intruder), []
    with pytest.MonkeyPatch.context() as patch:
        for own, piece in ((Shelf(), 1 << 20), (Shelf(0, block=200), 40), (Shelf(3_000), 200)):
            patch.setattr(blocking, "PIECE", piece)
            patch.setattr(search, "PIECE", piece)
            pruned = find_candidates(data, lose=1e-3, top=20, dense=dense, shelf=own)
            links = solve(pruned, strangers=strangers, exact=exact, shelf=own)
            found.append(answers(links, records.parents))
            assert own.on_disk or own.memory > 0
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            assert one.dtype == same.dtype
            assert (np.asarray(one) == np.asarray(same)).all()


def test_beliefs_of_their_own_on_disk():
    laplace = {"n": {"kind": "laplace", "spread": 0.1}}
    records, intruder = files(np.random.default_rng(4), 60, 30, 0.1, 0.9, laplace)
    data = encode(records, intruder)
    found = []
    for own in (Shelf(), Shelf(0, block=100)):
        pruned = find_candidates(data, lose=1e-3, top=5, dense=0, shelf=own)
        assert np.diff(pruned.starts).max() == 5
        found.append(solve(pruned, shelf=own))
    assert (found[0].chances == found[1].chances).all()


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_workers_and_their_memory_change_nothing(workers, monkeypatch):
    """The memory that workers may take decides where pairs lie, and nothing else."""
    monkeypatch.setattr(search, "PIECE", 500)
    records, intruder = files(np.random.default_rng(9), 90, 80, 0.3, 0.9, {})
    plain = dc.linkage.link(records, intruder, dense=0)
    with dc.workers(workers, memory=2_000):
        assert shelf.room() == 1_000
        found = dc.linkage.link(records, intruder, dense=0)
    assert (found.chances == plain.chances).all()
    assert repr(found) == repr(plain)


def test_nothing_has_a_name_on_disk(tmp_path, monkeypatch):
    """So that nobody else opens it, and nothing is left when the program is killed."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    array = Shelf(0).empty(1_000)
    array[:] = np.arange(1_000)
    shelf.forget()
    assert list(tmp_path.iterdir()) == []
    assert array.sum() == 499_500
    assert len(shelf._maps) >= 1


def test_a_full_disk_is_said_in_a_sentence(monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(DataError, match=r"no room in .* \(no space left on device\); allow more"):
        Shelf(0).empty(1_000)


@pytest.mark.parametrize("seed", range(5))
def test_what_hangs_together(seed):
    """Against scipy, which numbers components by their first record too."""
    rng = np.random.default_rng(seed)
    many, others = 30, 40
    sizes = rng.integers(0, 3, many)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places = rng.integers(0, others, starts[-1]).astype(np.int32)
    parent = np.arange(many + others)
    for first, end in blocks(starts, 5):
        join(first, end, starts, places, parent)
    count, of = components(parent)
    rows = np.repeat(np.arange(many), sizes)
    graph = coo_array((np.ones(len(rows)), (rows, many + places)), shape=(many + others,) * 2)
    truth = connected_components(graph, directed=False)
    assert count == truth[0]
    assert (of == truth[1]).all()

    edges = np.empty(len(places), np.int32)
    begin = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=others))])
    ends = begin[:-1].copy()
    for first, end in blocks(starts, 5):
        turn(first, end, starts, places, ends, edges)
    assert (edges == np.lexsort([rows, places])).all()
    assert (ends == begin[1:]).all()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 20))
def test_blocks_are_full_and_in_order(sizes, most):
    starts = np.concatenate([[0], np.cumsum(sizes)])
    found = blocks(starts, most)
    assert [first for first, _ in found] == [0, *(end for _, end in found[:-1])]
    assert found[-1][1] == len(sizes)
    for first, end in found:
        assert end == first + 1 or starts[end] - starts[first] <= most
        assert end == len(sizes) or starts[end + 1] - starts[first] > most or end == first + 1


@pytest.mark.parametrize("kind", ["int64", "str", "mixed"])
def test_parents_by_their_ids(kind):
    """Numbers, texts with blanks, and numbers beside texts find the same rows."""
    rng = np.random.default_rng(1)
    ids = rng.permutation(500)[:200]
    some = rng.permutation(200)[:60]
    sides = [pd.Series(ids), pd.Series(ids[some])]
    if kind != "int64":
        sides[1] = sides[1].astype(str) + " "
    if kind == "str":
        sides[0] = " " + sides[0].astype(str)
    intruder = Intruder.of({"keys": {"n": {"kind": "normal", "spread": 1}}})
    people = pd.DataFrame({"n": np.arange(200.0), "id": sides[0]})
    masked = pd.DataFrame({"n": np.arange(60.0), "id": sides[1]})
    records = read_records(people, masked, intruder, id="id")
    assert (records.parents == some).all()
    again = people.assign(id=people["id"].where(people.index != 7, people["id"][3]))
    with pytest.raises(DataError, match="not unique: see row 8"):
        read_records(again, masked, intruder, id="id")
