"""A list of tables as text, TOML or Excel: what it says of each, not yet what that means.

A line of text is a table, and `#` begins a comment:

    [NUMBER:] A*B [| OPTION, OPTION, ...]

where an option is `name=`, `title=`, `value=`, `weight=`, `holding=`, `shadow=`, `request=`,
`status=wanted` or `out`, `total=yes` or `no`, `where A=x or y`, `levels A=2`. What holds one of
`,|:*=#` is put in "quotes" or `backticks`. Only a number stands before a colon: a word there might
be meant as a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from discreet.data.frames import label
from discreet.data.settings import Keys, only
from discreet.data.smallfiles import read_text, read_toml
from discreet.errors import CodebookError, DataError, near, reason
from discreet.sheets.sheet import Measure

MEASURE = tuple(field.name for field in fields(Measure))
MAPPINGS = ("where", "levels", "hidden", "groups", "cuts", "options")
ALIKE = (*MEASURE, "where", "status", "levels", "hidden", "total", "options")
KEYS = ("name", "title", "variables", "rows", "columns", *ALIKE, "groups", "cuts")
CODING = ("variable", "groups", "cuts", "levels", "hidden", "total")
SHORT = ("name", "title", *MEASURE, "status", "total")  # key=value in a line
HEADS = ("name", "title", "variables", *MEASURE, "where", "status", "levels")
NUMBER = re.compile(r"\d[\w.-]*")
QUOTES = '"`'
CALLED = "the list "
FILE = ("tables", "defaults", "codings", "independent")


@dataclass(frozen=True)
class Listed:
    """What a list says of one table, and where; `numbered` if its name stands before a colon."""

    at: str
    said: Mapping[str, Any]
    numbered: bool = False


@dataclass(frozen=True)
class Listing:
    """The tables of a list, codings that they may name, and columns that tell nothing of each
    other.
    """

    file: str
    tables: tuple[Listed, ...]
    codings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    independent: tuple[frozenset[str], ...] = ()


def read_listing(path: str | Path) -> Listing:
    """A list of tables, by the suffix of its file."""
    path = Path(path)
    kinds: dict[str, Callable[[Path], Listing]] = {
        ".txt": _text,
        ".toml": _toml,
        ".xlsx": _workbook,
    }
    read = kinds.get(path.suffix.lower())
    if read is None:
        raise DataError(
            f"cannot read a list of tables from {str(path)!r}; end its name with "
            f"{', '.join(kinds)}."
        )
    found = read(path)
    if not found.tables:
        raise DataError(f"{found.file} lists no table; name at least one.")
    return found


@contextmanager
def located(at: str) -> Iterator[None]:
    """Whatever is refused is said with its place, and ends with a full stop."""
    try:
        yield
    except (DataError, CodebookError) as error:
        said = str(error) if at in str(error) else f"{at}: {error}"
        raise type(error)(said if said.endswith((".", "?")) else f"{said}.") from None


def split(text: str, separator: str) -> list[str]:
    """The pieces between separators that do not stand in quotes.

    >>> split('a, "b, c", d', ",")
    ['a', '"b, c"', 'd']
    """
    pieces, quote = [""], ""
    for letter in text:
        if not quote and letter == separator:
            pieces.append("")
            continue
        if letter in QUOTES and quote in ("", letter):
            quote = "" if quote else letter
        pieces[-1] += letter
    if quote:
        raise DataError(f"the quote {quote} is not closed; close it")
    return [piece.strip() for piece in pieces]


def bare(text: str) -> str:
    """Without the quotes around it."""
    text = text.strip()
    inside = len(text) > 1 and text[0] == text[-1] and text[0] in QUOTES
    return text[1:-1] if inside else text


def product(text: str) -> list[str]:
    """The names in `Region*Sector`."""
    names = [bare(piece) for piece in split(text, "*")]
    if not all(names):
        raise DataError(f"{text!r} has an empty name; write it like Region*Sector")
    return names


def _text(path: Path) -> Listing:
    file, found = repr(path.name), []
    for number, line in enumerate(read_text(path, CALLED).splitlines(), 1):
        at = f"line {number} of {file}"
        with located(at):
            told = _without_comment(line).strip()
            if told:
                numbered = len(split(split(told, "|")[0], ":")) > 1
                found.append(Listed(at, _line(told), numbered))
    return Listing(file, tuple(found))


def _without_comment(line: str) -> str:
    """Up to a `#` at the start of a word."""
    quote = ""
    for place, letter in enumerate(line):
        if letter in QUOTES and quote in ("", letter):
            quote = "" if quote else letter
        if not quote and letter == "#" and (place == 0 or line[place - 1].isspace()):
            return line[:place]
    return line


def _line(text: str) -> dict[str, Any]:
    head, *rest = split(text, "|")
    if len(rest) > 1:
        raise DataError(f"{text!r} has two |; put commas between what follows the first")
    said: dict[str, Any] = {}
    before, *after = split(head, ":")
    if len(after) > 1:
        raise DataError(f"{head!r} has two colons; put names with a colon in `backticks`")
    if after:
        if not NUMBER.fullmatch(before):
            raise DataError(
                f"{before!r} before the colon is no number, and may be a name or a value; write "
                f"{after[0]} | name={before}, or {after[0]} | value={before}"
            )
        said["name"] = before
    said["variables"] = product((after or [before])[0])
    for option in split(rest[0], ",") if rest else []:
        _option(option, said)
    return said


def _option(text: str, said: dict[str, Any]) -> None:
    """`value=Turnover`, `where Sex=f or m`, `levels Region=2`."""
    kind = re.match(r"(where|levels)\s+(?!=)", text)
    if kind:
        given = _assigned(text[kind.end() :])
        kept = said.setdefault(kind[1], {})
        for name, value in given.items():
            if name in kept:
                raise DataError(f"{kind[1]} says {name!r} twice; write A=x or y once")
            kept[name] = value if kind[1] == "where" else _level(name, value)
        return
    key, equals, word = text.partition("=")
    key, word = key.strip(), bare(word)
    if not equals:
        raise DataError(f"{text!r} is no option; write it like value=Turnover or where Sex=f")
    if key not in SHORT:
        raise DataError(f"there is no option {key!r}; {near(key, (*SHORT, 'where', 'levels'))}")
    if key in said:
        raise DataError(f"{key} is given twice; give it once")
    if not word:
        raise DataError(f"{key} is empty; leave it out, or write {key}=...")
    said[key] = _yes_no(word) if key == "total" else word


def _yes_no(text: str) -> bool:
    if text not in ("yes", "no"):
        raise DataError(f"total is {text!r}; write total=yes or total=no")
    return text == "yes"


def _assigned(text: str) -> dict[str, list[str]]:
    """`Sex=f, Town=A or B` as categories by variable."""
    found: dict[str, list[str]] = {}
    for piece in split(text, ","):
        name, *values = split(piece, "=")
        if len(values) != 1 or not name or not values[0]:
            raise DataError(f"{piece!r} is not like Sex=f; put odd categories in double quotes")
        if bare(name) in found:
            raise DataError(f"{bare(name)!r} is given twice; write {bare(name)}=a or b once")
        found[bare(name)] = [bare(one) for one in _alternatives(values[0])]
    return found


def _alternatives(text: str) -> list[str]:
    """At each ` or ` outside quotes."""
    found, words = [], re.findall(r'"[^"]*"|`[^`]*`|\S+|\s+', text)
    current = ""
    for place, word in enumerate(words):
        if word == "or" and 0 < place < len(words) - 1:
            found.append(current)
            current = ""
        else:
            current += word
    return [one.strip() for one in (*found, current)]


def _level(name: str, values: list[str]) -> int:
    if len(values) != 1 or not values[0].isdigit():
        raise DataError(f"levels {name}={' or '.join(values)} is no number; write {name}=2")
    return int(values[0])


def _toml(path: Path) -> Listing:
    file = repr(path.name)
    content = Keys(read_toml(path, CALLED), FILE, file)
    defaults, codings = content.get("defaults", {}), content.table("codings")
    only(defaults, ALIKE, f"[defaults] of {file}")
    for name, coding in codings.items():
        only(coding, CODING, f"coding {name!r} of {file}")
    found = []
    for at, one in content.tables("tables", []):
        only(one, KEYS, at)
        named = f"table {one['name']!r} of {file}" if "name" in one else at
        found.append(Listed(named, _over(defaults, one)))
    return Listing(file, tuple(found), codings, _independent(content))


def _independent(content: Keys) -> tuple[frozenset[str], ...]:
    """Lists of columns, two or more each."""
    given = content.get("independent", [])
    lists = isinstance(given, list) and all(isinstance(one, list) for one in given)
    if not lists or any(len(one) < 2 or not all(isinstance(n, str) for n in one) for one in given):
        raise DataError(
            f"{content.what('independent')} = {given!r} must be lists of two columns or more, as "
            'in independent = [["Turnover", "Export"]].'
        )
    return tuple(frozenset(one) for one in given)


def _over(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A table's own words before the defaults; tables of words are joined."""
    found = {**defaults, **own}
    for key in MAPPINGS:
        if isinstance(defaults.get(key), dict) and isinstance(own.get(key), dict):
            found[key] = {**defaults[key], **own[key]}
    return found


