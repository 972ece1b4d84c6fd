"""The same people as several data sets: nothing public together is below the policy."""

from vintages import harmless, held

SITES, PAIRS = 300, 100


def test_what_data_sets_of_the_same_people_tell_together_keeps_the_policy(postgres):
    found = held(range(SITES), postgres)
    print("", *found.lines(), sep="\n")
    assert not found.unsafe, "\n".join(found.unsafe)
    for name, tally in found.tallies.items():
        for what in ("opened", "asked about", "looked at"):
            assert tally[what], (name, what)


def test_data_sets_of_other_people_are_asked_about_less_often_than_not(postgres):
    tally = harmless(PAIRS, postgres)
    print("", *(f"{what}: {number}" for what, number in sorted(tally.items())), sep="\n")
    assert tally["first"] == PAIRS
