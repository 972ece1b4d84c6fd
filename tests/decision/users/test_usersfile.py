"""A users file: what it says is what is done, by listing every table that fits."""

import math

import numpy as np
import pytest

from discreet.decision.users.candidates import candidates, nothing_released
from discreet.decision.users.choose import choose
from discreet.decision.users.measured import data_utility, disclosure_risk
from discreet.decision.users.usersfile import EXAMPLE, Users
from discreet.errors import DataError, DisclosureError
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table
from oracle import fibre, letters, named

LOSS = "says,0,1,2+\nnobody,0,4,9\na few,2,0,1\nmany,5,3,0\n"
HARM = "says,0,1,2+\nnobody,-1,0.5,0\na few,0,7,3\nmany,1,2,8\n"
PRIORS = ("uniform", "saturated:0.5", "saturated:2", "release")
ACTS = ("nobody", "a few", "many")
MARGINS = {2: ([(0,), (1,)], [(0,)], [(0, 1)]), 3: ([(0, 1), (1, 2)], [(0, 1), (2,)], [(0, 2)])}


@pytest.fixture(scope="module")
def tract():
    return load("example:tract")


def weights(tables, prior):
    """Pr(table | release), by hand: gamma functions of the counts."""
    name, _, alpha = prior.partition(":")
    flat = tables.reshape(len(tables), -1)
    gamma = np.array([math.lgamma(n + 1) for n in range(flat.max() + 1)])
    logs = np.zeros(len(flat))
    if name == "release":
        logs = -gamma[flat].sum(1)
    if name == "saturated":
        rising = np.array([math.lgamma(n + float(alpha)) for n in range(flat.max() + 1)])
        logs = (rising[flat] - gamma[flat]).sum(1)
    mass = np.exp(logs - logs.max())
    return mass / mass.sum()


def cases(number, seed):
    """Random tables of up to 7 people with a random release, all tables that fit listed."""
    rng = np.random.default_rng(seed)
    while number:
        shape = [(2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 2, 3)][rng.integers(5)]
        array = np.bincount(rng.integers(0, math.prod(shape), 7), minlength=math.prod(shape))
        array = array.reshape(shape)
        margins = MARGINS[len(shape)][rng.integers(3)]
        tables = fibre(array, margins)
        if 1 < len(tables) <= 3_000:
            number -= 1
            table = named(array)
            yield rng, array, tables, table, Release.margins(table, letters(margins))


def expected(tables, mass, array, best, cost, threshold, idle):
    """The mean over cells of the agency's loss; `best` has the tied estimates and their risk."""
    losses = []
    for cell in np.ndindex(array.shape):
        counts = tables[(slice(None), *cell)]
        estimates, risk = best(counts, mass)
        tried = np.mean([cost(estimate, array[cell]) for estimate in estimates])
        losses.append(tried if risk <= threshold + 1e-12 else idle)
    return float(np.mean(losses))


def least(acts, loss):
    """The acts of least expected loss."""

    def best(counts, mass):
        risks = np.array([mass @ [loss(act, n) for n in counts] for act in acts(counts)])
        near = np.flatnonzero(risks <= risks.min() + 1e-9)
        return [acts(counts)[place] for place in near], risks.min()

    return best


# (1) and (2) with written losses


