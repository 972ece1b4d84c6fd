"""Attacks on masks of records, and whether they find more than the program states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from attack_evidence import Seen, balanced, evidence, labels, repeated, secrets
from attack_special import blanked_classes, homes, values_given_keys
from attacked_files import Trial
from pandas.api.types import is_numeric_dtype as is_number
from scipy.optimize import linear_sum_assignment
from scipy.stats import binom, norm

import discreet as dc
from discreet.decision.compare.repeats import repeats

Floats = np.ndarray
TOGETHER = ("members of a household are released together", "members tell of each other")
ACT, GAIN, LIMIT = 0.5, 0.1, 0.05
NEIGHBOURS, FOLDS, ROUNDS, RATE = 12, 5, 40, 0.3


@dataclass(frozen=True)
class Test:
    """One comparison: of `tried` claims `right` were so, where at most `stated` are expected."""

    file: str
    mask: str
    attack: str
    statement: str
    tried: int
    right: int
    stated: float
    p: float
    verdict: str
    doubt: str = ""

    def line(self) -> str:
        return (f"| {self.file} | {self.mask} | {self.attack} | {self.statement} | {self.tried} | "
                f"{self.stated:.1f} | {self.right} | {self.p:.1e} | {self.verdict} |")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Stated:
    """What the program says of a release: chances of each person's best link, risks, verdict."""

    risks: dict[str, float]
    verdict: str
    links: Floats
    doubt: str


def judged(trial: Trial, seed: int, limit: float = LIMIT) -> tuple[Seen, Stated] | str:
    """The release and what is said of it; a sentence where it is refused."""
    of = trial.of
    file = of.file(trial.without)
    mask = {"name": "m", "chain": [dict(step) for step in trial.steps]}
    plan = {"masks": [mask], "keys": list(of.keys), "sensitive": [of.sensitive], "seed": seed}
    try:
        found = dc.compare(file, plan, dc.Policy().set([f"masks.limit={limit}"]))
    except dc.DisclosureError as error:
        return str(error)
    tried = found.tried[0]
    if tried.failed is not None:
        return tried.failed
    masked = found.data("m")
    links = np.zeros(len(file))
    if (masked.rows >= 0).any():
        links = best_links(file, masked, of.keys)
        if (more := repeats(file, masked, found.plan)) is not None:
            links = np.maximum(links, best_links(more.file, more.masked, more.plan.keys))
    stated = Stated(dict(tried.risks), str(found.verdict), links, tried.doubt or "")
    return Seen(trial, masked.data, masked, np.asarray(masked.rows)), stated


def best_links(file: Any, masked: Any, keys: tuple[str, ...]) -> Floats:
    return dc.identify(masked.linked_with(file, keys), masked.intruder(keys)).links.perceived


def more_than(right: int, chances: Floats) -> float:
    """P[as many or more] of independent events with these chances."""
    chances = np.clip(np.asarray(chances, float), 0, 1)
    if right <= 0:
        return 1.0
    if len(chances) <= 3000:
        law = np.zeros(len(chances) + 1)
        law[0] = 1.0
        for p in chances[chances > 0]:
            law[1:] = law[1:] * (1 - p) + law[:-1] * p
            law[0] *= 1 - p
        return float(min(1.0, law[right:].sum()))
    return float(
        norm.sf(right - 0.5, chances.sum(), np.sqrt((chances * (1 - chances)).sum() + 1e-12))
    )


def nearest(seen: Seen, rng: Any) -> tuple[np.ndarray, Floats, Floats]:
    """The record at the least distance; a claim where the next one is twice as far."""
    far = distances(seen)
    two = np.partition(far, 1, axis=1)[:, :2] if far.shape[1] > 1 else np.c_[far, far + 1]
    best = (far + 1e-9 * rng.random(far.shape)).argmin(1)
    return best, np.where(two[:, 1] > 2 * two[:, 0] + 1e-9, 1.0, 0.0), far


def distances(seen: Seen) -> Floats:
    now, _ = repeated(seen)
    far = np.zeros((len(now), len(seen.data)))
    for name in seen.trial.of.keys:
        true, shown = now[name], seen.data[name]
        if name in seen.trial.of.numbers and is_number(true) and is_number(shown):
            scale = np.nanstd(true.to_numpy(float)) or 1.0
            far += np.nan_to_num(
                np.abs(true.to_numpy(float)[:, None] - shown.to_numpy(float)) / scale, nan=0.5
            )
        else:
            a, b = labels(true), labels(shown)
            far += np.where((a == "")[:, None] | (b == ""), 0.5, a[:, None] != b)
    return far


