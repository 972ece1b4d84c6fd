"""The generalised shuttle: bounds of every cell of every margin, for any release."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.errors import DataError, InconsistentRelease
from discreet.intruder.bounds.shuttle.lattice_layout import LANES, Layout
from discreet.look.result import Unpublished
from discreet.release.release import Known, Release
from discreet.table.axes import Axes
from discreet.table.cells import Cells
from discreet.table.impossible import codes_of
from discreet.table.keys import Codes, unravel
from discreet.table.table import Table

MOST_BYTES = 4 << 30
LINE = 64  # bytes of a cache line
CONTRADICTION = (
    "no table fits the release: its margins and what is known of single cells contradict "
    "each other."
)


class Shuttle(Unpublished):
    """Intervals of all nodes of the lattice of margins (Buzzigoli & Giusti 1999; Dobra 2002).

    Every variable contributes its categories and their sum. A released node is fixed; each sum
    tightens its parts and is tightened by them, until nothing changes. Margins can be added to a
    settled state, and taken back.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> shuttle = dc.frontiers.Shuttle(dc.Release.margins(table, "Race*Income + Income*Gender"))
    >>> shuttle.bounds(table.names, table.small().codes)
    (array([0, 0, 0, 0]), array([1, 2, 2, 2]))
    """

    def __init__(
        self,
        release: Release,
        names: Iterable[str] | None = None,
        *,
        most_bytes: int = MOST_BYTES,
        droppable: bool = False,
    ) -> None:
        chosen = set(release.names if names is None else names)
        self.axes = Axes(tuple(v for v in release.variables if v.name in chosen))
        self.variables, self.names = self.axes.variables, self.axes.names
        self.layout = Layout.of(self.axes.sizes)
        self.total = release.total or 0
        check_size(self.layout, self.total, most_bytes)
        kind = np.uint16 if 2 * self.total < 1 << 16 else np.uint32
        layout = self.layout
        self.data = _zeros(layout.records, kind)
        self.data[:, 1, : layout.size] = self.total
        self._targets = np.zeros(layout.records, np.int64)
        self._undo: dict[str, Any] | None = None
        self._saved, self._epoch = 0, 0
        for table in release.tables:
            record, lane, values = self._nodes(table)
            self.data[record, 0, lane] = values
            self.data[record, 1, lane] = values
        self._ranges, self._zeros = self._placed(release.ranges), list(release.zeros)
        self._fix_known(self.data)
        self._given = self.data.copy() if droppable else None
        self._added: list[Table] = []
        begun = time.perf_counter()
        self.sweeps = self._settle()
        self.settled_in = time.perf_counter() - begun

    # What it says

    def bounds(self, names: tuple[str, ...], codes: Codes) -> tuple[Ints, Ints]:
        """lower and upper of cells of the margin over `names`."""
        record, lane = self.places(names, codes)
        return (
            self.data[record, 0, lane].astype(np.int64),
            self.data[record, 1, lane].astype(np.int64),
        )

    def arrays(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """lower and upper of every node: on each axis the categories, then their sum."""
        return self.layout.grid(self.data[:, 0]), self.layout.grid(self.data[:, 1])

    # What is added to it

    def watch(self, cells: Cells) -> None:
        """The cells whose width `add` guards."""
        record, lane = self.places(cells.names, cells.codes)
        self._targets[:] = 0
        np.bitwise_or.at(self._targets, record, np.int64(1) << np.asarray(lane, np.int64))

    def add(self, tables: Iterable[Table], *, floor: int = 0) -> bool:
        """Release further margins; False as soon as a watched cell is narrower than `floor`.

        Either way the change stands until `commit` or `roll_back`.
        """
        seeds: set[int] = set()
        for table in tables:
            seeds.update(self._fix(table))
            self._added.append(table)
        held = self._follow(np.array(sorted(seeds), np.int64), self._targets, floor)
        if held:
            work = self._undo or self._make_undo()
            touched = self.data[work["places"][: self._saved], :, : self.layout.size]
            if (touched[:, 0] > touched[:, 1]).any():
                raise InconsistentRelease(CONTRADICTION)
        return held

    def narrow(self, names: tuple[str, ...], codes: Codes, lower: Ints, upper: Ints) -> None:
        """Take in bounds that were proven by other means, for good, and what follows from them."""
        record, lane = self.places(names, codes)
        data = self.data
        new = (lower > data[record, 0, lane]) | (upper < data[record, 1, lane])
        record, lane, lower, upper = record[new], lane[new], lower[new], upper[new]
        changed = np.unique(record)
        self._save(changed)
        np.maximum.at(data, (record, 0, lane), lower.astype(data.dtype))
        np.minimum.at(data, (record, 1, lane), upper.astype(data.dtype))
        self._follow(changed, np.zeros_like(self._targets), 0)
        if crossed_in(data, self.layout.size):
            raise InconsistentRelease(CONTRADICTION)
        self._forget()

    def _follow(self, seeds: Ints, targets: Ints, floor: int) -> bool:
        """Tighten what follows from changed records; did every target keep `floor`?"""
        from discreet._kernels.worklist import propagate

        layout, work = self.layout, self._undo or self._make_undo()
        self._saved, held = propagate(
            self.data,
            self.data.view(np.uint64),
            seeds,
            layout.steps(layout.outer),
            layout.counts(layout.outer),
            layout.steps(layout.inner),
            layout.counts(layout.inner),
            layout.size,
            work["queue"],
            work["waiting"],
            work["pending"],
            work["saved"],
            work["places"],
            work["epochs"],
            self._epoch,
            self._saved,
            targets,
            floor,
        )
        return bool(held)

    def _save(self, records: Ints) -> None:
        """Remember records before their first change since the last commit."""
        undo = self._undo or self._make_undo()
        fresh = records[undo["epochs"][records] != self._epoch]
        span = slice(self._saved, self._saved + len(fresh))
        undo["epochs"][fresh] = self._epoch
        undo["places"][span] = fresh
        undo["saved"][span] = self.data[fresh]
        self._saved += len(fresh)

    def commit(self) -> None:
        """Keep what was added."""
        if self._given is not None:
            for table in self._added:
                record, lane, values = self._nodes(table)
                self._given[record, 0, lane] = self._given[record, 1, lane] = values
        self._forget()

    def drop(self, tables: Iterable[Table]) -> None:
        """Take back margins, but not their sub-margins; they must be among the largest released."""
        assert self._given is not None
        for table in tables:
            codes = unravel(np.arange(table.size), table.shape)
            record, lane = self.places(table.names, codes)
            self._given[record, 0, lane], self._given[record, 1, lane] = 0, self.total
            # the margin showed its impossible combinations, so that nothing else had to say them
            if group := table.ruled_out.get(table.names):
                self._zeros.append((table.names, codes_of(table.variables, group)))
        self._fix_known(self._given)
        self.data[:] = self._given
        self._forget()
        self._settle()

    def save(self) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """The state, to come back to with `load`."""
        return self.data.copy(), None if self._given is None else self._given.copy()

    def load(self, saved: tuple[NDArray[Any], NDArray[Any] | None]) -> None:
        self.data[:] = saved[0]
        if self._given is not None:
            self._given[:] = saved[1]
        self._forget()

    def _forget(self) -> None:
        self._saved = 0
        self._epoch += 1
        self._added = []

    def roll_back(self) -> None:
        """Take back all that was added since the last commit."""
        from discreet._kernels.worklist import restore

        if self._undo:
            restore(self.data, self._undo["saved"], self._undo["places"], self._saved)
        self._forget()

    def _make_undo(self) -> dict[str, Any]:
        n = self.layout.records
        self._undo = {
            "queue": np.empty(n + 1, np.int64),
            "waiting": np.zeros(n, bool),
            "pending": np.zeros(n, np.int64),
            "saved": np.empty_like(self.data),
            "places": np.empty(n, np.int64),
            "epochs": np.zeros(n, np.int64),
        }
        self._epoch = 1
        return self._undo

    def places(self, names: tuple[str, ...], codes: Codes) -> tuple[Any, Any]:
        """Record and lane of cells of the margin over `names`."""
        nodes = {self.axes.place[n]: codes[:, i].astype(np.int64) for i, n in enumerate(names)}
        record, lane = self.layout.place(nodes)
        ones = np.ones(len(codes), np.int64)
        return record * ones, lane * ones

    # How it is built

    def _nodes(self, table: Table) -> tuple[Ints, Ints, Ints]:
        """Record, lane and value of every node of a margin and of its sub-margins."""
        values = np.empty([size + 1 for size in table.shape], np.int64)
        values[tuple(slice(size) for size in table.shape)] = table.dense()
        for axis, size in enumerate(table.shape):
            parts = np.moveaxis(values, axis, 0)
            parts[size] = parts[:size].sum(0)
        grids = np.meshgrid(*(np.arange(n) for n in values.shape), indexing="ij", sparse=True)
        axes = self.axes.places(table.names)
        record, lane = self.layout.place(dict(zip(axes, grids, strict=True)))
        record, lane, values = (a.ravel() for a in np.broadcast_arrays(record, lane, values))
        return record, lane, values

    def _fix(self, table: Table) -> Ints:
        """Set the nodes of a further margin; the records that changed, each saved before."""
        record, lane, values = self._nodes(table)
        low, high = self.data[record, 0, lane], self.data[record, 1, lane]
        if ((values < low) | (values > high)).any():
            wrong = int(np.argmax((values < low) | (values > high)))
            raise InconsistentRelease(
                f"no table fits: {'*'.join(table.names)} has {values[wrong]:,} where what is "
                f"released before allows {low[wrong]:,} to {high[wrong]:,}."
            )
        new = (values != low) | (values != high)
        changed = np.unique(record[new])
        self._save(changed)
        self.data[record[new], 0, lane[new]] = values[new]
        self.data[record[new], 1, lane[new]] = values[new]
        return changed

    def _placed(self, ranges: Iterable[Known]) -> list[tuple[Any, Any, Any, Any]]:
        """Record, lane and ends of what is known of cells, by their variables."""
        groups: dict[tuple[str, ...], list[Known]] = {}
        for known in ranges:
            groups.setdefault(tuple(name for name, _ in known.cell), []).append(known)
        found = []
        for names, group in groups.items():
            axes = [self.variables[self.axes.place[name]] for name in names]
            codes = codes_of(axes, [known.cell for known in group])
            most = self.total + 1  # still above the total, so that it is refused
            ends = np.minimum([(known.lower, known.upper) for known in group], most)
            found.append((*self.places(names, codes), *ends.T.astype(self.data.dtype)))
        return found

    def _fix_known(self, data: NDArray[Any]) -> None:
        """What is known besides the margins; ends that cross are refused later."""
        for record, lane, lower, upper in self._ranges:
            np.maximum.at(data, (record, 0, lane), lower)
            np.minimum.at(data, (record, 1, lane), upper)
        for names, zeros in self._zeros:
            record, lane = self.places(names, zeros)
            data[record, 1, lane] = 0

    def _settle(self) -> int:
        """Tighten every sum until nothing changes; how many sweeps it took."""
        from discreet._kernels.shuttle import settle_all

        layout = self.layout
        near, far, inner = (
            (layout.steps(axes), layout.counts(axes))
            for axes in (layout.outer[layout.split :], layout.outer[: layout.split], layout.inner)
        )
        sweeps = settle_all(self.data, layout.chunk, near, far, inner, layout.size)
        if crossed_in(self.data, layout.size):
            raise InconsistentRelease(CONTRADICTION)
        return sweeps


def _zeros(records: int, kind: Any) -> NDArray[Any]:
    """Records that begin at a cache line: a vector then lies in one."""
    spare = LINE // np.dtype(kind).itemsize
    room = np.zeros(records * 2 * LANES + spare, kind)
    start = -(room.ctypes.data // room.itemsize) % spare
    return room[start : start + records * 2 * LANES].reshape(records, 2, LANES)


def crossed_in(data: NDArray[Any], size: int) -> bool:
    """Is some lower end above the upper one?"""
    from discreet._kernels.shuttle import crossed

    return bool(crossed(data, size) >= 0)


def bytes_needed(layout: Layout, total: int) -> int:
    """What the state takes: two ends a node, and a stamp and a mask a record."""
    return layout.records * (2 * LANES * (2 if 2 * total < 1 << 16 else 4) + 16)


def check_size(layout: Layout, total: int, most_bytes: int = MOST_BYTES) -> None:
    """Refuse before anything is allocated."""
    need = bytes_needed(layout, total)
    if total >= 1 << 31:
        raise DataError(f"the shuttle counts up to {1 << 31:,}, and the table has {total:,}.")
    if need > most_bytes:
        raise DataError(
            f"the shuttle would need {need / 2**30:,.1f} GiB for {layout.nodes:,} sums, more than "
            f"{most_bytes / 2**30:,.1f}; release margins that fall apart into smaller components, "
            "or ask for the bounds of a sparse table."
        )