def test_risk_and_utility_with_written_losses_by_listing_all_tables(tmp_path):
    """60 random tables, releases, thresholds and priors; a class of two priors has the worst."""
    (tmp_path / "loss.csv").write_text(LOSS)
    (tmp_path / "harm.csv").write_text(HARM)
    losses = dict(zip(ACTS, ([0, 4, 9], [2, 0, 1], [5, 3, 0]), strict=True))
    harms = dict(zip(ACTS, ([-1, 0.5, 0], [0, 7, 3], [1, 2, 8]), strict=True))
    best = least(lambda _: list(losses), lambda act, n: losses[act][min(n, 2)])
    for rng, array, tables, table, release in cases(60, 2003):
        priors = [PRIORS[place] for place in rng.choice(4, 2, replace=False)]
        threshold = float(rng.choice([0.3, 0.8, 1.5, 99]))
        file = {
            "target": "cells", "loss": "loss:loss.csv", "threshold": threshold, "prior": priors,
        }  # fmt: skip
        users = Users.of(
            {
                "users": [
                    {
                        "name": "i",
                        "role": "intruder",
                        "harm": "loss:harm.csv",
                        "idle": -0.5,
                        **file,
                    },
                    {"name": "s", "role": "scientist", "idle": 6, **file},
                ]
            },
            table,
            folder=tmp_path,
        )
        risk, loss = (
            [
                expected(tables, weights(tables, prior), array, best, cost, threshold, idle)
                for prior in priors
            ]
            for cost, idle in (
                (lambda act, n: harms[act][min(n, 2)], -0.5),
                (lambda act, n: losses[act][min(n, 2)], 6),
            )
        )
        found = disclosure_risk(release, *users.intruders)
        assert found.value == pytest.approx(max(risk), abs=1e-9)
        assert dict(found.outlooks[0].by_prior) == pytest.approx(
            dict(zip(priors, risk, strict=True))
        )
        assert data_utility(release, *users.scientists).value == pytest.approx(-max(loss), abs=1e-9)


@pytest.mark.parametrize("kind", ["zero-one", "absolute", "squared", "log", "lengths"])
def test_risk_by_named_losses_by_listing_all_tables(kind):
    """15 random tables each; an estimate is right if it rounds to the count."""

    def best(counts, mass):
        p = np.bincount(counts, mass)
        support = np.flatnonzero(p > 0)
        if kind == "zero-one":
            return least(lambda _: support.tolist(), lambda e, x: e != x)(counts, mass)
        if kind == "absolute":
            return least(lambda _: support.tolist(), lambda e, x: abs(e - x))(counts, mass)
        if kind == "squared":
            mean = mass @ counts
            return [mean], mass @ (counts - mean) ** 2
        if kind == "log":
            return [p], -(p[support] @ np.log(p[support]))
        return [(support[0], support[-1])], support[-1] - support[0]

    def right(estimate, n):
        if kind == "log":
            return estimate[n]
        return 1.0 if kind == "lengths" else float(abs(estimate - n) <= 0.5 + 1e-9)

    for rng, array, tables, table, release in cases(15, 4):
        prior, threshold = PRIORS[rng.integers(4)], float(rng.choice([0.4, 0.9, 3]))
        entry = {
            "role": "intruder", "target": "cells", "loss": kind, "prior": prior,
            "threshold": threshold, "right": 2.0, "wrong": -0.25, "idle": 0.1,
        }  # fmt: skip
        users = Users.of({"users": [entry]}, table)
        by_hand = expected(
            tables, weights(tables, prior), array, best,
            lambda e, n: 2 * right(e, n) - 0.25 * (1 - right(e, n)), threshold, 0.1,
        )  # fmt: skip
        assert disclosure_risk(release, *users.intruders).value == pytest.approx(by_hand, abs=1e-9)


def test_shares_and_odds_by_listing_all_tables():
    """Squared loss: minus the squared distance of the posterior mean from the truth."""
    for rng, array, tables, table, release in cases(20, 7):
        prior = PRIORS[rng.integers(4)]
        others = tuple(range(2, array.ndim))
        mass = weights(tables, prior)
        pairs = tables.sum(tuple(axis + 1 for axis in others))
        truth = array.sum(others)

        def share(t):
            return t[1, 0] / t[1].sum() if t[1].sum() else 0.0

        def odds(t):
            t = t[:2, :2] + 0.5
            return math.log(t[0, 0] * t[1, 1] / (t[0, 1] * t[1, 0]))

        for target, function in (
            ({"share": {"B": "0"}, "of": {"A": "1"}}, share),
            ({"odds": {"A": ["0", "1"], "B": ["0", "1"]}}, odds),
            ({"share": {"B": "0", "A": "1"}}, lambda t: t[1, 0] / t.sum()),
        ):
            mean = mass @ [function(each) for each in pairs]
            entry = {"name": "s", "role": "scientist", "target": target, "prior": prior}
            users = Users.of({"users": [{"measure": "tightness"}, entry]}, table)
            found = data_utility(release, *users.scientists).value
            assert found == pytest.approx(-((mean - function(truth)) ** 2), abs=1e-9)


