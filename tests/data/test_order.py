"""The natural order of categories: only the order changes, whatever order they come in."""

import datetime

import hypothesis.strategies as st
import pandas as pd
import pytest
from hypothesis import given, settings

import discreet as dc
from discreet.data.codebook import MISSING
from discreet.data.order import in_order

ORDERS = {
    "ages": ["0-4", "5-9", "10-14", "15-19", "85+"],
    "words for the ends": ["under 5", "5-9", "10-14", "65 and over"],
    "thousands": ["<20k", "20k to 50k", "50k-100k", ">100k"],
    "thousands and millions": ["500k", "900k", "1m", "2.5m", "1bn"],
    "grouped digits": ["under 5,000", "5,000 to 9,999", "10,000 to 24,999", "100,000 or more"],
    "employees": ["1-4 employees", "5-9 employees", "10-49 employees", "250+ employees"],
    "dollars": ["up to $10,000", "$10,001 to $25,000", "$25,001 to $100,000", "over $100,000"],
    "en dash": ["0–4", "5–9", "10–14"],
    "one and many": ["1 room", "2 rooms", "10 rooms"],
    "percent": ["5%", "10%", "100%"],
    "nested": ["0-4", "0-17", "18-64"],
    "words last": ["0-4", "5-9", "10-14", "not stated", "unknown"],
    "bands": ["0 to under 5", "5 to under 10", "10 to under 20", "20 or more"],
    "numbers": ["-1.5", "9", "10", "1e3", "a", "b"],
    "iso": ["2019-12-31", "2020-01-02", "2020-11-01"],
    "months": ["2019-2", "2019-11", "2020-1"],
    "german": ["31.12.2019", "1.2.2020", "15.01.2021"],
    "month and year": ["12/2019", "3/2020", "11/2020"],
    "month point year": ["12.2019", "03.2020", "11.2020"],
    "quarters": ["2019 Q4", "2020 Q1", "2020 Q3"],
    "quarters first": ["Q4 2019", "Q1 2020", "Q3 2020"],
    "names of months": ["Jan", "Feb", "Mar", "Sept", "Dec"],
    "months in full": ["December 2019", "January 2020", "March 2020"],
    "English dates": ["December 31, 2019", "January 2, 2020", "March 10, 2020"],
    "day first": ["31/12/2019", "01/02/2020", "05/01/2021"],
    "month first": ["12/31/2019", "02/01/2020", "01/15/2021"],
    "grades": ["Grade 1", "Grade 9", "Grade 10"],
    "ordinals": ["1st floor", "2nd floor", "10th floor"],
    "codes": ["A1", "A2", "A10", "B1"],
    "intervals": ["(-1, 5]", "(5, 10]", "(10, 100]"],
    "doses": ["Dose 1.25 mg", "Dose 1.5 mg", "Dose 10 mg"],
    "years and quarters": ["2019", "2020", "2020 Q1", "2020 Q2"],
}


@pytest.mark.parametrize("kind", ORDERS)
def test_the_natural_order(kind):
    right = ORDERS[kind]
    assert in_order(right[::-1]) == right
    assert in_order(sorted(right)) == right


AMBIGUOUS = {
    "day or month": ["01/02/2020", "02/01/2020", "03/01/2019"],
    "two units": ["10 days", "2 weeks", "1 month"],
    "metres or millions": ["5", "10", "2 m"],
    "May is a name": ["April", "Bob", "May"],
    "words": ["low", "high", "medium"],
}


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_what_may_be_two_things_stands_as_before(kind):
    """Numbers by size, then text."""
    labels = AMBIGUOUS[kind]
    numbers = sorted((text for text in labels if text.isdigit()), key=int)
    assert in_order(labels) == numbers + sorted(text for text in labels if not text.isdigit())


