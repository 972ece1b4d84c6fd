"""One value for how data are read: what it refuses, what it adds up, what it never overwrites."""

import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.data.reading import Reading
from discreet.errors import DataError, WrongKind
from discreet.sheets.reading import read_sheets
from discreet.table.load import load
from discreet.table.microdata import Microdata
from hostile import CELLS, FILES, PEOPLE, nested, text
from rtables import write_table

BY_YEAR = pd.concat([CELLS.assign(year=year) for year in ("2025", "2026")])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: load(CELLS, cuont="n"), "did you mean 'count'"),
        (lambda: Microdata.read(PEOPLE, count="n"), "nothing is read by 'count'"),
        (lambda: dc.Table.read(CELLS, count="n", records=True), "nothing is read by 'records'"),
        (lambda: dc.uniques(PEOPLE, "Sex", bands={"Sex": 2}), "nothing is read by 'bands'"),
        (lambda: load(load(CELLS, count="n"), records=True), "a Table is read already"),
        (lambda: load(CELLS, count="n", records=True), "say one"),
        (lambda: load(CELLS, count="n", checkpoint="x"), "a checkpoint is for records"),
    ],
)
def test_what_a_door_does_not_read_it_refuses(call, said):
    with pytest.raises(DataError, match=said):
        call()


@pytest.mark.parametrize(
    "words",
    [
        ("mask", "--method", "sample", "--with", "share=0.5", "--keys", "Sex", "--band", "Sex=2"),
        ("knowledge", "--incidents", "3", "--companies", "9", "--limit", "1", "--records"),
    ],
)
def test_a_command_refuses_what_it_does_not_read(words, tmp_path):
    (tmp_path / "x.csv").write_text(text(PEOPLE))
    done = CliRunner().invoke(main, [words[0], str(tmp_path / "x.csv"), *words[1:]])
    assert done.exit_code == 2
    assert "leave it out" in done.output


def test_cells_are_added_up_over_columns_that_are_left_out():
    """It said that a cell stands twice."""
    found = load(BY_YEAR, count="n", without="year")
    assert found == load(BY_YEAR, count="n", variables=["Sex", "Town"])
    assert found.total == 76
    with pytest.raises(DataError, match="add its rows up first"):
        load(pd.concat([BY_YEAR, BY_YEAR[:1]]), count="n", without="year")
    numbered = pd.concat([CELLS, CELLS[:1]]).reset_index(drop=True).reset_index(names="row")
    with pytest.raises(DataError, match="add its rows up first"):  # a row number tells nothing
        load(numbered, count="n", without="row")


def test_sums_in_a_column_that_is_left_out_are_found():
    both = pd.concat([BY_YEAR, CELLS.assign(year="Total", n=2 * CELLS["n"])])
    with pytest.raises(WrongKind, match="rows that are sums of others"):
        load(both, count="n", without="year")
    assert load(both, count="n", without="year", totals="drop").total == 76


def test_counts_above_shares_are_found_where_columns_are_named():
    both = pd.concat([CELLS.assign(of="Count"), CELLS.assign(of="Percent")])
    with pytest.raises(DataError, match="stand below one another"):
        load(both, count="n", variables=["Sex", "Town"])


def test_a_table_of_r_is_cells(tmp_path):
    write_table(tmp_path / "x.rds", [12, 15, 2, 9], Sex=["m", "f"], Town=["Ash", "Birch"])
    found = load(tmp_path / "x.rds")
    assert found.dense().tolist() == [[12, 2], [15, 9]]
    assert found.variable("Sex").categories == ("m", "f")
    with pytest.raises(DataError, match="here each row must be a person"):
        Microdata.read(tmp_path / "x.rds")


@pytest.mark.parametrize("more", ["", "xyz"])
@pytest.mark.parametrize("present", [1.0, 0.7])
def test_a_count_beside_nested_columns(more, present, tmp_path):
    """Of the shape of SSBtools' sosialFiktiv: it was read as people."""
    (tmp_path / "x.csv").write_text(nested(5, present, more or "ant"))
    with pytest.raises(WrongKind, match=f"count='{more or 'ant'}'"):
        load(tmp_path / "x.csv")


