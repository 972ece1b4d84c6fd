"""Files as offices have them, read as they come: a wrong reading never gives a verdict.

38 people by sex and town, two of them men in Birch: the true verdict on Sex*Town is FAIL. Whatever
is typed is what the sentence before said.
"""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.errors import WrongKind
from discreet.table.load import load

TRUE = {("m", "Ash"): 12, ("m", "Birch"): 2, ("f", "Ash"): 15, ("f", "Birch"): 9}
CELLS = pd.DataFrame([(*cell, n) for cell, n in TRUE.items()], columns=["Sex", "Town", "n"])
PEOPLE = (
    CELLS.loc[CELLS.index.repeat(CELLS["n"]), ["Sex", "Town"]]
    .sample(frac=1, random_state=1)
    .reset_index(drop=True)
)
NUMBER = len(PEOPLE)
RNG = np.random.default_rng(1)
WEIGHTS = np.round(RNG.uniform(20, 90, NUMBER), 2)
HOMES = np.repeat(np.arange(101, 101 + NUMBER), 3)[:NUMBER]
NAMES = [f"{first}nn {last}orn" for first in "ABDEFGHIJKLMNOPRSTU" for last in "TZ"]
REMARKS = [f"came on day {i} and left a note for the clerk" for i in range(NUMBER)]
DROP = "--drop-totals"


def text(frame, **options):
    return frame.to_csv(index=False, lineterminator="\n", **options)


def renamed(name):
    return text(CELLS.rename(columns={"n": name}))


def crosstab(**more):
    return text(CELLS.pivot(index="Town", columns="Sex", values="n").reset_index().assign(**more))


BY_AGE = "Age,m,f\n" + "".join(f"{age},{age % 3 + 1},{age % 4 + 2}\n" for age in range(20, 28))

# the file, and what is typed after each sentence
FILES = {
    "n": (text(CELLS), ["--count n"]),
    "Freq": (renamed("Freq"), ["--count Freq"]),
    "Anzahl": (text(CELLS.rename(columns={"n": "Anzahl"}), sep=";"), ["--count Anzahl"]),
    "value": (renamed("value"), ["--count value"]),
    "count(*)": (renamed("count(*)"), ["--count 'count(*)'"]),
    "people, in tabs": (text(CELLS.rename(columns={"n": "people"}), sep="\t"), ["--count people"]),
    "a row number beside cells": (
        text(CELLS.reset_index(names="rownames")),
        ["--count n", "--without rownames"],
    ),
    "percentages beside cells": (
        text(CELLS.assign(percent=(CELLS["n"] / 0.38).round(1))),
        ["--count n", "--without percent"],
    ),
    "weighted counts beside cells": (
        text(CELLS.assign(weight=CELLS["n"] * 10.5)),
        ["--count n", "--without weight"],
    ),
    "a total": (text(CELLS) + "Total,Total,38\n", ["--count n", DROP]),
    "totals of one variable": (text(CELLS) + "m,All,14\nf,All,24\n", ["--count n", DROP]),
    "totals by ROLLUP": (text(CELLS) + "m,,14\nf,,24\n,,38\n", ["--count n", DROP]),
    "a cross-tab": (crosstab(), ["--crosstab Sex"]),
    "a cross-tab with totals both ways": (
        "Town,m,f,Total\nAsh,12,15,27\nBirch,2,9,11\nTotal,14,24,38\n",
        ["--crosstab Sex", DROP],
    ),
    "a cross-tab with percentages beside": (
        crosstab(share=[71.1, 28.9]),
        ["--crosstab Sex", "--without share"],
    ),
    "an id": (text(PEOPLE.assign(id=range(1, NUMBER + 1))), ["--without id"]),
    "names": (text(PEOPLE.assign(Name=NAMES)), ["--without Name"]),
    "addresses": (
        text(PEOPLE.assign(contact=[f"p{i}@example.org" for i in range(NUMBER)])),
        ["--without contact"],
    ),
    "codes": (text(PEOPLE.assign(x=[f"K{7 * i:04}z" for i in range(NUMBER)])), ["--without x"]),
    "a weight": (text(PEOPLE.assign(pweight=WEIGHTS)), ["--without pweight"]),
    "a weight with decimal commas": (
        text(PEOPLE.assign(Hochrechnungsfaktor=WEIGHTS), sep=";", decimal=","),
        ["--without Hochrechnungsfaktor"],
    ),
    "a household": (text(PEOPLE.assign(hhid=HOMES)), ["--without hhid"]),
    "remarks": (text(PEOPLE.assign(comment=REMARKS)), ["--without comment"]),
    "id, weight and household": (
        text(PEOPLE.assign(person_id=range(900, 900 + NUMBER), w=WEIGHTS, hh=HOMES)),
        ["--without person_id,w,hh"],
    ),
}
# what no option mends: the sentence, and the file after what it says
SPOILED = {
    "melted": (
        "Sex,Town,Measure,Value\n"
        + "".join(
            f"{s},{t},Count,{n}\n{s},{t},Percent,{n / 0.38:.1f}\n" for (s, t), n in TRUE.items()
        ),
        "Keep the rows of 'Count' and take 'Measure' out",
        renamed("Value"),
    ),
    "melted, with whole percentages": (
        "Sex,Town,Measure,Value\n"
        + "".join(f"{s},{t},N,{n}\n{s},{t},%,{n * 100 // 38}\n" for (s, t), n in TRUE.items()),
        "Keep the rows of 'N' and take 'Measure' out",
        renamed("Value"),
    ),
    "percentages alone": (
        text(CELLS.assign(n=(CELLS["n"] / 0.38).round(1)).rename(columns={"n": "Percent"})),
        "give a file with the counts",
        text(CELLS),
    ),
    "a cross-tab of percentages": (
        "Town,m,f\nAsh,44.4,55.6\nBirch,18.2,81.8\n",
        "give a file with the counts",
        text(CELLS),
    ),
    "percent signs": (
        "Town,m,f\nAsh,44 %,56 %\nBirch,18.2 %,81.8 %\n",
        "give a file with the counts",
        text(CELLS),
    ),
}
# counts that are written in another way, once they are said to be counts
WRITTEN = {
    "thousands": ([f"{n},00{n % 10}" for n in CELLS["n"]], "write 12002"),
    "thousands with blanks": (["1 200", "2 000", "1 500", "9"], "write 1200"),
    "points for thousands": (["1.000", "2", "15", "9"], "is the point a separator of thousands?"),
    "suppressed by x": (["12", "x", "15", "9"], "give the file before suppression"),
    "most of them suppressed": (["*", "*", "15", "*"], "give the file before suppression"),
    "below five": (["12", "<5", "15", "9"], "give the file before suppression"),
    "two points": (["12", "..", "15", "9"], "give the file before suppression"),
}


