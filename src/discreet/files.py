"""Masks of files of records: each with what an intruder knows who knows the mask."""

from discreet.decision.compare.compared import Compared
from discreet.decision.compare.plan import Plan
from discreet.decision.compare.tried import Tried
from discreet.masks.records.chain import Chain, shuffled
from discreet.masks.records.coding import Code
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import Mask, MaskedFile
from discreet.masks.records.microaggregation import Microaggregate, Univariate
from discreet.masks.records.noise import Noise
from discreet.masks.records.pram import Pram
from discreet.masks.records.rankswap import RankSwap
from discreet.masks.records.reading import read_file
from discreet.masks.records.recode import Recode
from discreet.masks.records.registry import mask_names, mask_of
from discreet.masks.records.sampling import Sample
from discreet.masks.records.suppression import Suppress
from discreet.masks.records.swapping import Swap
from discreet.report.written.masked_file import write_masked
from discreet.risk.linkage.disclosed import Disclosed, Sensitive, disclosed

__all__ = [
    "Chain", "Code", "Compared", "Disclosed", "Mask", "MaskedFile", "Microaggregate",
    "Noise", "Plan", "Pram", "RankSwap", "Recode", "RecordFile", "Sample", "Sensitive",
    "Suppress", "Swap", "Tried", "Univariate", "disclosed", "mask_names", "mask_of",
    "read_file", "shuffled", "write_masked",
]  # fmt: skip
