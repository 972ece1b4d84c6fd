from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.codebook import Codebook
from discreet.errors import CodebookError, DataError, FormulaError
from discreet.table.microdata import Microdata
from discreet.table.table import Table


@pytest.fixture
def people():
    frame = pd.DataFrame(
        {"Sex": ["f", "m", "f", None], "Ill": ["no", "no", "yes", "no"], "w": [1.5, 2, 3, 4]}
    )
    book = Codebook.of(
        {"Ill": {"role": "sensitive", "categories": ["yes", "no"], "sensitive": ["yes"]}},
        missing="drop",
        weights="w",
        sampling_fraction=0.01,
    )
    return Microdata.read(frame, codebook=book)


def test_records_become_a_table(people):
    table = people.table()
    assert people.columns == table.names == ("Sex", "Ill")
    assert table.dense().tolist() == [[1, 1], [0, 1]]
    assert (table.dropped, table.sampling_fraction) == (1, 0.01)
    assert table.variable("Ill").sensitive_codes == (0,)
    assert people.table("Ill").total == people.table(["Ill"]).total == 4
    assert people.table("Ill*Sex").names == ("Sex", "Ill")
    assert people.table(["Ill", "Sex"]).names == ("Ill", "Sex")
    assert len(people) == 4
    assert repr(people) == "Microdata(2 variables of the frame)"


def test_what_cannot_be_counted(people):
    with pytest.raises(DataError, match="the frame has no column 'Age'; it has Sex, Ill, w"):
        people.table(["Age"])
    with pytest.raises(FormulaError, match="Age"):
        people.table("Sex*Age")
    with pytest.raises(FormulaError, match="names 2 margins"):
        people.table("Sex + Ill")
    with pytest.raises(DataError, match="column 'w' is the weight"):
        people.table(["w"])
    with pytest.raises(CodebookError, match="the codebook describes 'Age', but the data have no"):
        Microdata.read(pd.DataFrame({"Sex": ["f"]}), codebook=Codebook.of({"Age": {}}))


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 4))
def test_a_table_of_records_and_its_margins(seed, records, columns):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {f"V{p}": rng.choice(list("abc"), records).astype(str) for p in range(columns)}
    )
    people = Microdata.read(frame)
    table = people.table()
    assert table.total == records
    cells = [tuple(cell.values()) for cell in table.nonzero()]
    assert dict(zip(cells, table.counts.tolist(), strict=True)) == Counter(
        frame.itertuples(index=False, name=None)
    )
    assert people.table(["V0"]) == table.margin(["V0"])
    again = table.to_frame()
    repeated = again.loc[again.index.repeat(again["count"])].drop(columns="count")
    assert Microdata.read(repeated).table() == table
    assert Table.read(again, count="count") == table


def test_a_file_is_counted_where_it_lies(tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({f"V{p}": rng.integers(0, 12, 3000) for p in range(3)})
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_csv(tmp_path / "x.csv", index=False)
    table = Microdata.read(tmp_path / "x.parquet").table()
    assert table == Microdata.read(tmp_path / "x.csv").table() == Microdata.read(frame).table()
    assert table.variables[0].categories == tuple(map(str, range(12)))
    dense = np.zeros((12, 12, 12), int)
    np.add.at(dense, tuple(frame.to_numpy().T), 1)
    assert (table.dense() == dense).all()


def test_three_hundred_columns_are_counted():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.integers(0, 3, (200, 300)), columns=[f"V{p}" for p in range(300)])
    people = Microdata.read(pd.concat([frame, frame]))
    table = people.table()
    assert (len(table), table.total) == (200, 400)
    assert table.margin(["V0", "V299"]) == people.table(["V0", "V299"])
