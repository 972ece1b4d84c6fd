"""Data sets of the same people at one server, and what is public of them, by enumeration.

Every population has variables A (three fine categories), B and C. A vintage shows some of them,
with people come and gone, with columns and categories under other names, merged or split; its
codebook says so. Judged is what a person knows who knows who came and who went: the margins of all
vintages, of those who stayed. Those tables are listed one by one.

    python benchmarks/vintages.py --first 0 --many 300
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections import Counter as Tally
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from discreet.data.previous import Previous
from discreet.data.variable import Role, Variable
from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError, LedgerError
from discreet.server.deciding.counter import Counter
from discreet.server.ledger import store
from discreet.server.ledger.database import migrate, open_database
from discreet.server.ledger.schema import Publication
from discreet.table.table import Table

SHAPE = (3, 2, 2)
SECRET = b"of these vintages, which nobody else has"
MOST = 200_000  # tables that are listed


@dataclass
class View:
    """What a vintage shows: of each of its columns the variable, and the label of each code."""

    columns: dict[str, tuple[int, tuple[str, ...]]]

    def table(self, people: np.ndarray) -> Table:
        """Counts of fine cells as a table of its labels."""
        places = [axis for axis, _ in self.columns.values()]
        shown = people.sum(tuple(a for a in range(3) if a not in places))
        shown = shown.transpose([sorted(places).index(p) for p in places])
        variables = [
            Variable(name, tuple(dict.fromkeys(labels)), Role.IDENTIFYING)
            for name, (_, labels) in self.columns.items()
        ]
        cells: Tally[tuple[int, ...]] = Tally()
        for code in np.ndindex(shown.shape):
            own = tuple(
                variable.code(labels[c])
                for variable, (_, labels), c in zip(
                    variables, self.columns.values(), code, strict=True
                )
            )
            cells[own] += int(shown[code])
        codes = np.array([c for c, n in cells.items() if n] or np.zeros((0, len(places)), int))
        counts = np.array([n for n in cells.values() if n], np.int64)
        return Table.from_cells(variables, codes.astype(np.uint32), counts)

    def sums(self, names) -> np.ndarray:
        """The rows of a margin over the fine cells."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for cell, code in enumerate(np.ndindex(SHAPE)):
            key = tuple(self.columns[n][1][code[self.columns[n][0]]] for n in names)
            groups.setdefault(key, []).append(cell)
        rows = np.zeros((len(groups), int(np.prod(SHAPE))), int)
        for row, cells in enumerate(groups.values()):
            rows[row, cells] = 1
        return rows


def said(newer: View, older: View) -> dict:
    """What a codebook states, and nothing that names tell."""
    there = {axis: (name, labels) for name, (axis, labels) in older.columns.items()}
    variables, categories, ended_categories = {}, {}, {}
    for name, (axis, labels) in newer.columns.items():
        if axis not in there:
            variables[name] = ""
            continue
        other, others = there[axis]
        variables[name] = other
        pairs = {own: sorted({o for n, o in zip(labels, others, strict=True) if n == own})
                 for own in labels}  # fmt: skip
        categories[name] = pairs
    here = {axis for axis, _ in newer.columns.values()}
    ended = [name for name, (axis, _) in older.columns.items() if axis not in here]
    return {
        "variables": variables, "categories": categories, "ended": ended,
        "ended_categories": ended_categories,
    }  # fmt: skip


def draw_view(rng) -> View:
    """Two or three variables, each under one of several names and codings."""
    kept = [[0, 1], [0, 2], [1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]][rng.integers(6)]
    codings = {
        0: [("a0", "a1", "a2"), ("A0", "a1", "A2"), ("a0", "a12", "a12"), ("a01", "a01", "a2"),
            ("x", "y", "z")],
        1: [("b0", "b1"), ("B0", "b1"), ("no", "yes")],
        2: [("c0", "c1"), ("c0", "c1"), ("low", "high")],
    }  # fmt: skip
    names = {0: ["A", "A", "a", "Town"], 1: ["B", "B", "Ill"], 2: ["C", "C", "Income"]}
    return View(
        {
            names[axis][rng.integers(len(names[axis]))]: (
                axis,
                codings[axis][rng.integers(len(codings[axis]))],
            )
            for axis in kept
        }
    )


