"""Try every mask of a plan: apart from each other, and the same for any number of workers."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discreet import spreading
from discreet.data.codebook import Codebook
from discreet.data.files import write_text
from discreet.data.reading import the_codebook
from discreet.decision.compare.compared import MEANING, Compared
from discreet.decision.compare.plan import Candidate, Plan
from discreet.decision.compare.records import make_file, try_file
from discreet.decision.compare.tables import make_table
from discreet.decision.compare.tabletrial import try_table
from discreet.decision.compare.tried import Tried
from discreet.decision.law.assess import Provenance, file_hash, stamped
from discreet.decision.law.policy import Policy
from discreet.errors import DataError, DisclosureError, FormulaError, OptionError
from discreet.look.progress import track
from discreet.masks.records.file import RecordFile, written_once
from discreet.masks.records.reading import read_file
from discreet.table.load import load
from discreet.table.table import Table

Trial = tuple[Callable[..., Tried], RecordFile | Table]  # how each mask is tried, and on what


def compare(
    data: Any,
    masks: Plan | Mapping[str, Any] | str | Path,
    policy: Policy | None = None,
    *,
    workers: int | str | None = None,
    cache: str | Path | None = None,
    codebook: Codebook | str | Path | None = None,
    **reading: Any,
) -> Compared:
    """Masks of a file of records, or of a table, side by side (Duncan et al. 2001).

    `masks` is a plan, its content, or a file of it. The intruder knows the plan's keys of everybody
    (else the codebook's identifying variables), and the mask. `workers` try several at once, as in
    `dc.workers`; without it, one after the other. `cache` is a folder for what was found, numbers
    only. Further options are those of `load` or `read_file`.

    >>> import discreet as dc
    >>> masks = [{"method": "margins", "release": "Race*Income"}, {"method": "round", "base": 5}]
    >>> dc.compare("example:tract", {"of": "table", "masks": masks})
    Compared(2 masks, ...)
    """
    plan = masks if isinstance(masks, Plan) else _plan(masks)
    policy = policy or Policy()
    rules = policy.masks
    if (rules.risk, plan.of_table) not in MEANING:
        raise DataError(f"masks.risk is {rules.risk!r}, which no table has; choose disclosed.")
    book = the_codebook(codebook)
    held: RecordFile | Table
    if plan.of_table:
        held = load(data, codebook=codebook, **reading)
    else:
        held = _file(data, plan, book, reading)
        plan = _known(plan, book, held)
    with nullcontext() if workers is None else spreading.workers(workers):
        return _compared(held, plan, policy, _provenance(data, held), cache)


def _compared(
    held: RecordFile | Table,
    plan: Plan,
    policy: Policy,
    provenance: Provenance,
    cache: str | Path | None = None,
) -> Compared:
    """All masks of a plan, and how one of them is drawn anew for release."""
    if isinstance(held, Table):
        trial: Trial = partial(try_table, plan=plan, policy=policy), held
        made: Callable[..., Any] = partial(_remade_table, held, plan, policy)
    else:
        trial = partial(try_file, plan=plan, policy=policy), held
        made = partial(_remade_file, held, plan)
    found = _all(plan, trial, _drawer(cache, held, plan, policy))
    if all(one.failed is not None for one in found):
        raise DataError(str(found[0].failed))
    return Compared(
        tuple(found), plan, policy, policy.masks.risk, policy.masks.limit, provenance, made,
        partial(_anew, held, plan, policy, provenance),
    )  # fmt: skip


def _anew(
    held: RecordFile | Table, plan: Plan, policy: Policy, provenance: Provenance, name: str
) -> Compared:
    return _compared(held, plan.anew(name), policy, provenance)


def _plan(masks: Mapping[str, Any] | str | Path) -> Plan:
    return Plan.of(masks) if isinstance(masks, Mapping) else Plan.read(masks)


def _file(data: Any, plan: Plan, book: Codebook, reading: Mapping[str, Any]) -> RecordFile:
    """The records, each value in one writing: how it was written is released with it."""
    of: Any = {"household": plan.household, "weight": plan.weight}
    if not isinstance(data, RecordFile):
        file = read_file(data, codebook=book, known=plan.spoken, **of, **reading)
    else:
        of = {"household": of["household"] or data.household, "weight": of["weight"] or data.weight}
        file = replace(data, **of)
        if book.entries or book.missing_values:
            read = read_file(data.data, codebook=book, known=plan.spoken, **of, **reading)
            file = replace(read, hierarchies={**read.hierarchies, **data.hierarchies})
    return written_once(file)


def _known(plan: Plan, book: Codebook, file: RecordFile) -> Plan:
    """With the keys and sensitive columns of the codebook, where the plan names none."""
    roles = {name: entry.role for name, entry in book.entries.items() if name in file.data.columns}
    keys = plan.keys or tuple(name for name, role in roles.items() if role.identifies)
    told = plan.sensitive or tuple(
        name for name, role in roles.items() if role.is_sensitive and name not in keys
    )
    if not keys:
        raise DataError(
            "no key is named, and no codebook says what identifies people; name what can be known "
            "of them: keys = [...] in a masks file, or --keys."
        )
    if file.household in keys:
        raise DataError(
            f"{file.household!r} numbers households, which get new numbers when they are "
            "released; leave it out of the keys."
        )
    file.check(*keys, *told, *(name for user in plan.readers for name in user.columns))
    return replace(plan, keys=keys, sensitive=told)


def _all(plan: Plan, trial: Trial, drawer: _Drawer) -> list[Tried]:
    """In the plan's order. What the data do not allow says why and stops nothing; wrong options
    are wrong input, and stop all."""
    found = {one.name: kept for one in plan.candidates if (kept := drawer.get(one))}
    open_ones = [one for one in plan.candidates if one.name not in found]
    new = track(spreading.spread(attempt, open_ones, given=trial), "masks tried")
    for one, tried in zip(open_ones, new, strict=True):
        drawer.put(one, tried)
        found[one.name] = tried
    return [found[one.name] for one in plan.candidates]


def attempt(candidate: Candidate, way: Callable[..., Tried], held: RecordFile | Table) -> Tried:
    """A mask that cannot be made of these data is told, not raised; one that asks for what no mask
    has is wrong input."""
    try:
        return way(held, candidate)
    except (OptionError, FormulaError) as error:
        said = str(error)
        named = candidate.name in said
        raise OptionError(said if named else f"mask {candidate.name!r}: {said}") from None
    except DisclosureError as error:
        said = str(error)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        said = f"its options or the data are not what it takes ({type(error).__name__}: {error})."
    return Tried(candidate.name, candidate.method, failed=said)


class _Drawer:
    """What was found before, in a folder, if there is one."""

    def __init__(self, folder: Path | None, ground: str) -> None:
        self.folder, self.ground = folder, ground

    def _path(self, one: Candidate) -> Path | None:
        if self.folder is None:
            return None
        name = hashlib.sha256(f"{self.ground}\n{one.name}\n{one.spelled}".encode()).hexdigest()
        return self.folder / f"{name[:32]}.json"

    def get(self, one: Candidate) -> Tried | None:
        path = self._path(one)
        if path is None or not path.is_file():
            return None
        try:
            return Tried.of(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError):
            return None  # of another version, or cut off: tried again

    def put(self, one: Candidate, tried: Tried) -> None:
        path = self._path(one)
        if path is not None and tried.failed is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps(tried.to_json()))


def _drawer(
    cache: str | Path | None, held: RecordFile | Table, plan: Plan, policy: Policy
) -> _Drawer:
    if cache is None:
        return _Drawer(None, "")
    from importlib.metadata import version

    asked = [version("discreet"), _program(), _fingerprint(held), plan.seed, plan.keys]
    asked += [plan.sensitive, plan.readers]
    return _Drawer(Path(cache), repr([*asked, policy.to_dict()]))


def _program() -> str:
    """What the program is, so that another one finds anew."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parents[2].rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def _fingerprint(held: RecordFile | Table) -> str:
    """Of everything that it holds, whatever that is."""
    parts = {one.name: _spelled(getattr(held, one.name)) for one in dataclasses.fields(held)}
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _spelled(value: Any) -> str:
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        hashed = pd.util.hash_pandas_object(value, index=False).to_numpy()
        return f"{_spelled(hashed)} {list(value.dtypes.items())}"
    if isinstance(value, np.ndarray):
        return f"{hashlib.sha256(value.tobytes()).hexdigest()} {value.dtype} {value.shape}"
    if isinstance(value, tuple):  # of which some are shortened where they are shown
        return repr([vars(v) if dataclasses.is_dataclass(v) else v for v in value])
    return repr(value)


def _provenance(data: Any, held: RecordFile | Table) -> Provenance:
    if isinstance(data, (str, Path)):
        whole = Path(data).is_file()
        return stamped(Path(data).name, file_hash(data) if whole else _fingerprint(held))
    return stamped("data in memory", _fingerprint(held))


def _remade_file(file: RecordFile, plan: Plan, name: str) -> Any:
    one = next(one for one in plan.candidates if one.name == name)
    return make_file(file, one, plan.seed)


def _remade_table(table: Table, plan: Plan, policy: Policy, name: str) -> Any:
    one = next(one for one in plan.candidates if one.name == name)
    step = one.steps[0]
    options = {k: v for k, v in step.items() if k != "method"}
    return make_table(table, step["method"], options, policy, one.rng(plan.seed))
