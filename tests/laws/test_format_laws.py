"""Laws that every format of the table server keeps: the file is the table, and nothing else."""

import csv
import io
import json
import re
from dataclasses import replace

import openpyxl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.server.formats import Format, write
from server.showntables import plain_tables, tables

every_format = pytest.mark.parametrize("format", Format)


def last_fields(body):
    return [int(row[-1]) for row in csv.reader(io.StringIO(body.decode(), newline=""))][1:]


def sheet(body):
    rows = openpyxl.load_workbook(io.BytesIO(body))["Table"].iter_rows(values_only=True)
    return [row[-1] for row in rows][1:]


COUNTS = {  # how somebody else reads the counts, the last variable running fastest
    Format.CSV: lambda body: last_fields(b"0\r\n" + body.partition(b"\r\n")[2]),
    Format.XLSX: sheet,
    Format.PARQUET: lambda body: pq.read_table(io.BytesIO(body)).columns[-1].to_pylist(),
    Format.JSON: lambda body: json.loads(body)["values"],
    Format.JSON_STAT: lambda body: json.loads(body)["value"],
    Format.SDMX_CSV: lambda body: last_fields(b"0\r\n" + body.partition(b"\r\n")[2]),
    Format.PX: lambda body: [
        int(n) for n in re.split(rb"DATA=\s*", body)[-1].split(b";")[0].split()
    ],
}


@every_format
@given(table=plain_tables())
@settings(max_examples=30, deadline=None)
def test_the_counts_are_read_back(format, table):
    assert COUNTS[format](write(table, format).body) == table.counts.ravel().tolist()


@every_format
@given(data=st.data(), table=tables())
@settings(max_examples=20, deadline=None)
def test_the_same_table_is_the_same_file_and_another_is_another(format, data, table):
    """Whatever its names and labels are."""
    body = write(table, format).body
    assert write(table, format).body == body
    counts = table.counts.copy()
    place = data.draw(st.integers(0, counts.size - 1))
    counts.flat[place] += -1 if counts.flat[place] else 1
    assert write(replace(table, counts=counts), format).body != body


@every_format
@given(table=tables())
@settings(max_examples=20, deadline=None)
def test_its_file_has_a_plain_name_and_its_type(format, table):
    written = write(table, format)
    assert written.media_type == format.media_type
    assert re.fullmatch(r"[\w.+-]+/[\w.+-]+(; [\w-]+=[\w.-]+)*", written.media_type)
    if format.writer.suffix:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,100}\.[a-z.]+", written.filename)
    if not format.writer.binary:
        assert written.body.decode()


@every_format
def test_it_says_what_it_is(format):
    assert format.writer.title
    assert format.writer.serves
    assert format == format.value == str(format)
