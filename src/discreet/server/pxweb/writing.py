"""A table as PxWeb writes it: JSON-stat with codes, its older JSON, and its CSV."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from discreet.server.formats.citing import citation
from discreet.server.formats.safe import no_formula
from discreet.server.pxweb.cubes import CONTENTS, COUNT, Cube, codelist_id
from discreet.server.showing.languages import gettext as _

SEPARATORS = {"SeparatorTab": "\t", "SeparatorSpace": " ", "SeparatorSemicolon": ";"}


def json_stat2(
    cube: Cube, base: str, publisher: str, language: str, *, values: bool = True
) -> dict[str, Any]:
    """JSON-stat 2.0 as PxWebApi 2 has it; without values, the description of the table."""
    table, about = cube.table, cube.data.words.about
    ids = [*cube.codes, CONTENTS]
    notes = [*([cube.data.note] if cube.data.note else []), *about.notes]
    areas = [c for c, n in zip(cube.codes, table.names, strict=True) if _has_map(cube, n)]
    return {
        "version": "2.0",
        "class": "dataset",
        "label": cube.title,
        "source": citation(table, base, publisher),
        "updated": moment(table.at),
        **({"note": notes} if notes else {}),
        "role": {"metric": [CONTENTS], **({"geo": areas} if areas else {})},
        "id": ids,
        "size": [*table.counts.shape, 1],
        "dimension": {
            **{code: _dimension(cube, place, base) for place, code in enumerate(cube.codes)},
            CONTENTS: {
                "label": _("contents"),
                "category": {
                    "index": {COUNT: 0},
                    "label": {COUNT: _("Number")},
                    "unit": {COUNT: {"base": "number", "decimals": 0}},
                },
                "extension": {"elimination": False, "show": "value", "codelists": []},
            },
        },
        "extension": {
            "px": {
                "tableid": cube.id,
                "decimals": 0,
                "aggregallowed": True,
                "language": language,
                "contents": cube.data.title,
                "heading": [CONTENTS],
                "stub": list(cube.codes),
                "matrix": cube.id,
                "subject-code": cube.data.slug,
                "subject-area": cube.data.title,
            },
            "discontinued": cube.data.closed,
            **({"contact": [{"raw": about.contact}]} if about.contact else {}),
        },
        **({"value": table.counts.ravel().tolist()} if values else {}),
    }


def _has_map(cube: Cube, name: str) -> bool:
    return cube.data.words.variable(name).map is not None and name not in cube.table.levels


def _dimension(cube: Cube, place: int, base: str) -> dict[str, Any]:
    name, given = cube.table.names[place], cube.values[place]
    words = cube.data.words.variable(name)
    lists = [codelist_link(cube, name, n, base) for n in range(1, len(words.levels) + 1)]
    return {
        "label": cube.table.titles[place],
        **({"note": [words.description]} if words.description else {}),
        "category": {
            "index": {code: i for i, code in enumerate(given)},
            "label": dict(zip(given, cube.table.categories[place], strict=True)),
        },
        "extension": {
            "elimination": True,
            "show": "value",
            "codelists": lists,
            "codeLists": lists,  # as older clients spell it
        },
    }


def codelist_link(cube: Cube, name: str, level: int, base: str) -> dict[str, Any]:
    id = codelist_id(cube.data, name, level)
    merged = _("merged")
    label = f"{cube.data.words.title(name)}, {merged} {level}"
    href = f"{base}/api/v2/codelists/{id}"
    return {
        "id": id,
        "label": label,
        "type": "Aggregation",
        "links": [{"rel": "metadata", "hreflang": "en", "href": href}],
    }


def json_stat1(cube: Cube, base: str, publisher: str) -> dict[str, Any]:
    """JSON-stat of the first version, as PxWeb's first API has it."""
    new = json_stat2(cube, base, publisher, "en")
    dimension = {code: new["dimension"][code] for code in cube.codes}
    shape = {"id": list(cube.codes), "size": list(cube.table.counts.shape)}
    kept = {key: new[key] for key in ("label", "source", "updated", "value")}
    plain = {c: {k: v for k, v in d.items() if k != "extension"} for c, d in dimension.items()}
    return {"dataset": {**kept, "dimension": {**plain, **shape, "role": {}}}}


def json_px(cube: Cube) -> dict[str, Any]:
    """The JSON of PxWeb's first API: a key and a value for each cell."""
    notes = [*([cube.data.note] if cube.data.note else []), *cube.data.words.about.notes]
    columns = [
        {"code": code, "text": title, "type": "d"}
        for code, title in zip(cube.codes, cube.table.titles, strict=True)
    ]
    return {
        "columns": [*columns, {"code": COUNT, "text": _("Number"), "type": "c"}],
        "comments": [{"variable": "", "value": "", "comment": note} for note in notes],
        "data": [
            {"key": list(key), "values": [str(n)]}
            for key, n in zip(product(*cube.values), cube.table.counts.ravel(), strict=True)
        ],
    }


def csv_px(cube: Cube, heading: Sequence[str] = (), options: Sequence[str] = ()) -> bytes:
    """Variables of the stub in rows, those of the heading in columns."""
    separator = next((SEPARATORS[one] for one in options if one in SEPARATORS), ",")
    shown = [_written(codes, labels, options) for codes, labels in
             zip(cube.values, cube.table.categories, strict=True)]  # fmt: skip
    above = [place for place, code in enumerate(cube.codes) if code in heading]
    beside = [place for place in range(len(shown)) if place not in above]
    titles = cube.codes if "UseCodes" in options else cube.table.titles
    contents = _("Number")
    heads = [" ".join([contents, *labels]) for labels in product(*(shown[i] for i in above))]
    lines = [_quoted(cube.title)] if "IncludeTitle" in options else []
    lines.append(separator.join(map(_quoted, [*(titles[i] for i in beside), *heads])))
    counts = cube.table.counts.transpose([*beside, *above]).reshape(-1, len(heads))
    stub = product(*([_quoted(label) for label in shown[i]] for i in beside))
    for labels, row in zip(stub, counts.tolist(), strict=True):
        lines.append(separator.join([*labels, *map(str, row)]))
    return "".join(f"{line}\r\n" for line in lines).encode()


def _quoted(text: str) -> str:
    return '"' + no_formula(text).replace('"', '""') + '"'


def _written(codes: Sequence[str], labels: Sequence[str], options: Sequence[str]) -> list[str]:
    if "UseCodes" in options:
        return list(codes)
    if "UseCodesAndTexts" in options:
        return [f"{code} {label}" for code, label in zip(codes, labels, strict=True)]
    return list(labels)


def moment(at: str) -> str:
    """2026-11-15T16:41:49Z."""
    return f"{at[:19]}Z" if len(at) >= 19 else at