def test_people_in_nested_columns_are_people():
    towns = pd.DataFrame({"Town": range(100, 160), "County": [t // 8 for t in range(60)]})
    people = towns.sample(400, replace=True, random_state=1).reset_index(drop=True)
    people["Sex"] = ["f", "m"] * 200
    people["Age"] = [(7 * i * i + 3 * i) % 91 for i in range(400)]
    assert len(Microdata.read(people)) == 400
    assert len(Microdata.read(people[:60])) == 60


def test_a_list_of_tables_asks_as_a_formula_does(tmp_path):
    """256 people for 665: whatever a list named was read as records."""
    tables = tmp_path / "tables.txt"
    tables.write_text("Sex*Town\n")
    with pytest.raises(WrongKind, match="count='n'"):
        read_sheets(CELLS, tables)
    assert read_sheets(CELLS, tables, count="n")[0].people.sum() == 38
    assert len(read_sheets(CELLS, tables, records=True)[0]) == 4
    firms = PEOPLE.assign(turnover=range(100, 138))
    tables.write_text("Sex*Town | value=turnover\n")
    assert len(read_sheets(firms, tables)[0]) == 38


OVER = {
    "the same name": ("mask", "--out", "{data}"),
    "another spelling": ("look", "--write", "{folder}/../{name}/x.csv"),
    "a link": ("look", "--write", "{folder}/link.csv"),
    "the page": ("bounds", "--release", "Sex", "--html", "{data}"),
    "the folder of it": ("assess", "--release", "Sex", "--export", "{folder}"),
    "a release into the folder of it": ("mask", "--out", "{folder}"),
    "the policy": ("assess", "--release", "Sex", "--policy", "{policy}", "--html", "{policy}"),
    "what an intruder knows": (
        "mask", "--method", "sample", "--with", "share=0.5", "--keys", "Sex", "--records",
        "--intruder", "{data}",
    ),
    "a file beside it": (
        "mask", "--method", "sample", "--with", "share=0.5", "--keys", "Sex", "--records",
        "--set", "masks.limit=1", "--policy", "{beside}", "--out", "{new}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OVER)
def test_no_command_writes_over_what_it_reads(case, tmp_path):
    data, link, policy = (tmp_path / name for name in ("x.csv", "link.csv", "policy.toml"))
    data.write_text(text(PEOPLE))
    link.symlink_to(data)
    policy.write_text("[small]\nmost = 2\n")
    beside = tmp_path / "new.csv.json"
    beside.write_text("[small]\nmost = 2\n")
    given = {"data": data, "folder": tmp_path, "name": tmp_path.name, "policy": policy}
    given |= {"beside": beside, "new": tmp_path / "new.csv"}
    command, *words = [word.format(**given) for word in OVER[case]]
    if command == "mask" and "--method" not in words:
        words += ["--release", "Sex*Town", "--records"]
    before = {path: path.read_text() for path in (data, policy, beside)}
    done = CliRunner().invoke(
        main, [command, str(data), *words, *["--force"] * (command == "mask")]
    )
    assert done.exit_code == 2, done.output
    assert "which is read here" in done.output
    assert {path: path.read_text() for path in before} == before


def test_every_output_is_guarded():
    """An option that writes is known by its callback."""
    from discreet.cli.showing import writable

    for name, command in main.commands.items():
        for option in command.params:
            help_ = getattr(option, "help", None) or ""
            if help_.startswith("Write ") or ": write " in help_:
                assert option.callback is writable, (name, option.opts)


def test_the_command_line_and_the_library_make_one_value():
    typed = Reading.typed({"count": "n", "variables": "A, B", "impossible": ("none",)})
    given = Reading.of({"count": "n", "variables": ["A", "B"], "impossible": "none"})
    assert typed == given


def test_there_are_sixty_files():
    assert len(FILES) >= 60
