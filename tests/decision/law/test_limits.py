"""A value that equals its limit is judged as the sentence of its policy key says."""

import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.decision.answering.answer import Why
from discreet.decision.answering.desk import Desk
from discreet.decision.compare.compared import Compared
from discreet.decision.compare.tables import stated
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.decision.survey.curve import CutRule, chosen, ranks
from discreet.risk.cells.sensitive import dominance, p_percent, requested, too_few
from discreet.risk.limits import Says, breaks
from discreet.table.table import Table

ALONE = {"attribute.check": False, "published.least": 0, "small.width": 0}
# each small count has one of five values, all alike probable: 1/5, computed a little below it
FIFTH = Table.of([[4, 4, 4], [0, 2, 3]], A="ab", B="xyz")
# of three small counts one is guessed right, with probability 1/2
GUESSED = Table.of([[4, 3, 2], [1, 1, 0]], A="ab", B="xyz")
ABOVE, BELOW = 1 + 1e-6, 1 - 1e-6


@cache
def uniform():
    return decide(FIFTH, "A + B", Policy.of(ALONE | {"belief.most": 0.99, **UNIFORM})).case.belief


UNIFORM = {"belief.model": "uniform"}


def verdict(keys, table=FIFTH, release="A + B"):
    return decide(table, release, Policy.of(ALONE | keys)).verdict


def kept(keys, **how):
    return verdict(keys, **how) is Verdict.PASS


def cell(*own, asked=0.0):
    """One cell with these contributions."""
    largest = np.zeros((1, 6))
    largest[0, : len(own)] = sorted(own, reverse=True)
    total = np.array([float(sum(own))])
    number = np.array([sum(x > 0 for x in own)])
    return SimpleNamespace(
        values=total, judged=total, number=number, largest=largest, weights=np.ones((1, 6)),
        asked=np.array([float(asked)]), usual=float(total[0]) or 1.0,
    )  # fmt: skip


def told(found):
    return bool(found.cells[0])


def small_most():
    return (
        not kept({"small.most": 4, "small.width": 99}, table=Table.of([4, 90], A="ab"), release="A")
        and kept({"small.most": 3, "small.width": 99}, table=Table.of([4, 90], A="ab"), release="A")
    )  # fmt: skip


def small_width():
    width = decide(FIFTH, "A + B", Policy.of(ALONE)).risk["narrowest"]
    return kept({"small.width": width}) and not kept({"small.width": width + 1})


def published_least():
    table = Table.of([4, 90], A="ab")
    keys = {"small.most": 1}
    at, over = (kept(keys | {"published.least": n}, table=table, release="A") for n in (4, 5))
    return at and not over


def attribute_share():
    table = Table.of([[7, 3], [7, 3]], A="ab", S="xy")
    keys = {"attribute.check": True, "attribute.exclusion": False}
    at, over = (
        kept(keys | {"attribute.share": share}, table=table, release="A*S") for share in (0.7, 0.71)
    )
    return not at and over


def closeness_share():
    table = Table.of([[10, 3], [3, 20]], A="ab", B="xy")
    keys = {"bounds.proof": "outer"}
    reach = decide(table, "A + B", Policy.of(ALONE | {"closeness.share": 0.01})).risk["closest"]
    at, over = (
        kept(keys | {"closeness.share": s}, table=table) for s in (reach, reach * ABOVE)
    )  # fmt: skip
    return at and not over


def tables_least():
    number = 20
    while kept({"tables.least": number}):
        number += 1
    return verdict({"tables.least": number}) is Verdict.FAIL and kept({"tables.least": number - 1})


def belief_most():
    asked = [{**UNIFORM, "belief.most": share} for share in (0.2, 0.2 * ABOVE)]
    assert uniform().truth.max() < 0.2  # by rounding: the count of 2 has probability 1/5
    return not kept(asked[0]) and kept(asked[1])


def belief_identified():
    at, under = ({**UNIFORM, "belief.identified": s} for s in (1 / 3, 1 / 3 * BELOW))
    return kept(at, table=GUESSED) and not kept(under, table=GUESSED)


