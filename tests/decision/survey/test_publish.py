"""Publish or suppress: risks by enumeration, the best order, cuts, bad input, the command."""

import json
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cli import main
from discreet.data.domains import read_domains
from discreet.decision.survey.cell_losses import (
    CellLossWarning,
    disclosure_loss,
    nonpublication_loss,
)
from discreet.decision.survey.combine import combine
from discreet.decision.survey.curve import Curve
from discreet.decision.survey.plan import plan
from discreet.decision.survey.plugin import plug_in
from discreet.decision.survey.publish import publish
from discreet.errors import DataError, DisclosureError
from discreet.intruder.population.sample_cell import PopulationCounts

SMALL = PopulationCounts.of(
    n=[3, 3, 3, 5, 0, 20], N=[8, 8, 3, 20, 9, 30], y=[0, 2, 1, 5, 0, 1], alpha=0.5, beta=4
)


def enumerated(loss, counts):
    """The risk term by term."""
    found = []
    for row in range(len(counts)):
        belief = counts.belief(row)
        y, n, N = (int(column[row]) for column in (counts.y, counts.n, counts.N))
        values = loss(y, belief.values, n, N)
        found.append(float(belief.mass @ values))
    return found


@pytest.fixture
def sizes(tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("class,size\na,0.5\nb,0.3\nc,0.1\nd,0.1\n")
    return path


@pytest.fixture
def many_sizes(tmp_path):
    path = tmp_path / "many.csv"
    size = np.arange(1, 101) / np.arange(1, 101).sum()
    path.write_text("size\n" + "\n".join(repr(float(s)) for s in size) + "\n")
    return path


@pytest.mark.parametrize(
    "name",
    [
        "uniques:10",
        "uniques:0.5",
        "gamma-uniques:10:2",
        "known-sample:10",
        "threshold:4",
        "threshold:4.5",
    ],
)
def test_disclosure_losses(name):
    loss = disclosure_loss(name)
    assert loss.risk(SMALL) == pytest.approx(enumerated(loss, SMALL), rel=1e-11, abs=1e-15)


def test_subclasses_of_given_sizes(sizes, many_sizes):
    loss = disclosure_loss(f"subclasses:{sizes}")
    p = np.array([0.5, 0.3, 0.1, 0.1])
    assert float(loss(2, 7, 3, 8)) == pytest.approx(2 * p @ np.exp(-7 * p), rel=1e-12)
    assert loss.risk(SMALL) == pytest.approx(enumerated(loss, SMALL), rel=1e-11)
    many = disclosure_loss(f"subclasses:{many_sizes}")
    assert many.risk(SMALL) == pytest.approx(enumerated(many, SMALL), rel=1e-11)
    equal = sizes.with_name("equal.csv")
    equal.write_text("size\n" + "0.1\n" * 10)
    same = disclosure_loss(f"subclasses:{equal}")
    assert same.risk(SMALL) == pytest.approx(disclosure_loss("uniques:10").risk(SMALL), rel=1e-12)


@pytest.mark.parametrize("name", ["records", "cells", "population", "domain-sample", "domain"])
def test_nonpublication_losses(name):
    loss = nonpublication_loss(name)
    assert loss.risk(SMALL) == pytest.approx(enumerated(loss, SMALL), rel=1e-11)


def test_gamma_uniques_near_equal_subclasses():
    """As a grows, all subclasses have one size."""
    gamma, equal = disclosure_loss("gamma-uniques:10:1e7"), disclosure_loss("uniques:10")
    assert gamma.risk(SMALL) == pytest.approx(equal.risk(SMALL), rel=1e-5)


@st.composite
def cells(draw):
    rows = []
    for _ in range(draw(st.integers(1, 7))):
        N = draw(st.integers(1, 40))
        n = draw(st.integers(1, N))
        rows.append((n, N, draw(st.integers(0, n))))
    return [list(column) for column in zip(*rows, strict=True)]


@given(cells(), st.floats(0, 1))
@settings(max_examples=40)
def test_no_set_of_cells_does_better(cells, target):
    """The order by R1 / R0 with one cell at random is at or below every choice of whole cells."""
    found = publish(*cells, alpha=1, beta=3, risk=target, edge="random")
    whole = found.at(risk=target)
    total = found.R1.sum()
    assert found.R1 @ found.probability <= target * total + 1e-9
    assert whole.R1 @ whole.publish <= target * total + 1e-9
    assert whole.data_published <= found.data_published + 1e-12
    for choice in product([0, 1], repeat=len(found)):
        chosen = np.array(choice)
        if found.R1 @ chosen <= target * total:
            assert found.R0 @ chosen <= found.R0 @ found.probability + 1e-9


@given(cells(), st.floats(0, 1), st.floats(0, 3))
@settings(max_examples=40)
def test_laws_of_cuts(cells, share, ratio):
    found = publish(*cells, alpha=1, beta=3, share=share)
    if found.R0.sum() > 0:
        assert found.data_published >= share - 1e-9
        exactly = found.at(share=share, edge="random")
        assert exactly.data_published == pytest.approx(share, abs=1e-9)
    cut = found.at(ratio=ratio)
    some = found.R0 > 0
    assert (cut.publish[some] == (ratio * found.R0 > found.R1)[some]).all()
    assert found.at(ratio=ratio + 0.5).data_published >= cut.data_published
    curve = found.curve()
    risk, loss = curve.relative
    assert (np.diff(risk) >= 0).all()
    assert (np.diff(loss) <= 1e-12).all()
    slopes = (
        np.diff(curve.loss)[np.diff(curve.risk) > 0] / np.diff(curve.risk)[np.diff(curve.risk) > 0]
    )
    assert (np.diff(slopes) >= -1e-6 * np.abs(slopes[1:])).all()  # convex


@given(cells())
@settings(max_examples=30)
def test_an_estimate_in_place_of_y_understates_a_convex_loss(cells):
    found = plug_in(publish(*cells, alpha=1, beta=3))
    assert (found.understated >= -1e-12).all()


def test_cells_without_loss_come_first_or_last():
    found = publish([3, 3, 3], [8, 8, 8], [0, 1, 2], alpha=1, beta=10, risk=0)
    assert found.publish.tolist() == [True, False, False]
    known = found.under(disclosure="known-sample:10").at(risk=1)
    assert known.order.tolist()[-1] == 0
    assert known.publish.tolist() == [False, True, True]
    assert np.isnan(known.ratio[0])
    assert known.to_json()["cells"][0]["ratio"] is None


def test_tied_cells_stay_together():
    cells = ([10] * 4, [50] * 4, [1, 1, 1, 3])
    found = publish(*cells, alpha=1, beta=3, share=0.6)
    assert found.publish.tolist() == [True] * 4
    assert found.at(risk=0.7).publish.tolist() == [False, False, False, True]
    random = found.at(share=0.6, edge="random", seed=3)
    assert random.probability.tolist() == pytest.approx([0.6, 0, 0, 1])
    draws = [found.at(share=0.6, edge="random", seed=s).publish[0] for s in range(400)]
    assert 0.5 < np.mean(draws) < 0.7


def test_what_each_ratio_would_publish():
    found = publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10)
    table = found.ratios([0.75, 0.8, 0.9])
    assert table["cells"].tolist() == [1, 2, 3]
    assert table["data"].tolist() == pytest.approx([0.5, 0.75, 1])
    assert len(found.ratios()) >= 2


