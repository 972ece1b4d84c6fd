"""Uncertainty functions by name, as commands and policies write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from discreet.data.smallfiles import read_matrix, read_pairs
from discreet.errors import DataError
from discreet.risk.uncertainty.base import Uncertainty
from discreet.risk.uncertainty.categories import (
    ByProbability,
    Entropy,
    Largest,
    TwoSided,
    Weighted,
)
from discreet.risk.uncertainty.numbers import (
    Absolute,
    Lengths,
    OverUnder,
    RelativeError,
    Variance,
)
from discreet.risk.uncertainty.written import Loss, LossAtValues

NAMES = (
    "entropy", "largest", "weighted:NUMBERS|FILE", "inverse", "two-sided:A:B", "variance",
    "relative", "absolute", "over-under:A:B", "lengths", "loss:FILE",
)  # fmt: skip
_PLAIN: dict[str, type[Uncertainty]] = {
    "entropy": Entropy,
    "log": Entropy,
    "largest": Largest,
    "zero-one": Largest,
    "inverse": ByProbability,
    "variance": Variance,
    "squared": Variance,
    "relative": RelativeError,
    "absolute": Absolute,
    "lengths": Lengths,
}
_PAIRS: dict[str, Callable[..., Uncertainty]] = {"two-sided": TwoSided, "over-under": OverUnder}


def uncertainty_named(text: str, categories: Sequence[str] = ()) -> Uncertainty:
    """The uncertainty function that a name stands for; `categories` are those of the target.

    >>> uncertainty_named("two-sided:1:2")
    TwoSided(a=1.0, b=2.0, ...)
    """
    name, _, rest = text.partition(":")
    if name in _PLAIN and not rest:
        return _PLAIN[name]()
    if name in _PAIRS:
        numbers = [_number(part, text) for part in rest.split(":")] if rest else []
        if len(numbers) > 2:
            raise DataError(f"{text!r} has more than two numbers; write {name}:A:B.")
        return _PAIRS[name](*numbers)
    if name == "weighted" and rest:
        return Weighted(_weights(rest, text, categories))
    if name == "loss" and rest:
        return _loss(rest, categories)
    raise DataError(f"there is no uncertainty {text!r}; write {', '.join(NAMES)}.")


def as_uncertainty(given: str | Uncertainty | Callable[[Any, Any], float]) -> Uncertainty:
    """By its name, as it is, or from a loss as a function of estimate and truth."""
    if isinstance(given, str):
        return uncertainty_named(given)
    return given if isinstance(given, Uncertainty) else Loss(given)


def _weights(rest: str, text: str, categories: Sequence[str]) -> dict[str, float]:
    if Path(rest).suffix:
        try:
            return read_pairs(rest).numbers
        except DataError:
            if "," not in rest:
                raise
    numbers = [_number(part, text) for part in rest.split(",")]
    if len(numbers) != len(categories):
        raise DataError(
            f"{text!r} has {len(numbers)} weights for {len(categories)} categories "
            f"({', '.join(categories[:10])}); give one each, in this order."
        )
    return dict(zip(categories, numbers, strict=True))


def _loss(path: str, categories: Sequence[str]) -> Loss:
    acts, columns, figures = read_matrix(path)
    if not categories:
        raise DataError("a loss matrix needs a target with categories; use --target.")
    if sorted(columns) != sorted(map(str, categories)):
        if (places := _places(columns)) is not None:
            return LossAtValues(figures, acts, at=places)
        odd = min(set(columns) ^ set(map(str, categories)), default=columns[0])
        raise DataError(
            "the columns of the loss matrix must be the categories, each once, or numbers: see "
            f"{odd!r}."
        )
    order = [columns.index(str(name)) for name in categories]
    return Loss([[row[i] for i in order] for row in figures], acts)


def _places(columns: Sequence[str]) -> list[float] | None:
    """The values that a loss is written for; None if they are labels."""
    try:
        return [float(column) for column in columns]
    except ValueError:
        return None


def _number(part: str, text: str) -> float:
    try:
        return float(part)
    except ValueError:
        raise DataError(f"{part!r} in {text!r} is no number.") from None
