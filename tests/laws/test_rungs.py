"""What rests on tables of fractions: every such width is that of a linear program, by SciPy."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.intruder.bounds import shares
from discreet.intruder.bounds.result import Rung
from lawcases import LawCase, broken, fitting
from oracle import named

CASES = 100
NEAR = 1e-6


class Fractions:
    """All tables, fractions allowed, that fit a case's release."""

    def __init__(self, case):
        self.shape = case.array.shape
        cells = list(np.ndindex(self.shape))
        rows, counts = [], []
        for axes in case.margins:
            for at in np.ndindex(*(self.shape[a] for a in axes)):
                row = [all(c[a] == k for a, k in zip(axes, at, strict=True)) for c in cells]
                rows.append(row)
                counts.append(case.array.ravel()[np.array(row)].sum())
        self.equal = np.array(rows, float), np.array(counts, float)

    def cells(self, at):
        """The cells with codes `at`, axis to code, as a vector of zeros and ones."""
        chosen = np.zeros(self.shape)
        chosen[tuple(at.get(a, slice(None)) for a in range(len(self.shape)))] = 1
        return chosen.ravel()

    def least(self, cost):
        return linprog(cost, A_eq=self.equal[0], b_eq=self.equal[1]).fun


def groups(case, axes):
    for d in range(len(axes) + 1):
        for chosen in combinations(axes, d):
            for at in np.ndindex(*(case.array.shape[a] for a in chosen)):
                yield dict(zip(chosen, at, strict=True))


def check_widths(case, fits):
    for at in groups(case, range(case.array.ndim)):
        cell = fits.cells(at)
        if len(at) == case.array.ndim and 0 < case.array.ravel() @ cell <= case.policy.small.most:
            width = -fits.least(-cell) - fits.least(cell)
            assert width >= case.policy.small.width - NEAR, at


def check_groups(case, fits):
    rule, true = case.policy.attribute, case.array.ravel()
    axes = range(case.array.ndim)
    for at in groups(case, axes):
        whole = fits.cells(at)
        for place in set(axes) - set(at) if true @ whole and len(at) <= rule.order else ():
            for code in range(case.array.shape[place]):
                part = fits.cells(at | {place: code})
                if true @ part >= rule.share * (true @ whole):
                    assert fits.least(part - rule.share * whole) < -NEAR, (at, place, code)
                elif not true @ part:
                    assert fits.least(-part) < -NEAR, (at, place, code)


def sparse_case(rng):
    """All pairs of five variables, or of three larger ones: there fractions reach further."""
    shape = ((2,) * 5, (3, 3, 3))[rng.integers(2)]
    table = named(rng.poisson(rng.choice([0.5, 0.9, 2.0]), shape))
    keys = {
        "bounds.proof": "linear",
        "bounds.witness_seconds": 0.0,
        "bounds.method": str(rng.choice(["auto", "linear"], p=[0.3, 0.7])),
        "small.width": int(rng.integers(1, 3)),
        "published.least": 0,
        "attribute.check": bool(rng.random() < 0.5),
    }
    margins = tuple(combinations(range(len(shape)), 2))
    return LawCase(table, table.dense(), margins, Policy.of(keys))


@pytest.mark.slow
def test_what_fractions_pass_is_wide_by_linear_programs(monkeypatch):
    """And what fails, fails by whole numbers."""
    monkeypatch.setattr(shares, "PATIENCE", 0)  # fewer integer programs, more to rest on fractions
    rested = 0
    for seed in range(CASES):
        case = sparse_case(np.random.default_rng(seed))
        found = decide(case.table, case.formula, case.policy)
        if found.verdict is Verdict.FAIL and fitting(case) is not None:
            failed = {r.rule for r in found.reasons if r.verdict is Verdict.FAIL}
            assert failed <= set(broken(case)), seed
        if found.verdict is Verdict.PASS:
            rested += found.rung is Rung.LINEAR
            fits = Fractions(case)
            check_widths(case, fits)
            if case.policy.attribute.check:
                check_groups(case, fits)
    assert rested > CASES / 20