def test_the_plug_in_rule_beside():
    n, N, y = [10, 10, 20, 400], [50, 2000, 30, 9000], [1, 1, 2, 2]
    found = publish(n, N, y, alpha=0.5, beta=1.5, ratio=0.2)
    rule = plug_in(found)
    assert rule.estimates["weighted"].tolist() == [5, 200, 3, 45]
    assert rule.estimates["synthetic"] == pytest.approx(np.array(N) * 6 / 440)
    assert rule.estimates["combined"] == pytest.approx(found.counts.mean)
    between = (found.R1 / found.R0 + np.exp(-found.counts.mean / 10)) / 2
    for row in range(4):  # between the two, the estimate says publish and the risk does not
        assert row in plug_in(found.at(ratio=between[row])).differs("combined")
    floor = plug_in(found, floor=100)
    assert floor.publish["weighted"].tolist() == [False, True, False, False]
    assert "publish_combined" in rule.to_frame().columns
    with pytest.raises(DataError, match="no estimator 'mean'"):
        rule.differs("mean")


def test_joined_cells_have_the_belief_of_their_sum():
    found = publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    joined = combine(found)
    assert found.publish.tolist() == [False, True, True]
    (group,) = joined.combined
    assert group.rows == (0, 1)
    each = found.counts.take([0, 1])
    alone = np.exp(-each.y / 10) * each.laplace(0.1)
    assert pytest.approx(3 * alone.prod(), rel=1e-10) == group.R1
    assert joined.saved == 1
    assert joined.to_frame()["rows"].tolist() == ["1 2", "3"]
    apart = combine(found, within=["a", "b", "b"])
    assert apart.combined == []
    with pytest.raises(DataError, match="2 labels for 3 cells"):
        combine(found, within=[1, 2])
    with pytest.raises(DataError, match="leave out the plug-in rule"):
        combine(plug_in(found, floor=30).decided("weighted"))


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        ("unique:10", "no loss of disclosure 'unique:10'"),
        ("uniques", "has 0 parameters; write uniques:S"),
        ("uniques:10:2", "has 2 parameters"),
        ("gamma-uniques:10", "write gamma-uniques:S:A"),
        ("uniques:-1", "S of the loss 'uniques:-1' is '-1'"),
        ("threshold:nan", "is 'nan'; give a number above 0"),
        ("subclasses:", "needs a file"),
        ("subclasses:nowhere.csv", "there is no file 'nowhere.csv'"),
        (lambda y, Y, n, N: -1.0 * y, "is -1 at y = 1, Y = 1, n = 3, N = 8"),
        (lambda y, Y, n, N: np.where(Y > 5, np.nan, 1.0), "is missing at y = 1, Y = 6"),
        (lambda y, Y: 1.0, "cannot be computed"),
    ],
)
def test_wrong_losses(loss, says):
    with pytest.raises(DisclosureError, match=says):
        publish([3], [8], [1], alpha=1, beta=10, disclosure=loss)


