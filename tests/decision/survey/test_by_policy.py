"""The section `publish` of a policy, and the command that keeps it."""

import json

import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.decision.law.policy import Policy
from discreet.decision.survey.by_policy import for_this_run, publish_by, rule_of
from discreet.decision.survey.publish import publish
from discreet.errors import PolicyError
from discreet.look.pages import page_of

CELLS = ([10, 10, 20, 10], [50, 200, 30, 200], [1, 2, 4, 0])
AREAS = (
    "area,region,n,N,y\nNorth,up,10,50,1\nSouth,low,10,200,2\nEast,up,20,30,4\n"
    "West,low,10,200,0\nHills,up,20,30,1\nCoast,low,10,50,3\n"
)
NAMES = ("--sample-size", "n", "--population", "N", "--cell-count", "y")
PRIOR = ("--alpha", "0.5", "--beta", "1.5")


@pytest.fixture
def areas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "areas.csv").write_text(AREAS)
    (tmp_path / "kinds.csv").write_text("kind,people\na,3\nb,2\nc,2\nd,1\ne,1\nf,1\n")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["publish", *arguments])


def document(*arguments, code=0):
    result = run("areas.csv", *NAMES, *PRIOR, *arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_a_policy_is_what_publish_is_asked():
    office = Policy.of({"publish.cut": "risk", "publish.risk": 0.3, "publish.edge": "best"})
    assert rule_of(office)["risk"] == 0.3
    found = publish_by(office, *CELLS, alpha=0.5, beta=1.5)
    same = publish(*CELLS, alpha=0.5, beta=1.5, risk=0.3, edge="best")
    assert found.publish.tolist() == same.publish.tolist()
    plugged = publish_by(
        Policy.of({"publish.rule": "plug-in", "publish.floor": 5.0}), *CELLS, alpha=1, beta=3
    )
    assert plugged.publish.tolist() == (plugged.counts.mean > 5).tolist()


def test_what_is_locked_stays():
    office = Policy.of({"publish.cut": "risk", "publish.risk": 0.2})
    locked = Policy(office.name, office.given, {"publish.risk": "office"})
    assert for_this_run(locked, {"risk": 0.2}).publish.risk == 0.2
    for options, says in (
        ({"risk": 0.5}, "publish.risk is locked at 0.2"),
        ({"ratio": 5.0}, "a ratio cannot take its place"),
        ({"risk": 0.2, "share": 0.5}, "share and risk are given"),
        ({"floor": 0.0}, "a floor cannot take its place"),
        ({"rule": "plug-in"}, "the plug-in rule cannot take its place"),
    ):
        with pytest.raises(PolicyError, match=says):
            for_this_run(locked, options)
    with pytest.raises(PolicyError, match="a floor decides every cell"):
        for_this_run(Policy(), {"floor": 5.0, "risk": 0.1})
    with pytest.raises(PolicyError, match="a ratio cannot take its place"):
        locked.set(["publish.cut=ratio"])


def test_the_command_keeps_a_policy_and_says_so(areas):
    (areas / "office.toml").write_text(
        'name = "office"\nlocked = ["publish.ratio"]\n[publish]\nratio = 0.5\ntotals = "all"\n'
        "known = false\n"
    )
    found = document("--policy", "office.toml")
    assert found["policy"]["publish"]["ratio"] == 0.5
    assert found["policy"]["name"] == "office"
    assert found["totals"]["verdict"] == "PASS"
    result = run("areas.csv", *NAMES, *PRIOR, "--policy", "office.toml")
    assert result.exit_code == 0
    assert "Policy: office" in result.stdout
    for arguments, says in (
        (("--ratio", "0.9"), "publish.ratio is locked at 0.5"),
        (("--risk", "0.9"), "a risk cannot take its place"),
        (("--set", "publish.ratoi=2"), "did you mean publish.ratio?"),
        (("--set", "publish.edge=soft"), "must be one of whole, best, random"),
    ):
        refused = run("areas.csv", *NAMES, *PRIOR, "--policy", "office.toml", *arguments)
        assert refused.exit_code == 2
        assert says in refused.stderr


def test_the_page_has_every_key():
    office = Policy.of({"publish.ratio": 0.5})
    found = publish_by(office, *CELLS, alpha=0.5, beta=1.5)
    locked = Policy("office", office.given, {"publish.ratio": "office"})
    page = page_of(found, policy=locked)
    assert any(said.text == "Policy: office" for said in page.said)
    (keys,) = page.sections[-1].parts
    assert len(keys.labels) == sum(key.startswith("publish.") for key in office.to_dict())
    at = keys.labels.index(["publish.ratio"])
    assert keys.figures[at] == ["0.5", "publish where R1 < this times R0", "locked"]


def test_table_2_by_the_command(areas):
    arguments = ("--plan", "3:8:1,5:20:3", "--alpha", "1", "--beta", "10")
    found = json.loads(run(*arguments, "--json").stdout)["plan"]
    assert [(row["n"], row["N"], row["y"]) for row in found[:3]] == [
        (3, 8, 0),
        (5, 20, 0),
        (5, 20, 5),
    ]
    assert found[4]["P_R1"] == pytest.approx(0.02150342032847978)
    assert found[0]["ratio"] is None
    assert found[-1]["published"] == pytest.approx(0.28665, abs=1e-5)
    said = run(*arguments, "--risk", "0.2", "--edge", "random").stdout
    assert "Plan: publish" in said
    assert "Expected per domain: risk" in said
    for wrong, says in (
        (("--plan", "3:8:1"), "give --alpha and --beta"),
        (("--plan", "8:3", *PRIOR), "'8:3' is no type of domains"),
        (("--plan", "3", *PRIOR), "write n:N or n:N:DOMAINS"),
        (("areas.csv", "--plan", "3:8", *PRIOR), "leave out 'areas.csv' or --plan"),
        (("--plan", "3:8", *PRIOR, "--totals", "all"), "leave out --plan"),
        (("areas.csv",), "Missing option '--population'"),
        ((), "Missing argument '[DATA]'"),
    ):
        refused = run(*wrong)
        assert refused.exit_code == 2, wrong
        assert says in refused.stderr


def test_the_plug_in_rule_by_the_command(areas):
    found = document("--rule", "plug-in", "--estimator", "weighted", "--ratio", "0.6")
    assert found["rule"] == {"ratio": 0.6, "edge": "whole", "plug_in": "weighted", "floor": None}
    assert found["plug_in"]["estimator"] == "weighted"
    floor = document("--floor", "5")
    assert [cell["publish"] for cell in floor["cells"]] == [True, True, True, True, False, True]
    assert floor["policy"]["publish"]["rule"] == "plug-in"
    said = run("areas.csv", *NAMES, *PRIOR, "--floor", "5").stdout
    assert "The plug-in rule differs in 1 cell" in said


def test_the_rest_by_the_command(areas):
    best = document("--risk", "0.45", "--edge", "best")["edges"]
    assert best["whole"]["data"] < best["best"]["data"] < best["random"]["data"]
    assert best["proven"] is True
    close = document("--taylor")["taylor"]
    assert close["worst"] == pytest.approx(0.2375, abs=1e-4)
    fitted = run("areas.csv", *NAMES, "--interval", "0.9", "--subclasses", "kinds.csv", "--json")
    found = json.loads(fitted.stdout)
    assert found["losses"]["disclosure"] == "uniques:8"
    assert found["subclasses"]["S"]["estimate"] == 8
    assert found["intervals"]["profile"]["size"][1] is None
    assert found["flips"]["points"] == 146
    for arguments, says in (
        (("--subclasses", "kinds.csv", "--disclosure-loss", "uniques:9"), "without S"),
        (("--interval", "0.9"), "nothing to move them over"),
        (("--totals", "place"), "totals by 'place': the data have no such column"),
    ):
        refused = run("areas.csv", *NAMES, *PRIOR, *arguments)
        assert refused.exit_code == 2
        assert says in refused.stderr


def test_totals_by_the_command(areas):
    first = "Suppressed holds only if nothing else of the class is published"
    plain = run("areas.csv", *NAMES, *PRIOR, "--ratio", "0.7")
    assert first in " ".join(plain.stdout.split())
    assert plain.exit_code == 0
    none = run("areas.csv", *NAMES, *PRIOR, "--ratio", "0.7", "--totals", "none").stdout
    assert "It is said that no total of the class is published" in none
    kept = document("--ratio", "0.7", "--totals", "all,region")
    assert kept["totals"]["status"][2] == "suppressed for a total"
    assert [cell["publish"] for cell in kept["cells"]] == [True, True, False, True, False, True]
    bare = ("--ratio", "0.7", "--totals", "region", "--set", "publish.secondary=false")
    assert document(*bare, code=1)["totals"]["given_back"] == [5]
    said = run("areas.csv", *NAMES, *PRIOR, *bare)
    assert said.exit_code == 1
    assert "1 cell is NOT suppressed: the published totals (region) give it back: row 5." in (
        " ".join(said.stdout.split())
    )
    order = said.stdout.split("In the order of publication")[1].split("What")[0]
    assert "suppress" not in order.split("published first.")[1]
    assert "published joined" not in str(kept["totals"])
    joined = document("--ratio", "0.3", "--combine", "--totals", "all")
    assert "published joined" in joined["totals"]["status"]
