"""Exact posteriors against brute force over every table that fits."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from discreet.errors import DataError
from discreet.intruder.bounds.bounder import bounds
from discreet.intruder.posterior.exact import transfer
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table
from oracle import fibre, letters, named, releases, small_tables

MODELS = {
    "uniform": (CellWeights.uniform(), lambda n, at: 0.0 * n),
    "saturated": (CellWeights.dirichlet(0.3), lambda n, at: gammaln(n + 0.3) - gammaln(n + 1)),
    "multinomial": (CellWeights.multinomial(), lambda n, at: -gammaln(n + 1)),
    "function": (
        CellWeights.of(lambda codes, n: -0.3 * n**2 * (1 + codes.sum(1)), "odd"),
        lambda n, at: -0.3 * n**2 * (1 + at),
    ),
}


def brute(tables, log):
    """Every table's probability."""
    at = np.indices(tables.shape[1:]).sum(0)
    logs = log(tables.astype(float), at).reshape(len(tables), -1).sum(1)
    chances = np.exp(logs - logs.max())
    return chances / chances.sum()


def check(array, margins, weights, log, tables=None):
    tables = fibre(array, margins) if tables is None else tables
    p = brute(tables, log)
    found = exact_posterior(Release.margins(named(array), letters(margins)), weights=weights)
    most = int(tables.max())
    flat = tables.reshape(len(tables), -1)
    wanted = np.stack([p @ (flat == n) for n in range(most + 1)], axis=1)
    assert found.matrix(most) == pytest.approx(wanted, abs=1e-9)
    assert found.tables == len(tables)
    assert found.entropy == pytest.approx(-np.sum(p * np.log(p)), abs=1e-9)
    true = int(np.flatnonzero((flat == array.ravel()).all(1))[0])
    assert found.probability_of(named(array)) == pytest.approx(p[true], abs=1e-9)
    assert found.mean == pytest.approx(p @ flat)
    assert [belief.mean for belief in found] == pytest.approx((p @ flat).tolist())


@pytest.mark.parametrize("listing", [False, True], ids=["by states", "one by one"])
@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=40)
@given(data=st.data())
def test_every_probability_by_brute_force(model, listing, data):
    array = data.draw(small_tables())
    margins = data.draw(releases(array.ndim))
    tables = fibre(array, margins)
    assume(len(tables) <= 5_000)
    with pytest.MonkeyPatch.context() as patch:
        if listing:
            patch.setattr(transfer.Transfer, "of", lambda *_, **__: None)
        check(array, margins, *MODELS[model], tables)


@given(small_tables(most_axes=3), st.data())
def test_a_prior_for_each_cell(array, data):
    margins = data.draw(releases(array.ndim))
    prior = np.random.default_rng(array.size).gamma(1, 1, array.shape) + 0.05
    log = lambda n, at: gammaln(n + prior) - gammaln(n + 1)  # noqa: E731
    check(array, margins, CellWeights.dirichlet(prior), log)


@given(small_tables(), st.data())
def test_beliefs_stay_within_the_bounds(array, data):
    release = Release.margins(named(array), letters(data.draw(releases(array.ndim))))
    found, within = exact_posterior(release), bounds(release, method="linear")
    ends = found.low + np.diff(found.starts) - 1
    assert (found.low >= within.lower).all()
    assert (ends <= within.upper).all()
    assert np.add.reduceat(found.mass, found.starts[:-1]) == pytest.approx(np.ones(len(found)))


def test_known_cells_restrict_the_tables():
    array = np.array([[2, 1, 0], [1, 2, 3]])
    release = Release.margins(named(array), "A + B")
    tables = fibre(array, [(0,), (1,)])
    for told, kept in (
        (release.insider({"A": 0, "B": 1}, 1), tables[:, 0, 1] == 1),
        (release.between({"B": 2, "A": 1}, 1, 2), (tables[:, 1, 2] >= 1) & (tables[:, 1, 2] <= 2)),
        (release.impossible({"A": 0, "B": 2}), tables[:, 0, 2] == 0),
    ):
        p = brute(tables[kept], MODELS["saturated"][1])
        found = exact_posterior(told, weights=MODELS["saturated"][0])
        assert found.tables == kept.sum()
        flat = tables[kept].reshape(-1, 6)
        wanted = np.stack([p @ (flat == n) for n in range(4)], axis=1)
        assert found.matrix(3) == pytest.approx(wanted, abs=1e-9)


