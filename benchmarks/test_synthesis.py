"""Synthetic NLTCS: what copies of 65,536 cells give away of people in small cells, and what they
are worth.

Small counts are hard to protect and hard to model: 2,228 cells hold one or two people. A model that
fits well makes good margins; whether it also tells on these people is seen against what the
variable's own margin says, and what the model says when it is fitted to the true data. Seconds are
of the processor.
"""

import time
from itertools import combinations

import numpy as np
import pytest

from discreet.masks.synthesis.attribute import SOURCES, attribute_risk
from discreet.masks.synthesis.combine import combine_copies
from discreet.masks.synthesis.counts import count_belief
from discreet.masks.synthesis.graphical import graphical
from discreet.masks.synthesis.private import private_table
from discreet.masks.synthesis.reproduced import reproduced
from discreet.masks.synthesis.synthesise import synthesise
from discreet.models.decomposed import LogLinearCells
from discreet.models.latent import LatentClasses
from discreet.risk.release.believed_counts import BeliefRisk
from discreet.table.table import Table
from discreet.utility.distances import by_order

COPIES, DRAWS = 5, 10
ONE = "bathing"


def pairs(table):
    return LogLinearCells.fit(table, list(combinations(table.names, 2)))


def latent(table):
    return LatentClasses.fit(table, 20, rng=np.random.default_rng(1), starts=5)


MODELS = {"all two-way": pairs, "graphical": graphical, "20 latent classes": latent}


@pytest.fixture(scope="module", params=MODELS)
def copies(request, nltcs):
    start = time.process_time()
    found = synthesise(nltcs, MODELS[request.param], copies=COPIES, rng=np.random.default_rng(1))
    print(f"\n{request.param}: {found.model}")
    print(f"  {COPIES} copies in {time.process_time() - start:.1f} s with the fit")
    return request.param, found


def test_attribute_risk_of_small_cells(nltcs, copies):
    """Perceived and true, for one sensitive variable and over all 16."""
    name, found = copies
    cells = nltcs.small()
    assert len(cells) == 2_228
    start = time.process_time()
    risk = attribute_risk(nltcs, found, nltcs.names, cells, act=0.9, draws=DRAWS)
    took = time.process_time() - start
    print(f"{name}: {risk.people:,} people in {len(cells):,} cells, {took:.1f} s")
    for source in SOURCES:
        one = risk.of(source, ONE)
        right = "-" if one.right_stated is None else f"{one.right_stated:.3f}"
        print(
            f"  {source:10} {ONE}: perceived {one.perceived:.3f}, stated {one.stated:.3f}, right "
            f"among stated {right}, right {one.right:.3f}; all 16: perceived "
            f"{risk.mean('perceived', source):.3f}, stated {risk.mean('stated', source):.3f}, "
            f"right {risk.mean('right', source):.3f}"
        )
    assert all(np.allclose(one.belief.sum(1), 1) for one in risk.found)
    # people in small cells are unlike others: the intruder is surer than he should be
    assert risk.mean("perceived") > risk.mean("right")
    # the copies say nearly what the true data say, and no more
    assert abs(risk.mean("right") - risk.mean("right", "true data")) < 0.03


def test_who_is_reproduced(nltcs, copies):
    name, found = copies
    for at_most in (1, 2):
        got = reproduced(nltcs, found, at_most=at_most, draws=DRAWS)
        print(f"{name}: {got}, true among small cells shown {got.true_among_shown:.3f}")
        assert got.in_a_copy == pytest.approx(got.expected, abs=0.03)
    belief = count_belief(found, nltcs.small(), draws=DRAWS)
    risk = BeliefRisk(nltcs, nltcs.small(), belief)
    print(f"{name}: {risk}, identified at .5: {risk.identified(0.5):.3f}")
    assert np.allclose(np.add.reduceat(belief.mass, belief.starts[:-1]), 1)


def test_count_beliefs_are_calibrated(nltcs):
    """The approximate beliefs: of cells believed to hold one person with p, a share p does."""
    found = synthesise(nltcs, graphical, copies=COPIES, rng=np.random.default_rng(1))
    rows = np.random.default_rng(0).choice(nltcs.size, 12_000, replace=False)
    cells = nltcs.all().take(rows)
    p = count_belief(found, cells, draws=DRAWS).probability(1)
    one = cells.counts == 1
    print(f"graphical: {p.sum():.0f} cells of one person expected, {one.sum()} are")
    assert p.sum() == pytest.approx(one.sum(), rel=0.15)
    for low, high in ((0.05, 0.1), (0.1, 0.2), (0.2, 0.3), (0.3, 0.37)):
        there = (p >= low) & (p < high)
        print(
            f"  {low} to {high}: {there.sum()}, {p[there].mean():.3f}, true {one[there].mean():.3f}"
        )
        assert abs(p[there].mean() - one[there].mean()) < 0.08