@dataclass
class Site:
    """One population behind a server."""

    seed: int
    tally: Tally = field(default_factory=Tally)
    unsafe: list[str] = field(default_factory=list)

    def run(self, url: str) -> None:
        rng = np.random.default_rng(self.seed)
        people = rng.multinomial(
            rng.integers(6, 16), rng.dirichlet(np.full(12, rng.choice([0.5, 2.0])))
        ).reshape(SHAPE)
        width, most = int(rng.choice([1, 2, 2, 3])), int(rng.choice([1, 2]))
        rule = str(rng.choice(["myopic", "myopic", "static"]))
        policy = Policy.of(
            {
                "small.width": width, "small.most": most, "attribute.check": False,
                "published.least": 0, "bounds.proof": "integer", "server.rule": rule,
                "server.one_way": bool(rng.random() < 0.3), "server.approval": "never",
                "server.slot": 0.0,
            }
        )  # fmt: skip
        migrate(url)
        database = open_database(url)
        counter = Counter(database, SECRET)
        step = int(rng.choice([1, 1, -1]))
        vintages: list[tuple[str, View, np.ndarray]] = []
        for number in range(int(rng.integers(2, 4))):
            view, slug = draw_view(rng), f"v{number}"
            if number:
                people = self.changed(people, rng, step)
            if self.open(counter, slug, view, people, policy, vintages, rng):
                vintages.append((slug, view, people))
                self.ask(counter, slug, view, rng)
                self.judge(database, vintages, width, most)
        database.close()

    def changed(self, people, rng, step):
        """Some came, or some went: who went while another came to a cell is seen by nobody."""
        people = people.copy()
        for _ in range(int(rng.choice([0, 0, 1, 1, 2, 5]))):
            cell = tuple(rng.integers(n) for n in SHAPE)
            people[cell] = max(0, people[cell] + step)
        return people

    def open(self, counter, slug, view, people, policy, vintages, rng) -> bool:
        table = view.table(people)
        frontier = [list(m) for m in self.margins(view)[: 1 + rng.integers(2)]]
        given = {"frontier": frontier} if policy.server.rule == "static" else {}
        if not vintages:
            return self.opened(counter, table, policy, slug, **given)
        older = vintages[-1]
        if rng.random() < 0.3:  # nobody says whose people they are
            if self.opened(counter, table, policy, slug, **given):
                self.unsafe.append(f"{slug} was opened beside {older[0]} without a question")
            self.tally["asked about"] += 1
            return False
        previous = {"previous": older[0], **given}
        if rng.random() < 0.3 and self.opened(counter, table, policy, slug, **previous):
            self.tally["related by names alone"] += 1
            return True
        names = Previous.of(said(view, older[1]))
        return self.opened(counter, table, policy, slug, older_names=names, **previous)

    def opened(self, counter, table, policy, slug, **more) -> bool:
        try:
            counter.open(table, policy, slug=slug, **more)
        except LedgerError as error:
            self.tally["question" if "not said" in str(error) or "--apart" in str(error)
                       else "refused by the ledger"] += 1  # fmt: skip
            return False
        except DisclosureError:
            self.tally["held back at opening"] += 1
            return False
        self.tally["opened"] += 1
        return True

    def margins(self, view):
        names = list(view.columns)
        return [m for n in range(1, len(names) + 1) for m in itertools.combinations(names, n)]

    def ask(self, counter, slug, view, rng) -> None:
        margins = self.margins(view)
        for place in rng.permutation(len(margins)):
            decided = counter.request(slug, list(margins[place]))
            self.tally[str(decided.outcome)] += 1

    def judge(self, database, vintages, width, most) -> None:
        """Of every two vintages and of all: is a small count of who stayed known too well?

        Not by what the older ones had published before the newest was there.
        """
        with database.read() as session:
            out = {
                slug: [
                    p.margin
                    for p in session.query(Publication).filter(
                        Publication.dataset_id == store.find_dataset(session, slug).id
                    )
                ]
                for slug, _, _ in vintages
            }
        groups = [list(pair) for pair in itertools.combinations(vintages, 2)]
        groups += [[one] for one in vintages] + ([vintages] if len(vintages) > 2 else [])
        for group in groups:
            if not all(out[slug] for slug, *_ in group):
                continue
            stayed = np.minimum.reduce([people for *_, people in group])
            sums = [[v.sums(m) for m in out[slug]] for slug, v, _ in group]
            rows, before = (
                np.vstack([row for each in some for row in each] or [np.zeros((0, 12), int)])
                for some in (sums, sums[:-1])
            )
            if not stayed.sum():
                continue
            for _, view, _ in group:
                spoken = {a for slug, v, _ in group for m in out[slug] for a in
                          (v.columns[n][0] for n in m)}  # fmt: skip
                if len(group) > 1 and not spoken <= {a for a, _ in view.columns.values()}:
                    continue
                cells = view.sums(list(view.columns))
                found = self.narrow(rows, cells, stayed.ravel(), width, most)
                if found is None:
                    self.tally["not listed"] += 1
                elif found and self.narrow(before, cells, stayed.ravel(), width, most):
                    self.tally["known before"] += 1
                elif found:
                    names = ", ".join(slug for slug, *_ in group)
                    self.unsafe.append(f"{names}: {found}")
                else:
                    self.tally["checked"] += 1

    def narrow(self, rows, cells, stayed, width, most) -> str | None:
        """A small cell that varies less than it must over all tables that fit; None: too many."""
        true = cells @ stayed
        small = np.flatnonzero((true >= 1) & (true <= most))
        if not len(small):
            return ""
        tables = fitting(rows, stayed)
        if tables is None:
            return None
        sums = tables @ cells[small].T
        spread = np.ptp(sums, axis=0)
        at = int(np.argmin(spread))
        if spread[at] >= width:
            return ""
        return f"a count of {true[small[at]]} is within {sums[:, at].min()} to {sums[:, at].max()}"


