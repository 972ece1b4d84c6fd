"""Verdicts on sheets by themselves and together, by hand."""

import dataclasses

import numpy as np
import pytest

from discreet.data.codebook import Role
from discreet.decision.batch.judge import judge_batch
from discreet.decision.batch.masking import mask
from discreet.decision.batch.reasons import Looked
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import DataError
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import Sheet, Status
from discreet.table.load import load
from discreet.table.table import Table

PASS, REVIEW, FAIL = Verdict.PASS, Verdict.REVIEW, Verdict.FAIL
PLAIN = {"attribute.check": False, "published.least": 3, "small.most": 2, "small.width": 3}


def data(array, **roles):
    names = {n: [f"{n.lower()}{i}" for i in range(k)] for n, k in zip("AB", np.shape(array))}  # noqa: B905
    table = Table.of(np.array(array), **names)
    variables = tuple(
        dataclasses.replace(v, role=roles.get(v.name, Role.IDENTIFYING)) for v in table.variables
    )
    return Records.of_table(dataclasses.replace(table, variables=variables)), variables


@pytest.fixture
def cut_twice():
    """Up to a1 and up to a2 differ by the one person of a2."""
    records, (age, sex) = data([[20, 20], [20, 20], [1, 0], [20, 20]])
    upto = {"to a1": ["a0", "a1"], "from a2": ["a2", "a3"]}
    other = {"to a2": ["a0", "a1", "a2"], "from a3": ["a3"]}
    sheets = [
        Sheet("1", (Grouping.cut(age, upto), Grouping.of(sex))),
        Sheet("2", (Grouping.cut(age, other), Grouping.of(sex))),
        Sheet("3", (Grouping.of(sex),)),
    ]
    return records, sheets


def test_two_cuts_tell_who_is_between(cut_twice):
    """21 - 20 in b0: each sheet passes, both together tell of one person."""
    records, sheets = cut_twice
    batch = judge_batch(records, sheets, Policy.of(PLAIN))
    assert [judged.verdict for judged in batch.each] == [PASS] * 3
    assert batch.together.verdict is FAIL
    assert batch.verdict is FAIL
    assert [set(blame.names) for blame in batch.blames] == [{"1", "2"}]
    assert len(batch.part) == 2
    assert "3" in batch.part
    assert batch.proven
    assert batch.part_judged.verdict is PASS
    assert batch.to_frame().goes.sum() == 2


def test_what_is_out_counts(cut_twice):
    records, sheets = cut_twice
    out = [dataclasses.replace(sheets[0], status=Status.OUT), *sheets[1:]]
    batch = judge_batch(records, out, Policy.of(PLAIN))
    assert batch.part == ("3",)
    assert batch.together.verdict is FAIL
    with pytest.raises(DataError, match="out already"):
        judge_batch(records, out[:1], Policy.of(PLAIN))


def test_what_is_out_behind_a_mask_tells_less(cut_twice):
    """Of sheet 1 only the first line is out, which sheet 2 prints, too: 61 and 60 of 121."""
    records, sheets = cut_twice
    out = [dataclasses.replace(sheets[0], status=Status.OUT), sheets[1]]
    shown = np.full(sheets[0].shape, np.nan)
    shown[0] = 121, 61, 60
    policy = Policy.of(PLAIN)
    assert judge_batch(records, out, policy).verdict is FAIL
    assert judge_batch(records, out, policy, out={"1": shown}).verdict is not FAIL


def test_a_doubt_of_cells_is_not_overruled(cut_twice, monkeypatch):
    """The law sees printed counts alone; whether hidden ones stay open the cells must prove."""
    records, sheets = cut_twice
    nothing = property(lambda looked: np.zeros(len(looked.about), bool))
    monkeypatch.setattr(Looked, "proven", nothing)
    made = mask(records, sheets, Policy.of(PLAIN | {"small.most": 1}))
    assert made.verdict is REVIEW


def test_a_mask_hides_what_both_cuts_tell(cut_twice):
    records, sheets = cut_twice
    made = mask(records, sheets, Policy.of(PLAIN))
    assert made.verdict is PASS
    shown = {sheet.name: values for sheet, values in made.shown()}
    # of the two counts of b0 whose difference is the person one is hidden
    assert np.isnan(shown["1"][1, 1]) or np.isnan(shown["2"][1, 1])
    assert not np.isnan(shown["3"]).any()


def test_names_are_used_once(cut_twice):
    records, sheets = cut_twice
    with pytest.raises(DataError, match="two tables are called '1'"):
        judge_batch(records, [sheets[0], sheets[0]])
    with pytest.raises(DataError, match="no table"):
        judge_batch(records, [])


@pytest.mark.parametrize("width", [1, 3, 5])
@pytest.mark.parametrize("least", [0, 3, 10])
def test_plain_margins_are_judged_as_by_the_law(width, least):
    """Sheets of whole variables with totals are margins."""
    table = load("example:tract")
    records = Records.of_table(table)
    by_name = {variable.name: variable for variable in table.variables}
    policy = Policy.of({"published.least": least, "small.width": width})
    for names in (["Race"], ["Race", "Gender"], ["Gender", "Income"], [*by_name]):
        sheet = Sheet("1", tuple(Grouping.of(by_name[name]) for name in names))
        law = decide(table.margin(names), "*".join(names), policy).verdict
        assert judge_batch(records, [sheet], policy).verdict is law, names


def test_a_sensitive_category_of_a_single_line():
    """Everybody is b0: a sheet of one variable tells it of the whole table."""
    records, (_, b) = data([[9, 0], [8, 0]], B=Role.SENSITIVE)
    policy = Policy.of({"published.least": 0, "small.width": 0})
    assert judge_batch(records, [Sheet("1", (Grouping.of(b),))], policy).verdict is FAIL


def test_without_a_width_no_count_is_too_small():
    records, (a, b) = data([[1, 2], [3, 4]])
    quiet = {"published.least": 0, "small.width": 0, "attribute.check": False}
    sheet = Sheet("1", (Grouping.of(a), Grouping.of(b)))
    assert judge_batch(records, [sheet], Policy.of(quiet)).verdict is PASS
    assert judge_batch(records, [sheet], Policy.of(quiet | {"small.width": 1})).verdict is FAIL


def test_seconds_that_are_over_leave_doubt(cut_twice):
    records, sheets = cut_twice
    hurried = judge_batch(records, sheets, Policy.of(PLAIN), seconds=1e-9)
    assert hurried.verdict is not PASS
