"""Variables that no margin has, tied to others by zeros: bounded without them, as with them."""

import numpy as np
import pytest

from discreet.data.codebook import Variable
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.intruder.bounds import bounder
from discreet.intruder.bounds.bounder import bounds
from discreet.release.release import Release
from discreet.table.table import Table

RELEASES = ["A*B", "A + B", "A*B + B*C"]


def nested(seed):
    """People by A, B, C, and U, each category of which is possible in some of A, or of B and V."""
    rng = np.random.default_rng(seed)
    sizes = {"A": 3, "B": 2, "C": 2, "U": 4, "V": 3}
    variables = tuple(Variable(n, tuple(f"{n}{i}" for i in range(k))) for n, k in sizes.items())
    open_ua, open_vb = rng.random((4, 3)) < 0.6, rng.random((3, 2)) < 0.7
    open_uv = rng.random((4, 3)) < 0.7
    codes = np.array(list(np.ndindex(*sizes.values())))
    a, b, _, u, v = codes.T
    possible = open_ua[u, a] & open_vb[v, b] & open_uv[u, v]
    kept = possible & (rng.random(len(codes)) < 0.5)
    if kept.sum() < 4:
        return nested(seed + 1_000)
    table = Table.from_cells(variables, codes[kept], rng.poisson(1.5, kept.sum()) + 1)
    closed = [("U", "A", open_ua), ("V", "B", open_vb), ("U", "V", open_uv)]
    return table.excluding(
        {one: f"{one}{i}", other: f"{other}{j}"}
        for one, other, allowed in closed
        for i, j in np.argwhere(~allowed).tolist()
    )


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_those_of_programs_with_them(seed, monkeypatch):
    table = nested(seed)
    for formula in RELEASES:
        release = Release.margins(table, formula)
        cells = table.small()
        found = bounds(release, cells)
        monkeypatch.setattr(bounder, "spoken_alone", lambda release: None)
        exact = bounds(release, cells, method="integer")
        monkeypatch.undo()
        assert (found.lower == exact.lower).all()
        assert (found.upper == exact.upper).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("exclusion", [False, True])
def test_verdicts_are_those_with_them(seed, exclusion, monkeypatch):
    from discreet.decision.law import case

    table = nested(seed)
    policy = Policy.of({"attribute.exclusion": exclusion, "small.most": 1, "small.width": 1})
    for formula in RELEASES:
        quick = decide(table, formula, policy)
        monkeypatch.setattr(bounder, "spoken_alone", lambda release: None)
        monkeypatch.setattr(case, "without_unspoken", lambda *given: None)
        whole = decide(table, formula, policy)
        monkeypatch.undo()
        assert quick.verdict is whole.verdict, (formula, quick, whole)
