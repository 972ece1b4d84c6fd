"""How often a link so probable arises: by hand, by Lambert 1993, and by its own law."""

import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.intruder.linkage.encode import encode
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.risk.linkage.calibration import Share, calibration, draw_file

AGE = Intruder.of({"keys": {"age": {"kind": "normal", "spread": 1}}})
MIXED = {
    "keys": {
        "age": {"kind": "normal", "spread": [1.0, 4.0], "weights": [0.8, 0.2]},
        "income": {"kind": "lognormal", "spread": 0.3},
        "sex": {"kind": "category", "keep": 0.9},
    }
}

TYPES = {
    "keys": MIXED["keys"] | {"age": {"kind": "normal", "spread": 2}},
    "types": [
        {"share": 0.7, "keys": {"income": {"spread": 0.1}, "sex": {"keep": 0.99}}},
        {"share": 0.3},
    ],
}


def ages(*values):
    return pd.DataFrame({"age": [float(value) for value in values]})


def people(many, released, seed=0):
    rng = np.random.default_rng(seed)
    source = pd.DataFrame(
        {
            "age": rng.normal(40, 8, many),
            "income": np.exp(rng.normal(8, 0.7, many)),
            "sex": rng.choice(["f", "m"], many),
        }
    )
    masked = source.iloc[:released].copy()
    source.loc[:4, "age"] = np.nan
    source.loc[3:6, "sex"] = None
    masked.loc[5:9, "age"] = np.nan
    masked.loc[8:11, "sex"] = None
    return source, masked


def test_one_of_two():
    """f_1(x) / (f_1(x) + f_2(x)) >= p if x <= d / 2 - logit(p) / d, for sources at 0 and d."""
    d, many = 1.5, 400
    found = calibration(read_records(ages(0, d), ages(0.3), AGE), AGE, files=many)
    for p in (0.3, 0.5, 0.8):
        cut, normal = math.log(p / (1 - p)) / d, NormalDist()
        absent, present = normal.cdf(-d / 2 - cut), normal.cdf(d / 2 - cut)
        for share, expected in (
            (found.arises(p), absent),
            (found.arises(p, absent=False), present),
            (found.error(p), absent / (absent + present)),
        ):
            assert abs(share.value - expected) < 3 * share.error
    assert found.arises(0.5).of == many
    assert found.arises(0.5, source=0).of + found.arises(0.5, source=1).of == many


def test_lambert_1993_section_4_2_4():
    """10 of 100: if the target is absent, the largest p is .05 on average, .19 or more in 5%."""
    keys = {"keys": {"y": {"kind": "lognormal", "spread": 1}}}
    source = pd.DataFrame({"y": [1.0] + [math.exp(2)] * 99})
    released = pd.DataFrame({"y": [0.05, 0.14, 1.5, 2.4, 3.2, 3.8, 4.6, 8.7, 10.3, 10.7]})
    intruder = Intruder.of(keys)
    found = calibration(read_records(source, released, intruder), intruder, files=200)
    absent = found.chance[~found.released[:, 0], 0]
    assert absent.mean() == pytest.approx(0.05, abs=0.02)
    share = found.arises(0.1929, source=0)
    assert abs(share.value - 0.05) < 3 * share.error
    assert found.arises(0.86, source=0).value < 0.01


@pytest.mark.parametrize("content", [MIXED, TYPES, {**MIXED, "population": 90}])
def test_links_are_right_as_often_as_stated(content):
    intruder = Intruder.of(content)
    found = calibration(read_records(*people(60, 25), intruder), intruder, files=60)
    middle = (found.chance >= 0.4) & (found.chance < 0.6)
    share = Share.counted(found.right[middle].sum(), int(middle.sum()))
    assert share.of > 100
    assert 0.4 - 4 * share.error < share.value < 0.6 + 4 * share.error
    for row in found.tenths:
        if row.right.of >= 30:
            assert abs(row.right.value - row.stated) < 4 * row.right.error
    assert found.arises(0.5).value < found.arises(0.5, absent=False).value


