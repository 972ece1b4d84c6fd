"""Which intruders pose little risk, against direct evaluation."""

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.intruder.linkage.encode import encode
from discreet.intruder.linkage.links import link_encoded
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.risk.linkage.harmless import blurred, harmless
from discreet.risk.linkage.identification import identify

SOURCE = pd.DataFrame(
    {
        "age": [20.0, 24, 30, 34, 40, 44, np.nan, 60, 70],
        "income": [10.0, 30, 12, 50, 22, 90, 20, 25, 60],
        "sex": ["f", "f", "m", "f", "m", "m", "f", "m", "f"],
    }
)
MASKED = pd.DataFrame(
    {"age": [25.0, 33, np.nan, 68], "income": [28.0, 55, 70, 66], "sex": ["f", "f", "m", "f"]}
)


def described(times=1.0, **changed):
    keys = {
        "age": {"kind": "normal", "spread": [2 * times, 5 * times], "weights": [0.7, 0.3]},
        "income": {"kind": "lognormal", "spread": 0.2 * times},
    }
    return Intruder.of({"keys": keys, **changed})


def with_sex(times=1.0):
    """Released: three quarters f."""
    mix = {
        a: {b: (0.9 if a == b else 0.1) / times + (1 - 1 / times) * often for b, often in OFTEN}
        for a in "fm"
    }
    keys = {"age": {"kind": "normal", "spread": 3 * times}, "sex": {"kind": "category"}}
    keys["sex"]["matrix"] = mix
    return Intruder.of({"keys": keys})


OFTEN = (("f", 0.75), ("m", 0.25))


def risks(intruder, act=0.5, source=SOURCE, masked=MASKED):
    return identify(read_records(source, masked, intruder), intruder, act=act).perceived


@pytest.mark.parametrize("intruder", [described, with_sex])
@pytest.mark.parametrize("times", [1, 1.7, 20])
def test_less_precise_is_as_if_described_so(intruder, times):
    records = read_records(SOURCE, MASKED, intruder())
    direct = link_encoded(encode(records, intruder(times)), intruder(times))
    found = link_encoded(blurred(encode(records, intruder()), times), intruder())
    assert found.perceived == pytest.approx(direct.perceived, abs=1e-9)


@pytest.mark.parametrize(
    ("measure", "limit"), [("pessimistic", 0.5), ("average", 0.2), ("above", 1)]
)
@pytest.mark.parametrize("intruder", [described, with_sex])
def test_the_least_that_is_within_the_limit(measure, limit, intruder):
    person = intruder()
    found = harmless(
        read_records(SOURCE, MASKED, person), person, limit=limit, measure=measure, act=0.4
    )
    assert getattr(risks(person, 0.4), measure) == pytest.approx(found.assumed)
    assert found.assumed > limit
    assert getattr(risks(intruder(found.times), 0.4), measure) <= limit + 1e-9
    last = max(times for times, risk in found.grid if risk > limit)
    assert last < found.times < 1.03 * last
    assert getattr(risks(intruder(last), 0.4), measure) > limit
    assert all(risk <= limit for times, risk in found.grid if times >= found.times)
    assert sum(times >= found.times for times, _ in found.grid) >= 3
    assert len(found.grid) <= 16


def test_a_key_that_is_not_known():
    found = harmless(read_records(SOURCE, MASKED, described()), described(), limit=0.5)
    for name in ("age", "income"):
        rest = described().only_keys([key for key in ("age", "income") if key != name])
        assert found.without[name] == pytest.approx(risks(rest).pessimistic)


@pytest.mark.parametrize(
    ("changed", "chance"), [({}, 1 / 9), ({"population": 50}, 1 / 50), ({"present": True}, 1 / 4)]
)
def test_an_intruder_who_knows_nothing(changed, chance):
    person = Intruder.of({"keys": {"age": {"kind": "normal", "spread": 1}}, **changed})
    found = harmless(read_records(SOURCE, MASKED, person), person, limit=chance / 2)
    assert found.without == {"age": pytest.approx(chance)}
    assert found.times is None
    assert repr(found) == f"Harmless(pessimistic risk at most {chance / 2:g}: never)"
    assert found.grid[-1][0] == 1024
    assert found.grid[-1][1] == pytest.approx(chance, rel=0.05)


def test_keys_left_that_are_constant():
    person = Intruder.of(
        {"keys": {"age": {"kind": "normal", "spread": 1}, "sex": {"kind": "category"}}}
    )
    source, masked = SOURCE.assign(sex="f"), MASKED.assign(sex="f")
    found = harmless(read_records(source, masked, person), person, limit=1)
    assert found.without["age"] == pytest.approx(1 / 9)
    assert found.without["sex"] == pytest.approx(found.assumed)
    assert found.times == 1
    assert [times for times, _ in found.grid] == [1, 2, 4]


def test_the_risk_may_rise():
    """At first sex outweighs age, 99 exp(-4.5) = 1.1 to 1; twice less precise, age outweighs it."""
    source = pd.DataFrame({"age": [40.0, 43.0], "sex": ["f", "m"]})
    masked = pd.DataFrame({"age": [43.0], "sex": ["f"]})
    keys = {"age": {"kind": "normal", "spread": 1}, "sex": {"kind": "category", "keep": 0.99}}
    person = Intruder.of({"keys": keys})
    found = harmless(read_records(source, masked, person), person, limit=0.55)
    odds = (0.99 / 2 + 0.5) / (0.01 / 2 + 0.5) * np.exp(-9 / 8)
    assert dict(found.grid)[2] == pytest.approx(1 / (1 + odds))
    assert found.assumed < 0.55 < dict(found.grid)[2]
    assert not found.steady
    assert found.times > 2


def test_frame_and_json():
    found = harmless(read_records(SOURCE, MASKED, described()), described(), limit=0.5)
    shown = found.to_frame()
    assert len(shown) == len(found.grid) + 2
    assert shown["unknown"].tolist()[-2:] == ["age", "income"]
    assert (shown["within"] == (shown["risk"] <= 0.5)).all()
    said = found.to_json()
    assert said["times"] == found.times
    assert said["grid"][0] == {"times": 1.0, "risk": found.assumed}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"limit": 0.1, "measure": "total"}, "'total' is not known"),
        ({"limit": 1.5}, "limit is 1.5; give a number from 0 to 1"),
        ({"limit": -1, "measure": "above"}, "from 0 on"),
        ({"limit": float("nan")}, "limit is nan"),
        ({"limit": 0.1, "act": 2}, "act is 2"),
    ],
)
def test_bad_input(options, words):
    with pytest.raises(DataError, match=words):
        harmless(read_records(SOURCE, MASKED, described()), described(), **options)
