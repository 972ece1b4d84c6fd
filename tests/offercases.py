"""Random tables with hierarchies and policies with a limit on knowledge; every offer of `assess`
is judged again on the original categories, by code that shares nothing with the program.

A belief is found cell by cell over the original categories: from the intruder's weights, scaled
until all that is published fits, merged or not.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.data.hierarchy import Hierarchy
from discreet.decision.law.assess import assess
from discreet.decision.law.policy import Policy
from discreet.table.table import Table

SHAPES = ((3, 2), (4, 2), (3, 3), (4, 4), (5, 3), (3, 3, 2), (4, 3, 2))
QUIET = {"attribute.check": False, "published.least": 0, "small.width": 0}
CLOSE = 1e-6


@dataclass(frozen=True)
class OfferCase:
    table: Table
    array: np.ndarray
    wanted: list[list[str]]
    policy: Policy
    weights: dict[str, float]  # of the target's categories


def random_offer_case(rng):
    shape = SHAPES[rng.integers(len(SHAPES))]
    shares = rng.dirichlet(np.full(math.prod(shape), rng.choice([0.5, 1.0, 3.0])))
    array = rng.multinomial(int(rng.integers(20, 200)), shares).reshape(shape)
    names = {chr(65 + a): [f"{chr(97 + a)}{c}" for c in range(n)] for a, n in enumerate(shape)}
    table = Table.of(array, **names)
    table = dataclasses.replace(
        table, variables=tuple(_with_tree(rng, variable) for variable in table.variables)
    )
    target, rest = "A", list(table.names[1:])
    if shape[1] > 2 and rng.random() < 0.3:
        target, rest = "B", ["A", *table.names[2:]]
    group = [name for name in rest if rng.random() < 0.6]
    k = table.variable(target).size
    weights = dict(zip(table.variable(target).categories, rng.integers(1, 6, k), strict=True))
    prior = str(rng.choice(["known", "uniform", "any", "weights"], p=[0.2, 0.3, 0.2, 0.3]))
    if prior == "weights":
        prior += ":" + ",".join(f"{name}={weight}" for name, weight in weights.items())
    measure = "knowledge" if prior == "any" or not group or rng.random() < 0.8 else "gain"
    name = _uncertainty(rng, k)
    keys = QUIET | {
        "published.least": int(rng.choice([0, 0, 3])),
        "knowledge.target": target,
        "knowledge.group": "*".join(group),
        "knowledge.uncertainty": name,
        "knowledge.measure": measure,
        "knowledge.prior": prior,
    }
    wanted = [[*group, target]] if rng.random() < 0.7 else [[target, *rest]]
    if len(rest) > 1 and rng.random() < 0.3:
        wanted = [[name, target] for name in rest]
    case = OfferCase(table, array, wanted, Policy.of(keys), weights)
    keys["knowledge.limit"] = _limit(rng, case)
    return dataclasses.replace(case, policy=Policy.of(keys))


def _with_tree(rng, variable):
    """The last categories, or some in the middle, are merged; then perhaps more of them."""
    if variable.size < 3:
        return variable
    names = list(variable.categories)
    cut = int(rng.integers(1, variable.size - 1))
    parents = dict.fromkeys(names[cut:], f"{names[cut]}+")
    if variable.size > 3 and rng.random() < 0.5:
        parents = {names[-1]: "top", names[-2]: "top"}
        if rng.random() < 0.6:
            parents |= {"top": "all top", names[-3]: "all top"}
    return dataclasses.replace(variable, hierarchy=Hierarchy.of(parents))


def _uncertainty(rng, k):
    name = str(rng.choice(["largest", "entropy", "two-sided:1:1", "weighted"]))
    return name if name != "weighted" else "weighted:" + ",".join(map(str, rng.integers(1, 4, k)))


def _limit(rng, case):
    """Near what the table itself leaves, so that it often takes a merge to keep it."""
    found, whole = shares(case, case.array)
    if case.policy.knowledge.measure == "gain":
        most = max(left(case, whole) - left(case, p) for p in found)
        return float(max(0.0, most) * rng.uniform(0.3, 1))
    return float(min(left(case, p) for p in found) * rng.uniform(0.9, 1.5))


def left(case, p):
    """U of shares, from the formulas of the paper."""
    name = case.policy.knowledge.uncertainty
    if name == "largest":
        return 1 - p.max()
    if name == "entropy":
        return -sum(x * math.log(x) for x in p if x > 0)
    if name.startswith("weighted"):
        weights = np.array([float(w) for w in name.partition(":")[2].split(",")])
        return (weights * (1 - p)).min()
    return (np.minimum(p, 1 - p) * (1 - p)).min()


def believed(case, formula, merged, weights, *, hide=True):
    """Counts over all original categories that fit what is published, nearest to `weights`."""
    array, names = case.array, case.table.names
    axis = names.index(case.policy.knowledge.target)
    shape = [1] * array.ndim
    shape[axis] = -1
    x = np.broadcast_to(np.reshape(np.asarray(weights, float), shape), array.shape).copy()
    places, sums = [], []
    codes = np.indices(array.shape)
    for margin in formula.margins:
        key = np.zeros(array.shape, int)
        for name in margin:
            a = names.index(name)
            groups = merged.get(name, {}) if hide or a != axis else {}
            labels = [groups.get(c, c) for c in case.table.variables[a].categories]
            number = np.array([sorted(set(labels)).index(label) for label in labels])
            key = key * 100 + number[codes[a]]
        _, key = np.unique(key, return_inverse=True)
        key = key.reshape(array.shape)
        places.append(key)
        sums.append(np.bincount(key.ravel(), array.ravel().astype(float)))
    for _ in range(2000):
        before = x.copy()
        for key, wanted in zip(places, sums, strict=True):
            now = np.bincount(key.ravel(), x.ravel(), len(wanted))
            scale = np.divide(wanted, now, out=np.zeros_like(wanted), where=now > 0)
            x = x * scale[key]
        if np.abs(x - before).max() < 1e-10 * array.sum():
            break
    return x


def shares(case, x):
    """Of the target, in each group that has people, and of everybody."""
    names, rule = case.table.names, case.policy.knowledge
    group = [names.index(name) for name in rule.group.split("*")] if rule.group else []
    axis = names.index(rule.target)
    rest = tuple(a for a in range(x.ndim) if a not in (*group, axis))
    order = [sorted([*group, axis]).index(a) for a in (*group, axis)]
    k = x.shape[axis]
    lines = x.sum(rest).transpose(order).reshape(-1, k)
    people = case.array.sum(rest).transpose(order).reshape(-1, k).sum(1)
    found = [line / line.sum() for line, n in zip(lines, people, strict=True) if n]
    return found, lines.sum(0) / lines.sum()


def broken(case, offer):
    """Is somebody too well known under the stated prior? None if the target is not told at all."""
    rule = case.policy.knowledge
    if not any(rule.target in margin for margin in offer.formula.margins):
        return None
    groups = offer.merged.get(rule.target, {})
    categories = case.table.variable(rule.target).categories
    even = np.ones(len(categories))
    starts, hide = [even], True
    if groups and rule.prior == "known":
        hide = False
    elif groups and rule.prior == "any":
        held = {}
        for place, name in enumerate(categories):
            held.setdefault(groups.get(name, name), []).append(place)
        rng = np.random.default_rng(1)
        corners = product(*held.values())
        starts = [np.isin(np.arange(len(categories)), chosen) * 1.0 for chosen in corners]
        starts += [rng.dirichlet(even * 0.5) + 1e-9 for _ in range(5)]
    elif groups and rule.prior.startswith("weights"):
        starts = [np.array([case.weights[name] for name in categories], float)]
    for start in starts:
        found, whole = shares(case, believed(case, offer.formula, offer.merged, start, hide=hide))
        if not (groups and hide):
            axis = case.table.names.index(rule.target)
            rest = tuple(a for a in range(case.array.ndim) if a != axis)
            whole = case.array.sum(rest) / case.array.sum()
        for p in found:
            gone = left(case, whole) - left(case, p)
            if rule.measure == "gain" and gone > rule.limit + CLOSE:
                return True
            if rule.measure == "knowledge" and left(case, p) < rule.limit - CLOSE:
                return True
    return False


def offers(case):
    return assess(case.table, case.wanted, case.policy).alternatives


def judged(cases):
    """Every offer in these cases: seed, kind, prior, and whether it breaks the limit."""
    for seed in range(cases):
        case = random_offer_case(np.random.default_rng(seed))
        rule = case.policy.knowledge
        for offer in offers(case):
            kind = "fewer" if not offer.merged else "group"
            kind = "target" if rule.target in offer.merged else kind
            yield seed, kind, rule.prior.partition(":")[0], broken(case, offer)


def check_offers(cases):
    """None breaks it, and there are many."""
    found = list(judged(cases))
    assert not [each for each in found if each[-1]]
    for kind, share in (("target", 0.1), ("group", 0.08), ("fewer", 0.4)):
        assert sum(each[1] == kind for each in found) >= share * cases, kind
    return found