def belief_threshold():
    """An intruder acts on a guess of at least this probability."""
    keys = {**UNIFORM, "belief.identified": 0.3}
    at, over = ({**keys, "belief.threshold": p} for p in (0.5, 0.5 * ABOVE))
    return not kept(at, table=GUESSED) and kept(over, table=GUESSED)


def belief_people():
    at, under = ({**UNIFORM, "belief.people": n} for n in (0.4, 0.4 * BELOW))
    return kept(at) and not kept(under)


def belief_true_table():
    number = round(1 / uniform().true_table)
    at, under = ({**UNIFORM, "belief.true_table": s / number} for s in (1, BELOW))
    return kept(at) and not kept(under)


def belief_entropy():
    nats = math.log(round(1 / uniform().true_table))
    at, over = ({**UNIFORM, "belief.entropy": n} for n in (nats, nats * ABOVE))
    return kept(at) and not kept(over)


def belief_attribute():
    table = Table.of([[4, 1], [1, 1]], A="ab", S="xy")
    keys = {**UNIFORM, "attribute.share": 0.8}
    reason = decide(table, "A + S", Policy.of(ALONE | keys | {"belief.attribute": 0.999}))
    most = max(one.probability for one in reason.case.believed)
    at, over = ({**keys, "belief.attribute": p} for p in (most, most * ABOVE))
    return not kept(at, table=table, release="A + S") and kept(over, table=table, release="A + S")


def knowledge_limit():
    """At least the limit is left; of a gain, at most it is gone."""
    table = Table.of([[7, 3], [5, 5]], A="ab", S="xy")
    keys = {"knowledge.target": "S", "knowledge.group": "A", "knowledge.limit": 0.3}
    left = [kept(keys | {"knowledge.limit": n}, table=table, release="A*S") for n in (0.3, 0.31)]
    keys["knowledge.measure"] = "gain"
    gone = [kept(keys | {"knowledge.limit": n}, table=table, release="A*S") for n in (0.1, 0.09)]
    return left == gone == [True, False]


def masks_limit():
    one = SimpleNamespace(
        name="a", risks={"disclosed": 0.1 + 0.2}, utility=1.0, law=Verdict.PASS, error=0.0,
        doubt=None,
    )  # fmt: skip
    found = SimpleNamespace(measure="disclosed", _learnt=lambda one: False)
    within = [Compared._mask(found, one, limit).within for limit in (0.3, 0.3 * BELOW)]
    return within == [True, False]


def masks_inferred():
    """At most this keeps it; 1 switches it off."""
    plan = SimpleNamespace(of_table=False)
    found = [
        Compared._learnt(
            SimpleNamespace(policy=Policy.of({"masks.inferred": most}), plan=plan),
            SimpleNamespace(gain=0.1 + 0.2),
        )
        for most in (0.3, 0.3 * BELOW)
    ]
    return found == [False, True]


def masks_act():
    """An intruder states what is at least so probable."""
    beliefs, truth = [np.array([0.3, 0.7 - 1e-13])], np.array([1])
    found = [stated(beliefs, truth, act=act)["disclosed"] for act in (0.7, 0.7 * ABOVE)]
    return found == [1, 0]


def sample_chance():
    return breaks(0.05 - 1e-13, 0.05, Says.OR_MORE)


def contributors_least():
    return not told(too_few(cell(5, 4, 3), 3)) and told(too_few(cell(5, 4), 3))


def contributors_p():
    return not told(p_percent(cell(30, 20, 3), 10)) and told(p_percent(cell(30, 20, 2.9999), 10))


def contributors_q():
    at, over = (told(p_percent(cell(30, 20, rest), 10, q=50)) for rest in (6, 5.9999))
    return not at and over


def contributors_k():
    near = 0.75 * 1e10 + 1  # of ten thousand million: was let pass as a rounding error
    at, over = (told(dominance(cell(*own), 1, 75)) for own in ((75, 25), (near, 1e10 - near)))
    return not at and over


def contributors_request():
    return told(requested(cell(20, 80, asked=20), 20)) and not told(
        requested(cell(19.99, 80.01, asked=19.99), 20)
    )


