"""What a released table teaches about a person, as a rule of the policy."""

import pytest

from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.errors import DataError, PolicyError
from discreet.table.load import load

ALONE = {
    "attribute.check": False,
    "published.least": 0,
    "small.width": 0,
    "knowledge.target": "Estate",
}


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"knowledge.group": "Region", "knowledge.limit": 0.25}, "FAIL"),
        ({"knowledge.group": "Region", "knowledge.limit": 0.19}, "PASS"),
        ({"knowledge.limit": 0.25}, "PASS"),
        (
            {"knowledge.group": "Region", "knowledge.measure": "gain", "knowledge.limit": 0.01},
            "FAIL",
        ),
        (
            {
                "knowledge.group": "Region",
                "knowledge.uncertainty": "entropy",
                "knowledge.limit": 0.1,
            },
            "PASS",
        ),
    ],
)
def test_the_rule_decides(change, verdict):
    decision = decide(load("example:estates"), "Region*Estate", Policy.of(ALONE | change))
    (reason,) = [r for r in decision.reasons if r.rule == "knowledge"]
    assert reason.verdict == verdict
    assert decision.verdict == verdict


def test_what_is_not_released_is_expected_from_the_rest():
    """Region and Estate apart lead one to expect the shares of everybody in each region."""
    policy = Policy.of(ALONE | {"knowledge.group": "Region", "knowledge.limit": 0.9})
    decision = decide(load("example:estates"), "Region + Estate", policy)
    assert decision.verdict == "FAIL"
    assert "is expected to be" in str(decision)
    nothing = decide(load("example:estates"), "Region", policy)
    assert nothing.verdict == "PASS"
    assert "Estate is in no released table" in str(nothing)


def test_wrong_names_are_refused():
    with pytest.raises(DataError, match="'Estat'"):
        decide(load("example:estates"), "Region", Policy.of({"knowledge.target": "Estat"}))
    with pytest.raises(PolicyError, match="one of knowledge, gain"):
        Policy.of({"knowledge.measure": "much"})
