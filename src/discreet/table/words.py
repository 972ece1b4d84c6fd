"""Cells in words for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from discreet.data.codebook import Variable


def spoken(cell: Mapping[str, str], variables: Iterable[Variable]) -> str:
    """The cell's categories; with the variable's name where a category alone says too little.

    >>> sex, ill = Variable("Sex", ("men", "women")), Variable("Ill", ("0", "1"))
    >>> spoken({"Sex": "men", "Ill": "1"}, [sex, ill])
    'men, Ill 1'
    """
    times = Counter(category for variable in variables for category in variable.categories)
    return ", ".join(
        category
        if times[category] == 1 and any(map(str.isalpha, category))
        else f"{name} {category}"
        for name, category in cell.items()
    )
