"""Who is behind each cell, against pandas."""

import numpy as np
import pandas as pd
import pytest

from discreet.sheets.contributions import KEPT, Contributions, printed_amounts
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure, Sheet
from discreet.sheets.system import System
from discreet.table.microdata import Microdata


def firms(seed=0, number=120):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "S": rng.choice(["s0", "s1", "s2"], number),
            "P": rng.choice(["p0", "p1", "p2", "p3"], number),
            "T": rng.choice(["t0", "t1"], number),
            "v": np.round(rng.gamma(1.0, 20, number), 1) * (rng.random(number) < 0.9),
            "w": rng.integers(1, 5, number).astype(float),
            "turnover": np.round(rng.gamma(1.0, 50, number), 1),
            "o": rng.choice([*"abcdefghij", None], number),
            "r": rng.choice(["yes", "no"], number, p=[0.2, 0.8]),
        }
    )


MEASURES = {
    "sum": Measure(value="v"),
    "weighted": Measure(value="v", weight="w"),
    "holding": Measure(value="v", holding="o"),
    "all": Measure(value="v", weight="w", holding="o", shadow="turnover", request="r"),
}


def made(frame, measure):
    people = Microdata.read(frame, records=True)
    records = Records.read(people, variables=["S", "P", "T"], measures=[measure])
    s, p, t = records.variables
    sheets = [
        Sheet("1", (Grouping.of(s), Grouping.cut(p, {"low": ["p0", "p1"], "not": ["p1", "p3"]}))),
        Sheet("2", (Grouping.of(p),), where=(Grouping.only(t, ["t1"]),)),
    ]
    return records, Contributions.of(System.of(sheets), records, measure)


def rows_of(frame, cells, cell):
    """By labels, or by the categories of a fine cell."""
    groups = {"low": ["p0", "p1"], "not": ["p1", "p3"]}
    kept = np.ones(len(frame), bool)
    for name, label in cells.label(cell).items():
        if label != "Total":
            kept &= frame[name].isin(groups.get(label, label.split(", "))).to_numpy()
    return frame[kept]


@pytest.mark.parametrize("name", MEASURES)
def test_contributions_are_those_of_pandas(name):
    measure, frame = MEASURES[name], firms()
    _, cells = made(frame, measure)
    frame["weight"] = frame.w if measure.weight else 1.0
    frame["judged"] = frame.turnover if measure.shadow else frame.v
    own = pd.Series([f"alone {i}" for i in frame.index])
    frame["owner"] = frame.o.where(frame.o.notna(), own) if measure.holding else own
    assert len(cells.values) > cells.printed
    for cell in range(len(cells.values)):
        inside = rows_of(frame, cells, cell)
        assert cells.values[cell] == pytest.approx((inside.v * inside.weight).sum())
        assert cells.judged[cell] == pytest.approx((inside.judged * inside.weight).sum())
        by = inside.groupby("owner").judged.sum().sort_values(ascending=False)
        by = by[by > 0]
        of_value = int((inside.groupby("owner").v.sum() > 0).sum())
        some = [n for n in (len(by), of_value) if n]
        assert cells.number[cell] == min(some, default=0)  # few of either are few
        largest = [*by.tolist(), *[0.0] * KEPT][:KEPT]
        assert cells.largest[cell] == pytest.approx(largest)
        assert (cells.alone[cell] >= 0) == (len(by) == 1)
        if measure.request:
            asking = frame.owner[frame.r == "yes"]  # whoever asks does so for all that is his
            own = by[by.index.isin(asking)].tolist()
            assert cells.asked[cell] == pytest.approx(max(own, default=0.0))
        if measure.weight and len(by):
            top = inside[inside.owner == by.index[0]]
            weight = (top.judged * top.weight).sum() / top.judged.sum()
            assert cells.weights[cell, 0] == pytest.approx(weight)


def test_counts_have_people_as_contributors():
    frame = firms()
    _, cells = made(frame, Measure())
    for cell in range(len(cells.values)):
        assert cells.values[cell] == cells.number[cell] == len(rows_of(frame, cells, cell))
    assert (cells.alone == -1).all()


def test_owners_of_counted_records_are_counted_once():
    frame = firms()
    _, cells = made(frame, Measure(holding="o"))
    own = pd.Series([f"alone {i}" for i in frame.index])
    frame["owner"] = frame.o.where(frame.o.notna(), own)
    for cell in range(len(cells.values)):
        inside = rows_of(frame, cells, cell)
        assert cells.number[cell] == inside.owner.nunique()
        assert cells.values[cell] == len(inside)


def test_sums_in_any_order_are_the_same_number():
    """What is printed twice must not differ by rounding: .1 + .2 + .3 = .3 + .2 + .1."""
    frame = firms()
    records, _ = made(frame, MEASURES["weighted"])
    amounts = printed_amounts(records, MEASURES["weighted"])
    assert amounts == pytest.approx(frame.v * frame.w, rel=1e-9)
    rng = np.random.default_rng(0)
    sums = {float(sum(rng.permutation(amounts).tolist())) for _ in range(20)}
    assert len(sums) == 1
