"""A person's category: everything agrees with an urn of up to eight labelled people."""

from itertools import product

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.intruder.predictive.categories import census, sampled
from discreet.intruder.predictive.hidden import merged, suppressed
from discreet.intruder.predictive.priors import Dirichlet, Independent, Mixture
from urn import posterior, probability

FREE = Independent.of({"a": 0.15, "b": 0.35, "c": 0.5})
POLYA = Dirichlet.of({"a": 0.4, "b": 1.1, "c": 2.5})
MIXED = Mixture.of([FREE, Independent.of({"a": 0.6, "b": 0.1, "c": 0.3})], [0.5, 0.5])


def shares(belief, prior):
    return [belief.probability(name) for name in prior.categories]


def counted(**wanted):
    return lambda sequence: all(sequence.count(name) == n for name, n in wanted.items())


@pytest.mark.parametrize("prior", [FREE, POLYA, MIXED], ids=["independent", "polya", "mixture"])
def test_a_census_is_believed_whatever_the_exchangeable_prior(prior):
    """The theorem of the appendix."""
    counts = {"a": 1, "b": 2, "c": 3}
    found = posterior(prior, 6, counted(**counts))
    assert shares(census(counts), prior) == pytest.approx(list(found.values()))


@pytest.mark.parametrize("prior", [FREE, POLYA, MIXED], ids=["independent", "polya", "mixture"])
def test_a_sample_of_three_in_five(prior):
    counts = {"a": 1, "b": 0, "c": 2}
    found = np.zeros(3)
    for inside, weight in ((True, 3 / 5), (False, 2 / 5)):
        seen = slice(0, 3) if inside else slice(1, 4)

        def shown(sequence, seen=seen):
            return all(sequence[seen].count(name) == n for name, n in counts.items())

        found += weight * np.array(list(posterior(prior, 5, shown).values()))
    assert shares(sampled(counts, 3 / 5, prior), prior) == pytest.approx(found.tolist())


@pytest.mark.parametrize("prior", [FREE, POLYA], ids=["independent", "polya"])
@pytest.mark.parametrize(("both", "c"), [(2, 3), (5, 1), (1, 7), (8, 0)])
def test_merged_categories(prior, both, c):
    found = posterior(prior, both + c, counted(c=c))
    belief = merged({"a or b": both, "c": c}, {"a or b": ["a", "b"]}, prior)
    assert shares(belief, prior) == pytest.approx(list(found.values()))


def test_a_mixture_is_no_split_by_its_own_shares():
    """Section 6 claims the formula for every exchangeable prior."""
    found = posterior(MIXED, 6, counted(c=1))
    p = MIXED.predictive()
    split = p.probability("a") / p.probability(["a", "b"])
    assert abs(found["a"] - 5 / 6 * split) > 0.05
    belief = merged({"a or b": 5, "c": 1}, {"a or b": ["a", "b"]}, MIXED)
    assert shares(belief, MIXED) == pytest.approx(list(found.values()))


def random_mixture(rng):
    parts = [
        Dirichlet.of(dict(zip("abcd", rng.uniform(0.2, 3, 4), strict=True)))
        if rng.random() < 0.5
        else Independent.of(dict(zip("abcd", rng.dirichlet(np.ones(4)), strict=True)))
        for _ in range(int(rng.integers(2, 4)))
    ]
    return Mixture.of(parts, rng.dirichlet(np.ones(len(parts))))


@pytest.mark.parametrize("seed", range(6))
def test_mixtures_by_every_table_that_fits(seed):
    """Merged counts, and counts left out under a known total."""
    rng = np.random.default_rng(seed)
    prior = random_mixture(rng)
    n = rng.multinomial(5, rng.dirichlet(np.ones(3)))
    found = posterior(prior, 5, counted(c=n[1], d=n[2]))
    groups = {"a or b": int(n[0]), "c": int(n[1]), "d": int(n[2])}
    belief = merged(groups, {"a or b": ["a", "b"]}, prior)
    assert shares(belief, prior) == pytest.approx(list(found.values()))
    if n[1] + n[2]:
        out = suppressed({"c": int(n[1]), "d": int(n[2])}, ["a", "b"], prior, total=5)
        assert shares(out, prior) == pytest.approx(list(found.values()))


def drawn_one_by_one(part, shown, sequence):
    """That people of whom it is known that they are shown come in this order: an urn."""
    numbers = part.weights if isinstance(part, Dirichlet) else part.shares
    urn = {name: x for name, x in zip(part.categories, numbers, strict=True) if name in shown}
    chance = 1.0
    for name in sequence:
        chance *= urn[name] / sum(urn.values())
        urn[name] += isinstance(part, Dirichlet)
    return chance


@pytest.mark.parametrize("seed", range(4))
def test_what_is_shown_says_which_part_of_a_mixture_holds(seed):
    """The total is not known; of those shown, all orders with these counts."""
    rng = np.random.default_rng(seed)
    prior = random_mixture(rng)
    counts = {"b": 3, "c": 0, "d": 2}
    found = dict.fromkeys(prior.categories, 0.0)
    for part, weight in zip(prior.priors, prior.weights, strict=True):
        hidden = part.predictive().probability("a")
        for sequence in product("bcd", repeat=5):
            if all(sequence.count(name) == n for name, n in counts.items()):
                chance = weight * drawn_one_by_one(part, "bcd", sequence)
                found["a"] += chance * hidden
                for name in sequence:
                    found[name] += chance * (1 - hidden) / 5
    total = sum(found.values())
    belief = suppressed(counts, ["a"], prior)
    assert shares(belief, prior) == pytest.approx([p / total for p in found.values()])


