"""Controlled rounding of all cells and totals of a table.

Two ways are easy: a network, whose linear program is whole. Three ways are hard: the linear program
is not whole, and HiGHS by itself found no rounding of 50x20x10 in 60 seconds; the gap is to the
linear bound. The rival of additivity is rounding to the nearest, which is closer and does not add
up.
"""

import time

import numpy as np
import pytest

from discreet.data.codebook import Variable
from discreet.masks.rounding import Circulation, controlled, conventional
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System


def crossed(*sizes):
    return System.of(
        [
            Sheet(
                "1",
                tuple(
                    Grouping.of(Variable(f"v{axis}", tuple(f"c{code}" for code in range(size))))
                    for axis, size in enumerate(sizes)
                ),
            )
        ]
    )


def adds_up(shown):
    for axis in range(shown.ndim):
        total, rest = np.split(shown, [1], axis)
        assert (total.squeeze(axis) == rest.sum(axis)).all()


@pytest.mark.parametrize(
    ("sizes", "most", "gap"),
    [
        ((20, 20), 0.5, 0),
        ((100, 100), 5, 0),
        ((20, 10, 5), 5, 0),
        ((50, 20, 10), 60, 0.01),
    ],
)
def test_least_distance(sizes, most, gap):
    system, rng = crossed(*sizes), np.random.default_rng(1)
    values = system.sums @ (rng.geometric(0.15, system.columns) - 1)
    controlled(crossed(2, 2), np.zeros(9), 5)
    start = time.process_time()
    found = controlled(system, values, 5)
    seconds = time.process_time() - start
    nearest = np.abs(conventional(values, 5) - values).sum()
    print(
        f"\n{'x'.join(map(str, sizes))}, base 5: {seconds:.2f} s of processor (at most {most}), "
        f"distance {found.distance:,.0f}, gap {found.gap:,.1f} ({found.gap / found.distance:.2%}), "
        f"ratio to the nearest multiples, which do not add up, {found.distance / nearest:.3f}"
    )
    adds_up(found.values[system.places[0]])
    assert (np.abs(found.values - values) < 5).all()
    assert found.gap <= gap * found.distance
    assert seconds < most


def test_unbiased():
    system, rng = crossed(6, 5), np.random.default_rng(2)
    values = system.sums @ rng.integers(0, 40, system.columns)
    network = Circulation.of(system, values, 5)
    network.draw(rng)
    start = time.process_time()
    drawn = network.draw(rng, 10_000)
    seconds = time.process_time() - start
    off = np.abs(drawn.mean(0) - values) / np.maximum(drawn.std(0) / 100, 1e-12)
    off = off[values % 5 != 0]
    large = crossed(100, 100)
    many = large.sums @ rng.integers(0, 40, large.columns)
    start = time.process_time()
    once = Circulation.of(large, many, 5).draw(rng)[0]
    single = time.process_time() - start
    print(
        f"\n6x5, 10,000 draws: {seconds:.2f} s, means off by at most {off.max():.2f} standard "
        f"errors over {len(off)} cells; 100x100, one draw: {single:.2f} s"
    )
    adds_up(once[large.places[0]])
    assert off.max() < 4
    assert (off < 3).mean() > 0.95
    assert seconds < 5
