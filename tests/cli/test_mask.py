"""`discreet mask` and `discreet assess --tables`, as an officer runs them."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from discreet.cli.main import main

BOOK = """
[variables.Town]
role = "identifying"
hierarchy = { a = "North", b = "North", c = "South", d = "South" }
[variables.Age]
role = "identifying"
[variables.Sex]
role = "identifying"
"""
TABLES = """
[codings.Age50]
variable = "Age"
cuts = [50]
[codings.Age51]
variable = "Age"
cuts = [51]
[[tables]]
name = "towns"
variables = "Town*Sex"
[[tables]]
name = "to 50"
variables = "Town*Age50"
[[tables]]
name = "to 51"
variables = "Town*Age51"
[[tables]]
name = "money"
variables = "Town*Sex"
value = "Income"
holding = "Owner"
"""


@pytest.fixture(autouse=True)
def office(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    rows = 400
    people = pd.DataFrame(
        {
            "Town": rng.choice(list("abcd"), rows, p=[0.4, 0.3, 0.2, 0.1]),
            "Age": rng.integers(20, 80, rows),
            "Sex": rng.choice(["f", "m"], rows),
            "Income": np.exp(rng.normal(3, 1, rows)).round(1),
            "Owner": rng.choice(["x", "y", ""], rows, p=[0.02, 0.02, 0.96]),
        }
    )
    people.loc[(people.Age == 50), "Age"] = 49
    people.loc[people.index[people.Town == "d"][0], "Age"] = 50  # one person of 50, in d
    few = people.index[people.Town == "d"][3:]
    people.loc[few, "Sex"] = "m"
    people.loc[people.index[people.Town == "d"][:3], "Sex"] = ["f", "f", "m"]
    people.to_csv("people.csv", index=False)
    (tmp_path / "book.toml").write_text(BOOK, encoding="utf-8")
    (tmp_path / "tables.toml").write_text(TABLES, encoding="utf-8")
    return people


def run(*words, code=None):
    found = CliRunner().invoke(main, [str(word) for word in words])
    if code is not None:
        assert found.exit_code == code, found.output
    return found


def document(*words, code=None):
    return json.loads(run(*words, "--json", code=code).stdout)


COMMON = ("people.csv", "--codebook", "book.toml")


def test_a_batch_has_a_verdict_for_each_table_and_names_who_is_to_blame():
    said = document("assess", *COMMON, "--tables", "tables.toml", code=1)
    each = {table["name"]: table["verdict"] for table in said["tables"]}
    assert each["towns"] == "FAIL"  # two women in d
    assert each["to 50"] != "FAIL"
    assert each["to 51"] != "FAIL"
    assert [blame["tables"] for blame in said["blame"]] == [["to 50", "to 51"]]
    assert "50" in said["blame"][0]["text"]
    kept = said["part"]["tables"]
    assert len({"to 50", "to 51"} & set(kept)) == 1
    assert said["part"]["largest"]


def test_a_list_of_lines_and_its_page(tmp_path):
    (tmp_path / "t.txt").write_text("Town*Sex | levels Town=1\nTown\n", encoding="utf-8")
    found = run("assess", *COMMON, "--tables", "t.txt", "--html", "page.html")
    assert "Table by table" in found.output
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_one_of_release_and_tables_is_needed():
    assert run("assess", *COMMON).exit_code == 2
    both = run("mask", *COMMON, "--tables", "tables.toml", "--release", "Sex")
    assert both.exit_code == 2
    assert "one of the two" in both.output


def test_suppressed_tables_are_written_and_keep_what_is_asked(tmp_path, office):
    said = document("mask", *COMMON, "--tables", "tables.toml", "--out", "out", "--force")
    assert not [r for r in said["judged"]["reasons"] if r["verdict"] == "FAIL"]
    assert said["hidden"] > 0
    towns = pd.read_csv(tmp_path / "out" / "table-towns.csv", dtype=str)
    women_in_d = towns[(towns.Town == "d") & (towns.Sex == "f")]
    assert women_in_d.iloc[0, -1] == "x"
    north = towns[(towns.Town == "North") & (towns.Sex == "Total")]
    assert int(north.iloc[0, -1]) == office.Town.isin(["a", "b"]).sum()
    run("check", "out", "--against", *COMMON, code=0)


def test_nothing_is_written_without_pass_unless_forced(tmp_path):
    found = run("mask", *COMMON, "--release", "Town*Sex", "--method", "cell-key", "--out", "out")
    assert found.exit_code == 1
    assert "Nothing was written" in found.output
    assert not (tmp_path / "out").exists()


def test_what_is_out_behind_a_mask_is_judged_with_what_is_new(tmp_path):
    """Town*Sex with a gap is out; the towns' men alone would close it."""
    run("mask", *COMMON, "--release", "Town*Sex", "--out", "year", code=0)
    (tmp_path / "men.txt").write_text("1: Town | where Sex=m\n2: Sex", encoding="utf-8")
    alone = document("assess", *COMMON, "--tables", "men.txt")
    both = document("assess", *COMMON, "--tables", "men.txt", "--released", "year", code=1)
    assert {t["verdict"] for t in alone["tables"]} != {"FAIL"}
    assert both["together"]["verdict"] == "FAIL"
    assert both["out"] == ["year/Town*Sex"]


