"""XML as a tree of local names; files that declare entities are refused, nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from discreet.errors import CodebookError, reason


def read_xml(path: str | Path) -> Element:
    """The root; names of elements and attributes are without their namespace."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CodebookError(
            f"cannot read the codebook {str(path)!r}: {reason(error)}; check the path."
        ) from None
    return parse_xml(content, path.name)


def parse_xml(content: bytes, name: str) -> Element:
    """
    >>> parse_xml(b"<a:b xmlns:a='x'><a:c d='1'/></a:b>", "it").find("c").attrib
    {'d': '1'}
    """
    builder, parser = TreeBuilder(), expat.ParserCreate()
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise CodebookError(f"{name!r} declares entities, which are not read; write them out.")

    def start(tag: str, attributes: dict[str, str]) -> None:
        builder.start(_local(tag), {_local(key): text for key, text in attributes.items()})

    def end(tag: str) -> None:
        builder.end(_local(tag))

    def data(text: str) -> None:
        builder.data(text)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = data, refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise CodebookError(
            f"{name!r} is no XML: {expat.errors.messages[error.code]} in line {error.lineno}; "
            "repair that place."
        ) from None
    except LookupError:  # of its encoding
        raise CodebookError(
            f"{name!r} is in an encoding that is not known; save it as UTF-8."
        ) from None
    return builder.close()


def words(element: Element | None) -> str:
    """All text within, on one line."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def children(element: Element, name: str) -> Iterator[Element]:
    return (child for child in element if child.tag == name)


def _local(name: str) -> str:
    return name.rpartition(":")[2]