PARTS = st.one_of(
    st.text(max_size=6),
    st.from_regex(r"[1-9]?[0-9]( ?- ?[1-9][0-9]{1,3})?(k|%| years?)?", fullmatch=True),
    st.from_regex(r"(under|over|up to|<|>) ?[0-9]{1,4}k?", fullmatch=True),
    st.from_regex(r"[12][09][0-9]{2}[-/. ]?(Q[1-4]|[01]?[0-9])", fullmatch=True),
    st.from_regex(r"[0-3]?[0-9][./][01]?[0-9][./][12][09][0-9]{2}", fullmatch=True),
    st.sampled_from(["Jan", "May", "December", "Grade 9", "Grade 10", "A-1", "1e9", "²", "١٢"]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PARTS, max_size=8), st.randoms(use_true_random=False))
def test_an_order_is_a_permutation_and_the_same_for_all_shuffles(labels, random):
    found = in_order(labels)
    assert sorted(found) == sorted(labels)
    assert in_order(found) == found
    shuffled = list(labels)
    random.shuffle(shuffled)
    assert in_order(shuffled) == found


def test_missing_values_come_last():
    assert in_order(["10-14", MISSING, "5-9"], last=MISSING) == ["5-9", "10-14", MISSING]


def test_files_have_the_order_and_no_other_counts(tmp_path):
    ages = ["85+", "5-9", "10-14", "", "0-4", "5-9"] * 2
    pd.DataFrame({"Age": ages, "Sex": ["f", "m"] * 6}).to_csv(tmp_path / "x.csv", index=False)
    table = dc.load(tmp_path / "x.csv")
    assert table.variable("Age").categories == ("0-4", "5-9", "10-14", "85+", MISSING)
    assert table.margin("Age").dense().tolist() == [2, 4, 2, 2, 2]


def test_times_keep_their_own_order():
    days = [datetime.date(2020, 1, 10), datetime.date(2020, 1, 9), datetime.date(2019, 12, 31)]
    table = dc.load(pd.DataFrame({"day": days * 2, "a": list("xyxyxy")}))
    assert table.variable("day").categories == ("2019-12-31", "2020-01-09", "2020-01-10")


def test_what_a_codebook_lists_stays_as_it_lists_it():
    frame = pd.DataFrame({"Age": ["5-9", "10-14"] * 2, "Sex": ["f", "f", "m", "m"]})
    book = dc.codebooks.Codebook.of({"Age": {"categories": ["10-14", "5-9"]}})
    assert dc.load(frame, codebook=book).variable("Age").categories == ("10-14", "5-9")


OPEN = [
    ({"1": "low", "2": "high"}, ["1", "2", "3", "1"], ("low", "high", "3")),
    ({"1": "low", "3": "high"}, ["2", "3", "1", "3"], ("low", "2", "high")),
    ({"3": "high", "1": "low"}, ["2", "3", "1", "3"], ("high", "low", "2")),
    ({"1": "low", "2": "high", "9": MISSING}, ["1", "9", "2", "1"], ("low", "high", MISSING)),
    ({"1": "low", "2": "high", "8": "refused"}, ["1", "2", "2", "1"], ("low", "high")),
    ({"98": "98 or older"}, ["98", "7", "15", "7"], ("7", "15", "98 or older")),
]


@pytest.mark.parametrize(("labels", "values", "right"), OPEN)
def test_an_open_list_need_not_name_every_code(labels, values, right):
    book = dc.codebooks.Codebook.of({"A": {"labels": labels, "open": True}})
    frame = pd.DataFrame({"A": values, "B": ["x", "y", "x", "y"]})
    assert dc.load(frame, codebook=book, records=True).variable("A").categories == right


def test_an_open_list_of_a_file_does_not_open_that_of_a_person():
    closed = dc.codebooks.Codebook.of({"A": {"labels": {"1": "low"}}})
    opened = dc.codebooks.Codebook.of({"A": {"labels": {"2": "high"}, "open": True}})
    assert not closed.over(opened).entry("A").open
    assert opened.over(closed).entry("A").open
