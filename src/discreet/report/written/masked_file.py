"""Write the data of a chosen mask, and beside them how they were made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.files import whole, write_text
from discreet.errors import DataError, OutputError
from discreet.masks.masked import TRIAL
from discreet.report.written.manifest import record_of
from discreet.report.written.safe import no_formula

if TYPE_CHECKING:
    from discreet.decision.compare.compared import Compared

SUFFIXES = (".csv", ".parquet")
EXACT = 2**53  # whole numbers that a double holds
ONCE = "release no second draw or mask of these records beside it: together they tell more"
CONFIDENTIAL = "Confidential: part of what became of the records. Do not publish."


def write_masked(
    found: Compared,
    out: str | Path | None,
    *,
    name: str | None = None,
    intruder: str | Path | None = None,
    force: bool = False,
) -> list[Path]:
    """The data of a mask, the chosen one unless named: a .csv or .parquet file, and a .json file
    that says how they were made and nothing of the people. The seed is in none of them; data
    that were drawn from a seed given by hand are called a trial, which is not for release.

    `intruder` is a file for what an intruder knows who knows the mask: confidential, as the parts
    of a mask that can be repeated are what became of each record.

    >>> import discreet as dc
    >>> from tempfile import TemporaryDirectory
    >>> masks = [{"method": "margins", "release": "Gender*Income"}]
    >>> found = dc.compare("example:tract", {"of": "table", "masks": masks})
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_masked(found, Path(folder) / "out.csv", name="margins")]
    ['out.csv', 'out.csv.json']
    """
    found = found.drawn or found
    made = found.data(name)
    if "private" in made.method.split(" + "):
        raise DataError(
            "private data of a comparison have noise from its seed, and are not for release; make "
            "them with dc.synthetic.private_table."
        )
    paths = _paths(out, intruder)
    if len(set(paths)) < len(paths):
        raise OutputError("two of the files to be written have one name; choose others.")
    for path in paths:
        if path.exists() and not force:
            raise OutputError(f"{str(path)!r} is there already; overwrite it with --force.")
    if intruder is not None and found.plan.of_table:
        raise DataError("a table has no records to identify; leave --intruder out.")
    written: list[Path] = []
    if out is not None:
        out, record = Path(out), Path(f"{out}.json")
        if out.suffix.lower() not in SUFFIXES:
            raise DataError(f"{out.name!r} ends in none of {', '.join(SUFFIXES)}; name it so.")
        frame = _whole_numbers(_frame(made))
        with whole(out) as temporary:
            if out.suffix.lower() == ".csv":
                plain(frame).to_csv(temporary, index=False, lineterminator="\r\n")
            else:
                frame.to_parquet(temporary, index=False)
        text = json.dumps(_record(found, made), indent=2, ensure_ascii=False, default=str)
        write_text(record, text)
        written = [out, record]
    if intruder is not None:
        made.intruder(found.plan.keys).write(intruder)
        text = Path(intruder).read_text(encoding="utf-8")
        write_text(intruder, f"# {CONFIDENTIAL}\n{text}")
        written.append(Path(intruder))
    return written


def _whole_numbers(frame: Any) -> Any:
    """Whole numbers as such, though values are missing: 1.0 is another text than 1."""
    for name in frame.columns[[kind.kind == "f" for kind in frame.dtypes]]:
        known = frame[name].dropna()
        if ((known % 1 == 0) & (known.abs() < EXACT)).all():
            frame = frame.assign(**{str(name): frame[name].astype("Int64")})
    return frame


def _paths(out: str | Path | None, intruder: str | Path | None) -> list[Path]:
    """All files that may be written."""
    found = [] if out is None else [Path(out), Path(f"{out}.json")]
    if intruder is not None:
        found += [Path(intruder), Path(intruder).with_name(f"{Path(intruder).stem}-seen.csv")]
    return [path.resolve() for path in found]


def _frame(made: Any) -> Any:
    """What is released: of a table, or records."""
    return made.frame if hasattr(made, "frame") else made.to_frame()


def _record(found: Compared, made: Any) -> dict[str, Any]:
    return {
        "method": made.method,
        "parameters": dict(made.parameters),
        "rows": len(_frame(made)),
        "columns": [str(name) for name in _frame(made).columns],
        **record_of(found.policy),
        **({"trial": TRIAL} if found.plan.trial else {}),
        **({} if found.plan.of_table else {"once": ONCE}),
        "made": {"when": found.provenance.when, "versions": found.provenance.versions},
    }


def plain(frame: Any) -> Any:
    """With no text that a spreadsheet takes for a formula."""
    made = frame.copy(deep=False)
    for name in frame.columns:
        if frame[name].dtype.kind not in "iufb":
            made[name] = frame[name].map(lambda v: no_formula(v) if isinstance(v, str) else v)
    made.columns = [no_formula(str(name)) for name in frame.columns]
    return made
