"""Random batches of tables by columns that lie in each other, as an office has them.

People or firms with Region, District and Town, with sizes and ages coded twice, with turnover that
is domestic and export; one to four tables of counts, weighted counts and sums; a policy. What is
public besides the tables is part of a batch: which district lies in which region, what a size class
means, that domestic and export add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

AGES, STAFF = range(18, 68), range(1, 61)
SECTORS = {"bakery": "Food", "dairy": "Food", "tools": "Metal", "cars": "Metal"}
FAMILIES = {
    "place": ("Region", "District", "Town"),
    "size": ("Size10", "Size11"),
    "age": ("Age5", "Age10", "Age"),
    "sector": ("Sector", "Group"),
    "sex": ("Sex",),
    "ill": ("Ill",),
}
FAMILY = {column: family for family, columns in FAMILIES.items() for column in columns}


@dataclass(frozen=True)
class Asked:
    """A table of the list: variables, what it adds up, and how its lines are shown."""

    name: str
    columns: tuple[str, ...]
    value: str | None = None
    weight: str | None = None
    holding: str | None = None
    where: Mapping[str, tuple[str, ...]] | None = None
    cuts: tuple[int, ...] = ()
    levels: int | None = None
    total: bool = True

    @property
    def measure(self) -> tuple[str | None, str | None]:
        return self.value, self.weight


@dataclass(frozen=True, eq=False)
class Batch:
    """A file, a list of tables, a policy, a mask, and what everybody knows.

    `roots` has for each family every value that one can have, and what each column says of it.
    """

    seed: int
    data: pd.DataFrame
    tables: tuple[Asked, ...]
    policy: Mapping[str, Any]
    within: Mapping[str, str]
    roles: Mapping[str, str]
    roots: Mapping[str, tuple[Mapping[str, str], ...]]
    mask: tuple[str, ...]
    weights_equal: float | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that some table shows or filters by."""
        found = (c for t in self.tables for c in (*t.columns, *(t.where or ())))
        return tuple(dict.fromkeys(found))

    @property
    def kind(self) -> str:
        """What is published: counts, sums, ..."""
        names = {
            "counts": any(t.value is None and t.weight is None for t in self.tables),
            "weighted counts": any(t.weight and not t.value for t in self.tables),
            "sums": any(t.value and not t.weight for t in self.tables),
            "weighted sums": any(t.value and t.weight for t in self.tables),
        }
        parts = len({t.value for t in self.tables if t.value}) > 1
        return "+".join(name for name, there in names.items() if there) + " that add up" * parts

    @cached_property
    def text(self) -> pd.DataFrame:
        """The data as text."""
        return self.data.astype(str)

    @cached_property
    def _held(self) -> dict[Any, np.ndarray]:
        return {}

    def people(self, cell: Mapping[str, frozenset[str]]) -> np.ndarray:
        """Who is in a cell: categories by column."""
        found = np.ones(len(self.data), bool)
        for pair in cell.items():
            if pair not in self._held:
                self._held[pair] = self.text[pair[0]].isin(pair[1]).to_numpy()
            found &= self._held[pair]
        return found

    def seen(self, column: str) -> list[str]:
        """The categories of a column that somebody has."""
        return sorted(set(self.text[column]))

    @property
    def cuts(self) -> tuple[int, ...]:
        """Of ages, by all tables together."""
        return tuple(sorted({c for table in self.tables for c in table.cuts}))

    def called(self, column: str, category: str) -> str:
        """Ages that no table tells apart have one name, that of one that somebody has."""
        if column != "Age":
            return category
        place = np.searchsorted(self.cuts, int(category), side="right")
        same = [a for a in self.seen("Age") if np.searchsorted(self.cuts, int(a), "right") == place]
        return same[0] if same else f"{place}"

    def lines(self, table: Asked, column: str) -> dict[str, frozenset[str]]:
        """Every line that the list asks for, and whom it holds."""
        seen = self.seen(column)
        found = {"Total": frozenset(seen)} if table.total else {}
        if column == "Age":
            return found | cut(seen, table.cuts)
        if column == "Sector":
            for group in sorted({SECTORS[one] for one in seen}):
                found[group] = frozenset(one for one in seen if SECTORS[one] == group)
            if table.levels == 1:
                return found
        return found | {one: frozenset([one]) for one in seen}

    def write(self, folder: Path) -> dict[str, str]:
        """The files of the batch."""
        folder.mkdir(parents=True, exist_ok=True)
        files = {name: str(folder / name) for name in ("data.csv", "book.toml", "tables.toml")}
        self.data.to_csv(files["data.csv"], index=False)
        Path(files["book.toml"]).write_text(self.codebook(), encoding="utf-8")
        Path(files["tables.toml"]).write_text("\n".join(map(listed, self.tables)), encoding="utf-8")
        return files

    def codebook(self) -> str:
        parts = []
        for column in FAMILY:
            lines = [f'role = "{self.roles[column]}"'] if column in self.roles else []
            if column in self.within:
                lines.append(f'within = "{self.within[column]}"')
            if column == "Sector":
                pairs = ", ".join(f'{a} = "{b}"' for a, b in SECTORS.items())
                lines.append(f"hierarchy = {{ {pairs} }}")
            if column == "Ill":
                lines.append('sensitive = ["yes"]')
            if column == "Age":
                lines.append('bands = "none"')
            if lines:
                parts.append("\n".join([f"[variables.{column}]", *lines]))
        return "\n\n".join(parts) + "\n"

    def settings(self) -> list[str]:
        return [
            word
            for key, value in self.policy.items()
            for word in ("--set", f"{key}={str(value).lower()}")
        ]


