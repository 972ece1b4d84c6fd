"""Commands on files of every kind: what they say is what they say of the equal CSV file."""

import json

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import rdata
from click.testing import CliRunner

import filewriters
from discreet.cli import main
from discreet.table.load import load

RNG = np.random.default_rng(3)
SEX, TOWN, ILL = {1: "f", 2: "m"}, {1: "Ash", 2: "Birch", 3: "Cedar"}, {1: "no", 2: "yes"}
CODES = np.column_stack(
    [RNG.integers(1, 3, 300), RNG.integers(1, 4, 300), RNG.choice([1, 2], 300, p=[0.95, 0.05])]
)
PEOPLE = pd.DataFrame(
    {
        "sex": pd.Series(CODES[:, 0]).map(SEX),
        "town": pd.Series(CODES[:, 1]).map(TOWN),
        "ill": pd.Series(CODES[:, 2]).map(ILL),
    }
)


def sav(path):
    pairs = zip(("sex", "town", "ill"), (SEX, TOWN, ILL), strict=True)
    variables = [{"name": name, "labels": labels} for name, labels in pairs]
    path.write_bytes(filewriters.sav(variables, CODES.tolist()))


def dta(path):
    labels = {"sex": SEX, "town": TOWN, "ill": ILL}
    coded = pd.DataFrame(CODES, columns=[*labels]).astype("int8")
    coded.to_stata(path, write_index=False, value_labels=labels)


def xpt(path):
    rows = PEOPLE.to_numpy().tolist()
    path.write_bytes(filewriters.xpt([("sex", 4), ("town", 8), ("ill", 4)], rows))


KINDS = {
    ".xlsx": lambda path: filewriters.xlsx(PEOPLE, path),
    ".xls": lambda path: filewriters.xls(PEOPLE, path),
    ".ods": lambda path: filewriters.ods(PEOPLE, path),
    ".sav": sav,
    ".zsav": lambda path: pyreadstat.write_sav(PEOPLE, path, compress=True),
    ".dta": dta,
    ".xpt": xpt,
    ".rds": lambda path: rdata.write_rds(path, PEOPLE.astype("category")),
    ".rda": lambda path: rdata.write_rda(path, {"people": PEOPLE.astype("category")}),
}


def said(path, *command):
    found = CliRunner().invoke(main, [command[0], str(path), *command[1:]])
    assert found.exit_code in (0, 1), found.output
    text = found.stdout.replace(str(path), "DATA").replace(path.name, "DATA")
    content = json.loads(text)
    for key in ("provenance", "again"):
        content.pop(key, None)
    return found.exit_code, content


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "people.csv"
    PEOPLE.to_csv(path, index=False)
    return path


def test_the_verdict_on_a_file_of_any_kind(plain, tmp_path):
    """The table is the same, so all that follows is; what is said of two is compared."""
    asked = ("assess", "--release", "sex*town + ill", "--json")
    wanted, table = said(plain, *asked), load(plain)
    for kind, write in KINDS.items():
        path = tmp_path / f"people{kind}"
        write(path)
        assert load(path) == table, kind
        if kind in (".xlsx", ".sav"):
            assert said(path, *asked) == wanted, kind


def test_uniques_are_the_same(plain, tmp_path):
    asked = ("uniques", "--keys", "sex,town,ill", "--json")
    wanted = said(plain, *asked)
    for kind in (".xlsx", ".sav", ".rds"):
        path = tmp_path / f"people{kind}"
        KINDS[kind](path)
        assert said(path, *asked) == wanted, kind


def test_masked_records_keep_their_codes(tmp_path):
    """A code is 1 and not 1.0, though others are missing: else no record would be linked."""
    path, out = tmp_path / "people.sav", tmp_path / "masked.csv"
    rows = [(row[0], None if row[1] == 3 else row[1]) for row in CODES.tolist()]
    path.write_bytes(filewriters.sav([{"name": "sex", "labels": SEX}, {"name": "town"}], rows))
    asked = ["--method", "sample", "--with", "share=0.5", "--keys", "sex,town", "--seed", "1"]
    found = CliRunner().invoke(main, ["mask", str(path), *asked, "--out", str(out)])
    assert found.exit_code in (0, 1), found.output
    masked = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert (len(masked), {*masked["town"]}, {*masked["sex"]}) == (150, {"", "1", "2"}, {"1", "2"})


def test_several_files_are_assessed_as_one(plain, tmp_path):
    asked = ("assess", "--release", "sex*town + ill", "--json")
    for place in range(3):
        PEOPLE[place * 100 : place * 100 + 100].to_csv(tmp_path / f"part-{place}.csv", index=False)
    assert load(tmp_path) == load(plain)
    found = CliRunner().invoke(main, ["assess", str(tmp_path / "*.csv"), *asked[1:]])
    assert json.loads(found.stdout)["reasons"] == said(plain, *asked)[1]["reasons"]
    assert found.stderr.count("3 files are read as one") == 1


def test_a_sheet_is_named_by_an_option(plain, tmp_path):
    path = tmp_path / "people.xlsx"
    with pd.ExcelWriter(path) as book:
        for name in ("2019", "2020"):
            PEOPLE.to_excel(book, sheet_name=name, index=False)
    asked = ("count", "--release", "sex*town + ill", "--json")
    found = CliRunner().invoke(main, [asked[0], str(path), *asked[1:]])
    assert found.exit_code == 2
    assert "has the sheets '2019', '2020'; name one by --table" in found.stderr
    assert said(path, *asked, "--table", "2020") == said(plain, *asked)
