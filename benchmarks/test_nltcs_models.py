"""Models of the 2^16 table of disabilities: how well each fits all cells, and the large ones.

Easy for log-linear models, whose margins are given; hard for mixtures, whose likelihood has many
maxima. Minutes, most of them for the grade of membership model.
"""

import time
from itertools import combinations

import numpy as np
import pytest

from discreet.models.compositions import MixedCells
from discreet.models.latent import LatentClasses
from discreet.models.loglinear import LogLinear
from discreet.models.membership import GradeOfMembership
from discreet.models.membershipchain import MembershipChain
from discreet.table.formula import Formula

MOST_SECONDS = 600
MEMBERSHIP = "membership, 5 profiles"
NAMES = "model", "parameters", "log-likelihood", "all-healthy", "chi-square", "seconds", "wall"


class Row:
    """A model that is fitted, with the time it took and what it says of the large cells."""

    def __init__(self, name, nltcs, fit):
        wall, start = time.monotonic(), time.process_time()
        self.name, self.model = name, fit()
        probabilities = (
            self.model.expected_array().ravel() / nltcs.total
            if hasattr(self.model, "expected_array")
            else self.model.probabilities
        )
        self.seconds, self.wall = time.process_time() - start, time.monotonic() - wall
        counts, self.expected = nltcs.dense().ravel(), probabilities * nltcs.total
        self.large = counts >= 100
        assert self.expected.sum() == pytest.approx(nltcs.total)
        terms = (counts - self.expected) ** 2 / self.expected
        self.healthy, self.chi = self.expected[0], terms[self.large].sum()
        self.others = self.chi - terms[0]
        self.gap = (self.expected - counts)[self.large]
        self.off, self.off_others = np.abs(self.gap).sum(), np.abs(self.gap[1:]).sum()

    def cells(self):
        model = self.model
        yield from (self.name, f"{model.parameters}", f"{model.log_likelihood:,.0f}")
        yield from (f"{self.healthy:,.0f}", f"{self.chi:,.0f} ({self.others:,.0f} without it)")
        yield from (f"{self.seconds:.0f}", f"{self.wall:.0f}")


@pytest.fixture(scope="module")
def rows(nltcs):
    pairs = LogLinear(Formula.of(list(combinations(nltcs.names, 2)), nltcs.names))

    def mixed(profiles, **more):
        rng = np.random.default_rng(profiles)
        return lambda: GradeOfMembership.fit(nltcs, profiles, rng=rng, **more)

    def classes(number):
        return lambda: LatentClasses.fit(nltcs, number, rng=np.random.default_rng(1))

    models = {
        "all two-way": lambda: pairs.fit(nltcs),
        "membership, 3 profiles": mixed(3),
        MEMBERSHIP: mixed(5),
        "membership, 7 profiles": mixed(7, chains=1, warmup=300, climb=150, draws=4),
        "latent classes, 5": classes(5),
        "latent classes, 8": classes(8),
        "latent classes, 20": classes(20),
    }
    found = {name: Row(name, nltcs, fit) for name, fit in models.items()}
    print()
    print("| " + " | ".join(NAMES) + " |")
    for row in found.values():
        print("| " + " | ".join(row.cells()) + " |")
    return found


def test_within_ten_minutes(rows):
    assert sum(row.wall for row in rows.values()) < MOST_SECONDS


def test_all_two_way(rows):
    row = rows["all two-way"]
    assert row.model.parameters == 136
    assert row.model.log_likelihood == pytest.approx(-129_867, abs=1)
    assert row.healthy == pytest.approx(3_130, abs=0.5)
    assert row.chi == pytest.approx(284, abs=0.5)