def test_rounded_tables_add_up(tmp_path):
    words = ("--release", "Town*Sex", "--method", "round", "--base", "5", "--out", "out", "--force")
    run("mask", *COMMON, *words)
    (file,) = (tmp_path / "out").glob("*.csv")
    table = pd.read_csv(file).set_index(["Town", "Sex"]).iloc[:, -1]
    assert (table % 5 == 0).all()
    assert table["a", "f"] + table["a", "m"] == table["a", "Total"]
    assert table["North", "Total"] + table["South", "Total"] == table["Total", "Total"]


def test_a_perturbed_table_keeps_what_is_out(tmp_path, office):
    lines = "1: Town*Sex | status=out\n2: Town*Age | status=out\n3: Town*Sex*Age"
    (tmp_path / "t.txt").write_text(lines, encoding="utf-8")
    words = ("--tables", "t.txt", "--method", "perturb", "--seed", "3", "--out", "out.csv")
    said = document("mask", *COMMON, *words, code=0)
    assert said["verdict"] == "PASS"
    drawn = pd.read_csv(tmp_path / "out.csv", dtype=str)
    value = drawn.columns[-1]
    inner = drawn[(drawn.Town == "a") & (drawn.Sex == "f") & (drawn.Age != "Total")]
    assert inner[value].astype(float).sum() == ((office.Town == "a") & (office.Sex == "f")).sum()
    truth = office[(office.Town == "a") & (office.Sex == "f")].groupby("Age").size()
    shown = inner.set_index("Age")[value].astype(float)
    assert any(shown[str(age)] != count for age, count in truth.items())


def test_merging_keeps_the_most_cells_and_is_written(tmp_path):
    said = document(
        "mask", *COMMON, "--release", "Town*Sex", "--method", "merge", "--out", "m.json"
    )
    assert said["verdict"] == "PASS"
    assert said["tables"][0]["cells"] == 9  # total, North, South by total, f, m
    assert (tmp_path / "m.json").exists()


def test_cells_that_must_be_kept_and_last_years_pattern(tmp_path):
    run("mask", *COMMON, "--release", "Town*Sex", "--out", "first", code=0)
    run("mask", *COMMON, "--release", "Town*Sex", "--previous", "first", "--out", "second", code=0)
    one, two = (next((tmp_path / f).glob("*.csv")).read_text("utf-8") for f in ("first", "second"))
    assert one == two
    strange = run("mask", *COMMON, "--release", "Town*Sex", "--keep", "nothing")
    assert "--keep names 'nothing'" in strange.output
    run("mask", *COMMON, "--release", "Town*Sex", "--keep", "totals", "--out", "third", code=0)
    third = pd.read_csv(next((tmp_path / "third").glob("*.csv")), dtype=str)
    totals = third[(third.Sex == "Total") | (third.Town == "Total")]
    assert not (totals.iloc[:, -1] == "x").any()


