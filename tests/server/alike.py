"""Different tables that share what is public, and games that are played with a desk."""

import numpy as np

from discreet.decision.answering import Desk, Outcome
from discreet.decision.answering.many_tables import table_of
from discreet.decision.answering.public_belief import public_belief
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.table import Table


def random_table(rng, shape=(2, 2, 2), total=12, even=1.0):
    cells = int(np.prod(shape))
    counts = rng.multinomial(total, rng.dirichlet(np.full(cells, even)))
    names = "ABCDEFGHIJKL"[: len(shape)]
    return Table.of(counts.reshape(shape), **dict(zip(names, map(range, shape), strict=True)))


def public(table, out):
    """What is out, and its counts."""
    margins = Formula(table.names, out).margins
    return out, tuple(table.margin(names).dense().tobytes() for names in margins)


def sibling(table, out, rng):
    """A table with the same margins `out`, another one if there is any."""
    found = public_belief(Release.margins(table, Formula(table.names, out)), 40).tables
    other = found[(found != table.dense().ravel()).any(1)]
    drawn = table_of(table.variables, rng.choice(other if len(other) else found))
    assert public(drawn, out) == public(table, out)
    return drawn


def play(table, policy, requests):
    """The answers to requests, what was out before each, and what is out in the end."""
    desk, told = Desk(table, policy), []
    for margin in requests:
        told.append((desk.out, desk.ask(margin)))
        if told[-1][1].outcome is Outcome.GRANTED:
            desk.take([margin])
    return told, desk.out


def named(table, margin):
    return [name for place, name in enumerate(table.names) if margin >> place & 1]
