"""What a file is taken for, on the command line: exit code 2 and the option to type."""

import json

import pytest
from click.testing import CliRunner

from discreet.cli import main

CELLS = "Sex,Town,n\nm,Ash,12\nm,Birch,2\nf,Ash,15\nf,Birch,9\n"
CROSSTAB = "Town,m,f,Total\nAsh,12,15,27\nBirch,2,9,11\nTotal,14,24,38\n"


@pytest.fixture
def run(tmp_path):
    """A command on a file with this content."""

    def _run(content, command, *options):
        path = tmp_path / "x.csv"
        path.write_text(content)
        arguments = [command, str(path), *options]
        return CliRunner().invoke(main, arguments)

    return _run


def refused(result):
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr


COMMANDS = {
    "assess": ("--release", "Sex*Town"),
    "bounds": ("--release", "Sex*Town"),
    "count": ("--release", "Sex*Town"),
    "posterior": ("--release", "Sex*Town"),
    "widths": (),
    "frontier": (),
    "knowledge": ("--target", "Sex", "--limit", "0.1"),
    "uniques": ("--keys", "Sex,Town"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_forgotten_count(run, command):
    said = refused(run(CELLS, command, *COMMANDS[command]))
    assert "Say --count n, or --records if each row is a person." in said
    right = run(CELLS, command, *COMMANDS[command], "--count", "n")
    assert right.exit_code in (0, 1), right.output
    assert "is this a file" not in run(CELLS, command, *COMMANDS[command], "--records").output


@pytest.mark.parametrize("command", COMMANDS)
def test_a_crosstab_with_totals(run, command):
    options = COMMANDS[command]
    assert "Say --crosstab NAME" in refused(run(CROSSTAB, command, *options))
    said = refused(run(CROSSTAB, command, *options, "--crosstab", "Sex"))
    assert "say --drop-totals, or --totals keep if 'Total'" in said
    for words in (["--totals", "drop"], ["--drop-totals"]):
        right = run(CROSSTAB, command, *options, "--crosstab", "Sex", *words)
        assert right.exit_code in (0, 1), right.output


def test_a_crosstab_counts_what_its_cells_count(run):
    table = ("--crosstab", "Sex", "--totals", "drop")
    first = run(CROSSTAB, "assess", "--release", "Sex*Town", *table, "--json")
    again = run(CELLS, "assess", "--release", "Sex*Town", "--count", "n", "--json")
    assert json.loads(first.stdout)["table"]["total"] == 38
    assert json.loads(again.stdout)["table"]["total"] == 38


def test_totals_that_do_not_add_up(run):
    content = CELLS + "Total,Ash,26\n"
    said = refused(run(content, "assess", "--release", "Sex", "--count", "n", "--totals", "drop"))
    assert (
        "counts 26 where the rows it stands for sum to 27: repair it, or say --totals keep" in said
    )


def test_domains_and_links_of_cells(tmp_path):
    (tmp_path / "x.csv").write_text(
        "Town,Ill,people,n\nAsh,no,99,12\nAsh,yes,99,2\nBirch,no,88,15\nBirch,yes,88,9\n"
    )
    (tmp_path / "intruder.toml").write_text('[keys.Town]\nkind = "category"\nkeep = 0.9\n')
    path = str(tmp_path / "x.csv")
    domains = ["publish", path, "--domain", "Town", "--population", "people"]
    domains += ["--cell-count", "Ill=yes", "--alpha", "1", "--beta", "1"]
    links = ["identify", "--source", path, "--released", path]
    links += ["--intruder", str(tmp_path / "intruder.toml")]
    for command in (domains, links):
        assert "--count n" in refused(CliRunner().invoke(main, command))
        assert CliRunner().invoke(main, [*command, "--records"]).exit_code == 0
