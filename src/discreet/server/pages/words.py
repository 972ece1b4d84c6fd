"""What pages say: dates, tables and the rules of a policy."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import reduce

from babel.dates import format_date
from babel.numbers import format_decimal, get_decimal_symbol
from markupsafe import Markup, escape

from discreet.decision.answering.answer import Why
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules import asked
from discreet.decision.law.rules import promises as promises
from discreet.look import words
from discreet.look.words import full as sentence
from discreet.look.words import plural
from discreet.server.deciding.terms import PERTURBED
from discreet.server.deciding.terms import VINTAGE as VINTAGE
from discreet.server.deciding.terms import changed_words as changed_words
from discreet.server.deciding.terms import frontier_words as frontier_words
from discreet.server.deciding.terms import proof_words as proof_words
from discreet.server.showing import languages
from discreet.server.showing.catalogue import Overview
from discreet.server.showing.languages import gettext as _
from discreet.server.showing.languages import later

STATUS = {  # word, symbol
    "released": (later("Released"), "✓"),
    "possible": (later("Possible"), "?"),
    "gone": (later("Gone"), "✕"),
}
OUTCOME = {
    "granted": (later("Granted"), "✓", "released"),
    "pending": (later("Waiting"), "…", "possible"),
    "refused": (later("Refused"), "✕", "gone"),
}
ROLES = (later("analyst"), later("custodian"), later("auditor"))
RULES = {
    "static": later("chosen once, and published"),
    "myopic": later("each request judged by the data, with all that is out"),
    "simulatable": later("each request judged by what is public"),
}


def number(n: float) -> str:
    """As the language writes it.

    >>> with languages.speaking("de"):
    ...     number(1234567)
    '1.234.567'
    """
    if languages.spoken() == languages.ENGLISH:
        return words.number(n)
    return str(format_decimal(n, locale=languages.locale()))


def percent(share: float, decimals: int = 0) -> str:
    """
    >>> with languages.speaking("de"):
    ...     percent(0.125, 1).replace("\\xa0", " ")
    '12,5 %'
    """
    said = words.percent(share, decimals)
    if languages.spoken() == languages.ENGLISH:
        return said
    comma = get_decimal_symbol(languages.locale())
    return said.replace(".", comma).replace("%", "\xa0%")


def date(at: str) -> str:
    """A day in words.

    >>> date("2026-11-05T16:41:49.000123+00:00")
    '5 November 2026'
    """
    when = datetime.fromisoformat(at).date()
    return str(format_date(when, "long", locale=languages.locale()))


def moment(at: str) -> str:
    """
    >>> moment("2026-11-05T16:41:49.000123+00:00")
    '5 November 2026, 16:41 UTC'
    """
    return f"{date(at)}, {datetime.fromisoformat(at):%H:%M} UTC"


def by(names: Iterable[str]) -> str:
    """A table's title.

    >>> by(["Race"]), by(["Gender", "Race", "Income"])
    ('Race', 'Gender by Race by Income')
    """
    return reduce(lambda a, b: _filled(_("{a} by {b}"), a, b), names)


def _filled(pattern: str, a: str, b: str = "") -> str:
    before, _, rest = pattern.partition("{a}")
    return before + a + rest.replace("{b}", b, 1)


def tables(n: int) -> str:
    """The word beside a number that stands by itself."""
    return "table" if n == 1 else "tables"


def cut(where: Mapping[str, str]) -> str:
    """A slice in words.

    >>> cut({"Race": "White"})
    'where Race is White'
    """
    if not where:
        return ""
    parts = [_filled(_("{a} is {b}"), name, category) for name, category in where.items()]
    return _filled(_("where {a}"), reduce(lambda a, b: _filled(_("{a} and {b}"), a, b), parts))


def titled(dataset: Overview, names: Iterable[str]) -> str:
    """A table's title, by what its variables are called."""
    return by(map(dataset.words.title, names))


def sliced(dataset: Overview, where: Mapping[str, str]) -> str:
    return cut({dataset.words.title(name): category for name, category in where.items()})


def term(text: str) -> Markup:
    """A sentence of the terms; one that the language does not have is marked as English."""
    said = escape(languages.computed(text))
    if languages.is_said(text):
        return said
    return Markup('<span lang="en">{}</span>').format(said)


