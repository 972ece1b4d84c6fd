"""Tables on disk: margins, what fits in memory, bit maps against plain counting."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Variable
from discreet.data.storing import CellsWriter
from discreet.errors import DataError
from discreet.release.release import Release
from discreet.table import bitmaps, mapped_counts, stored_table
from discreet.table.bitmaps import BitMaps
from discreet.table.load import load
from discreet.table.mapped_counts import corner_counts, key_sums
from discreet.table.stored_table import StoredTable
from discreet.table.table import Table


def random_table(sizes, cells, seed, most=6):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.binomial(size - 1, 0.4, cells) for size in sizes], 1).astype(np.uint32)
    variables = [Variable(f"v{p}", tuple(map(str, range(s)))) for p, s in enumerate(sizes)]
    return Table.from_cells(variables, codes, rng.integers(1, most + 1, cells))


@pytest.fixture
def table():
    return random_table((3, 1, 4, 20, 2), 700, 3, 9)


@pytest.fixture
def stored(table, tmp_path):
    return table.store(tmp_path / "x.cells")


@pytest.fixture
def nothing_fits(monkeypatch):
    monkeypatch.setattr(stored_table, "MOST_BYTES", 0)


def test_margins_are_those_of_the_table(table, stored, monkeypatch):
    for order in range(6):
        for names in combinations(table.names[::-1], order):
            assert stored.margin(names) == table.margin(names)
    assert stored.margin("v0*v3") == table.margin("v0*v3")
    monkeypatch.setattr(stored_table, "MOST_CELLS", 3)  # merged, not added up in one array
    assert stored.margin(["v3", "v0"]) == table.margin(["v3", "v0"])


def test_several_parts(table, tmp_path, monkeypatch):
    monkeypatch.setattr(stored_table, "PART", 100)
    stored = table.store(tmp_path / "x.cells")
    assert len(stored.cells.parts) == -(-len(table) // 100)
    assert stored.loaded() == table


def test_what_a_table_knows_is_kept(tmp_path):
    table = load("example:tract")
    table = Table(
        table.variables, table.codes, table.counts, dropped=4, sampling_fraction=0.25
    ).excluding([])
    found = table.store(tmp_path / "x.cells").loaded()
    assert (found.dropped, found.sampling_fraction) == (4, 0.25)
    assert found.variables == table.variables
    nested = Table.of([4, 4, 1], Hair=["Black", "Red", "Blond"]).beside(
        "Hair", "Shade", {"Black": "dark", "Red": "light", "Blond": "light"}
    )
    stored = nested.store(tmp_path / "y.cells")
    assert stored.loaded().impossible == nested.impossible == stored.impossible
    assert stored.margin("Hair").impossible == ()


def test_what_nobody_looked_for_is_found(tmp_path):
    """A folder that states nothing of impossible combinations is read as any file of cells is."""
    rng = np.random.default_rng(0)
    fine = rng.integers(0, 6, 400)
    columns = {"Age": fine, "Young": fine // 3, "Sex": rng.integers(0, 2, 400)}
    frame = pd.DataFrame(columns).astype(str).value_counts().reset_index(name="n")
    known = load(frame, count="n")
    assert known.codings
    assert known.impossible == ()
    writer = CellsWriter(tmp_path / "x.cells", known.variables)
    columns = dict(zip(known.names, known.codes.T, strict=True))
    writer.write(0, columns, known.counts)
    writer.finish()
    found = load(tmp_path / "x.cells")
    assert found == known
    assert (found.impossible, found.codings) == (known.impossible, known.codings)
    assert load(tmp_path / "x.cells", variables=["Age", "Young"]).codings == known.codings
    assert load(tmp_path / "x.cells", variables=["Age", "Sex"]).codings == ()
    again = known.store(tmp_path / "y.cells")
    assert (again.impossible, again.codings) == ((), known.codings)
    listed = tmp_path / "y.cells" / "cells.json"  # as earlier versions wrote it
    old = json.loads(listed.read_text())
    ((a, b, number, combinations, _),) = old.pop("codings")
    del old["nestings"]
    old |= {"impossible": combinations, "codings": [[a, b, number, True]]}
    listed.write_text(json.dumps(old))
    before = load(tmp_path / "y.cells")
    assert (before.impossible, before.codings) == ((), known.codings)


def test_load_takes_a_folder_of_cells(table, stored, tmp_path):
    assert load(str(tmp_path / "x.cells")) == load(tmp_path / "x.cells") == table
    assert load(tmp_path / "x.cells", variables="v0*v2") == table.margin("v0*v2")
    assert load(tmp_path / "x.cells", variables=["v2", "v0"]) == table.margin(["v2", "v0"])
    for other in (
        {"count": "n"},
        {"records": True},
        {"without": ["v0"]},
        {"totals": "keep"},
        {"impossible": "none"},
    ):
        with pytest.raises(DataError, match="counted already"):
            load(tmp_path / "x.cells", **other)


def test_cells_are_not_taken_for_people(stored, tmp_path):
    import discreet as dc

    for read in (dc.describe, dc.Microdata.read, lambda data: dc.uniques(data, ["v0"])):
        with pytest.raises(DataError, match="is a folder of cells, which has codes and counts"):
            read(tmp_path / "x.cells")


def test_what_does_not_fit_is_refused(stored, tmp_path, nothing_fits):
    assert not stored.fits
    with pytest.raises(DataError, match=r"is too large to be held in memory; name some"):
        load(tmp_path / "x.cells")
    assert load(tmp_path / "x.cells", variables="v0").total == stored.total


def test_a_margin_that_is_too_large_is_refused(stored, monkeypatch, nothing_fits):
    monkeypatch.setattr(stored_table, "MOST_CELLS", 1)
    with pytest.raises(DataError, match="the margin of v0, v3 has too many cells"):
        stored.margin(["v0", "v3"])


def test_wrong_margins_and_doors(stored):
    with pytest.raises(DataError, match="names 'v0' twice"):
        stored.margin(["v0", "v0"])
    with pytest.raises(DataError, match="no variable 'w'"):
        stored.margin(["w"])
    import discreet as dc

    with pytest.raises(DataError, match=r"assess needs the table in memory.*stored.loaded\(\)"):
        dc.assess(stored, "v0")
    with pytest.raises(DataError, match="asks about a release"):
        dc.bounds(stored, "v0")
    assert "StoredTable(5 variables" in repr(stored)
    assert "v0" in stored._repr_html_()
    assert isinstance(StoredTable.open(stored.cells.folder), StoredTable)
    assert Release.margins(stored.loaded(), "v0*v2").total == stored.total


# Bit maps


def plain(table, members, small):
    """Counts and small cells of a margin, cell by cell."""
    sizes = [table.shape[v] for v in members]
    people, smalls = np.zeros(sizes, np.int64), np.zeros(sizes, np.int64)
    for cell, count in zip(table.codes.tolist(), table.counts.tolist(), strict=True):
        place = tuple(cell[v] for v in members)
        people[place] += count
        smalls[place] += count <= small
    return people, smalls


@pytest.mark.parametrize("small", [1, 2, 6])
@pytest.mark.parametrize("on_disk", [False, True])
def test_maps_count_as_cells_do(table, stored, small, on_disk, monkeypatch):
    monkeypatch.setattr(bitmaps, "CHUNK_BYTES", 1 << 12)
    monkeypatch.setattr(bitmaps, "BLOCK_WORDS", 64)
    monkeypatch.setattr(mapped_counts, "MOST_SUMS", 50)
    with BitMaps.of(stored if on_disk else table, small) as maps:
        assert (maps.folder is not None) == on_disk
        assert len(list(maps.chunks())) > 1
        assert maps.small_cells == len(table.small(small))
        assert maps.cells == len(table)
        for members in [(0,), (3,), (0, 2), (2, 4), (0, 3), (0, 2, 4), (0, 1, 2, 3, 4)]:
            people, smalls = plain(table, members, small)
            found = list(key_sums(maps, members))
            assert np.array_equal(np.concatenate([p for p, _ in found]), people.ravel())
            assert np.array_equal(np.concatenate([s for _, s in found]), smalls.ravel() > 0)
            if 3 not in members:
                corners, begins = corner_counts(maps, np.array([members]))
                inner = tuple(slice(1, None) for _ in members)
                assert np.array_equal(corners[0], people[inner].ravel())
                assert np.array_equal(corners[1] > 0, smalls[inner].ravel() > 0)
                assert begins.tolist() == [0]
    assert maps.folder is None or not maps.folder.exists()


def test_counts_beyond_32_bits(tmp_path):
    table = Table.of([[2**31, 1], [2**33 + 5, 2**40]], A=["a", "b"], B=["c", "d"])
    with BitMaps.of(table, 2) as maps:
        ((people, there),) = key_sums(maps, [0, 1])
        assert people.tolist() == table.counts.tolist()
        assert there.tolist() == [False, True, False, False]


def test_margins_of_too_many_keys_are_refused():
    variables = [Variable(f"v{p}", tuple(map(str, range(300)))) for p in range(4)]
    table = Table.from_cells(variables, np.zeros((1, 4), np.uint16), np.ones(1, np.int64))
    with BitMaps.of(table, 2) as maps, pytest.raises(DataError, match="has 8,100,000,000 cells"):
        next(key_sums(maps, [0, 1, 2, 3]))


def test_maps_go_where_they_can_be_written(stored, monkeypatch, tmp_path):
    made, real = [], bitmaps.tempfile.mkdtemp

    def mkdtemp(prefix, dir=None):
        made.append(dir)
        if dir is not None:
            raise OSError("read only")
        return real(prefix=prefix, dir=tmp_path)

    monkeypatch.setattr(bitmaps.tempfile, "mkdtemp", mkdtemp)
    with BitMaps.of(stored, 2) as maps:
        assert maps.folder.parent == tmp_path
    assert made == [stored.cells.folder, None]
