"""An officer's day: forty tables of a survey, from the list to files that were looked at again."""

import json
import sys
import time
from pathlib import Path

from click.testing import CliRunner

from discreet.cli.main import main

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

import officesurvey  # noqa: E402


def run(*words):
    begun = time.perf_counter()
    found = CliRunner().invoke(main, [*words, "--json"])
    return json.loads(found.stdout), time.perf_counter() - begun


def test_forty_tables_of_a_survey_in_two_minutes(tmp_path):
    """Verdicts, blame, suppression, xlsx, a second look: 50,000 records, 12 variables."""
    data, book, tables = (tmp_path / name for name in ("survey.csv", "book.toml", "tables.toml"))
    officesurvey.survey().to_csv(data, index=False)
    book.write_text(officesurvey.CODEBOOK, encoding="utf-8")
    tables.write_text(officesurvey.tables(), encoding="utf-8")
    common = [str(data), "--codebook", str(book)]
    judged, first = run("assess", *common, "--tables", str(tables))
    assert len(judged["tables"]) == 40
    assert judged["verdict"] == "FAIL"
    assert ["C22", "C23"] in [blame["tables"] for blame in judged["blame"]]
    out = str(tmp_path / "year")
    more = ["--format", "xlsx", "--format", "csv", "--force"]
    masked, second = run("mask", *common, "--tables", str(tables), "--out", out, *more)
    rules = {r["rule"]: r for r in masked["judged"]["reasons"] if r["verdict"] == "FAIL"}
    assert not rules
    looked, third = run("check", out, "--against", str(data), "--codebook", str(book))
    assert looked["verdict"] == "REVIEW"  # counts stand beside weighted counts
    failed = sum(one["verdict"] == "FAIL" for one in judged["tables"])
    print(
        f"\nassess {first:.1f} s: {failed} of 40 tables fail alone, "
        f"{len(judged['part']['tables'])} can go; mask {second:.1f} s: {masked['hidden']} cells "
        f"hidden, {masked['verdict']}; check {third:.1f} s: {looked['hidden']} hidden cells, "
        f"narrowest {looked['narrowest']:g}"
    )
    assert first + second + third < 120
