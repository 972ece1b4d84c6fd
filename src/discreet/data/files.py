"""Writing files whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from discreet.errors import OutputError, reason

_unfinished: set[Path] = set()
_read: ContextVar[tuple[Path, ...]] = ContextVar("read", default=())


@contextmanager
def only_reading(paths: Iterable[Path]) -> Iterator[None]:
    """Nothing is written over these files, nor into or over these folders, within the block."""
    token = _read.set(tuple(Path(os.path.realpath(path)) for path in paths))
    try:
        yield
    finally:
        _read.reset(token)


def check_unread(path: str | Path) -> None:
    """Refuse to write over what is read: the same file by any name, a folder of it, or in it."""
    target = Path(os.path.realpath(path))
    for read in _read.get():
        if target == read or target in read.parents or _same(target, read):
            raise OutputError(
                f"cannot write {str(path)!r}: that is over {read.name!r}, which is read here; name "
                "another place."
            )
        if read in target.parents and read.is_dir():
            raise OutputError(
                f"cannot write {str(path)!r}: that is in {read.name!r}, which is read here; name "
                "another place."
            )


def _same(one: Path, other: Path) -> bool:
    """One file under two names."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def unfinished(path: Path) -> Path:
    """A file or folder that its owner removes, unless the process ends before."""
    _unfinished.add(path)
    return path


def remove_unfinished() -> None:
    """Before the process ends in the middle of its work."""
    for path in [*_unfinished]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def whole(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends well.

    What is `private` can be read by its owner alone.
    """
    path = Path(path)
    target = Path(os.path.realpath(path))
    check_unread(target)
    if target.is_dir():
        raise OutputError(f"cannot write {str(path)!r}: it is a folder; name a file in it.")
    if target.exists() and not target.is_file():
        raise OutputError(f"cannot write {str(path)!r}: it is a device; name a plain file.")
    import tempfile

    try:
        handle, name = tempfile.mkstemp(prefix=".discreet-", dir=target.parent)
        os.close(handle)
    except OSError as error:
        raise _refusal(path, error) from None
    temporary = unfinished(Path(name))
    try:
        yield temporary
        temporary.chmod(0o600 if private else _mode(target))
        os.replace(temporary, target)
    except OSError as error:
        raise _refusal(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: str | Path) -> None:
    """Refuse now what could not be written after long work: a file, or a folder to be made."""
    place = Path(os.path.realpath(path))
    if not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK):
        reason = "permission denied" if place.exists() else "no such file or directory"
        raise _refusal(Path(path), OSError(0, reason))


def write_text(path: str | Path, text: str) -> None:
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _mode(path: Path) -> int:
    """The rights of the file that is replaced, or those of any new file."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _refusal(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"cannot write {str(path)!r}: {reason(error)}; choose a folder that you can write to."
    )