def test_drawn_values_follow_the_model():
    source, masked = people(4000, 3000)
    intruder = Intruder.of({**MIXED, "population": 8000})
    data = encode(read_records(source, masked, intruder), intruder)
    drawn, parents = draw_file(data, 8000, np.random.default_rng(0))
    assert (np.isnan(drawn.x) == np.isnan(data.x)).all()
    assert ((drawn.released_codes == 2) == (data.released_codes == 2)).all()
    inside = parents[parents >= 0]
    assert len(set(inside.tolist())) == len(inside) == pytest.approx(1500, abs=110)
    noise = (drawn.x - data.y[parents])[parents >= 0]
    assert np.nanvar(noise[:, 0]) == pytest.approx((0.8 + 0.2 * 16) / 16, rel=0.2)
    assert np.nanvar(noise[:, 1]) == pytest.approx(1, rel=0.15)
    here, there = data.source_codes[inside, 0], drawn.released_codes[parents >= 0, 0]
    known = (here < 2) & (there < 2)
    assert (here == there)[known].mean() == pytest.approx(0.9, abs=0.03)


def test_drawn_types_mask_all_keys_alike():
    """Sex changes in .7 x .01 + .3 x .1 of records, of which .811 are of the vaguer type."""
    source, masked = people(6000, 6000)
    source.loc[:2999, "age"] = np.nan
    intruder = Intruder.of(TYPES)
    data = encode(read_records(source, masked, intruder), intruder)
    drawn, parents = draw_file(data, 6000, np.random.default_rng(0))
    here, there = data.source_codes[parents, 0], drawn.released_codes[:, 0]
    changed = (here != there) & (here < 2) & (there < 2)
    assert changed.mean() == pytest.approx(0.037, abs=0.01)
    noise = drawn.x[:, 1] - data.y[parents, 1]
    assert noise[changed].var() == pytest.approx(0.811 + 0.189 / 9, rel=0.3)
    assert noise[~changed].var() == pytest.approx(0.28 + 0.72 / 9, rel=0.2)
    unknown = drawn.x[np.isnan(data.y[parents, 0]), 0]
    assert np.nanvar(unknown) == pytest.approx(np.nanvar(data.x[:, 0]) + 1, rel=0.15)


def test_no_candidate_is_no_link():
    intruder = Intruder.of({"keys": {"sex": {"kind": "category"}}})
    source, masked = pd.DataFrame({"sex": ["f", "m"]}), pd.DataFrame({"sex": ["f"]})
    found = calibration(read_records(source, masked, intruder), intruder, files=5)
    assert found.error(0) == Share.counted(0, 5)


def test_everybody_is_released():
    found = calibration(read_records(ages(0, 3), ages(0, 3), AGE), AGE, files=5)
    with pytest.raises(DataError, match="all sources are released"):
        found.arises(0.5)
    assert found.arises(0, absent=False) == Share.counted(10, 10)
    assert repr(found) == "Calibration(5 files: no absent targets)"
    assert found.to_json()["tenths"][9]["absent"] == {
        "share": None,
        "standard_error": None,
        "of": 0,
    }
    assert found.to_frame()["absent"].isna().all()


def test_a_target_known_to_be_released():
    """One record: it is surely the target's, if the target is there."""
    intruder = Intruder.of({"keys": {"age": {"kind": "normal", "spread": 1}}, "present": True})
    found = calibration(read_records(ages(0, 3), ages(0), intruder), intruder, files=5)
    assert found.error(1) == Share.counted(0, 5)
    assert found.arises(1).value == 1


def test_a_share_and_its_error():
    assert Share.counted(0, 8) == (0, pytest.approx(math.sqrt(0.1 * 0.9 / 8)), 8)
    assert Share.counted(0, 0).to_json()["share"] is None


def test_bad_input():
    records = read_records(ages(0, 3), ages(0), AGE)
    with pytest.raises(DataError, match="0 files"):
        calibration(records, AGE, files=0)
    with pytest.raises(DataError, match="p is 2"):
        calibration(records, AGE, files=1).arises(2)
    with pytest.raises(IndexError):
        calibration(records, AGE, files=1).arises(0.5, source=2)
