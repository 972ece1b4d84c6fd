"""Folders that are one table: what their logs and names say is never lost."""

import builtins

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from discreet.data.sources import open_source
from discreet.errors import DataError
from discreet.table.load import load
from discreet.table.microdata import Microdata

PEOPLE = pd.DataFrame({"Sex": [*"ffmmf"], "Town": ["Ash", "Elm", "Ash", "Oak", "Oak"]})


@pytest.fixture
def delta(tmp_path):
    """Five people, of whom the two of Oak are gone, and one who came."""
    folder = tmp_path / "people"
    write_deltalake(folder, pa.Table.from_pandas(PEOPLE))
    DeltaTable(folder).delete("Town = 'Oak'")
    write_deltalake(folder, pa.table({"Sex": ["f"], "Town": ["Birch"]}), mode="append")
    return folder


def test_a_delta_table_is_what_its_log_says(delta):
    assert len(list(delta.glob("*.parquet"))) == 3  # the first is counted no more
    now = pd.concat([PEOPLE[PEOPLE.Town != "Oak"], pd.DataFrame({"Sex": ["f"], "Town": ["Birch"]})])
    assert load(delta, records=True) == load(now, records=True)
    source = open_source(delta)
    assert "Delta table, version 2" in source.notes[0]
    assert (source.ordered, source.version) == (
        False,
        f"{DeltaTable(delta).metadata().id} version 2",
    )


def test_files_of_a_delta_table_are_not_read_alone(delta):
    paths = sorted(delta.glob("*.parquet"))
    for data in (paths[0], str(delta / "*.parquet"), paths):
        with pytest.raises(
            DataError, match="is a file of a Delta table, which may count it no more"
        ):
            load(data, records=True)


def test_a_version_is_what_a_checkpoint_knows_a_delta_table_by(delta, tmp_path):
    people = Microdata.read(delta, records=True)
    first = people.table(checkpoint=tmp_path / "kept")
    assert Microdata.read(delta, records=True).table(checkpoint=tmp_path / "kept") == first
    write_deltalake(delta, pa.table({"Sex": ["m"], "Town": ["Elm"]}), mode="append")
    with pytest.raises(DataError, match="of other data: the data changed since"):
        Microdata.read(delta, records=True).table(checkpoint=tmp_path / "kept")


def test_rows_that_are_gone_within_a_file_are_not_counted(tmp_path):
    """Deletion vectors, which the reader does not know: a sentence and no table."""
    folder = tmp_path / "people"
    marked = {"delta.enableDeletionVectors": "true"}
    write_deltalake(folder, pa.Table.from_pandas(PEOPLE), configuration=marked)
    with pytest.raises(DataError, match="features that are not read here; read it through Spark"):
        load(folder, records=True)


def test_without_its_reader_a_delta_table_is_refused(delta, monkeypatch):
    found = builtins.__import__

    def lacking(name, *rest, **more):
        if name == "deltalake":
            raise ImportError(name)
        return found(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(
        DataError, match=r"its reader is not installed; pip install 'discreet\[delta"
    ):
        load(delta, records=True)


@pytest.mark.parametrize("mark", ["metadata/version-hint.text", ".hoodie/x"])
def test_other_tables_with_a_log_are_refused(tmp_path, mark):
    path = tmp_path / "people" / mark
    path.parent.mkdir(parents=True)
    path.touch()
    PEOPLE.to_parquet(tmp_path / "people" / "part.parquet")
    with pytest.raises(DataError, match=r"is a table of (Iceberg|Hudi)"):
        load(tmp_path / "people", records=True)


def partitioned(folder, frame, *columns):
    pq.write_to_dataset(pa.Table.from_pandas(frame), folder, partition_cols=list(columns))
    return folder


def test_columns_in_the_names_of_folders_are_read(tmp_path):
    frame = PEOPLE.assign(
        Code=["01", "1", "a b/ü", None, "01"], Year=[2020, 2021, 2020, 2020, 2021]
    )
    folder = partitioned(tmp_path / "people", frame, "Year", "Code")
    (folder / "_SUCCESS").touch()
    found = load(folder, records=True)
    assert found.reorder(frame.columns) == load(frame, records=True)
    assert "'Year', 'Code' from the names of their folders" in open_source(folder).notes[0]


def test_columns_in_the_names_of_folders_are_not_lost(tmp_path):
    folder = partitioned(tmp_path / "people", PEOPLE, "Town")
    with pytest.raises(DataError, match="lie in folders named like columns, 'Town=Ash' and 'Town="):
        load(str(folder / "*" / "*.parquet"), records=True)
    (one,) = (folder / "Town=Elm").glob("*.parquet")
    assert "the column 'Town' is not read" in open_source(one).notes[0]
    PEOPLE[["Sex"]].to_parquet(folder / "more.parquet")
    with pytest.raises(DataError, match=r"'more.parquet' does not lie in folders named 'Town="):
        load(folder, records=True)
    (folder / "more.parquet").rename(folder / "Town=Ash" / "more.csv")
    with pytest.raises(DataError, match=r"holds 'more.csv', which is no Parquet"):
        load(folder, records=True)
    (folder / "Town=Ash" / "more.csv").unlink()
    PEOPLE.to_parquet(folder / "Town=Ash" / "more.parquet")
    with pytest.raises(
        DataError, match=r"'Town' is a column of 'more.parquet' and named|do not both"
    ):
        load(folder, records=True)


def test_many_files_are_read_where_they_lie(tmp_path):
    for place in range(3):
        PEOPLE[place : place + 2].to_parquet(tmp_path / f"{place}.parquet", index=False)
    source = open_source(tmp_path)
    assert source.records.get_backend().con.execute("FROM duckdb_tables()").fetchall() == []
    assert len(source.files) == 3
    assert load(tmp_path, records=True).total == 6
