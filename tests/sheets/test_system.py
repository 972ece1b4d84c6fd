"""Printed cells as sums of fine cells, against counting with pandas."""

import dataclasses
from itertools import product

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Variable
from discreet.data.hierarchy import Hierarchy
from discreet.errors import DataError
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System
from discreet.table.table import Table

TREE = Hierarchy.of({"A": "North", "B": "North", "C": "South", "D": "South"})
REGION = Variable("Region", ("A", "B", "C", "D"), hierarchy=TREE)
SEX = Variable("Sex", ("f", "m"))
AGE = Variable("Age", ("10", "20", "30", "40", "50"))
ILL = Variable("Ill", ("no", "yes", "very"))
VARIABLES = (REGION, SEX, AGE, ILL)
GROUPS = {
    "North": {"A", "B"},
    "South": {"C", "D"},
    "young": {"10", "20"},
    "old": {"30", "40", "50"},
    "to 30": {"10", "20", "30"},
    "from 30": {"30", "40", "50"},
    "odd": {"10", "30", "50"},
    "even": {"20", "40"},
    "yes + very": {"yes", "very"},
}
COARSE = Grouping.cut(AGE, {"young": ["10", "20"], "old": ["30", "40", "50"]})
OVERLAP = Grouping.cut(AGE, {"to 30": ["10", "20", "30"], "from 30": ["30", "40", "50"]})
SOME = Grouping.only(ILL, ["yes", "very"])
BATCHES = {
    "one": [Sheet("1", (Grouping.of(REGION), Grouping.of(SEX)))],
    "levels": [Sheet("1", (Grouping.of(REGION, levels=2),)), Sheet("2", (Grouping.of(REGION),))],
    "no total": [Sheet("1", (Grouping.of(REGION, total=False), Grouping.of(SEX)))],
    "codings": [
        Sheet("1", (COARSE, Grouping.of(SEX))),
        Sheet("2", (OVERLAP, Grouping.of(REGION, levels=2))),
    ],
    "crossing": [  # neither coding lies within the other
        Sheet("1", (COARSE, Grouping.of(SEX))),
        Sheet("2", (Grouping.cut(AGE, {"odd": ["10", "30", "50"], "even": ["20", "40"]}),)),
        Sheet("3", (Grouping.cut(AGE, {"odd": ["10", "30", "50"]}), Grouping.of(ILL))),
    ],
    "filter": [
        Sheet("1", (Grouping.of(REGION),), where=(SOME,)),
        Sheet("2", (Grouping.of(SEX), Grouping.of(REGION))),
    ],
    "chain": [  # decomposable
        Sheet("1", (Grouping.of(REGION), Grouping.of(SEX))),
        Sheet("2", (Grouping.of(SEX), Grouping.of(ILL))),
        Sheet("3", (Grouping.of(ILL), COARSE)),
    ],
    "circle": [  # not decomposable
        Sheet("1", (Grouping.of(REGION), Grouping.of(SEX))),
        Sheet("2", (Grouping.of(SEX), Grouping.of(ILL))),
        Sheet("3", (Grouping.of(ILL), Grouping.of(REGION))),
    ],
    "apart": [Sheet("1", (Grouping.of(REGION),)), Sheet("2", (Grouping.of(ILL),))],
}


def people(seed=0, number=300):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({v.name: rng.choice(v.categories, number) for v in VARIABLES})


def records(frame):
    codes = np.stack([[v.code(c) for c in frame[v.name]] for v in VARIABLES], 1)
    return Records.of_table(Table.from_cells(VARIABLES, codes, np.ones(len(frame), np.int64)))


def counted(frame, sheet):
    """Each cell of a sheet, counted by its labels."""
    found = []
    for labels in product(*(g.labels for g in (*sheet.groupings, *sheet.where))):
        kept = np.ones(len(frame), bool)
        for grouping, label in zip((*sheet.groupings, *sheet.where), labels, strict=True):
            if label != "Total":
                kept &= frame[grouping.name].isin(GROUPS.get(label, {label})).to_numpy()
        found.append(int(kept.sum()))
    return np.array(found).reshape(sheet.shape)


@pytest.mark.parametrize("name", BATCHES)
def test_sums_are_counts(name):
    frame = people()
    system, data = System.of(BATCHES[name]), records(frame)
    fine = system.fine(data.codes, data.people)
    values = system.sums @ fine
    for sheet, rows in zip(system.sheets, system.places, strict=True):
        assert (values[rows] == counted(frame, sheet)).all(), sheet
    assert not (system.agree @ fine).any()
    assert not system.outer


@pytest.mark.parametrize("name", BATCHES)
def test_too_large_to_list_agrees_in_pairs(name):
    frame = people(1)
    system, data = System.of(BATCHES[name], most_joint=0), records(frame)
    fine = system.fine(data.codes, data.people)
    for sheet, rows in zip(system.sheets, system.places, strict=True):
        assert ((system.sums @ fine)[rows] == counted(frame, sheet)).all()
    assert not (system.agree @ fine).any()
    assert system.outer == (name == "circle")


