"""Folders of cells: what is written is read again, and whatever is not whole is refused."""

import json
import os
import stat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.codebook import Variable
from discreet.data.hierarchy import Hierarchy
from discreet.data.stored import LISTED, StoredCells, is_stored
from discreet.data.storing import CellsWriter
from discreet.data.variable import Role
from discreet.errors import DataError, OutputError
from discreet.table.stored_table import StoredTable
from discreet.table.table import Table
from oracle import named, small_tables

SEX = Variable("Sex", ("f", "m"))
TOWN = Variable(
    "Town",
    ("Ulm", "Bonn", "Köln"),
    Role.SENSITIVE,
    ("Ulm",),
    Hierarchy.of({"Bonn": "west", "Köln": "west"}),
    (("Ulm", 0.0, 1.5),),
)


@pytest.fixture
def folder(tmp_path):
    writer = CellsWriter(tmp_path / "people.cells", [SEX, TOWN], sampling_fraction=0.5)
    writer.write(0, {"Sex": [0, 1], "Town": [2, 0]}, [4, 1])
    writer.write(1, {"Sex": [1, 0, 1], "Town": [1, 1, 2]}, np.array([2, 0, 9]))
    writer.finish(dropped=3)
    return tmp_path / "people.cells"


def test_what_is_written_is_read(folder):
    cells = StoredCells.open(folder)
    assert (len(cells), cells.total, cells.dropped, cells.sampling_fraction) == (4, 16, 3, 0.5)
    assert cells.variables == (SEX, TOWN)  # roles, hierarchies and values too
    found = [
        (*map(int, row), int(n))
        for columns, counts in cells.batches()
        for *row, n in zip(*columns, counts, strict=True)
    ]
    assert found == [(0, 2, 4), (1, 0, 1), (1, 1, 2), (1, 2, 9)]
    cells.check_cells()


def test_only_its_owner_reads_it(folder):
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_writer_goes_on_where_it_stopped(tmp_path):
    place = tmp_path / "people.cells"
    CellsWriter(place, [SEX]).write(0, {"Sex": [0]}, [5])
    assert is_stored(place)
    with pytest.raises(DataError, match="was not written to its end"):
        StoredCells.open(place)
    (place / ".part-00001.parquet.77").write_bytes(b"half")
    again = CellsWriter(place, [SEX])
    assert again.has(0)
    assert not again.has(1)
    assert again.done == (0,)
    again.write(1, {"Sex": [1]}, [6])
    assert again.finish().total == 11
    with pytest.raises(OutputError, match="is there already"):
        CellsWriter(place, [SEX])


def test_a_part_that_fails_leaves_nothing(tmp_path):
    writer = CellsWriter(tmp_path / "people.cells", [SEX])

    def broken():
        yield {"Sex": [0]}, [1]
        raise DataError("lost")

    with pytest.raises(DataError, match="lost"):
        writer.write_batches(0, broken())
    assert [path.name for path in writer.folder.iterdir()] == [LISTED]


@pytest.mark.parametrize(
    ("columns", "counts", "said"),
    [
        ({"Sex": [0, 2]}, [1, 1], "outside its 2 categories"),
        ({"Sex": [0, -1]}, [1, 1], "outside its 2 categories"),
        ({"Sex": [0]}, [1, 1], "not one code for each count"),
        ({"Sex": [0.0]}, [1], "not one code for each count"),
        ({"Sex": [0]}, [-1], "no whole number from 0 on"),
        ({"Sex": [0]}, [1.5], "no whole number from 0 on"),
    ],
)
def test_wrong_cells_are_not_written(tmp_path, columns, counts, said):
    writer = CellsWriter(tmp_path / "people.cells", [SEX])
    with pytest.raises(DataError, match=said):
        writer.write(0, columns, counts)


