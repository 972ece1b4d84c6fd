"""SDMX data structures with their code lists, read and written by pysdmx (https://sdmx.org)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from discreet.data.codebook import Codebook, Entry, Variable
from discreet.data.codes import apart, codes
from discreet.data.files import whole
from discreet.data.markup import read_xml
from discreet.errors import CodebookError, DisclosureError, OutputError

AGENCY, VERSION, MEASURE = "DISCREET", "1.0", "OBS_VALUE"


class Structured(Protocol):
    """What has variables: a `Table`."""

    @property
    def variables(self) -> tuple[Variable, ...]: ...


def read_sdmx(path: str | Path) -> Codebook:
    """The code lists of the dimensions and attributes of a structure, by their ids and names."""
    path = Path(path)
    try:
        from pysdmx.io import read_sdmx as read
    except ImportError:
        raise _absent(f"cannot read {path.name!r}", CodebookError) from None
    if path.suffix.lower() == ".xml":
        read_xml(path)  # which refuses entities
    elif not path.is_file():
        raise CodebookError(
            f"cannot read the codebook {str(path)!r}: no such file; check the path."
        )
    try:
        found = read(path, validate=False).structures or ()
    except ImportError:
        raise _absent(f"cannot read {path.name!r}", CodebookError) from None
    except Exception as error:  # noqa: BLE001 pysdmx and msgspec have many
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        raise CodebookError(
            f"{path.name!r} is no SDMX structure: {reason}; give one, or a TOML file."
        ) from None
    kind = "DataStructureDefinition"
    structures: list[Any] = [each for each in found if type(each).__name__ == kind]
    if len(structures) != 1:
        many = ", ".join(each.id for each in structures[:3]) or "none"
        raise CodebookError(
            f"{path.name!r} must hold one data structure with its code lists; it has {many}."
        )
    return _codebook(structures[0], found)


def _codebook(structure: Any, found: Sequence[Any]) -> Codebook:
    lists = {_short(each): each for each in found if type(each).__name__ == "Codelist"}
    concepts = {
        concept.id: concept
        for each in found
        if type(each).__name__ == "ConceptScheme"
        for concept in each.items
    }
    entries: dict[str, Entry] = {}
    named: dict[str, Entry] = {}
    for component in structure.components:
        concept = concepts.get(getattr(component.concept, "item_id", component.id))
        concept = concept or component.concept
        title = component.name or getattr(concept, "name", None)
        listed = _codes(component, concept, lists)
        labels = {code.id: " ".join((code.name or code.id).split()) for code in listed}
        words = component.description or getattr(concept, "description", None)
        entries[component.id] = Entry(
            apart(labels), title=title, description=words, open=bool(labels)
        )
        if title:
            named[title.strip()] = entries[component.id]
    return Codebook({**named, **entries}, documents=True)


def _codes(component: Any, concept: Any, lists: dict[str, Any]) -> Sequence[Any]:
    """Of the component, else of its concept; a list may be named or stand there."""
    for holder, kept, reference in (
        (component, "local_codes", "local_enum_ref"),
        (concept, "codes", "enum_ref"),
    ):
        if (own := getattr(holder, kept, None)) is not None:
            return tuple(own)
        if (said := getattr(holder, reference, None)) is not None:
            return tuple(lists.get(str(said).rpartition("=")[2], ()))
    return ()


def _short(codelist: Any) -> str:
    agency = getattr(codelist.agency, "id", codelist.agency)
    return f"{agency}:{codelist.id}({codelist.version})"


def write_sdmx(table: Structured, path: str | Path, *, name: str = "Table") -> None:
    """The variables and categories of a table as a data structure: SDMX-ML 2.1 (.xml) or
    SDMX-JSON 2.0 (.json). No count is written.

    >>> import discreet as dc
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dc.codebooks.write_sdmx(dc.load("example:tract"), f"{folder}/tract.json")
    ...     book = dc.codebooks.Codebook.read(f"{folder}/tract.json")
    >>> list(book.entry("Gender").labels.values())
    ['Male', 'Female']
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".xml", ".json"):
        raise OutputError(f"cannot write {str(path)!r}: end its name in .xml or .json.")
    try:
        from pysdmx.io import write_sdmx as write
        from pysdmx.io.format import Format

        kinds = {".xml": Format.STRUCTURE_SDMX_ML_2_1, ".json": Format.STRUCTURE_SDMX_JSON_2_0_0}
        content = write(_structures(table.variables, name), kinds[suffix])
    except ImportError:
        raise _absent(f"cannot write {str(path)!r}", OutputError) from None
    with whole(path) as temporary:
        temporary.write_text(str(content), encoding="utf-8")


def _structures(variables: Sequence[Variable], name: str) -> list[Any]:
    import pysdmx.model as sdmx

    ids = [_id(code) for code in codes([MEASURE, *(v.name for v in variables)])]
    concepts = sdmx.ConceptScheme(
        "CONCEPTS",
        name="Concepts",
        agency=AGENCY,
        version=VERSION,
        items=[
            *(sdmx.Concept(i, name=v.name) for i, v in zip(ids[1:], variables, strict=True)),
            sdmx.Concept(MEASURE, name="Count"),
        ],
    )
    lists = [
        sdmx.Codelist(
            f"CL_{i}",
            name=v.name,
            agency=AGENCY,
            version=VERSION,
            items=[
                sdmx.Code(_code(code), name=category)
                for code, category in zip(codes(v.categories), v.categories, strict=True)
            ],
        )
        for i, v in zip(ids[1:], variables, strict=True)
    ]
    parts = [_component(i, sdmx.Role.DIMENSION, f"CL_{i}") for i in ids[1:]]
    structure = sdmx.DataStructureDefinition(
        id="TABLE",
        name=name,
        agency=AGENCY,
        version=VERSION,
        components=sdmx.Components([*parts, _component(MEASURE, sdmx.Role.MEASURE, None)]),
    )
    return [*lists, concepts, structure]


def _component(identity: str, role: Any, codelist: str | None) -> Any:
    import pysdmx.model as sdmx

    concept = sdmx.ItemReference(
        sdmx_type="Concept", agency=AGENCY, id="CONCEPTS", version=VERSION, item_id=identity
    )
    listed = f"urn:sdmx:org.sdmx.infomodel.codelist.Codelist={AGENCY}:{codelist}({VERSION})"
    return sdmx.Component(
        identity,
        required=True,
        role=role,
        concept=concept,
        local_dtype=sdmx.DataType.STRING if codelist else sdmx.DataType.INTEGER,
        local_enum_ref=listed if codelist else None,
    )


def _code(code: str) -> str:
    return code.upper().replace("-", "_")


def _id(code: str) -> str:
    """Of a dimension: it begins with a letter."""
    code = _code(code)
    return code if code[0].isalpha() else f"V_{code}"


def _absent(what: str, kind: type[DisclosureError]) -> DisclosureError:
    return kind(f"{what}: SDMX needs pysdmx; pip install 'discreet[sdmx]'.")