def test_a_table_that_does_not_fit_has_no_probability():
    table = named(np.array([[2, 1], [1, 2]]))
    found = exact_posterior(Release.margins(table, "A + B"))
    assert found.probability_of(named(np.array([[3, 1], [1, 1]]))) == 0
    told = Release.margins(table, "A + B").insider({"A": 0, "B": 0}, 2)
    assert exact_posterior(told).probability_of(named(np.array([[1, 2], [2, 1]]))) == 0
    with pytest.raises(DataError, match="the table is over A, the release over A, B"):
        found.probability_of(table.margin("A"))


def test_nobody_is_in_every_cell():
    release = Release.margins(named(np.array([[1, 0], [0, 0]])), "A + B")
    nobody = dataclasses.replace(
        release,
        tables=tuple(Table(t.variables, t.codes[:0], t.counts[:0]) for t in release.tables),
    )
    found = exact_posterior(nobody)
    assert (found.probability(0) == 1).all()
    assert (found.tables, found.entropy) == (1, 0)


def test_large_counts_stay_accurate():
    """2 x 2 with thousands: the hypergeometric distribution, to nine digits."""
    from scipy.stats import hypergeom

    table = named(np.array([[2_000, 3_000], [4_000, 1_000]]))
    found = exact_posterior(Release.margins(table, "A + B"), weights=CellWeights.multinomial())
    counts = np.arange(1_800, 3_200)
    wanted = hypergeom(10_000, 5_000, 6_000).pmf(counts)
    assert [found.probability(n)[0] for n in counts] == pytest.approx(wanted, abs=1e-9)


def test_what_is_refused():
    czech = load("example:czech")
    release = Release.margins(czech, "A*B + B*C + C*D + D*E + E*F")
    with pytest.raises(DataError, match=r"tables fit 64 open cells .* draw tables instead"):
        exact_posterior(release, limit=1_000)
    with pytest.raises(DataError, match="above 0"):
        CellWeights.dirichlet(0)
    with pytest.raises(DataError, match="the prior has the shape"):
        exact_posterior(release, weights=CellWeights.dirichlet(np.ones((2, 2))))
    with pytest.raises(DataError, match="the cells have 'C' with 2 categories"):
        exact_posterior(Release.margins(czech.margin("A*B"), "A*B"), czech.small())
    small = Release.margins(czech.margin("A*B"), "A + B")
    with pytest.raises(DataError, match="not one number below infinity"):
        exact_posterior(small, weights=CellWeights.of(lambda c, n: n * np.nan, "nan"))
    with pytest.raises(DataError, match="gives every table that fits the weight 0"):
        exact_posterior(small, weights=CellWeights.of(lambda c, n: n - np.inf, "none"))


def test_how_a_posterior_is_shown():
    table = load("example:tract")
    release, small = Release.margins(table, "Race*Income + Income*Gender"), table.small()
    found = exact_posterior(release, small)
    shown = found.to_frame(counts=small.counts)
    assert list(shown.columns[3:]) == [
        "count", "p0", "p1", "p2", "more", "mean", "guess", "probability"
    ]  # fmt: skip
    document = found.to_json(small.counts)
    assert {"cells", "models", "diagnostics"} <= set(document)
    first = document["cells"][0]
    assert first["cell"] == {"Gender": "Male", "Race": "Chinese", "Income": "up to $10,000"}
    assert first["count"] == 1
    assert sum(first["probabilities"].values()) == pytest.approx(1)
    assert document["models"] == [{"model": "saturated", "prior": "0.5", "weight": 1.0}]
    assert document["diagnostics"]["tables"] == "59400"
    assert "count" not in found.to_json()["cells"][0]
    right = int((found.guess == small.counts).sum())
    chart = found.plot(counts=small.counts).to_dict()
    assert chart["description"] == f"The best guess is right for {right} of 4 cells"
    assert "<code>Posterior(4 of 18 cells" in found._repr_html_()
    assert found[0].probability(1) == pytest.approx(found.probability(1)[0])