def test_other_variables_or_files_in_the_folder_are_not_touched(tmp_path, folder):
    place = tmp_path / "begun.cells"
    CellsWriter(place, [SEX])
    with pytest.raises(OutputError, match="was begun with other variables"):
        CellsWriter(place, [TOWN])
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("a")
    with pytest.raises(OutputError, match="has other files in it"):
        CellsWriter(tmp_path / "letters", [SEX])
    with pytest.raises(OutputError, match="cannot write"):
        CellsWriter(tmp_path / "no" / "such", [SEX])
    with pytest.raises(DataError, match="each named once"):
        CellsWriter(tmp_path / "twice", [SEX, SEX])


def test_an_empty_table_is_not_finished(tmp_path):
    with pytest.raises(DataError, match="the counts sum to 0"):
        CellsWriter(tmp_path / "people.cells", [SEX]).finish()


def relist(folder, **changes):
    listed = json.loads((folder / LISTED).read_text())
    (folder / LISTED).write_text(json.dumps(listed | changes))


def swap_columns(folder):
    """The second part in place of the first: whole, and another part."""
    os.replace(folder / "part-00001.parquet", folder / "part-00000.parquet")


def flip_a_byte(folder):
    path = folder / "part-00000.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 255
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda f: (f / LISTED).unlink(), "has no cells.json"),
        (lambda f: (f / LISTED).write_text("{"), "cells.json of .* is damaged"),
        (lambda f: (f / LISTED).write_text("[]"), "of another program"),
        (lambda f: relist(f, kind="other"), "of another program"),
        (lambda f: relist(f, format=2), "has the format 2, and this version reads 1"),
        (lambda f: relist(f, total=17), "cells.json of .* is damaged"),
        (lambda f: relist(f, variables=[{}]), "cells.json of .* is damaged"),
        (lambda f: relist(f, parts=[{"number": 0}]), "cells.json of .* is damaged"),
        (lambda f: (f / "part-00001.parquet").unlink(), "part-00001.parquet of .* is damaged"),
        (lambda f: (f / "part-00000.parquet").write_bytes(b"PAR1"), "part-00000.parquet of"),
        (swap_columns, "is damaged or missing"),
        (
            lambda f: relist(f, count="Sex"),
            "part-00000.parquet of .* is damaged",
        ),
    ],
)
def test_what_is_damaged_or_foreign_is_refused(folder, harm, said):
    harm(folder)
    with pytest.raises(DataError, match=said):
        StoredCells.open(folder)


def test_a_category_less_is_a_code_outside(folder):
    listed = json.loads((folder / LISTED).read_text())
    listed["variables"][1] |= {"categories": ["Ulm", "Bonn"], "hierarchy": None}
    (folder / LISTED).write_text(json.dumps(listed))
    with pytest.raises(DataError, match="is damaged"):
        StoredCells.open(folder)


def test_a_flipped_byte_is_noticed(folder):
    cells = StoredCells.open(folder)
    flip_a_byte(folder)
    with pytest.raises(DataError, match="is damaged"):
        list(cells.batches())


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="is a file"):
        StoredCells.open(tmp_path / "file")


@pytest.mark.parametrize("parts", [((0, 0),), ((0,), (0,))])
def test_a_cell_that_stands_twice_is_found(tmp_path, parts):
    writer = CellsWriter(tmp_path / "people.cells", [SEX, TOWN])
    for number, codes in enumerate(parts):
        writer.write(number, {"Sex": codes, "Town": [1] * len(codes)}, [1] * len(codes))
    with pytest.raises(DataError, match="the cell Sex=f, Town=Bonn 2 times"):
        writer.finish().check_cells()


def test_a_variable_called_count(tmp_path):
    table = Table.of([[1, 0], [2, 3]], count=["a", "b"], count_=["c", "d"])
    stored = table.store(tmp_path / "x.cells")
    assert stored.cells.count == "count__"
    assert stored.loaded() == table


@given(small_tables(), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_a_stored_table_is_the_table(tmp_path_factory, array, small):
    table = named(array)
    stored = table.store(tmp_path_factory.mktemp("cells") / "x.cells")
    again = StoredTable.open(stored.cells.folder)
    assert again.loaded() == table
    assert len(again) == len(table)
    assert again.total == table.total
    assert again.small_cells(small) == len(table.small(small))
    assert all(again.margin([name]) == table.margin([name]) for name in table.names)
