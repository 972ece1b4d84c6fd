from collections import Counter

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.codebook import Codebook
from discreet.data.count import count_records
from discreet.data.sources import open_source
from discreet.errors import DataError


def counted(data, *columns):
    """What comes out, as a mapping from labels to counts."""
    source = open_source(data)
    cells = count_records(source, columns or source.columns, Codebook())
    found = Counter()
    for row, n in zip(cells.codes.tolist(), cells.counts.tolist(), strict=True):
        found[tuple(v.categories[c] for v, c in zip(cells.variables, row, strict=True))] += n
    return found


def categories(data):
    source = open_source(data)
    cells = count_records(source, source.columns, Codebook())
    return {variable.name: variable.categories for variable in cells.variables}


@pytest.fixture
def records():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "Sex": rng.choice(["f", "m"], 200),
            "Age group": rng.integers(8, 12, 200),
            "Ill": rng.choice([True, False], 200),
            "N": rng.choice(["x", "y, z", 'q"q', "ü"], 200),
        }
    )


KINDS = {
    "pandas": lambda frame, _: frame,
    "polars": lambda frame, _: pl.from_pandas(frame),
    "lazy": lambda frame, _: pl.from_pandas(frame).lazy(),
    "arrow": lambda frame, _: pa.Table.from_pandas(frame),
    "batch": lambda frame, _: pa.RecordBatch.from_pandas(frame),
    "stream": lambda frame, _: pa.Table.from_pandas(frame).to_reader(),
    "ibis": lambda frame, _: ibis.memtable(frame),
    "parquet": lambda frame, path: frame.to_parquet(path / "x.parquet") or path / "x.parquet",
    "pq": lambda frame, path: frame.to_parquet(path / "x.pq") or str(path / "x.pq"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_source_counts_the_same(records, tmp_path, kind):
    expected = Counter(
        (sex, str(age), "true" if ill else "false", n)
        for sex, age, ill, n in records.itertuples(index=False)
    )
    assert counted(KINDS[kind](records, tmp_path)) == expected


@pytest.mark.parametrize(
    ("suffix", "mark"), [("csv", ","), ("csv", ";"), ("csv", "|"), ("tsv", "\t"), ("txt", "\t")]
)
def test_text_files_count_the_same(records, tmp_path, suffix, mark):
    path = tmp_path / f"x.{suffix}"
    records.to_csv(path, sep=mark, index=False)
    assert counted(path) == Counter(tuple(map(str, row)) for row in records.itertuples(index=False))


def test_a_source_is_opened_once(records):
    source = open_source(records)
    assert open_source(source) is source


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b\n1,x\n",
        b"a,b\r\n1,x\r\n",
        b"a,b\r1,x\r",
        b"a,b\n1,x",
        b"a,b\n1,x\n\n",
        b'"a","b"\n"1","x"\n',
        b"a,b\n 1 , x \n",
    ],
    ids=["bom", "crlf", "cr", "no last line end", "blank line", "quotes", "spaces"],
)
def test_ways_to_write_the_same_csv(tmp_path, content):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    assert counted(path) == {("1", "x"): 1}


