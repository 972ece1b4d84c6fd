"""What masked files are worth: null means of the pMSE by simulation, and how long measures take.

Easy where margins are small arrays; hard where a file has many distinct records and the regression
of the pMSE sees each of them.
"""

import time

import numpy as np
import pandas as pd
import pytest

from discreet.models.loglinear import LogLinear
from discreet.table.formula import Formula
from discreet.utility.close import models_close
from discreet.utility.distances import by_order
from discreet.utility.kept import margins_kept
from discreet.utility.propensity import pmse
from discreet.utility.summary import worth

SHAPE, NAMES = (2, 3, 4), ["a", "b", "c"]
FILES = 1_000


def timed(function, *given, **options):
    start = time.process_time()
    found = function(*given, **options)
    return found, time.process_time() - start


def drawn(rng, shares, number):
    cells = np.unravel_index(rng.choice(shares.size, number, p=shares.ravel()), SHAPE)
    return pd.DataFrame(dict(zip(NAMES, cells, strict=True))).astype(str)


@pytest.mark.parametrize("model", ["main", "two-way"])
@pytest.mark.parametrize(("people", "copies"), [(1500, 1500), (2000, 1000), (800, 2400)])
@pytest.mark.parametrize("null", ["independent", "synthesised"])
def test_null_means_of_the_pmse(null, people, copies, model):
    """Files that lose nothing: the mean ratio is 1 and the standardised pMSE has deviation 1.

    A synthesised file is drawn from the true file's own shares, which have every margin that the
    regression sees.
    """
    rng = np.random.default_rng(11)
    shares = rng.dirichlet(np.full(24, 8.0)).reshape(SHAPE)
    found = []
    for _ in range(FILES):
        true = drawn(rng, shares, people)
        source = shares
        if null == "synthesised":
            counts = (
                true.groupby(NAMES)
                .size()
                .reindex(
                    pd.MultiIndex.from_product([map(str, range(n)) for n in SHAPE]), fill_value=0
                )
            )
            source = counts.to_numpy().reshape(SHAPE) / people
        found.append(pmse(true, drawn(rng, source, copies), columns=NAMES, model=model, null=null))
    assert found[0].parameters == (7 if model == "main" else 18)
    ratio = np.array([one.ratio for one in found])
    error = ratio.std() / np.sqrt(FILES)
    spread = np.std([one.standardised for one in found])
    print(
        f"{null}, {model}, c = {found[0].share:.3f}: pMSE / null mean = {ratio.mean():.4f} "
        f"(standard error {error:.4f}), deviation / null deviation = {spread:.3f}"
    )
    assert abs(ratio.mean() - 1) < 4 * error + 0.01  # the null means are of large files
    assert abs(spread - 1) < 0.12


def test_margins_of_sixteen_variables(nltcs):
    model = LogLinear(Formula.parse("*".join(nltcs.names[:8]), nltcs.names))
    fitted = model.fit(nltcs).expected_array()
    same, sparse = timed(by_order, nltcs, nltcs)
    found, dense = timed(by_order, nltcs, fitted)
    kept, took = timed(margins_kept, nltcs, fitted)
    assert same.score() == 1
    assert len(found.margins) == 696
    assert kept.formula.margins == (nltcs.names[:8],)
    print(
        f"NLTCS, 696 margins: {sparse:.2f} s from cells, {dense:.2f} s from 65,536 estimates; "
        f"kept margins {took:.2f} s (processor)"
    )
    assert sparse < 2
    assert dense < 5


def test_a_hundred_thousand_records_of_twelve_columns():
    rng = np.random.default_rng(0)
    n = 100_000
    names = [f"c{k}" for k in range(8)]
    true = pd.DataFrame({
        name: rng.choice([f"v{j}" for j in range(3 + k)], n) for k, name in enumerate(names)
    } | {f"n{k}": np.round(rng.normal(50, 10, n), 1) for k in range(4)})  # fmt: skip
    numbers = [f"n{k}" for k in range(4)]
    masked = true.assign(**{name: true[name] + rng.normal(0, 3, n) for name in numbers})
    masked["c7"] = np.where(rng.random(n) < 0.3, "*", masked["c7"])
    found, took = timed(
        worth, true, masked, categories=names, numbers=numbers, within={"c7": {"*": ()}}
    )
    alone, longer = timed(pmse, true, masked, columns=[*names[:7], *numbers])
    print(
        f"10^5 records, 12 columns, 298 margins: worth {found.score:.4f} in {took:.1f} s, "
        f"pMSE of {alone.parameters} parameters in {longer:.1f} s (processor)"
    )
    assert 0.9 < found.score < 1
    assert len(found.by_order.margins) == 298
    assert took < 10


def test_estimates_of_a_model_of_sixteen_variables(nltcs):
    """All two-way u-terms of ten variables, from the first and the second half of the people."""
    table = nltcs.margin(nltcs.names[:10])
    rng = np.random.default_rng(1)
    half = rng.binomial(table.dense(), 0.5)
    pairs = [[a, b] for a in table.names for b in table.names if a < b]
    found, took = timed(models_close, table, half, pairs)
    assert len(found.terms) == 10 + 45
    # half of the people has twice the variance, and shares half of it with the whole
    assert np.std(found.apart) == pytest.approx(1, abs=0.35)
    print(f"55 u-terms of 1,024 cells: up to {found.greatest:.2f} errors apart, {took:.2f} s")
