"""Lanes by an array library: the same steps as on a core, and the same bounds."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.intruder.bounds.part import Part
from discreet.intruder.bounds.projection import arraylanes, projection
from discreet.intruder.bounds.projection.arraylanes import ArrayLanes, accelerator, most_lanes
from discreet.intruder.bounds.projection.lanes import CoreLanes, Program
from discreet.intruder.bounds.projection.projection import Projection
from discreet.intruder.bounds.projection.reach import reach
from projectioncases import random_release


def on_arrays(self, count):
    return ArrayLanes(self.coordinates, self.center, self.low, self.high, count, np)


def projected(seed, most=400):
    _, release = random_release(seed, most)
    return Part(release).projection(1 << 30)


def program(made, rng):
    """Some cells rise or fall, within ends of their own."""
    cells = np.sort(rng.choice(made.center.size, int(rng.integers(1, 5)), replace=False))
    low, high = (side.ravel()[cells].astype(float) for side in (made.low, made.high))
    return Program(cells, rng.choice([-1.0, 1.0], len(cells)), low, np.maximum(low, high - 1))


def agree(both, lanes, watched):
    looks = [each.look(watched) for each in both]
    for core, array in zip(looks[0][0], looks[1][0], strict=True):
        assert array == pytest.approx(core, rel=1e-9, abs=1e-9)
    assert looks[1][1] == pytest.approx(looks[0][1], rel=1e-9, abs=1e-9)
    for name in ("states", "forces"):
        core, array = (getattr(each, name)(lanes) for each in both)
        assert array == pytest.approx(core, rel=1e-9, abs=1e-9)
    assert both[1].step == pytest.approx(both[0].step)
    assert both[1].count == both[0].count


def advance(both, steps):
    core, array = (each.advance(steps) for each in both)
    assert array == pytest.approx(core, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_same_steps_as_on_a_core(seed):
    made, rng = projected(seed), np.random.default_rng(seed)
    count, cells = 5, made.center.size
    given = made.coordinates, made.center, made.low, made.high, count
    both = CoreLanes(*given), ArrayLanes(*given, np)
    programs = [program(made, rng) if lane != 2 else None for lane in range(count)]
    start = made.center.ravel() + rng.normal(0, 1, cells)
    starts = [None, start, None, None, start]
    watched = rng.permutation(cells)[: cells // 2]
    step = rng.uniform(0.5, 5, count)
    for each in both:
        each.load(programs, np.arange(count), step, starts)
    agree(both, np.array([3]), watched)
    advance(both, 30)
    agree(both, np.array([4, 0, 2]), watched)
    again, step = rng.random(count) < 0.5, rng.uniform(0.5, 5, count)
    for each in both:
        each.restart(again, step)
    advance(both, 7)
    agree(both, np.arange(count), np.zeros(0, np.int64))
    kept = np.array([3, 0, 1])
    programs = [programs[lane] for lane in kept]
    programs[1] = program(made, rng)
    for each in both:
        each.keep(kept)
        each.load(programs, np.array([1]), np.array([2.0]), [None])
    advance(both, 13)
    agree(both, np.array([1, 2]), watched)
    for each in both:
        each.load([None] * 3, np.zeros(0, np.int64), np.zeros(0), [])
    advance(both, 1)
    agree(both, np.arange(3), watched)


def ends(made):
    places = np.flatnonzero(made.high.ravel() > made.low.ravel())[:20]
    return reach(made, places, made.low.ravel()[places], made.high.ravel()[places])


@pytest.mark.parametrize("seed", range(6))
def test_the_same_bounds(seed, monkeypatch):
    found = ends(projected(seed))
    monkeypatch.setattr(Projection, "lanes", on_arrays)
    assert all(
        np.array_equal(*pair) for pair in zip(ends(projected(seed))[:4], found, strict=False)
    )


def test_a_large_table_goes_to_the_accelerator(monkeypatch):
    found = ends(projected(3))
    asked = []
    monkeypatch.setattr(projection, "LEAST_CELLS", 1)
    monkeypatch.setattr(projection, "accelerator", lambda: (np, None))
    monkeypatch.setattr(projection, "most_lanes", lambda cells, xp: asked.append(cells) or 7)
    made = projected(3)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert isinstance(made.lanes(1), ArrayLanes)
    assert all(np.array_equal(*pair) for pair in zip(ends(made)[:4], found, strict=False))
    assert asked == [made.center.size] * 2


def library(**cuda):
    return SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: bool(cuda), **cuda))


def test_which_accelerator(monkeypatch):
    torch, cupy = library(found=True), library(found=True)
    there = {"torch": torch, "cupy": cupy}
    monkeypatch.setattr(arraylanes, "_installed", there.get)
    monkeypatch.delenv("DISCREET_DEVICE", raising=False)
    assert accelerator() == (torch, "cuda")
    there["torch"] = library()
    assert accelerator() == (cupy, None)
    monkeypatch.setenv("DISCREET_DEVICE", "cpu")
    assert accelerator() is None
    there.clear()
    monkeypatch.setenv("DISCREET_DEVICE", "gpu")
    with pytest.raises(DataError, match="neither PyTorch nor CuPy"):
        accelerator()
    monkeypatch.setenv("DISCREET_DEVICE", "tpu")
    with pytest.raises(DataError, match="'tpu'"):
        accelerator()
    monkeypatch.delenv("DISCREET_DEVICE")
    assert accelerator() is None


def test_lanes_fit_in_half_of_the_free_memory():
    torch = library(
        mem_get_info=lambda: (2**30, 2**31), memory_reserved=lambda: 2**30, memory_allocated=int
    )
    assert most_lanes(2**16, torch) == 2**31 // 2 // (6 * 8 * 2**16)
    assert most_lanes(2**12, torch) == 2048
    assert most_lanes(2**26, torch) == 1
    cupy = SimpleNamespace(
        cuda=SimpleNamespace(runtime=SimpleNamespace(memGetInfo=lambda: (2**31, 2**32))),
        get_default_memory_pool=lambda: SimpleNamespace(free_bytes=int),
    )
    assert most_lanes(2**16, cupy) == most_lanes(2**16, torch)
