"""Which part of a release matters for some of the variables."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.table.lattice import maximal


def reduce_sets(margins: Iterable[int], target: int, held: int = 0) -> tuple[int, ...]:
    """Margins that give the same bounds for the cells of the `target` variables.

    A variable outside the target that stands in one margin only can be summed out of it: any
    table of the others extends to one with that margin (two margins always glue along what they
    share). Variables in `held` are spoken of elsewhere and stay.
    """
    sets = list(maximal(margins))
    while True:
        once = twice = 0
        for margin in sets:
            twice |= once & margin
            once |= margin
        lone = once & ~twice & ~target & ~held
        if not lone:
            return tuple(sets)
        sets = list(maximal(margin & ~lone for margin in sets))
