"""What refusals tell, and what rules that tell nothing cost."""

import time

import numpy as np

from discreet.decision.answering.simulatable import simulatable_refuses
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.refusals.refusals import refusal_posterior
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.load import load
from discreet.table.table import Table

RELEASE = "Race*Income + Income*Gender"


def unique(table, request):
    return any(1 in table.margin(names).counts for names in request.margins)


def three_ones(table, request):
    """Three or more counts of 1."""
    return int((table.counts == 1).sum()) >= 3


def test_tract():
    """Easy: 59,400 tables can be listed; hard: the rule is asked about each of them."""
    table = load("example:tract")
    release, found = Release.margins(table, RELEASE), {}
    how = {"weights": CellWeights.multinomial(), "draws": 5_000}
    for name, limit in (("listed", 100_000), ("5,000 draws", 10)):
        start = time.perf_counter()
        found[name] = refusal_posterior(
            release, "Gender*Race*Income", three_ones, limit=limit, **how
        )
        seconds = time.perf_counter() - start
        print(f"\n{name}: {seconds:.1f} s, {found[name]!r}", end="")
    exact, drawn = found.values()
    assert exact.before.tables == 59_400
    for count in range(3):
        apart = np.abs(drawn.after.probability(count) - exact.after.probability(count))
        assert (apart <= 4 * drawn.after.standard_error(count)).all()


def test_what_simulatable_rules_refuse():
    """The strict version refuses nearly everything: one unsafe table that fits is enough."""
    rng, deltas, refused, sees = np.random.default_rng(5), (0.0, 0.1, 0.2, 0.3, 0.5), {}, 0
    for _ in range(200):
        array = rng.multinomial(100, rng.dirichlet(np.full(6, 2.0))).reshape(2, 3)
        table = Table.of(array, A=range(2), B=range(3))
        public = Release.margins(table, "A + B")
        sees += unique(table, Formula.parse("A*B", public.names))
        chance = simulatable_refuses(public, "A*B", unique, delta=0.0).probability
        for delta in deltas:
            refused[delta] = refused.get(delta, 0) + (chance > delta)
    shown = ", ".join(f"delta {delta:g}: {number / 200:.0%}" for delta, number in refused.items())
    print(f"\nrefused by {shown}; by a rule that sees the table: {sees / 200:.0%}", end="")
    assert refused[0.0] >= 190