def test_wrong_sizes_of_subclasses(sizes):
    for text, says in (
        ("0.5\n0.6\n", "sum to 1.1, not to 1"),
        ("0\n1\n", "has the size 0"),
        ("a\n1\n", "has 'a' in 'size'"),
    ):
        sizes.write_text("size\n" + text)
        with pytest.raises(DataError, match=says):
            disclosure_loss(f"subclasses:{sizes}")


def test_a_loss_that_rises_is_named_with_its_place():
    with pytest.warns(
        CellLossWarning, match=r"rises with Y: 1 at Y = 1, 2 at Y = 2 \(y = 1, n = 3"
    ):
        publish([3], [8], [1], alpha=1, beta=10, disclosure=lambda y, Y, n, N: 1.0 * Y)
    with pytest.raises(DataError, match="no loss of nonpublication 'rows'"):
        publish([3], [8], [1], alpha=1, beta=10, nonpublication="rows")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"alpha": 1}, "alpha is given without beta"),
        ({"alpha": 1, "beta": 2, "covariates": {"x": [1]}}, "leave out alpha and beta"),
        ({"alpha": 1e300, "beta": 1}, r"alpha is 1e\+300; give a number from 1e-100 to 1e\+10"),
        ({"alpha": 1, "beta": 1e-300}, "beta is 1e-300; give a number from 1e-100"),
        ({"alpha": float("nan"), "beta": 1}, "alpha is nan; give a number from"),
        ({"alpha": 1, "beta": 2, "ratio": 1, "risk": 0.5}, "ratio and risk are given"),
        ({"alpha": 1, "beta": 2, "share": 2}, "share is 2; give a number from 0 to 1"),
        ({"alpha": 1, "beta": 2, "edge": "soft"}, "edge is 'soft'"),
        ({"alpha": 1, "beta": 2, "columns": {"R1": [1]}}, "column 'R1', which is computed"),
    ],
)
def test_wrong_options(options, says):
    with pytest.raises(DataError, match=says):
        publish([3], [8], [1], **options)


@pytest.mark.parametrize("alpha", [1e-100, 1e10])
@pytest.mark.parametrize("beta", [1e-100, 1e10])
@pytest.mark.parametrize("loss", ["uniques:10", "gamma-uniques:10:2", "threshold:4"])
def test_the_ends_of_what_a_prior_may_be(alpha, beta, loss):
    """It ends, at any size of population, and few people behind a cell are no risk above 1."""
    N = [8, 10**4, 2**53]
    found = publish([3, 0, 50], N, [1, 0, 7], alpha=alpha, beta=beta, disclosure=loss)
    assert (found.R1 >= 0).all()
    assert (found.R1 <= [1, 1, 7]).all()


