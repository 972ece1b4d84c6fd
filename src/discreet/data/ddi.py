"""DDI Codebook 1.2.2 to 2.6: variables, their categories and missing codes, where they stand.

https://ddialliance.org/Specification/DDI-Codebook. Labels there are no closed list: a code without
one keeps its own name.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from discreet.data.codebook import MISSING, Codebook, Entry
from discreet.data.codes import apart
from discreet.data.describing import LONGEST, About
from discreet.data.layout import Field
from discreet.data.markup import children, read_xml, words
from discreet.errors import CodebookError


@dataclass(frozen=True)
class Documented:
    """What a DDI file says: a codebook, and the fields of a fixed-width file if it has them."""

    codebook: Codebook
    fields: tuple[Field, ...]


def read_ddi(path: str | Path) -> Documented:
    return of_ddi(read_xml(path), Path(path).name)


def of_ddi(root: Element, name: str) -> Documented:
    variables = {found.get("name", "").strip(): found for found in root.iter("var")}
    variables.pop("", None)
    if root.tag != "codeBook" or not variables:
        raise CodebookError(
            f"{name!r} is no DDI codebook with variables (codeBook, dataDscr, var); give one, or "
            "a TOML file."
        )
    weights = [column for column, found in variables.items() if found.get("wgt") == "wgt"]
    codebook = Codebook(
        {column: _entry(found, name) for column, found in variables.items()},
        weights=weights[0] if len(weights) == 1 else None,
        about=_about(root),
        documents=True,
    )
    located = [(column, found.find("location")) for column, found in variables.items()]
    fields = [_field(column, found, name) for column, found in located if found is not None]
    return Documented(codebook, tuple(part for part in fields if part is not None))


def _entry(variable: Element, name: str) -> Entry:
    labels: dict[str, str] = {}
    for category in children(variable, "catgry"):
        code = words(category.find("catValu"))
        if not code:
            continue
        said = MISSING if category.get("missing") == "Y" else _label(category) or code
        if labels.setdefault(code, said) != said:
            raise CodebookError(
                f"{name!r} gives the code {code!r} of {variable.get('name')!r} two labels; keep "
                "one."
            )
    for wrong in variable.iter("invalrng"):
        labels |= {item.get("VALUE", "").strip(): MISSING for item in children(wrong, "item")}
    labels.pop("", None)
    question = variable.find("qstn")
    asked = words(variable.find("txt")) or words(
        question.find("qstnLit") if question is not None else None
    )
    return Entry(
        _apart(labels),
        title=_label(variable)[:LONGEST] or None,
        description=asked[:LONGEST] or None,
        open=bool(labels),
    )


def _apart(labels: dict[str, str]) -> dict[str, str]:
    said = apart({code: text for code, text in labels.items() if text != MISSING})
    return {code: said.get(code, MISSING) for code in labels}


def _label(element: Element) -> str:
    return next((text for found in children(element, "labl") if (text := words(found))), "")


def _field(column: str, location: Element, name: str) -> Field | None:
    start, width, end = (location.get(key, "") for key in ("StartPos", "width", "EndPos"))
    if not start:
        return None
    try:
        first = int(start)
        size = int(width) if width else int(end) - first + 1
    except ValueError:
        first = size = 0
    if first < 1 or size < 1:
        raise CodebookError(
            f"{name!r} says that {column!r} stands at {start!r} with the width {width!r} and the "
            f"end {end!r}; correct it."
        )
    return Field(column, first, size)


def _about(root: Element) -> About:
    study = root.find("stdyDscr")
    if study is None:
        return About()
    said = {
        "source": words(study.find("citation/titlStmt/titl")),
        "universe": words(study.find("stdyInfo/sumDscr/universe")),
        "period": words(study.find("stdyInfo/sumDscr/timePrd")),
    }
    return About(**{key: text[:LONGEST] or None for key, text in said.items()})  # type: ignore[arg-type]
