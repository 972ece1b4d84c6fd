import datetime
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.codebook import MISSING, Codebook
from discreet.data.count import choose_columns, count_records, read_cells
from discreet.data.encode import in_order, places
from discreet.data.sources import open_source
from discreet.errors import CodebookError, DataError


def count(frame, book=None):
    source = open_source(frame)
    return count_records(source, source.columns, book or Codebook())


def as_counter(cells):
    found = Counter()
    for row, n in zip(cells.codes.tolist(), cells.counts.tolist(), strict=True):
        found[tuple(v.categories[c] for v, c in zip(cells.variables, row, strict=True))] += n
    return found


values = st.sampled_from(["a", "b", " b", "nan", "10", "9", "", "NA", None])


@settings(max_examples=60)
@given(st.lists(st.tuples(values, values, values), min_size=1, max_size=30))
def test_counts_are_those_of_a_plain_loop(rows):
    frame = pd.DataFrame(rows, columns=list("ABC"), dtype="str")
    book = Codebook.of(missing_values=["NA"])
    expected = Counter(
        tuple(MISSING if (v or "").strip() in ("", "NA") else v.strip() for v in row)
        for row in rows
    )
    cells = count(frame, book)
    assert as_counter(cells) == expected
    assert cells.dropped == 0
    for place, variable in enumerate(cells.variables):
        found = {row[place] for row in expected}
        shown = [category for category in variable.categories if category != MISSING]
        assert set(variable.categories) == found
        assert shown == in_order(shown)
        assert MISSING not in variable.categories[:-1]


@settings(max_examples=40)
@given(st.lists(st.tuples(values, values), min_size=1, max_size=30))
def test_dropped_records_are_counted(rows):
    kept = [row for row in rows if all(v not in ("", None) for v in row)]
    frame = pd.DataFrame(rows, columns=list("AB"), dtype="str")
    book = Codebook.of(missing="drop")
    if not kept:
        with pytest.raises(DataError, match="missing"):
            count(frame, book)
        return
    cells = count(frame, book)
    assert as_counter(cells) == Counter(tuple(v.strip() for v in row) for row in kept)
    assert cells.dropped == len(rows) - len(kept)
    assert all(MISSING not in variable.categories for variable in cells.variables)


@given(st.lists(st.text()), st.randoms())
def test_the_order_of_categories_does_not_depend_on_that_of_records(labels, random):
    labels = list(dict.fromkeys([*labels, "nan", "inf", "-inf", "1e3", "1_0", "٣", "Infinity"]))
    ordered = in_order(labels)
    random.shuffle(labels)
    assert in_order(labels) == ordered


@given(st.lists(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))))
def test_numbers_are_ordered_by_size(numbers):
    assert [float(text) for text in in_order(map(str, numbers))] == sorted(map(float, numbers))


def test_numbers_come_before_text():
    assert in_order(["10+", "9", "nan", "10", "-1"]) == ["-1", "9", "10", "10+", "nan"]


def test_times_are_in_their_own_order():
    days = [datetime.date(10_000 - 1, 1, 1), datetime.date(2020, 5, 1), None]
    cells = count(pa.table({"day": days}))
    assert cells.variables[0].categories == ("2020-05-01", "9999-01-01", MISSING)
    gaps = [datetime.timedelta(days=days) for days in (10, 9)]
    assert in_order(map(str, gaps), gaps) == ["9 days, 0:00:00", "10 days, 0:00:00"]


def test_places_over_many_chunks():
    rng = np.random.default_rng(0)
    parts = [rng.choice(["a", "b", "c", None], n).tolist() for n in (0, 5, 1, 7)]
    column = pa.chunked_array([pa.array(part, pa.string()) for part in parts])
    index, distinct = places("x", column)
    assert [distinct[i] for i in index] == [*parts[1], *parts[2], *parts[3]]
    assert places("x", pa.chunked_array([], pa.string()))[1] == []


