"""Bytes of text as UTF-8: compressed or not, in whatever encoding; nothing is decoded by half.

A byte order mark decides; else a file that is UTF-8 to its end is that; else charset-normalizer
weighs the lines with other letters, and Windows-1252 holds where several fit alike.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import os
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from discreet.data.files import unfinished
from discreet.errors import DataError

CHUNK = 1 << 22
EVIDENCE = 100_000  # bytes of lines with letters beyond ASCII that are weighed
PACKED = {".gz": "gzip", ".zst": "zstd"}

_MARKS = (  # UTF-32's begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CALLED = {  # what is weighed, the most usual first
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1257": "Windows-1257",
    "koi8_r": "KOI8-R",
    "cp932": "Shift JIS",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "euc_kr": "EUC-KR",
    "cp850": "IBM 850",
    "mac_roman": "Mac Roman",
}
UTF8 = ("utf-8", "utf-8-sig")


@dataclass(frozen=True)
class Encoding:
    """The codec that reads a file, and others that fit it as well."""

    codec: str
    rivals: tuple[str, ...] = ()

    @property
    def is_utf8(self) -> bool:
        return self.codec in UTF8

    def note(self, name: str) -> str | None:
        """How it was read, where that could be wrong or is not usual."""
        if self.is_utf8:
            return None
        said = f"{name} was read as {_called(self.codec)}"
        if self.codec.startswith("utf"):
            return said + "."
        also = f", though {' or '.join(map(_called, self.rivals))} fits too" if self.rivals else ""
        return f"{said}{also}; save it as UTF-8 if words look wrong."


def packing(path: Path) -> str | None:
    """How it is compressed, by its name."""
    return PACKED.get(path.suffix.lower())


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file, as they were before it was compressed."""
    packed = packing(path)
    if packed == "gzip":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if packed == "zstd":
        import pyarrow as pa

        return io.BufferedReader(pa.input_stream(str(path), compression="zstd"))
    return open(path, "rb")


def find_encoding(path: Path, name: str) -> Encoding:
    """Looked for in the whole file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "x.csv"
    ...     _ = path.write_bytes("Stadt\\nMünchen\\n".encode("cp1252"))
    ...     find_encoding(path, "'x.csv'").codec
    'cp1252'
    """
    with unpacked(path, name), open_bytes(path) as file:
        start = file.read(CHUNK)
        for mark, codec in _MARKS:
            if start.startswith(mark):
                return Encoding(codec)
        if (wide := _without_mark(start[:4096])) is not None:
            return Encoding(wide)
        evidence = _Evidence()
        evidence.take(start)
        while chunk := file.read(CHUNK):
            evidence.take(chunk)
        evidence.end()
    if evidence.wrong is None:
        return Encoding("utf-8")
    if evidence.right is not None:
        raise DataError(
            f"cannot read {name}: line {evidence.wrong:,} is not UTF-8 and line "
            f"{evidence.right:,} is; save all of it as UTF-8."
        )
    return _weighed(bytes(evidence.sample), name)


@contextlib.contextmanager
def decoded(path: Path, encoding: Encoding, name: str) -> Iterator[io.TextIOWrapper]:
    """Its text; what cannot be decoded is refused."""
    try:
        with unpacked(path, name), open_bytes(path) as file:
            yield io.TextIOWrapper(cast(Any, file), encoding.codec, newline="")
    except UnicodeError:
        raise _unclear(name) from None


@contextlib.contextmanager
def as_utf8(path: Path, encoding: Encoding, name: str) -> Iterator[Path]:
    """A temporary file with the same text in UTF-8, gone when the block ends."""
    handle, made = tempfile.mkstemp(prefix="discreet-", suffix=".csv")
    temporary = unfinished(Path(made))
    try:
        with os.fdopen(handle, "wb") as target, decoded(path, encoding, name) as text:
            while piece := text.read(CHUNK):
                target.write(piece.encode())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def unpacked(path: Path, name: str) -> Iterator[None]:
    """A compressed file that is none, or damaged, becomes one sentence."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        packed = packing(path)
        if packed is None or isinstance(error, PermissionError | FileNotFoundError):
            raise
        raise DataError(
            f"cannot read {name}: it is no {packed} file, or a damaged one; compress it again."
        ) from None


class _Evidence:
    """Lines with bytes beyond ASCII: the first that is UTF-8, the first that is not."""

    def __init__(self) -> None:
        self.line, self.rest = 1, b""
        self.right: int | None = None
        self.wrong: int | None = None
        self.sample = bytearray()

    def take(self, chunk: bytes) -> None:
        chunk = self.rest + chunk
        cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if cut == 0 and len(chunk) > 8 * CHUNK:
            cut = len(chunk)  # no lines at all
        self.rest = chunk[cut:]
        self._look(chunk[:cut])

    def end(self) -> None:
        self._look(self.rest)
        self.rest = b""

    def _look(self, lines: bytes) -> None:
        if not lines.isascii() and not self._is_utf8_like_before(lines):
            for place, line in enumerate(lines.splitlines()):
                if line.isascii():
                    continue
                if _is_utf8(line):
                    self.right = self.right or self.line + place
                else:
                    self.wrong = self.wrong or self.line + place
                    if len(self.sample) < EVIDENCE:
                        self.sample += line + b"\n"
        self.line += lines.count(b"\n") or lines.count(b"\r")

    def _is_utf8_like_before(self, lines: bytes) -> bool:
        """Quick where all of it is UTF-8 and that is known of a line already."""
        return self.right is not None and _is_utf8(lines)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _without_mark(start: bytes) -> str | None:
    """UTF-16 of mostly Western text has a zero in every second byte."""
    odd, even = start[1::2].count(0), start[::2].count(0)
    if 2 * odd > len(start[1::2]) and even == 0:
        return "utf-16-le"
    if 2 * even > len(start[::2]) and odd == 0:
        return "utf-16-be"
    return None


def _weighed(sample: bytes, name: str) -> Encoding:
    import charset_normalizer

    # matches whose text is the same are one
    read: dict[str, Any] = {}
    usual = list(_CALLED)
    for match in charset_normalizer.from_bytes(sample, cp_isolation=usual):
        for codec in match.could_be_from_charset:
            read.setdefault(codec, match)
    fits = {codec: read[codec] for codec in usual if codec in read}
    if not fits:
        if _reads("cp1252", sample):
            return Encoding("cp1252")
        raise _unclear(name)
    score = {c: (round(m.chaos, 1), -round(m.coherence, 1)) for c, m in fits.items()}
    best = min(fits, key=lambda codec: score[codec])
    text = str(fits[best])
    rivals = [c for c in fits if score[c] == score[best] and str(fits[c]) != text]
    return Encoding(best, tuple(rivals[:2]))


def _reads(codec: str, sample: bytes) -> bool:
    try:
        sample.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def _called(codec: str) -> str:
    return _CALLED.get(codec, codec.removesuffix("-le").removesuffix("-be").upper())


def _unclear(name: str) -> DataError:
    return DataError(
        f"cannot read {name}: it is not UTF-8, and its encoding is not clear; save it as UTF-8."
    )