def fitting(rows: np.ndarray, true: np.ndarray) -> np.ndarray | None:
    """All tables of whole numbers with the same sums, cell by cell."""
    left = (rows @ true)[None]
    found = np.zeros((1, 0), int)
    for cell in range(rows.shape[1]):
        own = np.flatnonzero(rows[:, cell])
        if not len(own):  # nothing speaks of it: alike whatever it is
            found = np.column_stack([found, np.full(len(found), true[cell])])
            continue
        most = left[:, own].min(1)
        source = np.repeat(np.arange(len(left)), most + 1)
        value = np.arange(len(source)) - np.repeat(np.cumsum(most + 1) - most - 1, most + 1)
        left = left[source]
        left[:, own] -= value[:, None]
        found = np.column_stack([found[source], value])
        ended = [r for r in own if not rows[r, cell + 1 :].any()]
        kept = (left[:, ended] == 0).all(1)
        left, found = left[kept], found[kept]
        if len(found) > MOST:
            return None
    return found


def held(first: int, many: int) -> tuple[Tally, list[str]]:
    tally: Tally = Tally()
    unsafe = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + many):
            site = Site(seed)
            site.run(f"sqlite:///{Path(folder) / str(seed)}.db")
            tally.update(site.tally)
            unsafe += [f"{seed}: {one}" for one in site.unsafe]
    return tally, unsafe


POOL = {
    "Sex": ("f", "m"), "Age": ("<30", "30-59", "60+"), "Region": ("N", "S", "W"),
    "Income": ("low", "middle", "high"), "Ill": ("no", "yes"), "Tenure": ("owner", "tenant"),
    "Sector": ("food", "tools", "cars", "care"), "Size": ("0-9", "10-49", "50+"),
    "Legal": ("sole", "limited", "other"), "Crop": ("wheat", "rye", "none"),
}  # fmt: skip


def harmless(many: int = 100) -> Tally:
    """Two data sets of other people, with three variables each of a pool of ten."""
    tally: Tally = Tally()
    policy = Policy.of({"server.one_way": False, "server.rule": "myopic"})
    for seed in range(many):
        rng = np.random.default_rng([7, seed])
        with tempfile.TemporaryDirectory() as folder:
            migrate(url := f"sqlite:///{folder}/pair.db")
            database = open_database(url)
            counter = Counter(database, SECRET)
            chosen = [sorted(rng.choice([*POOL], 3, replace=False)) for _ in range(2)]
            for number, names in enumerate(chosen):
                shape = [len(POOL[name]) for name in names]
                shares = rng.dirichlet(np.full(int(np.prod(shape)), 2.0))
                people = rng.multinomial(int(10 ** rng.uniform(2, 5)), shares).reshape(shape)
                table = Table.of(people, **{name: POOL[name] for name in names})
                try:
                    counter.open(table, policy, slug=f"d{number}")
                    tally["opened" if number else "first"] += 1
                except LedgerError:
                    same = {*chosen[0]} & {*chosen[1]}
                    tally[f"asked about: {'a variable in common' if same else 'alike'}"] += 1
            database.close()
    return tally


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--many", type=int, default=300)
    given = parser.parse_args()
    tally, unsafe = held(given.first, given.many)
    print(*(f"{what}: {number}" for what, number in sorted(tally.items())), sep="\n")
    print(*(unsafe or ["nothing unsafe"]), sep="\n")
    print("other people:", dict(harmless()))


if __name__ == "__main__":
    _main()
