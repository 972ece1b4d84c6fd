"""What refusals tell under each rule of the server: patterns, bodies, times; and what they cost."""

import random
import time
from datetime import datetime

import httpx
import numpy as np
import pytest
from scipy.stats import fisher_exact, ks_2samp, wilcoxon
from served import Served, write_specs

from discreet.decision.answering import Desk, Outcome
from discreet.decision.answering.many_tables import fails
from discreet.decision.law.policy import Policy
from discreet.table.lattice import maximal
from discreet.table.load import load
from server.alike import named, play, public, random_table, sibling
from server.sites import world

SIMULATABLE = {"server.rule": "simulatable"}
SMALL = {  # policies by which requests for tables of a dozen people are granted and refused
    "widths": {"attribute.check": False, "published.least": 0, "small.most": 1, "small.width": 1},
    "attributes": {"small.most": 1, "small.width": 1, "attribute.share": 0.9},
}
LENIENT = {"server.delta": 0.4, "server.draws": 100}
SHAPES = ((2, 2, 2), (2, 2, 2), (2, 3, 2), (2, 2, 2, 2))


def margins_of(k, least=2):
    return [s for s in range(1, 1 << k) if s.bit_count() >= least]


def random_requests(k, number, rng):
    return [int(s) for s in rng.choice(margins_of(k), number)]


# The pattern of refusals


def families(number, policy, rng):
    """Five tables each: one, two that share its one-way margins, two that share its whole game."""
    for place in range(number):
        shape = SHAPES[place % len(SHAPES)]
        base = random_table(rng, shape, int(rng.integers(4, 13)), 2.0)
        requests = random_requests(len(shape), 8, rng)
        first = tuple(1 << p for p in range(len(shape)))
        last = play(base, policy, requests)[1]
        others = [sibling(base, out, rng) for out in (first, first, last, last)]
        yield requests, [base, *others]


@pytest.mark.parametrize("rules", SMALL)
def test_simulatable_refusals_of_1000_tables_depend_on_what_is_out_alone(rules):
    """Every answer is a function of the released counts: hard, since the games split as they go."""
    policy, rng = Policy.of(SIMULATABLE | SMALL[rules] | LENIENT), np.random.default_rng(8)
    tables, compared, whole, outcomes = 0, 0, 0, {}
    for requests, family in families(200, policy, rng):
        told, games = {}, set()
        for table in family:
            tables += 1
            game, _ = play(table, policy, requests)
            games.add(tuple(answer.outcome for _, answer in game))
            for out, answer in game:
                key = public(table, out), answer.margin
                before, answered = told.setdefault(key, (table, answer))
                assert answered == answer
                compared += before != table
                outcomes[answer.outcome] = outcomes.get(answer.outcome, 0) + 1
        whole += len(games) == 1
    print(
        f"\n{rules}: {tables} tables, {outcomes['refused']} refusals and {outcomes['granted']} "
        f"grants; {compared} answers compared between different tables that share what is out, "
        f"none differs; in {whole} of 200 families all five games are the same"
    )
    assert compared > 2_000
    assert min(outcomes.values()) > 1_000


def test_static_refusals_of_1000_tables_depend_on_what_is_out_alone():
    """Every margin is asked for, of five tables that share the counts of the frontier."""
    policy, rng, compared, refused = Policy(), np.random.default_rng(8), 0, 0
    for place in range(200):
        shape = SHAPES[place % len(SHAPES)]
        base = random_table(rng, shape, int(rng.integers(4, 13)), 2.0)
        pairs = [s for s in margins_of(len(shape)) if s.bit_count() == 2]
        frontier = maximal([int(rng.choice(pairs)), *(1 << p for p in range(len(shape)))])
        patterns = []
        for table in [base, *(sibling(base, frontier, rng) for _ in range(4))]:
            desk = Desk(table, policy, frontier=frontier)
            every = margins_of(len(shape), 1)
            patterns.append([(desk.ask(s), desk.standing(s)) for s in every])
            compared += table != base
        assert all(pattern == patterns[0] for pattern in patterns)
        refused += sum(a.outcome is Outcome.REFUSED for a, _ in patterns[0])
    print(f"\n1,000 tables, {compared} differ from the first of their family: the same {refused} "
          "refusals")  # fmt: skip
    assert compared > 400