def test_wrong_plans():
    with pytest.raises(DataError, match=r"sum to 0.9, not to 1"):
        plan([(3, 8, 0.9)], alpha=1, beta=1)
    with pytest.raises(DataError, match=r"each as \(n, N, share\)"):
        plan([], alpha=1, beta=1)
    with pytest.raises(DataError, match="smaller samples"):
        plan([(10**7, 10**8, 1)], alpha=1, beta=1)


def test_frames_and_charts():
    found = publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    assert list(found.to_frame().columns) == ["n", "N", "y", "R0", "R1", "ratio", "publish"]
    assert found.to_frame("polars", ordered=True)["y"].to_list() == [2, 1, 1]
    assert "<table" in found._repr_html_()
    chart = found.plot({"cells": found.under(nonpublication="cells")}).to_dict()
    said = "2 of 3 cells published: 73% of the disclosure risk, 75% of the data"
    assert " ".join(chart["title"]["text"]).startswith(said)
    assert found.curve().plot(width=340).to_dict()["width"]
    points = found.curve().to_frame()
    assert points["risk_share"].tolist()[0] == 0
    assert points["loss_share"].tolist()[-1] == 0
    assert len(found.curve().thinned(2).risk) == 2
    with pytest.raises(DataError, match="compare the same cells"):
        found.curve(by=publish([3], [8], [1], alpha=1, beta=10))
    with pytest.raises(DataError, match="ties is 'split'"):
        Curve.of(np.ones(1), np.ones(1), np.ones(1), ties="split")


# The command

AREAS = "area,n,N,y\nNorth,10,50,1\nSouth,10,200,2\nEast,20,30,4\nWest,10,200,0\n"
NAMES = ("--sample-size", "n", "--population", "N", "--cell-count", "y")
PRIOR = ("--alpha", "0.5", "--beta", "1.5")


@pytest.fixture
def areas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "areas.csv").write_text(AREAS)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["publish", *arguments])


