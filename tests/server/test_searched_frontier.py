"""What a frontier that was searched for in the data tells: measured, and said in the terms."""

from pathlib import Path

import numpy as np
import pytest

from discreet.decision.frontier.frontier import frontier
from discreet.decision.law.policy import Policy
from discreet.server.deciding.terms import GIVEN, SEARCHED, policy_words
from discreet.server.launch import DataSpec, build_services, prepare
from discreet.server.ledger.chain import verify_all
from discreet.server.settings import Settings
from discreet.server.showing.views import dataset_view
from discreet.table.table import Table

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("check", "ruled_out"), [(True, 4), (False, 6)])
@pytest.mark.parametrize(("row", "column", "total"), [(9, 9, 40), (9, 12, 60), (9, 20, 40)])
def test_what_a_searched_frontier_rules_out(check, ruled_out, row, column, total):
    """Of the ten tables with the same margins, those of which it would have been the whole."""
    found = []
    for first in range(10):
        counts = [[first, row - first], [column - first, total - row - column + first]]
        table = Table.of(np.array(counts), A=["a", "b"], B=["x", "y"])
        rules = Policy.of({"attribute.check": check})
        found.append(frontier(table, policy=rules, certified=True).formula.margins)
    whole = [margins for margins in found if margins == (("A", "B"),)]
    assert len(whole) == ruled_out
    assert len(set(found)) == 2


def test_the_terms_and_the_docs_say_so():
    assert "searched for in the data" in policy_words(Policy.of({"server.rule": "static"}))[0]
    for name in ("server.md", "server-security.md"):
        assert "searche" in (DOCS / name).read_text(encoding="utf-8").partition("speaks once")[0]


@pytest.mark.parametrize(("frontier", "said"), [(None, SEARCHED), ("Gender + Race", GIVEN)])
def test_the_ledger_keeps_where_the_frontier_comes_from(tmp_path, frontier, said):
    """The first entry, `verify` and the terms say it, also after a start without `--frontier`."""
    settings = prepare(Settings(database=f"sqlite:///{tmp_path}/office.db"))
    for given in (frontier, None):
        services = build_services(settings, [DataSpec("tract", "example:tract", frontier=given)])
        with services.database.read() as session:
            ((note,),) = [one.notes for one in verify_all(session)]
        assert note.partition(": ")[2] == said.replace("This set", "The frontier")
        words = dataset_view(services, "tract").policy
        assert [text for text in words if text in (SEARCHED, GIVEN)] == [said]
        services.close()
        services.database.close()


def test_where_no_frontier_was_named_nothing_is_said(tmp_path):
    settings = prepare(Settings(database=f"sqlite:///{tmp_path}/office.db"))
    spec = DataSpec("tract", "example:tract", set=("server.rule=myopic", "server.one_way=false"))
    services = build_services(settings, [spec])
    with services.database.read() as session:
        assert [one.notes for one in verify_all(session)] == [[]]
    services.close()
    services.database.close()
