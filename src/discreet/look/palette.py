"""Colours with one meaning each.

Within each group the colours stay apart for every common form of colour blindness, and words that
are set in a colour have a contrast of at least 4.5 with the paper; a test computes both.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from discreet.errors import DisclosureError

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True)
class Palette:
    """A colour for each meaning; no two meanings share one."""

    # what a margin's state is
    released: str
    possible: str
    gone: str
    # what is known of a count
    true: str
    interval: str
    belief: str
    # verdicts
    passed: str
    review: str
    fail: str
    # the page
    ink: str
    muted: str
    rule: str
    wash: str
    paper: str
    accent: str

    def __getitem__(self, meaning: str) -> str:
        """The colour of a meaning; a verdict's word works too."""
        name = {"pass": "passed"}.get(meaning.lower(), meaning.lower())
        colours = self.to_dict()
        if name not in colours:
            raise DisclosureError(
                f"no colour means {meaning!r}; the meanings are {', '.join(colours)}."
            )
        return colours[name]

    def to_dict(self) -> dict[str, str]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}


LIGHT = Palette(
    released="#0b5fa5", possible="#a3cbed", gone="#b4b7bc",
    true="#16191d", interval="#6592bf", belief="#6b2f86",
    passed="#00786a", review="#916800", fail="#8f1020",
    ink="#1d2127", muted="#59616b", rule="#d8dce1", wash="#f5f6f8", paper="#ffffff",
    accent="#1c4475",
)  # fmt: skip

DARK = Palette(
    released="#5aa9e6", possible="#2b5478", gone="#565a60",
    true="#f4f6f8", interval="#6f9ccb", belief="#edc6f2",
    passed="#3fb79f", review="#f0c558", fail="#ff7a66",
    ink="#e4e7eb", muted="#a3abb5", rule="#363c44", wash="#1c2127", paper="#14181d",
    accent="#8fbbea",
)  # fmt: skip

TERMINAL = {"PASS": "green", "REVIEW": "yellow", "FAIL": "red"}
