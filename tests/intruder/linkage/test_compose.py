"""One column masked twice: products, sums of variances, and the law by simulation."""

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.intruder.linkage.compose import compose
from discreet.intruder.linkage.kinds import image
from discreet.intruder.linkage.links import link
from discreet.intruder.linkage.model import Intruder, Key, Kind
from discreet.intruder.linkage.records import read_records

PRAM = Key(
    "v",
    Kind.CATEGORY,
    matrix={"a": {"a": 0.7, "b": 0.3}, "b": {"a": 0.1, "b": 0.8, "c": 0.1}, "c": {"c": 1.0}},
)
RECODE = Key("v", Kind.CATEGORY, matrix={"a": {"x": 1.0}, "b": {"x": 1.0}, "c": {"y": 1.0}})
AGES = Key("v", Kind.INTERVAL, cuts=(18.0, 65.0), labels=("9", "40", "80"))
TOP = Key("v", Kind.TOPCODE, high=60.0, labels=("", "60"))
NORMAL = Key("v", Kind.NORMAL, spread=(1.0, 3.0), weights=(0.6, 0.4))
RANK = Key("v", Kind.RANK, window=0.1)
SHARED = Key("v", Kind.SHARED, seen=np.array(["5", "5", None, ""], object))
KEEP = Key("v", Kind.CATEGORY, keep=0.8)
EVERY = [PRAM, RECODE, AGES, TOP, NORMAL, RANK, SHARED, KEEP, Key("v", Kind.SWAPPED, keep=0.7)]


def dense(key, names):
    """The matrix of a key by its definition."""
    if key.matrix is None:
        other = (1 - key.keep) / (len(names) - 1)
        return np.where(np.eye(len(names)) > 0, key.keep, other)
    return np.array([[key.matrix[y].get(x, 0.0) for x in names] for y in names])


@pytest.mark.parametrize(("first", "second"), [(PRAM, PRAM), (PRAM, KEEP), (KEEP, PRAM)])
def test_matrices_multiply(first, second):
    names = ["a", "b", "c"]
    found = dense(compose(first, second), names)
    assert found == pytest.approx(dense(first, names) @ dense(second, names), abs=1e-12)


def test_matrix_then_recoding():
    assert compose(PRAM, RECODE).matrix["b"] == pytest.approx({"x": 0.9, "y": 0.1})
    ages = Key("v", Kind.CATEGORY, matrix={"10": {"10": 0.6, "30": 0.4}})
    assert compose(ages, AGES).matrix["10"] == pytest.approx({"9": 0.6, "40": 0.4})


def test_kept_twice():
    """.8 x .8 + 2 x .1 x .1 of three categories, which the source names."""
    found = compose(KEEP, KEEP, ["a", "b", "c", ""])
    assert found.matrix["a"] == pytest.approx({"a": 0.66, "b": 0.17, "c": 0.17})
    with pytest.raises(DataError, match="categories are not said"):
        compose(KEEP, KEEP)


@pytest.mark.parametrize("kind", [Kind.NORMAL, Kind.LOGNORMAL])
def test_variances_add(kind):
    mixed = Key("v", kind, spread=(1.0, 3.0), weights=(0.6, 0.4))
    found = compose(mixed, Key("v", kind, spread=(4.0,), suppressed=0.1))
    assert found.spread == pytest.approx((17**0.5, 5.0))
    assert found.weights == pytest.approx((0.6, 0.4))
    assert (found.kind, found.suppressed) == (kind, 0.1)
    assert compose(mixed, Key("v", kind)).spread is None


@pytest.mark.parametrize("key", EVERY)
def test_what_is_released_as_it_is_changes_nothing(key):
    plain = Key("v", Kind.EXACT)
    assert compose(plain, key) == key
    assert compose(key, plain) == key
    assert compose(key, Key("v", Kind.UNKNOWN)).kind is Kind.UNKNOWN