def test_the_codebook_gives_order_and_labels():
    frame = pd.DataFrame({"Sex": ["2", "1", "2", "9"], "Age": [3, 1, 2, 1]})
    book = Codebook.of(
        {
            "Sex": {"labels": {2: "Female", 1: "Male", 3: "Other"}, "role": "identifying"},
            "Age": {"labels": {1: "young", 2: "old", 3: "old"}, "sensitive": ["old"]},
        },
        missing_values=[9],
    )
    cells = count(frame, book)
    sex, age = cells.variables
    assert sex.categories == ("Female", "Male", "Other", MISSING)
    assert sex.role == "identifying"
    assert (age.categories, age.sensitive) == (("young", "old"), ("old",))
    assert as_counter(cells) == {
        ("Female", "old"): 2,
        ("Male", "young"): 1,
        (MISSING, "young"): 1,
    }


def test_a_listed_code_is_not_taken_for_missing():
    frame = pd.DataFrame({"A": ["9", "1"], "B": ["9", "1"], "C": ["", "1"]})
    book = Codebook.of(
        {"A": {"categories": ["1", "9"]}, "C": {"labels": {"1": "yes", "": "not asked"}}},
        missing_values=["9"],
    )
    cells = count(frame, book)
    assert [v.categories for v in cells.variables] == [
        ("1", "9"),
        ("1", MISSING),
        ("yes", "not asked"),
    ]


def test_missing_keeps_the_place_that_the_codebook_gives():
    frame = pd.DataFrame({"A": ["x", None]})
    listed = {"A": {"categories": [MISSING, "x"]}}
    assert count(frame, Codebook.of(listed)).variables[0].categories == (MISSING, "x")
    dropped = count(frame, Codebook.of(listed, missing="drop"))
    assert dropped.variables[0].categories == ("x",)
    assert dropped.dropped == 1
    coded = {"A": {"labels": {"x": MISSING, "": "y"}}}
    assert as_counter(count(frame, Codebook.of(coded))) == {(MISSING,): 1, ("y",): 1}


def test_a_category_that_the_codebook_does_not_list():
    book = Codebook.of({"A": {"categories": ["x"]}})
    message = r"column 'A' of the frame has 'y', which the codebook does not list; it lists x\. Add"
    with pytest.raises(CodebookError, match=message):
        count(pd.DataFrame({"A": ["x", "y"]}), book)


def test_a_hierarchy_that_speaks_of_other_categories():
    book = Codebook.of({"A": {"hierarchy": {"1": "odd"}}})
    with pytest.raises(CodebookError, match="hierarchy of 'A' names none of its categories x"):
        count(pd.DataFrame({"A": ["x"]}), book)


def test_a_column_without_a_value():
    frame = pa.table({"A": ["x", "y"], "B": pa.nulls(2)})
    assert as_counter(count(frame)) == {("x", MISSING): 1, ("y", MISSING): 1}
    with pytest.raises(DataError, match="every value of column 'B' of the frame is missing; leave"):
        count(frame, Codebook.of(missing="drop"))
    crossed = pa.table({"A": ["x", None], "B": [None, "y"]})
    with pytest.raises(DataError, match="every record of the frame has a missing value; count"):
        count(crossed, Codebook.of(missing="drop"))


def test_a_column_with_too_many_categories():
    frame = pd.DataFrame({"id": np.arange(10_001), "A": "x"})
    message = r"column 'id' of the frame has 10,001 categories, more than 10,000; group them first"
    with pytest.raises(DataError, match=message):
        count(frame)
    assert len(count(frame.head(10_000)).counts) == 10_000


def test_columns_to_classify_by():
    source = open_source(pd.DataFrame({"Sex": ["f"], "Age": [1], "n": [4], "w": [1.5]}))
    book = Codebook.of(weights="w")
    assert choose_columns(source, None, book) == ("Sex", "Age", "n")
    assert choose_columns(source, None, book, "n") == ("Sex", "Age")
    assert choose_columns(source, (c for c in ["Age", "Sex"]), book, "n") == ("Age", "Sex")


