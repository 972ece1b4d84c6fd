"""A file of records that is to be masked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.data.frames import label
from discreet.data.hierarchy import Hierarchy
from discreet.errors import DataError, OptionError, near
from discreet.look.result import Unpublished

if TYPE_CHECKING:
    import pandas as pd

Labels = NDArray[np.object_]
_FIXED = re.compile(r"\d+(\.\d+)?", re.ASCII)


@dataclass(frozen=True, eq=False)
class RecordFile(Unpublished):
    """Records as a pandas frame, a row each, with what is known of the columns.

    `household` and `weight` name columns: who belongs together, and how many people each stands
    for. Masks never change them.

    >>> import pandas as pd
    >>> file = RecordFile(pd.DataFrame({"age": [31, 47, None], "sex": ["f", "m", "f"]}))
    >>> file
    RecordFile(3 records: age, sex)
    >>> file.numbers("age"), file.labels("sex")
    (array([31., 47., nan]), array(['f', 'm', 'f'], dtype=object))
    """

    data: pd.DataFrame
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    household: str | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        if not len(self.data):
            raise DataError("the file has no records; it needs at least one.")
        if len(set(self.data.columns)) < len(self.data.columns):
            raise DataError("the file has two columns of one name; rename one.")
        for name in (self.household, self.weight, *self.hierarchies):
            if name is not None:
                self.check(name)
        coded = [name for name in self.data.columns if hasattr(self.data[name], "cat")]
        if coded or self.data.attrs:  # categories that nobody has, and notes, stay here
            plain = self.data.astype(dict.fromkeys(coded, object))
            plain.attrs = {}
            object.__setattr__(self, "data", plain)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"RecordFile({len(self):,} records: {', '.join(map(str, self.data.columns))})"

    def check(self, *names: str) -> None:
        """Refuse columns that are not there."""
        for name in names:
            if name not in self.data.columns:
                columns = [str(one) for one in self.data.columns]
                hint = near(name, columns, "it has")
                raise OptionError(f"the file has no column {name!r}; {hint}")

    def numbers(self, name: str) -> Floats:
        """A column of numbers, nan where one is missing."""
        import pandas as pd

        self.check(name)
        found = pd.to_numeric(self.data[name], errors="coerce")
        odd = found.isna() & (self.labels(name) != "")
        if odd.any():
            row = int(np.argmax(odd.to_numpy()))
            raise DataError(
                f"row {row + 1} has {self.data[name].iloc[row]!r} in {name!r}, where a number is "
                "needed."
            )
        return np.array(found, np.float64)

    def labels(self, name: str) -> Labels:
        """A column of categories, "" where one is missing."""
        import pandas as pd

        self.check(name)
        codes, values = pd.factorize(self.data[name], use_na_sentinel=True)
        names = np.array([*(label(_plain(value)) for value in values), ""], object)
        return np.asarray(names[codes])

    def codes(self, name: str) -> tuple[NDArray[np.int64], list[str]]:
        """Categories of a column as numbers, -1 where missing, and their names in sorted order."""
        labels = self.labels(name)
        names = sorted(set(labels) - {""})
        place = {one: code for code, one in enumerate(names)} | {"": -1}
        return np.array([place[one] for one in labels], np.int64), names

    def with_columns(self, /, **columns: Any) -> RecordFile:
        """The same file with other values in some columns."""
        self.check(*columns)
        data = self.data.copy(deep=False)
        for name, values in columns.items():
            data[name] = values
        return replace(self, data=data)


def written_once(file: RecordFile) -> RecordFile:
    """The file with each value in one writing, in its hierarchies too.

    >>> import pandas as pd
    >>> tree = Hierarchy.of({"+1": "cancer", "+2": "cancer"})
    >>> file = RecordFile(pd.DataFrame({"ill": ["+1", "+2", "+3"]}), {"ill": tree})
    >>> written_once(file).hierarchies["ill"].pairs
    (('1', 'cancer'), ('2', 'cancer'))
    """
    found = RecordFile(one_writing(file.data))
    trees = {
        name: tree.of_codes(zip(found.labels(name), file.labels(name), strict=True))
        for name, tree in file.hierarchies.items()
    }
    return replace(file, data=found.data, hierarchies=trees)


def one_writing(data: pd.DataFrame) -> pd.DataFrame:
    """The frame with each value written in one way, as it is looked at: 31 and 31.0, a word with a
    blank behind it, an empty text and none at all, 0 and -0 are told apart by readers of a file.

    Numbers as text keep zeros in front and at the end if all of the column have them alike.

    >>> import pandas as pd
    >>> one_writing(pd.DataFrame({"town": ["1", "2.0", "a ", ""]}))["town"].fillna("-").tolist()
    ['1', '2', 'a', '-']
    >>> one_writing(pd.DataFrame({"code": ["01", "17", "00"]}))["code"].tolist()
    ['01', '17', '00']
    """
    import pandas as pd

    file, found = RecordFile(data), {}
    for name, column in data.items():
        if pd.api.types.is_float_dtype(column):
            found[name] = column + 0.0  # -0.0 becomes 0.0
        elif pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column):
            labels = file.labels(name)
            written = column.where(column.notna(), "").map(str).to_numpy(object)
            words = bool(column.dropna().map(lambda value: isinstance(value, str)).all())
            texts = _in_one_way(labels)
            blank = ((texts == "") & column.notna().to_numpy()).any()
            several = len(set(written[texts != ""])) > len(set(texts) - {""})
            if blank or several or (words and (texts != written).any()):
                texts[texts == ""] = None
                found[name] = pd.Series(texts, index=column.index, dtype=column.dtype)
    return data.assign(**found)


def _in_one_way(labels: Labels) -> Labels:
    """Labels, numbers among them as they are shortest, unless all are written alike."""
    from discreet.intruder.linkage.kinds import plainly

    names = np.array(sorted(set(labels)), object)
    short = plainly(names)
    numbers = [one for one, to in zip(names, short, strict=True) if one != to or _FIXED.match(one)]
    padded = any(re.match(r"0\d", one) for one in numbers)
    shapes = {(len(one) if padded else 0, one[::-1].find(".")) for one in numbers}
    alike = len(shapes) == 1 and all(map(_FIXED.fullmatch, numbers))
    place = dict(zip(names, names if alike else short, strict=True))
    return np.array([place[one] for one in labels], object)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
