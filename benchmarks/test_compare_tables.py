"""The risk-utility map of the tract table, and whether the intruder's beliefs are right.

Easy where a mask tells exact sums or speaks of every cell by itself; hard where many sums that
share cells are known to a range or through noise: there tables are drawn, and compared with other
chains and with all tables, one by one.
"""

import time

import numpy as np
import pytest

from discreet.decision.compare import printedbeliefs, rowbeliefs, tablemakers
from discreet.decision.compare.cellbeliefs import Asked
from discreet.decision.compare.tables import TABLE_METHODS, make_table, table_risk, table_worth
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.table.load import load
from discreet.table.table import Table

MASKS = {
    "whole": ("whole", {}),
    "two margins": ("margins", {"release": "Race*Income + Gender"}),
    "three margins": ("margins", {"release": "Race*Income + Income*Gender + Race*Gender"}),
    "suppress": ("suppress", {}),
    "suppress, two margins": ("suppress", {"release": "Race*Income + Income*Gender"}),
    "round 3": ("round", {"base": 3}),
    "round 5": ("round", {"base": 5}),
    "round 5, nearest": ("round", {"base": 5, "kind": "conventional"}),
    "round 5, random": ("round", {"base": 5, "kind": "random"}),
    "merge": ("merge", {}),
    "cell-key": ("cell-key", {}),
    "cell-key, totals": ("cell-key", {"totals": True}),
    "perturb": ("perturb", {"keep": "Race*Income + Income*Gender"}),
    "synthesise, graphical": ("synthesise", {}),
    "synthesise, saturated": ("synthesise", {"model": "saturated", "copies": 3}),
    "private 0.5": ("private", {"epsilon": 0.5}),
    "private 1": ("private", {"epsilon": 1.0}),
    "private 1, two margins": (
        "private", {"epsilon": 1.0, "release": "Race*Income + Income*Gender"}
    ),
}  # fmt: skip


def test_the_map_of_the_tract_table(record_property):
    """All masks on one scale, in processor seconds, at act 0.5."""
    table, found = load("example:tract"), {}
    print()
    for name, (method, options) in MASKS.items():
        begun = time.process_time()
        made = make_table(table, method, options, Policy(), np.random.default_rng(7))
        took = time.process_time() - begun
        risk, worth = table_risk(made, table, act=0.5), table_worth(table, made.estimate)
        found[name] = made, risk, worth
        print(
            f"{name:24} disclosed {risk['disclosed']:.2f} perceived {risk['perceived']:.2f} "
            f"expected {risk['expected']:.3f} worth {worth:.4f} {made.verdict or '-':6} "
            f"{'exact' if made.exact else f'to {made.error:.4f}':10} {took:5.1f} s"
        )
        record_property(name, took)
        assert took < 30
        assert made.error <= 0.005
    expected = {name: risk["expected"] for name, (_, risk, _) in found.items()}
    assert expected["whole"] == 1
    assert expected["two margins"] < expected["three margins"]
    assert expected["private 0.5"] < expected["private 1"]
    assert expected["cell-key"] < expected["cell-key, totals"]
    assert found["suppress"][0].verdict is Verdict.PASS


@pytest.mark.parametrize("base", [3, 5])
def test_rounded_tables_as_other_chains_draw_them(base):
    """Fills, which the mask uses, against slides, which share no move with them."""
    table, options = load("example:tract"), {"base": base}
    begun = time.process_time()
    made = make_table(table, "round", options, Policy(), np.random.default_rng(7))
    own = time.process_time() - begun
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tablemakers, "printed_belief", slides)
        begun = time.process_time()
        other = make_table(table, "round", options, Policy(), np.random.default_rng(7))
        took = time.process_time() - begun
    mine, theirs = (
        np.array([c[n] for c, n in zip(one.beliefs, table.small().counts, strict=True)])
        for one in (made, other)
    )
    print(f"\nbase {base}: {mine.round(3)} in {own:.1f} s, {theirs.round(3)} in {took:.1f} s")
    assert np.abs(mine - theirs).max() < 5 * np.hypot(made.error, other.error)


