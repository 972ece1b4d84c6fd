"""Moments against pandas and numpy; a scientist's own loss by hand."""

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.table.load import load
from discreet.utility.moments import moments
from discreet.utility.records import quantiles
from discreet.utility.target import target_loss


def files(seed):
    rng = np.random.default_rng(seed)
    made = []
    for n in (90, 70):
        x = rng.normal(size=n)
        frame = pd.DataFrame(
            {"x": x, "y": x + rng.normal(size=n), "z": rng.integers(0, 9, n) * 1.0}
        )
        frame = frame.mask(rng.random(frame.shape) < 0.1)
        made.append(frame.assign(w=rng.integers(1, 4, n)))
    return made


@pytest.mark.parametrize("seed", range(3))
def test_moments_by_pandas(seed):
    one, two = files(seed)
    found = moments(one, two, ["x", "y", "z"]).to_frame().set_index(["moment", "column"])
    for name in "xyz":
        spread = one[name].std(ddof=0)
        for file, side in ((one, "true"), (two, "masked")):
            assert found.loc[("mean", name), side] == pytest.approx(file[name].mean())
            assert found.loc[("deviation", name), side] == pytest.approx(file[name].std(ddof=0))
            assert found.loc[("missing", name), side] == pytest.approx(file[name].isna().mean())
            wanted = np.quantile(file[name].dropna(), 0.75, method="inverted_cdf")
            assert found.loc[("quantile", f"{name} at 0.75"), side] == wanted
        moved = (two[name].mean() - one[name].mean()) / spread
        assert found.loc[("mean", name), "difference"] == pytest.approx(moved)
    for a, b in (("x", "y"), ("x", "z"), ("y", "z")):  # pandas takes pairs that have both
        for file, side in ((one, "true"), (two, "masked")):
            value = found.loc[("correlation", f"{a}, {b}"), side]
            assert value == pytest.approx(file[a].corr(file[b]))


def test_weights_count_records_as_often():
    one, two = files(5)
    weighted = moments(one, two, ["x", "y", "z"], weight="w")
    repeated = [file.loc[file.index.repeat(file["w"])] for file in (one, two)]
    plain = moments(*repeated, ["x", "y", "z"])
    np.testing.assert_allclose(weighted.true, plain.true)
    np.testing.assert_allclose(weighted.masked, plain.masked)


def test_the_same_file_differs_nowhere_and_the_greatest_is_found():
    one, _ = files(6)
    same = moments(one, one, ["x", "y"])
    assert [same.greatest(kind)[1] for kind in ("mean", "quantile", "correlation")] == [0, 0, 0]
    moved = moments(one, one.assign(y=one["y"] + 3), ["x", "y"])
    assert moved.greatest("mean") == ("y", pytest.approx(3 / one["y"].std(ddof=0)))
    assert moved.greatest("deviation")[1] == pytest.approx(0)
    assert moved.greatest("correlation")[1] == pytest.approx(0)


def test_columns_that_do_not_vary_or_are_all_missing():
    one = pd.DataFrame({"x": [2.0, 2, 2], "y": [np.nan] * 3})
    found = moments(one, one.assign(x=[3.0, 3, 3]), ["x", "y"])
    assert found.greatest("mean") == ("x", np.inf)
    assert found.greatest("correlation") == ("", pytest.approx(np.nan, nan_ok=True))
    assert found.to_json()["mean"]["difference"] is None


def test_quantiles_are_values_of_the_file():
    assert quantiles([5, 1, np.nan, 3], [1, 2, 9, 1], [0.5, 0.51, 1.0]).tolist() == [1, 3, 5]
    assert quantiles(np.arange(1, 11), np.ones(10), [0.1, 0.3, 0.7]).tolist() == [1, 3, 7]


def test_wrong_columns_are_refused():
    one, two = files(7)
    with pytest.raises(DataError, match="no column 'q'"):
        moments(one, two, ["q"])
    with pytest.raises(DataError, match="each once"):
        moments(one, two, ["x", "x"])
    with pytest.raises(DataError, match="the weight -1"):
        moments(one.assign(w=-1), two, ["x"], weight="w")


def test_equation_2_by_hand():
    """Copies with estimates 1 and 4 of the truth 2; the second is too unsure for half the users."""
    true, masked = pd.Series([2.0]), [pd.Series([1.0]), pd.Series([4.0])]
    found = target_loss(
        true, masked, lambda s: s.mean(), loss="squared", uncertainty=lambda s: s.mean(),
        threshold=[3.0, 5.0], idle=10,
    )  # fmt: skip
    assert found.losses.tolist() == [1, 4]
    assert found.goes_on.tolist() == [1, 0.5]
    assert found.utility == pytest.approx(-(1 + (0.5 * 4 + 0.5 * 10)) / 2)
    assert found.to_json() == {"utility": -4.0, "goes_on": 0.75, "copies": 2}


@pytest.mark.parametrize(
    ("loss", "utility"),
    [("squared", -5), ("absolute", -3), ("zero-one", -1), (lambda e, t: max(abs(e - t)), -2)],
)
def test_losses_of_a_vector(loss, utility):
    found = target_loss([0.0, 0], np.array([1.0, -2]), lambda x: np.asarray(x), loss=loss)
    assert found.utility == utility


def test_targets_of_tables_and_users_who_always_go_on():
    tract = load("example:tract")
    shares = lambda t: t.margin("Race").dense() / t.total  # noqa: E731
    same = target_loss(tract, tract, shares, loss="zero-one")
    assert same.utility == 0
    given_up = target_loss(tract, tract, shares, uncertainty=lambda t: 1.0,
                           threshold=lambda u: 0.0, idle=7)  # fmt: skip
    assert given_up.utility == -7


def test_wrong_targets_are_refused():
    with pytest.raises(DataError, match="no loss 'huber'"):
        target_loss([1], [2], sum, loss="huber")
    with pytest.raises(DataError, match="needs uncertainty and idle"):
        target_loss([1], [2], np.mean, threshold=1)
    with pytest.raises(DataError, match="of shape"):
        target_loss(np.ones(2), np.ones(3), lambda x: x)
    with pytest.raises(DataError, match="values from 0 to 1"):
        target_loss(np.ones(2), np.ones(2), np.mean, uncertainty=np.mean,
                    threshold=lambda u: 2.0, idle=1)  # fmt: skip
