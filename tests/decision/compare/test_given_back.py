"""Ways in which a released file tells what its mask hides: other columns, and how it is written."""

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.data.hierarchy import Hierarchy
from discreet.data.standing import standing
from discreet.masks.records.file import RecordFile, one_writing

HALF = {a: {"no": 0.5, "yes": 0.5} for a in ("no", "yes")}
PRAM = {"method": "pram", "columns": ["ill"], "matrix": {"ill": HALF}}
NOISE = {"method": "noise", "columns": ["pay"], "spread": 40.0}


def compared(data, mask, keys, sensitive=(), limit=0.01):
    content = {"keys": list(keys), "masks": [mask], "seed": 1}
    content |= {"sensitive": list(sensitive)} if sensitive else {}
    policy = dc.Policy().set([f"masks.limit={limit}"])
    return dc.compare(data, content, policy, records=True)


def patients(many=400):
    """All women of one town are ill, others now and then."""
    rng = np.random.default_rng(1)
    town, sex = rng.choice([*"abcd"], many), rng.choice(["f", "m"], many)
    ill = np.where(
        (town == "a") & (sex == "f"), "yes", rng.choice(["no", "yes"], many, p=[0.7, 0.3])
    )
    return pd.DataFrame({"sex": sex, "town": town, "ill": ill})


def firms(many=1500):
    """Two groups have about the same pay, and all else is anything."""
    rng = np.random.default_rng(3)
    group = rng.choice([*"abcdefghijkl"], many)
    pay = np.exp(rng.normal(10, 1, many))
    small = np.isin(group, ["a", "b"])
    pay[small] = np.exp(rng.normal(12, 0.1, small.sum()))
    return pd.DataFrame({"group": group, "pay": pay.round()}), rng


@pytest.mark.parametrize(
    ("yes", "no"),
    [("1.0", "1"), ("a ", "a"), ("", " "), ("a\u00a0", "a"), ("", None), (-0.0, 0.0), ("0", "-0")],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_how_a_value_is_written_tells_nothing(tmp_path, yes, no, kind):
    data = patients()
    data["code"] = np.where(data["ill"] == "yes", yes, no)
    data["code"] = data["code"].where(data.index % 17 > 0, 0.5 if isinstance(yes, float) else "x")
    path = tmp_path / f"people.{kind}"
    data.to_csv(path, index=False) if kind == "csv" else data.to_parquet(path)
    asked = []
    for given in (data, path, RecordFile(data)):
        try:
            found = compared(given, PRAM, ["sex", "town"], ["ill"])
        except dc.DisclosureError as error:
            asked.append("differ only by" in str(error))
            continue
        made = found.data("pram").data["code"]
        assert made.map(repr, na_action=None).nunique() == 2
    assert all(asked)
    assert len(asked) < 3


def test_numbers_in_one_writing():
    def texts(*given):
        return one_writing(pd.DataFrame({"x": pd.Series(given, dtype=object)}))["x"].tolist()

    assert texts("531.00", "532") == ["531", "532"]  # each value once, and the zeros still tell
    assert texts("531.20", "531.25") == ["531.20", "531.25"]
    assert texts("0531", "531") == ["531", "531"]
    assert texts("007", "012") == ["007", "012"]
    assert texts("+5", "6", "1e3") == ["5", "6", "1000"]
    assert texts("yes", " no", "") == ["yes", "no", None]


def test_ratios_and_products_give_back():
    data, rng = firms()
    data["margin"] = rng.integers(8, 60, len(data)) / 100
    data["turnover"] = (data["pay"] / data["margin"]).round(2)
    plain = compared(data.drop(columns="margin"), NOISE, ["group"], ["pay", "turnover"])
    assert plain.tried[0].risks["attribute"] == 0
    both = compared(data, NOISE, ["group"], ["pay", "turnover"])
    assert both.tried[0].risks["attribute"] > 0.03
    assert "margin and turnover gives" in str(both.tried[0].said)


@pytest.mark.parametrize("gaps", ["one column", "many columns"])
def test_a_column_that_is_mostly_missing_hides_no_sum(gaps):
    data, rng = firms()
    data["turnover"] = data["pay"] + np.exp(rng.normal(12, 1.5, len(data))).round()
    data["costs"] = data["turnover"] - data["pay"]
    few, columns = (0.01, 1) if gaps == "one column" else (0.75, 25)
    for one in range(columns):
        there = rng.random(len(data)) < few
        data[f"x{one}"] = np.where(there, rng.integers(0, 60, len(data)), np.nan)
    found = compared(data, NOISE, ["group"], ["pay", "turnover", "costs"])
    assert "costs and turnover gives 100% of pay" in str(found.tried[0].said)
    assert found.tried[0].risks["attribute"] > 0.03


def test_a_score_of_few_values_is_given_back_by_its_parts():
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"group": rng.choice([*"abcdefghijkl"], 400)})
    small = data["group"] == "a"
    for one in "pqr":
        data[one] = rng.integers(0, 10, 400)
    for one in "pq":
        data.loc[small, one] = rng.integers(3, 6, small.sum())
    data.loc[small, "r"] = 14 - data["p"] - data["q"]
    data["pay"] = data[[*"pqr"]].sum(axis=1)
    assert compared(data[["group", "pay"]], NOISE, ["group"], ["pay"]).verdict == dc.Verdict.PASS
    for sensitive in (["pay"], ["pay", "p", "q"]):
        found = compared(data, NOISE, ["group"], sensitive).tried[0]
        assert "p and q and r gives 100% of pay" in str(found.said)
        assert found.risks["attribute"] > 0.05


