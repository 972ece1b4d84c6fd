"""How numbers, plurals, shares and lists are written, wherever people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

EN_DASH = "\u2013"
ELLIPSIS = "\u2026"


def number(n: float) -> str:
    """A number with thousands separators.

    >>> number(1234567), number(-1), number(0.25)
    ('1,234,567', '-1', '0.25')
    """
    return f"{int(n):,}" if n == int(n) else f"{n:,.4g}"


def rounded(n: float, figures: int) -> str:
    """A number in so many figures.

    >>> rounded(1234.56, 3), rounded(0.123456, 3)
    ('1,230', '0.123')
    """
    return number(float(f"{n:.{figures}g}"))


def span(lower: float, upper: float) -> str:
    """The values from lower to upper, with an en dash.

    >>> span(0, 1200), span(3, 3)
    ('0–1,200', '3')
    """
    return number(lower) if lower == upper else f"{number(lower)}{EN_DASH}{number(upper)}"


def percent(share: float, decimals: int = 0) -> str:
    """A share in percent that is never rounded to none or to all of it.

    >>> percent(2 / 3), percent(0.9999), percent(0.0001), percent(1)
    ('67%', '>99%', '<1%', '100%')
    >>> percent(103 / 8008, 2), percent(1e-6, 2), percent(1, 2)
    ('1.29%', '<0.01%', '100%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    step = 10 ** -(decimals + 2)
    if 0 < share < step / 2:
        return f"<{step:.{decimals}%}"
    if 1 - step / 2 <= share < 1:
        return f">{1 - step:.{decimals}%}"
    return f"{share:.{decimals}%}"


def plural(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> plural(1, "cell"), plural(2000, "cell"), plural(2, "category", "categories")
    ('1 cell', '2,000 cells', '2 categories')
    """
    return f"{number(n)} {one if n == 1 else many or one + 's'}"


def up_to(most: int) -> str:
    """The whole numbers from 1 on.

    >>> up_to(1), up_to(2), up_to(5)
    ('1', '1 or 2', '1 to 5')
    """
    return "1" if most == 1 else "1 or 2" if most == 2 else f"1 to {most}"


def both(names: Sequence[str]) -> str:
    """All the names.

    >>> both(["Sex"]), both(["Sex", "Age", "Town"])
    ('Sex', 'Sex, Age and Town')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def named(cell: Mapping[str, str]) -> str:
    """A cell with the names of its variables.

    >>> named({"Sex": "f", "Age": "30-39"})
    'Sex=f, Age=30-39'
    """
    return ", ".join(f"{name}={category}" for name, category in cell.items())


def listed(names: Sequence[str], most: int) -> str:
    """The names, or the first of them and how many more there are.

    >>> listed(["Sex", "Age", "Town"], 2)
    'Sex, Age and 1 more'
    """
    more = f" and {number(len(names) - most)} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def sentence(text: str) -> str:
    """The text with a capital letter."""
    return text[:1].upper() + text[1:]


def full(text: str) -> str:
    """The text as a sentence: a capital letter, and a full stop unless it has one.

    >>> full("it is so"), full("Is it?")
    ('It is so.', 'Is it?')
    """
    text = sentence(text)
    return text if text.endswith((".", "!", "?")) else f"{text}."


def shortened(text: str, letters: int) -> str:
    """The text, cut with an ellipsis if it is too long.

    >>> shortened("a long formula", 8)
    'a long …'
    """
    return text if len(text) <= letters else f"{text[: letters - 2]} {ELLIPSIS}"


def printable(text: str) -> str:
    """A text on one line: a space for every line break and control character."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
