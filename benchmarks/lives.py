"""The life of a table server that is killed and suffers, and an oracle that reads its ledger anew.

Three analysts ask, two custodians approve, reject, withdraw, change the terms and accept codebooks;
vintages are opened and the codebook changes on the way. Whatever a client was told is noted, and
compared with the ledger and with what is told later.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from itertools import combinations
from pathlib import Path

import httpx
import numpy as np
from served import QUIET, write_specs

from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.server.ledger import store
from discreet.server.ledger.chain import verify_all
from discreet.server.ledger.database import migrate, open_database
from discreet.server.people.accounts import Accounts
from discreet.table.table import Table

QUOTA = 4
RULES = {
    "server.rule": "myopic",
    "server.slot": 0.0,
    "server.quota": QUOTA,
    "server.one_way": False,
    "bounds.proof": "outer",
    "attribute.check": False,
    "published.least": 0,
}
DESK = "works"  # where custodians decide on everything
READY = 60  # seconds
ANALYSTS, CUSTODIANS = ("ann", "ben", "cem"), ("maria", "otto")
TOLD_LATER = {200, 202, 404, 410, 422, 429, 503}  # what a client may get at any moment


class Starter:
    """Starts commands as forks of one process that has imported everything."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("forked.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout.readline() == "ready\n"

    def start(self, words, env, log, orders=None):
        """The number of the process, and of its group."""
        Path(f"{log}.code").unlink(missing_ok=True)
        said = {"words": [*map(str, words)], "env": env, "log": str(log)}
        said["orders"] = None if orders is None else str(orders)
        self.process.stdin.write(json.dumps(said) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(10)


def computed(pid):
    """Seconds."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def is_alive(pid):
    return Path(f"/proc/{pid}").exists()


def wait_until(holds, seconds=READY, said=lambda: ""):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, said()
        time.sleep(0.01)


def margins_of(names):
    return [list(m) for n in range(1, len(names) + 1) for m in combinations(names, n)]


class Life:
    """A database, the data and codebooks behind it, a server in processes of its own."""

    def __init__(self, starter, folder, url, seed, workers=1):
        self.starter, self.folder, self.url, self.workers = starter, Path(folder), url, workers
        self.folder.mkdir(exist_ok=True)
        self.chance, rng = random.Random(seed), np.random.default_rng(seed)
        people = rng.multinomial(4_000, rng.dirichlet(np.full(64, 0.8))).reshape((2,) * 6)
        works = rng.multinomial(900, rng.dirichlet(np.full(32, 0.8))).reshape((2,) * 5)
        self.tables = {DESK: named(works, "KLMNO")}
        for vintage in range(1, 4):
            self.tables[f"people-{vintage}"] = named(people, "ABCDEF")
            people = people + rng.poisson(4, people.shape)
        for slug, table in self.tables.items():
            table.write(self.folder / f"{slug}.csv")
        self.rules = RULES | {"server.approvers": workers}  # two where there are two workers
        self.vintages, self.book = 1, "first"
        self.changed = {}  # data set: the last entry before its codebook changed
        self.log, self.orders = self.folder / "log", self.folder / "orders"
        self.order()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.at, self.pid = f"http://127.0.0.1:{self.port}", None
        self.spent = 0.0  # seconds that servers computed
        migrate(url)
        with closing(open_database(url)) as database:
            accounts = Accounts(database)
            roles = dict.fromkeys(ANALYSTS, "analyst") | dict.fromkeys(CUSTODIANS, "custodian")
            ids = {name: accounts.create(name, role).id for name, role in roles.items()}
            self.keys = {name: accounts.make_key(id_, "life") for name, id_ in ids.items()}
            self.actors = {name: str(id_) for name, id_ in ids.items()}

    # The processes

    def order(self, back=0.0, read_only=False):
        """What the server has to suffer from now on."""
        new = self.orders.with_suffix(".new")
        new.write_text(json.dumps({"back": back, "read_only": read_only}))
        new.replace(self.orders)

    @property
    def slugs(self):
        return [DESK, *(f"people-{n}" for n in range(1, self.vintages + 1))]

    @property
    def newest(self):
        return f"people-{self.vintages}"

    def words(self):
        """DATA and its options."""
        role = "identifying" if self.book == "first" else "both"
        set_ = [f"{key}={json.dumps(value)}" for key, value in self.rules.items()]
        specs = []
        for slug in self.slugs:
            (self.folder / f"{slug}.toml").write_text(
                f'[variables.{self.tables[slug].names[1]}]\nrole = "{role}"\n'
            )
            older = {} if slug < "people-2" or slug == DESK else {"previous": before(slug)}
            own = {"data": f"{self.folder}/{slug}.csv", "codebook": f"{self.folder}/{slug}.toml"}
            specs.append({"slug": slug, "count": "count", "set": set_} | own | older)
        listed = write_specs(self.folder / "datasets.toml", specs[1:])
        return [specs[0]["data"], "--count", "count", "--slug", DESK,
                "--codebook", specs[0]["codebook"], "--datasets", listed]  # fmt: skip

    def env(self):
        own = {k: v for k, v in os.environ.items() if not k.startswith("DISCREET_")}
        return own | QUIET

    def start(self, suffers=False):
        """Begin a server; `until_ready` waits for it."""
        rules = self.rules | {"server.approval": "always"}
        set_ = [w for k, v in rules.items() for w in ("--set", f"{k}={json.dumps(v)}")]
        words = ["serve", *self.words(), *set_, "--http", "--database", self.url,
                 "--port", self.port, "--workers", self.workers]  # fmt: skip
        self.pid = self.starter.start(words, self.env(), self.log, self.orders if suffers else None)

    def until_ready(self, seconds=READY):
        """Or until it waits for a custodian, which is ready enough to be asked."""

        def holds():
            assert is_alive(self.pid), self.log.read_text()[-3000:]
            with suppress(httpx.HTTPError):
                answer = http.get("/readyz")
                return answer.status_code == 200 or "custodian accepts" in answer.text
            return False

        with self.client(timeout=5) as http:
            wait_until(holds, seconds, lambda: self.log.read_text()[-3000:])

    def client(self, name=None, timeout=60):
        """Of an account, or of the public."""
        headers = {} if name is None else {"Authorization": f"Bearer {self.keys[name]}"}
        return httpx.Client(
            base_url=self.at, headers=headers, timeout=timeout, trust_env=False, verify=False
        )

    def is_up(self):
        return self.pid is not None and is_alive(self.pid)

    def kill(self):
        """-9, all of it."""
        if self.is_up():
            self.spent += sum(map(computed, self.group()))
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            wait_until(lambda: not self.group())
            self.pid = None

    def group(self):
        """Its processes, each with its parent and its command."""
        found = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                state, parent, group = stat.read_text().rpartition(")")[2].split()[:3]
                if int(group) == self.pid and state != "Z":
                    command = stat.with_name("cmdline").read_bytes()
                    found[int(stat.parent.name)] = int(parent), command
        return found

    def worker_pids(self):
        """Of several workers."""
        group = self.group()
        pools = {pid for pid, (_, command) in group.items() if b"forkserver" in command}
        return [pid for pid, (parent, _) in group.items() if parent in pools]

    def accept_by_command(self, slug, kill=False):
        """`discreet ledger accept`; is it killed at a random moment?"""
        log = self.folder / "accepting"
        name = f"Maria {self.chance.random()}"
        words = ["ledger", "accept", *self.words(), "--dataset", slug, "--database", self.url,
                 "--name", name, "--reason", "asked otherwise"]  # fmt: skip
        pid = self.starter.start(words, self.env(), log)
        if kill:
            time.sleep(self.chance.uniform(0.2, 1.5))
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid))
        code = Path(f"{log}.code")
        return int(code.read_text()) if code.exists() else None


def before(slug):
    """The older vintage."""
    return f"people-{int(slug[-1]) - 1}"


def named(counts, names):
    return Table.of(counts, **{name: ["no", "yes"] for name in names})


class Clients:
    """Threads that ask, read and decide until they are stopped; what each was told."""

    def __init__(self, life):
        self.life, self.lock = life, threading.Lock()
        self.requests, self.reads, self.acts = [], {}, []
        self.odd, self.statuses = [], Counter()
        self._stop, self._threads, self._seeds = threading.Event(), [], 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.life.kill()
        self.end()

    @property
    def told(self):
        return len(self.requests) + len(self.reads) + len(self.acts)

    def begin(self, number=4):
        self._stop.clear()
        roles = [*ANALYSTS, *CUSTODIANS] * number
        for name in [*self.life.chance.sample(roles, number - 1), "maria"]:
            self._seeds += 1
            seed = self.life.chance.getrandbits(32)
            self._threads.append(
                threading.Thread(target=self._live, args=(name, seed), daemon=True)
            )
            self._threads[-1].start()

    @property
    def answers(self):
        return sum(self.statuses.values())

    def until_answered(self, number=1):
        before = self.answers
        wait_until(lambda: self.answers >= before + number)

    def end(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._threads = []

    def _live(self, name, seed):
        chance = random.Random(seed)
        with self.life.client(name, timeout=40) as http:
            while not self._stop.is_set():
                with suppress(httpx.HTTPError):
                    self._act(http, name, chance)
                time.sleep(chance.uniform(0, 0.02))

    def _act(self, http, name, chance):
        slug = chance.choice([DESK, self.life.newest, self.life.newest, *self.life.slugs])
        margin = chance.choice(margins_of(self.life.tables[slug].names))
        lot = chance.random()
        if lot < 0.2:
            self.read(http, slug, margin)
        elif lot < 0.25:
            self.send(http, "GET", f"{slug}/status", params={"variables": ",".join(margin)})
        elif lot < 0.65 or name in ANALYSTS:
            self.ask(http, name, slug, margin)
        elif lot < 0.85:
            self.decide(http, name, chance)
        elif lot < 0.87:
            self.withdraw(http, name, slug, chance)
        elif lot < 0.9:
            change = {"changes": {"server.max_order": chance.choice([0, 5, 6])}}
            self.send(http, "POST", f"{slug}/policy", json=change)
        else:
            self.accept(http, name, chance.choice(self.life.slugs))

    def send(self, http, method, path, **more):
        """The answer, if it is one that says something."""
        answer = http.request(method, f"/api/v1/datasets/{path}", **more)
        with self.lock:
            self.statuses[answer.status_code] += 1
            if answer.status_code not in TOLD_LATER:
                self.odd.append((method, path, answer.status_code, answer.text))
        return answer if answer.status_code in (200, 202) else None

    def ask(self, http, name, slug, margin):
        answer = self.send(http, "POST", f"{slug}/requests", json={"variables": margin})
        if answer is not None:
            with self.lock:
                self.requests.append((self.life.actors[name], slug, answer.json()))

    def read(self, http, slug, margin):
        answer = self.send(http, "GET", f"{slug}/tables/{'*'.join(margin)}")
        if answer is not None:
            self.note(slug, answer.json())

    def note(self, slug, said):
        """The same entry shows the same counts, whenever it is read."""
        key = slug, said["source"]["entry"], tuple(said["margin"])
        with self.lock:
            before = self.reads.setdefault(key, said["values"])
            if before != said["values"]:
                self.odd.append((*key, before, said["values"]))

    def decide(self, http, name, chance):
        waiting = self.send(http, "GET", f"{DESK}/pending")
        if waiting is None or not (found := waiting.json()["pending"]):
            return
        number = chance.choice(found)["number"]
        what = "approve" if chance.random() < 0.8 else "reject"
        answer = self.send(http, "POST", f"{DESK}/pending/{number}/{what}", json={"note": name})
        if answer is not None:
            self.acts.append((DESK, answer.json()["entry"], name, answer.json()["outcome"]))

    def withdraw(self, http, name, slug, chance):
        frontier = self.send(http, "GET", f"{slug}/frontier")
        margins = [] if frontier is None else frontier.json()["margins"]
        if margins:
            margin = "*".join(chance.choice(margins)["margin"])
            path = f"{slug}/tables/{margin}/withdraw"
            answer = self.send(http, "POST", path, json={"reason": f"wrong, says {name}"})
            if answer is not None:
                self.acts.append((slug, answer.json()["entry"], name, None))

    def accept(self, http, name, slug):
        seen = self.send(http, "GET", f"{slug}/codebook")
        if seen is not None and not seen.json()["accepted"]:
            sent = {"hash": seen.json()["hash"], "reason": f"asked otherwise, says {name}"}
            self.send(http, "POST", f"{slug}/codebook", json=sent)


class Oracle:
    """What the ledger says, read without the program that decides."""

    def __init__(self, life, clients):
        self.life, self.clients = life, clients
        self.entries, self.out = {}, {}

    def check(self):
        """All that was told is there and as it was told; all that is there could be decided."""
        told = self.clients
        with closing(open_database(self.life.url)) as database, database.read() as session:
            for found in verify_all(session):
                assert found.holds, (found.slug, found.problems)
            self.entries, self.out = {}, {}
            for dataset in store.datasets(session):
                entries = store.entries(session, dataset)
                self.entries[dataset.slug] = entries
                published = store.publications(session, dataset, withdrawn=True)
                self.out[dataset.slug] = {p.entry_number: p for p in published}
                self._check_counts(dataset, published)
                self._replay(dataset.slug, entries)
                self._check_codebook(dataset.slug, entries)
        assert not told.odd, told.odd[:3]
        for actor, slug, said in told.requests:
            self._check_told(slug, said["entry"], actor, said["outcome"], said)
        for slug, number, name, outcome in told.acts:
            self._check_told(slug, number, self.life.actors[name], outcome)
        for (slug, number, margin), values in told.reads.items():
            held = self.out[slug][number]  # nothing was shown that is not published
            assert set(margin) <= set(held.margin)
            truth = self.life.tables[slug].margin(list(margin)).dense()
            assert values == truth.ravel().tolist()

    def _check_told(self, slug, number, actor, outcome, said=None):
        entry = self.entries[slug][number - 1]
        assert (entry.number, entry.actor, entry.outcome) == (number, actor, outcome)
        if said is not None:
            assert said["margin"] == entry.margin
            assert said["why"] in (entry.why, "withdrawn")

    def _check_counts(self, dataset, published):
        margins = [tuple(one.margin) for one in published]
        assert len(margins) == len(set(margins)), "published twice"
        for one in published:
            truth = self.life.tables[dataset.slug].margin(one.margin).dense()
            assert (store.counts_of(dataset, one) == truth).all()

    def _replay(self, slug, entries):
        """Quotas, approvals, and that the same state had the same answer."""
        charged, asked, said, answers, out = Counter(), {}, {}, {}, []
        rejected, version, waiting = 0, 1, set()
        for entry in entries:
            own = {entry.actor} if entry.kind == "request" else asked.get(entry.about, set())
            new = entry.table_hash is not None
            if entry.kind == "request":
                asked.setdefault(entry.about or entry.number, set()).add(entry.actor)
                known = any(set(entry.margin) <= set(m) for m in out)
                assert known == (entry.why == "out"), entry
                spent = charged[entry.actor] >= QUOTA
                assert not (new and spent), "more than the quota"
                assert entry.why != "quota" or spent, "charged twice"
                if entry.why in ("safe", "unsafe", "approval"):
                    state = tuple(entry.margin), len(out), rejected, version, entry.meaning
                    safe = entry.why != "unsafe"
                    assert answers.setdefault(state, safe) == safe, "two answers"
                if entry.outcome == "pending" and entry.about is None:
                    waiting.add(entry.number)
            if entry.kind in ("approved", "rejected"):
                assert entry.about in waiting, "decided twice"
                said.setdefault((entry.about, version), []).append(entry.actor)
                if entry.outcome != "pending":
                    waiting.remove(entry.about)
            if entry.kind == "approved" and entry.outcome == "granted":
                who = said[entry.about, version]
                assert len(set(who)) == len(who) >= self.life.rules["server.approvers"]
                assert not new or min(charged[actor] for actor in own) < QUOTA
            if new:
                assert entry.kind in ("request", "approved"), "nobody decided it"
                out.append(entry.margin)
                charged.update(own)
            rejected += entry.kind == "rejected"
            version = entry.policy_version

    def _check_codebook(self, slug, entries):
        """With another codebook nothing was decided before somebody accepted it."""
        if slug not in self.life.changed:
            return
        since = entries[self.life.changed[slug] :]
        accepted = [e.number for e in since if e.kind == "codebook"]
        for entry in since if not accepted else since[: accepted[0] - since[0].number]:
            assert entry.kind in ("withdrawn", "proposed"), entry

    def check_served(self, part=None):
        """What was read before is read again; nothing else is public."""
        with self.life.client("otto") as http:
            seen = list(self.clients.reads)
            if part is not None:
                seen = self.life.chance.sample(seen, min(part, len(seen)))
            for slug, number, margin in seen:
                address = f"/api/v1/datasets/{slug}/entries/{number}"
                answer = http.get(address, params={"v": list(margin)})
                if self.out[slug][number].withdrawn_at is not None:
                    assert answer.status_code == 410, answer.text
                else:
                    assert answer.status_code == 200, (address, answer.text)
                    self.clients.note(slug, answer.json())
            for slug in self.life.slugs:
                every = margins_of(self.life.tables[slug].names)
                for margin in every if part is None else self.life.chance.sample(every, 3):
                    self._check_public(http, slug, margin)
            for _, _, said in self.clients.requests[-(part or 40) :]:
                if said["ticket"] is not None:
                    ticket = http.get(said["ticket"]).json()
                    assert (ticket["entry"], ticket["margin"]) == (said["entry"], said["margin"])
        assert not self.clients.odd, self.clients.odd[:3]

    def _check_public(self, http, slug, margin):
        answer = http.get(f"/api/v1/datasets/{slug}/tables/{'*'.join(margin)}")
        holding = [p for p in self.out.get(slug, {}).values() if set(margin) <= set(p.margin)]
        out = [p for p in holding if p.withdrawn_at is None]
        wanted = 200 if out else 410 if holding else 404
        assert answer.status_code == wanted, (slug, margin, answer.text)
        if out:
            self.clients.note(slug, answer.json())

    def check_policy(self):
        """All that is out keeps the policy, judged at once."""
        for slug, published in self.out.items():
            if published:
                margins = [p.margin for p in published.values()]
                found = decide(self.life.tables[slug], margins, Policy.of(RULES))
                assert found.verdict is Verdict.PASS, (slug, found)

    @property
    def size(self):
        return sum(map(len, self.entries.values()))
