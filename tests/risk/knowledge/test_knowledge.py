"""Knowledge, its gain, rules and the intruders against whom they hold."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.categories import census, sampled
from discreet.intruder.predictive.families import Pareto
from discreet.intruder.predictive.hidden import merged, suppressed
from discreet.intruder.predictive.incidence import incidents
from discreet.intruder.predictive.priors import Dirichlet, Independent
from discreet.intruder.predictive.totals import value_given_total
from discreet.risk.knowledge.intruders import (
    census_standard,
    most_before,
    most_inside,
    outsiders,
    pareto_alphas,
    splits,
    suppressed_shares,
    withstood,
)
from discreet.risk.knowledge.knowledge import (
    KnowledgeRule,
    Measure,
    knowledge_gain,
    relative_gain,
)
from discreet.risk.knowledge.taught import (
    Rates,
    Totals,
    taught_by_rates,
    taught_by_table,
    taught_by_totals,
)
from discreet.risk.uncertainty import (
    ByProbability,
    Entropy,
    Largest,
    RelativeError,
    TwoSided,
    Variance,
    Weighted,
)
from discreet.table.load import load

COUNTS = {"a": 3, "b": 6, "c": 11}
shares = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(lambda w: np.array(w) / sum(w))


def belief(p):
    return Belief.discrete(["a", "b", "c"][: len(p)], p)


@given(shares, st.lists(shares, min_size=3, max_size=3))
def test_a_release_teaches_on_average(prior, likelihood):
    """For a concave U the expected gain over what may be published is not negative."""
    joint = prior[:, None] * np.array(likelihood)
    for u in (Entropy(), Largest(), Weighted({"a": 1, "b": 2, "c": 3})):
        expected = sum(
            column.sum() * knowledge_gain(u, belief(prior), belief(column / column.sum()))
            for column in joint.T
        )
        assert expected >= -1e-9


def test_a_loss_that_depends_on_p_may_confuse_on_average():
    u, p, q = ByProbability(), belief([0.9, 0.1]), belief([0.5, 0.5])
    middle = belief([0.7, 0.3])
    assert (knowledge_gain(u, middle, p) + knowledge_gain(u, middle, q)) / 2 < 0


@given(shares, shares, st.floats(0, 1))
def test_a_limit_on_the_gain_is_a_limit_on_knowledge(prior, posterior, limit):
    before, after = belief(prior), belief(posterior)
    gain = knowledge_gain(Entropy(), before, after)
    share = relative_gain(Entropy(), before, after)
    assume(abs(gain - limit) > 1e-9 and abs(share - limit) > 1e-9)
    rule = KnowledgeRule(Entropy(), limit, Measure.GAIN)
    assert rule.judge(after, before).within == (gain <= limit)
    assert (Entropy()(before) <= most_before(rule, after)) == (gain <= limit)
    relative = KnowledgeRule(Entropy(), limit, Measure.RELATIVE)
    assert relative.judge(after, before).within == (share <= limit)
    assert (Entropy()(before) <= most_before(relative, after)) == (share <= limit)
    assert KnowledgeRule(Entropy(), limit).judge(after).within == (Entropy()(after) >= limit)


def test_relative_gain_where_nothing_was_left_to_know():
    sure = belief([1.0, 0.0, 0.0])
    assert relative_gain(Largest(), sure, sure) == 0
    assert relative_gain(Largest(), sure, belief([0.5, 0.5, 0.0])) == -math.inf
    learned = KnowledgeRule(Largest(), 0.1, Measure.RELATIVE).judge(belief([0.5, 0.5, 0.0]), sure)
    assert learned.to_json()["relative_gain"] is None


@pytest.mark.parametrize("u", [Largest(), TwoSided(1, 1), ByProbability()])
@given(q=shares, f=st.floats(0.05, 0.95), limit=st.floats(0.01, 0.6))
def test_the_class_of_intruders_outside_a_sample(u, q, f, limit):
    """As limits on their shares it is exact."""
    real = u(sampled(COUNTS, f, belief(q)))
    assume(abs(real - limit) > 1e-9)
    found = outsiders(KnowledgeRule(u, limit), COUNTS, f)
    assert found.shares.hold(belief(q)) == (real >= limit)


@given(shares, st.floats(0.05, 0.95), st.floats(0.1, 1))
def test_enough_uncertainty_outside_a_sample(q, f, limit):
    found = outsiders(KnowledgeRule(Entropy(), limit), COUNTS, f)
    if Entropy()(belief(q)) >= found.enough:
        assert Entropy()(sampled(COUNTS, f, belief(q))) >= limit - 1e-9


@pytest.mark.parametrize("u", [Entropy(), Largest(), TwoSided(1, 1), ByProbability()])
@given(q=shares, f=st.floats(0.05, 0.95))
def test_when_the_census_standard_is_conservative(u, q, f):
    found = census_standard(KnowledgeRule(u, 0.1), COUNTS, f, belief(q))
    if found.conservative:
        assert found.real >= found.census - 1e-9
        assert "conservative" in str(found)
    if u.concave:
        least = found.census + (1 - f) * (found.outside - found.census)
        assert found.real >= least - 1e-9


def test_the_census_standard_can_be_too_generous():
    found = census_standard(
        KnowledgeRule(Largest(), 0.1), {"a": 1, "b": 1}, 0.5, belief([0.9, 0.1])
    )
    assert not found.conservative
    assert found.real < found.census
    assert "too generous" in str(found)


@given(shares, st.floats(0.01, 0.2))
def test_the_class_of_priors_for_which_merging_helps(p, limit):
    rule = KnowledgeRule(TwoSided(1, 1), limit)
    prior = Independent.of(dict(zip("abc", p.tolist(), strict=True)))
    after = merged({"ab": 9, "c": 11}, {"ab": ["a", "b"]}, prior)
    assume(abs(rule.uncertainty(after) - limit) > 1e-9)
    ends = splits(rule, COUNTS, ("a", "b"))
    inside = ends is not None and ends[0] <= p[0] / (p[0] + p[1]) <= ends[1]
    assert inside == rule.judge(after).within


@given(shares, st.floats(0.01, 0.2))
def test_the_class_of_priors_for_which_suppressing_helps(p, limit):
    rule = KnowledgeRule(TwoSided(1, 1), limit)
    prior = Dirichlet.of(dict(zip("abc", p.tolist(), strict=True)))
    after = suppressed({"b": 6, "c": 11}, ["a"], prior)
    assume(abs(rule.uncertainty(after) - limit) > 1e-9)
    ends = suppressed_shares(rule, COUNTS, "a")
    assert (ends is not None and ends[0] <= p[0] <= ends[1]) == rule.judge(after).within


def test_merging_may_violate_the_rule_that_it_was_to_meet():
    """Section 6: p_1 / p_2 < r_1 / r_2."""
    rule = KnowledgeRule(TwoSided(1, 1), 0.1)
    prior = Independent.of({"a": 0.01, "b": 0.49, "c": 0.5})
    after = merged({"ab": 9, "c": 11}, {"ab": ["a", "b"]}, prior)
    assert rule.judge(census(COUNTS)).within
    assert not rule.judge(after).within


@given(st.floats(0.1, 5), st.integers(1, 60), st.integers(3, 12))
def test_the_class_of_insiders(limit, total, companies):
    most = most_inside(limit, total, companies)
    for known in range(total + 1):
        variance = incidents(total, companies, insider=[known]).variance
        if abs(variance - limit) > 1e-6:
            assert (most is not None and known <= most) == (variance >= limit)


def test_the_class_of_pareto_intruders():
    rule = KnowledgeRule(RelativeError(), 0.25)
    ((low, high),) = pareto_alphas(rule, 507.862, 11, 10, among=(0.5, 3))
    assert low == 0.5
    for alpha, within in ((high - 0.01, True), (high + 0.01, False)):
        belief = value_given_total(507.862, 11, Pareto(alpha, 10)).belief
        assert rule.judge(belief).within == within
    assert pareto_alphas(KnowledgeRule(RelativeError(), 0.9), 507.862, 11, 10) == []


def test_any_class_of_intruders():
    posterior = belief([0.7, 0.2, 0.1])
    vague, sharp = belief([1 / 3, 1 / 3, 1 / 3]), belief([0.65, 0.25, 0.1])
    rule = KnowledgeRule(Largest(), 0.1, Measure.GAIN)
    assert withstood(rule, {"vague": (vague, posterior), "sharp": (sharp, posterior)}) == ["sharp"]


def test_what_a_table_teaches():
    estates = load("example:estates")
    found = taught_by_table(estates, "Estate", KnowledgeRule(Largest(), 0.25), group="Region")
    assert found.rows[0].label == "North Central"
    assert not found.within
    assert found.words == "Release if no category has more than 75%."
    gain = dict(zip(found.to_frame()["target"], found.to_frame()["gain"], strict=True))
    assert gain["Northeast"] == pytest.approx(163 / 224 * -1 + 41 / 56, abs=1e-9)
    document = found.to_json()
    assert document["verdict"] == "FAIL"
    assert document["targets"][0]["posterior"]["probabilities"]["10-19"] == 0.8
    alone = taught_by_table(estates, "Estate", KnowledgeRule(Entropy(), 0.5))
    assert alone.rows[0].before is None
    with pytest.raises(DataError, match="needs the prior"):
        taught_by_table(estates, "Estate", KnowledgeRule(Entropy(), 0.5, Measure.GAIN))
    with pytest.raises(DataError, match="both the target and the group"):
        taught_by_table(estates, "Estate", KnowledgeRule(Entropy(), 0.5), group="Estate")
    other = Independent.of({"10-19": 0.2, "20-29": 0.3, "30+": 0.4, "more": 0.1})
    with pytest.raises(DataError, match="'more'"):
        taught_by_table(estates, "Estate", KnowledgeRule(Entropy(), 0.5), prior=other)
    none = Independent.of({"10-19": 0.6, "20-29": 0.4, "30+": 0.0})
    with pytest.raises(DataError, match=r"'30\+' no probability, but the table has 30"):
        taught_by_table(estates, "Estate", KnowledgeRule(Entropy(), 0.5), prior=none)


def test_what_a_sample_teaches():
    prior = Independent.of({"10-19": 0.4, "20-29": 0.3, "30+": 0.3})
    estates = load("example:estates")
    found = taught_by_table(
        estates, "Estate", KnowledgeRule(Largest(), 0.4), fraction=0.5, prior=prior
    )
    p = 0.5 * 163 / 224 + 0.2
    assert found.rows[0].posterior.probability("10-19") == pytest.approx(p)
    assert found.rows[0].within == (1 - p >= 0.4)
    assert "census standard is conservative" in found.notes[0]
    assert "10-19 has at most 47.2%" in found.notes[1]
    alone = taught_by_table(estates, "Estate", KnowledgeRule(Largest(), 0.2), fraction=0.5)
    assert "nothing is known but the sample" in alone.notes[0]


def test_what_rates_teach():
    found = taught_by_rates(
        [Rates("x", 30, 5, 100), Rates("y", 6, 5, 100)], KnowledgeRule(Variance(), 2)
    )
    assert [row.label for row in found.rows] == ["y", "x"]
    assert [row.within for row in found.rows] == [False, True]
    assert "x: also against an insider who knows up to 19 of another company." in found.notes
    assert "y: not against an insider of another company." in found.notes
    known = taught_by_rates([Rates("x", 30, 5, 100, (20,))], KnowledgeRule(Variance(), 2))
    assert not known.within
    rate = Belief.discrete([0.05, 0.07], [0.5, 0.5])
    gain = taught_by_rates(
        [Rates("x", 30, 5, 100)], KnowledgeRule(Variance(), 3, Measure.GAIN), rate=rate
    )
    assert gain.rows[0].gain == pytest.approx(6 + 1 - 4.8)
    with pytest.raises(DataError, match="needs the exposure"):
        taught_by_rates([Rates("x", 30, 5)], KnowledgeRule(Variance(), 3), rate=rate)


def test_what_totals_teach():
    estates = [Totals("1977", 507.862, 11, 10)]
    found = taught_by_totals(estates, KnowledgeRule(RelativeError(), 0.25), alpha=1.2765)
    assert found.within
    assert found.to_json()["targets"][0]["cv_inverse"] == pytest.approx(0.588755, abs=5e-7)
    estimated = taught_by_totals(estates, KnowledgeRule(RelativeError(), 0.25))
    assert estimated.rows[0].figures["alpha"] == pytest.approx(1.2765, abs=5e-5)
    spread = taught_by_totals(estates, KnowledgeRule(Variance(), 1, Measure.GAIN), alpha=1.2765)
    assert not spread.within
    assert spread.rows[0].to_json()["before"] is None
    vague = taught_by_totals(
        estates, KnowledgeRule(RelativeError(), 0.25), alpha=Belief.discrete([1.2, 1.3], [0.5, 0.5])
    )
    assert 0.58 < vague.rows[0].figures["cv_inverse"] < 0.6
    with pytest.raises(DataError, match="alpha is 0"):
        taught_by_totals(estates, KnowledgeRule(RelativeError(), 0.25), alpha=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: KnowledgeRule(Largest(), -0.1), "limit is -0.1"),
        (lambda: KnowledgeRule(Largest(), math.nan), "limit is nan"),
        (
            lambda: outsiders(KnowledgeRule(Largest(), 0.1, Measure.GAIN), COUNTS, 0.5),
            "most_before",
        ),
        (lambda: splits(KnowledgeRule(Largest(), 0.1), COUNTS, ("a", "z")), "no category 'z'"),
        (
            lambda: suppressed_shares(KnowledgeRule(Largest(), 0.1), {"a": 3, "b": 0}, "a"),
            "everybody",
        ),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(DataError, match=message):
        wrong()


def test_a_measure_by_its_name_is_that_measure():
    """A text as well as a `Measure`."""
    rules = [KnowledgeRule(Largest(), 0.2, name) for name in ("knowledge", "gain", "relative-gain")]
    assert [rule.least(0.5) for rule in rules] == pytest.approx([0.2, 0.3, 0.4])
    assert rules[1] == KnowledgeRule(Largest(), 0.2, Measure.GAIN)
    with pytest.raises(DataError, match="the measure is 'gains'"):
        KnowledgeRule(Largest(), 0.2, "gains")


def test_a_limit_that_no_table_keeps_is_said_so():
    said = KnowledgeRule(Largest(), 0.9).words(["a", "b"])
    assert said == "Release nothing: no table of 2 categories has such shares."
    assert KnowledgeRule(Entropy(), 2.0).words(["a", "b", "c"]).startswith("Release nothing: 3 cat")
