"""How a release formula is written and read.

`*` joins the variables of a margin, `+` lists margins, and backticks hold a name with other
characters than letters, digits, `_` and `.`. What cannot be read is underlined.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from discreet.errors import FormulaError, alike
from discreet.look.words import listed
from discreet.look.words import printable as printable

_PLAIN = re.compile(r"[\w.]+")
_TOKEN = re.compile(r"\s*(?:(?P<plain>[\w.]+)|`(?P<quoted>(?:[^`]|``)+)`(?!`)|(?P<mark>\S))")
_FORM = "write margins as A*B + C"
_JSON_FORM = 'write lists of names as in [["A", "B"], ["C"]]'
_INSTEAD = {
    ",": "write A*B for one margin of both, or A + B for two margins",
    "|": "a margin has no condition, write it as A*B",
    "~": "a release has no response, write its margins as A*B + C",
    "-": "a release only adds margins, as in A*B + C, and a name with '-' needs backticks",
    "^": "write out every margin, as in A*B + A*C",
    "(": "write out every margin, as in A*B + A*C",
}
_SHOWN = 90  # columns of a formula that an error shows


def read(text: str, names: Sequence[str], where: str) -> tuple[int, ...]:
    """The margins of a formula as bit sets over `names`, in the order written.

    >>> read("B*A + C", ["A", "B", "C"], "the example")
    (3, 4)
    """
    return _Reader(text, names, where).sets()


class _Token(NamedTuple):
    name: str
    mark: str
    start: int
    stop: int


class _Reader:
    """Reads one text; every complaint underlines its place."""

    def __init__(self, text: str, names: Sequence[str], where: str) -> None:
        self.text, self.names, self.where = text, names, where
        self.tokens = [
            _Token(
                match["plain"] or (match["quoted"] or "").replace("``", "`"),
                match["mark"] or "",
                match.end() - len(match[0].lstrip()),
                match.end(),
            )
            for match in _TOKEN.finditer(text)
        ]

    def sets(self) -> tuple[int, ...]:
        place = {name: p for p, name in enumerate(self.names)}
        sets = [0]
        last = _Token("", "+", 0, 1)
        for token in self.tokens:
            if token.name and last.name:
                self.check_backticks(last, token)
                self.fail(f"no '*' or '+' before {token.name!r}", _FORM, token)
            elif token.name:
                if token.name not in place:
                    self.check_backticks(token, token)
                    remedy = _suggestion(token.name, self.names)
                    self.fail(f"unknown variable {token.name!r}", remedy, token)
                if sets[-1] >> place[token.name] & 1:
                    self.fail(f"{token.name!r} occurs twice in one margin", self.repair(), token)
                sets[-1] |= 1 << place[token.name]
            elif token.mark not in "*+":
                self.refuse(last, token)
            elif not last.name:
                self.fail(f"a name is missing before {token.mark!r}", self.repair(), token)
            elif token.mark == "+":
                sets.append(0)
            last = token
        if not self.tokens:
            self.fail("no margin", _FORM, last)
        if not last.name:
            self.fail(f"a name is missing after {last.mark!r}", self.repair(), last)
        return tuple(dict.fromkeys(sets))

    def refuse(self, last: _Token, token: _Token) -> NoReturn:
        self.check_backticks(last, token)
        if token.mark == "`":
            name = re.split(r"[`*+]", self.text[token.stop :])[0].strip()
            self.fail("a backtick without its partner", f"write `{name or 'a name'}`", token)
        other = f"{_FORM}, and a name with other characters in backticks"
        remedy = self.repair(_INSTEAD.get(token.mark, other))
        self.fail(f"unexpected {token.mark!r}", remedy, token)

    def check_backticks(self, last: _Token, token: _Token) -> None:
        """Complain if the token belongs to a variable's name that lacks its backticks."""
        for start in (last.start, token.start):
            for name in sorted(self.names, key=len, reverse=True):
                stop = start + len(name)
                if stop > token.start and self.text[start:stop] == name != quoted(name):
                    whole = _Token(name, "", start, stop)
                    self.fail(f"no backticks around {name!r}", f"write {quoted(name)}", whole)

    def repair(self, otherwise: str = _FORM) -> str:
        """The formula in the right form, where its meaning is plain."""
        try:
            margins = _read_freely(self.tokens)
        except (ValueError, IndexError):
            return otherwise
        fixed = " + ".join("*".join(map(quoted, dict.fromkeys(m))) for m in margins)
        return f"write {fixed}" if len(fixed) <= _SHOWN else otherwise

    def fail(self, problem: str, remedy: str, token: _Token) -> NoReturn:
        left = max(0, token.start - _SHOWN // 2) if len(self.text) > _SHOWN else 0
        shown = printable(self.text[left : left + _SHOWN])
        start, stop = token.start - left, token.stop - left
        before, after = "..." if left else "", "..." if len(self.text) > left + _SHOWN else ""
        indent = " " * (len(before) + _columns(shown[:start]))
        carets = "^" * max(1, _columns(shown[start:stop]))
        sentence = printable(f"{problem} in {self.where}; {remedy}")
        raise FormulaError(f"{sentence}\n  {before}{shown}{after}\n  {indent}{carets}")


def _read_freely(tokens: Sequence[_Token]) -> list[tuple[str, ...]]:
    """The margins of a formula in other notations: `A:B`, `A*(B + C)`, `[A,B][C]`, `A ++ B`."""
    rest = list(reversed(tokens))  # read from the end
    marks = {token.mark for token in tokens}
    if len(rest) > 60 or ("," in marks and "[" not in marks):
        raise ValueError("no plain meaning")

    def skip(skipped: str) -> bool:
        before = len(rest)
        while rest and rest[-1].mark and rest[-1].mark in skipped:
            rest.pop()
        return len(rest) < before and bool(rest)

    def total() -> list[tuple[str, ...]]:
        margins = product()
        while skip("+") or (rest and rest[-1].mark == "["):
            margins = margins + product()
        return margins

    def product() -> list[tuple[str, ...]]:
        margins = atom()
        while skip("*") or skip(":") or skip(","):
            right = atom()
            margins = [a + b for a in margins for b in right]
        return margins

    def atom() -> list[tuple[str, ...]]:
        token = rest.pop()
        if token.name:
            return [(token.name,)]
        if token.mark not in "([":
            raise ValueError("no plain meaning")
        margins = total()
        if rest.pop().mark != {"(": ")", "[": "]"}[token.mark]:
            raise ValueError("no plain meaning")
        return margins

    skip("~+*")
    margins = total()
    if rest:
        raise ValueError("no plain meaning")
    return margins


def read_file(path: str, names: Sequence[str]) -> tuple[int, ...]:
    """The margins of a text file with a formula, or of a JSON file with lists of names.

    Such a JSON file is a list, or an object that has it as `frontier`, `released` or `margins`.
    """
    where = f"the release file {path!r}"
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise FormulaError(f"{where} is not UTF-8 text; save it as UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormulaError(f"{where} cannot be read ({reason}); give the path of a file") from None
    if not text.lstrip().startswith(("[", "{")):
        return read(text, names, where)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormulaError(f"{where} is not valid JSON ({error}); {_JSON_FORM}") from None
    if isinstance(found, dict):
        if isinstance(large := found.get("large"), dict):  # of `frontier --large`
            raise FormulaError(
                f"{where} has margins and every count of {large.get('least')} or more beside them, "
                "and only margins are read from a file; these counts would be left out. Give its "
                f"margins as a formula, and --large {large.get('least')} where there is this option"
            )
        lists = (found.get(key) for key in ("frontier", "released", "margins"))
        found = next((value for value in lists if isinstance(value, list)), None)
    if not found or not all(
        isinstance(margin, list) and all(isinstance(name, str) for name in margin)
        for margin in found
    ):
        raise FormulaError(f"{where} does not list margins; {_JSON_FORM}")
    return tuple(dict.fromkeys(bit_set(margin, names, where) for margin in found))


def bit_set(margin: Iterable[str], names: Sequence[str], where: str) -> int:
    """The bit set of some variables' names."""
    if isinstance(margin, str):
        raise FormulaError(
            f"a margin in {where} is a list of names; write {[margin]}, not {margin!r}"
        )
    found = 0
    for name in margin:
        if name not in names:
            raise FormulaError(
                f"unknown variable {name!r} in {where}; {_suggestion(str(name), names)}"
            )
        bit = 1 << names.index(name)
        if found & bit:
            raise FormulaError(f"{name!r} occurs twice in one margin in {where}; name it once")
        found |= bit
    return found


def _suggestion(name: str, names: Sequence[str]) -> str:
    if (near := alike(name, names)) is not None:
        return f"did you mean {near!r}?"
    return f"the variables are {listed([quoted(each) for each in names], 10)}"


def quoted(name: str) -> str:
    """A name as a formula has it.

    >>> quoted("Age"), quoted("Age group")
    ('Age', '`Age group`')
    """
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def _columns(text: str) -> int:
    """The columns of a terminal that a text takes."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )
