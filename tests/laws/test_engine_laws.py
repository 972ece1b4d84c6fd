"""Laws that every engine keeps: the same records are the same table, and lead to the same answers.

DuckDB, PostgreSQL and Spark see values in ways of their own: nulls and nan, blanks, zeros behind
the point, zones, capitals. What they count must not show it.
"""

import datetime
import decimal
import json
import math
from collections import Counter

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from databases import KINDS, in_duckdb, in_postgres, in_spark
from discreet.cli.main import main
from discreet.data import grouping, margins
from discreet.data.codebook import Codebook
from discreet.decision.frontier.widths import widths
from discreet.decision.law.assess import assess
from discreet.errors import DataError
from discreet.risk.uniques.uniques import uniques
from discreet.table.load import load
from discreet.table.microdata import Microdata

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # pyspark closes no socket
UTC = datetime.UTC
EAST = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
VALUES = {
    "text": [
        "a",
        "b",
        "b ",
        " b",
        "",
        "  ",
        "e\u0301",
        "ß",
        "日本",
        "o'x",
        'q"q',
        "`",
        None,
    ],
    "padded": ["a", "a  ", "", "é", None],
    "small": [0, 1, -1, 127, None],
    "integer": [0, 7, 10, 2**31 - 1, None],
    "long": [0, 2**53 + 1, 2**53, -(2**63), None],
    "number": [0.0, -0.0, 1.0, 1.5, 0.1, 1e300, math.nan, math.inf, None],
    "single": [0.0, -0.0, 0.1, 0.5, math.nan, None],
    "decimal": [decimal.Decimal(t) for t in ("1.5", "1.500", "2", "-0.001", "0", "-0")] + [None],
    "boolean": [True, False, None],
    "date": [datetime.date(2020, 2, 29), datetime.date(1900, 1, 1), None],
    "time": [datetime.datetime(2020, 2, 29, 12, 30), datetime.datetime(2020, 2, 29), None],
    "zoned": [
        datetime.datetime(2020, 2, 29, 12, 30, tzinfo=UTC),
        datetime.datetime(2020, 2, 29, 18, tzinfo=EAST),
        None,
    ],
    "bytes": [b"a", b"\xff", b"", None],
}
NAMES = ["n", "N_", "n__", 'a"b', "c`d", "e.f", "select", "Ünï", "100%", "x y", "r", "count", "$1"]


def said(value):
    """What a value is called, written down by hand."""
    if value is None or value != value:
        return "(missing)"
    match value:
        case bool():
            return str(value).lower()
        case float() | decimal.Decimal():
            if math.isinf(value):
                return str(float(value))
            if value == int(value):
                return str(int(value))
            return str(value) if isinstance(value, float) else str(value).rstrip("0")
        case datetime.datetime() if value.tzinfo:
            return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S+00:00")
        case bytes():
            return "\\xff" if value == b"\xff" else value.decode() or "(missing)"
    return str(value).strip() or "(missing)"


def single(value):
    """A number of 32 bits, as wide as others."""
    import numpy as np

    return None if value is None else float(np.float32(value))


@st.composite
def frames(draw):
    names = draw(st.permutations(NAMES))[: draw(st.integers(2, 5))]
    kinds = {name: draw(st.sampled_from([*KINDS])) for name in names}
    values = st.tuples(*(st.sampled_from(VALUES[kind]) for kind in kinds.values()))
    rows = draw(st.lists(values, min_size=2, max_size=12))
    return kinds, [*rows, *rows[:2]]


@pytest.fixture
def everywhere(tmp_path, postgres, spark):
    """Records in all three, each with the name of its table."""
    number = iter(range(10**6))

    def everywhere(kinds, rows):
        path = tmp_path / f"people-{next(number)}.duckdb"
        return {
            "duckdb": in_duckdb(path, "people", kinds, rows),
            "postgres": in_postgres(postgres, "people", kinds, rows),
            "spark": in_spark(spark, "people", kinds, rows),
        }

    return everywhere


