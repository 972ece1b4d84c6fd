"""Harm of numbers in files: every link, every belief and every cost by enumeration; own costs."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from discreet.errors import DataError
from discreet.intruder.linkage.equation import exact_links
from discreet.intruder.linkage.links import link_encoded
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.linkage import Costs, OwnCost, harm
from discreet.report.identify_words import how_words
from discreet.risk.linkage import identification
from discreet.risk.linkage.harm import OUTCOMES, number
from discreet.risk.linkage.identification import identify

AGE = Intruder.of({"keys": {"age": {"kind": "normal", "spread": 1}}})
SHARES = (np.arange(50_000) + 0.5) / 50_000
NUMBERS = {
    "excess": ({}, lambda t, y: np.maximum(0, y - t)),
    "overestimate": ({}, lambda t, y: np.maximum(0, y - t) ** 2),
    "absolute": ({}, lambda t, y: np.abs(y - t)),
    "squared": ({}, lambda t, y: (y - t) ** 2),
    "relative": ({}, lambda t, y: (y / t - 1) ** 2),
    "threshold": ({"limit": 55, "loss": 3}, lambda t, y: 3.0 * (y > 55)),
    "inside": ({"low": 40, "high": 60, "loss": 2}, lambda t, y: 2.0 * ((y >= 40) & (y <= 60))),
    "outside": ({"share": 0.2, "loss": 2}, lambda t, y: 2.0 * (np.abs(y - t) > 0.2 * np.abs(t))),
    "written": (
        {"points": [[-20, 4], [0, 0], [10, 6]]},
        lambda t, y: np.interp(y - t, [-20, 0, 10], [4, 0, 6]),
    ),
}
ERRORS = ({}, {"spread": 6.0}, {"log_spread": 0.15})


def files(seed):
    """Seven source records, five released with errors in the age and in the debt."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"id": range(7), "age": rng.normal(40, 2, 7)})
    people["debt"] = rng.uniform(20, 90, 7).round()
    people["stigma"] = rng.uniform(0, 3, 7).round(2)
    people["town"] = rng.choice(["A", "B"], 7)
    masked = people.iloc[:5].copy()
    masked["age"] += rng.normal(0, 1, 5)
    masked["debt"] = (masked["debt"] * rng.lognormal(0, 0.1, 5)).round(1)
    return people, masked


def chances(people, masked):
    """Link probabilities by all ways to assign the released records (equation 1)."""
    many, few = len(people), len(masked)
    density = norm.pdf(masked["age"].to_numpy() - people["age"].to_numpy()[:, None])
    chance = np.zeros((many, few))
    for who in itertools.permutations(range(many), few):
        chance[who, range(few)] += np.prod(density[who, range(few)])
    return chance / chance[:, 0].sum()


def believed(masked, error, predict):
    """Values of equal probability of what each record tells, from precisions."""
    x, z = masked["debt"].to_numpy(), [masked["age"].to_numpy()] if predict else []
    if not error:
        return x[:, None]
    s = next(iter(error.values()))
    x = np.log(x) if "log_spread" in error else x
    design = np.column_stack([np.ones(len(x)), *z])
    fit = design @ np.linalg.lstsq(design, x, rcond=None)[0]
    true = ((x - fit) ** 2).sum() / (len(x) - design.shape[1]) - s**2
    precision = 1 / true + 1 / s**2
    mean = (fit / true + x / s**2) / precision
    found = mean[:, None] + norm.ppf(SHARES) / math.sqrt(precision)
    return np.exp(found) if "log_spread" in error else found


def linked(people, masked, own=("stigma", "town"), act=0.3):
    """What is read once, and what any harm file makes of it."""
    also = ["debt", *(name for name in ("sex", "ill") if name in masked)]
    records = read_records(people, masked, AGE, id="id", also=also, groups=own)
    found = identify(records, AGE, act=act)

    def felt(content):
        return harm(records, found, Costs.of({"sensitive": "debt", **content}))

    return found, felt