@pytest.mark.parametrize(
    ("profiles", "least", "parameters"), [(3, -139_656, 51), (5, -134_600, 85)]
)
def test_grade_of_membership(rows, profiles, least, parameters):
    """The best of four chains, at the maximum of the exact likelihood."""
    model = rows[f"membership, {profiles} profiles"].model
    maxima = ", ".join(f"{value:,.1f}" for value in model.maxima)
    print(f"\n{profiles} profiles: maxima {maxima}; draws {model.draws.mean():,.0f}, the best "
          f"{model.draws.max():,.0f}; R-hat {model.r_hat:.3f}, {model.effective:.0f} effective "
          f"(tail {model.effective_tail:.0f}) of {model.draws.size}")  # fmt: skip
    assert len(model.maxima) >= 4
    assert model.converged
    assert model.parameters == parameters
    assert model.log_likelihood >= least
    assert model.log_likelihood > model.draws.max()


def test_twenty_latent_classes(rows):
    row = rows["latent classes, 20"]
    assert row.model.parameters == 339
    assert row.model.log_likelihood >= -129_400
    assert row.chi < 40
    assert row.healthy == pytest.approx(3_823, abs=15)


def test_where_the_remark_holds(rows):
    """Better than all pairs for the largest cell; much worse for the other 23 large ones."""
    pairs, mixed = rows["all two-way"], rows[MEMBERSHIP]
    assert abs(mixed.healthy - 3_853) < abs(pairs.healthy - 3_853)
    assert mixed.others > 5 * pairs.others
    assert mixed.off_others > pairs.off_others
    closer = np.abs(mixed.gap) < np.abs(pairs.gap)
    assert closer.sum() < 12
    print(f"\nmembership is closer than pairs in {closer.sum()} of 24 cells")
    for row in (pairs, mixed, rows["latent classes, 20"]):
        print(f"{row.name}: {row.off:,.0f} people off in 24 cells, {row.off_others:,.0f} in 23")


def test_the_largest_cells(nltcs, rows):
    """Side by side: twenty latent classes are within 20% of each of the ten largest counts."""
    counts = nltcs.dense().ravel()
    order = np.argsort(-counts, kind="stable")[:10]
    print()
    for cell in order:
        fits = " ".join(f"{row.expected[cell]:7,.0f}" for row in rows.values())
        print(f"{cell:016b} {counts[cell]:6,} {fits}")
    classes, mixed = (rows[n].expected[order] for n in ("latent classes, 20", MEMBERSHIP))
    assert classes == pytest.approx(counts[order], rel=0.2)
    assert (mixed / counts[order]).min() < 0.25


def test_exchanges_of_profiles_matter(nltcs, monkeypatch):
    """Where four chains of 5 profiles are after 400 sweeps, with exchanges and without."""
    cells = np.ravel_multi_index(tuple(nltcs.codes.astype(np.int64).T), nltcs.shape)
    mixed, counts = MixedCells.of(nltcs.shape, 5, len(cells)), nltcs.counts.astype(float)

    def ends():
        for seed in range(4):
            chain = MembershipChain.start(nltcs, 5, np.random.default_rng(seed))
            for _ in range(400):
                chain.sweep()
            yield mixed.log_likelihood(chain.responses, chain.alpha, cells, counts)

    found = sorted(ends())
    monkeypatch.setattr(MembershipChain, "_exchange", lambda self: None)
    without = sorted(ends())
    print(f"\nwith exchanges {np.round(found)}, without {np.round(without)}")
    assert found[0] > without[-1]


def test_posterior_draws(nltcs, rows):
    """What the posterior draws of both mixtures cost, and that they fit nearly as well."""
    counts = nltcs.dense().ravel()
    some = counts > 0
    for name in (MEMBERSHIP, "latent classes, 20"):
        model, start = rows[name].model, time.process_time()
        draws = np.array(list(model.posterior(20, np.random.default_rng(2))))
        took = time.process_time() - start
        logs = np.log(draws[:, some]) @ counts[some]
        print(f"\n{name}: 20 draws in {took:.1f} s, log-likelihood {logs.mean():,.0f}")
        assert draws.sum(1) == pytest.approx(1)
        assert model.log_likelihood - 1.5 * model.parameters < logs.mean() < model.log_likelihood
