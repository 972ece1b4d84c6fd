"""Dominance, p% and pq as limits on knowledge: they decide as the office's rules do."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import integrate, stats

import discreet as dc
from discreet.cli import main
from discreet.errors import DataError
from discreet.risk.cells.sensitive import dominance, p_percent

ESTATES = ["--total", "507.862", "--number", "11", "--minimum", "10", "--alpha", "1.2765"]
RATES = ["--incidents", "30", "--companies", "5"]


def cells(number, seed):
    """Cells of 1 to 9 values: very unequal, alike, with zeros, whole numbers."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        size = int(rng.integers(1, 10))
        values = rng.lognormal(2, rng.choice([0.2, 1.0, 2.5]), size)
        if rng.random() < 0.3:
            values = rng.integers(0, 20, size) + (np.arange(size) == 0)
        yield np.sort(np.asarray(values, float))[::-1]


def office(values):
    """One cell, as the office's rules read it."""
    largest = np.zeros((1, 6))
    largest[0, : min(6, len(values))] = values[:6]
    total = np.array([values.sum()])
    return SimpleNamespace(
        largest=largest, judged=total, values=total, number=np.array([len(values)])
    )


def rules(rng):
    """A rule as a limit on knowledge, the office's own, and its arithmetic."""
    n, k, p, q = int(rng.integers(1, 4)), rng.uniform(0.05, 0.98), rng.uniform(0.01, 1), 1.0
    if rng.random() < 0.5:
        q = rng.uniform(0.05, 1)
    team = int(rng.integers(1, 4))
    yield (
        dc.uncertainty.dominance_rule(n, k),
        lambda x: dominance(office(x), n, 100 * k),
        lambda x: x[:n].sum() > k * x.sum(),
    )
    yield (
        dc.uncertainty.p_rule(p, q, coalition=team),
        lambda x: p_percent(office(x), 100 * p, q=100 * q, coalition=team),
        lambda x: x.sum() - x[: 1 + team].sum() < p / q * x[0],
    )


def test_a_thousand_random_cells_are_decided_alike():
    rng = np.random.default_rng(1986)
    seen = []
    for values in cells(1000, 5):
        for rule, sensitive, plain in rules(rng):
            learned = rule.judge(values, values.sum())
            assert learned.within == (not sensitive(values).cells[0]) == (not plain(values))
            belief = learned.posterior  # with a uniform prior, the same by its variation
            spread = math.sqrt(max(belief.variance, 0)) / belief.mean
            assert (spread >= rule.variation - 1e-12) == learned.within
            seen.append(learned.within)
    assert 400 < sum(seen) < 1600


def test_what_is_possible_by_drawing_the_smaller_values():
    """Each within q of the truth, as the prior says; the best guess by trying all."""
    rng = np.random.default_rng(3)
    for values in [np.array([60.0, 25, 9, 6]), np.array([50.0, 40, 12, 3, 1])]:
        for rule in (
            dc.uncertainty.p_rule(0.1, 0.6),
            dc.uncertainty.dominance_rule(2, 0.85),
            dc.uncertainty.p_rule(0.2),
        ):
            first = rule.group + rule.known
            share = rng.uniform(-rule.within, rule.within, (40_000, 1))
            smaller = values[first:] * (1 + share)  # all wrong alike is the furthest
            target = values.sum() - values[rule.group : first].sum() - smaller.sum(1)
            low, high = target.min(), target.max()
            guesses = np.linspace(low, high, 20_001)
            worst = np.maximum(guesses / low - 1, 1 - guesses / high).min()
            learned = rule.judge(values, values.sum())
            assert learned.figures["low"] == pytest.approx(low, abs=0.01)
            assert learned.figures["high"] == pytest.approx(high, abs=0.01)
            assert learned.after == pytest.approx(worst, abs=1e-3)


def test_two_of_them_beside_each_other():
    """(2, k) also keeps the largest from the second largest, to (1 - k) / k; (1, k) does not."""
    for values in cells(300, 8):
        total = values.sum()
        if dc.uncertainty.dominance_rule(2, 0.85).judge(values, total).within:
            p = dc.uncertainty.p_rule(0.15 / 0.85)
            assert p.judge(values, total).within
    assert dc.uncertainty.dominance_rule(1, 0.8).judge([60, 40], 100).within
    assert not dc.uncertainty.p_rule(0.01).judge([60, 40], 100).within


def test_a_belief_may_be_of_any_kind():
    worst = dc.uncertainty.WorstRelative()
    assert worst(dc.Belief.density([0, 80, 100, 120, 200], [0, 0, 0.05, 0, 0])) == pytest.approx(
        0.2
    )
    assert worst(dc.Belief.draws([120.0, 80, 100])) == pytest.approx(0.2)
    assert worst(dc.Belief.discrete([50, 80, 120], [0, 0.5, 0.5])) == pytest.approx(0.2)
    assert worst(dc.Belief.discrete([5], [1])) == worst(dc.Belief.discrete([0], [1])) == 0
    mixed = dc.Belief.mixture(
        [dc.Belief.discrete([80, 120], [0.5, 0.5]), dc.Belief.discrete([100], [1])], [0.1, 0.9]
    )
    assert worst(mixed) >= 0.1 * 0.2  # concave
    for wrong in (["a", "b"], [-1, 1]):
        with pytest.raises(DataError, match="relative error needs"):
            worst(dc.Belief.discrete(wrong, [0.5, 0.5]))