@pytest.mark.parametrize(
    ("error", "predict"), [(ERRORS[0], False), *itertools.product(ERRORS[1:], [False, True])]
)
def test_by_enumeration(error, predict):
    """Links, the model and the integral, each in another way; the null link takes all records."""
    people, masked = files(3)
    chance, values = chances(people, masked), believed(masked, error, predict)
    null = 1 - chance.sum(1)
    weights = chance + null[:, None] / len(masked)
    means = values.mean(1)
    found, felt = linked(people, masked)
    assert found.linked.sum() >= 3
    for cost, (settings, law) in NUMBERS.items():
        content = {"belief": "mixture", "number": {"cost": cost, **settings, **error}}
        content |= {"predict": ["age"]} if predict else {}
        harmed = felt(content)
        for j in np.flatnonzero(found.linked):
            truth, d = people["debt"][j], weights[j] @ means
            by_hand = weights[j] @ law(truth, values).mean(1)
            assert harmed.harm[j] == pytest.approx(by_hand, rel=5e-4, abs=1e-4), cost
            told = harmed.told
            assert told.estimate[j] == pytest.approx(d, rel=1e-4)
            spread = math.sqrt(weights[j] @ (values**2).mean(1) - d**2)
            assert told.spread[j] == pytest.approx(spread, rel=1e-3)
            assert told.of_estimate[j] == pytest.approx(law(truth, told.estimate[j]))
            if cost == "relative" and "spread" in error:
                assert told.perceived[j] == math.inf
                continue
            seen = weights[j] @ np.mean(law(values, d) + 0 * values, axis=1)
            assert told.perceived[j] == pytest.approx(seen, rel=1e-3, abs=1e-4), cost
        assert (harmed.harm[~found.linked] == 0).all()


def test_the_linked_record_alone():
    people, masked = files(4)
    found, felt = linked(people, masked)
    for error in ERRORS:
        values = believed(masked, error, predict=False)
        for cost, (settings, law) in NUMBERS.items():
            harmed = felt({"number": {"cost": cost, **settings, **error}})
            for j in np.flatnonzero(found.linked):
                by_hand = law(people["debt"][j], values[found.links.best[j]]).mean()
                assert harmed.harm[j] == pytest.approx(by_hand, rel=5e-4, abs=1e-4), cost


def test_many_records_who_are_nobodys_are_condensed(monkeypatch):
    """Neighbours as one normal belief with their mean and variance: squares stay exact."""
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"id": range(300), "age": rng.permutation(300) * 10.0})
    people["debt"] = rng.lognormal(4, 0.6, 300).round(2)
    masked = people.iloc[:250]
    person = Intruder.of({"keys": {"age": {"kind": "normal", "spread": 6}}})
    records = read_records(people, masked, person, id="id", also=["debt"])
    found = identify(records, person, act=0.2)
    for cost, near in (("squared", 1e-9), ("excess", 1e-3)):
        content = {"belief": "mixture", "number": {"cost": cost}}
        costs = Costs.of({"sensitive": "debt", **content})
        exact = harm(records, found, costs)
        assert exact.told.exact  # given the links, which are not
        with monkeypatch.context() as patch:
            patch.setattr(number, "MOST_POOLED", 1)
            patch.setattr(number, "CONDENSED", 60)
            patch.setattr(number, "ENDS", 10)
            close = harm(records, found, costs)
        assert repr(close).startswith("Harm(about ")
        assert close.to_json()["exact"] is False
        assert close.total == pytest.approx(exact.total, rel=near)
        assert (close.harm != exact.harm).any()


# Costs that differ by respondent


def test_costs_of_each_respondent():
    people, masked = files(2)
    people["ill"] = ["yes", "no", "yes", "no", "yes", "no", "yes"]
    masked = masked.assign(ill=people["ill"][:5].to_numpy())
    plain = {"FN": 1, "TN": 1, "FF": 5, "FT": 4, "TF": 3, "TT": 2}
    own = {**plain, "TT": {"column": "stigma"}}
    own["FF"] = {"column": "town", "by": {"A": 7, "B": 9}}
    base = {"sensitive": "ill", "costs": plain}
    _, felt = linked(people, masked)
    before, after = felt(base), felt({**base, "costs": own})
    assert (before.outcome == after.outcome).all()
    names = np.array(OUTCOMES)[before.outcome]
    by_hand = np.select(
        [names == "TT", names == "FF"],
        [people["stigma"], people["town"].map({"A": 7, "B": 9})],
        before.harm,
    )
    assert {"TT", "FF"} <= set(names)
    assert after.harm == pytest.approx(by_hand)
    for times, factor in (
        (2.5, 2.5),
        ({"column": "stigma"}, people["stigma"]),
        ({"column": "town", "by": {"A": 0, "B": 3}}, people["town"].map({"A": 0, "B": 3})),
    ):
        assert felt({**base, "times": times}).harm == pytest.approx(before.harm * factor)
    assert Costs("ill", {**plain, "TT": OwnCost("stigma")}).of_source == ("stigma",)


