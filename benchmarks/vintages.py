"""Data sets of the same people at one server, over HTTP, and what all that is public tells.

Each site has some people and a custodian. Data set after data set is put behind the server, as
`discreet serve` does it, with a file, a codebook and a policy: the same people, of whom some came
and some went; with columns added, left out, renamed, replaced, split and merged, and categories
under other labels, written otherwise, split and merged. The custodian first says nothing, or says
`previous`; is asked; and answers truthfully, or not at all. Columns that were split or merged
cannot be stated: half of the custodians say it all the same and are refused, the others name one
of the old columns and call the rest ended. The public asks for tables in any order; the custodian
approves what only waits for approval, and rejects what is in doubt. In the end everything public
is read over HTTP and judged by `vintage_oracle`, which no part of the program helps.

    python benchmarks/vintages.py --first 0 --many 300 --pairs 100
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import itertools
import json
import tempfile
import time
import unicodedata
import warnings
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
import psycopg
from argon2 import PasswordHasher
from vintage_oracle import Column, Limits, Shown, cells, unsafe

from databases import postgres_server
from discreet.errors import DisclosureError, LedgerError
from discreet.server.app import create_app
from discreet.server.launch import DataSpec, build_services
from discreet.server.ledger.database import migrate, open_database
from discreet.server.people.accounts import Accounts
from discreet.server.services import Services
from discreet.server.settings import Settings

SECRET = "of these vintages, which nobody else has"
MANY = 10**6
SHAPES = ((3, 2, 2), (3, 2, 2), (4, 2, 2), (3, 3, 2))
NAMES = (("Town", "TOWN", "City"), ("Ill", "ill ", "Diagnosis"), ("Income", "INCOME", "Pay"))
LABELS = (("Ash", "Élm", "Oak", "Fir"), ("no", "yes", "unknown"), ("low", "high"))
OTHERS = (("1", "2", "3", "4"), ("N", "J", "?"), ("-", "+"))
RULES = ("myopic", "static", "simulatable")


# What a vintage shows


@dataclass
class View:
    """The columns of a vintage: of each the axes that it is made of, and its labels."""

    columns: dict[str, tuple[tuple[int, ...], Column]]

    def labelled(self) -> dict[str, Column]:
        return {name: column for name, (_, column) in self.columns.items()}


def draw_view(
    rng: np.random.Generator, shape: Sequence[int], roles: Sequence[str], disguise: str = ""
) -> View:
    """Two or three variables, each under one of several names and codings.

    With a `disguise`, names and labels that no other data set has.
    """
    kept = [[0, 1], [0, 2], [1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]][rng.integers(6)]
    parts: list[tuple[int, ...]] = [(axis,) for axis in kept]
    if kept == [0, 1, 2] and rng.random() < 0.15:
        parts = [(0,), (1, 2)]  # two columns in one
    named = [NAMES[axes[0]][rng.choice(3, p=[0.6, 0.15, 0.25])] for axes in parts]
    if disguise:
        named = [f"{disguise}{place}" for place in range(len(parts))]
    if rng.random() < 0.1:  # the names are those of other columns
        named = named[1:] + named[:1]
    places = list(np.ndindex(*shape))
    columns = {}
    for name, axes in zip(named, parts, strict=True):
        codings = [coding(rng, axis, shape[axis]) for axis in axes]
        if disguise:
            codings = [[f"{disguise} {label}" for label in own] for own in codings]
        labels = tuple(
            " ".join(own[place[axis]] for axis, own in zip(axes, codings, strict=True))
            for place in places
        )
        mine = {roles[axis] for axis in axes}
        columns[name] = (
            axes,
            Column(
                labels,
                identifies=mine != {"sensitive"},
                sensitive=bool(mine & {"sensitive", "both"}),
            ),
        )
    return View(columns)


def coding(rng: np.random.Generator, axis: int, size: int) -> list[str]:
    """Labels of the codes of a variable: as ever, written otherwise, others, or merged."""
    plain = list(LABELS[axis][:size])
    kind = rng.choice(4, p=[0.45, 0.15, 0.15, 0.25])
    if kind == 1:
        return [unicodedata.normalize("NFD", own).upper() for own in plain]
    if kind == 2:
        return list(OTHERS[axis][:size])
    if kind == 3 and size > 2:
        cut = int(rng.integers(1, size))
        first, second = plain[:cut], plain[cut:]
        return [" or ".join(first)] * cut + [" or ".join(second)] * (size - cut)
    return plain


def written(
    view: View, place: np.ndarray, folder: Path, previous: Mapping[str, Any] | None
) -> dict:
    """The file of a vintage and its codebook, as a data set is told of them."""
    columns = view.labelled()
    rows = Tally(tuple(column.labels[p] for column in columns.values()) for p in place)
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*columns, "n"])
        out.writerows([*labels, n] for labels, n in rows.items())
    text = []
    for name, column in columns.items():
        role = "both" if column.identifies and column.sensitive else None
        role = role or ("identifying" if column.identifies else "sensitive")
        text += [
            f"[variables.{toml(name)}]",
            f"role = {toml(role)}",
            f"categories = {toml(sorted({*column.labels}))}",
        ]
    if previous is not None:
        text += ["[previous]", *(f"{key} = {toml(value)}" for key, value in previous.items())]
    (folder / "codebook.toml").write_text("\n".join(text), encoding="utf-8")
    return {
        "data": str(folder / "data.csv"),
        "codebook": str(folder / "codebook.toml"),
        "count": "n",
        "totals": "keep",
    }


def toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml(k)} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def truth(newer: View, older: View, whole: bool) -> dict[str, Any]:
    """What a custodian states under [previous] who knows what each column was.

    Of a column that was several, the `whole` truth is a list of them; else one is named, and the
    others are said to be there no more.
    """
    variables, categories = {}, {}
    for name, (axes, column) in newer.columns.items():
        of = [(n, c) for n, (own, c) in older.columns.items() if {*own} & {*axes}]
        variables[name] = of[0][0] if of else ""
        if whole and len(of) > 1:
            variables[name] = [n for n, _ in of]
        if of:
            pairs = zip(column.labels, of[0][1].labels, strict=True)
            categories[name] = {}
            for own, other in sorted({*pairs}):
                categories[name].setdefault(own, []).append(other)
    named = {one for own in variables.values() for one in ([own] if isinstance(own, str) else own)}
    ended = [name for name in older.columns if name not in named]
    return {"variables": variables, "ended": ended, "categories": categories}


# A site


@dataclass
class Served:
    """A data set that was opened, and which of the people are in it."""

    slug: str
    view: View
    limits: Limits
    policy: dict[str, Any]
    number: int  # of its column in `Site.presence`
    out: list[tuple[str, ...]] = field(default_factory=list)


class Site:
    """Some people, a custodian and a server."""

    def __init__(self, seed: int, url: str, folder: Path) -> None:
        self.seed, self.url, self.folder = seed, url, folder
        self.rng = rng = np.random.default_rng([33, seed])
        self.tally: Tally[str] = Tally()
        self.unsafe: list[str] = []
        self.specs: list[DataSpec] = []
        self.served: list[Served] = []
        self.shape = SHAPES[rng.integers(len(SHAPES))]
        self.roles = ["identifying", "identifying", "identifying"]
        if attribute := rng.random() < 0.5:
            self.roles[1] = str(rng.choice(["sensitive", "both"]))
        fine = int(np.prod(self.shape))
        sizes = [(6, 16), (30, 80), (30, 80), (30, 80), (200, 1500), (200, 1500)]
        people = int(rng.integers(*sizes[rng.integers(len(sizes))]))
        self.shares = rng.dirichlet(np.full(fine, rng.choice([0.5, 1.0, 2.0, 4.0])))
        self.place = rng.choice(fine, people, p=self.shares)
        self.presence = np.ones((people, 1), bool)
        self.disguised = rng.random() < 0.25
        self.direction = rng.choice(["come", "go", "both"], p=[0.35, 0.3, 0.35])
        self.rule = RULES[rng.choice(3, p=[0.45, 0.35, 0.2])]
        self.policy = {
            "small.most": int(rng.choice([1, 2])),
            "small.width": int(rng.choice([1, 1, 2, 2, 3])),
            "attribute.check": bool(attribute),
            "attribute.share": float(rng.choice([0.8, 0.95, 1.0])),
            "attribute.exclusion": bool(rng.random() < 0.5),
            "attribute.order": int(rng.choice([1, 2, 4])),
            "published.least": int(rng.choice([0, 0, 0, 3])),
            "server.one_way": bool(rng.random() < 0.4),
            "server.approval": str(rng.choice(["never", "review", "always"])),
            "server.draws": 60,
            "server.slot": 0.0,
        }

    # The server

    def run(self, runner: asyncio.Runner) -> None:
        migrate(self.url)
        database = open_database(self.url)
        quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        accounts = Accounts(database, hasher=quick)
        custodian = accounts.create("ann", "custodian", "a long enough one 4 tests").id
        self.key = accounts.make_key(custodian, "desk")
        database.close()
        for number in range(int(self.rng.integers(2, 4))):
            if number:
                self.move()
            services = self.put(number)
            if services is None:
                continue
            try:
                self.app = create_app(services.settings, services, quiet=True)
                runner.run(self.visit())
            finally:
                services.close()
                services.database.close()
        if self.served:
            self.judge()

    def move(self) -> None:
        """Some come, some go."""
        rng, now = self.rng, self.presence[:, -1].copy()
        many = int(rng.choice([0, 0, 1, 1, 2, 5, now.sum() // 3]))
        if self.disguised and rng.random() < 0.5:
            many = int(rng.uniform(0.1, 0.45) * now.sum())
        some = int(rng.integers(many + 1)) if self.direction == "both" else many
        if self.direction != "come":
            now[rng.permutation(np.flatnonzero(now))[:some]] = False
        come = many - some if self.direction == "both" else many * (self.direction == "come")
        new = rng.choice(len(self.shares), come, p=self.shares)
        self.place = np.concatenate([self.place, new])
        before = np.vstack([self.presence, np.zeros((come, self.presence.shape[1]), bool)])
        self.presence = np.column_stack([before, np.concatenate([now, np.ones(come, bool)])])

    def put(self, number: int) -> Services | None:
        """Open a data set of the people of now; the server, or None if it was not opened."""
        rng = self.rng
        slug = f"v{number}"
        view = draw_view(rng, self.shape, self.roles, "xyz"[number] if self.disguised else "")
        folder = self.folder / slug
        folder.mkdir(parents=True)
        rule = self.rule if not self.served or rng.random() < 0.5 else RULES[rng.choice(2)]
        policy = {**self.policy, "server.rule": rule}
        names = list(view.columns)
        margins = [m for m in subsets(names) if len(m) < len(names) or rng.random() < 0.2]
        chosen = rng.choice(len(margins), min(len(margins), int(rng.integers(1, 3))), replace=False)
        frontier = None
        if rule == "static" and rng.random() < 0.85:  # else searched for
            frontier = " + ".join(
                "*".join(f"`{n}`" if " " in n or not n.isalnum() else n for n in margins[m])
                for m in chosen
            )
        older = self.served[rng.integers(len(self.served))] if self.served else None
        if older is not None and rng.random() < 0.7:
            older = self.served[-1]
        said = None if older is None else truth(view, older.view, bool(rng.random() < 0.5))
        answers = older is None or rng.random() < 0.8
        place = self.place[self.presence[:, -1]]
        # what the custodian says: nothing, then `previous`, then what became of names
        steps: list[tuple[str | None, Mapping[str, Any] | None]] = [(None, None)]
        if older is not None:
            steps = [(None, None), (older.slug, None), (older.slug, said)]
            steps = steps[rng.choice(3, p=[0.5, 0.2, 0.3]) :]
        tried = set()
        while steps:
            previous, stated = steps.pop(0)
            key = json.dumps([previous, stated, policy, frontier])
            if key in tried:
                continue
            tried.add(key)
            spec = DataSpec(
                slug,
                previous=previous,
                frontier=frontier,
                set=tuple(f"{k}={toml(v)}" for k, v in policy.items()),
                **written(view, place, folder, stated),
            )
            try:
                services = started(self.url, [*self.specs, spec])
            except DisclosureError as error:
                asked = self.sort(error)
                if asked == "asked about" and not answers:
                    self.tally["not answered"] += 1
                    return None
                if asked == "asked about":
                    continue
                if asked.startswith("columns"):
                    return None
                if "use the static rule" in str(error) and rng.random() < 0.7:
                    policy = {**policy, "server.rule": "myopic"}
                    steps = [(previous, stated)]
                elif policy["server.one_way"] and policy["server.rule"] != "static":
                    policy = {**policy, "server.one_way": False}
                    steps = [(previous, stated)]
                elif policy["server.rule"] == "static" and frontier and "+" in frontier:
                    frontier = frontier.partition(" + ")[0]
                    steps = [(previous, stated)]
                else:
                    return None
                continue
            self.specs.append(spec)
            if older is not None and previous is None:
                self.tally["not recognised"] += 1
            elif older is not None and stated is None:
                self.tally["related by names alone"] += 1
            keys = ("most", "width"), ("check", "share", "exclusion", "order")
            values = [policy[f"small.{k}"] for k in keys[0]]
            values += [policy[f"attribute.{k}"] for k in keys[1]]
            self.served.append(
                Served(slug, view, Limits(*values), policy, self.presence.shape[1] - 1)
            )
            self.tally["opened"] += 1
            return services
        return None

    def sort(self, error: DisclosureError) -> str:
        text = str(error)
        if "--previous" in text or "--apart" in text or "it is not said" in text:
            what = "asked about"
        elif "What was several variables" in text or "can become one only" in text:
            what = "columns split or merged: not opened"
        elif isinstance(error, LedgerError):
            what = f"refused: {text[:60]}"
        else:
            what = "held back at opening"
        self.tally[what] += 1
        return what

    # Visitors

    def client(self, key: str | None = None) -> httpx.AsyncClient:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app, client=("127.0.0.1", 1)),
            base_url="http://test", headers=headers,
        )  # fmt: skip

    async def visit(self) -> None:
        """The public asks, the custodian answers; then everything public is read."""
        rng, newest = self.rng, self.served[-1]
        async with self.client() as public, self.client(self.key) as custodian:
            wanted = [(newest, m) for m in subsets(list(newest.view.columns))]
            wanted = [wanted[i] for i in rng.permutation(len(wanted))]
            if rng.random() < 0.3:
                wanted = wanted[: int(rng.integers(len(wanted)))]
            for other in self.served[:-1]:
                margins = subsets(list(other.view.columns))
                wanted.append((other, margins[rng.integers(len(margins))]))
            for one, margin in wanted:
                await self.ask(public, custodian, one, margin)
            for one in self.served:
                await self.read(public, one)

    async def ask(self, public, custodian, one: Served, margin) -> None:
        at = f"/api/v1/datasets/{one.slug}"
        answer = await public.post(f"{at}/requests", json={"variables": list(margin)})
        assert answer.status_code in (200, 202), answer.text
        said = answer.json()
        outcome = said["outcome"]
        if outcome == "pending":
            verb = "approve" if said["why"] == "approval" else "reject"
            number = said["ticket"].rpartition("/")[2]
            answer = await custodian.post(
                f"{at}/pending/{number}/{verb}", json={"note": "as it says"}
            )
            outcome = f"waited, {verb}" if answer.status_code == 200 else "waited, no more"
        closed = one is not self.served[-1]
        self.tally[f"{'older: ' if closed else ''}{outcome}"] += 1

    async def read(self, public, one: Served) -> None:
        at = f"/api/v1/datasets/{one.slug}"
        out = (await public.get(f"{at}/frontier")).json()["margins"]
        one.out = [tuple(each["margin"]) for each in out if each["margin"]]
        columns = one.view.labelled()
        place = self.place[self.presence[:, one.number]]
        counts = np.bincount(place, minlength=len(self.shares))
        for margin in one.out:
            address = "*".join(quote(name, safe="") for name in margin)
            got = await public.get(f"{at}/tables/{address}")
            assert got.status_code == 200, got.text
            found = got.json()
            labels = [each["categories"] for each in found["variables"]]
            shown = dict(zip(itertools.product(*labels), found["values"], strict=True))
            truth_ = {}
            for own in cells(columns, margin):
                at_ = int(np.argmax(own)) if own.any() else None
                if at_ is not None:
                    truth_[tuple(columns[n].labels[at_] for n in margin)] = int(counts @ own)
            assert {k: v for k, v in shown.items() if v} == {
                k: v for k, v in truth_.items() if v
            }, (self.seed, one.slug, margin, shown, truth_)
            least = one.policy["published.least"]
            if any(0 < n < least for n in found["values"]):
                self.unsafe.append(f"{one.slug}: a published cell below {least}")

    def judge(self) -> None:
        shown = [one for one in self.served if one.out]
        if not shown:
            return
        presence = self.presence[:, [one.number for one in shown]]
        found, looked = unsafe(
            [Shown(one.view.labelled(), one.limits, one.out) for one in shown], presence, self.place
        )
        self.tally["looked at"] += looked
        self.tally[f"judged: {len(shown)} together"] += 1
        self.unsafe += found


def subsets(names: Sequence[str]) -> list[tuple[str, ...]]:
    return [m for n in range(1, len(names) + 1) for m in itertools.combinations(names, n)]


@dataclass
class Held:
    """What happened, by database and rule of the first data set, and what is unsafe."""

    tallies: dict[str, Tally[str]] = field(default_factory=dict)
    unsafe: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        found = []
        for name, tally in sorted(self.tallies.items()):
            found += [name, *(f"  {what}: {number}" for what, number in sorted(tally.items()))]
        return found + (self.unsafe or ["nothing unsafe"])


def held(seeds: Iterable[int], postgres: str, tell: Callable[[str], object] | None = None) -> Held:
    """All of these sites, in turns on SQLite and on PostgreSQL."""
    found = Held()
    with asyncio.Runner() as runner, quiet(), tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            url = emptied(postgres) if seed % 2 else f"sqlite:///{folder}/{seed}.db"
            site = Site(seed, url, Path(folder) / str(seed))
            begun = time.process_time()
            site.run(runner)
            name = f"{url.partition(':')[0]}, {site.rule}"
            site.tally["sites"] += 1
            found.tallies.setdefault(name, Tally()).update(site.tally)
            found.unsafe += [f"{seed} ({name}): {one}" for one in site.unsafe]
            if tell:
                spent = time.process_time() - begun
                tell(f"{seed} {name} {spent:.1f} s {dict(site.tally)} {site.unsafe}")
    return found


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def emptied(url: str) -> str:
    """A PostgreSQL database without anything in it."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return url


