"""Categories that are numbers: labels, files, codebooks."""

import math

import pytest

import discreet as dc
from discreet.data.codebook import Codebook, Variable
from discreet.data.values import Values, read_label
from discreet.errors import CodebookError, DataError

INF = math.inf


def ranges(*categories, **more):
    return list(Values.of(Variable("x", categories), **more).ranges.values())


@pytest.mark.parametrize(
    ("categories", "expected"),
    [
        (("10-19", "20-29", "30+"), [(10, 20), (20, 30), (30, INF)]),
        (("10 to 19", "20 to 29"), [(10, 20), (20, 30)]),
        (
            ("up to $10,000", "$10,001 to $25,000", "over $25,000"),
            [(0, 10_000), (10_000, 25_000), (25_000, INF)],
        ),
        (("17", "18", "50"), [(17, 17), (18, 18), (50, 50)]),
        (("0-17", "18-64", "65 and over"), [(0, 18), (18, 65), (65, INF)]),
        (("under 18", "18 to under 50", "50 and over"), [(0, 18), (18, 50), (50, INF)]),
        (("1-10", "11-20"), [(1, 10), (10, 20)]),
        (("0", "1-9", "10-19"), [(0, 0), (1, 10), (10, 20)]),
        (("10-19 years", "20-29 years", "30+ years"), [(10, 20), (20, 30), (30, INF)]),
        (("0.5-1.5", "1.5-2.5", ">= 2.5"), [(0.5, 1.5), (1.5, 2.5), (2.5, INF)]),
        (("-5", "-3 to 2", "3"), [(-5, -5), (-3, 2), (3, 3)]),
        (("< 140", ">= 140"), [(0, 140), (140, INF)]),
    ],
)
def test_labels_that_are_numbers(categories, expected):
    assert ranges(*categories) == expected


@pytest.mark.parametrize(
    "label", ["blond", "(missing)", "1,5", "10-", "19-10", "", "Area 51", "1-2-3", "under 0"]
)
def test_labels_that_are_none(label):
    assert read_label(label) is None


@pytest.mark.parametrize(
    "categories", [("500", "1 million"), ("10 km", "20 miles"), ("10-19", "unknown")]
)
def test_units_that_differ_and_labels_without_a_number_are_refused(categories):
    with pytest.raises(DataError, match="is a label and no number"):
        ranges(*categories)


def test_what_is_given_comes_first_then_the_codebook_then_the_label(tmp_path):
    variable = Variable("x", ("1-9", "10-19", "20+"), values=(("10-19", 11.0, 12.0),))
    found = Values.of(variable, {"20+": [20, 50]})
    assert found.ranges == {"1-9": (1, 10), "10-19": (11, 12), "20+": (20, 50)}
    assert found.source == "what is given and the codebook and the labels"
    path = tmp_path / "values.csv"
    path.write_text("category,low,high\n20+,20,\n1-9,2,3\n")
    assert Values.of(variable, path).ranges == {"1-9": (2, 3), "10-19": (11, 12), "20+": (20, INF)}
    path.write_text("category,value\n1-9,5\n10-19,15\n20+,30\n")
    assert Values.of(variable, path).points


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("category,value\n1-9,five\n", "line 2 of 'v.csv'"),
        ("category,value\n1-9,5\n1-9,6\n", "twice"),
        ("category,low,high\n1-9,5,4\n", "give a number, or a range"),
        ("category,low,high\n1-9,,4\n", "numbers are needed"),
        ("category,a,b,c\n1-9,5,4,3\n", "4 columns"),
        ("category,value\nmany,5\n", "no category of 'x'"),
    ],
)
def test_files_that_are_refused(tmp_path, content, message):
    path = tmp_path / "v.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        Values.of(Variable("x", ("1-9", "10+")), path)


def test_the_top_closes_the_one_open_range():
    assert ranges("1-9", "10+", top=40)[1] == (10, 40)
    for categories, top, message in [
        (("1-9", "10+"), 10, "above 10"),
        (("1-9",), 10, "no range of 'x' is open"),
        (("5+", "10+"), 40, "both open"),
    ]:
        with pytest.raises(DataError, match=message):
            ranges(*categories, top=top)


def test_a_codebook_says_them_and_a_merge_keeps_those_that_stay(tmp_path):
    (tmp_path / "p.csv").write_text("Pay\n1\n1\n2\n3\n")
    (tmp_path / "p.toml").write_text(
        "[variables.Pay]\n"
        'labels = { 1 = "low", 2 = "middle", 3 = "high" }\n'
        "values = { 1 = 10, middle = [10, 30], high = [30, inf] }\n"
    )
    table = dc.load(tmp_path / "p.csv", codebook=tmp_path / "p.toml", records=True)
    pay = table.variable("Pay")
    assert pay.values == (("low", 10, 10), ("middle", 10, 30), ("high", 30, INF))
    found = dc.knowledge(table, target="Pay", uncertainty="variance", limit=1, top=50)
    assert found.rows[0].after == pytest.approx(0.5 * 100 + (400 + 1600) / 4 - (5 + 5 + 10) ** 2)
    assert "from the codebook: low is 10, middle is 10 to 30" in found.notes[0]
    assert pay.merged(["low", "more", "more"]).values == (("low", 10, 10),)


@pytest.mark.parametrize(
    ("values", "message"),
    [(5, "must map categories"), ({"x": 1}, "none of its"), ({"a": "1"}, "give a number, or a")],
)
def test_codebooks_that_are_refused(values, message):
    with pytest.raises(CodebookError, match=message):
        Codebook.of({"v": {"categories": ["a", "b"], "values": values}})
