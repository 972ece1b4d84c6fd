"""Cells in words for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from discreet.data.codebook import Variable
from discreet.look.words import named

MOST_UNNAMED = 3  # variables whose categories can go without names


def spoken(cell: Mapping[str, str], variables: Iterable[Variable]) -> str:
    """The cell's categories; with the variable's name where a category alone says too little, and
    all with their names if they are many.

    >>> sex, ill = Variable("Sex", ("men", "women")), Variable("Ill", ("0", "1"))
    >>> spoken({"Sex": "men", "Ill": "1"}, [sex, ill])
    'men, Ill 1'
    >>> spoken(dict.fromkeys("ABCD", "low"), [])
    'A=low, B=low, C=low, D=low'
    """
    if len(cell) > MOST_UNNAMED:
        return named(cell)
    times = Counter(category for variable in variables for category in variable.categories)
    return ", ".join(
        category
        if times[category] == 1 and any(map(str.isalpha, category))
        else f"{name} {category}"
        for name, category in cell.items()
    )


def brief(cell: Mapping[str, str]) -> str:
    """The cell's categories, below or beside a heading that names the variables in this order;
    with their names if they are many.

    >>> brief({"Sex": "men", "Ill": "1"}), brief(dict.fromkeys("ABCD", "low"))
    ('men, 1', 'A=low, B=low, C=low, D=low')
    """
    return named(cell) if len(cell) > MOST_UNNAMED else ", ".join(cell.values())