def test_the_secret_and_the_truth_are_in_no_file(tmp_path):
    secret = "a secret of many letters"
    words = ("--release", "Town*Sex", "--method", "cell-key", "--secret", secret, "--force")
    run("mask", *COMMON, *words, "--out", "out", "--format", "xlsx", "--format", "json-stat")
    for file in (tmp_path / "out").iterdir():
        assert secret.encode() not in file.read_bytes()
    record = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert re.search(r"[0-9a-f]{16}", json.dumps(record))


def test_a_gap_that_is_out_stays_a_gap(tmp_path):
    """A new table beside last year's gaps: nothing that was hidden follows."""
    run("mask", *COMMON, "--release", "Town*Sex", "--out", "year", code=0)
    text = TABLES.split("[[tables]]")[0] + '[[tables]]\nname = "new"\nvariables = "Town*Age50"\n'
    (tmp_path / "new.toml").write_text(text, encoding="utf-8")
    words = ("--tables", "new.toml", "--released", "year", "--out", "next", "--force")
    said = document("mask", *COMMON, *words)
    assert not [r for r in said["judged"]["reasons"] if r["verdict"] == "FAIL"]
    run("check", "next", "--against", *COMMON, "--released", "year", code=0)


def test_what_is_out_and_should_not_be_is_to_blame_itself(tmp_path):
    (tmp_path / "t.txt").write_text("1: Town*Sex | status=out\n2: Age\n", encoding="utf-8")
    said = document("assess", *COMMON, "--tables", "t.txt", code=1)
    assert [blame["tables"] for blame in said["blame"]] == [["1"]]
    assert said["part"]["tables"] == []


def test_sums_that_are_out_are_judged_with_their_owners(tmp_path):
    text = '[[tables]]\nname = "m"\nvariables = "Town"\nvalue = "Income"\nholding = "Owner"\n'
    (tmp_path / "money.toml").write_text(text, encoding="utf-8")
    run("mask", *COMMON, "--tables", "money.toml", "--out", "year", code=0)
    shown = pd.read_csv(next((tmp_path / "year").glob("*.csv")), dtype=str)
    assert shown.iloc[:, -1].str.fullmatch(r"x|\d+\.\d").all()  # as few decimals as the data have
    (tmp_path / "counts.txt").write_text("Town\n", encoding="utf-8")
    said = document("assess", *COMMON, "--tables", "counts.txt", "--released", "year")
    assert said["out"] == ["year/m"]
    again = document("assess", *COMMON, "--tables", "money.toml", "--released", "year")
    assert again["verdict"] in ("PASS", "REVIEW")


@pytest.mark.parametrize("said", ["", 'holding = "Town"\n'])
def test_a_list_that_forgets_the_owners_of_what_is_out_is_refused(tmp_path, said):
    """What May hid for an owner would be judged as if nobody had two cells of a row."""
    text = '[[tables]]\nname = "m"\nvariables = "Town"\nvalue = "Income"\n'
    owned = 'holding = "Owner"\n'
    (tmp_path / "may.toml").write_text(text + owned, encoding="utf-8")
    (tmp_path / "june.toml").write_text(text.replace("Town", "Town*Sex") + said, encoding="utf-8")
    run("mask", *COMMON, "--tables", "may.toml", "--out", "may", code=0)
    for command in ("assess", "mask"):
        words = (command, *COMMON, "--released", "may", "--tables")
        refused = run(*words, "june.toml", code=2)
        assert "say holding = 'Owner' in the list" in refused.output
        assert run(*words, "may.toml").exit_code in (0, 1)
    run("mask", *COMMON, "--tables", "june.toml", "--out", "old", "--force")
    run("assess", *COMMON, "--tables", "june.toml", "--released", "old", code=1)
    (tmp_path / "counts.txt").write_text("Town\n", encoding="utf-8")
    words = ("assess", *COMMON, "--tables", "counts.txt")
    both = [document(*words, "--released", a, "--released", b) for a, b in (
        ("may", "old"), ("old", "may"))] if not said else []  # fmt: skip
    assert len({one["verdict"] for one in both}) == bool(both)