def test_utility_by_order(nltcs, copies):
    """Mean distances of one-, two- and three-way margins; sampling the table anew as a measure."""
    name, found = copies
    start = time.process_time()
    scores = [by_order(nltcs, copy) for copy in found.tables]
    rng = np.random.default_rng(2)
    again = by_order(nltcs, resampled(nltcs, rng))
    for measure in ("hellinger", "total variation"):
        mean = [float(np.mean([s.mean(k, measure) for s in scores])) for k in (1, 2, 3)]
        anew = [again.mean(k, measure) for k in (1, 2, 3)]
        shown = " ".join(f"{m:.4f} ({a:.4f})" for m, a in zip(mean, anew, strict=True))
        print(f"{name}: {measure} of 1-, 2-, 3-way margins (of a new sample): {shown}")
        # parameters and people are drawn: about sqrt(2) of a new sample, more where models misfit
        assert all(m < 5 * a for m, a in zip(mean, anew, strict=True))
    print(f"  {time.process_time() - start:.1f} s")


def resampled(table, rng):
    counts = rng.multinomial(table.total, table.counts / table.total)
    return Table.from_cells(table.variables, table.codes, counts.astype(np.int64))


def test_draws_of_all_pairs_forget(nltcs):
    """The chain of 120 margins: the log-likelihood is its maximum less half a chi-square of 136."""
    model = pairs(nltcs)
    assert model.log_likelihood == pytest.approx(-129_867, abs=1)
    assert nltcs.total * model.probabilities[0] == pytest.approx(3_130, abs=1)
    counts = nltcs.dense().ravel()
    start = time.process_time()
    draws = list(model.posterior(20, np.random.default_rng(1)))
    took = time.process_time() - start
    logs = np.array([counts @ np.log(p) for p in draws])
    off = model.log_likelihood - logs
    next_to = np.corrcoef(logs[1:], logs[:-1])[0, 1]
    print(f"all two-way: drop {off.mean():.1f} (68), spread {off.std():.1f} (8.2), ", end="")
    print(f"correlation of draws {next_to:.2f}, {took:.1f} s of 20 draws")
    assert off.mean() == pytest.approx(68, abs=6)
    assert off.std() == pytest.approx(8.2, abs=4)


def test_private_margins(nltcs):
    """A third rival: two-way margins with noise, epsilon 1, and a table drawn from them."""
    rng = np.random.default_rng(1)
    start = time.process_time()
    made = private_table(nltcs, 1.0, margins=list(combinations(nltcs.names, 2)), rng=rng)
    score = by_order(nltcs, made.draw(rng))
    took = time.process_time() - start
    shown = " ".join(f"{score.mean(k, 'total variation'):.4f}" for k in (1, 2, 3))
    print(f"{made}: total variation by order {shown}, {took:.1f} s")
    assert score.mean(1, "total variation") < 0.05


def test_intervals_cover_through_synthesise():
    """Odds of a 2 x 2 table, from the copies that `synthesise` makes: 95% intervals."""
    rng, truth, n = np.random.default_rng(3), np.array([0.3, 0.2, 0.1, 0.4]), 500
    log_odds = np.log(truth[0] * truth[3] / truth[1] / truth[2])
    hits = {"full": 0, "large": 0, "partial": 0}
    repeats = 600
    for _ in range(repeats):
        table = Table.of(rng.multinomial(n, truth).reshape(2, 2), A="xy", B="xy")
        model = LogLinearCells.fit(table, "A*B")
        for kind, variables, m in (("full", None, 50), ("large", None, 3), ("partial", ["B"], 5)):
            found = synthesise(table, model, variables=variables, copies=m, rng=rng)
            counts = np.array([copy.dense().ravel() for copy in found.tables]) + 0.5
            q = np.log(counts[:, 0] * counts[:, 3] / counts[:, 1] / counts[:, 2])
            low, high = combine_copies(q, (1 / counts).sum(1), kind).interval
            hits[kind] += int(low <= log_odds <= high)
    shares = {kind: hit / repeats for kind, hit in hits.items()}
    print(f"coverage of 95% intervals: {shares}")
    assert all(0.93 <= share <= 0.98 for share in shares.values())
