"""Workbooks as archives: where one differs from another, part by part and between the parts."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections import Counter
from xml.etree import ElementTree

HEADER = struct.Struct("<4s5H3L2H")  # of a part, before its name
END = 22  # bytes of the end of an archive
ABOUT = (
    *("date_time", "comment", "extra", "create_system", "create_version", "extract_version"),
    *("flag_bits", "reserved", "volume", "external_attr", "internal_attr"),
)
MOST_SHOWN = 3


def archive_differs(found: bytes, wanted: bytes) -> str:
    """In words; nothing if the parts are the same, however they are packed."""
    try:
        one, other = (zipfile.ZipFile(io.BytesIO(data)) for data in (found, wanted))
        if text := _beside_parts(one, found):
            return text
        if one.namelist() != other.namelist():
            odd = sorted(set(one.namelist()) ^ set(other.namelist()))
            return f"its parts are others, or in another order: {', '.join(odd[:MOST_SHOWN])}"
        for info, same in zip(one.infolist(), other.infolist(), strict=True):
            for name in ABOUT:
                if getattr(info, name) != getattr(same, name):
                    said = getattr(info, name)
                    return (
                        f"its part {info.filename!r} has the {name} {said!r}, which is not written"
                    )
            if _header(found, info) != _header(wanted, same):
                return f"its part {info.filename!r} has a header that is not written"
            mine, theirs = one.read(info), other.read(same)
            if mine != theirs:
                return _part_differs(info.filename, mine, theirs)
    except (zipfile.BadZipFile, OSError, ValueError, struct.error, zlib.error) as error:
        return f"it is no archive as it is written ({error})"
    return ""


def _beside_parts(book: zipfile.ZipFile, data: bytes) -> str:
    """What an archive holds that is in no part: comments, and bytes before, between and behind."""
    if book.comment:
        return f"its archive has the comment {book.comment.decode(errors='replace')!r}"
    at = 0
    for info in sorted(book.infolist(), key=lambda one: one.header_offset):
        header = HEADER.unpack_from(data, info.header_offset)
        start = info.header_offset + HEADER.size + header[-2] + header[-1]
        end = start + info.compress_size
        if info.header_offset != at or header[-1] or info.flag_bits & 8:
            return "its archive has bytes that are in no part"
        if info.compress_type == zipfile.ZIP_DEFLATED:
            unpacked = zlib.decompressobj(-15)
            unpacked.decompress(data[start:end])
            if unpacked.unused_data or not unpacked.eof:
                return "its archive has bytes that are in no part"
        at = end
    listed = sum(
        46 + len(i.filename.encode()) + len(i.extra) + len(i.comment) for i in book.infolist()
    )
    if book.start_dir != at or at + listed + END != len(data):
        return "its archive has bytes that are in no part"
    return ""


def _header(data: bytes, info: zipfile.ZipInfo) -> tuple[object, ...]:
    """What stands before a part: version, flags, packing, time."""
    return HEADER.unpack_from(data, info.header_offset)[:6]


def _part_differs(name: str, found: bytes, wanted: bytes) -> str:
    """The texts and attributes that are not written, or that the part differs."""
    try:
        odd = [*(Counter(_words(found)) - Counter(_words(wanted)))]
    except ElementTree.ParseError:
        odd = []
    if not odd:
        return f"its part {name!r} is not as it is written"
    shown = ", ".join(repr(text[:60]) for text in odd[:MOST_SHOWN])
    return f"its part {name!r} has {shown}, which is not written there"


def _words(part: bytes) -> list[str]:
    root = ElementTree.fromstring(part)
    found = [text.strip() for text in root.itertext() if text.strip()]
    return found + [f"{key}: {value}" for one in root.iter() for key, value in one.attrib.items()]