def test_a_class_of_two_numbers_is_given_back_by_who_is_near():
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"group": rng.choice([*"abcdefghijkl"], 1500)})
    data["weight"] = rng.normal(75, 15, 1500).round().clip(40, 140)
    data["height"] = rng.normal(170, 10, 1500).round()
    small = data["group"] == "a"
    data.loc[small, "weight"] = (34 * (data["height"] / 100) ** 2).round()
    cut = pd.cut(data["weight"] / (data["height"] / 100) ** 2, [0, 20, 25, 30, 99])
    data["ill"] = cut.map(
        dict(zip(cut.cat.categories, ["thin", "fair", "more", "most"], strict=True))
    ).astype(str)
    kinds = sorted(set(data["ill"]))
    mask = PRAM | {"matrix": {"ill": {a: dict.fromkeys(kinds, 1 / len(kinds)) for a in kinds}}}
    assert compared(data[["group", "ill"]], mask, ["group"], ["ill"]).verdict == dc.Verdict.PASS
    found = compared(data, mask, ["group"], ["ill"]).tried[0]
    assert "height and weight gives" in str(found.said)
    assert found.risks["attribute"] > 0.05


def test_a_sensitive_column_tells_a_masked_one_of_fewer_values():
    rng = np.random.default_rng(6)
    group = rng.choice([*"abcdefghijkl"], 1500)
    ill = np.where(group == "a", "yes", rng.choice(["no", "yes"], 1500))
    data = pd.DataFrame({"group": group, "ill": ill})
    data["drug"] = [f"{a}{b}" for a, b in zip(ill, rng.integers(0, 40, 1500), strict=True)]
    assert compared(data[["group", "ill"]], PRAM, ["group"], ["ill"]).verdict == dc.Verdict.PASS
    found = compared(data, PRAM, ["group"], ["ill", "drug"]).tried[0]
    assert found.risks["attribute"] > 0.05


@pytest.mark.parametrize("digits", [0, 1])
def test_what_follows_from_several_keys_is_a_key(digits):
    rng = np.random.default_rng(6)
    data = pd.DataFrame({"group": rng.choice([*"abcdefghijkl"], 1500)})
    data["weight"] = rng.normal(75, 15, 1500).round().clip(40, 140)
    data["height"] = rng.normal(170, 10, 1500).round()
    mask = {"method": "noise", "columns": ["weight", "height"], "spread": 20.0}
    keys = ["group", "weight", "height"]
    assert compared(data, mask, keys, limit=0.05).verdict == dc.Verdict.PASS
    data["bmi"] = (data["weight"] / (data["height"] / 100) ** 2).round(digits)
    assert compared(data, mask, keys, limit=0.05).tried[0].risks["identified"] > 0.05


@pytest.mark.parametrize(
    "written",
    [
        lambda v: f"{v:.2f}".replace(".", ","),
        lambda v: f"{v:,.2f}",
        lambda v: f"{v:,.2f}".translate(str.maketrans(",.", ".,")),
        lambda v: f"{v:.0f} EUR",
        lambda v: f"${v:,.2f}",
        lambda v: f"{v:,.0f}".replace(",", "'"),
        lambda v: f"{v:.0f}-{v + 10:.0f}",
        lambda v: str(
            (pd.Timestamp("2000-01-01") + pd.Timedelta(days=int(np.log(v) * 300))).date()
        ),
    ],
)
def test_sensitive_numbers_that_are_text_count_as_numbers(written):
    data, _ = firms(600)
    asis = {"method": "sample", "share": 1.0}
    data["pay"] = data["pay"].map(written)
    assert compared(data, asis, ["group"], ["pay"]).tried[0].risks["attribute"] > 0.03