def slides(printed, asked, rng):
    rows, total = printedbeliefs.cell_rows(printed.system, asked), asked.table.total
    printed = printedbeliefs.known_total(printed, rows, total)
    return rowbeliefs.seen_rows(printedbeliefs.ranges(printed, rows, total), asked, rng)


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 3), (2, 3, 2)])
def test_walks_reach_every_table(shape):
    """Ranges so narrow that single steps do not connect all tables; against all, one by one."""
    compared, names = 0, "ABC"[: len(shape)]
    for seed in range(12):
        array = np.random.default_rng(seed).integers(0, 7, shape)
        axes = {n: [f"{n}{i}" for i in range(k)] for n, k in zip(names, shape, strict=True)}
        table = Table.of(array, **axes)
        for base, kind in [(3, "conventional"), (4, "conventional"), (3, "random")]:
            made = {}
            for listed in (10**7, 1):
                asked = Asked(table, 2)
                asked.__dict__["guarded"] = np.arange(table.size)
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(rowbeliefs, "LISTED", listed)
                    patch.setattr(rowbeliefs, "ERROR", 0.01)
                    patch.setattr(tablemakers, "printed_belief", slides)
                    made[listed] = TABLE_METHODS["round"](
                        asked, Policy(), np.random.default_rng(seed), base=base, kind=kind
                    )
            exact, drawn = made[10**7], made[1]
            for one, other in zip(exact.beliefs, drawn.beliefs, strict=True):
                width = max(len(one), len(other))
                apart = np.pad(one, (0, width - len(one))) - np.pad(other, (0, width - len(other)))
                assert np.abs(apart).max() <= max(1e-9, 5 * drawn.error), (seed, base, kind)
            compared += not drawn.exact
    assert compared >= 15


def calibrated(method, options, tables=1_500):
    """Of counts that are said to have .4 to .6, the share that is so; and how many were said."""
    rng, right, said = np.random.default_rng(11), 0, 0
    mean, squares = [], []
    for _ in range(tables):
        bars = np.sort(rng.choice(17, 7, replace=False))  # every table of 10 people alike
        counts = np.diff(np.concatenate([[-1], bars, [17]])) - 1
        table = Table.of(counts.reshape(2, 2, 2), A=["a", "b"], B=["x", "y"], C=["0", "1"])
        asked = Asked(table, 2)
        asked.__dict__["guarded"] = np.arange(8)
        made = TABLE_METHODS[method](asked, Policy(), rng, **options)
        for chances, count in zip(made.beliefs, counts, strict=True):
            at = np.flatnonzero((chances >= 0.4) & (chances <= 0.6))
            said, right = said + len(at), right + int((at == count).sum())
            mean.append(chances[count] if count < len(chances) else 0.0)
            squares.append(float(chances @ chances))
    return right / said, said, float(np.mean(mean)), float(np.mean(squares))


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("round", {"base": 3, "kind": "conventional"}),
        ("round", {"base": 3, "kind": "random"}),
        ("cell-key", {}),
        ("synthesise", {"model": "saturated", "copies": 2}),
        ("synthesise", {"model": "A*B + B*C", "copies": 3}),
        ("private", {"epsilon": 2.0}),
        ("private", {"epsilon": 2.0, "release": "A*B + B*C"}),
    ],
)
def test_what_is_said_at_a_half_is_right_half_the_time(method, options):
    tables = 300 if len(options) > 1 and method != "round" else 600
    share, said, mean, squares = calibrated(method, options, tables)
    print(f"\n{method} {options}: {share:.3f} of {said} said at .4 to .6; mean {mean:.4f}, "
          f"expected {squares:.4f}")  # fmt: skip
    assert said < 100 or abs(share - 0.5) < max(0.05, 4 * 0.5 / np.sqrt(said))
    assert abs(mean - squares) < 0.03


def test_how_far_ranges_alone_are_off():
    """A rounding that is chosen by the table tells more than its ranges: how much is printed."""
    share, said, mean, squares = calibrated("round", {"base": 3, "kind": "controlled"}, 300)
    print(f"\ncontrolled rounding: {share:.3f} of {said} said at .4 to .6; mean {mean:.4f}, "
          f"expected {squares:.4f}")  # fmt: skip
    assert mean >= squares - 0.02  # the true counts are no less probable than is believed
