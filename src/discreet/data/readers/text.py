"""CSV, with whatever separates its fields."""

from __future__ import annotations

import csv
import glob
import re
from pathlib import Path

from discreet.data.source import Source, check_names, own_duckdb
from discreet.errors import DataError

SUFFIXES = (".csv", ".tsv", ".txt")


def read(path: Path, name: str) -> Source:
    with open(path, encoding="utf-8-sig", newline="") as file:
        line = re.sub(r'"[^"]*"', "", file.readline(1_000_000))
        delimiter = "\t" if path.suffix.lower() == ".tsv" else max(",;\t|", key=line.count)
        file.seek(0)
        try:
            names = next(csv.reader(file, delimiter=delimiter), [])
        except csv.Error as error:
            raise DataError(f"cannot read the header of {name}: {error}; repair it.") from None
    check_names(names, name)
    connection = own_duckdb()
    # every field as text and nothing sniffed: 01 stays 01, # starts no comment
    records = connection.con.read_csv(
        glob.escape(str(path)),
        columns=dict.fromkeys(names, "VARCHAR"),
        auto_detect=False,
        header=True,
        delimiter=delimiter,
        quotechar='"',
        escapechar='"',
        strict_mode=True,
        null_padding=False,
        ignore_errors=False,
        hive_partitioning=False,
    )
    records.create_view("records")
    return Source(connection.table("records"), name)