@settings(
    max_examples=14,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(frames())
def test_the_same_records_are_the_same_table_in_every_engine(everywhere, frame):
    kinds, rows = frame
    shown = [
        tuple(
            said(single(v) if k == "single" else v)
            for v, k in zip(row, kinds.values(), strict=True)
        )
        for row in rows
    ]
    for place, name in enumerate(kinds):
        if {row[place] for row in shown} == {"(missing)"}:
            kinds = {key: kind for key, kind in kinds.items() if key != name}
    wanted = [place for place, name in enumerate(frame[0]) if name in kinds]
    if not wanted:
        return
    counted = Counter(tuple(row[place] for place in wanted) for row in shown)
    tables = {}
    for engine, data in everywhere(*frame).items():
        people = Microdata.read(data, table="people", records=True)
        tables[engine] = people.table([*kinds])
        cells = tables[engine].nonzero()
        found = zip(cells, tables[engine].counts.tolist(), strict=True)
        assert {tuple(cell.values()): n for cell, n in found} == counted, engine
    assert tables["duckdb"] == tables["postgres"] == tables["spark"]


PEOPLE = {
    "Sex": "padded", "Age": "integer", "Town": "text", "Ill": "boolean", "Home": "long",
    "w": "number",
}  # fmt: skip
KEYS = ["Sex", "Age", "Town"]


def people():
    """Three hundred in a hundred households, some without a town."""
    import numpy as np

    rng = np.random.default_rng(8)
    return [
        (
            str(rng.choice(["f", "m"])), int(rng.integers(1, 6)),
            None if rng.random() < 0.1 else str(rng.choice(["Ash", "Birch ", "Elm", ""])),
            bool(rng.random() < 0.2), int(place // 3), float(rng.choice([1.1, 2.7, 3.3, 10.1])),
        )
        for place in range(300)
    ]  # fmt: skip


def test_answers_are_the_same_in_every_engine(everywhere, tmp_path, monkeypatch):
    """assess, widths and uniques, to the last digit; with a checkpoint in parts, too."""
    found = {}
    monkeypatch.setattr(grouping, "RECORDS", 100)
    asked = {"weights": "w", "household": "Home", "sensitive": "Ill", "records": True}
    for engine, data in everywhere(PEOPLE, people()).items():
        table = load(data, table="people", variables=[*KEYS, "Ill"], records=True)
        kept = {"checkpoint": tmp_path / engine}
        alone = load(data, table="people", variables=[*KEYS, "Ill"], records=True, **kept)
        assert alone == table
        for rest in (kept, kept):
            unlike = uniques(data, KEYS, table="people", **asked, **rest).to_json()
            assert json.dumps(unlike) == json.dumps(found.setdefault("uniques", unlike)), engine
        for name, answer in (
            ("assess", assess(table, "Sex*Age + Age*Town + Ill").to_json()),
            ("widths", widths(table).to_json()),
        ):
            if name == "assess":
                answer = {key: part for key, part in answer.items() if key not in ("provenance",)}
            assert json.dumps(answer) == json.dumps(found.setdefault(name, answer)), engine
    assert found["uniques"]["households"]["households"] == 100
    assert "row" not in found["uniques"]["exposed"][0]


def test_commands_say_the_same_of_every_engine(everywhere, spark):
    found = {}
    for engine, data in everywhere(PEOPLE, people()).items():
        if engine == "spark":
            spark.table("people").write.mode("overwrite").saveAsTable("default.kept")
            data, table = "spark://local/default", "kept"
        else:
            table = "people"
        where = [str(data), "--table", table, "--records", "--json"]
        for command in (
            ["widths", *where, "--variables", "Sex,Age,Town,Ill"],
            ["uniques", *where, "--keys", "Sex,Age,Town", "--weights", "w"],
        ):
            run = CliRunner().invoke(main, command)
            assert run.exit_code == 0, run.output
            answer = json.loads(run.stdout)
            answer.pop("again", None)  # the command itself
            assert answer == found.setdefault(command[0], answer), engine


@pytest.mark.parametrize("missing", ["category", "drop"])
def test_margins_in_one_pass_are_those_counted_alone(everywhere, monkeypatch, missing):
    """By the full table, and by grouping sets with and without a threshold."""
    book = Codebook.of({"Sex": {"categories": {"f": "female", "m": "male"}}}, missing=missing)
    asked = [["Sex"], ["Town", "Ill"], ["Sex", "Age", "Town"]]
    found = {}
    for engine, data in everywhere(PEOPLE, people()).items():
        records = Microdata.read(data, table="people", records=True, codebook=book)
        alone = (
            tuple(records.table(names) for names in asked) if engine == "duckdb" else found["alone"]
        )
        for most in (10**6, 10):
            monkeypatch.setattr(margins, "MOST_CELLS", most)
            assert records.margins(asked) == found.setdefault("alone", alone), engine
            cells = records.cells(asked, at_least=2, at_most=9)
            for table, some in zip(alone, cells, strict=True):
                inside = (table.counts >= 2) & (table.counts <= 9)
                assert table.codes[inside].tolist() == some.codes.tolist(), engine
                assert table.counts[inside].tolist() == some.counts.tolist()


def test_a_wrong_weight_is_refused_by_every_engine(everywhere):
    rows = [(*row[:5], math.nan if place == 7 else row[5]) for place, row in enumerate(people())]
    for data in everywhere(PEOPLE, rows).values():
        with pytest.raises(DataError, match=r"1 record of .*people.* no weight in 'w', or a wrong"):
            uniques(data, KEYS, table="people", weights="w", records=True)