def test_section_5_3_the_rule_on_companies_promises_what_is_left():
    """For every number of incidents and every largest that the rule allows."""
    rule, tight = dc.uncertainty.CompaniesRule(4, 0.5), math.inf
    for companies in range(2, 9):
        for total in (0, 8, 24, 41):
            for top in range(math.ceil(total / companies), total + 1):
                left = rule.left(total, companies, largest=top)
                n = companies - 1
                assert left == pytest.approx((total - top) / n * (1 - 1 / n), abs=1e-9)
                if rule.obeyed(total, companies, largest=top):
                    assert companies >= 4
                    assert 2 * top <= total
                    assert left >= rule.guaranteed(total, companies) - 1e-9
                    tight = min(tight, left - rule.guaranteed(total, companies))
    assert tight == pytest.approx(0, abs=1e-9)
    assert rule.enough(3.0) * dc.uncertainty.dominance_bound(4, 0.5) == pytest.approx(3)
    assert rule.guaranteed(1, 400) < 0.01  # no limit on knowledge by itself


def test_the_density_of_a_sum_by_quadrature_and_closed_form():
    estates = dc.uncertainty.Pareto(1.2765, minimum=1)

    def f(x):
        return 1.2765 * x**-2.2765

    for total in (2.1, 4.0, 30.0):
        two = integrate.quad(lambda x, t=total: f(x) * f(t - x), 1, total - 1)[0]
        assert dc.uncertainty.sum_density(total, 2, estates) == pytest.approx(two, rel=1e-6)
    at = np.array([0.5, 6.0, 40.0])
    assert dc.uncertainty.sum_density(at, 4, dc.uncertainty.Gamma(2, 0.5)) == pytest.approx(
        stats.gamma(8, scale=2).pdf(at), rel=1e-6
    )
    assert dc.uncertainty.sum_density([5.0, 2.0, 3.0], 3, estates)[1:].tolist() == [0, 0]
    assert dc.uncertainty.sum_density(4.0, 1, estates) == pytest.approx(f(4.0))
    for wrong in (0, 1.5):
        with pytest.raises(DataError, match="number of values"):
            dc.uncertainty.sum_density(4.0, wrong, estates)
    with pytest.raises(DataError, match="finite"):
        dc.uncertainty.sum_density([math.nan], 2, estates)


def test_the_density_of_a_sum_and_the_mean_reciprocal_by_simulation():
    """As in the appendix: all but one are drawn, the density of the last is averaged."""
    rng = np.random.default_rng(7)
    for alpha in (1.2765, 1.2):
        y = np.exp(rng.standard_exponential((200_000, 10)) / alpha)
        last = 50.7862 - y.sum(1)
        weight = np.where(last >= 1, alpha * np.maximum(last, 1) ** (-alpha - 1), 0)
        family = dc.uncertainty.Pareto(alpha, minimum=1)
        error = weight.std() / math.sqrt(len(y))
        assert abs(dc.uncertainty.sum_density(50.7862, 11, family) - weight.mean()) < 4 * error
        reciprocal = (1 / y).mean(1)
        mean = reciprocal @ weight / weight.sum()
        error = (weight * (reciprocal - mean)).std() / weight.mean() / math.sqrt(len(y))
        belief = dc.uncertainty.value_given_total(50.7862, 11, family).belief
        assert abs(dc.uncertainty.inverse_moments(belief)[0] - mean) < 4 * error
        assert error < 2e-3


def test_alphas_on_either_side_of_the_limit():
    rule = dc.uncertainty.KnowledgeRule(dc.uncertainty.RelativeError(), 0.25)
    found = dc.uncertainty.alpha_classes(rule, 507.862, 11, 10, among=(0.5, 4))
    (low, edge), (start, high) = *found.within, *found.beyond
    assert (low, high) == (0.5, 4)
    assert edge == start
    assert found.uncertainty(edge - 1e-3) > 0.25 > found.uncertainty(edge + 1e-3)
    assert "searched from 0.5 to 4" in str(found)
    assert found.to_frame()["within"].tolist() == [True, False]
    none = dc.uncertainty.KnowledgeRule(dc.uncertainty.RelativeError(), 0.9)
    every = dc.uncertainty.alpha_classes(none, 507.862, 11, 10, among=(1, 2))
    assert (every.within, every.beyond) == ((), ((1, 2),))
    assert "nowhere" in str(every)
    with pytest.raises(DataError, match="0 < from < to"):
        dc.uncertainty.alpha_classes(rule, 507.862, 11, 10, among=(2, 1))