def test_nothing_in_a_csv_is_guessed(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('a,b\n01,#1\n#2,"two\nlines"\nNULL,nan\n')
    assert counted(path) == {("01", "#1"): 1, ("#2", "two\nlines"): 1, ("NULL", "nan"): 1}


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv", "it's.csv", "no such. one.csv"])
def test_a_file_name_is_taken_as_it_is(tmp_path, name):
    (tmp_path / "a1.csv").write_text("a\nother\n")
    (tmp_path / name).write_text("a\nright\n")
    assert counted(tmp_path / name) == {("right",): 1}


def test_a_folder_adds_no_column(tmp_path):
    folder = tmp_path / "year=1990"
    folder.mkdir()
    pd.DataFrame({"a": ["x"]}).to_parquet(folder / "x.parquet")
    (folder / "x.csv").write_text("a\nx\n")
    assert open_source(folder / "x.parquet").columns == ("a",)
    assert open_source(folder / "x.csv").columns == ("a",)


def test_names_that_sql_would_trip_over(tmp_path):
    names = ["select", 'say "n"', "n", "a b", "count(*)"]
    frame = pd.DataFrame([["1", "2", "3", "4", "5"]] * 2, columns=names)
    frame.to_csv(tmp_path / "x.csv", index=False)
    for data in (frame, tmp_path / "x.csv"):
        assert counted(data) == {("1", "2", "3", "4", "5"): 2}


def order_frame(kind):
    labels = ["low", "high", "low"]
    if kind == "pandas":
        return pd.DataFrame({"a": pd.Categorical(labels, ["none", "low", "high"])})
    if kind == "polars":
        return pl.DataFrame({"a": pl.Series(labels, dtype=pl.Enum(["none", "low", "high"]))})
    column = pa.DictionaryArray.from_arrays(pa.array([1, 2, 1]), ["none", "low", "high"])
    return pa.table({"a": column})


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_types_carry_the_order_and_the_empty_categories(tmp_path, kind):
    frame = order_frame(kind)
    assert categories(frame) == {"a": ("none", "low", "high")}
    if kind == "pandas":
        frame.to_parquet(tmp_path / "x.parquet")
        assert categories(tmp_path / "x.parquet") == {"a": ("none", "low", "high")}


def test_arrow_dictionaries_may_differ_by_chunk():
    chunks = [
        pa.array(["b", "a"]).dictionary_encode(),
        pa.array(["c", "b", None]).dictionary_encode(),
    ]
    table = pa.table({"a": pa.chunked_array(chunks)})
    assert counted(table) == {("b",): 2, ("a",): 1, ("c",): 1, ("(missing)",): 1}
    assert categories(table) == {"a": ("b", "a", "c", "(missing)")}


def test_a_polars_categorical_has_no_order_of_its_own():
    pl.Series(["z", "b", "a"], dtype=pl.Categorical)
    frame = pl.DataFrame({"a": pl.Series(["b", "a"], dtype=pl.Categorical)})
    assert categories(frame) == {"a": ("a", "b")}


def test_age_groups_from_cut_keep_their_order():
    ages = pd.cut(pd.Series([5, 70, 8, 30]), [0, 9, 20, 100])
    assert categories(pd.DataFrame({"a": ages})) == {"a": ("(0, 9]", "(9, 20]", "(20, 100]")}


def test_numbers_as_categories_have_one_label():
    frame = pd.DataFrame({"a": pd.Categorical([2.0, 1.0], [2.0, 1.0]), "b": [2.0, np.nan]})
    assert counted(frame) == {("2", "2"): 1, ("1", "(missing)"): 1}
    assert categories(frame)["a"] == ("2", "1")


BAD_FILES = {
    "empty.csv": (b"", r"'empty.csv' is empty; it needs a header line and at least one record\."),
    "blank.csv": (b"\n \n", r"'blank.csv' is empty; it needs"),
    "header.csv": (
        b"a,b\n",
        r"'header.csv' has no records; it needs at least one below its header\.",
    ),
    "short.csv": (
        b"a,b\n1,2\n3\n",
        r"line 3 has 1 field where the header has 2; repair that line\.",
    ),
    "long.csv": (
        b"a,b\n1,2,3\n",
        r"line 2 has 3 fields where the header has 2; repair that line\.",
    ),
    "quote.csv": (b'a,b\n1,"x\n2,3\n', r"line 2 has a quote or a line end out of place"),
    "huge.csv": (b"a,b\n1," + b"x" * 3_000_000 + b"\n", r"line 2 is no line of CSV; repair that"),
    "ends.csv": (
        b"a,b\n1,2\r\n3,4\n",
        r"its quotes or line ends are mixed; save it again as CSV\.",
    ),
    "later.csv": (
        b"\na,b\n1,2\n",
        r"'later.csv' has no columns; put their names in the first line\.",
    ),
    "twice.csv": (b"a,b,a\n1,2,3\n", r"'twice.csv' has two columns named 'a'; rename one\."),
    "case.csv": (b"a,A\n1,2\n", r"has the columns 'a' and 'A', which differ only in capitals"),
    "unnamed.csv": (b"a,,b\n1,2,3\n", r"column 2 of 'unnamed.csv' has no name; give it one"),
    "no.parquet": (
        b"a,b\n1,2\n",
        r"'no.parquet': it is not a Parquet file, or a damaged one; write",
    ),
    "no.xlsx": (b"PK", r"'no.xlsx': it is no workbook, or a damaged one; open it"),
    "no.pdf": (b"PK", r"ends in '.pdf', which is not read; use .*\.parquet, .*\.csv"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_in_one_sentence(tmp_path, name):
    content, message = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        counted(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_ragged_line_far_down_is_found(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 300_000 + b"1,2,3\n")
    with pytest.raises(DataError, match="line 300002 has 3 fields where the header has 2"):
        counted(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"there is no file '.*/x.csv'; give a CSV, Parquet,"):
        open_source(tmp_path / "x.csv")
    with pytest.raises(DataError, match=r"the folder '.*' has no file that can be read"):
        open_source(tmp_path)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(
        DataError, match=r"cannot read 'x.csv': permission denied; ask for the right"
    ):
        open_source(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1, 2], "cannot read records from a list; give a path, a database URL, a pandas"),
        (None, "cannot read records from a NoneType"),
        (pd.DataFrame({"a": []}), "the frame has no rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "the frame has two columns named 'a'"),
        (pa.table([[1], [2]], ["a", "a"]), "the frame has two columns named 'a'"),
        (pl.DataFrame({"a": [1], "A": [2]}), "'a' and 'A', which differ only in capitals"),
        (pd.DataFrame({"a": [1, "x"]}), r"column 'a' of the frame mixes types; make it text"),
        (pd.DataFrame({"a": [[1], [2]]}), r"column 'a' of the frame holds .*list.* no categories"),
    ],
)
def test_bad_frames_are_refused(data, message):
    with pytest.raises(DataError, match=message):
        counted(data)


def test_an_ibis_table_without_an_engine():
    with pytest.raises(DataError, match="cannot read the ibis table"):
        counted(ibis.table({"a": "string"}, name="t"))


def test_counting_leaves_the_engine_of_the_user_alone(records):
    before = ibis.options.default_backend
    counted(records)
    assert ibis.options.default_backend is before


def test_a_parquet_file_of_one_row_group_is_enough_for_the_order(tmp_path):
    groups = [["b", "a"], ["c", "b"]]
    tables = [pa.table({"a": pa.array(g).dictionary_encode()}) for g in groups]
    with pq.ParquetWriter(tmp_path / "x.parquet", tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    assert categories(tmp_path / "x.parquet") == {"a": ("b", "a", "c")}
