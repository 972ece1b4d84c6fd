"""What a mask of records is, and what it gives back."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_type_hints

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.errors import DataError, OptionError
from discreet.intruder.linkage.model import Intruder, Key, Kind
from discreet.intruder.linkage.records import Records
from discreet.look.result import Result, Shown
from discreet.masks.options import check_kind
from discreet.masks.records.file import RecordFile

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class MaskedFile(Result):
    """Records as they can be released, and what an intruder knows who knows the mask.

    `rows` is the source row of each released record: the office's secret, and in no file. `keys`
    describe the columns that the mask changed; all others are released as they are.
    `correlation` is that of noise. `behind` is, of columns that are blanked for what a sensitive
    one has, what each released record shows but for that: somebody who knows the rule works out
    whose value it is. `parameters` say how it was made and nothing of the data;
    `said` are sentences for the report.

    >>> import discreet as dc
    >>> import numpy as np
    >>> import pandas as pd
    >>> file = dc.files.RecordFile(pd.DataFrame({"age": [31, 47, 50], "sex": ["f", "m", "f"]}))
    >>> masked = dc.files.Noise("age", spread=0.1).apply(file, np.random.default_rng(1))
    >>> masked
    MaskedFile(noise: 3 records, age masked)
    >>> masked.intruder(["age", "sex"])
    Intruder(age normal, sex exact)
    >>> dc.identify(masked.linked_with(file, ["age"]), masked.intruder(["age"]))
    Identification(3 respondents of 3 linked at 0.5 or more)
    """

    data: pd.DataFrame
    rows: Ints
    keys: Mapping[str, Key] = field(default_factory=dict)
    correlation: Mapping[tuple[str, str], float] = field(default_factory=dict)
    method: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    behind: Mapping[str, NDArray[np.object_]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        changed = ", ".join(self.keys) or "no column"
        return f"MaskedFile({self.method}: {len(self):,} records, {changed} masked)"

    def intruder(self, keys: Sequence[str], **options: Any) -> Intruder:
        """Who knows these columns of everybody, and the mask; options as of `Intruder`."""
        told: list[Key] = []
        for name in keys:
            block = next((key for key in self.keys.values() if name in key.joint), None)
            key = self.keys.get(name, block or Key(name, Kind.EXACT))
            if key.kind in (Kind.CATEGORY, Kind.NORMAL, Kind.LOGNORMAL):
                key = dataclasses.replace(key, missing="kept")
            if key not in told:
                told.append(key)
        names = {key.name for key in told}
        ties = {pair: value for pair, value in self.correlation.items() if set(pair) <= names}
        return Intruder(tuple(told), ties, **options)

    def unblanked(self) -> MaskedFile | None:
        """With what stands behind blanks that a sensitive column has caused, if there are any."""
        if not self.behind:
            return None
        keys = dict(self.keys)
        for name, labels in self.behind.items():
            seen = np.array(keys[name].seen, object)
            seen[self.rows] = labels
            keys[name] = dataclasses.replace(keys[name], seen=seen)
        return dataclasses.replace(self, data=self.data.assign(**self.behind), keys=keys, behind={})

    def linked_with(self, file: RecordFile, keys: Sequence[str]) -> Records:
        """Source and released records side by side, for `identify`."""
        import pyarrow as pa

        file.check(*keys)
        blocks = [(key.name, *key.joint) for key in self.keys.values() if key.joint]
        along = [name for block in blocks if set(block) & set(keys) for name in block]
        wanted = list(dict.fromkeys([*keys, *along]))
        source = pa.Table.from_pandas(file.data[wanted], preserve_index=False)
        released = pa.Table.from_pandas(self.data[wanted], preserve_index=False)
        return Records(
            dict(zip(source.column_names, source.columns, strict=True)),
            dict(zip(released.column_names, released.columns, strict=True)),
            len(file),
            len(self),
            self.rows,
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """The released records."""
        if kind == "pandas":
            return self.data
        from discreet.table.cells import frame

        return frame({name: self.data[name].to_numpy() for name in self.data.columns}, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "records": len(self),
            "masked": sorted(self.keys),
            "parameters": dict(self.parameters),
            "said": list(self.said),
        }


class Mask(Shown, ABC):
    """A mask with its options, which are the fields of a frozen dataclass.

    `name` is what a command or a masks file calls it; `promise` says in a sentence what it keeps.

    >>> from discreet.masks.records.registry import mask_of
    >>> mask = mask_of("sample", {"share": 0.1})
    >>> mask.name, mask.options["share"]
    ('sample', 0.1)
    """

    name: ClassVar[str]
    promise: ClassVar[str]

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """From what a masks file says; lists become tuples."""
        known = {one.name: one for one in dataclasses.fields(cls)}  # type: ignore[arg-type]
        if odd := sorted(set(options) - set(known)):
            raise OptionError(
                f"{cls.name} has no option {odd[0]!r}; it has {', '.join(known) or 'none'}."
            )
        needed = [
            name
            for name, one in known.items()
            if one.default is dataclasses.MISSING
            and one.default_factory is dataclasses.MISSING
            and name not in options
        ]
        if needed:
            raise OptionError(f"{cls.name} needs {needed[0]!r}; give it.")
        kinds = get_type_hints(cls)
        for name, value in options.items():
            check_kind(f"{name} of {cls.name}", value, kinds[name])
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in options.items()})

    @property
    def options(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}  # type: ignore[arg-type]

    @property
    def parameters(self) -> dict[str, Any]:
        """Options as a masked file says them."""
        return self.options

    @abstractmethod
    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        """The masked file; draws come from `rng` alone."""

    @abstractmethod
    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        """What of the promise does not hold for a masked file: nothing, if all is well."""

    def check_columns(self, file: RecordFile, names: Sequence[str]) -> None:
        """Refuse to change who lives together, or how many people each stands for."""
        if {file.household, file.weight} & set(names):
            raise DataError(f"{self.name} never changes the household or the weight; name others.")

    def changed(
        self,
        file: RecordFile,
        columns: Mapping[str, Any],
        keys: Mapping[str, Key],
        said: Sequence[str] = (),
        **more: Any,
    ) -> MaskedFile:
        """The same records in the same order, with other values in some columns."""
        rows, method = np.arange(len(file)), {"method": self.name, "parameters": self.parameters}
        data = file.with_columns(**columns).data
        return MaskedFile(data, rows, keys, said=tuple(said), **(method | more))


def others_changed(
    file: RecordFile, masked: MaskedFile, names: Sequence[str], these: str
) -> list[str]:
    """A sentence if a column has changed that is not among `names`, which `these` are not."""
    others = [name for name in file.data.columns if name not in names]
    was, now = (data[others].reset_index(drop=True) for data in (file.data, masked.data))
    return [] if now.equals(was) else [f"a column that is {these} has changed."]


def listed(given: object, what: str) -> tuple[str, ...]:
    """Names that an option holds: one, or several."""
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not names or not all(isinstance(n, str) for n in names):
        raise OptionError(f"{what} is {given!r}; give a name or a list of names.")
    return tuple(names)


def amount(value: object, what: str, *, least: float = -math.inf, most: float = math.inf) -> float:
    """A number within its limits."""
    from discreet.data.settings import number

    try:
        return number(value, what, least=least, most=most)
    except DataError as error:
        raise OptionError(str(error)) from None