def test_charts_show_the_limit():
    rule = dc.uncertainty.KnowledgeRule(dc.uncertainty.RelativeError(), 0.25)
    chart = dc.uncertainty.alpha_classes(rule, 507.862, 11, 10, among=(1, 2)).plot().to_dict()
    assert [layer["mark"]["type"] for layer in chart["layer"]] == [
        "rect",
        "line",
        "rule",
        "text",  # what it is made from
    ]
    assert "'left': 0.25}" in str(chart)
    estates = dc.uncertainty.Totals("estates", 507.862, 11, 10)
    taught = dc.knowledge(estates, limit=0.25, prior=1.2765)
    both = [dc.uncertainty.p_rule(0.1), dc.uncertainty.dominance_rule(2, 0.6)]
    found = dc.uncertainty.with_rules(taught, [estates], [[200, 150]], both)
    assert not found.within
    title = found.plot().to_dict()["title"]["text"]
    assert "0.2574, and the limit is 0.25" in " ".join(
        title if isinstance(title, list) else [title]
    )
    assert "1 of 2 rules broken" in json.dumps(found.plot_rules().to_dict())


def run(*args, code=0):
    result = CliRunner().invoke(main, ["knowledge", *args])
    assert result.exit_code == code, result.output
    return result


def test_the_command_judges_rules_beside_the_pareto_belief():
    asked = ("--rule", "p:0.1", "--rule", "dominance:2:0.6", "--largest", "200, 150")
    found = json.loads(
        run(*ESTATES, "--limit", "0.25", *asked, "--alphas", "1:2", "--json", code=1).stdout
    )
    assert found["verdict"] == "FAIL"
    assert [rule["verdict"] for rule in found["rules"]] == ["PASS", "FAIL"]
    assert found["targets"][0]["verdict"] == "PASS"
    assert found["targets"][0]["cv_inverse"] == pytest.approx(0.588755, abs=1e-6)
    assert found["rules"][0]["knowledge"] == pytest.approx(157.862 / 200)
    assert found["alphas"][0]["beyond"][0] == pytest.approx([1.384, 2], abs=1e-3)
    run(*ESTATES, "--limit", "0.25", *asked[:2], "--largest", "200,150")


def test_the_command_reads_columns_and_an_insider(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "class,t,n,x1,x2\na,100,4,50,20\nb,300,6,270,12\n"
    (tmp_path / "cells.csv").write_text(text, encoding="utf-8")
    columns = ("--total", "t", "--number", "n", "--minimum", "1", "--target", "class")
    asked = ("--limit", "0.01", "--rule", "dominance:1:0.8", "--largest", "x1,x2")
    found = json.loads(run("cells.csv", *columns, *asked, "--json", code=1).stdout)
    assert [(r["target"], r["verdict"]) for r in found["rules"]] == [("a", "PASS"), ("b", "FAIL")]
    insider = json.loads(run(*ESTATES, "--limit", "0.1", "--insider", "150", "--json").stdout)[
        "targets"
    ][0]
    own = dc.uncertainty.value_given_total(357.862, 10, dc.uncertainty.Pareto(1.2765, 10)).belief
    assert insider["posterior"]["mean"] == pytest.approx(own.mean)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([*ESTATES, "--rule", "p:0.1"], "go together"),
        ([*ESTATES, "--rule", "p:10", "--largest", "200,150"], "p is 10"),
        ([*ESTATES, "--rule", "dominance:1.5:0.8", "--largest", "200"], "no whole number"),
        ([*ESTATES, "--rule", "odd:1", "--largest", "200"], "there is no rule 'odd:1'"),
        ([*ESTATES, "--rule", "p:x", "--largest", "200"], "no number"),
        ([*ESTATES, "--rule", "p:0.1", "--largest", "200"], "needs the 2 largest"),
        ([*ESTATES, "--rule", "p:0.1", "--largest", "400,200"], "more than the total"),
        ([*ESTATES, "--rule", "p:0.1", "--largest", "20,15"], "the others cannot sum"),
        ([*ESTATES, "--rule", "p:0.1", "--largest", "20,nan"], "a number is needed"),
        ([*ESTATES, "--rule", "companies:4:0.5", "--largest", "200"], "does not fit"),
        ([*ESTATES, "--alphas", "3"], "write FROM:TO"),
        (
            ["example:estates", "--target", "Estate", "--rule", "p:0.1", "--largest", "5,4"],
            "not with a table",
        ),
        ([*ESTATES, "--alphas", "3:1"], "0 < from < to"),
        ([*ESTATES, "--insider", "5"], "none is below the minimum"),
        (
            [*RATES, "--rule", "companies:4:0.5", "--largest", "3"],
            "cannot have 3 of 30",
        ),
        (
            [*RATES, "--rule", "companies:4:2", "--largest", "9"],
            "largest share",
        ),
    ],
)  # fmt: skip
def test_wrong_input_is_one_sentence(args, said):
    result = run(*args, "--limit", "0.25", code=2)
    assert said in " ".join(result.output.split())
