"""Attacks that only some releases invite: households, blanked classes, noise that goes together."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from attack_evidence import Seen, balanced, classes, evidence, joined
from scipy.special import logsumexp

import discreet as dc

Floats = np.ndarray


def homes(seen: Seen) -> tuple[np.ndarray, Floats] | None:
    """Households are found as a whole: each with one of as many members, then who is who."""
    if "home" not in seen.data or seen.trial.of.name != "health":
        return None
    logs = evidence(seen)
    mine, theirs = (frame.groupby("home").indices for frame in (seen.source, seen.data))
    best, sure = np.full(len(logs), -1), np.zeros(len(logs))
    for size in sorted({len(rows) for rows in mine.values()}):
        here = np.array([rows for rows in mine.values() if len(rows) == size])
        there = np.array([rows for rows in theirs.values() if len(rows) == size])
        if not len(there):
            continue
        pairs = logs[here[:, None, :, None], there[None, :, None, :]]
        orders = list(itertools.permutations(range(size)))
        each = np.array([sum(pairs[:, :, a, b] for a, b in enumerate(order)) for order in orders])
        whole = logsumexp(each, axis=0)
        links, _ = balanced(whole)
        found = (links * (1 + 1e-9 * np.random.default_rng(size).random(links.shape))).argmax(1)
        for home, other in enumerate(found):
            ways = each[:, home, other]
            if not np.isfinite(ways).any():
                continue
            order = orders[int(ways.argmax())]
            chance = links[home, other] * np.exp(ways.max() - whole[home, other])
            best[here[home]] = there[other][list(order)]
            sure[here[home]] = chance
    return best, sure


def blanked_classes(seen: Seen, prior: Floats, truth: np.ndarray) -> Floats | None:
    """Beliefs where classes that are not diverse were blanked: each had one value alone, and their
    sizes must add up to how often each value is found among the blanked.
    """
    recodes = [s for s in seen.trial.steps if s["method"] == "recode" and s.get("l", 0) == 2]
    if not recodes or len(seen.trial.steps) > 1:
        return None
    columns = [c for c in recodes[0]["columns"] if c in seen.trial.of.keys]
    if set(columns) != set(seen.trial.of.keys):
        return None
    step = {k: v for k, v in recodes[0].items() if k in ("columns", "cuts")}
    step["levels"] = seen.masked.parameters["levels"]
    trees = {k: v for k, v in seen.trial.of.trees.items() if k in columns}
    now = (
        dc.files.mask_of("recode", step)
        .apply(dc.files.RecordFile(seen.source[columns], trees), np.random.default_rng(0))
        .data
    )
    mine, theirs = (joined(f, columns) for f in (now, seen.data))
    blank = seen.data[columns].isna().all(axis=1).to_numpy()
    if not blank.any():
        return None
    gone = ~mine.isin(set(theirs[~blank]))
    shown, _ = classes(seen.source[seen.trial.of.sensitive], seen.data[seen.trial.of.sensitive])
    sizes = mine[gone].value_counts()
    if sizes.sum() != blank.sum():
        return None
    beliefs = np.tile(prior, (len(mine), 1))
    counts = np.bincount(shown[blank], minlength=len(prior))
    table = np.zeros((len(sizes), len(prior)))
    for value, many in enumerate(counts):
        table[:, value] = shares_of_sum(sizes.to_numpy(), int(many), prior, value)
    table /= np.maximum(table.sum(1, keepdims=True), 1e-12)
    place = {name: i for i, name in enumerate(sizes.index)}
    for row in np.flatnonzero(gone):
        beliefs[row] = table[place[mine.iloc[row]]]
    return beliefs


def shares_of_sum(sizes: np.ndarray, total: int, prior: Floats, value: int) -> Floats:
    """P[a class has the value | those with it have `total` members], by sums from both ends."""
    others = np.delete(prior, value)
    has = sizes * np.log(max(prior[value], 1e-6))
    lacks = logsumexp(sizes[:, None] * np.log(np.maximum(others, 1e-6)), axis=1)

    def sums(order: Any) -> list[Floats]:
        law = [np.where(np.arange(total + 1) == 0, 0.0, -np.inf)]
        for c in order:
            more = np.full(total + 1, -np.inf)
            if sizes[c] <= total:
                more[sizes[c] :] = law[-1][: total + 1 - sizes[c]] + has[c]
            law.append(np.logaddexp(law[-1] + lacks[c], more))
        return law

    many = len(sizes)
    before, after = sums(range(many)), sums(reversed(range(many)))
    whole, found = before[-1][total], np.zeros(many)
    for c in range(many):
        if sizes[c] <= total and np.isfinite(whole):
            rest = total - sizes[c]
            left, right = before[c][: rest + 1], after[many - 1 - c][: rest + 1][::-1]
            found[c] = np.exp(logsumexp(left + right) + has[c] - whole)
    return found


def values_given_keys(seen: Seen, links: Floats, truth: np.ndarray) -> Floats | None:
    """Noise of a key that is known tells of the noise of the secret that goes with it."""
    name = seen.trial.of.sensitive
    steps = [s for s in seen.trial.steps if s.get("kind") == "correlated" and name in s["columns"]]
    if not steps:
        return None
    (step,) = steps
    keys = [c for c in step["columns"] if c in seen.trial.of.keys]
    best = links.argmax(1)
    columns = [*keys, name]
    data = seen.source[columns].to_numpy(float)
    cover = np.cov(data.T) * step["spread"] ** 2
    tie = np.linalg.solve(cover[:-1, :-1], cover[:-1, -1])
    error = seen.data[keys].to_numpy(float)[best] - data[:, :-1]
    middle = seen.data[name].to_numpy(float)[best] - error @ tie
    spread = np.sqrt(cover[-1, -1] - cover[:-1, -1] @ tie)
    near = np.exp(-(((middle[:, None] - data[:, -1]) / spread) ** 2) / 2)
    found = near @ np.eye(truth.max() + 1)[truth]
    return found / np.maximum(found.sum(1, keepdims=True), 1e-300)
