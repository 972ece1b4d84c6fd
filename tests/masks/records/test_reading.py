"""Files of records are read by their codebook, as everything else is."""

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Codebook
from discreet.errors import CodebookError, DataError, WrongKind
from discreet.masks.records.reading import read_file

PEOPLE = pd.DataFrame({"town": ["A", "B", "?", "A"] * 5, "pay": [10.5, -9, 11, 12.5] * 5})
BOOK = {"missing_values": ["?", "-9"], "variables": {"town": {"categories": ["A", "B"]}}}


def test_missing_values_are_missing():
    file = read_file(PEOPLE, codebook=Codebook.of(**BOOK))
    assert file.labels("town").tolist() == ["A", "B", "", "A"] * 5
    np.testing.assert_array_equal(file.numbers("pay")[:4], [10.5, np.nan, 11, 12.5])


def test_a_category_that_the_codebook_does_not_list_stops():
    with pytest.raises(CodebookError, match="'Z', which the codebook does not list"):
        read_file(PEOPLE.replace("B", "Z"), codebook=Codebook.of(**BOOK))


def test_a_code_that_is_called_a_total_stops():
    book = Codebook.of({"town": {"labels": {"A": "Ash", "B": "Total", "?": "(missing)"}}})
    with pytest.raises(WrongKind, match="'Total' in 'town' among people"):
        read_file(PEOPLE, codebook=book)
    kept = read_file(PEOPLE, codebook=book, totals="keep")
    assert kept.labels("town").tolist() == ["A", "B", "", "A"] * 5


def test_lists_in_a_column_are_told():
    frame = pd.DataFrame({"town": [*"abab"], "drugs": [["x"], ["x", "y"], [], ["y"]]})
    with pytest.raises(DataError, match="'drugs' of the frame holds lists"):
        read_file(frame, records=True)
    assert len(read_file(frame, records=True, without=["drugs"])) == 4