# The paper's reductions: the direct measures are cases of (1)


def test_the_measures_are_cases_of_the_file(tract):
    """(3): -1; (4): 1 of 59,400 tables; (5): 3 of 4 small counts under conditional independence."""
    release = Release.margins(tract, "Race*Income + Income*Gender")
    written = {
        "tightness": {"measure": "tightness"},
        "true-table": {"role": "intruder", "target": "table", "loss": "log", "prior": "uniform"},
        "identified": {"role": "intruder", "target": "small", "prior": "release"},
    }
    direct = {
        "tightness": {"measure": "tightness"},
        "true-table": {"measure": "true-table"},
        "identified": {"measure": "identified", "prior": "release", "zeros": False},
    }
    values = []
    for name in direct:
        pair = [
            disclosure_risk(release, *Users.of({"users": [entry]}, tract).intruders).value
            for entry in (written[name], direct[name])
        ]
        assert pair[0] == pytest.approx(pair[1])
        values.append(pair[0])
    assert values == pytest.approx([-1, 1 / 59_400, 0.75])


def test_the_true_table_by_a_guess_is_one_of_the_tables_that_fit():
    """All tables alike: which of them is named is chance, so that 1/M is right."""
    for _, _, tables, table, release in cases(10, 11):
        entry = {"role": "intruder", "target": "table", "prior": "uniform"}
        users = Users.of({"users": [entry]}, table)
        assert disclosure_risk(release, *users.intruders).value == pytest.approx(1 / len(tables))


# What a file may say


def test_the_example_runs(tract):
    import tomllib

    users = Users.of(tomllib.loads(EXAMPLE), tract)
    assert repr(users) == "Users(2 intruders, 1 scientist)"
    assert users.scales == (1, 0.5)
    masks = candidates(tract, ["Race*Income + Gender", "Race + Gender"], nothing=True)
    choice = choose(masks, risk=users, limit=0.5)
    assert choice.best == "Race + Gender"
    assert choice.said[1] == (
        "guesses a cell", "intruder; measure identified; prior release; scale 0.5",
    )  # fmt: skip


def test_weights_of_scientists_and_scales_of_intruders(tract):
    release = Release.margins(tract, "Race*Income + Income*Gender")

    def value(**more):
        entries = [
            {"name": "all", "measure": "identified", "prior": "release"},
            {"name": "a", "role": "scientist", "target": "Race*Gender", "weight": 3},
            {"name": "b", "role": "scientist", "target": "small"},
        ]
        entries[0] |= more
        found = choose({"x": release}, risk=Users.of({"users": entries}, tract), limit=9)
        return found.masks[0]

    first, second = (outlook.loss for outlook in value().scientists)
    assert value().utility == pytest.approx(-(3 * first + second) / 4)
    assert value(weight=4).risk == pytest.approx(4 * value().risk)


