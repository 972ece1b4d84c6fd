"""Which released record is whose: what an intruder believes (Lambert 1993)."""

from discreet.intruder.linkage.equation import (
    exact_links,
    exchangeable_links,
    with_replacement_links,
)
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
    "exact_links",
    "exchangeable_links",
    "link",
    "read_records",
    "with_replacement_links",
]
