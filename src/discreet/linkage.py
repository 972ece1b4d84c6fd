"""Who could be found in a released file, and what harm (Lambert 1993)."""

from discreet.intruder.linkage.compose import compose
from discreet.intruder.linkage.equation import (
    exact_links,
    exchangeable_links,
    with_replacement_links,
)
from discreet.intruder.linkage.kinds import image
from discreet.intruder.linkage.links import Links, link
from discreet.intruder.linkage.model import By, Intruder, Key, Kind, Stated
from discreet.intruder.linkage.records import Records, read_records
from discreet.risk.linkage.calibration import Calibration, calibration
from discreet.risk.linkage.harm import (
    Costs,
    ExpectedHarm,
    Harm,
    Normal,
    NumberLoss,
    OwnCost,
    expected_harm,
    harm,
)
from discreet.risk.linkage.harmless import Harmless, harmless
from discreet.risk.linkage.identification import Identification, identify
from discreet.risk.linkage.inference import belief_about, record_beliefs
from discreet.risk.linkage.matching import Matching, matching
from discreet.risk.linkage.replacement import Replacement, with_replacement
from discreet.risk.linkage.several import Several, several

__all__ = [
    "By", "Calibration", "Costs", "ExpectedHarm", "Harm", "Harmless", "Identification",
    "Intruder", "Key", "Kind", "Links", "Matching", "Normal", "NumberLoss", "OwnCost",
    "Records", "Replacement", "Several", "Stated", "belief_about", "calibration", "compose",
    "exact_links", "exchangeable_links", "expected_harm", "harm", "harmless", "identify",
    "image", "link", "matching", "read_records", "record_beliefs", "several",
    "with_replacement", "with_replacement_links",
]  # fmt: skip
