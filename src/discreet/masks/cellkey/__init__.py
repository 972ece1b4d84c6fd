"""Cell keys: noise that is the same for the same people."""

from discreet.masks.cellkey.case import Beliefs
from discreet.masks.cellkey.continuous import (
    Amounts,
    Flex,
    Simple,
    cell_key_amounts,
    perturbed,
    top,
)
from discreet.masks.cellkey.files import read_ptable, write_ptable
from discreet.masks.cellkey.keys import (
    as_fractions,
    empty_keys,
    fingerprint,
    from_fractions,
    record_keys,
    row_keys,
)
from discreet.masks.cellkey.likelihood import likelihood
from discreet.masks.cellkey.perturb import cell_key
from discreet.masks.cellkey.posterior import posterior
from discreet.masks.cellkey.ptable import PTable, amount_ptable, count_ptable

__all__ = [
    "Amounts",
    "Beliefs",
    "Flex",
    "PTable",
    "Simple",
    "amount_ptable",
    "as_fractions",
    "cell_key",
    "cell_key_amounts",
    "count_ptable",
    "empty_keys",
    "fingerprint",
    "from_fractions",
    "likelihood",
    "perturbed",
    "posterior",
    "read_ptable",
    "record_keys",
    "row_keys",
    "top",
    "write_ptable",
]