def rows_of(path: Path) -> list[list[Any]]:
    """The first sheet of a workbook."""
    import python_calamine as calamine

    shown = repr(str(path))
    try:
        with calamine.load_workbook(str(path)) as book:
            return [list(row) for row in book.get_sheet_by_index(0).to_python()]
    except OSError as error:
        raise DataError(f"cannot read {shown}: {reason(error)}; check the path.") from None
    except calamine.CalamineError as error:
        raise DataError(f"{shown} is no Excel workbook ({error}); save it as .xlsx.") from None


def _workbook(path: Path) -> Listing:
    file = repr(path.name)
    rows = rows_of(path)
    heads = [label(head).casefold() for head in rows[0]] if rows else []
    for head in heads:
        if head and head not in HEADS:
            raise DataError(f"{file} has an unknown column {head!r}; {near(head, HEADS)}")
        if head and heads.count(head) > 1:
            raise DataError(f"{file} has two columns {head!r}; take one out.")
    if "variables" not in heads:
        raise DataError(f"{file} has no column variables; put its name in the first row.")
    found = []
    for number, row in enumerate(rows[1:], 2):
        texts = [label(value) for value in row]
        if not any(texts):
            continue
        at = f"row {number} of {file}"
        with located(at):
            if lost := [text for head, text in zip(heads, texts, strict=True) if text and not head]:
                raise DataError(f"{lost[0]!r} stands in a column without a name; give it one")
            told = {head: text for head, text in zip(heads, texts, strict=True) if head and text}
            found.append(Listed(at, _row(told)))
    return Listing(file, tuple(found))


def _row(told: dict[str, str]) -> dict[str, Any]:
    if "variables" not in told:
        raise DataError("variables is empty; write it like Region*Sector")
    said: dict[str, Any] = {**told, "variables": product(told["variables"])}
    if "where" in told:
        said["where"] = _assigned(told["where"])
    if "levels" in told:
        said["levels"] = {n: _level(n, v) for n, v in _assigned(told["levels"]).items()}
    return said
