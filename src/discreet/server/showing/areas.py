"""Areas of a map: from GeoJSON to outlines that are small enough to be kept in the ledger.

Every corner is rounded to a grid of whole numbers. Neighbours share their corners, so they share
the rounded ones: no gaps open between them. The grid is made coarser until all outlines are short
enough.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, radians
from pathlib import Path
from typing import Any

from discreet.data.frames import label
from discreet.errors import CodebookError

KEY = "name"  # the property that names an area, unless the codebook says another
LARGEST = 50_000_000  # bytes of a file that is read
MOST = 120_000  # characters of all outlines
GRIDS = (1200, 1000, 800, 600, 450, 350, 250, 180, 120, 80)  # steps along the longer side

Point = tuple[float, float]
Ring = Sequence[Point]


@dataclass(frozen=True)
class Areas:
    """Outlines as SVG paths by category, on a sheet of this width and height."""

    width: int
    height: int
    paths: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        return {"width": self.width, "height": self.height, "paths": dict(self.paths)}


def read_areas(path: Path, key: str | None, name: str, categories: Iterable[str]) -> Areas:
    """The areas of a variable's categories, from a GeoJSON file."""
    shown, key = f"the map {str(path)!r}", key or KEY
    rings: dict[str, list[Ring]] = {}
    wanted, named = set(categories), set[str]()
    for properties, outline in _features(path, shown):
        named.update(properties)
        category = label(properties[key]) if key in properties else None
        if category in wanted:
            rings.setdefault(str(category), []).extend(outline)
    if not rings:
        has = f"it has {', '.join(sorted(named)[:10])}" if named else "its areas have none"
        raise CodebookError(
            f"no {key!r} in {shown} is a category of {name!r}; name the property that is as "
            f"map_key: {has}."
        )
    return _drawn({category: rings[category] for category in categories if category in rings})


def _features(path: Path, shown: str) -> list[tuple[Mapping[str, Any], list[Ring]]]:
    try:
        if path.stat().st_size > LARGEST:
            raise CodebookError(f"{shown} is larger than {LARGEST:,} bytes; simplify it first.")
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CodebookError(f"cannot read {shown}: {reason}; check the path.") from None
    except ValueError:
        raise CodebookError(f"{shown} is not JSON; save it as GeoJSON in UTF-8.") from None
    features = content.get("features") if isinstance(content, dict) else None
    if not isinstance(features, list):
        raise CodebookError(f"{shown} has no features; save it as a GeoJSON FeatureCollection.")
    try:
        return [(f.get("properties") or {}, _rings(f.get("geometry") or {})) for f in features]
    except (AttributeError, KeyError, TypeError, ValueError, IndexError):
        raise CodebookError(
            f"{shown} has a feature that cannot be read; polygons are lists of rings of points."
        ) from None


def _rings(geometry: Mapping[str, Any]) -> list[Ring]:
    match geometry.get("type"):
        case "Polygon":
            polygons = [geometry["coordinates"]]
        case "MultiPolygon":
            polygons = geometry["coordinates"]
        case _:
            return []
    return [[(float(p[0]), float(p[1])) for p in ring] for polygon in polygons for ring in polygon]


def _drawn(rings: Mapping[str, list[Ring]]) -> Areas:
    """The outlines on the finest grid on which they are short enough."""
    points = [point for outline in rings.values() for ring in outline for point in ring]
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    low, high = min(y for _, y in points), max(y for _, y in points)
    degrees = left >= -180 and right <= 180 and low >= -90 and high <= 90
    narrow = cos(radians((low + high) / 2)) if degrees else 1.0
    wide, tall = (right - left) * narrow, high - low
    side = max(wide, tall) or 1.0
    for grid in GRIDS:
        scale = grid / side

        def place(point: Point, scale: float = scale) -> tuple[int, int]:
            return round((point[0] - left) * narrow * scale), round((high - point[1]) * scale)

        paths = {
            category: _path([[place(point) for point in ring] for ring in outline])
            for category, outline in rings.items()
        }
        if sum(map(len, paths.values())) <= MOST:
            return Areas(max(1, round(wide * scale)), max(1, round(tall * scale)), paths)
    raise CodebookError(
        f"the outlines of {len(rings):,} areas are too long even on a coarse grid; map a coarser "
        "coding of the variable."
    )


def _path(rings: list[list[tuple[int, int]]]) -> str:
    """An SVG path in relative steps; an area that would vanish becomes a small square."""
    drawn = [ring for ring in map(_simple, rings) if len(ring) > 2]
    if not drawn:
        x, y = rings[0][0]
        drawn = [[(x - 1, y - 1), (x + 1, y - 1), (x + 1, y + 1), (x - 1, y + 1)]]
    parts = []
    for ring in drawn:
        steps = [f"{b[0] - a[0]} {b[1] - a[1]}" for a, b in pairwise(ring)]
        parts.append(f"M{ring[0][0]} {ring[0][1]}l{' '.join(steps)}z")
    return "".join(parts)


def _simple(ring: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without corners that are none: repeated points, and points on a straight line."""
    kept: list[tuple[int, int]] = []
    for point in ring[:-1] if len(ring) > 1 and ring[0] == ring[-1] else ring:
        if kept and kept[-1] == point:
            continue
        while len(kept) > 1 and _straight(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    while len(kept) > 1 and kept[-1] == kept[0]:
        kept.pop()
    return kept


def _straight(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    """Does b lie on the way from a to c, or on a spike?"""
    return (b[0] - a[0]) * (c[1] - b[1]) == (b[1] - a[1]) * (c[0] - b[0])