def cut(**limit):
    """Which of three cells are published: R1, R0 and what each adds."""
    R1, R0 = np.array([0.3, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])
    shares = np.array([0.1, 0.2, 0.7])
    return chosen(CutRule.of(**limit, edge="whole"), ranks(R1, R0), shares, shares).tolist()


def publish_ratio():
    """Published where R1 < this times R0; 0.1 + 0.2 is 0.3, whatever its rounding."""
    ratio = chosen(CutRule.of(ratio=0.1 + 0.2), np.array([0.3]), np.ones(1), np.ones(1))
    return ratio.tolist() == [0] and cut(ratio=1.0) == [1, 0, 0]


def publish_share():
    return cut(share=0.1 + 0.2) == [1, 1, 0]


def publish_risk():
    return cut(risk=0.3) == [1, 1, 0]


def desk(**keys):
    table = Table.of(np.full((2, 2, 2), 9), A="ab", B="cd", C="ef")
    return Desk(
        table, Policy.of({"server.rule": "myopic"} | {f"server.{k}": v for k, v in keys.items()})
    )


def server_max_order():
    return desk(max_order=2).barred(3) is None and desk(max_order=2).barred(7) is Why.ORDER


def server_cells():
    return desk(cells=4).barred(3) is None and desk(cells=4).barred(7) is Why.CELLS


def server_step_variables():
    return desk(step_variables=1).barred(3) is None and desk(step_variables=1).barred(7) is Why.STEP


def server_step_cells():
    return desk(step_cells=4).barred(3) is None and desk(step_cells=4).barred(7) is Why.STEP


def server_quota():
    return desk(quota=2).ask("A*B", received=1).why is not Why.QUOTA and (
        desk(quota=2).ask("A*B", received=2).why is Why.QUOTA
    )


CHECKS = {
    "small.most": small_most, "small.width": small_width, "published.least": published_least,
    "attribute.share": attribute_share, "closeness.share": closeness_share,
    "tables.least": tables_least, "belief.most": belief_most,
    "belief.identified": belief_identified, "belief.threshold": belief_threshold,
    "belief.people": belief_people, "belief.true_table": belief_true_table,
    "belief.attribute": belief_attribute, "belief.entropy": belief_entropy,
    "knowledge.limit": knowledge_limit, "masks.limit": masks_limit,
    "masks.inferred": masks_inferred, "masks.act": masks_act,
    "sample.chance": sample_chance, "contributors.least": contributors_least,
    "contributors.p": contributors_p, "contributors.q": contributors_q,
    "contributors.k": contributors_k, "contributors.request": contributors_request,
    "publish.ratio": publish_ratio, "publish.share": publish_share, "publish.risk": publish_risk,
    "server.max_order": server_max_order, "server.cells": server_cells,
    "server.step_variables": server_step_variables, "server.step_cells": server_step_cells,
    "server.quota": server_quota,
}  # fmt: skip
ELSEWHERE = {  # limits that others test at their end, or that nothing can equal
    "publish.floor": "tests/decision/survey", "publish.width": "tests/decision/survey",
    "server.delta": "a probability of draws, with its error",
    "contributors.range": "how far an interval reaches: tests/decision/batch",
}  # fmt: skip
NO_LIMIT = {  # numbers that say what is guarded, how it is worked out, or how much work is done
    "attribute.order", "tables.effort", "tables.seconds", "belief.prior", "belief.standard_error",
    "belief.effort", "belief.seconds", "knowledge.top", "contributors.coalition",
    "contributors.n", "bounds.effort", "bounds.seconds", "bounds.witness_effort",
    "bounds.witness_seconds", "bounds.gigabytes", "alternatives.number", "alternatives.effort",
    "alternatives.seconds", "server.approvers", "server.draws", "server.slot",
}  # fmt: skip


def test_every_number_of_a_policy_is_a_limit_or_not():
    """A new limit is to be added to CHECKS, with a check of a value that equals it."""
    numbers = {key for key, value in Policy().to_dict().items() if type(value) in (int, float)}
    assert {*CHECKS, *ELSEWHERE, *NO_LIMIT} == numbers


@pytest.mark.parametrize("key", CHECKS)
def test_a_value_at_its_limit(key):
    assert CHECKS[key]()