def test_thresholds_may_be_unknown(tract):
    release = Release.margins(tract, "Race*Income + Income*Gender")

    def risk(threshold):
        entry = {"measure": "identified", "prior": "release", "threshold": threshold}
        return disclosure_risk(release, *Users.of({"users": [entry]}, tract).intruders).value

    assert risk([0.0, 1.0]) == pytest.approx((risk(0.0) + risk(1.0)) / 2)
    low, high = risk(0.0), risk(math.inf)
    assert low < risk({"between": [0.2, 0.9]}) < high


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"role": "spy"}, "role of .* is 'spy'; write one of intruder, scientist"),
        ({"role": "intruder"}, "has no target"),
        ({"role": "intruder", "targets": "small"}, "'targets', which is not known; did you"),
        ({"role": "scientist", "target": "small", "right": 1}, "'right', which is not known"),
        ({"measure": "tight"}, "measure of 'tight' is 'tight'; write one of tightness"),
        ({"measure": "tightness", "prior": "uniform"}, "'prior', which is not known"),
        ({"measure": "tightness", "role": "scientist"}, "its role is intruder"),
        ({"role": "intruder", "target": 3}, "is 3; write small, nonzero"),
        ({"role": "intruder", "target": []}, "empty list"),
        ({"role": "intruder", "target": "Rase"}, "Rase"),
        ({"role": "intruder", "target": {"cel": {}}}, "'cel', which is not known"),
        ({"role": "intruder", "target": {"cell": {"Race": "Green"}}}, "no category 'Green'"),
        ({"role": "intruder", "target": {"cell": {"Rase": "x"}}}, "Rase"),
        ({"role": "intruder", "target": {"cell": {}}}, "VARIABLE = CATEGORY"),
        ({"role": "intruder", "target": {"odds": {"Race": ["White"]}}}, "two variables"),
        ({"role": "intruder", "target": {"odds": {"Race": "White"}}}, "list two categories"),
        ({"role": "intruder", "target": {"share": {"Race": "White"}, "of": {"Race": "White"}}},
         "is no share"),
        ({"role": "intruder", "target": "small", "loss": "cubed"}, "loss of .* is 'cubed'"),
        ({"role": "intruder", "target": "small", "loss": "loss:none.csv"}, "cannot read"),
        ({"role": "intruder", "target": "small", "prior": "flat"}, "flat"),
        ({"role": "intruder", "target": "small", "prior": "saturated:-1"}, "saturated:0.5"),
        ({"role": "intruder", "target": "small", "prior": ["uniform", "uniform"]}, "twice"),
        ({"role": "intruder", "target": "small", "prior": []}, "empty list"),
        ({"role": "intruder", "target": "small", "threshold": "low"}, "threshold of .* is 'low'"),
        ({"role": "intruder", "target": "small", "threshold": {"between": [2, 1]}}, "smaller"),
        ({"role": "intruder", "target": "small", "weight": 0}, "above 0"),
        ({"role": "intruder", "target": "small", "small": 0}, "whole number from 1"),
        ({"role": "intruder", "target": "small", "chances": [1, 1, 1, 1]}, "sum to 4"),
        ({"role": "intruder", "target": "small", "chances": "all"}, "list a number"),
        ({"measure": ["tightness"]}, "measure of"),
        ({"role": "intruder", "target": "small", "harm": "loss:x.csv"}, "beside a loss"),
        ({"role": "intruder", "target": {"share": {"Race": "White"}}, "loss": "squared"},
         "write near"),
        ({"role": "scientist", "target": "small", "threshold": 1}, "write idle"),
    ],
)  # fmt: skip
def test_wrong_input_is_a_sentence(tract, entry, said):
    with pytest.raises(DisclosureError, match=said):
        Users.of({"users": [{"name": "first", "measure": "tightness"}, entry]}, tract)


def test_a_file_needs_an_intruder_and_names(tract):
    with pytest.raises(DataError, match="has no user"):
        Users.of({}, tract)
    with pytest.raises(DataError, match="'user', which is not known"):
        Users.of({"user": []}, tract)
    with pytest.raises(DataError, match="no intruder"):
        Users.of({"users": [{"role": "scientist", "target": "small"}]}, tract)
    with pytest.raises(DataError, match="'tightness' is minus a width"):
        Users.of({"users": [{"measure": "tightness"}, {"measure": "true-table"}]}, tract)
    with pytest.raises(DataError, match="called 'tightness'"):
        Users.of({"users": [{"measure": "tightness"}] * 2}, tract)


