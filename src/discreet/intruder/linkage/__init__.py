"""Which released record is whose: what an intruder believes (Lambert 1993)."""

from discreet.intruder.linkage.compose import compose
from discreet.intruder.linkage.equation import (
    exact_links,
    exchangeable_links,
    with_replacement_links,
)
from discreet.intruder.linkage.kinds import image
from discreet.intruder.linkage.links import Links, link
from discreet.intruder.linkage.model import Intruder, Key, Kind, Type
from discreet.intruder.linkage.records import Records, read_records

__all__ = [
    "Intruder",
    "Key",
    "Kind",
    "Links",
    "Records",
    "Type",
    "compose",
    "exact_links",
    "exchangeable_links",
    "image",
    "link",
    "read_records",
    "with_replacement_links",
]
