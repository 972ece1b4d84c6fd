"""Results of synthesis print, frame and write themselves as all others do."""

import json

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DisclosureError
from discreet.masks.synthesis.attribute import attribute_risk
from discreet.masks.synthesis.combine import combine_copies
from discreet.masks.synthesis.private import private_table
from discreet.masks.synthesis.reproduced import reproduced
from discreet.masks.synthesis.synthesise import synthesise
from discreet.models.decomposed import LogLinearCells
from discreet.table.load import load

TRACT = load("example:tract")
MADE = synthesise(
    TRACT,
    LogLinearCells.fit(TRACT, "Race*Income + Income*Gender + Race*Gender"),
    copies=2,
    rng=np.random.default_rng(1),
)
RESULTS = [
    MADE,
    combine_copies([1, 2, 3], [0.2, 0.2, 0.3]),
    attribute_risk(TRACT, MADE, TRACT.names, draws=2),
    reproduced(TRACT, MADE, draws=2),
    private_table(TRACT, 1, margins="Race*Income + Gender", rng=np.random.default_rng(1)),
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_it_shows_itself(result):
    said = repr(result)
    assert said.startswith(type(result).__name__ + "(")
    assert "\n" not in said
    assert len(said) <= 200
    assert isinstance(result.to_frame(), pd.DataFrame)
    assert 1 <= result._repr_html_().count("<tr") <= 60
    assert len(result.to_frame("polars")) == len(result.to_frame())
    with pytest.raises(DisclosureError, match="frame"):
        result.to_frame("excel")
    assert json.loads(json.dumps(result.to_json()))