@pytest.mark.parametrize("belief", ["record", "mixture"])
def test_limits_of_each_respondent(belief):
    """A loss above one's own limit is that of a file in which all have it, person by person."""
    people, masked = files(6)
    own = {"cost": "threshold", "limit": {"column": "stigma"}, "loss": {"column": "town"}}
    own["loss"]["by"] = {"A": 1, "B": 4}
    people["stigma"] *= 25
    people["ill"] = ["yes", "no"] * 3 + ["yes"]
    masked = masked.assign(ill=people["ill"][:5].to_numpy())
    found, felt = linked(people, masked)
    for error in ERRORS:
        table = {**own, **error}
        every = felt({"belief": belief, "number": table})
        for j in range(len(people)):
            loss = 1 if people["town"][j] == "A" else 4
            same = {**table, "limit": float(people["stigma"][j]), "loss": loss}
            one = felt({"belief": belief, "number": same})
            assert every.harm[j] == pytest.approx(one.harm[j])
    bayes = {side: {"yes": {"column": "stigma"}, "no": 1} for side in "FT"}
    cost = felt({"sensitive": "ill", "bayes": bayes, "q": 0.9})
    beliefs = cost.told.beliefs
    by_hand = beliefs[:, 0] + beliefs[:, 1] * people["stigma"].to_numpy()
    assert cost.harm == pytest.approx(by_hand * found.linked)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ({"column": "nowhere"}, "no column 'nowhere'"),
        ({"column": "town"}, "where a number is needed"),
        ({"column": "town", "by": {"A": 1}}, "times has nothing for 'B'; it has A"),
        ({"column": "below"}, "row 2 of .* has -1 in 'below', where times needs a number from 0"),
        ({"column": "gaps"}, "row 1 of .* has nothing in 'gaps'"),
        ({"column": "town", "to": 3}, "has 'to', which is not known; it may have by, column"),
        ({"by": {"A": 1}}, "names no column; write column"),
        ({"column": "town", "by": {"A": -1}}, "A in times of .* is -1"),
        ("stigma", "is 'stigma'; give a number from 0, or { column = NAME }"),
    ],
)
def test_own_costs_that_are_refused(times, words):
    people, masked = files(5)
    people["town"], people["gaps"] = ["A", "B"] * 3 + ["A"], [None, 1.0] * 3 + [2.0]
    people["below"] = [0, -1, 2, 3, 4, 5, 6]
    own = ["town", "gaps", "below"]
    if isinstance(times, dict) and times.get("column") == "nowhere":
        own.append("nowhere")
    with pytest.raises(DataError, match=words):
        linked(people, masked, own)[1]({"number": {"cost": "excess"}, "times": times})


# What is said


def test_counts_and_posteriors_of_a_category():
    people, masked = files(8)
    people["ill"] = ["yes", "no", "yes", "no", "yes", "no", "yes"]
    masked = masked.assign(ill=["yes", "yes", "yes", "no", "yes"])
    costs = dict.fromkeys(OUTCOMES[1:], 1)
    found, felt = linked(people, masked)
    cost = felt({"sensitive": "ill", "costs": costs, "q": 0.9})
    prior = (0.8 - 0.1) / 0.8
    yes = 0.9 * prior / (0.9 * prior + 0.1 * (1 - prior))
    no = 0.9 * (1 - prior) / (0.9 * (1 - prior) + 0.1 * prior)
    said = cost.to_json()
    rows = {row["value"]: row for row in said["values"]}
    assert rows["yes"]["prior"] == pytest.approx(prior)
    assert rows["yes"]["believed"] == pytest.approx(yes)
    assert [row["beliefs"]["no"] for row in said["posteriors"]] == pytest.approx([no, 1 - yes])
    table = cost.to_frame()
    released = masked["ill"].to_numpy()[found.links.best]
    taken = found.linked & (released == "yes")  # .984 of yes, .56 of no
    assert (table["inferred"] == np.where(taken, "yes", "")).all()
    right = int((taken & (people["ill"] == "yes")).sum())
    assert rows["yes"]["inferred"] == taken.sum()
    assert (rows["yes"]["right"], rows["yes"]["wrong"]) == (right, taken.sum() - right)
    counts = {"right": right, "wrong": int(taken.sum()) - right}
    assert said["inferences"] == counts | {"nothing": int(found.linked.sum() - taken.sum())}
    shown = table.loc[found.linked, "P(yes)"]
    assert shown.to_numpy() == pytest.approx(np.where(released == "yes", yes, 1 - no)[found.linked])


