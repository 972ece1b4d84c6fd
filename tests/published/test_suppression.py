"""Suppression: tables that papers and packages print, and what an intruder learns of them.

The first is recomputed from Fischetti & Salazar; the second and third are the data of the tests of
the R package sdcTable (`problemdata`, and its linked tables); the last is a row of our own that has
what τ-ARGUS's manual says of singletons.
"""

import numpy as np
import pytest

from discreet.data.codebook import Variable
from discreet.intruder.sums.audit import audit
from discreet.intruder.sums.intervals import intervals
from discreet.intruder.sums.protection import Protection
from discreet.masks.suppress.optimal import optimal
from discreet.release.printed import Printed
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System
from sumcases import crossed


def sheet(inner):
    """A two-way table with totals: its system, values, and rows by place, total first."""
    table = np.array(inner, float)
    system = crossed(*table.shape)
    return system, system.sums @ table.ravel(), system.places[0]


def ends(printed, row):
    found = intervals(printed, [row])
    assert found.proof.tolist() == ["whole"]
    return found.lower[0], found.upper[0]


def test_three_by_three_of_fischetti_and_salazar():
    """Fischetti & Salazar 2001: 22 is protected by three cells, cost 59, interval [5, 30]."""
    system, values, places = sheet([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    assert values[places[0]].tolist() == [190, 45, 101, 44]
    row = int(places[2, 3])
    primary = np.arange(system.cells) == row
    asked = Protection.of([row], [22], lower=17, upper=8)
    found = optimal(system, values, primary, asked)
    assert (found.cost, found.gap) == (59, 0)
    assert set(values[found.hidden]) == {22, 8, 17, 12}
    printed = Printed.suppressed(system, values, found.hidden)
    assert ends(printed, row) == (5, 30)
    assert audit(printed, asked, values=values).safe.all()


@pytest.fixture
def problemdata():
    system, values, places = sheet(
        [[30, 47, 64, 89], [90, 124, 5, 31], [92, 100, 59, 85], [800, 991, 651, 685]]
    )
    hidden = np.zeros(system.cells, bool)
    for line, columns in enumerate(("abc", "ac", "bd", "bd"), 1):
        hidden[[places[line, "abcd".index(c) + 1] for c in columns]] = True
    return system, values, places, hidden


def test_a_cell_is_pinned_although_no_line_has_a_single_gap(problemdata):
    """sdcTable's `problemdata`: w|b is 47, from two rows less two columns.

    Its first lines give 1021 and 770 as totals of a and c; the cells sum to 1012 and 779.
    """
    system, values, places, hidden = problemdata
    assert values[places[0]].tolist() == [3943, 1012, 1262, 779, 890]
    gaps = hidden[places]
    assert (gaps.sum(0)[1:] >= 2).all()
    assert (gaps.sum(1)[1:] >= 2).all()
    row = int(places[1, 2])
    assert ends(Printed.suppressed(system, values, hidden), row) == (47, 47)


def test_one_more_cell_repairs_it(problemdata):
    """The cheapest is x|d, 31; the package's remark names x|b, 124, which would do as well."""
    system, values, places, hidden = problemdata
    rows = np.flatnonzero(hidden)
    asked = Protection.widths(rows, values[rows], 1)
    found = optimal(system, values, hidden, asked)
    assert found.gap == 0
    assert np.flatnonzero(found.hidden & ~hidden).tolist() == [places[2, 4]]
    assert found.cost == values[hidden].sum() + 31
    for repair in (places[2, 4], places[2, 2]):
        more = hidden.copy()
        more[repair] = True
        printed = Printed.suppressed(system, values, more)
        assert audit(printed, asked, values=values).safe.all()


@pytest.fixture
def linked():
    """Regions in counties, and the same regions in groups."""
    region = Variable("region", tuple("ABIJKLMN"))
    county = {"county-1": list("ABIJ"), "county-2": list("KLMN")}
    group = {"small": list("ABIJKN"), "BIG": list("LM")}
    single = {name: [name] for name in region.categories}
    system = System.of(
        [
            Sheet("counties", (Grouping.cut(region, {**county, **single}),)),
            Sheet("groups", (Grouping.cut(region, {**group, **single}),)),
        ]
    )
    fine = system.fine({"region": np.arange(8)}, np.array([2, 2, 8, 8, 3, 3, 3, 7]))
    values = system.sums @ fine
    lines = system.sheets[0].groupings[0].labels
    rows = {label: int(system.places[0][i]) for i, label in enumerate(lines)}
    hidden = np.zeros(system.cells, bool)
    hidden[[rows[name] for name in "ABKLM"]] = True
    return system, values, rows, hidden


def test_linked_tables_pin_a_cell(linked):
    """K = county-2 less N less the big ones = 3, though each table alone protects it."""
    system, values, rows, hidden = linked
    assert ends(Printed.suppressed(system, values, hidden), rows["K"]) == (3, 3)
    alone = System.of(system.sheets[:1])
    own = np.array([rows[label] for label in alone.sheets[0].groupings[0].labels])
    printed = Printed.suppressed(
        alone, values[own][np.argsort(alone.places[0])], hidden[own][np.argsort(alone.places[0])]
    )
    row = int(alone.places[0][list(alone.sheets[0].groupings[0].labels).index("K")])
    assert ends(printed, row) == (0, 9)


def test_n_repairs_the_linked_tables(linked):
    system, values, rows, hidden = linked
    targets = np.flatnonzero(hidden)
    asked = Protection.widths(targets, values[targets], 1)
    found = optimal(system, values, hidden, asked)
    assert found.gap == 0
    assert np.flatnonzero(found.hidden & ~hidden).tolist() == [rows["N"]]
    printed = Printed.suppressed(system, values, found.hidden)
    assert audit(printed, asked, values=values).safe.all()


@pytest.mark.parametrize(("floor", "interval"), [(0, (0, 3)), (1, (1, 1))])
def test_three_singletons_in_one_row(floor, interval):
    """Whoever knows that a gap is not zero knows all three, as their total is 3."""
    variable = Variable("Town", tuple("ABCD"))
    system = System.of([Sheet("1", (Grouping.of(variable),))])
    values = system.sums @ np.array([1.0, 1, 1, 20])
    rows = system.places[0][1:4]
    hidden = np.isin(np.arange(system.cells), rows)
    printed = Printed.suppressed(system, values, hidden, floor=floor)
    assert ends(printed, rows[0]) == interval
    found = audit(printed, Protection.widths(rows, values[rows], 2), values=values)
    assert found.safe.all() == (floor == 0)
    assert found.broken.all() == (floor == 1)