@pytest.fixture
def assess(tmp_path):
    """`discreet assess` on a file with this content."""

    def _assess(content, *options, release="Sex*Town", suffix="csv"):
        path = tmp_path / f"x.{suffix}"
        path.write_text(content, encoding="utf-8")
        return CliRunner().invoke(main, ["assess", str(path), "--release", release, *options])

    return _assess


def refused(result):
    """One sentence, no verdict."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert not any(verdict in result.stderr for verdict in ("PASS", "FAIL", "REVIEW"))
    return result.stderr


def fails(result):
    """The true verdict, of 38 people."""
    assert result.exit_code == 1, result.output
    document = json.loads(result.stdout)
    assert document["verdict"] == "FAIL"
    assert document["table"]["total"] == 38
    assert document["table"]["variables"] in (["Sex", "Town"], ["Town", "Sex"])


def options_of(typed):
    return [part.strip("'") for part in typed.split(" ", 1)]


def test_there_are_twenty_and_more():
    assert len(FILES) + len(SPOILED) + len(WRITTEN) >= 20


@pytest.mark.parametrize("name", FILES)
def test_what_is_typed_as_told_gives_the_true_verdict(assess, name):
    content, steps = FILES[name]
    typed = []
    for step in steps:
        said = refused(assess(content, *typed, "--json"))
        shown = "--crosstab NAME" if step.startswith("--crosstab") else step
        assert shown in said, said
        typed += options_of(step)
    fails(assess(content, *typed, "--json"))


@pytest.mark.parametrize("name", SPOILED)
def test_what_no_option_mends(assess, name):
    content, sentence, mended = SPOILED[name]
    assert sentence in refused(assess(content))
    columns = mended.splitlines()[0].split(",")
    fails(assess(mended, "--count", columns[-1], "--json"))


@pytest.mark.parametrize("name", [name for name in SPOILED if name.startswith("melted")])
def test_a_long_file_is_not_read_as_cells_either(assess, name):
    content, sentence, _ = SPOILED[name]
    assert sentence in refused(assess(content, "--count", "Value"))


@pytest.mark.parametrize("name", WRITTEN)
def test_counts_that_are_written_in_another_way(assess, name):
    counts, sentence = WRITTEN[name]
    content = text(CELLS.assign(n=counts), sep=";")
    assert "--count n" in refused(assess(content))
    assert sentence in refused(assess(content, "--count", "n"))


@pytest.mark.parametrize(
    "content",
    [
        "Town,m,m,f,f\n,no,yes,no,yes\nAsh,6,6,7,8\nBirch,1,1,4,5\n",
        "Town,m,,f,\n,no,yes,no,yes\nAsh,6,6,7,8\nBirch,1,1,4,5\n",
    ],
    ids=["repeated", "merged"],
)
def test_two_lines_of_headings(assess, content):
    assert "column" in refused(assess(content))


def test_a_second_line_of_headings_below_the_names(assess):
    content = "Town,m,m2,f,f2\n,no,yes,no,yes\nAsh,6,6,7,8\nBirch,1,1,4,5\n"
    refused(assess(content))
    said = refused(assess(content, "--crosstab", "Sex"))
    assert "like a second line of headings; join the two lines into one" in said


def test_ages_down_the_side(assess):
    """Numbers on both sides: each age once and in order is no file of people."""
    assert "Say --crosstab NAME" in refused(assess(BY_AGE, release="Age"))
    right = assess(BY_AGE, "--crosstab", "Sex", "--json", release="Age*Sex")
    assert json.loads(right.stdout)["table"]["variables"] == ["Age", "Sex"]
    assert right.exit_code == 1


def test_areas_by_codes(assess):
    """Codes tell all rows apart, as ids do: both answers are offered."""
    rows = "".join(f"T{i:03},{i % 5 + 1},{i % 7},{i % 3 + 2}\n" for i in range(25))
    said = refused(assess("Tract,low,mid,high\n" + rows, release="low"))
    assert "--without Tract" in said
    assert "--crosstab NAME if the others are counts" in said


def test_an_identifier_turned_a_fail_into_a_pass():
    """Eleven tables fit, where the policy asks for 1,000; with an id there are no end of them."""
    rows = [at for at in np.ndindex(2, 2, 2) for _ in range(5)]
    people = pd.DataFrame(rows, columns=["A", "B", "C"])
    release, policy = "A*B + B*C + A*C", Policy.of({"tables.least": 1_000})
    assert decide(load(people), release, policy).verdict == "FAIL"
    with_id = people.assign(id=range(len(people)))
    named = load(with_id, variables=["A", "B", "C", "id"])
    assert decide(named, release, policy).verdict == "PASS"
    with pytest.raises(WrongKind, match=r"classifies nobody: say without=\['id'\]"):
        load(with_id)
    assert decide(load(with_id, without="id"), release, policy).verdict == "FAIL"


def people(rows, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.integers(1, 3, rows),
            "age": rng.integers(1, 9, rows),
            "town": rng.choice(["Ash", "Birch", "Cedar"], rows),
        }
    )


ORDINARY = {
    "three": pd.DataFrame({"Sex": ["f", "m", "f"], "Ill": ["no", "no", "yes"]}),
    "one column": pd.DataFrame({"Sex": ["f", "m", "f", "m"]}),
    "all different": pd.DataFrame({"sex": [*"ffmm"], "town": [*"abcd"], "age": [*"wxyz"]}),
    "repeated rows": pd.DataFrame({"sex": [*"ffmm"] * 5, "kids": [0, 2, 1, 1] * 5}),
    "codes": people(60),
    "number of children": people(40, 1).assign(**{"number of children": [0, 1, 2, 3] * 10}),
    "household size": people(40, 2).assign(**{"household size": [1, 2, 2, 3, 4] * 8}),
    "body weight in classes": people(30, 3).assign(weight=["under", "normal", "over"] * 10),
    "regions by numbers": people(100, 4).assign(region_id=[k % 7 for k in range(100)]),
    "labels of many words": people(50, 5).assign(
        tenure=["owns it with a mortgage on it", "rents it from the town council"] * 25
    ),
    "occupations": people(90, 6).assign(job=[f"job {k % 30}" for k in range(90)]),
    "years of birth": people(80, 7).assign(born=[1940 + k % 45 for k in range(80)]),
    "dates": people(30, 8).assign(when=[f"2024-01-{k + 1:02}" for k in range(30)]),
    "missing values": people(40, 9).assign(ill=["yes", None, "no", ""] * 10),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_files_of_people_are_read(tmp_path, name):
    frame = ORDINARY[name]
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert load(tmp_path / "x.csv").total == len(frame)
    assert load(frame).total == len(frame)