def test_estimates_of_the_model():
    """Least squares of released numbers: its residual spread is that of truth and error."""
    rng = np.random.default_rng(2)
    people = pd.DataFrame({"id": range(200), "age": rng.permutation(200) * 10.0})
    people["sex"] = rng.choice(["f", "m"], 200)
    people["debt"] = 10 + 2 * people["age"] + 5 * (people["sex"] == "m") + rng.normal(0, 8, 200)
    masked = people.assign(debt=people["debt"] + rng.normal(0, 6, 200))
    _, felt = linked(people, masked, own=())
    content = {"predict": ["age", "sex"], "number": {"cost": "squared", "spread": 6.0}}
    model = felt(content).to_json()["model"]
    design = np.column_stack([np.ones(200), masked["age"], masked["sex"] == "m"])
    fit, rest = np.linalg.lstsq(design, masked["debt"], rcond=None)[:2]
    variance = rest[0] / 197
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * variance)
    rows = model["coefficients"]
    assert [row["name"] for row in rows] == ["constant", "age", "sex m"]
    assert [row["estimate"] for row in rows] == pytest.approx(fit)
    assert [row["standard_error"] for row in rows] == pytest.approx(errors)
    assert (
        model["residual"] == pytest.approx(math.sqrt(variance - 36)) == pytest.approx(8, rel=0.15)
    )
    content = {"sensitive": "sex", "costs": dict.fromkeys(OUTCOMES[1:], 1), "predict": ["debt"]}
    model = felt({**content, "q": 0.95}).to_json()["model"]
    assert [row["name"] for row in model["coefficients"]] == ["constant", "debt"]
    assert model["of"] == "log odds of m"


def test_near_is_right():
    people, masked = files(9)
    found, felt = linked(people, masked)
    assert felt({"number": {"cost": "excess"}}).inferences["right"] == 0
    close = felt({"number": {"cost": "excess", "near": 30}})
    off = np.abs(close.told.estimate - people["debt"]) <= 30
    assert close.inferences["right"] == (off & found.linked).sum() > 0


def test_another_cost_after_a_wrong_link():
    """c_F and c_T; own limits are those of whoever is meant."""
    people, masked = files(2)
    found, felt = linked(people, masked)
    right = found.links.best == np.arange(len(people))
    for belief in ("record", "mixture"):
        own = {"cost": "threshold", "limit": {"column": "stigma"}, "loss": 2}
        both = [{"cost": "squared"}, own]
        true, false = (felt({"belief": belief, "number": each}).harm for each in both)
        mixed = felt({"belief": belief, "number": {**both[0], "F": own}})
        assert {True, False} == set(right[found.linked])
        assert mixed.harm == pytest.approx(np.where(right, true, false))


