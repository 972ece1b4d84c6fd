"""Variables and categories that a policy names, and that the table does not have."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from discreet.cli.main import main
from discreet.decision.law.alternatives import decide_merged
from discreet.decision.law.decide import decide, passing, ruling
from discreet.decision.law.names import NAME
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import PolicyError
from discreet.release.release import Release
from discreet.table.formula import as_formula
from discreet.table.table import Table

TABLE = Table.of(np.full((3, 2), 40), Sex=["f", "m", "unknown"], Town=["Ash", "Elm"])
PLAIN = {"attribute.check": False}


@pytest.mark.parametrize(
    ("key", "text", "verdict", "said"),
    [
        ("categories.hidden", "Sex=unknown", "FAIL", ""),
        ("categories.hidden", "Sex=unknwon", "REVIEW", "did you mean 'unknown'?"),
        ("categories.hidden", "Sex=zz", "REVIEW", "'zz' of 'Sex'"),
        ("categories.hidden", "Sexe=unknown", "REVIEW", "did you mean 'Sex'?"),
        ("categories.hidden", "Income=high", "PASS", "which is not in these data"),
        ("published.tables", "Sex*Twon: 99", "REVIEW", "did you mean 'Town'?"),
        ("published.tables", "Sex*Income: 99", "PASS", "which is not in these data"),
        ("published.tables", "Sex*Town: 99", "FAIL", ""),
    ],
)
def test_a_policy_serves_many_data_sets(key, text, verdict, said):
    """Each of these but what is there was PASS, or an error."""
    policy = Policy.of(PLAIN | {key: text})
    decision = decide(TABLE, "Sex*Town", policy)
    assert decision.verdict == verdict
    assert (passing(TABLE, "Sex*Town", policy) is not None) == (verdict == "PASS")
    alone = ruling(TABLE, Release.margins(TABLE, "Sex*Town"), policy)
    assert alone is decision.verdict
    if verdict == "REVIEW":
        assert decision.reasons[0].rule == NAME
        assert said in decision.reasons[0].text
    elif said:
        assert any(said in sentence for sentence in decision.assumptions)


def test_what_is_set_for_this_run_is_there():
    for text in ("Sex=unknwon", "Sex=zz", "Income=high"):
        policy = Policy.of(PLAIN).set([f"categories.hidden={text}"])
        with pytest.raises(PolicyError, match="which neither the data nor the codebook have"):
            decide(TABLE, "Sex*Town", policy)
    with pytest.raises(PolicyError, match="did you mean 'Town'"):
        decide(TABLE, "Sex*Town", Policy().set(["published.tables=Twon: 5"]))


def test_lists_of_tables_look_names_up_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{s},{t}" for s in ("f", "m", "unknown") for t in ("Ash", "Elm") for _ in range(40)]
    Path("p.csv").write_text("\n".join(["Sex,Town", *rows]) + "\n", encoding="utf-8")
    Path("t.toml").write_text('[[tables]]\nname = "1"\nvariables = "Sex*Town"\n', encoding="utf-8")
    office = '[categories]\nhidden = "Sex=unknwon"\n[attribute]\ncheck = false\n'
    Path("o.toml").write_text(office, encoding="utf-8")
    for command in ("assess", "mask"):
        words = [command, "p.csv", "--tables", "t.toml", "--policy", "o.toml", "--json"]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 1, done.output
        assert "did you mean 'unknown'?" in done.stdout
        words = [command, "p.csv", "--tables", "t.toml", "--set", "categories.hidden=Sex=unknwon"]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 2
        assert "did you mean 'unknown'?" in done.stderr


def test_an_offer_that_merges_a_hidden_category_is_no_doubt():
    policy = Policy.of(PLAIN | {"categories.hidden": "Sex=unknown"})
    merged = {"Sex": {"f": "f", "m": "m or unknown", "unknown": "m or unknown"}}
    found = decide_merged(TABLE, as_formula("Sex*Town", TABLE.names), merged, policy)
    assert found.verdict is Verdict.PASS


def three_towns():
    counts = [[[40, 0], [30, 0], [0, 20]], [[50, 0], [60, 0], [0, 30]]]
    return Table.of(np.array(counts), Sex="mf", Town="ABZ", Region=["R1", "R2"])


def test_a_line_in_which_everybody_has_a_hidden_category_is_one_of_it():
    """R2 is Z alone: as somebody stated, or as the data look."""
    table, policy = three_towns(), Policy.of(PLAIN | {"categories.hidden": "Town=Z"})
    stated = table.excluding([{"Town": ["A", "B"], "Region": "R2"}, {"Town": "Z", "Region": "R1"}])
    assert decide(stated, "Region", policy).verdict is Verdict.FAIL
    assert decide(stated, "Sex", policy).verdict is Verdict.PASS
    beyond = stated.beside("Region", "Country", {"R1": "C1", "R2": "C2"})
    assert decide(beyond, "Country", policy).verdict is Verdict.FAIL  # Town in Region in Country
    assert decide(table, "Region", policy).verdict is Verdict.PASS  # anybody may live there


def test_no_offer_shows_a_hidden_category_under_a_groups_name(tmp_path):
    lines = ["Sex,Town,n", "m,A,40", "f,A,50", "m,B,1", "f,B,60", "m,Z,20", "f,Z,30"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    groups = '{A = "Big", B = "Big", Z = "Rest"}'
    (tmp_path / "b.toml").write_text(f"[variables.Town]\nhierarchy = {groups}\n")
    (tmp_path / "p.toml").write_text('[categories]\nhidden = "Town=Z"\n')
    data = [str(tmp_path / "t.csv"), "--count", "n", "--codebook", str(tmp_path / "b.toml")]
    for how in (["--policy", str(tmp_path / "p.toml")], ["--set", "categories.hidden=Town=Z"]):
        found = CliRunner().invoke(main, ["assess", *data, "--release", "Sex*Town", *how])
        assert found.exit_code == 1, found.output
        assert "leave out Sex*Town" in found.output
        assert "merge Town" not in found.output


@pytest.mark.parametrize("command", ["assess", "mask"])
def test_what_is_hidden_is_read_though_no_table_has_it(command, tmp_path):
    rows = [(t, r) for t, r, n in (("A", "R1", 90), ("B", "R1", 90), ("Z", "R2", 50))
            for _ in range(n)]  # fmt: skip
    text = "\n".join(["Town,Region", *(f"{t},{r}" for t, r in rows)])
    (tmp_path / "p.csv").write_text(text)
    (tmp_path / "t.txt").write_text("Region\n")
    words = [command, str(tmp_path / "p.csv"), "--tables", str(tmp_path / "t.txt")]
    found = CliRunner().invoke(main, [*words, "--set", "categories.hidden=Town=Z"])
    if command == "assess":
        assert (found.exit_code, "not to be shown" in found.output) == (1, True), found.output
    else:
        assert (found.exit_code, "2 cells hidden" in found.output) == (0, True), found.output
