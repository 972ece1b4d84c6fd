"""The worth of masked files: crosstabs of pandas, and what a fair user makes of coarse values."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from discreet.data.hierarchy import Hierarchy
from discreet.errors import DataError
from discreet.utility import counted
from discreet.utility.coarse import cuts_of, fine_of
from discreet.utility.summary import worth


def file(rng, n=60, missing=0.1):
    made = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["Bern", "Basel", "Bonn", "Bingen"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "ill": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
            "age": rng.integers(18, 90, n).astype(float),
        }
    )
    for name in ("town", "age"):
        made.loc[rng.random(n) < missing, name] = None
    return made.assign(w=rng.integers(1, 4, n))


def spread(frame, within):
    """A record for each fine value that it may be, with its share of the weight."""
    rows = []
    for record in frame.to_dict("records"):
        choices = []
        for name, value in record.items():
            value = "" if value != value or value is None else value
            choices.append(within.get(name, {}).get(value, [value]) if name != "w" else [value])
        number = np.prod([len(c) for c in choices])
        for chosen in product(*choices):
            row = dict(zip(record, chosen, strict=True))
            rows.append(row | {"w": row["w"] / number})
    return pd.DataFrame(rows)


def brute(one, two, names):
    """1 - mean over orders of the mean Hellinger distance, by crosstabs."""
    means = []
    for order in range(1, min(3, len(names)) + 1):
        distances = []
        for margin in combinations(names, order):
            p, q = (f.groupby(list(margin))["w"].sum() / f["w"].sum() for f in (one, two))
            p, q = p.align(q, fill_value=0)
            distances.append(np.sqrt(max(0, 1 - np.sqrt(p * q).sum())))
        means.append(np.mean(distances))
    return 1 - np.mean(means)


def parts(frame, cuts):
    """Age by tenths of the true file."""
    said = ["" if v != v else str(sum(v > cut for cut in cuts)) for v in frame["age"]]
    return frame.fillna({"town": ""}).assign(age=said)


@pytest.mark.parametrize("seed", range(6))
def test_score_by_crosstabs(seed):
    rng = np.random.default_rng(seed)
    one, two = file(rng), file(rng, 80)
    ranked = np.sort(one.loc[one.index.repeat(one["w"]), "age"].dropna())
    tenths = {ranked[int(np.ceil(len(ranked) * k / 10)) - 1] for k in range(1, 10)}
    cuts = [(v + ranked[ranked > v][0]) / 2 for v in sorted(tenths)]
    expected = brute(parts(one, cuts), parts(two, cuts), ["sex", "town", "ill", "age"])
    found = worth(one, two, categories=["sex", "town", "ill"], numbers=["age"], weight="w")
    assert found.score == pytest.approx(expected, abs=1e-7)
    assert len(found.by_order.margins) == 4 + 6 + 4


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_coarse_values_are_spread_evenly(seed, dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(counted, "MOST_DENSE", 3)
    rng = np.random.default_rng(seed)
    one = file(rng, missing=0)
    two = one.copy()
    swiss = two["town"].isin(["Bern", "Basel"])
    two.loc[swiss, "town"] = "CH"
    two.loc[rng.random(60) < 0.2, "town"] = "*"
    two.loc[rng.random(60) < 0.3, "ill"] = None
    within = {"town": {"CH": ["Bern", "Basel"], "*": []}, "ill": {"": []}}
    listed = {"town": {"CH": ["Bern", "Basel"], "*": sorted(one["town"].unique())},
              "ill": {"": ["no", "yes"]}}  # fmt: skip
    names = ["sex", "town", "ill"]
    found = worth(one, two, categories=names, weight="w", within=within)
    columns = [*names, "w"]
    expected = brute(one[columns], spread(two[columns], listed), names)
    assert found.score == pytest.approx(expected, abs=1e-7)
    blind = worth(one, two, categories=names, weight="w")
    assert blind.score < found.score


def test_identical_files_are_worth_one_in_any_order_and_type():
    rng = np.random.default_rng(1)
    one = file(rng)
    other = one.sample(frac=1, random_state=3).astype({"sex": "category", "town": "category"})
    found = worth(one, other, categories=["sex", "town", "ill"], numbers=["age"])
    assert found.score == 1
    assert found.moments[0].greatest("mean")[1] == pytest.approx(0, abs=1e-12)
    numbered = pd.DataFrame({"code": [1, 2, 2, 3]})
    floats = pd.DataFrame({"code": [1.0, 2.0, 2.0, 3.0]})
    assert worth(numbered, floats, categories=["code"]).score == 1
    nullable = pd.DataFrame({"code": pd.array([1, 2, None, 3], "Int64")})
    arrow = nullable.astype("int64[pyarrow]")
    gaps = pd.DataFrame({"code": [1.0, 2.0, np.nan, 3.0]})
    for other in (gaps, arrow):
        assert worth(nullable, other, categories=["code"]).score == 1
        assert worth(nullable, other, numbers=["code"]).score == 1


def test_score_is_between_none_and_all_and_falls_with_noise():
    rng = np.random.default_rng(2)
    one = file(rng, 2000, missing=0)
    scores = []
    for sd in (0, 2, 20, 200):
        noisy = one.assign(age=one["age"] + sd * rng.normal(size=2000))
        scores.append(worth(one, noisy, categories=["sex"], numbers=["age"]).score)
    assert scores[0] == 1
    assert scores == sorted(scores, reverse=True)
    assert 0 <= scores[-1] < 0.8
    apart = worth(one.assign(sex="f"), one.assign(sex="x"), categories=["sex"])
    assert apart.score == 0


def test_independent_columns_lose_pairs_but_not_single_margins():
    rng = np.random.default_rng(3)
    sex = rng.choice(["f", "m"], 3000)
    one = pd.DataFrame({"sex": sex, "too": sex})
    shuffled = one.assign(too=rng.permutation(sex))
    found = worth(one, shuffled, categories=["sex", "too"])
    assert found.by_order.mean(1) == 0
    # p on the diagonal, p^2 or pq in all cells: H^2 = 1 - p^1.5 - q^1.5
    p = (sex == "f").mean()
    expected = np.sqrt(1 - p**1.5 - (1 - p) ** 1.5)
    assert found.by_order.mean(2) == pytest.approx(expected, abs=0.01)


def test_several_copies_are_worth_their_mean():
    rng = np.random.default_rng(4)
    one, copies = file(rng), [file(rng) for _ in range(3)]
    columns = {"categories": ["sex", "town"], "numbers": ["age"]}
    found = worth(one, copies, **columns, propensity=True, null="synthesised")
    alone = [worth(one, copy, **columns).score for copy in copies]
    assert found.scores == pytest.approx(alone)
    assert found.score == pytest.approx(np.mean(alone))
    assert found.by_order.score() == pytest.approx(found.score)
    rows = found.to_frame().set_index("measure")["value"]
    assert rows["score"] == found.score
    assert rows["pMSE ratio"] == pytest.approx(np.mean([p.ratio for p in found.propensity]))
    assert set(found.to_json()) >= {"score", "scores", "by_order", "moments", "propensity"}


def test_numbers_that_became_intervals_are_spread_over_them():
    one = pd.DataFrame({"age": np.arange(20, 40)})
    listed = one.assign(age=["20-29"] * 10 + ["30-39"] * 10)
    within = {"age": {"20-29": range(20, 30), "30-39": range(30, 40)}}
    found = worth(one, listed, numbers=["age"], within=within)
    assert found.score == pytest.approx(1)
    assert "no moments of age" in found.said[0]
    cut = one.assign(age=pd.cut(one["age"], [10, 29.5, 50]))
    assert worth(one, cut, numbers=["age"]).score == pytest.approx(1)
    gone = one.assign(age="*")
    assert worth(one, gone, numbers=["age"], within={"age": {"*": ()}}).score == pytest.approx(1)
    assert worth(one, one.assign(age=np.nan), numbers=["age"]).score == 0
    with pytest.raises(DataError, match="'20-29' in 'age' is no number"):
        worth(one, listed, numbers=["age"])


def test_top_codes_are_spread_above_them():
    """80 or more, told apart no further: by length as many below 90 as above."""
    one = pd.DataFrame({"n": np.arange(100.0)})
    top = one.assign(n=[*range(80), *[">=80"] * 20])
    within = {"n": {">=80": pd.Interval(79.5, np.inf)}}
    assert worth(one, top, numbers=["n"], within=within).score == pytest.approx(1)


def test_a_top_code_may_be_a_number_and_a_blank_all_of_them():
    one = pd.DataFrame({"n": np.arange(100.0)})
    top = one.clip(upper=80)
    within = {"n": {"80": pd.Interval(79.5, np.inf)}}
    assert worth(one, top, numbers=["n"], within=within).score == pytest.approx(1)
    assert worth(one, top, numbers=["n"]).score < 0.9
    blank = one.assign(n=np.nan)
    assert worth(one, blank, numbers=["n"], within={"n": {"": ()}}).score == pytest.approx(1)


def test_a_trifle_of_noise_moves_nobody_over_a_cut():
    one = pd.DataFrame({"age": [20, 30, 40, 50] * 25})
    shaken = one + 1e-6 * np.random.default_rng(0).normal(size=one.shape)
    assert worth(one, shaken, numbers=["age"]).score == 1
    assert cuts_of(np.array([1.0, 1, 1, 1, 5]), np.ones(5)).tolist() == [3]


def test_fine_categories_of_a_hierarchy():
    tree = Hierarchy.of({"a": "A", "b": "A", "A": "all", "c": "C", "C": "all"})
    assert fine_of(tree, "abc") == {"A": ("a", "b"), "all": ("a", "b", "c"), "C": ("c",)}


def test_columns_of_many_categories():
    rng = np.random.default_rng(6)
    one = pd.DataFrame({n: rng.integers(0, 20_000, 5000).astype(str) for n in "abc"})
    found = worth(one, one.assign(c=one["c"].sample(frac=1, random_state=1).to_numpy()),
                  categories=list("abc"))  # fmt: skip
    assert found.by_order.hellinger[:4].tolist() == [0, 0, 0, 0]
    assert found.by_order.hellinger[-1] > 0.99


def test_wrong_columns_are_refused():
    one = file(np.random.default_rng(5))
    with pytest.raises(DataError, match="no column to compare"):
        worth(one, one)
    with pytest.raises(DataError, match="'sex' is named twice"):
        worth(one, one, categories=["sex", "sex"])
    with pytest.raises(DataError, match="masked file has no column 'sex'"):
        worth(one, one.drop(columns="sex"), categories=["sex"])
    with pytest.raises(DataError, match="no measure 'chi'"):
        worth(one, one, categories=["sex"], measure="chi")
    with pytest.raises(DataError, match="within has 'town'"):
        worth(one, one, categories=["sex"], within={"town": {}})
    with pytest.raises(DataError, match="give a list, as in \\['Bern'\\]"):
        worth(one, one, categories=["town"], within={"town": {"CH": "Bern"}})
    with pytest.raises(DataError, match="no masked file"):
        worth(one, [], categories=["sex"])
