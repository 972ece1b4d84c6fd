"""Who could be found in a released file, and what harm (Lambert 1993)."""

from discreet.intruder.linkage.compose import compose
from discreet.intruder.linkage.equation import (
    exact_links,
    exchangeable_links,
    with_replacement_links,
)
from discreet.intruder.linkage.kinds import image
from discreet.intruder.linkage.links import Links, link
from discreet.intruder.linkage.model import Intruder, Key, Kind
from discreet.intruder.linkage.records import Records, read_records
from discreet.risk.linkage.calibration import Calibration, calibration
from discreet.risk.linkage.harm import Costs, Harm, harm
from discreet.risk.linkage.harmless import Harmless, harmless
from discreet.risk.linkage.identification import Identification, identify
from discreet.risk.linkage.inference import belief_about, record_beliefs
from discreet.risk.linkage.matching import Matching, matching

__all__ = [
    "Calibration", "Costs", "Harm", "Harmless", "Identification", "Intruder", "Key", "Kind",
    "Links", "Matching", "Records", "belief_about", "calibration", "compose", "exact_links",
    "exchangeable_links", "harm", "harmless", "identify", "image", "link", "matching",
    "read_records", "record_beliefs", "with_replacement_links",
]  # fmt: skip
