"""Vintages and re-codings of the same people: nothing public together is below the policy."""

from vintages import held

MANY = 300


def test_what_vintages_tell_together_keeps_the_policy():
    tally, unsafe = held(0, MANY)
    print(*(f"\n{what}: {number}" for what, number in sorted(tally.items())), end="")
    assert not unsafe, "\n".join(unsafe)
    assert tally["checked"] > 2 * MANY
    assert tally["not listed"] < tally["checked"] / 10
