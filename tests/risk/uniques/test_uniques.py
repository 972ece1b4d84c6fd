"""k-anonymity, l-diversity, t-closeness, individual and household risk, tau1 and tau2.

Eight people, worked by hand below:

    row  home  sex  age  town  ill   w
    1    1     f    30   A     no    10
    2    1     m    30   A     no    10
    3    2     f    30   A     yes   12
    4    2     m    40   B     no    12
    5    3     f    50   B     no     5
    6    3     f    50   B     yes    5
    7    4     m         B     yes    8
    8    5     m    40   A     no    20
"""

import contextlib
import itertools
import math
import sqlite3

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.intruder.population.population import population_beliefs
from discreet.report.html import html_report
from discreet.risk.uniques.anonymity import diversity, k_anonymity
from discreet.risk.uniques.classes import KeyClasses, key_classes
from discreet.risk.uniques.individual import IndividualRisk, Sampling, expected_inverse
from discreet.risk.uniques.population import population_uniques
from discreet.risk.uniques.uniques import uniques
from discreet.table.table import Table

KEYS = "sex,age,town"
PEOPLE = pd.DataFrame(
    {
        "home": [1, 1, 2, 2, 3, 3, 4, 5],
        "sex": [*"fmfmffmm"],
        "age": ["30", "30", "30", "40", "50", "50", None, "40"],
        "town": [*"AAABBBBA"],
        "ill": ["no", "no", "yes", "no", "no", "yes", "yes", "no"],
        "w": [10.0, 10, 12, 12, 5, 5, 8, 20],
    }
)


def by_row(classes):
    """Frequencies in the order of the rows, from the first rows of the classes."""
    return dict(zip(classes.first.tolist(), classes.frequency.tolist(), strict=True))


# k-anonymity


def test_classes_by_hand():
    """f30A is rows 1 and 3, f50B rows 5 and 6; rows 2, 4, 7, 8 are alone."""
    found = k_anonymity(PEOPLE, KEYS)
    assert (found.k, found.uniques, found.total) == (1, 4, 8)
    assert (found.below(2), found.below(3)) == (4, 8)
    assert found.to_frame().to_numpy().tolist() == [[1, 4, 4], [2, 2, 4]]
    assert repr(found) == "KAnonymity(1: 8 records in 6 classes of sex, age, town, 4 uniques)"


def test_a_missing_value_that_matches_anything():
    """Row 7, m?B, agrees with row 4, m40B, and with itself: 2 each. It does not agree with 5 and 6
    (sex), nor 2 and 8 (town), so rows 2 and 8 stay alone."""
    classes = key_classes(PEOPLE, KEYS, missing="any", rows=True)
    assert by_row(classes) == {1: 2, 2: 1, 4: 2, 5: 2, 7: 2, 8: 1}
    assert k_anonymity(PEOPLE, KEYS, missing="any").uniques == 2
    weighted = key_classes(PEOPLE, KEYS, missing="any", weights="w")
    sums = dict(zip(weighted.first.tolist(), weighted.weighted.tolist(), strict=True))
    assert sums == {1: 22, 2: 10, 4: 20, 5: 10, 7: 20, 8: 20}


records = st.lists(
    st.tuples(*[st.sampled_from(["a", "b", None])] * 3), min_size=2, max_size=25
).filter(lambda rows: len(set(rows)) > 1 and all(any(column) for column in zip(*rows, strict=True)))


def alike(one, other, missing):
    if missing == "own":
        return one == other
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


@settings(max_examples=40, deadline=None)
@given(rows=records, missing=st.sampled_from(["own", "any"]))
def test_frequencies_are_those_of_all_pairs(rows, missing):
    frame = pd.DataFrame(rows, columns=[*"xyz"])
    truth = [sum(alike(one, other, missing) for other in rows) for one in rows]
    classes = key_classes(frame, "x,y,z", missing=missing, rows=True)
    for first, frequency in by_row(classes).items():
        assert truth[first - 1] == frequency
        assert rows.index(rows[first - 1]) == first - 1
    found = k_anonymity(frame, "x,y,z", missing=missing)
    assert found.k == min(truth)
    assert found.to_frame()["records"].sum() == len(rows)
    for k in (2, 3, 5):
        assert found.below(k) == sum(f < k for f in truth)


