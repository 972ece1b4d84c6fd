"""Belief before against belief after: the charts say which is which."""

from charted import title, words
from discreet.intruder.belief.belief import Belief
from discreet.look.theme import NARROW
from discreet.risk.knowledge.knowledge import KnowledgeRule
from discreet.risk.knowledge.taught import Totals, taught_by_totals
from discreet.risk.uncertainty import Entropy, Largest, RelativeError


def test_shares(tmp_path):
    before = Belief.discrete(["a", "b", "c"], [0.2, 0.3, 0.5])
    after = Belief.discrete(["a", "b", "c"], [0.7, 0.2, 0.1])
    chart = (
        KnowledgeRule(Largest(), 0.1).judge(after, before, label="Somebody").plot(source="Mine.")
    )
    assert title(chart) == "Somebody: the best guess is a, with probability 70%, 20% before"
    assert "Ring: before." in words(chart)
    assert "70%, was 20%" in words(chart)
    assert "Mine." in words(chart)
    chart.save(tmp_path / "chart.svg")
    alone = KnowledgeRule(Largest(), 0.1).judge(after).plot(width=NARROW)
    assert "Ring" not in words(alone)


def test_many_values():
    p = Belief.discrete(range(100), [0.01] * 100)
    assert "70 more values, 70% in all." in words(KnowledgeRule(Entropy(), 1).judge(p, p).plot())


def test_densities(tmp_path):
    found = taught_by_totals(
        [Totals("1977", 507.862, 11, 10)], KnowledgeRule(RelativeError(), 0.25)
    )
    chart = found.plot()
    assert title(chart) == "1977: from 10.49 to 210.9, with probability 90%"
    assert "Line: before." in words(chart)
    assert len(words(chart)) < 200_000
    chart.save(tmp_path / "chart.svg")
