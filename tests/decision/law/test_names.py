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