def test_a_perturbed_table_never_keeps_what_a_gap_hides(tmp_path):
    """Town*Sex is out with gaps: its margin is not public, and is no margin to keep."""
    run("mask", *COMMON, "--release", "Town*Sex", "--out", "year", code=0)
    (tmp_path / "t.txt").write_text("1: Town*Sex*Age\n", encoding="utf-8")
    words = ("--tables", "t.txt", "--method", "perturb", "--out", "out.csv", "--released", "year")
    refused = run("mask", *COMMON, *words, code=2)
    assert "nothing is out whole" in refused.output
    (tmp_path / "t.txt").write_text("1: Town*Sex*Age\n2: Age | status=out\n", encoding="utf-8")
    said = document("mask", *COMMON, *words, code=0)
    assert said["parameters"][0]["kept"] == "Age"


def test_a_filter_that_is_out_is_no_margin_to_keep(tmp_path):
    lines = "1: Town*Sex\n2: Town | where Sex=f, status=out\n"
    (tmp_path / "t.txt").write_text(lines, encoding="utf-8")
    refused = run("mask", *COMMON, "--tables", "t.txt", "--method", "perturb", code=2)
    assert "nothing is out whole" in refused.output


def test_a_policy_without_a_rule_for_sums_judges_nothing():
    off = [f"--set=contributors.{key}=0" for key in ("least", "p", "n")]
    found = run("assess", *COMMON, "--release", "Town", "--value", "Income", *off, code=2)
    assert "asks no rule of the sum of Income" in found.output


def test_unsafe_cells_are_listed_in_a_confidential_file(tmp_path, office):
    """Those that a rule forbids and those hidden for them: all in the file, ten on the page."""
    words = ("mask", *COMMON, "--tables", "tables.toml", "--out", "out", "--force")
    shown = run(*words, "--unsafe", "unsafe.csv").output
    text = (tmp_path / "unsafe.csv").read_text(encoding="utf-8")
    assert text.startswith("Confidential: ")
    cells = pd.read_csv(tmp_path / "unsafe.csv", skiprows=1, dtype=str, keep_default_na=False)
    said = document(*words)
    assert said["unsafe"] == {
        "cells": len(cells),
        "primary": (cells.kind == "primary").sum(),
        "secondary": (cells.kind == "secondary").sum(),
    }
    # every gap of the release is in the list, and nothing else that is printed
    gaps = set()
    for path in (tmp_path / "out").glob("table-*.csv"):
        frame = pd.read_csv(path, dtype=str)
        hidden = frame[frame.iloc[:, -1] == "x"].iloc[:, :-1]
        gaps |= {frozenset(row) - {"Total"} for row in hidden.itertuples(index=False)}
    rows = cells[cells.table != ""]
    assert {frozenset(cell.split(", ")) - {"Total"} for cell in rows.cell} == gaps
    women = cells[(cells.cell == "d, f") & cells.rule.str.startswith("published")].iloc[0]
    assert (women.kind, women.contributors) == ("primary", "2")
    assert women.rule.endswith(": fewer than 3")
    assert women.needs == "hidden, 3 wide"
    assert women.has.startswith("2, from ")
    more = f"{len(cells)} unsafe cells"
    assert more in " ".join(shown.split())
    assert "--unsafe FILE writes all" in " ".join(shown.split())
    for file in (tmp_path / "out").iterdir():
        assert b"onfidential" not in file.read_bytes()