def cut(ages: list[str], cuts: tuple[int, ...]) -> dict[str, frozenset[str]]:
    """Ages in the classes of a list, with its labels."""
    edges = [-1, *cuts, 999]
    found = {}
    for low, high in pairwise(edges):
        text = f"{low} to under {high}"
        text = f"under {high}" if low == -1 else f"{low} and over" if high == 999 else text
        found[text] = frozenset(age for age in ages if low <= int(age) < high)
    return {text: held for text, held in found.items() if held}


def listed(table: Asked) -> str:
    """A table as `tables.toml` has it."""
    lines = ["[[tables]]", f'name = "{table.name}"', f'variables = "{"*".join(table.columns)}"']
    for key in ("value", "weight", "holding"):
        if getattr(table, key):
            lines.append(f'{key} = "{getattr(table, key)}"')
    if table.where:
        pairs = (f"{c} = [{', '.join(map(quoted, chosen))}]" for c, chosen in table.where.items())
        lines.append(f"where = {{ {', '.join(pairs)} }}")
    if table.cuts:
        lines.append(f"cuts = {{ Age = {list(table.cuts)} }}")
    if table.levels:
        lines.append(f"levels = {{ Sector = {table.levels} }}")
    if not table.total:
        lines.append("total = false")
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    return f'"{text}"'


# Drawing


def draw(seed: int) -> Batch:
    """The batch of a seed."""
    rng = np.random.default_rng([32, seed])
    kind = rng.choice(
        ["counts", "sums", "add up", "weighted", "weighted sums", "mixed"],
        p=[0.33, 0.3, 0.12, 0.09, 0.06, 0.1],
    )
    roots = _roots(rng)
    data = _records(rng, roots)
    weights = float(rng.choice([1.0, 2.5])) if rng.random() < 0.5 else None
    data["Weight"] = weights or rng.choice([1, 2, 3], len(data)).astype(float)
    policy = _policy(rng)
    return Batch(
        seed,
        data,
        _tables(rng, data, str(kind)),
        policy,
        _within(rng),
        _roles(rng),
        {family: tuple(values) for family, values in roots.items()},
        _mask(rng, str(kind)),
        weights,
    )


def _roots(rng: np.random.Generator) -> dict[str, list[dict[str, str]]]:
    towns, districts = int(rng.integers(3, 9)), int(rng.integers(2, 5))
    of_town = np.sort(
        np.r_[np.arange(districts) % towns, rng.integers(0, districts, towns)][:towns]
    )
    of_district = np.arange(districts) * 2 // districts
    if rng.random() < 0.3:  # the last region is one district
        of_district = (np.arange(districts) == districts - 1).astype(int)
    place = [
        {"Town": f"T{t}", "District": f"D{d}", "Region": f"R{of_district[d]}"}
        for t, d in enumerate(of_town.tolist())
    ]
    ten, eleven = ([5, 10, 50], [5, 11, 50]) if rng.random() < 0.5 else ([10], [11])
    five, tens = [30, 45, 60], [30 + int(s) for s in rng.integers(0, 3, 1)] + [45, 61]
    return {
        "place": place,
        "size": [{"Size10": _class(s, ten), "Size11": _class(s, eleven)} for s in STAFF],
        "age": [{"Age": str(a), "Age5": _class(a, five), "Age10": _class(a, tens)} for a in AGES],
        "sector": [{"Sector": sector, "Group": group} for sector, group in SECTORS.items()],
        "sex": [{"Sex": sex} for sex in ("f", "m")],
        "ill": [{"Ill": ill} for ill in ("no", "yes")],
    }


