"""How long the desk takes to decide: long random sequences of requests on tables of 256 cells.

The hard ones have few people and many released margins of three and four variables: small moves
are impossible there, thousands of groups could be disclosed, and linear programs end in fractions.
The rival is the program as it was, which asked programs about every cell and every group; its
figures are of the same requests, in the same session, on the same machine.
"""

import time

import numpy as np
import pytest

from discreet.decision.answering.answer import Why
from discreet.decision.answering.desk import Desk
from discreet.decision.answering.trial import WholeTrial
from discreet.decision.law.policy import Policy
from discreet.table.table import Table

POLICY = Policy.of({"server.rule": "myopic"})
SHAPES = {"2^8": (2,) * 8, "4^4": (4,) * 4, "2x8x16": (2, 8, 16), "3x5x17": (3, 5, 17)}
PEOPLE, SEEDS, REQUESTS = (200, 1_000, 5_000, 20_000, 100_000), (1, 2), 30
BEFORE = {  # seconds of one core at f38df17: median, 99%, worst
    "2^8": (0.733, 20.383, 31.218),
    "4^4": (0.000, 6.629, 9.379),
    "2x8x16": (0.000, 0.073, 0.368),
    "3x5x17": (0.000, 0.164, 0.229),
}


def latent(shape, people, rng):
    """People of six classes, in each of which the variables are independent."""
    weights, shares = rng.dirichlet(np.ones(6)), np.zeros(shape)
    for weight in weights:
        part = np.array(weight)
        for size in shape:
            part = np.multiply.outer(part, rng.dirichlet(np.full(size, 0.6)))
        shares += part
    return rng.multinomial(people, (shares / shares.sum()).ravel()).reshape(shape)


def rough(shape, people, rng):
    """People in cells of any sizes."""
    shares = rng.dirichlet(np.full(int(np.prod(shape)), 0.3))
    return rng.multinomial(people, shares).reshape(shape)


def tables(shape):
    for people in PEOPLE:
        for make in (latent, rough):
            for seed in SEEDS:
                rng = np.random.default_rng([seed, people, len(shape), 0])
                array = make(shape, people, rng)
                names = {"ABCDEFGH"[i]: range(n) for i, n in enumerate(shape)}
                yield Table.of(array, **names), np.random.default_rng([seed, people, 7])


def requests(k, rng):
    for _ in range(REQUESTS):
        order = int(rng.integers(2, max(3, min(k, 2 + int(rng.integers(0, k))) + 1)))
        yield sum(1 << int(p) for p in rng.choice(k, order, replace=False))


def timed(desk, margin):
    """An answer, and the seconds of one core that it takes; the better of two if that is long."""
    begun = time.process_time()
    answer = desk.ask(margin)
    spent = time.process_time() - begun
    if spent > 0.2:
        again = Desk(desk.table, desk.policy, out=desk.out)
        begun = time.process_time()
        assert again.ask(margin).outcome is answer.outcome
        spent = min(spent, time.process_time() - begun)
    return answer, spent


def figures(seconds):
    return tuple(float(np.quantile(seconds, q)) for q in (0.5, 0.99, 1.0))


@pytest.mark.parametrize("kind", SHAPES)
def test_requests_one_after_another(kind):
    seconds, verdicts = [], {}
    for table, rng in tables(SHAPES[kind]):
        desk = Desk(table, POLICY)
        for margin in requests(len(table.names), rng):
            answer, spent = timed(desk, margin)
            if answer.why is Why.OUT:
                continue
            seconds.append(spent)
            verdicts[answer.outcome] = verdicts.get(answer.outcome, 0) + 1
            if answer.outcome == "granted":
                desk.take([margin])
    said = ", ".join(f"{number} {outcome}" for outcome, number in verdicts.items())
    print(f"\n{kind}: {len(seconds)} decisions ({said})")
    for when, (median, most, worst) in (("before", BEFORE[kind]), ("after", figures(seconds))):
        print(f"  {when:6}: median {median:.3f} s, 99% {most:.3f} s, worst {worst:.3f} s")
    assert max(seconds) < 1


@pytest.mark.parametrize("people", PEOPLE)
def test_a_survey(people, monkeypatch):
    """Which of 255 margins could still go: many margins are tried together, and most fail."""
    rng = np.random.default_rng([1, people, 8, 0])
    table = Table.of(latent((2,) * 8, people, rng), **{name: range(2) for name in "ABCDEFGH"})
    trials, ask = [], WholeTrial.verdict

    def counted(trial, margins):
        begun = time.process_time()
        found = ask(trial, margins)
        trials.append(time.process_time() - begun)
        return found

    desk = Desk(table, POLICY)
    monkeypatch.setattr(WholeTrial, "verdict", counted)
    begun = time.process_time()
    assert desk.space.survey()
    spent = time.process_time() - begun
    print(
        f"\n2^8, {people:,} people: {len(trials)} trials, {spent:.2f} s, worst {max(trials):.3f} s"
    )
    assert max(trials) < 1