def test_unsafe_cells_of_tables_that_are_asked_about(tmp_path):
    words = ("assess", *COMMON, "--tables", "tables.toml", "--unsafe", "unsafe.csv")
    said = document(*words, code=1)["unsafe"]
    cells = pd.read_csv(tmp_path / "unsafe.csv", skiprows=1, dtype=str, keep_default_na=False)
    assert said["cells"] == len(cells) > 0
    women = cells[(cells.cell == "d, f") & cells.rule.str.startswith("published")].iloc[0]
    assert (women.verdict, women.kind, women.has) == ("FAIL", "primary", "printed: 2")


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("out/unsafe.csv", "in the folder of a release"),
        ("out/deep/unsafe.csv", "in the folder of a release"),
        ("new/unsafe.csv", "in the folder of a release"),
        ("people.csv", "which is read here"),
        ("tables.toml", "which is read here"),
        ("book.toml", "which is read here"),
        ("new", "is another file of this run"),
    ],
)
def test_unsafe_cells_are_never_written_into_a_release(tmp_path, file, said):
    run("mask", *COMMON, "--release", "Town", "--out", "out", "--force")
    (tmp_path / "out" / "deep").mkdir()
    (tmp_path / "new").mkdir()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    words = ("--tables", "tables.toml", "--unsafe", file)
    assert said in run("mask", *COMMON, *words, "--out", "new", code=2).output
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_thresholds_are_in_no_file_unless_the_policy_says_that_they_are_public(tmp_path):
    words = ("mask", *COMMON, "--tables", "tables.toml", "--force", "--out", "out")
    formats = [word for kind in ("csv", "xlsx", "json", "json-stat") for word in ("--format", kind)]
    (tmp_path / "office.toml").write_text('name = "Office 2026"\n[contributors]\np = 17.25\n')
    changed = ("--set", "contributors.p=17.25", "--set", "contributors.least=4")
    for said in (changed, ("--policy", "office.toml"), (*changed, "--policy", "office.toml")):
        run(*words, *formats, *said)
        told = b"".join(file.read_bytes() for file in (tmp_path / "out").iterdir())
        assert b"17.25" not in told
        assert b"least" not in told
        assert b"default" not in told
        assert (b"Office 2026" in told) == ("--policy" in said)
    run(*words, *changed, "--set", "published.thresholds=true")
    record = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))["record"]
    assert "contributors.p = 17.25" in record["policy"]


def test_who_has_no_value_stays_in_the_tables_of_counts(tmp_path, office):
    """A blank in a column that is added up takes nobody out of other tables of the list."""
    some = office.copy()
    some["Income"] = [f"{v:.2f}".replace(".", ",") for v in some.Income]
    some.loc[some.index[some.Town == "a"][:31], "Income"] = ""
    some.loc[some.index[some.Town == "b"][:5], "Income"] = "NA"
    some.to_csv(tmp_path / "some.csv", index=False)
    book = ("--codebook", "book.toml")
    words = ("some.csv", *book, "--tables", "tables.toml")
    asked = run("mask", *words, "--out", "out", code=2)
    assert "missing_values" in asked.output
    (tmp_path / "book.toml").write_text('missing_values = ["NA"]\n' + BOOK, encoding="utf-8")
    said = document("mask", *words, "--out", "out", "--force")
    assert said["said"][0].startswith(
        "36 records without a number in 'Income': left out of the sum"
    )
    towns = pd.read_csv(tmp_path / "out" / "table-towns.csv", dtype=str)
    total = towns[(towns.Town == "Total") & (towns.Sex == "Total")]
    assert total.iloc[0, -1] == "400"
    sums = pd.read_csv(tmp_path / "out" / "table-money.csv", dtype=str)
    told = office.Income[pd.to_numeric(some.Income.str.replace(",", "."), "coerce").notna()].sum()
    shown = sums[(sums.Town == "Total") & (sums.Sex == "Total")]
    assert float(shown.iloc[0, -1]) == pytest.approx(told)
    assert "36 records" in document("assess", *words)["assumptions"][0]
    run("check", "out", "--against", "some.csv", *book, code=0)


@pytest.mark.parametrize(("words", "verdict"), [(("--seed", "3"), "REVIEW"), ((), "PASS")])
def test_a_table_drawn_from_a_seed_that_is_given_is_a_trial(tmp_path, words, verdict):
    asked = ("--release", "Town*Sex", "--method", "round", "--base", "5", "--force")
    done = run("mask", *COMMON, *asked, "--out", "out", *words, code=None)
    assert ("trial, not for release" in done.output) == bool(words)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert ("trial" in manifest["tables"][0]["parameters"]) == bool(words)
    data, *options = COMMON
    told = run("check", "out", "--against", data, *options, "--json", code=None)
    assert json.loads(told.output)["verdict"] == verdict