def test_amounts_and_places_of_texts():
    assert standing(["1.000,50", "950", ""]) == {"1.000,50": 1000.5, "950": 950.0}
    assert standing(["12 k", "1,5 EUR"]).keys() == {"12 k", "1,5 EUR"}
    assert standing(["a", "b"]) == {}
    assert standing(["Grade 10", "Grade 9", "Grade"]) == {"Grade 10": 10.0, "Grade 9": 9.0}


@pytest.mark.parametrize("method", ["sample", "pram", "synthesise"])
def test_where_most_have_no_value_having_one_is_told(method):
    """A column that says yes of the ill, and nothing of all others."""
    rng = np.random.default_rng(1)
    group = rng.choice([*"abcdefgh"], 400)
    ill = np.where((group == "a") | (rng.random(400) < 0.05), "yes", None)
    data = pd.DataFrame({"group": group, "ill": ill})
    options = {"sample": {"share": 1.0}, "pram": {"columns": ["ill"]}}
    mask = {"method": method} | options.get(method, {"model": "formula", "formula": "group*ill"})
    assert compared(data, mask, ["group"], ["ill"]).tried[0].risks["attribute"] > 0.05
    data["ill"] = np.where(rng.random(400) < 0.3, None, "yes")  # who did not answer
    assert compared(data, {"method": "sample", "share": 1.0}, ["group"], ["ill"]).tried[0].risks[
        "attribute"
    ] == 0  # fmt: skip


CODED = {"method": "top-code", "columns": ["pay"], "top": 0.2}


@pytest.mark.parametrize(
    "chain",
    [
        [CODED],
        [CODED | {"bottom": 0.3}],
        [CODED | {"replace": "mean"}],
        [CODED, {"method": "sample", "share": 0.9}],
        [CODED, {"method": "noise", "columns": ["pay"], "spread": 0.01}],
        [CODED, {"method": "rank-swap", "columns": ["pay"], "window": 0.01}],
    ],
    ids=str,
)
def test_who_lies_beyond_an_end_is_told_so(chain):
    """Each of a group is coded: that is true of all of them, whatever their own number."""
    data, _ = firms(600)
    found = compared(data, {"name": "coded", "chain": chain}, ["group"], ["pay"]).tried[0]
    assert found.risks["attribute"] > 0.03


def test_columns_without_an_end_give_nothing_back():
    data, _ = firms(300)
    data["far"] = [*("9" * 400 for _ in range(150)), *("1" for _ in range(150))]
    assert compared(data, NOISE, ["group"], ["pay"]).tried[0].failed is None


def test_a_column_that_few_have_and_all_differently_is_looked_at():
    data, rng = firms(400)
    there = rng.random(400) < 0.3
    data["number"] = np.where(there, rng.permutation(400) * 1.7 + 3, np.nan)
    asis = {"method": "sample", "share": 1.0}
    found = compared(data[["group", "number"]], asis, ["group"]).tried[0]
    assert "number is different for nearly all who have it" in found.doubt
    data["number"] = data["number"].where(data["number"].rank() < 4)
    assert compared(data[["group", "number"]], asis, ["group"]).tried[0].doubt is None


def test_weights_that_tell_a_masked_stratum_are_looked_at():
    data = patients().assign(weight=1.0)
    steps = [{"method": "sample", "share": 0.33, "strata": "town"},
             {"method": "recode", "columns": ["town"], "levels": {"town": 1}}]  # fmt: skip
    for chain, told in ((steps, True), (steps[::-1], False)):
        plan = {"keys": ["town", "sex"], "weight": "weight", "seed": 1}
        plan |= {"masks": [{"name": "x", "chain": chain}]}
        found = dc.compare(data, plan, records=True).tried[0]
        assert ("weights" in (found.doubt or "")) is told


def test_a_key_may_have_the_name_of_what_is_given_back():
    data = patients()
    data["code"], data["ill by code"] = data["ill"], "z"
    found = compared(data, PRAM, ["sex", "town", "ill by code"], ["ill"]).tried[0]
    assert found.risks["attribute"] > 0.1


