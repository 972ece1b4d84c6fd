"""Harm from what is inferred, rightly or wrongly (Lambert 1993, section 6.3)."""

from discreet.risk.linkage.harm.costs import OUTCOMES, SAID, Costs
from discreet.risk.linkage.harm.expected import ExpectedHarm, expected_harm
from discreet.risk.linkage.harm.felt import Harm
from discreet.risk.linkage.harm.losses import NumberLoss
from discreet.risk.linkage.harm.measure import harm
from discreet.risk.linkage.harm.own import OwnCost
from discreet.risk.linkage.harm.partial import Normal

__all__ = [
    "OUTCOMES", "SAID", "Costs", "ExpectedHarm", "Harm", "Normal", "NumberLoss", "OwnCost",
    "expected_harm", "harm",
]  # fmt: skip
