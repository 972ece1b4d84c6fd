"""What `assess` offers keeps the limit on knowledge on the original categories (section 6)."""

import pytest

from discreet.decision.law.rules import knowledge
from offercases import check_offers, judged

CASES = 100


def test_no_offer_breaks_the_limit_on_the_original_categories():
    """500 cases: benchmarks/test_offers.py."""
    check_offers(CASES)


@pytest.mark.parametrize("wrong", ["as if even", "as if not there"])
def test_a_split_that_is_not_the_stated_one_is_caught(wrong, monkeypatch):
    if wrong == "as if even":
        even = lambda prior, target, categories: [1.0] * len(categories)  # noqa: E731
        monkeypatch.setattr(knowledge, "split_weights", even)
    else:
        monkeypatch.setattr(knowledge, "_merged", lambda *about: {})
    assert any(is_broken for *_, is_broken in judged(200))