@settings(max_examples=30, deadline=None)
@given(rows=records)
def test_laws(rows):
    """A missing value that matches anything, or a key less, never makes a class smaller."""
    frame = pd.DataFrame(rows, columns=[*"xyz"])
    own, any_ = (key_classes(frame, "x,y,z", missing=m, rows=True) for m in ("own", "any"))
    assert (any_.frequency >= own.frequency).all()
    if len({row[:2] for row in rows}) > 1:
        assert k_anonymity(frame, "x,y").k >= k_anonymity(frame, "x,y,z").k
    risk = [IndividualRisk.of(own, Sampling.of(own, n)).expected for n in (None, 100, 1000)]
    assert risk == sorted(risk, reverse=True)
    assert risk[0] == pytest.approx(len(own))  # each class gives f times 1/f


def test_rows_keep_the_order_of_a_large_file(tmp_path):
    """More rows than one vector or one row group of the engine."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.integers(0, 300_000, 400_000), "y": rng.integers(0, 2, 400_000)})
    frame["x"] = "v" + (frame["x"] % 9_000).astype(str)
    frame.to_parquet(tmp_path / "large.parquet", row_group_size=50_000)
    classes = key_classes(tmp_path / "large.parquet", "x,y", rows=True)
    first = frame.reset_index().groupby(["x", "y"])["index"].min().sort_values().to_numpy() + 1
    assert np.sort(classes.first).tolist() == first.tolist()


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "a ", "", "b", None]), st.integers(-2, 2), st.booleans()),
        min_size=2,
        max_size=20,
    ).filter(lambda rows: any((row[0] or "").strip() for row in rows))
)
def test_frames_in_memory_are_counted_as_the_engine_counts(rows):
    """The short way of frames without options, and the way of all sources."""
    frame = pd.DataFrame(rows, columns=[*"xyz"])
    if len({((x or "").strip(), y, z) for x, y, z in rows}) == 1:
        with pytest.raises(DataError, match="constant keys"):
            k_anonymity(frame, "x,y,z")
        return
    short, long = k_anonymity(frame, "x,y,z"), k_anonymity(frame, "x,y,z", missing="own")
    assert short.to_frame().to_numpy().tolist() == long.to_frame().to_numpy().tolist()


def test_values_that_mean_the_same_join_one_class():
    frame = pd.DataFrame({"x": ["a", "a ", "b"], "w": [1, 2, 4], "h": [1, 2, 2]})
    classes = key_classes(frame, "x", weights="w")
    assert classes.table.counts.tolist() == [2, 1]
    assert classes.weights.tolist() == [3, 4]
    assert classes.first.tolist() == [1, 3]
    homes = IndividualRisk.of(classes, Sampling.of(classes)).households("h")
    a, b = expected_inverse(np.array([2, 1]), np.array([2 / 3, 1 / 4]))
    assert homes.risk == pytest.approx([a, 1 - (1 - a) * (1 - b)])


def test_another_engine_says_the_same(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        PEOPLE.to_sql("people", connection, index=False)
    asked = {"keys": KEYS, "weights": "w", "household": "home", "sensitive": "ill"}
    url = f"sqlite:///{tmp_path / 'people.db'}"
    found = uniques(url, table="people", **asked)
    wanted = uniques(PEOPLE, **asked).to_json()
    for row in wanted["exposed"]:
        del row["row"]  # a table of a database has no order
    assert found.to_json() == wanted
    with pytest.raises(DataError, match="'ill' are string; give a column of numbers"):
        uniques(url, KEYS, table="people", weights="ill")


# l-diversity and t-closeness


def test_diversity_by_hand():
    """f30A: no, yes; f50B: no, yes; m30A: no; m40A: no; m40B: no; m?B: yes. All: no 5/8, yes 3/8.

    Entropy l of an even pair is exp(log 2) = 2. Equal distance of (1/2, 1/2) is 1/8, of (1, 0) is
    3/8, of (0, 1) is 5/8; with two values the ordered distance is the same.
    """
    found = diversity(PEOPLE, KEYS, "ill")
    frame = found.to_frame().set_index(["sex", "age", "town"])
    assert frame.loc[("f", "30", "A"), "entropy_l"] == pytest.approx(2)
    assert frame["distinct"].tolist() == [2, 2, 1, 1, 1, 1]
    assert frame["t_equal"].tolist() == pytest.approx([1 / 8, 1 / 8, 3 / 8, 3 / 8, 3 / 8, 5 / 8])
    assert frame["t_ordered"].tolist() == pytest.approx(frame["t_equal"].tolist())
    assert found.disclosed == 4


def test_diversity_where_missing_keys_match_anything():
    """Row 7, m?B yes, agrees with row 4, m40B no: both have (no, yes). Rows 2 and 8 stay alone.
    Classes are f30A, f50B, m30A, m40A, m40B, m?B; shares of all stay 5/8 and 3/8."""
    found = diversity(PEOPLE, KEYS, "ill", missing="any")
    frame = found.to_frame()
    assert frame["records"].tolist() == [2, 2, 1, 1, 1, 1]
    assert frame["distinct"].tolist() == [2, 2, 1, 1, 2, 2]
    assert frame["entropy_l"].tolist() == pytest.approx([2, 2, 1, 1, 2, 2])
    assert frame["t_equal"].tolist() == pytest.approx([1 / 8, 1 / 8, 3 / 8, 3 / 8, 1 / 8, 1 / 8])
    assert found.ratio(2).tolist() == [1, 1, math.inf, math.inf, 1, 1]
    assert found.disclosed == 2
    said = uniques(PEOPLE, KEYS, sensitive="ill", missing="any").to_json()["diversity"]
    assert said["recursive"]["records"] == 2
    with pytest.raises(DataError, match="missing is 'all'"):
        diversity(PEOPLE, KEYS, "ill", missing="all")


@settings(max_examples=15, deadline=None)
@given(rows=records, data=st.data())
def test_diversity_is_that_of_all_who_agree(rows, data):
    """By pairs of records; a missing sensitive value is a value."""
    values = data.draw(
        st.lists(st.sampled_from(["p", "q", "r", None]), min_size=len(rows), max_size=len(rows))
        .filter(any)
    )  # fmt: skip
    frame = pd.DataFrame(rows, columns=[*"xyz"]).assign(s=values)
    found = diversity(frame, "x,y,z", "s", missing="any")
    classes = key_classes(frame, "x,y,z", missing="any", rows=True)
    whole = pd.Series(values).fillna("").value_counts(normalize=True)
    disclosed = 0
    for place, first in enumerate(classes.first):
        own = rows[first - 1]
        seen = [v or "" for v, other in zip(values, rows, strict=True) if alike(own, other, "any")]
        share = pd.Series(seen).value_counts(normalize=True)
        assert found.distinct[place] == len(share)
        assert found.entropy[place] == pytest.approx(-(share * np.log(share)).sum(), abs=1e-12)
        apart = share.reindex(whole.index, fill_value=0) - whole
        assert found.equal[place] == pytest.approx(apart.abs().sum() / 2, abs=1e-12)
        rest = len(seen) - share.iloc[0] * len(seen)
        assert found.recursive(2.5, 2)[place] == (len(seen) - rest < 2.5 * rest)
        disclosed += rows.count(own) * (len(share) == 1)
    assert found.disclosed == disclosed
    assert found.records.sum() == len(rows)


def test_recursive_diversity_by_hand():
    """Counts 5, 3, 2, 1 in one class and 4, 4 in another.

    l = 2: 5 / 6 and 4 / 4; l = 3: 5 / 3 and 4 / 0; l = 1: 5 / 11 and 4 / 8.
    """
    table = Table.of([[3, 5, 1, 2], [4, 0, 4, 0]], K=range(2), S=range(4))
    from discreet.risk.uniques.anonymity import diversity_of

    found = diversity_of(table)
    assert found.ratio(2).tolist() == pytest.approx([5 / 6, 1])
    assert found.ratio(3).tolist() == pytest.approx([5 / 3, math.inf])
    assert found.ratio(1).tolist() == pytest.approx([5 / 11, 1 / 2])
    assert found.recursive(1, 2).tolist() == [True, False]
    with pytest.raises(DataError, match="l is 0"):
        found.ratio(0)


def test_t_closeness_of_the_salaries_of_li_li_and_venkatasubramanian():
    """ICDE 2007, section 5.2: of nine salaries 3k to 11k, {3k, 4k, 5k} is .375 away and
    {6k, 8k, 11k} .167."""
    classes = {"first": (3, 4, 5), "second": (6, 8, 11), "rest": (7, 9, 10)}
    rows = [(name, salary) for name, salaries in classes.items() for salary in salaries]
    frame = diversity(pd.DataFrame(rows, columns=["k", "s"]), "k", "s").to_frame()
    far = frame.set_index("k")["t_ordered"]
    assert far["first"] == pytest.approx(0.375)
    assert far["second"] == pytest.approx(0.167, abs=5e-4)


@settings(max_examples=30, deadline=None)
@given(
    counts=st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=2, max_size=5)
    .filter(lambda rows: sum(map(any, rows)) > 1)
)  # fmt: skip
def test_diversity_is_that_of_the_definition(counts):
    from scipy.stats import wasserstein_distance

    from discreet.risk.uniques.anonymity import diversity_of

    found = diversity_of(Table.of(counts, K=range(len(counts)), S=range(4)))
    rows = np.array([row for row in counts if any(row)], float)
    shares, whole = rows / rows.sum(axis=1, keepdims=True), rows.sum(axis=0) / rows.sum()
    for place, p in enumerate(shares):
        seen = p[p > 0]
        assert found.distinct[place] == len(seen)
        assert found.entropy[place] == pytest.approx(-(seen * np.log(seen)).sum(), abs=1e-12)
        assert found.equal[place] == pytest.approx(np.maximum(p - whole, 0).sum(), abs=1e-12)
        far = wasserstein_distance(range(4), range(4), p, whole) / 3
        assert found.ordered[place] == pytest.approx(far, abs=1e-12)
        ordered = sorted(rows[place], reverse=True)
        assert found.recursive(2.5, 2)[place] == (ordered[0] < 2.5 * sum(ordered[1:]))


# Individual risk


def test_individual_risk_by_hand():
    """f = 1: p log(1/p) / (1 - p). f = 2: p (p log p + 1 - p) / (1 - p)^2. Benedetti & Franconi
    1998; all sampled: 1/f."""
    p = np.array([0.1, 0.1, 1.0, 1.0, 0.5])
    f = np.array([1, 2, 1, 3, 2])
    by_hand = [
        0.1 * math.log(10) / 0.9,
        0.1 * (0.1 * math.log(0.1) + 0.9) / 0.81,
        1,
        1 / 3,
        0.5 * (0.5 * math.log(0.5) + 0.5) / 0.25,
    ]
    assert expected_inverse(f, p) == pytest.approx(by_hand, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(f=st.integers(1, 200), p=st.floats(0.02, 1))
def test_individual_risk_is_the_mean_of_one_over_the_population_count(f, p):
    from scipy.stats import nbinom

    more = np.arange(200_000)
    truth = (nbinom.pmf(more, f, p) / (f + more)).sum()
    assert expected_inverse(np.array([f]), np.array([p]))[0] == pytest.approx(truth, rel=1e-8)


def test_individual_risk_at_the_extremes():
    f = np.array([1, 2, 50, 10_000, 10**6])
    for p in (1e-7, 1e-3, 0.5, 1 - 1e-12):
        found = expected_inverse(f, np.full(5, p))
        assert np.isfinite(found).all()
        assert (found <= 1 / f).all()
        assert (np.diff(found) < 0).all()
        assert found[4] == pytest.approx(p / 1e6, rel=1e-5)


def test_the_risk_of_weighted_records_and_households():
    """Row 4: f = 1, p = 1/12. Row 3 shares f = 2, p = 2/22. Home 2 has both:
    1 - (1 - r3) (1 - r4)."""
    found = uniques(PEOPLE, KEYS, weights="w", household="home", sensitive="ill")
    r4 = math.log(12) / 12 / (11 / 12)
    p = 2 / 22
    r3 = p * (p * math.log(p) + 1 - p) / (1 - p) ** 2
    frame = found.risk.to_frame().set_index("first_row")["risk"]
    assert frame[4] == pytest.approx(r4)
    assert frame[1] == pytest.approx(r3)
    homes = found.households.to_frame().set_index("first_row")
    assert homes.loc[3, "risk"] == pytest.approx(1 - (1 - r3) * (1 - r4))
    assert homes.loc[7, "risk"] == pytest.approx(frame[7])
    assert homes["members"].sum() == 8
    assert found.households.expected_records >= found.risk.expected
    assert len(found.to_frame("polars")) == 6
    assert "Uniques(8 records" in repr(found)
    assert found.exposed(1)["row"].tolist() == [7]
    for chart in (found.plot(), found.anonymity.plot()):
        assert chart.to_dict()["layer"]


def test_a_household_with_a_sure_member_is_found():
    frame = pd.DataFrame({"x": [*"abbb"], "h": [0, 0, 1, 1]})
    homes = uniques(frame, "x", household="h").households
    assert homes.risk.tolist() == pytest.approx([1, 1 - (2 / 3) ** 2])


def test_a_file_without_a_population_is_the_population():
    found = uniques(PEOPLE, KEYS)
    assert found.population is None
    assert found.risk.expected == pytest.approx(6)  # one a class


# Population uniques


def test_tau_by_hand():
    """Margins 5, 3 and 3, 5: m = 15 / 8 for both uniques; pi = 1/2, so a = 15/8.
    tau1 = 2 exp(-a), tau2 = 2 (1 - exp(-a)) / a. Uniques 2, pairs 1:
    match = (1/2)(2) / ((1/2)(2) + 2 (1/2)(1)) = 1/2."""
    classes = KeyClasses(Table.of([[1, 4, 0], [2, 1, 0]], A=range(2), B=range(3)))
    found = population_uniques(classes, Sampling.of(classes, fraction=0.5), model="independence")
    a = 15 / 8
    assert found.tau1 == pytest.approx(2 * math.exp(-a))
    assert found.tau2 == pytest.approx(2 * (1 - math.exp(-a)) / a)
    assert found.match == pytest.approx(0.5)
    believed = population_beliefs(classes.table, fraction=0.5, model="A + B")
    assert found.tau1 == pytest.approx(believed.expected)
    assert found.standard_error == pytest.approx(believed.standard_error)


@pytest.mark.parametrize("model", ["negative-binomial", "independence"])
def test_tau2_is_the_mean_of_one_over_the_population_count(model):
    counts = np.random.default_rng(1).poisson(np.outer(np.arange(1, 9), np.arange(8)) / 9)
    table = Table.of(counts, A=range(8), B=range(8))
    classes = KeyClasses(table)
    found = population_uniques(classes, Sampling.of(classes, fraction=0.2), model=model)
    formula = "A + B" if model == "independence" else model
    believed = population_beliefs(table, fraction=0.2, model=formula)
    more = np.arange(5_000)
    truth = [(believed.unseen.at(r).pmf(more) / (1 + more)).sum() for r in range(len(believed))]
    assert found.inverse == pytest.approx(truth, rel=1e-8)
    assert found.tau1 == pytest.approx(believed.expected)


def test_tau_of_a_known_population():
    """20,000 people in 4 keys that are independent, 1 in 10 sampled: both tau within 4 standard
    deviations of what is true, with the model chosen by rehearsal."""
    rng = np.random.default_rng(11)
    shares = [rng.dirichlet(np.full(size, 0.7)) for size in (12, 10, 9, 5)]
    people = pd.DataFrame({k: rng.choice(len(p), 20_000, p=p) for k, p in zip("abcd", shares)})  # noqa: B905
    sizes = people.groupby([*"abcd"])["a"].transform("size")
    chosen = rng.random(20_000) < 0.1
    sample = people[chosen]
    found = uniques(sample, "a,b,c,d", population=20_000).population
    alone = sample.groupby([*"abcd"])["a"].transform("size") == 1
    behind = sizes[chosen][alone]
    assert len(found) == len(behind)
    assert found.rehearsal.agrees
    assert abs(found.tau1 - (behind == 1).sum()) < 4 * found.standard_error
    assert abs(found.tau2 - (1 / behind).sum()) < 4 * (1 / behind).std() * math.sqrt(len(behind))


@pytest.mark.parametrize("seed", range(3))
def test_keys_that_depend_on_each_other_get_a_model_that_says_so(seed):
    """60,000 people of three hidden kinds, 1 in 10 sampled: independence is refuted by the
    rehearsal, and tau1 of what is left is within 4 standard errors of the truth."""
    rng = np.random.default_rng(seed)
    kind, sizes = rng.integers(0, 3, 60_000), {"a": 20, "b": 8, "c": 9, "d": 4}
    ends = {
        key: np.cumsum(rng.dirichlet(np.ones(n), 3), axis=1)[:, :-1] for key, n in sizes.items()
    }
    draw = lambda cut: (rng.random(60_000)[:, None] > cut[kind]).sum(axis=1)  # noqa: E731
    people = pd.DataFrame({key: draw(cut) for key, cut in ends.items()})
    chosen = rng.random(60_000) < 0.1
    sample = people[chosen]
    behind = people.groupby([*"abcd"])["a"].transform("size")[chosen]
    behind = behind[sample.groupby([*"abcd"])["a"].transform("size") == 1]
    found = uniques(sample, "a,b,c,d", population=60_000).population
    assert found.model != "log-linear a + b + c + d"
    assert found.rehearsal.agrees
    assert abs(found.tau1 - (behind == 1).sum()) < 4 * found.standard_error
    assert found.tau2 == pytest.approx((1 / behind).sum(), rel=0.15)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), pi=st.floats(0.05, 0.95))
def test_tau_laws(seed, pi):
    """0 <= tau1 <= tau2 <= uniques; a larger fraction, the same sample: more risk."""
    counts = np.random.default_rng(seed).poisson(0.8, (4, 5))
    counts[0, 0], counts[1, 1] = 1, 2
    classes = KeyClasses(Table.of(counts, A=range(4), B=range(5)))
    for model in ("independence", "two-way"):
        taus = []
        for fraction in (pi, (1 + pi) / 2, 1.0):
            found = population_uniques(
                classes, Sampling.of(classes, fraction=fraction), model=model
            )
            assert 0 <= found.tau1 <= found.tau2 + 1e-12
            assert found.tau2 <= len(found) + 1e-12
            taus.append((found.tau1, found.tau2))
        assert taus == sorted(taus)
        assert taus[-1] == (len(found), len(found))


# Bad input


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"keys": "sex,agee"}, "no column 'agee'; did you mean 'age'"),
        ({"keys": "sex,sex"}, "named twice"),
        ({"keys": "sex,,age"}, "a key has no name"),
        ({"keys": KEYS, "weights": "ww"}, "no column 'ww'"),
        ({"keys": "w,sex", "weights": "w"}, "'w' is the weight"),
        ({"keys": KEYS, "weights": "ill"}, "row 1 of the frame has the weight 'no' in 'ill'"),
        ({"keys": "sex,town", "weights": "age"}, "row 7 of the frame has no weight in 'age'"),
        ({"keys": KEYS, "household": "hme"}, "did you mean 'home'"),
        ({"keys": KEYS, "household": "age"}, "a key and cannot name households"),
        ({"keys": "sex", "household": "age"}, "row 7 of the frame has no household in 'age'"),
        ({"keys": KEYS, "sensitive": "sick"}, "no column 'sick'"),
        ({"keys": KEYS, "sensitive": "age"}, "a key and cannot be sensitive"),
        ({"keys": KEYS, "missing": "all"}, "missing is 'all'; choose own or any"),
        ({"keys": KEYS, "population": 7}, "8 records, its population 7"),
        ({"keys": KEYS, "fraction": 1.5}, "fraction is 1.5"),
        ({"keys": KEYS, "weights": "w", "population": 90}, "one of them"),
        ({"keys": KEYS, "largest": 0}, "largest set has 0 keys"),
    ],
)  # fmt: skip
def test_wrong_input_is_named(options, said):
    with pytest.raises(DataError, match=said):
        uniques(PEOPLE, **options)


def test_constant_keys_and_weights_below_one():
    with pytest.raises(DataError, match="all records are alike in x, y: constant keys"):
        uniques(pd.DataFrame({"x": [1, 1], "y": [2, 2], "z": [1, 2]}), "x,y")
    frame = PEOPLE.assign(w=[1, 1, 0.5, 1, float("nan"), 1, 1, 1])
    with pytest.raises(DataError, match=r"row 3 of the frame has the weight 0\.5 in 'w'"):
        uniques(frame, KEYS, weights="w")
    frame["w"] = [1, 1, 1, 1, 1, 1, 1, float("inf")]
    with pytest.raises(DataError, match="row 8"):
        uniques(frame, KEYS, weights="w")
    with pytest.raises(DataError, match="row 2 of the frame has the weight '1_5'"):
        uniques(PEOPLE.assign(w=["1", "1_5", *["2"] * 6]), KEYS, weights="w")
    dates = PEOPLE.assign(w=pd.to_datetime("2020-01-01"))
    with pytest.raises(DataError, match="are timestamp"):
        uniques(dates, KEYS, weights="w")


def test_tables_have_no_rows():
    table = Table.of([[1, 4], [2, 1]], A=range(2), B=range(2))
    assert k_anonymity(table, "A,B").uniques == 2
    assert "row" not in uniques(table, "A,B").to_frame()
    with pytest.raises(DataError, match="households need records"):
        uniques(table, "A,B", household="H")
    assert list(itertools.chain(*k_anonymity(table, "A").bands()))[:2] == [3, 4]


def test_what_was_not_looked_at_is_said():
    """Nobody named a population, a sensitive column or households: none of their risks is 0."""
    people = pd.DataFrame({"Sex": ["f", "m", "f", "m"], "Age": [30, 30, 30, 40]})
    found = uniques(people, "Sex,Age", records=True)
    document = found.to_json()
    for name in ("population", "diversity", "households"):
        assert document[name] is None
        assert document["not_computed"][name].startswith("not computed: ")
    assert "The risk of households: not computed" in html_report(found)