def test_places_that_are_written_alike_together_are_two_places():
    """The town "x" with the quarter "y | z", and the town "x | y" with the quarter "z"."""
    rng = np.random.default_rng(5)
    town, quarter, like = (rng.choice(one, 120) for one in ([0, 1], [0, 1], [*"abcdefghij"]))
    mask = {"method": "swap", "block": ["town", "quarter"], "match": ["like"], "rate": 0.1}
    found = []
    for bar in (" - ", " | "):
        data = pd.DataFrame({"town": np.where(town, f"x{bar}y", "x"), "like": like})
        data["quarter"] = np.where(quarter, f"y{bar}z", "z")
        tried = compared(data, mask, ["town", "quarter", "like"]).tried[0]
        found.append(tried.risks["expected"])
    assert found[0] == pytest.approx(found[1])


@pytest.mark.parametrize("shown", ["half of all", "half of the ill"])
def test_some_values_tell_what_others_do_not(shown):
    data, rng = patients(), np.random.default_rng(7)
    half = rng.random(len(data)) < 0.5
    if shown == "half of all":
        data["drug"] = data["ill"].where(half, "?")
    else:
        data["drug"] = np.where((data["ill"] == "yes") & half, "v", "w")
    found = compared(data, PRAM, ["sex", "town"], ["ill"]).tried[0]
    assert found.risks["attribute"] > 0.05
    data["drug"] = rng.permutation(data["drug"])
    found = compared(data, PRAM, ["sex", "town"], ["ill"]).tried[0]
    assert found.risks["attribute"] == 0
    assert "gives" not in str(found.said)


THREE = PRAM | {"matrix": {"ill": {a: dict.fromkeys(["flu", "hiv", "no"], 1 / 3) for a in
                                   ("flu", "hiv", "no")}}}  # fmt: skip


@pytest.mark.parametrize(
    "rule",
    [
        lambda d: d["x"] * d["z"] > 0,
        lambda d: d["x"] > 0.5,
        lambda d: (d["p"] == "1") & (d["q"] == "1"),
        lambda d: (d["p"] == "1") & (d["x"] > 0),
    ],
    ids=["the sign of a product", "one number", "two categories", "a category and a number"],
)
def test_two_columns_tell_one_class_of_three(rule):
    """Whom the rule names, and nobody else, has hiv for sure: so have all women of one town."""
    rng = np.random.default_rng(2)
    data = patients(600).drop(columns="ill")
    data["x"], data["z"] = (rng.normal(size=600).round(2) for _ in "xz")
    data["p"], data["q"] = (rng.choice([*"01"], 600) for _ in "pq")
    data.loc[(data["town"] == "a") & (data["sex"] == "f"), ["x", "z", "p", "q"]] = [1, 1, "1", "1"]
    data["ill"] = np.where(rule(data), "hiv", rng.choice(["no", "flu"], 600))
    columns = ["x", "z", "p", "q"]
    found = compared(data, THREE, ["sex", "town"], ["ill"]).tried[0]
    assert found.risks["attribute"] > 0.05
    data[columns] = data[columns].sample(frac=1, random_state=1).to_numpy()
    found = compared(data, THREE, ["sex", "town"], ["ill"]).tried[0]
    assert found.risks["attribute"] == 0
    assert "gives" not in str(found.said)


@pytest.mark.parametrize("shown", ["a date", "a code of their own", "three answers together"])
def test_values_that_few_have_tell_one_class_together(shown):
    rng = np.random.default_rng(5)
    data = patients(600).assign(ill="no")
    women = (data["town"] == "a") & (data["sex"] == "f")
    ill = women | (rng.random(600) < 0.25)
    data["ill"] = np.where(ill, "hiv", rng.choice(["no", "flu"], 600))
    if shown == "a date":
        days = pd.date_range("2020-01-01", periods=90).strftime("%Y-%m-%d").to_numpy()
        data["since"] = np.where(ill, rng.choice(days, 600), None)
    elif shown == "a code of their own":
        words = [f"{a}{b}{c}" for a in "bcdfg" for b in "aeiou" for c in "klmnp"]
        data["code"] = np.where(ill, rng.choice(words[:60], 600), rng.choice(words[60:], 600))
    else:
        p, q = rng.integers(0, 2, (2, 600))
        data = data.assign(p=p, q=q, r=np.where(ill, 1 - (p ^ q), p ^ q).astype(str))
    found = compared(data, THREE, ["sex", "town"], ["ill"]).tried[0]
    assert found.risks["attribute"] > 0.05


