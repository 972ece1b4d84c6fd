"""What the codebook says in words reaches the ledger; maps become small outlines without gaps."""

import json
import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from discreet.data.codebook import Codebook
from discreet.errors import CodebookError
from discreet.server.launch import DataSpec
from discreet.server.showing.areas import MOST, read_areas
from discreet.server.showing.describe import Words, describe
from discreet.table.load import load
from discreet.table.table import Table

TOWNS = ("Ash", "Birch", "Cedar")


def square(x, y, size=1.0, **properties):
    corners = [[x, y], [x + size, y], [x + size, y + size], [x, y + size], [x, y]]
    geometry = {"type": "Polygon", "coordinates": [corners]}
    return {"type": "Feature", "properties": properties, "geometry": geometry}


@pytest.fixture
def geojson(tmp_path):
    def write(*features):
        path = tmp_path / "towns.geojson"
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        return path

    return write


@pytest.fixture
def table():
    return Table.of([[5, 6], [7, 8], [9, 4]], Town=TOWNS, Region=["N", "S"])


def outlines(path):
    """The corners of each ring of an SVG path in relative steps."""
    rings = []
    for start, steps in re.findall(r"M(\S+ \S+)l([^z]*)z", path):
        x, y = map(int, start.split())
        ring = [(x, y)]
        numbers = list(map(int, steps.split()))
        for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
            x, y = x + dx, y + dy
            ring.append((x, y))
        rings.append(ring)
    return rings


def area(ring):
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise([*ring, ring[0]]))) / 2


def test_a_table_in_words(table, geojson):
    path = geojson(square(0, 0, name="Ash"), square(1, 0, name="Cedar"), square(5, 5, name="Oak"))
    book = Codebook.of(
        {
            "Town": {
                "title": "Town of residence",
                "within": "Region",
                "hierarchy": {"Ash": "North", "Birch": "North"},
                "map": str(path),
            },
            "Region": {"unit": "km"},
            "Elsewhere": {"title": "not in the table"},
        },
        about={"universe": "Everybody", "notes": ["One."]},
    )
    book = Codebook(dict(book.entries), about=book.about)
    table = with_hierarchy(table, book)
    said = describe(book, table)
    assert json.loads(json.dumps(said)) == said
    assert (said["universe"], said["notes"]) == ("Everybody", ["One."])
    assert "source" not in said
    assert set(said["variables"]) == {"Town", "Region"}
    town = said["variables"]["Town"]
    assert (town["within"], town["levels"]) == ("Region", [["North", "North", "Cedar"]])
    assert set(town["map"]["paths"]) == {"Ash", "Cedar"}
    words = Words.of(said)
    assert words.about.notes == ("One.",)
    assert words.title("Town") == "Town of residence"
    assert words.title("Region") == "Region"
    assert words.variable("Town").levels == (("North", "North", "Cedar"),)
    assert words.variable("Town").map.paths == town["map"]["paths"]


def with_hierarchy(table, book):
    changed = [
        replace(v, hierarchy=book.entry(v.name).hierarchy) if v.name == "Town" else v
        for v in table.variables
    ]
    return replace(table, variables=tuple(changed))


def test_nothing_said_is_nothing_kept(table):
    assert describe(None, table) is None
    assert describe(Codebook.of({"Town": {"role": "neither"}}), table) is None
    assert Words.of(None) == Words()


def test_an_example_brings_its_own_words(tmp_path):
    czech = load("example:czech")
    said = describe(DataSpec("czech", "example:czech").book(), czech)
    assert said["variables"]["A"]["title"] == "Smoker"
    (tmp_path / "other.toml").write_text('[about]\nperiod = "1975"')
    other = DataSpec("czech", "example:czech", codebook=str(tmp_path / "other.toml"))
    assert describe(other.book(), czech) == {"period": "1975"}
    assert describe(DataSpec("people", "people.csv").book(), czech) is None


def test_neighbours_stay_neighbours(geojson):
    """A border with many corners, shared by two areas, is the same on both after rounding."""
    shore = [(0.5 + 0.1 * math.sin(i / 7), i / 4000) for i in range(4001)]
    west = [*shore, (0.0, 1.0), (0.0, 0.0), shore[0]]
    east = [*shore[::-1], (1.0, 0.0), (1.0, 1.0), shore[-1]]
    features = [
        {"properties": {"name": name}, "geometry": {"type": "MultiPolygon", "coordinates": [[r]]}}
        for name, r in (("Ash", west), ("Cedar", east))
    ]
    found = read_areas(geojson(*features), None, "Town", TOWNS)
    (left,), (right,) = outlines(found.paths["Ash"]), outlines(found.paths["Cedar"])
    assert sum(map(len, found.paths.values())) <= MOST
    whole = found.width * found.height
    assert area(left) + area(right) == pytest.approx(whole, rel=1e-3)
    inner = {p for p in left if 0 < p[0] < found.width and 0 < p[1] < found.height}
    assert inner == {p for p in right if 0 < p[0] < found.width and 0 < p[1] < found.height}
    assert len(inner) > 50


def test_degrees_are_narrower_in_the_north(geojson):
    south = read_areas(geojson(square(0, 0, name="Ash")), "name", "Town", TOWNS)
    north = read_areas(geojson(square(0, 60, name="Ash")), "name", "Town", TOWNS)
    metres = read_areas(geojson(square(5e5, 5e6, 1e5, name="Ash")), "name", "Town", TOWNS)
    assert south.width / south.height == pytest.approx(1, rel=0.01)
    assert north.width / north.height == pytest.approx(0.5, rel=0.05)
    assert metres.width == metres.height


def test_an_area_that_is_too_small_stays_to_be_seen(geojson):
    path = geojson(square(0, 0, 100, id=1), square(50, 50, 1e-6, id=2))
    found = read_areas(path, "id", "District", ("1", "2"))
    assert len(outlines(found.paths["2"])[0]) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the map '.*': no such file or directory; check the path"),
        ("{", "is not JSON; save it as GeoJSON"),
        ("[]", "has no features; save it as a GeoJSON FeatureCollection"),
        ('{"features": [3]}', "has a feature that cannot be read"),
        (
            '{"features": [{"geometry": {"type": "Polygon", "coordinates": [[["x", 1]]]}}]}',
            "has a feature that cannot be read",
        ),
        ('{"features": []}', "no 'name' in the map '.*' is a category of 'Town'"),
        (
            json.dumps({"features": [square(0, 0, NAME="Ash", id=3)]}),
            "name the property that is as map_key: it has NAME, id",
        ),
    ],
)
def test_a_map_that_cannot_be_drawn(tmp_path, content, message):
    path = tmp_path / "towns.geojson"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CodebookError, match=message) as caught:
        read_areas(path, None, "Town", TOWNS)
    assert "\n" not in str(caught.value)
