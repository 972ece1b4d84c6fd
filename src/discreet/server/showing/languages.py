"""The languages of the public's pages: gettext catalogues beside the templates, read once.

English is what the program says; a text that a catalogue does not have stays English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from starlette.requests import Request

ENGLISH = "en"
LANGUAGES = {"en": "English", "de": "Deutsch"}
LOCALES = {"en": "en_GB", "de": "de_DE"}  # how dates and numbers are written
COOKIE = "lang"
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """What is said within the block, is said in a language."""
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


def spoken() -> str:
    return _spoken.get()


def locale() -> str:
    return LOCALES[spoken()]


def gettext(text: str) -> str:
    return catalogue(spoken()).gettext(text)


def later(text: str) -> str:
    """Marks a text for the catalogues; it is said when it is shown."""
    return text


def ngettext(one: str, many: str, n: int) -> str:
    return catalogue(spoken()).ngettext(one, many, n)


def computed(text: str) -> str:
    """A sentence that was made with numbers in it: the catalogue has it with {0}, {1} instead.

    >>> with speaking("de"):
    ...     computed("No table has more than 3,000 cells.")
    'Keine Tabelle hat mehr als 3.000 Zellen.'
    """
    numbers = NUMBER.findall(text)
    places = iter(range(len(numbers)))
    asked = NUMBER.sub(lambda match: f"{{{next(places)}}}", text)
    found = gettext(asked)
    if found == asked:
        return gettext(text)
    for place, number in enumerate(numbers):
        found = found.replace(
            f"{{{place}}}", format_decimal(number.replace(",", ""), locale=locale())
        )
    return found


def is_said(text: str) -> bool:
    """Is the sentence there in the language that is spoken?"""
    return spoken() == ENGLISH or computed(text) != text


def language_of(request: Request) -> str:
    """What the reader chose now, or before, or what their browser prefers."""
    for chosen in (request.query_params.get("lang"), request.cookies.get(COOKIE)):
        if chosen in LANGUAGES:
            return chosen
    return preferred(request.headers.get("accept-language", ""))


def preferred(header: str) -> str:
    """The best of our languages by Accept-Language.

    >>> preferred("fr, de-AT;q=0.8, en;q=0.5"), preferred("*"), preferred("de;q=0")
    ('de', 'en', 'en')
    """
    best, most = ENGLISH, 0.0
    for part in header.split(",")[:20]:
        tag, _, weight = part.partition(";")
        language = tag.strip().lower().partition("-")[0]
        quality = _quality(weight)
        if language in LANGUAGES and quality > most:
            best, most = language, quality
    return best


def _quality(weight: str) -> float:
    found = re.fullmatch(r"\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*", weight)
    return float(found[1]) if found else 1.0 if not weight.strip() else 0.0


@cache
def catalogue(language: str) -> NullTranslations:
    """The texts of a language."""
    if language == ENGLISH:
        return NullTranslations()
    source = files("discreet.server.pages").joinpath("languages", f"{language}.po")
    compiled = BytesIO()
    with source.open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)