def test_a_part_that_rules_out_what_is_published_is_left_out():
    never = Independent.of({"a": 0.5, "b": 0.5, "c": 0.0})
    prior = Mixture.of([never, FREE], [0.9, 0.1])
    belief = merged({"a or b": 4, "c": 1}, {"a or b": ["a", "b"]}, prior)
    assert belief.probability("a") == pytest.approx(0.8 * 0.3)
    with pytest.raises(DataError, match="'c' no probability"):
        merged({"a or b": 4, "c": 1}, {"a or b": ["a", "b"]}, never)


@pytest.mark.parametrize(("b", "c"), [(1, 2), (2, 1), (0, 2)])
def test_a_suppressed_count_of_independent_people(b, c):
    """Every size of the table is alike; sizes above 8 have a probability below 1e-7."""
    prior = Independent.of({"a": 0.02, "b": 0.38, "c": 0.6})
    found = dict.fromkeys(prior.categories, 0.0)
    for people in range(b + c, 9):
        for sequence in product(prior.categories, repeat=people):
            if (sequence.count("b"), sequence.count("c")) == (b, c):
                found[sequence[0]] += probability(prior, sequence)
    total = sum(found.values())
    belief = suppressed({"b": b, "c": c}, ["a"], prior)
    expected = [found[name] / total for name in prior.categories]
    assert shares(belief, prior) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("prior", [POLYA, MIXED], ids=["polya", "mixture"])
def test_who_is_not_suppressed_is_in_the_table(prior):
    """Of those not in category a the shares are the published ones, for any size and prior."""
    for people in range(4, 9):
        seen = posterior(prior, people, counted(b=1, c=3))
        assert seen["b"] / (seen["b"] + seen["c"]) == pytest.approx(1 / 4)


def test_the_others_say_nothing_about_a_suppressed_category_under_a_dirichlet_prior():
    """Draws of the shares, weighted by what the published counts say of them."""
    p = np.random.default_rng(1).dirichlet(POLYA.weights, 200_000)
    weight = (p[:, 1] / (1 - p[:, 0])) ** 5 * (p[:, 2] / (1 - p[:, 0])) ** 2
    belief = suppressed({"b": 5, "c": 2}, ["a"], POLYA)
    assert belief.probability("a") == pytest.approx(weight @ p[:, 0] / weight.sum(), abs=0.002)


def test_suppression_hides_nothing_if_the_total_is_known():
    belief = suppressed({"b": 5, "c": 2}, ["a"], FREE, total=8)
    assert shares(belief, FREE) == pytest.approx([1 / 8, 5 / 8, 2 / 8])
    two = suppressed({"c": 2}, ["a", "b"], FREE, total=8)
    assert shares(two, FREE) == pytest.approx([6 / 8 * 0.3, 6 / 8 * 0.7, 2 / 8])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Independent.of({"a": 0.5, "b": 0.4}), "sum to 0.9, not to 1"),
        (lambda: Independent.of({"a": -0.5, "b": 1.5}), "probability is -0.5"),
        (lambda: Dirichlet.of({"a": -1, "b": 2}), "numbers from 0 on"),
        (lambda: Dirichlet.of({}), "numbers from 0 on"),
        (lambda: census({"a": 0}), "empty"),
        (lambda: census({"a": -1, "b": 2}), "'a' is -1"),
        (lambda: sampled({"a": 1}, 0.0), "fraction is 0.0"),
        (lambda: sampled({"a": 1}, 1.2), "fraction is 1.2"),
        (lambda: sampled({"a": 1, "d": 1}, 0.5, FREE), "no category 'd'"),
        (lambda: sampled({"a": 1}, 0.5, census({"b": 1})), "not in both"),
        (
            lambda: sampled({"a": 1, "b": 1}, 0.5, Independent.of({"a": 0, "b": 1})),
            "'a' no probability, but the table has 1",
        ),
        (
            lambda: merged({"x": 3}, {"x": ["a", "b"]}, Independent.of({"a": 0, "b": 0, "c": 1})),
            "'c'",
        ),
        (lambda: merged({"x": 3, "c": 1}, {"y": ["a", "b"]}, FREE), "'y' is not among"),
        (
            lambda: merged(
                {"x": 3, "c": 1}, {"x": ["a", "b"]}, Independent.of({"a": 0, "b": 0, "c": 1})
            ),
            "no probability",
        ),
        (lambda: suppressed({"a": 1, "b": 2}, ["b"], FREE), "published or suppressed"),
        (lambda: suppressed({"b": 0, "c": 0}, ["a"], FREE), "all 0"),
        (lambda: suppressed({"b": 3, "c": 2}, ["a"], FREE, total=4), "sum to 5"),
        (lambda: Mixture.of([FREE, POLYA], [0.5, 0.6]), "sum to 1.1"),
    ],
)  # fmt: skip
def test_bad_input(wrong, message):
    with pytest.raises(DataError, match=message):
        wrong()


def test_a_mixture_forgets_priors_that_exclude_what_is_there():
    sure = Independent.of({"a": 0, "b": 0.5, "c": 0.5})
    belief = Mixture.of([FREE, sure], [0.5, 0.5]).given({"a": 1, "b": 1, "c": 0})
    assert shares(belief, FREE) == pytest.approx(list(FREE.shares))
