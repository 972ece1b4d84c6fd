"""Samples: exact numbers, whole households, weights that add up."""

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.masks.records.file import RecordFile
from discreet.masks.records.sampling import Sample


def people(seed, n=400, **more):
    rng = np.random.default_rng(seed)
    home = np.sort(rng.integers(0, n // 3, n))
    frame = pd.DataFrame({"home": home, "age": rng.integers(0, 90, n), "w": rng.random(n) + 1})
    frame["area"] = np.array(["n", "s", "w"])[np.searchsorted([n // 30, n // 5], home)]
    return RecordFile(frame, **more)


@pytest.mark.parametrize("strata", [None, "area"])
@pytest.mark.parametrize("household", [None, "home"])
@pytest.mark.parametrize("options", [{"share": 0.3}, {"records": 123}])
def test_the_promise_is_kept(options, household, strata):
    for seed in range(5):
        file = people(seed, household=household, weight="w")
        mask = Sample(**options, strata=strata)
        masked = mask.apply(file, np.random.default_rng(seed))
        assert mask.broken(file, masked) == []
        assert len(set(masked.rows)) == len(masked)
        shown, drawn = file.data.iloc[masked.rows], masked.data
        assert (shown["age"].to_numpy() == drawn["age"].to_numpy()).all()
        if household is None:
            assert len(masked) == options.get("records", 120)
            asked = len(masked) / len(file)
            for area, many in file.data["area"].value_counts().items() if strata else ():
                number = (drawn["area"] == area).sum()
                assert abs(number - many * asked) < 1
                factor = drawn["w"].to_numpy() / shown["w"].to_numpy()
                here = (drawn["area"] == area).to_numpy()
                assert factor[here] == pytest.approx(many / number)
        else:
            sizes = file.data["home"].value_counts()
            assert drawn["home"].value_counts().to_dict().items() <= sizes.to_dict().items()
            asked = options.get("share", 123 / len(file))
            assert drawn["home"].nunique() == int(asked * len(sizes) + 0.5)
        assert not masked.keys


def test_everybody_is_as_likely_and_order_tells_nothing():
    file, times, first = people(1, 30), np.zeros(30), np.zeros(30)
    for seed in range(1000):
        rows = Sample(share=0.4).apply(file, np.random.default_rng(seed)).rows
        times[rows] += 1
        first[rows[0]] += 1
    assert np.abs((times - 400) / np.sqrt(1000 * 0.4 * 0.6)).max() < 4.5
    assert np.abs((first - 1000 / 30) / np.sqrt(1000 / 30)).max() < 4.5


def test_weights_add_up_to_the_population():
    file = people(2, 3000, weight="w")
    file.data["w"] = 2.0
    masked = Sample(share=0.1, strata="area").apply(file, np.random.default_rng(1))
    assert masked.data["w"].sum() == pytest.approx(6000)


def test_records_without_a_household_are_drawn_by_themselves():
    file = RecordFile(
        pd.DataFrame({"home": [1, 1, None, None], "age": [1, 2, 3, 4]}), household="home"
    )
    sizes = {len(Sample(share=0.34).apply(file, np.random.default_rng(s)).rows) for s in range(20)}
    assert sizes == {1, 2}


def test_the_promise_is_looked_at():
    file, mask = people(3, household="home", weight="w"), Sample(share=0.5)
    masked = mask.apply(file, np.random.default_rng(1))
    wrong = [
        (masked.data.assign(w=1.0), masked.rows),
        (masked.data.assign(age=5), masked.rows),
        (masked.data.iloc[1:], masked.rows[1:]),
        (masked.data, np.r_[masked.rows[1:], masked.rows[1]]),
    ]
    for data, rows in wrong:
        assert mask.broken(file, type(masked)(data, rows))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "share or records"),
        ({"share": 0.1, "records": 3}, "share or records"),
        ({"share": 1.2}, "1.2"),
        ({"share": 1e-6}, "draws nobody"),
        ({"records": 4000}, "4000"),
        ({"share": 0.1, "households": True}, "no column for households"),
        ({"share": 0.1, "strata": "sex"}, "no column 'sex'"),
        ({"share": 0.01, "strata": "age"}, "none would be drawn"),
    ],
)
def test_wrong_options(options, said):
    with pytest.raises(DataError, match=said):
        Sample(**options).apply(people(1), np.random.default_rng(1))


def test_strata_that_cut_households():
    with pytest.raises(DataError, match="two strata"):
        Sample(share=0.5, strata="age").apply(people(1, household="home"), np.random.default_rng(1))
