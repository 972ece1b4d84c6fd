"""The verdict alone: that of `decide` from scratch, by far less work, and by no clock."""

import dataclasses
import math
import time

import numpy as np
import pytest

from discreet.data.codebook import Role
from discreet.decision.answering.desk import Desk
from discreet.decision.answering.trial import WholeTrial
from discreet.decision.frontier.brief import Brief
from discreet.decision.law.decide import decide, ruling
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.intruder.bounds.integer import IntegerProgram
from discreet.intruder.bounds.linear import Program
from discreet.table.lattice import maximal
from discreet.table.table import Table

MYOPIC = Policy.of({"server.rule": "myopic"})


def random_table(seed, shape, people, *, sharp=0.8, classes=4):
    """People of a few classes, in each of which the variables are independent."""
    rng = np.random.default_rng([seed, people, len(shape)])
    shares = 0.0
    for weight in rng.dirichlet(np.ones(classes)):
        part = np.array(weight)
        for size in shape:
            part = np.multiply.outer(part, rng.dirichlet(np.full(size, sharp)))
        shares = shares + part
    array = rng.multinomial(people, (shares / shares.sum()).ravel()).reshape(shape)
    return Table.of(array, **{"ABCDEFGH"[i]: range(n) for i, n in enumerate(shape)})


def requests(rng, k, number):
    for _ in range(number):
        order = int(rng.integers(2, k + 1))
        yield sum(1 << int(p) for p in rng.choice(k, order, replace=False))


@pytest.mark.parametrize("shape", [(2,) * 5, (3, 3, 3), (4, 4, 3), (2, 4, 6)])
@pytest.mark.parametrize("people", [60, 300, 4_000])
def test_the_verdict_is_that_of_decide_from_scratch(shape, people):
    """By programs alone, as `decide` finds it where no tables are looked for."""
    rng, seen = np.random.default_rng(people), set()
    scratch = MYOPIC.change({"bounds.witness_seconds": 0.0})
    for seed in range(2):
        table = random_table(seed, shape, people)
        brief, desk = Brief(table, MYOPIC), Desk(table, MYOPIC)
        for margin in requests(rng, len(shape), 12):
            release = brief.release(maximal([*desk.out, margin]))
            found = ruling(table, release, MYOPIC)
            told = decide(table, release, scratch).verdict
            assert found is told or (found, told) == (Verdict.PASS, Verdict.REVIEW)
            assert ruling(table, release, MYOPIC) is found
            seen.add(found)
            if found is Verdict.PASS:
                desk.take([margin])
    assert Verdict.FAIL in seen or Verdict.PASS in seen


def test_roles_and_what_is_impossible():
    rng = np.random.default_rng(1)
    scratch = MYOPIC.change({"bounds.witness_seconds": 0.0})
    for seed in range(6):
        table = random_table(seed, (2, 3, 2, 2, 2), 150, sharp=0.5)
        roles = [list(Role)[i] for i in rng.integers(len(Role), size=5)]
        variables = tuple(
            dataclasses.replace(v, role=role)
            for v, role in zip(table.variables, roles, strict=True)
        )
        table = Table(variables, table.codes, table.counts)
        pair = table.margin(["A", "B"])
        empty = np.argwhere(pair.dense() == 0)
        if len(empty):
            table = table.excluding([{"A": int(empty[0][0]), "B": int(empty[0][1])}])
        brief = Brief(table, MYOPIC)
        for margin in requests(rng, 5, 8):
            release = brief.release(maximal([1, 2, 4, 8, 16, margin]))
            found, told = ruling(table, release, MYOPIC), decide(table, release, scratch).verdict
            assert found is told or (found, told) == (Verdict.PASS, Verdict.REVIEW)


class Work:
    """Programs that were solved."""

    def __init__(self, monkeypatch):
        self.linear = self.integer = 0
        for kind, name in ((Program, "linear"), (IntegerProgram, "integer")):
            monkeypatch.setattr(kind, "_least", self._counted(kind._least, name))

    def _counted(self, solve, name):
        def counted(*arguments):
            setattr(self, name, getattr(self, name) + 1)
            return solve(*arguments)

        return counted


WORST = [  # people, sharp, what is out, what is asked for
    (200, 5.0, (43, 45, 71, 106, 149, 172, 177, 178, 226, 228, 22, 56, 84, 152), 201),
    (200, 0.6, (7, 26, 28, 81, 48, 66, 68, 132, 160), 192),
    (1_000, 0.6, (30, 225, 42, 81, 138, 164, 194, 72), 144),
    (5_000, 0.6, (57, 11, 28, 73, 81, 112, 137, 148, 152, 161, 168, 5, 66, 192), 162),
]


@pytest.mark.parametrize(("people", "sharp", "out", "margin"), WORST)
def test_256_cells_take_few_programs(people, sharp, out, margin, monkeypatch):
    """From scratch thousands of linear and hundreds of integer programs were solved."""
    for seed in range(3):
        table = random_table(seed, (2,) * 8, people, sharp=sharp)
        trial = WholeTrial(Brief(table, MYOPIC))
        trial.take(out)
        work = Work(monkeypatch)
        trial.verdict([margin])
        assert work.linear <= 80
        assert work.integer <= 5
        monkeypatch.undo()


def test_no_clock_decides(monkeypatch):
    """The same verdicts while the clock runs a million times as fast, if none is set to stop."""
    policy = MYOPIC.effort(seconds=math.inf, witness_seconds=math.inf)
    table, rng = random_table(5, (2,) * 6, 200), np.random.default_rng(4)
    brief = Brief(table, MYOPIC)
    releases = [brief.release([1, 2, 4, 8, 16, 32, m]) for m in requests(rng, 6, 10)]
    usual = [ruling(table, release, policy) for release in releases]
    start = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: start + (time.perf_counter() - start) * 1e6)
    assert [ruling(table, release, policy) for release in releases] == usual


def test_light_rules_are_asked_first_and_one_refusal_is_enough(monkeypatch):
    table = Table.of([[[1, 8], [7, 9]], [[8, 9], [9, 7]]], A="ab", B="cd", C="ef")
    work = Work(monkeypatch)
    release = Brief(table, MYOPIC).release([7])
    assert ruling(table, release, MYOPIC) is Verdict.FAIL
    assert (work.linear, work.integer) == (0, 0)
