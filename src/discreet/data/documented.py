"""Codebooks that others wrote: DDI, SDMX; which it is, the file says."""

from __future__ import annotations

from pathlib import Path

from discreet.data.codebook import Codebook
from discreet.data.ddi import of_ddi
from discreet.data.markup import read_xml
from discreet.data.sdmx import read_sdmx
from discreet.errors import CodebookError


def read_documented(path: Path) -> Codebook:
    """A DDI codebook or an SDMX data structure."""
    if path.suffix.lower() == ".json":
        return read_sdmx(path)
    root = read_xml(path)
    if root.tag == "codeBook":
        return of_ddi(root, path.name).codebook
    if root.tag == "Structure":
        return read_sdmx(path)
    raise CodebookError(
        f"{path.name!r} begins with {root.tag!r}: it is no DDI codebook (codeBook) and no SDMX "
        "structure (Structure); give one, or a TOML file."
    )
