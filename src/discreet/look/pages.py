"""Which page shows which result: `report` has the pages, and results come before it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.errors import DisclosureError

PAGES = {
    "Assessment": "discreet.report.assessment:assessment_page",
    "Batch": "discreet.report.batch:batch_page",
    "BeliefRisk": "discreet.report.beliefs:beliefs_page",
    "CellBounds": "discreet.report.bounds:bounds_page",
    "Checked": "discreet.report.checked:checked_page",
    "Choice": "discreet.report.choice:choice_page",
    "Compared": "discreet.report.compared:compared_page",
    "Comparison": "discreet.report.changes:changes_page",
    "DecomposableFrontier": "discreet.report.decomposable:decomposable_page",
    "Described": "discreet.report.described:described_page",
    "Frontier": "discreet.report.frontier:frontier_page",
    "Identification": "discreet.report.identify:identify_page",
    "MaskedBatch": "discreet.report.masked:masked_page",
    "Posterior": "discreet.report.beliefs:posterior_page",
    "PriorSensitivity": "discreet.report.beliefs:sensitivity_page",
    "Publication": "discreet.report.publish:publish_page",
    "Several": "discreet.report.several:several_page",
    "TableCount": "discreet.report.count:count_page",
    "Taught": "discreet.report.knowledge:knowledge_page",
    "Together": "discreet.report.together:together_page",
    "Uniques": "discreet.report.uniques:uniques_page",
    "Widths": "discreet.report.widths:widths_page",
    "Withheld": "discreet.report.hiding:hiding_page",
}
WRITER = "discreet.report.html:write_html"


def page_of(result: Any, **options: Any) -> Any:
    """The page of a result; the options are those of its kind of page."""
    kinds = [kind.__name__ for kind in type(result).__mro__ if kind.__name__ in PAGES]
    if not kinds:
        raise DisclosureError(
            f"there is no page of a {type(result).__name__}; there are pages of {', '.join(PAGES)}."
        )
    return _found(PAGES[kinds[0]])(result, **options)


def write_page(result: Any, path: str | Path, **options: Any) -> None:
    """The page of a result as one HTML file, whole or not at all."""
    _found(WRITER)(result, path, **options)


def _found(address: str) -> Any:
    """What is at `module:name`, imported now: `report` comes after what it shows."""
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)
