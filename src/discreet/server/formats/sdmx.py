"""SDMX-CSV 2.0 with codes and labels (https://github.com/sdmx-twg/sdmx-csv).

Each dimension and each category is written as CODE: label, so that the file can be read without a
structure definition. No field can begin with a sign: codes begin with letters or digits.
"""

from __future__ import annotations

from discreet.server.formats.codes import codes
from discreet.server.formats.safe import csv_cells, csv_field, csv_line
from discreet.server.showing.catalogue import Published

AGENCY = "DISCREET"
TAKEN = ("STRUCTURE", "STRUCTURE_ID", "ACTION", "OBS_VALUE")


def sdmx_csv(table: Published) -> bytes:
    (flow,) = codes([table.dataset.slug])
    structure = f"{AGENCY}:{flow.upper()}({table.entry}.0): {_label(table.dataset.title)}"
    ids = codes([*TAKEN, *table.names])[len(TAKEN) :]
    heads = [f"{_id(i)}: {_label(t)}" for i, t in zip(ids, table.titles, strict=True)]
    head = csv_line(["STRUCTURE", "STRUCTURE_ID", "ACTION", *heads, "OBS_VALUE"])
    labels = [
        [f"{_id(code)}: {_label(c)}" for code, c in zip(codes(given), given, strict=True)]
        for given in table.categories
    ]
    before = f"dataflow,{csv_field(structure)},I,"
    return (head + csv_cells(labels, table.counts.ravel().tolist(), before)).encode()


def _id(code: str) -> str:
    return code.upper().replace("-", "_")


def _label(text: str) -> str:
    """On one line, and without what separates a code from its label."""
    return " ".join(text.split()).replace(": ", " - ")