def link_attacks(
    seen: Seen, rng: Any
) -> tuple[dict[str, tuple[np.ndarray, Floats]], Floats, Floats]:
    """By name the best record of each person and how sure; also the chances of links."""
    near, sure, _ = nearest(seen, rng)
    logs = evidence(seen)
    links, null = balanced(logs)
    jitter = links * (1 + 1e-9 * rng.random(links.shape))
    best = jitter.argmax(1)
    chance = links[np.arange(len(links)), best]
    # one to one
    cost = -np.maximum(logs, -1e4) + 1e-6 * rng.random(logs.shape)
    people, records = linear_sum_assignment(cost)
    paired = np.full(len(logs), -1)
    paired[people] = records
    of_pair = np.where(paired >= 0, links[np.arange(len(links)), np.maximum(paired, 0)], 0)
    found = {"nearest": (near, sure), "Bayes": (best, chance), "assignment": (paired, of_pair)}
    if (together := homes(seen)) is not None:
        found["households"] = together
    return found, links, null


def link_tests(
    seen: Seen, stated: Stated, found: dict[str, tuple[np.ndarray, Floats]]
) -> list[Test]:
    tests = []
    of = seen.trial.of
    tail = np.zeros(len(seen.source), bool)
    for name in of.numbers:
        tail |= seen.source[name].rank(pct=True).to_numpy() > 0.98
    rare = np.zeros(len(seen.source), bool)
    for name in (n for n in of.keys if n not in of.numbers):
        rare |= seen.source.groupby(name)[name].transform("size").to_numpy() < 0.01 * len(rare)
    everybody = np.ones(len(rare), bool)
    claims = {"links of tails": tail, "links of rare": rare, "best links": everybody}
    for attack, (best, sure) in found.items():
        if attack == "households" and any(said in stated.doubt for said in TOGETHER):
            assert stated.verdict != "PASS"
            continue  # said not to be counted
        right = (best >= 0) & (seen.rows[np.maximum(best, 0)] == np.arange(len(best)))
        sure = sure >= ACT
        for statement, some in {**claims, "links claimed": sure}.items():
            if some.any():
                chances = stated.links[some]
                tests.append(test(seen, stated, attack, statement, right[some], chances))
    return tests


def test(
    seen: Seen, stated: Stated, attack: str, what: str, right: Floats, chances: Floats
) -> Test:
    hits = int(np.sum(right))
    return Test(seen.trial.of.name, seen.trial.name, attack, what, len(chances), hits,
                float(np.sum(chances)), more_than(hits, chances), stated.verdict,
                stated.doubt)  # fmt: skip


def said_right(beliefs: Floats, truth: np.ndarray, prior: Floats) -> np.ndarray:
    """Of whom a secret is stated, rightly: at least ACT probable, and GAIN more than its share.

    Beliefs that are right less often than that are no knowledge: what is stated of a value counts
    only if it is right as often as it must be believed.
    """
    told = np.where((beliefs >= ACT - 1e-9) & (beliefs >= prior + GAIN - 1e-9), beliefs, -1.0)
    best, right = told.argmax(1), np.zeros(len(truth), bool)
    for value, share in enumerate(prior):
        claims = (best == value) & (told.max(1) > 0)
        hits = claims & (truth == value)
        if hits.sum() >= max(ACT, share + GAIN) * claims.sum():
            right |= hits
    return right


def value_attacks(
    seen: Seen, links: Floats, null: Floats
) -> tuple[dict[str, tuple[Floats, Floats]], Any, Any]:
    """Beliefs about everybody's secret: with their own record in the release, and without it."""
    truth, said, prior = secrets(seen)
    n, where = len(truth), np.full(len(truth), -1)
    where[seen.rows] = np.arange(len(seen.rows))
    there = where >= 0
    own = np.zeros(n)
    own[there] = links[np.flatnonzero(there), where[there]]
    inside = links @ said
    alone = inside - own[:, None] * said[np.maximum(where, 0)] * there[:, None]
    without = alone + (own + null)[:, None] * prior
    found = {"links": (inside + null[:, None] * prior, without)}
    far = distances(seen)
    far += 1e-6 * np.random.default_rng(0).random(far.shape)
    taken = far.copy()
    taken[np.flatnonzero(there), where[there]] = np.inf
    found["neighbours"] = tuple(neighbours(f, said, prior) for f in (far, taken))
    found["boosting"] = boosted(seen, said, prior, where)
    nothing = np.tile(prior, (n, 1))
    if (told := blanked_classes(seen, prior, truth)) is not None:
        found["blanked classes"] = (told, nothing)
    if (told := values_given_keys(seen, links, truth)) is not None:
        found["noise of keys"] = (told, found["links"][1])
    return found, truth, prior


def neighbours(far: Floats, said: Floats, prior: Floats) -> Floats:
    many = min(NEIGHBOURS, far.shape[1])
    rows = np.argpartition(far, many - 1, axis=1)[:, :many]
    weight = np.exp(-3 * np.take_along_axis(far, rows, 1) ** 2) + 1e-9
    found = (weight[:, :, None] * said[rows]).sum(1) + 0.5 * prior
    return found / found.sum(1, keepdims=True)