def test_a_category_has_its_line_even_if_it_is_the_only_one():
    tree = Hierarchy.of({"Ash": "North"})
    for variable in (Variable("Town", ("Ash",)), Variable("Town", ("Ash",), hierarchy=tree)):
        shown = Grouping.of(variable)
        assert shown.labels == ("Total", "Ash")
        assert Grouping.of(variable, total=False).labels == ("Ash",)
        system = System.of([Sheet("1", (shown,))])
        assert len(set(system.places[0].tolist())) == 1  # one and the same cell


def test_the_same_cell_is_one_row():
    chain = System.of(BATCHES["chain"])
    region, sex = chain.places[0], chain.places[1]
    assert (region[0] == sex[:, 0]).all()  # Sex alone
    cells = sum(sheet.cells for sheet in chain.sheets)
    # Sex (3 with the total), Ill (4), shown twice
    assert chain.cells == cells - 3 - 4
    levels = System.of(BATCHES["levels"])
    assert levels.cells == BATCHES["levels"][1].cells


def test_parts_are_the_cliques():
    chain = System.of(BATCHES["chain"])
    assert sorted(sorted(part.names) for part in chain.parts) == [
        ["Age", "Ill"],
        ["Ill", "Sex"],
        ["Region", "Sex"],
    ]
    assert chain.columns == 4 * 2 + 2 * 3 + 3 * 2
    # Sex (2) and Ill (3) join them
    assert chain.agree.shape[0] == 2 + 3
    assert [sorted(part.names) for part in System.of(BATCHES["circle"]).parts] == [
        ["Ill", "Region", "Sex"]
    ]


def test_atoms_are_what_no_line_divides():
    """to 30 and from 30 share 30; young and old cut at 30: classes 10 + 20, 30, 40 + 50."""
    system = System.of([Sheet("1", (OVERLAP,)), Sheet("2", (COARSE,))])
    assert system.columns == 3
    labels = [system.column_label(column)["Age"] for column in range(3)]
    assert labels == ["young", "30", "40, 50"]


def test_tables_of_parts_that_agree_are_tables():
    """Whatever the parts allow of a chain, a whole table has: ends of a fine cell by both ways."""
    from scipy.optimize import linprog

    frame = people(2, 12)
    chain, data = System.of(BATCHES["chain"]), records(frame)
    whole = System.of([*BATCHES["chain"], Sheet("4", tuple(map(Grouping.of, VARIABLES)))])
    fine, all_fine = (s.fine(data.codes, data.people) for s in (chain, whole))
    shown = np.unique(np.concatenate([rows.ravel() for rows in whole.places[:3]]))
    for column in range(0, chain.columns, 3):
        goal = np.zeros(chain.columns)
        goal[column] = 1
        both = np.vstack([chain.sums.toarray(), chain.agree.toarray()])
        right = np.r_[chain.sums @ fine, np.zeros(chain.agree.shape[0])]
        label = chain.column_label(column)
        row = next(r for r in range(whole.cells) if _is(whole, r, label))
        target = whole.sums[row].toarray()[0]
        for sign in (1, -1):
            one = linprog(sign * goal, A_eq=both, b_eq=right)
            other = linprog(
                sign * target, A_eq=whole.sums[shown].toarray(), b_eq=whole.sums[shown] @ all_fine
            )
            assert one.fun == pytest.approx(other.fun, abs=1e-6)


def _is(system, row, label):
    """Is a row the cell with this label, whatever total is beside it?"""
    sheet, place = system.home(row)
    said = {name: own for name, own in sheet.label(place).items() if own != "Total"}
    return said == label


def test_impossible_cells_are_closed():
    system = System.of(BATCHES["circle"], impossible={("Sex", "Ill"): [(1, 2)]})
    shut = system.closed
    data = records(people())
    inside = (data.codes["Sex"] == 1) & (data.codes["Ill"] == 2)
    assert shut.sum() == REGION.size
    assert system.fine(data.codes, inside.astype(int))[~shut].sum() == 0
    # in the other order it is the same
    other = System.of(BATCHES["circle"], impossible={("Ill", "Sex"): [(2, 1)]})
    assert (other.closed == shut).all()


def test_a_class_is_closed_if_all_of_it_is():
    def closed(names, *combinations):
        sheet = Sheet("1", (COARSE, Grouping.of(SEX)))
        return System.of([sheet], impossible={names: combinations}).closed.sum()

    assert closed(("Age", "Sex"), (0, 0)) == 0
    assert closed(("Age", "Sex"), (0, 0), (1, 0)) == 1
    assert closed(("Age", "Ill"), (0, 0)) == 0


def test_no_sheets_and_other_codebooks():
    with pytest.raises(DataError, match="no table"):
        System.of([])
    other = dataclasses.replace(SEX, categories=("m", "f"))
    with pytest.raises(DataError, match="disagree"):
        System.of([Sheet("1", (Grouping.of(SEX),)), Sheet("2", (Grouping.of(other),))])
    with pytest.raises(DataError, match="cells"):
        System.of(BATCHES["one"], most_fine=3)
