"""Linear bounds of the small cells of the NLTCS table, on an accelerator where there is one.

The release is the first 4,011 margins of the greedy list of Dobra, Erosheva & Fienberg 2002: hard,
because 41,388 cells are open and a simplex code needs minutes for one end of one cell. Two parts,
so that a machine with numpy and PyTorch alone can run the second:

    python benchmarks/gpu_linear.py prepare FILE.npz
    PYTHONPATH=src python benchmarks/gpu_linear.py run FILE.npz
"""

import argparse
import time

import numpy as np

MARGINS = 4011
BETA = 3


def prepare(path):
    """The released sets, what they tell, the shuttle's box and the places of the small cells."""
    from discreet.decision.frontier.widths import widths
    from discreet.intruder.bounds.part import Part
    from discreet.intruder.bounds.projection.coordinates import Coordinates
    from discreet.release.release import Release
    from discreet.table.lattice import bits
    from discreet.table.load import load

    table = load("example:nltcs")
    found = widths(table)
    widths = dict(zip(found.sets, found.width.tolist(), strict=True))
    order = sorted(widths, key=lambda s: (-widths[s], -s.bit_count(), -s))
    names = [[table.names[place] for place in bits(s)] for s in order[:MARGINS]]
    release = Release.margins(table, names)
    low, high = Part(release).box(1 << 30)
    made = Coordinates.of(release)
    cells = table.margin(release.names).small()
    np.savez_compressed(
        path,
        shape=made.shape,
        sets=[sum(1 << axis for axis in margin) for margin in made.margins],
        known=made.told(release),
        low=low,
        high=high,
        places=np.ravel_multi_index(tuple(cells.codes.astype(np.int64).T), made.shape),
    )


def run(path):
    """Both ends of every small cell."""
    from discreet.intruder.bounds.projection.arraylanes import accelerator
    from discreet.intruder.bounds.projection.coordinates import Coordinates
    from discreet.intruder.bounds.projection.projection import Projection
    from discreet.intruder.bounds.projection.reach import reach

    class Counted(Projection):
        """How many programs there were, and their steps."""

        programs = steps = 0

        def run(self, *given, **more):
            found = super().run(*given, **more)
            self.programs += len(found.tasks)
            self.steps += sum(task.steps for task in found.tasks)
            return found

    with np.load(path) as file:
        given = dict(file)
    shape, places = tuple(given["shape"].tolist()), given["places"]
    sets = [tuple(a for a in range(len(shape)) if s >> a & 1) for s in given["sets"].tolist()]
    lower, upper = (given[side].ravel()[places] for side in ("low", "high"))
    on = accelerator()
    print(f"{len(places):,} small cells, {len(sets):,} largest margins, {np.prod(shape):,} cells")
    print("device:", "processor" if on is None else f"{on[0].__name__} {on[1] or ''}")

    start = time.perf_counter()
    coordinates = Coordinates(shape, tuple(sets))
    projection = Counted(coordinates, given["known"], given["low"], given["high"])
    print(f"projection: {time.perf_counter() - start:.1f} s", flush=True)

    start = time.perf_counter()
    found = reach(projection, places, lower, upper)
    print(f"reach: {time.perf_counter() - start:.1f} s")
    print(f"steps: {projection.steps:,} of {projection.programs:,} programs")
    reached = (found.fit_low == found.lower) & (found.fit_high == found.upper)
    print(f"reached at both ends: {reached.sum():,}")
    print(f"narrower than {BETA}: {(found.upper - found.lower < BETA).sum():,}")
    narrow = upper - lower == BETA
    exact = (found.lower == 0) & (found.upper == BETA) & reached & narrow
    print(f"[0, {BETA}], of those of shuttle width {BETA}: {exact.sum()} of {narrow.sum()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("prepare", "run"))
    parser.add_argument("file")
    asked = parser.parse_args()
    {"prepare": prepare, "run": run}[asked.what](asked.file)
