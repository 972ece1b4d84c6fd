"""The same people as several data sets: nothing public together is below the policy."""

import numpy as np
import pytest
from vintage_oracle import Column, Limits, Shown, unsafe
from vintages import harmless, held

from discreet.decision.answering.stayed import Stayed
from discreet.decision.answering.vintage import Changes
from discreet.decision.law.verdict import Verdict

SITES, PAIRS, FEWER = 300, 100, 40


def test_what_data_sets_of_the_same_people_tell_together_keeps_the_policy(postgres):
    found = held(range(SITES), postgres)
    print("", *found.lines(), sep="\n")
    assert not found.unsafe, "\n".join(found.unsafe)
    for name, tally in found.tallies.items():
        for what in ("opened", "asked about", "looked at"):
            assert tally[what], (name, what)


def test_a_server_that_judges_vintages_apart_is_found_out(postgres, monkeypatch):
    for judge in (Stayed, Changes):
        monkeypatch.setattr(judge, "verdict", lambda self, out: Verdict.PASS)
    assert held(range(FEWER), postgres).unsafe


def test_data_sets_of_other_people_can_be_opened(postgres):
    tally = harmless(PAIRS, postgres)
    print("", *(f"{what}: {number}" for what, number in sorted(tally.items())), sep="\n")
    assert tally["first"] == PAIRS
    assert tally["opened"]


# The oracle, where the answer is known

CELLS = [(a, b, c) for a in range(2) for b in range(2) for c in range(2)]
COLUMNS = {
    name: Column(tuple(str(cell[axis]) for cell in CELLS)) for axis, name in enumerate("ABC")
}
EIGHT = [1, 6, 7, 5, 8, 4, 6, 1]  # all pairs leave the two small cells a width of 2


def told(outs, came, limits):
    """What follows from margins of a first vintage and of a second, to which some came."""
    place = np.array([*np.repeat(np.arange(8), EIGHT), *came])
    presence = np.ones((len(place), 2), bool)
    presence[sum(EIGHT) :, 0] = False
    shown = [Shown(COLUMNS, limits, [tuple(m) for m in out]) for out in outs]
    return unsafe(shown, presence, place)[0]


@pytest.mark.parametrize(
    ("outs", "came", "width", "safe"),
    [
        ((["AB"], ["AC"]), (), 2, True),
        ((["AB", "AC"], ["BC"]), (), 2, True),
        ((["AB", "AC"], ["BC"]), (), 3, False),
        ((["AB", "AC"], ["AB"]), (), 3, True),
        ((["A"], ["A"]), (2,), 1, True),
        ((["A", "B", "C"], ["A", "BC"]), (2,), 1, False),  # the one newcomer, by subtraction
        ((["A"], ["B"]), (2,), 1, True),
        ((["A", "B"], ["A", "B"]), (2, 2, 2, 5, 5, 5), 1, True),
    ],
)
def test_the_oracle_sees_what_is_told_and_no_more(outs, came, width, safe):
    limits = Limits(most=1, width=width, attribute=False, share=0.95, exclusion=False, order=2)
    assert (not told(outs, came, limits)) is safe