# Other people


POOL = {
    "Sex": ("f", "m"), "Age": ("<30", "30-59", "60+"), "Region": ("N", "S", "W"),
    "Income": ("low", "middle", "high"), "Ill": ("no", "yes"), "Tenure": ("owner", "tenant"),
    "Sector": ("food", "tools", "cars", "care"), "Size": ("0-9", "10-49", "50+"),
    "Legal": ("sole", "limited", "other"), "Crop": ("wheat", "rye", "none"),
}  # fmt: skip


def harmless(pairs: int, postgres: str) -> Tally[str]:
    """Two data sets of other people, with three variables each of a pool of ten."""
    tally: Tally[str] = Tally()
    with quiet(), tempfile.TemporaryDirectory() as folder:
        for seed in range(pairs):
            rng = np.random.default_rng([7, seed])
            url = emptied(postgres) if seed % 2 else f"sqlite:///{folder}/{seed}.db"
            migrate(url)
            specs: list[DataSpec] = []
            for number in range(2):
                names = sorted(rng.choice([*POOL], 3, replace=False))
                cells = list(itertools.product(*(POOL[name] for name in names)))
                people = int(10 ** rng.uniform(2, 5))
                counts = rng.multinomial(people, rng.dirichlet(np.full(len(cells), 2.0)))
                path = Path(folder) / f"{seed}-{number}.csv"
                with path.open("w", newline="") as file:
                    out = csv.writer(file)
                    out.writerow([*names, "n"])
                    out.writerows([*c, n] for c, n in zip(cells, counts.tolist(), strict=True))
                rules = ("server.rule=myopic", "server.one_way=false")
                spec = DataSpec(
                    f"d{number}", str(path), count="n", set=rules, totals="keep",
                )  # fmt: skip
                try:
                    services = started(url, [*specs, spec])
                except LedgerError as error:
                    shared = [name for name in names if specs and name in specs[0].title]
                    tally[
                        "held back, a variable in common" if shared else f"held back: {error}"
                    ] += 1
                    services = started(url, [*specs, replace(spec, apart=True)])
                else:
                    tally["opened" if number else "first"] += 1
                specs.append(replace(spec, title=" ".join(names)))
                services.close()
                services.database.close()
    return tally


def started(url: str, specs: Sequence[DataSpec]) -> Services:
    """A server as `discreet serve` starts it, but for the listening."""
    settings = Settings(
        database=url, secret=SECRET, cookies_over_http=True, address="http://test",
        requests_per_minute=MANY, decisions_per_minute=MANY,
    )  # fmt: skip
    return build_services(settings, specs)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--many", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=100)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.many)
    with postgres_server() as postgres:
        found = held(seeds, postgres, lambda text: print(text, flush=True))
        print(*found.lines(), sep="\n", flush=True)
        print("other people:", dict(harmless(given.pairs, postgres)))


if __name__ == "__main__":
    _main()
