"""Rounding of printed cells to multiples of a base."""

from discreet.masks.rounding.controlled import Rounding, controlled
from discreet.masks.rounding.simple import (
    chances,
    conventional,
    masked,
    printed,
    random_rounding,
)
from discreet.masks.rounding.unbiased import Circulation

__all__ = [
    "Circulation",
    "Rounding",
    "chances",
    "controlled",
    "conventional",
    "masked",
    "printed",
    "random_rounding",
]
