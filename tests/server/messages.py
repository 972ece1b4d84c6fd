"""The texts of the public's pages, for the catalogues: `python -m server.messages` in tests/.

Templates and marked texts are found by babel; sentences that are computed from a policy are made
here by trying policies out.
"""

import sys
from io import BytesIO
from itertools import product
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from discreet.decision.answering.answer import Why
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules import promises
from discreet.server.deciding import terms
from discreet.server.pages import words
from discreet.server.pages.render import PUBLIC
from discreet.server.showing.languages import LANGUAGES, NUMBER

SERVER = Path(terms.__file__).parents[1]
FOLDER = SERVER / "pages" / "languages"
TEMPLATES = SERVER / "pages" / "templates"
SHARED = ("base", "parts")
MARKED = [path for room in ("formats", "pages", "pxweb") for path in (SERVER / room).glob("*.py")]
KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2), "later": None}
OPTIONS = {"extensions": "jinja2.ext.i18n", "trimmed": "true", "newstyle_gettext": "true",
           "trim_blocks": "true", "lstrip_blocks": "true"}  # fmt: skip


def extracted():
    """Every text that is marked: one, or a pair for one and many."""
    found = {}
    for name in sorted(PUBLIC | set(SHARED)):
        path = TEMPLATES / f"{name}.html.j2"
        for _, text, *_ in extract_from_file(
            "jinja2.ext:babel_extract", path, KEYWORDS, options=OPTIONS
        ):
            found[text] = path.name
    for path in MARKED:
        for _, text, *_ in extract_from_file("python", path, KEYWORDS):
            found[text] = path.name
    return found


def policies():
    """Policies that together say every sentence."""
    rules, approvals = ("static", "myopic", "simulatable"), ("never", "review", "always")
    for rule, approval, proof in product(rules, approvals, ("integer", "linear", "outer")):
        yield {"server.rule": rule, "server.approval": approval, "bounds.proof": proof}
    yield {"server.rule": "simulatable", "server.gate": False}
    yield {"server.rule": "myopic", "server.perturbed": True}
    for n in (1, 3):
        limits = ("max_order", "quota", "step_variables", "step_cells", "approvers")
        yield {"server.rule": "myopic", "server.curated": True} | {
            f"server.{name}": min(n, 2) if name == "approvers" else n for name in limits
        }
    yield {"small.most": 1, "sample.check": True, "published.zeros": True}
    for exclusion, order in product((True, False), (1, 3)):
        yield {"attribute.exclusion": exclusion, "attribute.order": order}
    yield {"closeness.share": 0.1, "tables.least": 1000, "belief.most": 0.9}


def computed():
    """Every sentence of terms, rules and answers, with {0}, {1} for numbers."""
    said = {why.said for why in Why}
    said |= {terms.OUTER, terms.OUTER_BEFORE, terms.LINEAR, terms.LINEAR_BEFORE, terms.CHANGED}
    said |= {terms.VINTAGE, terms.SEARCHED, terms.GIVEN}
    for changes in policies():
        policy = Policy.of(changes)
        said |= {*promises(policy), terms.proof_words(policy), words.price(policy)}
        said |= {*words.rule(policy), *words.limits(policy), words.who(policy)}
    return {placed(text) for text in said}


def placed(text):
    places = iter(range(100))
    return NUMBER.sub(lambda match: f"{{{next(places)}}}", text)


def every():
    """All texts that a catalogue must have."""
    return [*sorted(extracted(), key=str), *sorted(computed())]


def update(language):
    """Add what is new to a catalogue, and drop what is not said any more."""
    path = FOLDER / f"{language}.po"
    with path.open("rb") as file:
        old = read_po(file, locale=language)
    new = Catalog(locale=language, charset="utf-8")
    for text in every():
        known = old.get(text if isinstance(text, str) else text[0])
        new.add(text, known.string if known else "")
    sink = BytesIO()
    write_po(sink, new, width=100, omit_header=True)
    head = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
    head += f'"Language: {language}\\n"\n"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    path.write_text(head + sink.getvalue().decode().strip() + "\n", encoding="utf-8")
    return sum(1 for message in new if message.id and not any(strings(message)))


def strings(message):
    return message.string if isinstance(message.string, tuple) else (message.string,)


if __name__ == "__main__":
    for one in LANGUAGES:
        if (FOLDER / f"{one}.po").exists():
            print(one, update(one), "texts are missing", file=sys.stderr)
