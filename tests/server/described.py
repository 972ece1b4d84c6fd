"""People of four towns, with all that a codebook can say of them: words, codings, a map."""

import json
from dataclasses import replace

import numpy as np

from discreet.data.codebook import Codebook
from discreet.server.showing.describe import describe
from discreet.table.table import Table

TOWNS = ("Ash", "Birch", "Cedar Hill", "Dogwood")
REGIONS = ("North", "North", "South", "South")
AGES = ("0 to 17", "18 to 39", "40 to 64", "65 and over")
OLDER = {"0 to 17": "under 40", "18 to 39": "under 40", "40 to 64": "40 and over",
         "65 and over": "40 and over"}  # fmt: skip
ABOUT = {
    "universe": "Residents of four towns",
    "period": "1 May 2026",
    "source": "Register of residents",
    "notes": ["Counted <once>."],
    "contact": "statistics@example.org",
    "licence": "CC BY 4.0",
}


def people():
    """Town, Region, Sex, Age; large counts, and every town in one region."""
    counts = np.zeros((4, 2, 2, 4), np.int64)
    rng = np.random.default_rng(2026)
    for town, region in enumerate(REGIONS):
        counts[town, ("North", "South").index(region)] = rng.integers(20, 400, (2, 4))
    return Table.of(counts, Town=TOWNS, Region=("North", "South"), Sex=("female", "male"), Age=AGES)


def squares(path):
    """A square for each town, but Dogwood, which has none."""
    features = []
    for place, town in enumerate(TOWNS[:3]):
        x, y = 10 + place % 2, 50 - place // 2
        ring = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1], [x, y]]
        geometry = {"type": "Polygon", "coordinates": [ring]}
        features.append({"type": "Feature", "properties": {"NAME": town}, "geometry": geometry})
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def book(folder):
    return Codebook.of(
        {
            "Town": {
                "title": "Town of residence",
                "description": "Where somebody spends most nights.",
                "within": "Region",
                "map": str(squares(folder / "towns.geojson")),
                "map_key": "NAME",
            },
            "Age": {"title": "Age group", "unit": "years", "hierarchy": OLDER},
        },
        about=ABOUT,
    )


def described(folder):
    """The table, and what the ledger says of it in words."""
    said = book(folder)
    table = people()
    named = [replace(v, hierarchy=said.entry(v.name).hierarchy) for v in table.variables]
    table = replace(table, variables=tuple(named))
    return table, describe(said, table)


def open_described(counter, folder, policy, slug="people", out=()):
    table, about = described(folder)
    counter.open(table, policy, slug=slug, title="People of the bay", about=about)
    for margin in out:
        decided = counter.request(slug, margin)
        assert decided.outcome == "granted", (margin, decided)
    return table
