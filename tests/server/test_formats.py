"""A table in every format is the same table."""

import csv
import io
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyjstat import pyjstat

from discreet.decision.policy import Policy
from discreet.server.catalogue import Overview, Published
from discreet.server.formats import Format, as_json_stat, write

ODD = [
    "=1+1",
    "+1",
    "-5 to 0",
    "@here",
    "\tx",
    'a "b"',
    "a,b",
    "line\nbreak",
    "cr\rx",
    "ä",
    "",
    "*/",
]
LABELS = st.sampled_from(ODD) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
)
NAMES = LABELS.filter(bool).filter(lambda name: name not in ("value", "Status"))


@st.composite
def tables(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    variables = tuple(
        (name, tuple(draw(st.lists(LABELS, min_size=1, max_size=4, unique=True)))) for name in names
    )
    shape = tuple(len(categories) for _, categories in variables)
    counts = draw(st.lists(st.integers(0, 2**53), min_size=(n := int(np.prod(shape))), max_size=n))
    at = "2026-11-15T16:41:49.000123+00:00"
    overview = Overview(1, "s", "A title", at, variables, Policy(), 1, 5, False, None)
    return Published(overview, tuple(names), np.array(counts, np.int64).reshape(shape), 4, at, "h")


@pytest.fixture
def published():
    variables = (("Race", ("White", "Black")), ("Age group", ("young", "old")))
    overview = Overview(1, "s", "T", "2026", variables, Policy(), 1, 5, False, None)
    return Published(overview, ("Race", "Age group"), np.array([[1, 2], [3, 4]]), 4, "2026", "h")


def cells(table):
    """Labels and counts, the last variable running fastest."""
    found = []
    for place in np.ndindex(*table.counts.shape):
        labels = [c[i] for c, i in zip(table.categories, place, strict=True)]
        found.append((labels, int(table.counts[place])))
    return found


@pytest.mark.filterwarnings("ignore:Shouldn't use this:DeprecationWarning:pyjstat")  # says itself
@given(tables())
@settings(max_examples=60, deadline=None)
def test_json_stat_is_read_back_by_pyjstat(table):
    text = write(table, Format.JSON_STAT).body.decode()
    dataset = pyjstat.Dataset.read(text)
    frame = dataset.write("dataframe")
    assert list(frame.columns) == [*table.names, "value"]
    rows = [(list(row[:-1]), int(row[-1])) for row in frame.itertuples(index=False, name=None)]
    assert rows == cells(table)
    assert dataset["id"] == list(table.names)
    assert dataset["size"] == list(table.counts.shape)


def test_json_stat_keeps_what_it_must(published):
    found = as_json_stat(published, "https://office.example")
    assert (found["version"], found["class"]) == ("2.0", "dataset")
    assert found["updated"] == published.at
    assert "https://office.example/api/v1/datasets/s/tables/Race*Age%20group" in found["source"]


@given(tables())
@settings(max_examples=60, deadline=None)
def test_csv_is_read_back_and_starts_no_formula(table):
    written = write(table, Format.CSV)
    head, *rows = csv.reader(io.StringIO(written.body.decode(), newline=""))
    assert [safe(name) for name in table.names] == head[:-1]
    assert [(row[:-1], int(row[-1])) for row in rows] == [
        ([safe(label) for label in labels], count) for labels, count in cells(table)
    ]
    assert not any(field.startswith(("=", "+", "-", "@", "\t", "\r")) for r in rows for field in r)


def safe(label):
    return f"'{label}" if label[:1] in tuple("=+-@\t\r") else label


@given(tables())
@settings(max_examples=30, deadline=None)
def test_parquet_is_read_back(table):
    found = pq.read_table(io.BytesIO(write(table, Format.PARQUET).body))
    assert json.loads(found.schema.metadata[b"source"])["entry"] == table.entry
    columns = [column.to_pylist() for column in found.columns]
    assert [(list(row[:-1]), row[-1]) for row in zip(*columns, strict=True)] == cells(table)


@given(tables())
@settings(max_examples=30, deadline=None)
def test_json_is_read_back(table):
    found = json.loads(write(table, Format.JSON).body)
    assert found["values"] == [count for _, count in cells(table)]
    assert found["total"] == table.total
    assert [v["name"] for v in found["variables"]] == list(table.names)
    assert [tuple(v["categories"]) for v in found["variables"]] == list(table.categories)


def test_a_variable_called_count_keeps_its_column():
    overview = Overview(1, "s", "T", "", (("count", ("a", "b")),), Policy(), 1, 1, False, None)
    table = Published(overview, ("count",), np.array([1, 2]), 1, "", "h")
    assert write(table, Format.CSV).body == b"count,count_\r\na,1\r\nb,2\r\n"


def test_file_names_are_plain(published):
    assert write(published, Format.CSV).filename == "s-Race-Age_group.csv"
    assert write(published, Format.JSON).filename is None
