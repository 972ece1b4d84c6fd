"""Synthetic and differentially private data: models, copies, what follows from them."""

from discreet.masks.synthesis.attribute import AttributeRisk, attribute_risk
from discreet.masks.synthesis.combine import Combined, combine_copies
from discreet.masks.synthesis.counts import count_belief
from discreet.masks.synthesis.graphical import AveragedCells, graphical
from discreet.masks.synthesis.private import PrivateTable, private_table
from discreet.masks.synthesis.records import PrivateRecords, Synthesise
from discreet.masks.synthesis.reproduced import Reproduced, reproduced
from discreet.masks.synthesis.synthesise import Synthetic, synthesise
from discreet.models.decomposed import LogLinearCells
from discreet.models.latent import LatentClasses
from discreet.models.membership import GradeOfMembership

__all__ = [
    "AttributeRisk", "AveragedCells", "Combined", "GradeOfMembership", "LatentClasses",
    "LogLinearCells", "PrivateRecords", "PrivateTable", "Reproduced", "Synthesise", "Synthetic",
    "attribute_risk", "combine_copies", "count_belief", "graphical", "private_table", "reproduced",
    "synthesise",
]  # fmt: skip
