"""Benschop, Machingauta & Welch, Statistical Disclosure Control: A Practice Guide, chapter 4: ten
records with four keys and weights, all measures printed."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from discreet.risk.uniques.anonymity import diversity
from discreet.risk.uniques.classes import key_classes
from discreet.risk.uniques.suda import special_uniques
from discreet.risk.uniques.uniques import uniques

KEYS = "residence,gender,education,labor"
PEOPLE = pd.DataFrame(
    {
        "residence": [*"UUUURUUUUU"],
        "gender": [*"FFFMFMFMFF"],
        "education": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
        "labor": [*"EENEUENUNN"],
        "health": [*"yyyyynnyny"],
        "weight": [180, 180, 215, 76, 186, 76, 180, 215, 186, 76],
    }
)


def test_individual_risk_by_weights():
    """Tables 4.1 and 4.4; the global risk is .01582."""
    found = uniques(PEOPLE, KEYS, weights="weight").risk
    printed = {1: 0.0054, 3: 0.0251, 4: 0.0126, 5: 0.0282, 7: 0.0290, 8: 0.0251, 9: 0.0074}
    for row, risk in found.to_frame().set_index("first_row")["risk"].items():
        assert risk == pytest.approx(printed[row], abs=5e-5)
    assert found.mean == pytest.approx(0.01582, abs=5e-6)


def test_missing_values_match_anything():
    """Table 4.2: frequencies 2, 2, 3."""
    rows = pd.DataFrame({"gender": ["m"] * 3, "education": ["c", "i", None], "labor": ["e"] * 3})
    found = key_classes(rows, "gender,education,labor", missing="any", rows=True)
    assert found.frequency[np.argsort(found.first)].tolist() == [2, 2, 3]


def test_diversity():
    """Table 4.3: 1 or 2 values of health."""
    found = diversity(PEOPLE, KEYS, "health").to_frame()
    two = found.set_index(["gender", "education", "labor"])["distinct"]
    assert two[two == 2].index.tolist() == [("F", "si", "N"), ("M", "sc", "E")]


def test_special_uniques_and_their_dis():
    """Table 4.5 prints scores 6, 12, 6, 10 and DIS-SUDA .0051, .0107, .0051, .0088 at 1 in 100
    sampled. The latter are of the scores that sdcMicro had before: a set of s of 4 keys is worth
    (2^(4 - s) - 1) s! (4 - s)! / 4!, so 1.75 of one and .5 of two. With those printed, by hand:

        match = .04 / (.04 + .99 6) = .0066890, odds .0067340;  6^1.2 = 8.5858, 12^1.2 = 19.7251,
        10^1.2 = 15.8489;  mean of 1/s^1.2 = (2 .116472 + .050697 + .063096) / 4 = .086684
        .0067340 .086684 8.5858 = .0050118,  / 1.0050118 = .004987
        .0067340 .086684 19.7251 = .0115141, / 1.0115141 = .011383
    """
    found = special_uniques(PEOPLE, KEYS, fraction=0.01, rows=True)
    order = np.argsort(found.first)
    assert found.first[order].tolist() == [3, 5, 7, 8]
    assert found.scores[order].tolist() == [6, 12, 6, 10]
    assert found.match == pytest.approx(0.04 / 5.98)
    assert found.dis[order] == pytest.approx([0.004987, 0.011383, 0.004987, 0.009167], abs=1e-6)
    before = dataclasses.replace(found, scores=found.sets @ [1.75, 0.5, 0])
    assert before.dis[order] == pytest.approx([0.0051, 0.0107, 0.0051, 0.0088], abs=5e-5)


def test_a_household():
    """Section 4.9: members with risks .02, .03, .03 make .078."""
    from discreet.risk.uniques.individual import IndividualRisk, Sampling

    rows = pd.DataFrame({"x": [*"abcc"], "home": [1, 1, 1, 2]})
    classes = key_classes(rows, "x", rows=True)
    risk = IndividualRisk(classes, Sampling.of(classes), np.array([0.02, 0.03, 0.03]))
    assert risk.households("home").risk == pytest.approx([0.078, 0.03], abs=5e-4)