@pytest.mark.parametrize("rule", ["of one town", "of one town and sex", "where others are, too"])
def test_some_values_tell_some_of_a_masked_key(rule):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"town": rng.choice([*"abcdefghijkl"], 240)})
    data["sex"], data["job"] = rng.choice([*"fm"], 240), rng.choice([*"pqrst"], 240)
    stays = {a: dict.fromkeys(sorted(set(data["town"])), 1 / 12) for a in set(data["town"])}
    mask = {"method": "pram", "columns": ["town"], "matrix": {"town": stays}}
    keys, limit = ["town", "sex", "job"], 0.01
    assert compared(data, mask, keys, limit=limit).verdict == dc.Verdict.PASS
    here, sex = data["town"].isin([*"abcd"]), data["sex"] == "f"
    others = rng.choice([*"rstuv"], 240)
    if rule == "of one town":
        data["code"] = np.where(here, data["town"], others)
    elif rule == "of one town and sex":
        data["code"] = np.where(here & sex, data["town"] + "f", others)
    else:
        data["code"] = np.where(here, data["town"], rng.choice([*"abcdefgh"], 240))
    found = compared(data, mask, keys, limit=limit)
    assert "gives" in str(found.tried[0].said)
    assert found.verdict == dc.Verdict.FAIL


TOWNS = [*"abcdefgh"]
MOVED = {"method": "pram", "columns": ["town"],
         "matrix": {"town": {a: dict.fromkeys(TOWNS, 1 / 8) for a in TOWNS}}}  # fmt: skip
BEHIND = {
    "three questions": lambda t, sex, rng: [t >> bit & 1 == 1 for bit in range(3)],
    "one question": lambda t, sex, rng: [t > 3],
    "one of few towns, others at random": lambda t, sex, rng: [(t < 2) | (rng.random(240) < 0.5)],
    "of town and sex": lambda t, sex, rng: [(t > 3) ^ (sex == "f")],
}


def asked(asks, rng):
    """Amounts that everybody has for himself, of those whom each question is asked."""
    return {
        f"q{i}": np.where(one, rng.permutation(240) * 1.5, np.nan) for i, one in enumerate(asks)
    }


@pytest.mark.parametrize("rule", BEHIND)
@pytest.mark.parametrize("step", [None, "swap", "blank"])
def test_whether_columns_are_blank_tells_a_masked_key(rule, step):
    rng = np.random.default_rng(3)
    town, sex = rng.integers(0, 8, 240), rng.choice(["f", "m"], 240)
    data = pd.DataFrame({"town": np.array(TOWNS)[town], "sex": sex})
    data["job"] = rng.choice([*"pqrstuvwxyz"], 240)
    questions = asked(BEHIND[rule](town, sex, rng), rng)
    steps = {"swap": {"method": "swap", "block": ["q0"], "match": ["job"], "rate": 0.02},
             "blank": {"method": "blank", "columns": ["q0"], "k": 1}}  # fmt: skip
    mask = {"name": "x", "chain": [MOVED, *([steps[step]] if step else [])]}
    found = compared(data.assign(**questions), mask, data).tried[0]
    assert "blank" in str(found.said)
    alone = compared(data, MOVED, data).tried[0].risks["expected"]
    assert found.risks["expected"] > 1.15 * alone


@pytest.mark.parametrize("role", ["key", "sensitive"])
def test_blanks_by_chance_tell_nothing(role):
    rng = np.random.default_rng(4)
    town, ill = rng.integers(0, 8, 240), rng.choice(["no", "yes"], 240)
    data = pd.DataFrame({"town": np.array(TOWNS)[town], "ill": ill})
    mask, keys, told = (MOVED, ["town"], []) if role == "key" else (PRAM, ["town"], ["ill"])
    plain = compared(data, mask, keys, told).tried[0]
    more = data.assign(**asked(rng.random((4, 240)) < 0.5, rng))
    found = compared(more, mask, keys, told).tried[0]
    assert found.risks == plain.risks
    assert found.said == plain.said


