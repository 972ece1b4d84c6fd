"""Two reports side by side."""

import copy
import json

import pytest

from discreet.decision.law.assess import assess
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import DataError
from discreet.report.compare import diff, read_report
from discreet.table.load import load


@pytest.fixture
def old(tract):
    return copy.deepcopy(tract.to_json())


def test_a_report_against_itself(old):
    same = diff(old, old)
    assert same.same
    assert str(same) == "verdict: FAIL as before\nnothing changed"
    assert same.to_json()["same"] is True


def test_a_smaller_release(old, safe):
    found = diff(old, safe.to_json())
    assert found.verdicts == (Verdict.FAIL, Verdict.PASS)
    assert found.lost == (("Race", "Income"),)
    assert found.gained == ()
    assert [now.rule for _, now in found.changed] == ["small counts", "published cells"]
    assert found.narrowest[0] == 1
    assert found.narrowest[1] > 1
    said = str(found).splitlines()
    assert said[0] == "verdict: was FAIL, now PASS"
    assert "margins lost: 1 (Race*Income)" in said


def test_what_was_out_before_counts(safe):
    both = assess(load("example:tract"), "Race", released="Gender*Income").to_json()
    found = diff(both, safe.to_json())
    assert found.gained == found.lost == ()


def test_another_policy(old):
    policy = Policy.of({"small.width": 1, "attribute.check": False, "published.least": 0})
    lax = assess(load("example:tract"), "Race*Income + Income*Gender", policy).to_json()
    found = diff(old, lax)
    assert found.policy == {
        "small.width": (3, 1),
        "attribute.check": (True, False),
        "published.least": (3, 0),
    }
    off = ["published cells", "attribute disclosure"]
    assert [reason.rule for reason in found.gone] == off
    assert [reason.rule for reason in diff(lax, old).new] == off
    assert "policy small.width: was 3, now 1" in str(found)


def test_a_report_of_an_earlier_version_has_the_same_policy(old):
    earlier = copy.deepcopy(old)
    earlier["policy"]["bounds.accept_outer"] = earlier["policy"].pop("bounds.proof") == "outer"
    assert diff(earlier, old).same


def test_other_data(old):
    other = copy.deepcopy(old)
    other["provenance"]["sha256"] = "0" * 64
    found = diff(old, other)
    assert not found.same_data
    assert "not the same" in str(found)


def test_other_variables(old, blond):
    found = diff(old, blond.to_json())
    assert found.gained == (("Hair", "Income"),)
    assert found.lost == (("Race", "Income"), ("Gender", "Income"))


def test_its_json(old, safe):
    document = json.loads(json.dumps(diff(old, safe.to_json()).to_json()))
    assert document["verdict"] == {"old": "FAIL", "new": "PASS"}
    lost = {"gained": [], "lost": [["Race", "Income"]], "number_gained": 0, "number_lost": 1}
    assert document["margins"] == lost
    assert document["reasons"]["changed"][0]["rule"] == "small counts"
    assert document["narrowest"]["old"] == 1


def test_reading(tmp_path, old):
    path = tmp_path / "old.json"
    path.write_text(json.dumps(old), encoding="utf-8")
    assert read_report(path) == old


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is not JSON"),
        ("\xff", "is not JSON"),
        ("[]", "is no assessment"),
        ("3", "is no assessment"),
        ("{}", "it has no 'table'"),
        ('{"table": 3}', "is no assessment"),
    ],
)
def test_wrong_files(tmp_path, content, says):
    path = tmp_path / "wrong.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError, match=says):
        read_report(path)


def test_missing_files(tmp_path):
    with pytest.raises(DataError, match=r"there is no report .*nowhere.json"):
        read_report(tmp_path / "nowhere.json")
    with pytest.raises(DataError, match="cannot be read"):
        read_report(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("verdict", "MAYBE"), ("release", "Shoe*Size"), ("release", "@/etc/passwd"), ("reasons", 3)],
)
def test_a_document_that_is_not_one_is_refused(old, key, value):
    with pytest.raises(DataError, match="the new report is no assessment"):
        diff(old, {**old, key: value})