def test_nobody_is_linked():
    people, masked = files(2)
    near = 40 + 0.01 * np.arange(7)
    people, masked = (each.assign(age=near[: len(each)], ill="yes") for each in (people, masked))
    found, felt = linked(people, masked)
    assert not found.linked.any()
    for content in (
        {"belief": "mixture", "number": {"cost": "squared", "spread": 6}},
        {"number": {"cost": "excess"}},
        {"sensitive": "ill", "costs": dict.fromkeys(OUTCOMES[1:], 1)},
    ):
        none = felt(content)
        assert none.total == 0
        assert none.inferences == {"right": 0, "wrong": 0, "nothing": 0}
        assert len(none.to_frame()) == 7
        assert none.to_json()["total"] == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            {"number": {"cost": "excess", "spred": 2}},
            "'spred', which is not known; did you mean",
        ),
        ({"number": {"cost": "excess", "limit": 2}}, "has 'limit', which is not known"),
        ({"number": {"cost": "written", "points": [[0, 1], [1, 2]], "function": 1}}, "'function'"),
        ({"number": 3}, "must be a table"),
        ({"number": {"cost": "excess", "F": 3}}, "F in .* must be a table"),
        ({"number": {"cost": "excess", "F": {"cost": "squared", "near": 1}}}, "'near', which is"),
        ({"number": {"cost": ["excess"]}}, r"cost in .* is \['excess'\]"),
        ({"number": {}}, "cost in .* is None"),
        ({"number": {"cost": "inside", "low": 1, "high": 2}}, "has no loss"),
        ({"number": {"cost": "inside", "loss": 1, "low": 1}}, "needs one interval"),
        ({"number": {"cost": "inside", "loss": 1, "low": 3, "high": 2}}, "is empty"),
        ({"number": {"cost": "outside", "loss": 1, "share": 1}}, "share in .* is 1"),
        ({"number": {"cost": "written"}}, "has no points"),
        ({"number": {"cost": "written", "points": [1, 2]}}, "give pairs"),
        ({"number": {"cost": "written", "points": [[0, 1]]}}, "two or more pairs"),
        ({"number": {"cost": "excess", "spread": 0}}, "spread in .* is 0"),
        ({"number": {"cost": "excess", "spread": 1, "log_spread": 1}}, "keep one of them"),
        ({"number": {"cost": "excess"}, "q": 0.9}, "has q, which is for categories"),
        ({"number": {"cost": "excess"}, "infer": 0.9}, "has infer, which is for categories"),
        ({"number": {"cost": "excess"}, "predict": ["age"]}, "say its spread or log_spread"),
        ({"number": {"cost": "excess"}, "weights": 2}, "has 'weights', which is not known"),
        ({"bayes": {"F": {}, "T": {}, "N": {}}}, "has 'N', which is not known; it may have F, T"),
        ({"bayes": {"F": {"a": "b"}, "T": {}}}, "F.a in .* is 'b'"),
    ],
)
def test_keys_that_are_refused(content, words):
    with pytest.raises(DataError, match=words):
        Costs.of({"sensitive": "debt", **content})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"cost": "excess", "spread": 500}, "of which 500 is said to be error"),
        ({"cost": "relative"}, "row 2 is 0"),
        ({"cost": "excess", "log_spread": 0.1}, "has no logarithm"),
    ],
)
def test_numbers_that_are_refused(table, words):
    people, masked = files(5)
    people.loc[1, "debt"] = 0
    masked.loc[2, "debt"] = -3
    with pytest.raises(DataError, match=words):
        linked(people, masked)[1]({"number": table})


def test_what_a_second_can_sum_is_summed_and_the_rest_says_how_far_off_it_is(monkeypatch):
    """16 people and 15 records took 8 million steps, above a limit of one million."""
    rng = np.random.default_rng(3)
    x, chosen = 3 * rng.normal(size=16), rng.permutation(16)[:15]
    value = rng.integers(1, 50, 16)
    people = pd.DataFrame({"id": range(16), "a": x, "v": value})
    masked = pd.DataFrame(
        {"id": chosen, "a": x[chosen] + 2 * rng.normal(size=15), "v": value[chosen]}
    )
    intruder = Intruder.of({"keys": {"a": {"kind": "normal", "spread": 2}}})
    records = read_records(people, masked, intruder, id="id", also=["v"])
    costs = Costs("v", function="absolute", belief="mixture")
    found = identify(records, intruder, act=0.0)
    sure = harm(records, found, costs)
    density = np.exp(-((masked["a"].to_numpy() - x[:, None]) ** 2) / 8)
    exact = exact_links(density)
    assert found.links.exact == 1
    np.testing.assert_allclose(found.links.dense(), exact, atol=1e-9)
    assert (found.to_json()["perceived"]["error"], sure.to_json()["error"]) == (0, 0)

    def rough(data, known):
        return link_encoded(data, known, exact=0)

    monkeypatch.setattr(identification, "link_encoded", rough)
    found = identify(records, intruder, act=0.0)
    felt = harm(records, found, costs)
    off = np.abs(found.links.dense() - exact).max()
    assert 0 < off <= 2 * found.to_json()["perceived"]["error"]  # an estimate, no bound
    assert 0 < abs(felt.total - sure.total) <= 2 * felt.to_json()["error"]
    assert "(two approximations differ by" in felt.words
    assert "two approximations of them differ by" in how_words(found)
