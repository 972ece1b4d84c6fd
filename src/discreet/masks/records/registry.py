"""Every mask of records, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import OptionError
from discreet.masks.records.coding import Code
from discreet.masks.records.mask import Mask
from discreet.masks.records.microaggregation import Microaggregate, Univariate
from discreet.masks.records.noise import Noise
from discreet.masks.records.pram import Pram
from discreet.masks.records.rankswap import RankSwap
from discreet.masks.records.recode import Recode
from discreet.masks.records.sampling import Sample
from discreet.masks.records.suppression import Suppress
from discreet.masks.records.swapping import Swap
from discreet.masks.synthesis.records import PrivateRecords, Synthesise

MASKS: dict[str, type[Mask]] = {
    mask.name: mask
    for mask in (
        *(Recode, Suppress, Pram, Swap, Code, Noise, RankSwap, Microaggregate, Univariate),
        *(Sample, Synthesise, PrivateRecords),
    )
}


def mask_names() -> tuple[str, ...]:
    """What masks of records are called.

    >>> mask_names()[:4]
    ('recode', 'blank', 'pram', 'swap')
    """
    return tuple(MASKS)


def mask_of(method: str, options: Mapping[str, Any]) -> Mask:
    """A mask by its name and options.

    >>> mask_of("sample", {"share": 0.1})
    Sample(share=0.1, records=None, households=None, strata=None)
    """
    if method not in MASKS:
        raise OptionError(f"there is no mask {method!r}; choose one of {', '.join(MASKS)}.")
    return MASKS[method].of(options)