def test_written_losses_are_checked(tract, tmp_path):
    def user(loss, **more):
        (tmp_path / "loss.csv").write_text(loss)
        entry = {"role": "intruder", "target": "small", "loss": "loss:loss.csv"} | more
        return Users.of({"users": [entry]}, tract, folder=tmp_path).intruders[0]

    with pytest.raises(DataError, match="name no count"):
        user(LOSS)
    with pytest.raises(DataError, match="its columns are true counts"):
        user("says,few\n0,1\n")
    with pytest.raises(DataError, match="twice"):
        user("says,0,0\n0,1,1\n")
    with pytest.raises(DataError, match="below 0"):
        user("says,0,1+\n0,-1,1\n")
    with pytest.raises(DataError, match="not a count"):
        user(LOSS, target="table")
    (tmp_path / "harm.csv").write_text("says,0+\nnobody,1\n")
    with pytest.raises(DataError, match="give both the same"):
        user(LOSS, harm="loss:harm.csv")
    release = Release.margins(tract, "Race*Income + Income*Gender")
    with pytest.raises(DataError, match="no column for a count of 2"):
        user("says,0,1\n0,0,1\n1,1,0\n").outlook(release)
    assert user("says,0,1+\n0,0,9\n1+,1,0\n").outlook(release).loss == 1


# Candidates


def test_candidates(tract, tmp_path):
    (tmp_path / "list.txt").write_text("# one a line\nRace + Gender\n\nRace*Income\n")
    (tmp_path / "list.toml").write_text('"two pairs" = "Race*Income + Income*Gender"\n')
    found = candidates(tract, ["Race"], file=tmp_path / "list.txt", nothing=True, frontiers=[3])
    assert list(found) == ["nothing", "Race", "Race + Gender", "Race*Income", "frontier 3"]
    assert str(found["frontier 3"].formula) == "Gender*Income + Race"
    assert list(candidates(tract, file=tmp_path / "list.toml")) == ["two pairs"]
    with pytest.raises(DataError, match="no release to choose"):
        candidates(tract)
    with pytest.raises(DataError, match="called 'Race'"):
        candidates(tract, ["Race", "Race"])
    with pytest.raises(DataError, match="cannot read"):
        candidates(tract, file=tmp_path / "none.txt")
    (tmp_path / "list.toml").write_text("a = 3\n")
    with pytest.raises(DataError, match="is no formula"):
        candidates(tract, file=tmp_path / "list.toml")


def test_nothing_is_what_users_know_before():
    """Every table of four people in 2 x 2 cells: C(7, 3) = 35."""
    table = Table.of([[1, 1], [1, 1]], A=["a", "b"], B=["c", "d"])
    users, bounds = (
        Users.of({"users": [{"measure": measure}]}, table)
        for measure in ("true-table", "tightness")
    )
    release = nothing_released(table)
    assert disclosure_risk(release, *users.intruders).value == pytest.approx(1 / 35)
    assert disclosure_risk(release, *bounds.intruders).value == -4
    choice = choose({"nothing": release}, risk=users, limit=1)
    assert choice.best == "nothing"
    assert choice.verdict == "FAIL"
    assert "none is worth more than nothing" in str(choice)


@pytest.mark.parametrize("prior", ["average", "Race*Income + Income*Gender"])
def test_models_of_what_is_released_say_nothing_of_nothing(tract, prior):
    entry = {"name": "Ann", "role": "intruder", "target": "small", "prior": prior}
    users = Users.of({"users": [entry]}, tract)
    with pytest.raises(DataError, match="where nothing is released"):
        disclosure_risk(nothing_released(tract), *users.intruders)
