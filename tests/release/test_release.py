"""What is public, and that nothing else comes with it."""

import numpy as np
import pytest

import discreet as dc
from discreet.errors import CodebookError, DataError, FormulaError, InconsistentRelease
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table
from oracle import named


@pytest.fixture
def table():
    return load("example:tract")


def test_only_maximal_margins_are_kept(table):
    release = Release.margins(table, "Race + Race*Income + Income")
    assert str(release.formula) == "Race*Income"
    assert release.total == 742
    assert release.table(["Race"]) == table.margin("Race")


def test_no_reference_to_the_confidential_table(table):
    import gc

    release = Release.margins(table, "Race*Income + Gender")
    reachable, todo = set(), [release]
    while todo:
        thing = todo.pop()
        if id(thing) not in reachable and not isinstance(thing, type):
            reachable.add(id(thing))
            todo += [o for o in gc.get_referents(thing) if not isinstance(o, type)]
    assert id(table) not in reachable
    assert id(table.counts) not in reachable
    assert id(table.codes) not in reachable


def test_what_was_not_released_is_refused(table):
    release = Release.margins(table, "Race*Income + Gender")
    with pytest.raises(DataError, match="is not in the release"):
        release.table(["Race", "Gender"])
    with pytest.raises(FormulaError):
        Release.margins(table, "")
    with pytest.raises(DataError, match="contains nothing"):
        Release.margins(table, [])
    with pytest.raises(DataError, match="contains nothing"):
        Release.of([])


def test_contradictory_margins_are_refused():
    a, b = named(np.array([[1, 2], [3, 4]])), named(np.array([[1, 2], [3, 5]]))
    with pytest.raises(InconsistentRelease, match="disagree on the total: A sums to 10, B to 11"):
        Release.of([a.margin("A"), b.margin("B")])
    c = named(np.array([[2, 1], [3, 4]]))
    with pytest.raises(InconsistentRelease, match="disagree on B=0: A\\*B gives 4, B 5"):
        Release.of([a, c.margin("B")])
    other = Table.of([4, 6], B=["no", "yes"])
    with pytest.raises(InconsistentRelease, match="categories of 'B'"):
        Release.of([a, other])


def test_releases_add_up(table):
    both = Release.margins(table, "Race*Income") + Release.margins(table, "Income*Gender + Race")
    assert both.formula.by_order() == {1: 3, 2: 2}
    assert both.names == table.names


def test_known_cells_are_checked(table):
    release = Release.margins(table, "Race*Income")
    with pytest.raises(DataError, match="no variable 'Age'"):
        release.publish({"Age": "old"}, 1)
    with pytest.raises(CodebookError, match="no category 'Green'"):
        release.publish({"Race": "Green"}, 1)
    with pytest.raises(InconsistentRelease, match="no range of counts"):
        release.between({"Race": "Chinese"}, 5, 4)
    known = release.publish({"Gender": "Male", "Race": "Chinese"}, 4)
    assert "1 cells known" in repr(known)
    assert str(known.known[0]) == "Gender=Male, Race=Chinese: 4 (published)"


def test_frames_of_the_release(table):
    frames = Release.margins(table, "Race*Income + Gender").to_frames()
    assert list(frames) == ["Race*Income", "Gender"]
    assert frames["Gender"]["count"].tolist() == [356, 386]


def test_what_a_release_tells_beside_its_margins_is_not_lost():
    """Functions of margins took a release of one published cell, or of large ones, for its margins:
    PASS where `decide` says FAIL.
    """
    table = named(np.array([[[9, 8], [7, 9]], [[8, 9], [9, 1]]]))
    margins = Release.margins(table, "A")
    one = margins.publish({"A": 1, "B": 1, "C": 1}, 1)
    assert dc.decide(table, one).verdict == "FAIL"
    assert dc.decide(table, "C", released=one).verdict == "FAIL"
    assert dc.decide(table, "C", released=margins).verdict == "PASS"
    for told in (one, margins.with_large(table, 8)):
        joint = dc.bounds(table, told, table.small())
        assert joint.upper.tolist() == dc.bounds(told, table.small()).upper.tolist()
        assert str(dc.count(table, told)) == str(dc.count(told))
        for refused in (
            lambda told=told: dc.assess(table, told),
            lambda told=told: dc.assess(table, "C", released=told),
            lambda told=told: dc.alternatives(table, told),
            lambda told=told: dc.frontier(table, released=told),
            lambda told=told: Release.margins(table, told),
        ):
            with pytest.raises(FormulaError, match=r"beside them.* use decide\(table, release\)"):
                refused()
    with pytest.raises(DataError, match="not that of the table"):
        dc.decide(named(table.dense() + 1), "C", released=one)
    with pytest.raises(DataError, match="nobody can have A=1, B=0, which the table does not"):
        dc.assess(table, margins.impossible({"A": 1, "B": 0}))
    assert dc.assess(table, margins).verdict == "PASS"
