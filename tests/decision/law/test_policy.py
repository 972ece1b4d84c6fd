"""Policies: defaults, files, locks, and refusal of what is unknown."""

import dataclasses
import tomllib

import pytest

from discreet.decision.law.policy import Policy
from discreet.errors import PolicyError

GONE = (
    'bounds.accept_outer is gone; write bounds.proof = "outer" (or "linear"; "integer" is the '
    "default)."
)


def write(tmp_path, text, name="office.toml"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_the_printed_policy_reads_back(tmp_path):
    policy = Policy.of({"small.width": 5, "attribute.check": False, "published.least": 0})
    read = Policy.read(write(tmp_path, policy.to_toml()))
    assert read.to_dict() == policy.to_dict()
    assert tomllib.loads(policy.to_toml())["small"]["width"] == 5


def test_a_file_changes_only_what_it_names(tmp_path):
    policy = Policy.read(write(tmp_path, "[small]\nwidth = 7\n"))
    assert policy.small.width == 7
    assert policy.small.most == 2
    assert policy.name == "office"


def test_a_locked_key_cannot_be_changed(tmp_path):
    write(tmp_path, 'name = "Office"\nlocked = ["small.width"]\n[small]\nwidth = 4\n')
    team = write(tmp_path, 'extends = "office.toml"\n[small]\nwidth = 3\n', "team.toml")
    with pytest.raises(PolicyError, match=r"small\.width is locked at 4 by the policy 'Office'"):
        Policy.read(team)
    office = Policy.read(tmp_path / "office.toml")
    with pytest.raises(PolicyError, match="locked"):
        office.set(["small.width=3"])
    assert office.set(["small.width=4", "small.most=3"]).small.most == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[small]\nwidht = 3", "no key 'small.widht'; did you mean small.width?"),
        ("[small]\nwidth = -1", "at least 0"),
        ("[small]\nwidth = 2.5", "must be a whole number"),
        ("[attribute]\nshare = 1.5", "at most 1"),
        ("[attribute]\ncheck = 1", "true or false"),
        ('[bounds]\nmethod = "guess"', "one of auto, closed, integer, linear, shuttle"),
        ('locked = ["nothing"]', "no key 'nothing'"),
        ('locked = "small.width"', "must be a list"),
        ("[small\nwidth = 3", "is not TOML"),
        ('extends = "office.toml"', "extends itself"),
        ('extends = "gone.toml"', "cannot read the policy"),
        ("rules = 3", "no key 'rules'"),
        ('[bounds]\nproof = "none"', "one of integer, linear, outer"),
        ("[bounds]\naccept_outer = true", GONE),
        ('locked = ["bounds.accept_outer"]', GONE),
    ],
)
def test_wrong_policies_are_refused(tmp_path, text, message):
    with pytest.raises(PolicyError) as caught:
        Policy.read(write(tmp_path, text))
    assert message in str(caught.value)


def test_wrong_assignments_are_refused():
    with pytest.raises(PolicyError, match="write key=value"):
        Policy().set(["small.width"])
    with pytest.raises(PolicyError, match="must be a whole number"):
        Policy().set(["small.width=wide"])
    assert Policy().set(["bounds.method=linear"]).bounds.method == "linear"


def test_an_unreadable_file_is_refused(tmp_path):
    with pytest.raises(PolicyError, match="cannot read the policy"):
        Policy.read(tmp_path / "none.toml")
    path = tmp_path / "latin.toml"
    path.write_bytes(b'name = "\xe9"')
    with pytest.raises(PolicyError, match=r"the policy 'latin\.toml' is not UTF-8; save it"):
        Policy.read(path)


def test_any_text_comes_back_from_the_file():
    odd = 'a"b\n\\c é\x7f\U0001f600'
    policy = dataclasses.replace(Policy.of({"belief.model": odd}), name=odd)
    assert Policy.loads(policy.to_toml()) == policy


@pytest.mark.parametrize("value", [True, False])
def test_a_key_that_is_gone_is_refused_with_what_to_write(value):
    for attempt in (
        lambda: Policy.of({"bounds.accept_outer": value}),
        lambda: Policy().change({"bounds.accept_outer": value}),
        lambda: Policy().set([f"bounds.accept_outer={str(value).lower()}"]),
    ):
        with pytest.raises(PolicyError) as caught:
            attempt()
        assert str(caught.value) == GONE
    assert Policy().set(["bounds.proof=linear"]).bounds.proof == "linear"


@pytest.mark.parametrize(("value", "proof"), [("true", "outer"), ("false", "integer")])
def test_what_an_earlier_version_kept_is_read(value, proof):
    text = f"""
        name = "The house"
        locked = ["bounds.accept_outer", "small.width"]
        [small]
        width = 4
        [bounds]
        accept_outer = {value}
    """
    found = Policy.loads(text)
    assert (found.bounds.proof, found.small.width) == (proof, 4)
    assert set(found.locked) == {"bounds.proof", "small.width"}
    with pytest.raises(PolicyError, match=r"bounds\.proof is locked"):
        found.change({"bounds.proof": "linear"})
    assert Policy.loads(found.to_toml()) == found