@pytest.mark.parametrize(
    ("wanted", "count_column", "message"),
    [
        (["Sez"], None, "the frame has no column 'Sez'; did you mean 'Sex'?"),
        (["Income"], None, "the frame has no column 'Income'; it has Sex, Age, n, w"),
        (["Sex"], "count", "the frame has no column 'count'"),
        (["Sex", "w"], None, "column 'w' is the weight; leave it out of the variables"),
        (["Sex", "n"], "n", "column 'n' is the count; leave it out of the variables"),
        (["Sex", "Sex"], None, "column 'Sex' is named twice; name it once"),
        ([], None, "there is no column of the frame to classify by; name at least one"),
    ],
)
def test_wrong_columns_are_refused(wanted, count_column, message):
    source = open_source(pd.DataFrame({"Sex": ["f"], "Age": [1], "n": [4], "w": [1.5]}))
    with pytest.raises(DataError, match=message):
        choose_columns(source, wanted, Codebook.of(weights="w"), count_column)


def cells_of(counts):
    labels = [f"x{place}" for place in range(len(counts))]
    return read_cells(open_source(pa.table({"A": labels, "n": counts})), ["A"], "n", Codebook())


@pytest.mark.parametrize(
    "counts",
    [[3, 0, 3], ["3", " 0", "3.0"], [3.0, 0.0, 3.0], ["3e0", "-0", "+3"]],
    ids=["integers", "text", "floats", "signs"],
)
def test_counts_are_read_exactly(counts):
    assert cells_of(counts).counts.tolist() == [3, 0, 3]


def test_the_largest_counts_stay_exact():
    assert cells_of([2**53 - 1, 1]).counts.tolist() == [2**53 - 1, 1]
    assert cells_of([str(2**53 - 1), "1"]).counts.tolist() == [2**53 - 1, 1]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (-1, "-1 in 'n', which is negative"),
        ("-1", "'-1' in 'n', which is negative"),
        (1.5, "1.5 in 'n', which is not whole"),
        ("1.0000000000000000000000000000000001", "which is not whole"),
        (None, "None in 'n', which is missing"),
        (" ", "' ' in 'n', which is missing"),
        (float("nan"), "nan in 'n', which is missing"),
        ("x", "'x' in 'n', which is not a number"),
        ("1_000", "'1_000' in 'n', which is not a number"),
        ("1,000", "'1,000' in 'n', which is not a number"),
        (float("inf"), "inf in 'n', which is not a number"),
        ("9e999", "'9e999' in 'n', which is too large"),
        (2**53 + 1, "9007199254740993 in 'n', which is too large"),
        (datetime.date(2020, 1, 1), "which is not a number"),
    ],
)
def test_what_is_not_a_count_is_named_with_its_row(value, problem):
    first = {str: "4", float: 4.0, datetime.date: None}.get(type(value), 4)
    counts = [value] if first is None else [first, value]
    message = rf"row {len(counts)} of the frame has the count .*{problem}; counts are whole numbers"
    with pytest.raises(DataError, match=message):
        cells_of(counts)


def test_counts_that_do_not_add_up_to_a_table():
    with pytest.raises(
        DataError, match="counts of the frame sum to 9,007,199,254,740,993, which is"
    ):
        cells_of([2**53, 1])
    with pytest.raises(DataError, match="all counts of the frame are zero; a table needs at least"):
        cells_of([0, 0])


def test_a_file_with_a_header_only(tmp_path):
    (tmp_path / "x.csv").write_text("A,n\n")
    source = open_source(tmp_path / "x.csv")
    with pytest.raises(DataError, match=r"'x.csv' has no cells; it needs at least one below its"):
        read_cells(source, ["A"], "n", Codebook())
    with pytest.raises(DataError, match=r"'x.csv' has no records; it needs at least one below its"):
        count_records(source, ["A"], Codebook())