def features(seen: Seen) -> tuple[Floats, Floats]:
    """Bits of the keys: categories, and numbers above their cuts; of people, and of records."""
    now, _ = repeated(seen)
    mine, theirs = [], []
    for name in seen.trial.of.keys:
        true, shown = now[name], seen.data[name]
        numeric = is_number(true) and is_number(shown)
        if numeric and shown.nunique() > 8:
            for cut in np.unique(np.nanquantile(shown.to_numpy(float), np.arange(0.05, 1, 0.05))):
                mine.append(true.to_numpy(float) > cut)
                theirs.append(shown.to_numpy(float) > cut)
        else:
            a, b = labels(true), labels(shown)
            for value in sorted(set(b)):
                mine.append(a == value)
                theirs.append(b == value)
    return np.array(mine, float).T, np.array(theirs, float).T


def boosted(seen: Seen, said: Floats, prior: Floats, where: np.ndarray) -> tuple[Floats, Floats]:
    """Stumps, each for what the ones before it leave; and by models that never saw the person."""
    mine, theirs = features(seen)
    whole = boost(theirs, said, prior, mine)
    fold = np.arange(len(mine)) * 7919 % FOLDS
    without = np.empty_like(whole)
    for one in range(FOLDS):
        some = fold[seen.rows] != one
        if some.any():
            without[fold == one] = boost(theirs[some], said[some], prior, mine[fold == one])
        else:
            without[fold == one] = prior
    return whole, without


def boost(bits: Floats, said: Floats, prior: Floats, asked: Floats) -> Floats:
    """Gradient boosting of stumps on soft classes, by softmax."""
    logs = np.log(np.maximum(prior, 1e-4))
    here, there = np.tile(logs, (len(bits), 1)), np.tile(logs, (len(asked), 1))
    many = np.stack([len(bits) - bits.sum(0), bits.sum(0)]) + 4.0
    for _ in range(ROUNDS):
        rest = said - softmax(here)
        high = bits.T @ rest
        low = rest.sum(0) - high
        gain = low**2 / many[0][:, None] + high**2 / many[1][:, None]
        best = gain.argmax(0)
        classes = np.arange(said.shape[1])
        step = np.stack([low[best, classes] / many[0][best], high[best, classes] / many[1][best]])
        scale = RATE / np.maximum(prior * (1 - prior), 0.02)
        for x, out in ((bits, here), (asked, there)):
            on = x[:, best]
            out += np.clip(scale * (step[1] * on + step[0] * (1 - on)), -1, 1)
    return softmax(there)


def softmax(logs: Floats) -> Floats:
    found = np.exp(logs - logs.max(1, keepdims=True))
    return found / found.sum(1, keepdims=True)


def value_tests(seen: Seen, stated: Stated, found: Any, truth: Any, prior: Floats) -> list[Test]:
    """Told by their own record, beyond chance: as many may be told only without it, for no reason.

    What a model says that never saw a person's record is no disclosure of that record.
    """
    tests, share = [], stated.risks["attribute"]
    for attack, (beliefs, without) in found.items():
        right, anyhow = (said_right(b, truth, prior) for b in (beliefs, without))
        more, less = int((right & ~anyhow).sum()), int((anyhow & ~right).sum())
        p = float(binom.sf(more - 1, more + less + round(share * len(truth)), 0.5)) if more else 1.0
        note = f"{right.sum()} with a model, {anyhow.sum()} by one without the person"
        tests.append(
            Test(
                seen.trial.of.name,
                seen.trial.name,
                attack,
                "values by own record",
                len(truth),
                more,
                share * len(truth) + less,
                p,
                stated.verdict,
                note,
            )
        )
    return tests


def passed(seen: Seen, stated: Stated, tests: list[Test], limit: float = LIMIT) -> list[Test]:
    """A PASS against the attack that finds most: more disclosed than the limit allows?"""
    if stated.verdict != "PASS":
        return []
    many, found = len(seen.source), []
    for what in ("links claimed", "values by own record"):
        mine = [t for t in tests if t.statement == what]
        if mine:
            most = max(mine, key=lambda t: t.right)
            p = float(binom.sf(most.right - 1, many, limit)) if most.right else 1.0
            found.append(
                replace(most, statement=f"PASS, {what}", tried=many, stated=limit * many, p=p)
            )
    return found


def attacked(trial: Trial, seed: int) -> list[Test] | str:
    """Every attack on one draw of a mask."""
    made = judged(trial, seed)
    if isinstance(made, str):
        return made
    seen, stated = made
    rng = np.random.default_rng(seed)
    found, links, null = link_attacks(seen, rng)
    values, truth, prior = value_attacks(seen, links, null)
    tests = link_tests(seen, stated, found) + value_tests(seen, stated, values, truth, prior)
    return tests + passed(seen, stated, tests)