@pytest.mark.parametrize("rule", ["static", "simulatable"])
def test_the_api_says_the_same_of_tables_that_share_what_is_public(rule, tmp_path):
    """40 tables in five sites, which have the same slugs: every byte of every answer."""
    rng, slugs, sites = np.random.default_rng(40), [], [[] for _ in range(5)]
    policy = Policy.of({"server.rule": rule} | SMALL["widths"] | LENIENT)
    for place in range(8):
        base = random_table(rng, (2, 2, 2, 2), 16, 2.0)
        requests, frontier = random_requests(4, 8, rng), None
        if rule == "static":
            out = frontier = maximal([1, 2, 4, 8, *random_requests(4, 2, rng)])
        else:
            out = play(base, policy, requests)[1]
        slugs.append((f"table-{place}", requests, frontier))
        for site in sites:
            site.append(base if site is sites[0] else sibling(base, out, rng))
    heard = []
    for number, tables in enumerate(sites):
        (folder := tmp_path / str(number)).mkdir()
        with world(folder) as made:
            said = []
            for (slug, requests, frontier), table in zip(slugs, tables, strict=True):
                lists = None if frontier is None else [named(table, s) for s in frontier]
                made.site.counter.open(table, policy, slug=slug, frontier=lists)
                said += [bytes_of(made.client(), slug, named(table, s)) for s in requests]
        heard.append(said)
    different = sum(a != b for site in sites for a, b in zip(site, sites[0], strict=True))
    refused = sum(b'"refused"' in answer[1] for answer in heard[0])
    print(
        f"\n{rule}: 8 x 5 tables, {different} differ from the first of the five; {len(heard[0])} "
        f"requests at each of five sites, {refused} refused: every answer has the same bytes"
    )
    assert all(said == heard[0] for said in heard)
    assert different > 20
    assert 10 < refused < len(heard[0])


def bytes_of(client, slug, names):
    """Whatever is said of a margin: its status, a request in JSON and on a page."""
    api = f"/api/v1/datasets/{slug}"
    status = client.get(f"{api}/status", params={"variables": ",".join(names)})
    asked = client.post(f"{api}/requests", json={"variables": names})
    page = client.request("POST", f"/d/{slug}/ask", data={"v": names})
    after = client.get(f"{api}/status", params={"variables": ",".join(names)})
    answers = (status, asked, page, after)
    assert [answer.status_code for answer in answers] == [200] * 4
    return tuple(answer.content for answer in answers)


# The time that refusals take


class Pairs:
    """Pairs of data sets, a.. and b.., in one server; a request goes to both, in random order."""

    def __init__(self, client, seed):
        self.client, self.chance = client, random.Random(seed)
        self.took = {}  # by kind: seconds of both, row by row
        self.sent = []  # where, the entry that came of it, when

    def ask(self, place, names, kind):
        """What both said: the same, but for the name of the data set."""
        said, took = {}, {}
        for side in self.chance.sample("ab", 2):
            slug, at, begun = f"{side}{place:02}", time.time(), time.perf_counter()
            answer = self.client.post(
                f"/api/v1/datasets/{slug}/requests", json={"variables": names}
            )
            took[side] = time.perf_counter() - begun
            assert answer.status_code == 200
            self.sent.append((slug, answer.json()["entry"], at))
            said[side] = answer.content.replace(f"/{slug}/".encode(), b"/x/")
        assert said["a"] == said["b"]
        refused = b'"refused"' in said["a"]
        self.took.setdefault(kind if refused else "granted", []).append((took["a"], took["b"]))
        return refused

    def compare(self, kind):
        """Kolmogorov-Smirnov of all, and Wilcoxon of pairs, which sees much less."""
        return compare(kind, *np.array(self.took[kind]).T)


def compare(kind, one, other):
    ks, paired = ks_2samp(one, other).pvalue, wilcoxon(one, other).pvalue
    (a, b), (c, d) = (np.quantile(x, [0.5, 0.99]) * 1000 for x in (one, other))
    print(
        f"\n{kind}: {len(one)} refusals of each; median {a:.2f} and {c:.2f} ms, 99% {b:.1f} and "
        f"{d:.1f} ms; Kolmogorov-Smirnov p = {ks:.3f}, pairs by Wilcoxon p = {paired:.3f}"
    )
    return ks, paired


