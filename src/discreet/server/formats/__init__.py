"""A published table as it is sent: JSON, CSV, Excel, Parquet, JSON-stat, SDMX-CSV, PX."""

from discreet.server.formats.citing import Citing, citation, source
from discreet.server.formats.jsonstat import as_json_stat
from discreet.server.formats.plain import as_json
from discreet.server.formats.writing import Format, Writer, Written, write

__all__ = [
    "Citing",
    "Format",
    "Writer",
    "Written",
    "as_json",
    "as_json_stat",
    "citation",
    "source",
    "write",
]