def test_the_json_is_the_contract(areas):
    result = run("areas.csv", *NAMES, *PRIOR, "--ratio", "0.5", "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert found["prior"] == {"alpha": pytest.approx(0.5), "beta": pytest.approx(1.5)}
    assert [list(cell) for cell in found["cells"]] == [
        ["area", "n", "N", "y", "R0", "R1", "ratio", "publish"]
    ] * 4
    assert found["cells"][1]["area"] == "South"
    assert found["cells"][1]["n"] == 10
    assert found["cells"][3]["ratio"] is None
    assert [cell["publish"] for cell in found["cells"]] == [False, True, False, True]
    assert found["curve"][0] == {"risk": 0.0, "loss": 1.0}
    assert found["curve"][-1] == {"risk": 1.0, "loss": 0.0}
    direct = publish([10, 10, 20, 10], [50, 200, 30, 200], [1, 2, 4, 0], alpha=0.5, beta=1.5)
    assert [cell["R1"] for cell in found["cells"]] == pytest.approx(direct.R1.tolist())


def test_the_command_for_people(areas):
    chart = areas / "curve.svg"
    result = run("areas.csv", *NAMES, *PRIOR, "--risk", "0.2", "--chart", str(chart))
    assert result.exit_code == 0
    assert "Publish 2 of 4 cells" in result.stdout
    assert "What each ratio would publish" in result.stdout
    assert chart.read_text().startswith("<svg")
    fitted = run("areas.csv", *NAMES, "--nonpublication-loss", "population", "--share", "0.5")
    assert "fitted to 4 domains" in " ".join(fitted.stdout.split())


def test_the_command_joins_cells(areas):
    arguments = ("areas.csv", *NAMES, *PRIOR, "--ratio", "0.3", "--combine")
    found = json.loads(run(*arguments, "--json").stdout)
    assert [group["rows"] for group in found["combined"]] == [[1, 2, 3]]
    assert all(group["R1"] < 0.3 * group["R0"] for group in found["combined"])
    assert "Joined with rows next to them, 2 suppressed cells" in run(*arguments).stdout


def test_records_with_a_domain(areas):
    people = pd.DataFrame(
        {
            "area": ["a"] * 4 + ["b"] * 3,
            "people": [40] * 4 + [9] * 3,
            "job": ["miner", "clerk", "clerk", "miner", "clerk", "miner", "clerk"],
        }
    )
    people["miner"] = (people["job"] == "miner").astype(int)
    people.to_csv("people.csv", index=False)
    people.to_parquet("people.parquet")
    for file, who in (("people.csv", "job=miner"), ("people.parquet", "miner")):
        given = ("--population", "people", "--domain", "area", "--cell-count", who)
        found = json.loads(run(file, *given, *PRIOR, "--json").stdout)["cells"]
        assert [(c["area"], c["sample size"], c["people"], c["cell count"]) for c in found] == [
            ("a", 4, 40, 2),
            ("b", 3, 9, 1),
        ]
    frame = read_domains(
        people, sample_size=None, population="people", cell_count="miner", domain="area"
    )
    assert frame.y.tolist() == [2, 1]
    for change, says in (
        ({"domain": "place"}, "no column 'place'"),
        ({"cell_count": "job=baker"}, "no record of the frame has 'baker'"),
        ({"cell_count": "people"}, "neither 0 nor 1"),
        ({"population": "miner"}, "must be the same throughout a domain"),
        ({"domain": None}, "name the column of the sample sizes"),
    ):
        given = {"sample_size": None, "population": "people", "cell_count": "miner"}
        with pytest.raises(DataError, match=says):
            read_domains(people, **{**given, "domain": "area", **change})


def test_a_column_n_beside_its_capital(areas):
    pd.read_csv("areas.csv").to_parquet("areas.parquet")
    pd.read_csv("areas.csv").to_csv("areas.tsv", sep="\t", index=False)
    found = [
        json.loads(run(f"areas.{kind}", *NAMES, *PRIOR, "--json").stdout)["cells"]
        for kind in ("csv", "parquet", "tsv")
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("line", "arguments", "says"),
    [
        ("Bad,10,50,11", NAMES, "row 5 of 'areas.csv' has 11 in 'y', more than 10 in 'n'"),
        ("Bad,60,50,1", NAMES, "row 5 of 'areas.csv' has 60 in 'n', more than 50 in 'N'"),
        ("Bad,10,50,", NAMES, "row 5 of 'areas.csv' has nothing in 'y'"),
        ("Bad,10,50,one", NAMES, "row 5 of 'areas.csv' has 'one' in 'y'"),
        ("Bad,10,50,1.5", NAMES, "has 1.5 in 'y'; give a whole number"),
        ("Bad,10,50,-1", NAMES, "has -1 in 'y'"),
        ("", (*NAMES[:4], "--cell-count", "yy"), "no column 'yy'; did you mean 'y'?"),
        ("", (*NAMES, "--disclosure-loss", "luck"), "no loss of disclosure 'luck'"),
        ("", (*NAMES, "--ratio", "1", "--share", "0.5"), "ratio and share are given"),
        ("", (*NAMES, "--alpha", "1"), "alpha is given without beta"),
        ("", (*NAMES, "--chart", "curve.gif"), "end its name with .png, .svg, .html"),
        ("", (*NAMES[:2], "--population", "n", "--cell-count", "y"), "name three columns"),
    ],
)
def test_wrong_input_is_one_sentence(areas, line, arguments, says):
    (areas / "areas.csv").write_text(AREAS + line)
    result = run("areas.csv", *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""


def test_regret_is_taken_at_the_risk_of_the_plan():
    """It was 20% whatever the plan allowed; by a ratio it is what the cut takes."""
    types = [(10, 50, 1 / 3), (10, 200, 1 / 3), (20, 30, 1 / 3)]
    planned = plan(types, alpha=0.5, beta=1.5, risk=0.3)
    others = {"cells": planned.under(nonpublication="cells")}
    assert planned.regret(others).equals(planned.regret(others, risk=0.3))
    cut = planned.at(ratio=0.5)
    assert cut.regret(others).equals(planned.regret(others, risk=cut.risk_taken))


def test_no_warning_about_a_good_loss():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = publish([10, 9], [10**6, 9], [1, 9], alpha=1, beta=3, disclosure="threshold:100")
    assert found.R1[1] == 1