@pytest.mark.parametrize("key", EVERY)
def test_suppressed_afterwards(key):
    found = compose(key, Key("v", Kind.SUPPRESSED, suppressed=0.2))
    again = compose(found, Key("v", Kind.SUPPRESSED, suppressed=0.5))
    assert (found.kind, found.suppressed) == (key.kind, 0.2)
    assert again.suppressed == pytest.approx(0.6)


def test_suppressed_by_category():
    first = Key("v", Kind.SUPPRESSED, suppressed={"a": 0.2, "b": 0.0})
    found = compose(first, Key("v", Kind.SUPPRESSED, suppressed={"a": 0.5, "b": 0.1}))
    assert found.suppressed == pytest.approx({"a": 0.6, "b": 0.1})
    assert compose(first, KEEP).suppressed == first.suppressed
    with pytest.raises(DataError, match="normal and then as suppressed"):
        compose(NORMAL, first)


def test_facts_after_facts():
    values = [10, 20, 70, None]
    assert image(AGES, values).tolist() == ["9", "40", "80", ""]
    assert image(TOP, values).tolist() == ["10", "20", "60", ""]
    assert image(SHARED).tolist() == ["5", "5", None, ""]
    recoded = compose(
        AGES, Key("v", Kind.CATEGORY, matrix={"9": {"y": 1}, "40": {"o": 1}, "80": {"o": 1}})
    )
    assert (recoded.kind, recoded.labels) == (Kind.INTERVAL, ("y", "o", "o"))
    both = compose(TOP, AGES, values)
    assert (both.kind, both.seen.tolist()) == (Kind.SHARED, ["9", "40", "40", ""])
    lifted = compose(SHARED, AGES)
    assert lifted.seen.tolist() == ["9", "9", None, ""]
    with pytest.raises(DataError, match="give the source values"):
        compose(TOP, AGES)
    with pytest.raises(DataError, match="left to chance"):
        image(NORMAL, values)


def test_chance_after_facts():
    for second in (NORMAL, RANK, Key("v", Kind.LOGNORMAL, spread=(0.1,)), KEEP):
        found = compose(TOP, second, [10, 20, 70, None])
        assert (found.kind, found.seen.tolist()) == (second.kind, ["10", "20", "60", ""])


def test_noise_after_top_coding_links_as_noise_around_the_top():
    values = np.array([10.0, 58.0, 70.0, 90.0])
    y, x = pd.DataFrame({"v": values}), pd.DataFrame({"v": [61.0, 12.0]})
    found = compose(TOP, Key("v", Kind.NORMAL, spread=(2.0,)), values)
    plain = Intruder((Key("v", Kind.NORMAL, spread=(2.0,)),))
    intruder = Intruder((found,))
    capped = y.clip(upper=60)
    truth = link(read_records(capped, x, plain, records=True), plain).dense()
    assert link(read_records(y, x, intruder, records=True), intruder).dense() == pytest.approx(
        truth
    )


def test_a_second_mask_that_says_what_became_of_each():
    assert compose(NORMAL, SHARED) is SHARED


@pytest.mark.parametrize(
    ("first", "second"),
    [(NORMAL, AGES), (RANK, RANK), (NORMAL, Key("v", Kind.LOGNORMAL, spread=(1.0,))),
     (RANK, NORMAL), (KEEP, AGES), (RANK, TOP)],
)  # fmt: skip
def test_what_no_key_says(first, second):
    words = f"{first.kind} and then as {second.kind}, .* in the other order"
    with pytest.raises(DataError, match=words):
        compose(first, second)


def test_two_columns_are_not_one():
    with pytest.raises(DataError, match="'v' and 'w' are two columns"):
        compose(NORMAL, Key("w", Kind.EXACT))
    block = Key("v", Kind.SWAPPED, keep=0.9, joint=("w",))
    with pytest.raises(DataError, match="swapped and then as normal"):
        compose(block, NORMAL)
