"""A small release with hidden cells, for the tests that write and check it."""

import numpy as np

from discreet.data.codebook import Variable
from discreet.data.hierarchy import Hierarchy
from discreet.masks.masked import Masked
from discreet.release.printed import Printed
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Measure, Sheet
from discreet.sheets.system import System

TREE = Hierarchy.of({"A": "North", "B": "North", "C": "South", "=D": "South"})
REGION = Variable("Region", ("A", "B", "C", "=D"), hierarchy=TREE)
SEX = Variable("Sex", ("f", "m"))
AGE = Variable("Age", tuple(map(str, range(48, 53))))
VARIABLES = (REGION, SEX, AGE)
PEOPLE = np.array([[1, 7], [9, 8], [6, 5], [12, 4]])
TURNOVER = np.array([10.25, 20.5, 1000.0, 3.125])
HIDDEN = {("A", "f"), ("A", "m"), ("B", "f"), ("B", "m")}
FORMATS = ("csv", "xlsx", "json", "json-stat", "sdmx-csv")


def truth(system):
    """Counts, or the turnover of each region if that is the measure; everybody is 50 years old."""
    amounts = PEOPLE.astype(float)
    if system.sheets[0].measure.value:
        amounts = np.repeat(TURNOVER / 2, 2).reshape(4, 2)
    region, sex = np.indices((4, 2)).reshape(2, -1)
    codes = {"Region": region, "Sex": sex, "Age": np.full(8, 2)}
    return system.sums @ system.fine(codes, amounts.ravel())


def masked(sheets, hides, whole=True):
    """The sheets with the cells hidden whose labels are in `hides`, as suppression prints them."""
    system = System.of(sheets)
    values = truth(system)
    hidden = np.zeros(system.cells, bool)
    for sheet, rows in zip(system.sheets, system.places, strict=True):
        for labels, row in zip(sheet.labels(), rows.ravel(), strict=True):
            hidden[row] |= labels in hides
    printed = Printed.suppressed(system, values, hidden, whole=whole)
    shown = np.where(hidden, np.nan, values)
    return Masked(system, shown, "suppression", {"guarantee": "width"}, printed, whole)


def counts():
    people = Sheet("1", (Grouping.of(REGION), Grouping.of(SEX)), title="People; by region")
    young = Grouping.cut(AGE, {"under 50": ["48", "49"], "50 and over": ["50", "51", "52"]})
    own = Grouping.cut(REGION, {"not =D": ["A", "B", "C"], "not C": ["A", "B", "=D"]})
    also = Sheet("ages/1", (young,), where=(Grouping.only(SEX, ["f"]),))
    third = Sheet("all", (own, Grouping.of(SEX, total=False), young))
    return masked([people, also, third], HIDDEN)


def sums():
    sheet = Sheet("T", (Grouping.of(REGION),), Measure("Turnover", holding="owner"))
    return masked([sheet], {("A",), ("B",)}, whole=False)