def serve(folder, tables, sets, **more):
    """A server of pairs of tables."""
    specs = []
    for place, pair in enumerate(tables):
        for side, table in zip("ab", pair, strict=True):
            slug = f"{side}{place:02}"
            table.write(path := folder / f"{slug}.csv")
            spec = {"slug": slug, "data": str(path), "count": "count", "apart": True}
            spec["set"] = [f"{key}={str(value).lower()}" for key, value in sets.items()]
            specs.append(spec | {key: values[place] for key, values in more.items()})
    listed = write_specs(folder / "datasets.toml", specs)
    database = f"sqlite:///{folder}/pairs.db"
    first = ("example:tract", "--apart", "--set", "server.rule=myopic")
    return Served(*first, "--datasets", str(listed), database=database)


def test_how_long_a_static_refusal_takes_tells_nothing(tmp_path):
    rng, frontier = np.random.default_rng(3), "A*B + C*D + E*F"
    base = [random_table(rng, (2,) * 6, 300, 0.4) for _ in range(4)]
    tables = [(one, sibling(one, (3, 12, 48), rng)) for one in base]
    gone = [s for s in margins_of(6) if not any(s & ~out == 0 for out in (3, 12, 48))]
    with (
        serve(tmp_path, tables, {}, frontier=[frontier] * 4) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        pairs = Pairs(client, 3)
        for turn in range(440):
            margin = pairs.chance.choice(gone)
            kind = "warming up" if turn < 40 else "static"
            assert pairs.ask(turn % 4, named(base[0], margin), kind)
    ks, paired = pairs.compare("static")
    assert ks > 0.01
    assert paired > 0.001


def test_how_long_a_simulatable_refusal_takes_tells_nothing(tmp_path):
    """Whole games with tables that share all that comes out: fresh decisions, then known ones."""
    sets = SIMULATABLE | {
        "attribute.check": False,
        "published.least": 0,
        "small.width": 2,
        "server.draws": 100,
    }
    policy, rng, tables, games = Policy.of(sets), np.random.default_rng(6), [], []
    while len(games) < 45:
        base = random_table(rng, (2,) * 4, 60, 1.0)
        game, out = play(base, policy, [*rng.permutation(margins_of(4)).tolist()] * 2)
        other = sibling(base, out, rng)
        if other != base:
            tables.append((base, other))
            games.append((game, out))
    with (
        serve(tmp_path, tables, sets) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        pairs, known = Pairs(client, 6), []
        for place, (game, last) in enumerate(games):
            met = set()
            for out, answer in game:
                names, refused = named(tables[place][0], answer.margin), answer.outcome == "refused"
                fresh = (out, answer.margin) not in met
                kind = "simulatable, fresh" if fresh and place > 2 else "others"
                assert pairs.ask(place, names, kind) == refused
                met.add((out, answer.margin))
                if refused and out == last:
                    known.append((place, names))
        for place, names in pairs.chance.choices(known, k=320):
            assert pairs.ask(place, names, "simulatable, known")
    for kind in ("simulatable, fresh", "simulatable, known"):
        ks, paired = pairs.compare(kind)
        assert len(pairs.took[kind]) >= 300
        assert ks > 0.01
        assert paired > 0.001


def uneven(rules, bases, each, rng):
    """Pairs of tables, and margins that are refused at once of one, and after a while of the other.

    The first of a pair is sparse: many margins have a count that is too small by itself.
    """
    tables, gone = [], []
    for place in range(bases):
        base = random_table(rng, (2,) * 8, 1_500, 0.3)
        tables.append((base, sibling(base, tuple(1 << p for p in range(8)), rng)))
        quick, slow = (Desk(table, Policy.of(rules)) for table in tables[-1])
        for margin in rng.permutation(margins_of(8, 4)).tolist():
            known = quick.space.known(margin), slow.space.known(margin)
            if known == ("gone", None) and slow.ask(margin).outcome is Outcome.REFUSED:
                gone.append((place, named(base, margin)))
            if len(gone) == each * (place + 1):
                break
    return tables, gone


@pytest.mark.parametrize("share", [0.9, 0.6])
def test_how_long_a_refusal_by_the_data_takes_is_hidden_within_a_slot(share, tmp_path):
    """Hard: what is refused at once of one table takes long for the other, maybe beyond a slot."""
    rules = {"server.rule": "myopic", "server.approval": "never", "attribute.share": share}
    rng = np.random.default_rng(3)
    tables, gone = uneven(rules, 4 if share == 0.9 else 2, 25, rng)
    with (
        serve(tmp_path, tables, rules) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        pairs, kept = Pairs(client, 3), {side: [] for side in "ab"}
        for place, names in gone:
            assert pairs.ask(place, names, "by the data")
        for slug, entry, sent in pairs.sent:
            ticket = client.get(f"/api/v1/datasets/{slug}/requests/{entry}").json()
            kept[slug[0]].append(datetime.fromisoformat(ticket["at"]).timestamp() - sent)
    took = np.array(pairs.took["by the data"])
    compare(f"share {share}, by the data, as tickets tell", *map(np.array, kept.values()))
    compare(f"share {share}, by the data, in slots", *took.T)
    late = (took > 0.4).sum(0)
    chance = fisher_exact([late, len(took) - late]).pvalue
    print(f"later than the first slot of .25 s: {late[0]} and {late[1]}, Fisher p = {chance:.4f}")
    first = took[(took < 0.4).all(1)]
    ks, _ = compare(f"share {share}, both in the first slot", *first.T)
    assert ks > 0.01


# What a rule that tells nothing releases


def played(table, rules, requests):
    """How many margins of two variables and more are out, and which answers were unsafe."""
    policy = Policy.of(rules)
    game, out = play(table, policy, requests)
    every = margins_of(len(table.names))
    released = sum(any(s & ~t == 0 for t in out) for s in every)
    new = [(before, a.margin) for before, a in game if a.why == "safe"]
    unsafe = [fails(table, maximal([*before, s]), policy) for before, s in new]
    first = [fails(table, maximal([*ONE_WAY[: len(table.names)], s]), policy) for _, s in new]
    return released, len(every), len(new), sum(unsafe), sum(first)


ONE_WAY = tuple(1 << p for p in range(12))
GAMES = {
    "czech, attributes": ("czech", {}, (1,)),
    "czech, widths": ("czech", {"attribute.check": False, "published.least": 0}, (1,)),
    "2x2x2x2x2 of 400": ((2,) * 5, 400, (1, 2)),
    "3x2x2x2 of 150": ((3, 2, 2, 2), 150, (2, 3)),
    "2x2x2x2 of 60": ((2,) * 4, 60, (1, 3)),
}


def test_what_the_simulatable_rule_releases_against_the_data():
    """500 requests; easy where counts are large, hard where some are small: which, nobody sees."""
    print("\ntable, seed: rule: margins out of all, new answers, of these unsafe by the data "
          "(with all that is out; with the one-way margins alone)")  # fmt: skip
    released = {}
    for name, (what, more, seeds) in GAMES.items():
        for seed in seeds:
            rng = np.random.default_rng(seed)
            if what == "czech":
                table, rules = load("example:czech"), more
            else:
                table, rules = (
                    random_table(rng, what, more, 2.0),
                    {"attribute.check": False, "published.least": 0},
                )
            requests = random_requests(len(table.names), 500, rng)
            data = {"server.rule": "myopic", "server.approval": "never", "bounds.method": "integer"}
            kinds = {"by the data": data} | {
                f"delta {delta}": SIMULATABLE | {"server.delta": delta}
                for delta in (0.05, 0.1, 0.2)
            }
            for kind, own in kinds.items():
                begun = time.perf_counter()
                out, every, new, unsafe, alone = played(table, rules | own, requests)
                released.setdefault(kind, []).append(out / every)
                print(f"{name}, {seed}: {kind}: {out} of {every}, {new} answers, {unsafe} unsafe "
                      f"({alone} alone); {time.perf_counter() - begun:.1f} s")  # fmt: skip
                assert not (kind == "by the data" and unsafe)
    shares = {kind: float(np.mean(found)) for kind, found in released.items()}
    print("released on average:", {kind: f"{share:.0%}" for kind, share in shares.items()})
    assert shares["delta 0.05"] > 0.5 * shares["by the data"]
