"""Cells on disk while they are counted: what is finished is not counted again after a failure.

    FOLDER/checkpoint.json      the source and its columns
    FOLDER/JOB/job.json         columns and types, the query with its bands, the data's fingerprint,
                                the parts that are finished
    FOLDER/JOB/part-00000.parquet

They hold confidential cells, and are readable by their owner alone. A checkpoint of other data, or
one that was changed, is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.data.files import whole
from discreet.data.fingerprint import fingerprint
from discreet.data.source import Source
from discreet.errors import DataError, OutputError, reason

FORMAT = 1
TOP, JOB = "checkpoint.json", "job.json"


@dataclass(frozen=True)
class Checkpoint:
    """A folder for the parts of what is counted from one source.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Checkpoint(Path(folder) / "parts")
    Checkpoint('parts')
    """

    folder: Path

    def __repr__(self) -> str:
        return f"Checkpoint({self.folder.name!r})"

    def parts(
        self,
        source: Source,
        columns: Sequence[str],
        query: str,
        plan: Sequence[str],
        count: Callable[[int], Any],
    ) -> list[Any]:
        """The Arrow tables of all parts: those that are finished from disk, the others counted.

        `query` is what tells this job from others on the same source, `plan` how it is divided.
        """
        self._check_source(source)
        job: dict[str, Any] = {
            "format": FORMAT,
            "columns": {name: str(source.records[name].type()) for name in columns},
            "query": _hash(query),
        }
        name = _hash(json.dumps(job))[:16]
        job["plan"] = [_hash(part) for part in plan]
        folder = self.folder / name
        data = fingerprint(source, columns)
        done = self._resumed(folder, job | {"data": data})
        found = []
        for part in range(len(plan)):
            path = folder / f"part-{part:05}.parquet"
            if str(part) in done:
                found.append(self._read(path, done[str(part)]))
                continue
            cells = count(part)
            done[str(part)] = _write(path, cells)
            _write_json(folder / JOB, job | {"data": data, "done": done})
            found.append(cells)
        if not source.files and fingerprint(source, columns) != data:
            raise DataError(
                f"{source.name} changed while it was counted; remove {str(self.folder)!r} and "
                "count it when nobody writes to it."
            )
        return found

    def _check_source(self, source: Source) -> None:
        """Begin a new folder, or refuse one of another source."""
        said = {
            "format": FORMAT,
            "source": source.name,
            "engine": source.engine,
            "columns": list(source.columns),
        }
        top = self.folder / TOP
        if not top.exists():
            _make(self.folder)
            if any(self.folder.iterdir()):
                raise OutputError(
                    f"the folder {str(self.folder)!r} holds other files; name a new one for the "
                    "checkpoint."
                )
            _write_json(top, said)
            return
        before = self._json(top)
        for key, word in (("format", "format"), ("source", "source"), ("engine", "engine")):
            if before.get(key) != said[key]:
                raise self._other(f"its {word} is {before.get(key)!r}, not {said[key]!r}")
        if before.get("columns") != said["columns"]:
            raise self._other(f"{source.name} has other columns now")

    def _resumed(self, folder: Path, job: dict[str, Any]) -> dict[str, str]:
        """The parts of a job that are finished, by number, with the hash of their file."""
        if not (folder / JOB).exists():
            _make(folder)
            _write_json(folder / JOB, job | {"done": {}})
            return {}
        before = self._json(folder / JOB)
        done = before.pop("done", None)
        if before.get("data") != job["data"]:
            raise self._other("the data changed since")
        if before != job or not isinstance(done, dict):
            raise self._damaged(JOB)
        return done

    def _read(self, path: Path, wanted: str) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with open(path, "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != wanted:
                    raise self._damaged(path.name)
            return pq.read_table(path)
        except (OSError, pa.ArrowException):
            raise self._damaged(path.name) from None

    def _json(self, path: Path) -> dict[str, Any]:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise self._damaged(path.name) from None
        if not isinstance(found, dict):
            raise self._damaged(path.name)
        return found

    def _damaged(self, name: str) -> DataError:
        return DataError(
            f"the checkpoint {str(self.folder)!r} is damaged: {name!r} is not what was written; "
            "remove the folder and count again."
        )

    def _other(self, why: str) -> DataError:
        return DataError(
            f"the checkpoint {str(self.folder)!r} is of other data: {why}; name another folder, or "
            "remove this one."
        )


def as_checkpoint(said: Checkpoint | str | Path | None) -> Checkpoint | None:
    """A folder as it was named."""
    if said is None or isinstance(said, Checkpoint):
        return said
    return Checkpoint(Path(said))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot make the folder {str(folder)!r}: {reason(error)}; name one that you can write "
            "to."
        ) from None


def _write(path: Path, cells: Any) -> str:
    """A part, whole or not at all; the hash of its file."""
    import pyarrow.parquet as pq

    with whole(path, private=True) as temporary:
        pq.write_table(cells, temporary, compression="zstd")
        with open(temporary, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
    return found


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with whole(path, private=True) as temporary:
        temporary.write_text(json.dumps(content, indent=1), encoding="utf-8")
