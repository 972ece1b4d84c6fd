"""Random published tables: odd names and labels, and such as any format can hold."""

import numpy as np
from hypothesis import strategies as st

from discreet.decision.law.policy import Policy
from discreet.server.showing.catalogue import Overview, Published

ODD = [
    "=1+1",
    "+1",
    "-5 to 0",
    "@here",
    "\tx",
    'a "b"',
    "a,b",
    "line\nbreak",
    "cr\rx",
    "ä",
    "",
    "*/",
]
LABELS = st.sampled_from(ODD) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
)
NAMES = LABELS.filter(bool).filter(lambda name: name not in ("value", "Status"))


@st.composite
def tables(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    variables = tuple(
        (name, tuple(draw(st.lists(LABELS, min_size=1, max_size=4, unique=True)))) for name in names
    )
    shape = tuple(len(categories) for _, categories in variables)
    counts = draw(st.lists(st.integers(0, 2**53), min_size=(n := int(np.prod(shape))), max_size=n))
    at = "2026-11-15T16:41:49.000123+00:00"
    overview = Overview(1, "s", "A title", at, variables, Policy(), 1, 5, False, None)
    return Published(overview, tuple(names), np.array(counts, np.int64).reshape(shape), 4, at, "h")


PLAIN = st.text("abcdefgh 0123456789äöüß<>=", min_size=1, max_size=10).filter(
    lambda text: text == " ".join(text.split()) != "" and "DATA=" not in text
)


@st.composite
def plain_tables(draw):
    """Names and categories that a PX file can hold as they are."""
    names = draw(st.lists(PLAIN, min_size=1, max_size=4, unique=True))
    variables = tuple(
        (name, tuple(draw(st.lists(PLAIN, min_size=1, max_size=5, unique=True)))) for name in names
    )
    shape = tuple(len(categories) for _, categories in variables)
    counts = np.arange(int(np.prod(shape))).reshape(shape) * 7
    at = "2026-11-15T16:41:49.000123+00:00"
    overview = Overview(1, "s", "A title", at, variables, Policy(), 1, 5, False, None)
    return Published(overview, tuple(names), counts, 4, at, "h")