def _class(number: int, edges: list[int]) -> str:
    place = int(np.searchsorted(edges, number, side="right"))
    if place == 0:
        return f"under {edges[0]}"
    if place == len(edges):
        return f"{edges[-1]}+"
    return f"{edges[place - 1]}-{edges[place] - 1}"


def _records(rng: np.random.Generator, roots: Mapping[str, list[Any]]) -> pd.DataFrame:
    many = int(rng.choice([30, 80, 200, 500, 1200]))
    appeal = rng.dirichlet(np.full(len(roots["place"]), rng.choice([0.7, 2.0, 8.0])))
    place = rng.choice(len(appeal), many, p=appeal)
    staff = np.clip(rng.geometric(rng.choice([0.05, 0.1, 0.2]), many), 1, 60)
    staff = np.where(rng.random(many) < 0.05, 10, staff)
    age = np.clip(rng.normal(44, 11, many).round().astype(int), AGES[0], AGES[-1])
    if rng.random() < 0.4:  # few between the edges of one coding and those of the other
        staff, age = _fewer(rng, staff, {10: 12}), _fewer(rng, age, {30: 33, 31: 33, 60: 58})
    at = {
        "place": place,
        "size": staff - 1,
        "age": age - AGES[0],
        "sector": rng.choice(4, many, p=[0.4, 0.3, 0.2, 0.1]),
        "sex": rng.choice(2, many),
        "ill": (rng.random(many) < rng.choice([0.1, 0.4])).astype(int),
    }
    data = pd.DataFrame(
        {c: [roots[f][i][c] for i in at[f].tolist()] for f, cs in FAMILIES.items() for c in cs}
    )
    whole = rng.random() < 0.5
    turnover = staff * rng.lognormal(2.5, rng.choice([0.5, 1.2]), many)
    turnover = np.where(rng.random(many) < 0.08, 0.0, turnover)
    if rng.random() < 0.1:
        turnover = np.full(many, 40.0)
    share = np.where(rng.random(many) < 0.4, 0.0, rng.random(many))
    unit = 1 if whole else 10
    turnover = np.rint(turnover * unit)
    export = np.rint(turnover * share)
    data["Turnover"] = turnover / unit
    data["Domestic"], data["Export"] = (turnover - export) / unit, export / unit
    owner = np.where(rng.random(many) < 0.15, rng.integers(0, 4, many), -1)
    data["Owner"] = [f"H{o}" if o >= 0 else "" for o in owner]
    return data


def _fewer(rng: np.random.Generator, numbers: np.ndarray, moved: Mapping[int, int]) -> np.ndarray:
    """Nearly all of some numbers made others; one or two are left."""
    found = numbers.copy()
    for number, other in moved.items():
        rows = np.flatnonzero(numbers == number)
        found[rows[int(rng.integers(1, 3)) :]] = other
    return found


