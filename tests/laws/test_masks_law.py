"""Every mask of records keeps its promise, and the intruder that it describes is right.

A new mask is held to it by its line in `maskcases.CASES`.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from discreet.decision.compare.plan import Plan
from discreet.decision.compare.records import attack
from discreet.masks.records.chain import chained
from discreet.masks.records.registry import MASKS, mask_of
from maskcases import CASES, NOBODY, calibrated, every_case, people


def test_every_mask_has_a_case():
    assert set(CASES) | set(NOBODY) == set(MASKS)


@pytest.mark.parametrize(("name", "options", "keys"), every_case())
def test_a_mask_keeps_its_promise(name, options, keys):
    mask = mask_of(name, options)
    assert mask.name == name
    for seed in range(3):
        file = people(150, seed=seed, missing=0.05)
        masked = mask.apply(file, np.random.default_rng(seed))
        assert mask.broken(file, masked) == []
        again = mask.apply(file, np.random.default_rng(seed))
        pd.testing.assert_frame_equal(masked.data, again.data)
        assert (masked.rows == again.rows).all()
        assert list(masked.data.columns) == list(file.data.columns)
        others = [c for c in file.data.columns if not _masked(masked, c) and c != file.weight]
        kept = file.data[others].iloc[masked.rows].reset_index(drop=True)
        pd.testing.assert_frame_equal(masked.data[others].reset_index(drop=True), kept)


def _masked(masked, column):
    return any(column == key.name or column in key.joint for key in masked.keys.values())


@pytest.mark.parametrize(("name", "options", "keys"), every_case())
def test_a_broken_promise_is_seen(name, options, keys):
    """A value of a column that no mask may touch, and one too few records."""
    mask, file = mask_of(name, options), people(120)
    masked = mask.apply(file, np.random.default_rng(1))
    data = masked.data.copy()
    data.loc[3, "ill"] = {"no": "yes", "yes": "no"}[data.loc[3, "ill"]]
    assert mask.broken(file, replace(masked, data=data))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options", "keys"), every_case())
def test_links_are_right_as_often_as_they_say(name, options, keys):
    """A few hundred here; 2,000 of each in the benchmarks."""
    stated, right = calibrated(name, options, keys, least=300, files=8)
    some = (stated >= 0.4) & (stated <= 0.6)
    many = int(some.sum())
    assert many > 60
    error = 0.5 / np.sqrt(many)
    assert right[some].mean() == pytest.approx(stated[some].mean(), abs=4 * error)


def test_a_chain_says_what_all_its_steps_do():
    steps = (
        {"method": "top-code", "columns": ["age"], "high": 70},
        {"method": "noise", "columns": ["age"], "spread": [2.0]},
        {"method": "pram", "columns": ["town"], "keep": 0.7},
        {"method": "sample", "share": 0.5, "households": False},
    )
    file = people(400)
    masked = chained(steps).apply(file, np.random.default_rng(3))
    assert set(masked.keys) == {"age", "town"}
    assert len(masked) == 200
    known = file.data["age"].iloc[masked.rows].clip(upper=70).to_numpy()
    assert np.nanstd(masked.data["age"].to_numpy() - known) == pytest.approx(2, abs=0.4)


@pytest.mark.parametrize("name", NOBODY)
def test_records_of_nobody_have_no_source(name):
    frame = people(150, missing=0).data[["sex", "job", "town", "ill"]]
    mask = mask_of(name, {})
    file = type(people(10))(frame)
    masked = mask.apply(file, np.random.default_rng(1))
    assert mask.broken(file, masked) == []
    assert (masked.rows == -1).all()


@pytest.mark.parametrize(("name", "options", "keys"), every_case())
def test_a_twin_of_what_is_masked_gives_it_back(name, options, keys):
    """Whatever the mask: keys that stand in other columns too are as good as unmasked."""
    file = people(150, missing=0)
    mask, whole = mask_of(name, options), mask_of("sample", {"share": 1.0})
    hidden = [key for key in keys if _masked(mask.apply(file, np.random.default_rng(1)), key)]
    twins = {f"twin of {key}": 2 * file.data[key] for key in hidden}
    both = replace(file, data=file.data.assign(**twins))
    plan = Plan.of({"keys": list(keys), "masks": [{"method": name}]})
    plain, _ = attack(both, whole.apply(both, np.random.default_rng(1)), plan, 0.5)
    found, said = attack(both, mask.apply(both, np.random.default_rng(1)), plan, 0.5)
    assert found.identified >= 0.9 * options.get("share", 1.0) * plain.identified
    assert bool(said) == bool(hidden)