def why(dataset: Overview, reason: Why) -> Markup:
    """An answer; first of all, whether what is out rests on less than whole tables."""
    first = Markup("") if dataset.note is None else term(dataset.note) + " "
    return first + term(reason.said)


def rule(policy: Policy) -> list[str]:
    """Who is answered what: the rule in words."""
    return {
        "static": [
            "The tables were chosen once, before anybody asked, and are published. Every table "
            "within them can be had; every other is refused, whoever asks and in whatever order.",
            "A refusal says that a table was not chosen. If the tables were searched for in the "
            "data, what was left out tells something of them, once; if they were given without a "
            "look at the data, it tells nothing.",
        ],
        "myopic": [
            "Each request is judged by the confidential data, together with all that is out: it is "
            "granted if nobody could work out too much from all of it. What is granted to one is "
            "published for all, and can make other tables impossible.",
            "Refusals speak, and so does the word “gone”: they depend on the confidential data, "
            "and so tell something about them. The custodian sees every refusal.",
        ],
        "simulatable": [
            "Each request is judged by what is public alone: it is refused if, as far as the "
            f"public can tell, the answer would be unsafe with a probability above "
            f"{words.percent(policy.server.delta)}. What is granted to one is published for all.",
            "A refusal tells nothing: whoever knows the published tables can work it out. The "
            f"price is that an answer may be unsafe, with a probability of up to "
            f"{words.percent(policy.server.delta)} each time.",
        ],
        "gated": [
            "Each request is judged by what is public first: it is refused if, as far as the "
            f"public can tell, the answer would be unsafe with a probability above "
            f"{words.percent(policy.server.delta)}. What passes is judged by the confidential "
            "data, together with all that is out. What is granted to one is published for all.",
            "Most refusals tell nothing: whoever knows the published tables can work them out. One "
            "that only the data explain tells that the table is among the few that would be "
            "unsafe.",
        ],
    }[_rule(policy)]


def _rule(policy: Policy) -> str:
    """The rule; the simulatable one has a name of its own if the data are asked, too."""
    gated = policy.server.rule == "simulatable" and policy.server.gate
    return "gated" if gated else policy.server.rule


def lasting(policy: Policy) -> bool:
    """Does a table that is gone stay gone, as long as the policy stays?"""
    monotone = all(each.monotone(policy) for each in asked(policy))
    return policy.server.rule == "static" or (policy.server.rule == "myopic" and monotone)


def price(policy: Policy) -> str:
    """What the rule does not promise."""
    return {
        "static": "The promise holds for the tables that were chosen; nothing else is published.",
        "myopic": "What refusals tell is not counted by the thresholds above.",
        "simulatable": "What a refusal by the data tells is not counted by the thresholds above."
        if policy.server.gate
        else "An answer may be unsafe by the data, as said above; the rule cannot look.",
    }[policy.server.rule]


def limits(policy: Policy) -> list[str]:
    """What the public rules say, whatever the data."""
    server = policy.server
    said = [f"No table has more than {words.number(server.cells)} cells."]
    if server.max_order:
        said.append(f"No table has more than {plural(server.max_order, 'variable')}.")
    if server.curated:
        said.append("Only tables on a list of the custodian can be asked for.")
    if server.step_variables:
        more = plural(server.step_variables, "variable")
        said.append(f"A request goes at most {more} beyond a table that is out.")
    if server.step_cells:
        said.append(f"A request publishes at most {words.number(server.step_cells)} cells.")
    if server.quota:
        said.append(f"One user receives at most {plural(server.quota, 'new table')} in a day.")
    if server.perturbed:
        said.append(PERTURBED)
    return said


def who(policy: Policy) -> str:
    """Who decides."""
    if policy.server.rule == "static":
        return "The custodian chose the tables; no request needs a decision."
    return {
        "never": "The rule decides, at once and alone. Where it is in doubt, it refuses.",
        "review": "The rule decides at once. Where it is in doubt, a custodian decides.",
        "always": "The rule refuses what is unsafe at once. Everything else a custodian decides.",
    }[policy.server.approval]


def value(given: object) -> str:
    """A policy's value as it is typed.

    >>> value(True), value(0.5), value("auto")
    ('true', '0.5', 'auto')
    """
    return str(given).lower() if isinstance(given, bool) else str(given)


def meaning(field: dataclasses.Field[object]) -> str:
    return sentence(str(field.metadata["says"]))