@pytest.mark.parametrize("level", [False, True], ids=["a value", "a level"])
def test_which_columns_are_blank_together_tells_a_masked_value(level):
    """Neither blank alone says anything; one of the two is there where somebody is ill."""
    rng = np.random.default_rng(5)
    data = patients(240)
    kinds = rng.choice(["flu", "pox"], 240) if level else "yes"
    ill, first = data["ill"] == "yes", rng.random(240) < 0.5
    data["ill"] = np.where(ill, kinds, "no")
    trees = {"ill": Hierarchy.of({"flu": "ill", "pox": "ill", "no": "well"})} if level else {}
    names = sorted(set(data["ill"]))
    even = {a: dict.fromkeys(names, 1 / len(names)) for a in names}
    mask, keys = PRAM | {"matrix": {"ill": even}}, ["sex", "town"]
    plain = compared(RecordFile(data, trees), mask, keys, ["ill"]).tried[0]
    data = data.assign(**asked([first, first ^ ill], rng))
    found = compared(RecordFile(data, trees), mask, keys, ["ill"]).tried[0]
    assert plain.risks["attribute"] == 0
    assert "which columns are blank gives" in str(found.said)
    assert found.risks["attribute"] > 0.05


def test_pairs_that_are_not_looked_at_are_in_doubt(monkeypatch):
    data, rng = patients(), np.random.default_rng(4)
    for one in range(5):
        data[f"c{one}"] = rng.choice([*"pq"], len(data))
    assert compared(data, PRAM, ["sex", "town"], ["ill"]).verdict == dc.Verdict.PASS
    monkeypatch.setattr("discreet.decision.compare.some_values.WORK", 4000)
    found = compared(data, PRAM, ["sex", "town"], ["ill"])
    assert found.verdict == dc.Verdict.REVIEW
    assert "17 pairs of columns were not looked at" in found.tried[0].doubt


def towns(many=600):
    rng = np.random.default_rng(1)
    town, sex = rng.choice([*"abcdefghijkl"], many), rng.choice(["f", "m"], many)
    even = {one: dict.fromkeys("abcdefghijkl", 1 / 12) for one in "abcdefghijkl"}
    mask = {"method": "pram", "columns": ["town"], "matrix": {"town": even}}
    return pd.DataFrame({"town": town, "sex": sex, "age": rng.integers(0, 70, many)}), mask, rng


@pytest.mark.parametrize("region", ["by three regions", "as it comes", "raked"])
def test_a_weight_that_follows_from_a_masked_key_is_known_with_it(region):
    data, mask, rng = towns()
    place = data["town"].map("abcdefghijkl".index)
    if region == "by three regions":
        data["w"] = (place % 3).map([3.5, 7.25, 11.0].__getitem__)
    elif region == "as it comes":
        data["w"] = rng.choice([3.5, 7.25, 11.0], len(data))
    else:
        data["w"] = (1 + place) ** 0.3 * (1 + data["age"]) ** 0.2 * (1 + (data["sex"] == "f"))
    content = {"keys": ["town", "sex", "age"], "weight": "w", "seed": 1, "masks": [mask]}
    found = dc.compare(data, content, dc.Policy().set(["masks.limit=0.1"]), records=True)
    assert (found.verdict == dc.Verdict.PASS) == (region == "as it comes")
    assert (found.tried[0].risks["identified"] > 0.1) == (region != "as it comes")
    assert ("factors of the keys" in str(found.tried[0].doubt)) == (region != "as it comes")


def test_weights_that_a_sample_divides_are_known_as_they_were():
    """As what nobody should learn, and as a key."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"id": np.arange(300) // 2, "w": rng.choice([1.0, 2.0], 300)})
    content = {"keys": ["id"], "sensitive": ["w"], "weight": "w", "seed": 1}
    content["masks"] = [{"method": "sample", "share": 0.9}]
    found = dc.compare(data, content, records=True).tried[0]
    assert found.risks["attribute"] > 0.4
    assert found.inferred["w"]["released"] > 0.7
    content |= {"keys": ["id", "w"], "sensitive": ["id"]}
    assert dc.compare(data, content, records=True).tried[0].risks["identified"] > 0.6


def test_a_key_that_is_told_wrongly_now_and_then_is_judged():
    """Places tell the town but for some near its edge."""
    rng = np.random.default_rng(3)
    x, y = rng.random((2, 600))
    data, mask, _ = towns()
    data["town"] = (np.floor(x * 4) * 3 + np.floor(y * 3)).astype(int)
    data["town"] = data["town"].map("abcdefghijkl".__getitem__)
    data["east"], data["north"] = (x * 200).astype(int), (y * 200).astype(int)
    found = compared(data, mask, ["town", "sex", "age"])
    assert "east and north gives" in str(found.tried[0].said)
    assert found.tried[0].risks["identified"] > 0.5