def _tables(rng: np.random.Generator, data: pd.DataFrame, kind: str) -> tuple[Asked, ...]:
    many = int(rng.integers(1, 5)) if kind in ("counts", "sums") else int(rng.integers(2, 5))
    families = list(rng.permutation([f for f in FAMILIES if f != "ill" or kind == "counts"]))
    chosen = ["place" if rng.random() < 0.6 else "size", *families][: int(rng.integers(2, 5))]
    chosen = list(dict.fromkeys(chosen))
    holding = "Owner" if rng.random() < 0.1 else None
    raw = rng.random() < 0.4  # ages cut in the list, or coded twice in the file
    found, seen = [], set()
    for number in range(many):
        wide = min(int(rng.choice([1, 2, 3], p=[0.25, 0.6, 0.15])), len(chosen))
        own = [chosen[0]] if rng.random() < 0.7 else []
        own += [f for f in rng.permutation(chosen).tolist() if f not in own]
        columns = tuple(_column(rng, family, raw) for family in own[:wide])
        if kind == "counts" or (kind == "mixed" and number % 2) or (kind == "weighted" and number):
            measure: dict[str, str | None] = {}
        elif kind == "weighted":
            measure = {"weight": "Weight"}
        elif kind == "add up":
            value = ("Turnover", "Domestic", "Export")[number % 3]
            measure = {"value": value, "holding": holding}
        elif kind == "weighted sums" and number % 2:
            measure = {"value": "Turnover", "weight": "Weight", "holding": holding}
        else:
            measure = {"value": "Turnover", "holding": holding}
        if kind in ("add up", "weighted", "weighted sums") and number and rng.random() < 0.7:
            columns = found[0].columns  # the same lines of another measure
        where = None
        rest = [f for f in FAMILIES if f not in {FAMILY[c] for c in columns} and f != "age"]
        if rng.random() < 0.12:
            by = _column(rng, str(rng.choice(rest)), False)
            labels = sorted(set(data[by]))
            where = {by: tuple(labels[: max(1, len(labels) // 2)])}
        cuts = ()
        if "Age" in columns:
            cuts = _cuts(rng, data["Age"].astype(int).to_numpy())
        one = Asked(
            str(number + 1), columns, where=where, cuts=cuts,
            levels=1 if "Sector" in columns and rng.random() < 0.2 else None,
            total=rng.random() > 0.08, **measure,
        )  # fmt: skip
        same = (columns, one.measure, cuts, str(where), one.levels)
        if same not in seen:
            seen.add(same)
            found.append(one)
    return tuple(found)


def _cuts(rng: np.random.Generator, ages: np.ndarray) -> tuple[int, ...]:
    """Two cuts or one, with somebody between them."""
    while True:
        cuts = sorted({int(c) for c in rng.choice([30, 31, 45, 60, 61], 2)})
        if (np.bincount(np.searchsorted(cuts, ages, "right"), minlength=len(cuts) + 1) > 0).all():
            return tuple(cuts)


def _column(rng: np.random.Generator, family: str, raw: bool) -> str:
    if family == "age":
        return "Age" if raw else str(rng.choice(["Age5", "Age10"]))
    return str(rng.choice(FAMILIES[family]))


def _policy(rng: np.random.Generator) -> dict[str, Any]:
    keys: dict[str, Any] = {
        "small.most": int(rng.choice([1, 2, 3], p=[0.3, 0.5, 0.2])),
        "small.width": int(rng.choice([1, 2, 3, 4], p=[0.2, 0.3, 0.35, 0.15])),
        "published.least": int(rng.choice([0, 2, 3, 5], p=[0.2, 0.2, 0.5, 0.1])),
        "attribute.check": bool(rng.random() < 0.6),
        "attribute.share": float(rng.choice([0.8, 0.95, 1.0])),
        "attribute.exclusion": bool(rng.random() < 0.4),
        "attribute.order": int(rng.integers(1, 5)),
        "contributors.least": int(rng.choice([0, 2, 3, 5], p=[0.15, 0.25, 0.45, 0.15])),
        "contributors.p": float(rng.choice([0, 5, 10, 20], p=[0.15, 0.2, 0.45, 0.2])),
        "contributors.alone": bool(rng.random() < 0.7),
    }
    if rng.random() < 0.4:
        keys["contributors.n"] = int(rng.choice([1, 2]))
        keys["contributors.k"] = float(rng.choice([70, 80, 90]))
    if rng.random() < 0.1:
        keys["contributors.q"] = 50.0
    if rng.random() < 0.1:
        keys["contributors.coalition"] = 2
    if not (keys["contributors.least"] > 1 or keys["contributors.p"] or "contributors.n" in keys):
        keys["contributors.p"] = 10.0
    if rng.random() < 0.1:  # an office that says nothing but this
        keys["published.least"] = int(rng.choice([5, 10]))
        del keys["small.most"]
    if rng.random() < 0.2:
        keys["bounds.proof"] = "linear"
    return keys


def _within(rng: np.random.Generator) -> dict[str, str]:
    way = rng.random()
    if way < 0.5:
        return {}
    return {"District": "Region", "Town": "District"} if way < 0.8 else {"Town": "Region"}


def _roles(rng: np.random.Generator) -> dict[str, str]:
    way = rng.random()
    if way < 0.1:
        return {}
    roles = {column: "identifying" for column in FAMILY if column != "Ill"} | {"Ill": "sensitive"}
    if rng.random() < 0.2:
        roles["Sex"] = "neither"
    return roles


def _mask(rng: np.random.Generator, kind: str) -> tuple[str, ...]:
    way = rng.random()
    if way < 0.08 and kind == "counts":
        return ("--method", "round", "--base", str(rng.choice([3, 5])))
    return ("--method", "merge") if 0.08 <= way < 0.13 else ()
