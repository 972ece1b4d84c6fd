"""What an intruder learns though no record is linked: by copies, blanks, twins and models."""

import json

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.masks.records.file import RecordFile
from discreet.report.html import html_report
from maskcases import people

PLACE = ["town", "sex", "job", "age"]


def person(records, seed=1, **options):
    """People without households, by age in fives."""
    data = people(records, seed, missing=0, **options).data
    return data.assign(age=(data["age"] // 5 * 5).astype(int))[[*PLACE, "ill"]]


def tried(data, *masks, keys=PLACE, sensitive=(), policy=None):
    plan = {"keys": list(keys), "masks": list(masks), "seed": 1}
    plan |= {"sensitive": list(sensitive)} if sensitive else {}
    return dc.compare(data, plan, Policy.of(policy or {}), records=True)


def synthetic(formula, copies, name="copies"):
    options = {"method": "synthesise", "model": "formula", "formula": formula, "copies": copies}
    return options | {"name": name}


@pytest.mark.parametrize(
    ("mask", "share"),
    [
        (synthetic("town*sex*job*age*ill", 20), 0.8),
        (synthetic("town*sex*job*age + ill", 20), 0.8),
        ({"method": "private", "epsilon": 1e4, "margins": "town*sex*job*age*ill"}, 0.5),
    ],
    ids=["saturated", "nearly saturated", "noise of no size, drawn once"],
)
def test_copies_that_repeat_the_records_have_the_risk_of_the_file(mask, share):
    found = tried(person(300), {"method": "sample", "share": 1.0}, mask)
    whole, made = (one.risks for one in found.tried)
    assert made["identified"] > share * whole["identified"] > 0.3
    assert made["expected"] > share * whole["expected"]
    assert found.verdict is Verdict.FAIL


def test_copies_by_a_model_that_knows_nobody_have_little():
    data = person(4000)
    found = tried(data, synthetic("town + sex + job + age + ill", 1))
    assert found.tried[0].risks["identified"] < 0.005
    one = tried(data, synthetic("town*sex*job*age", 1)).tried[0]
    assert one.risks["identified"] > 10 * found.tried[0].risks["identified"]


def test_a_blank_says_what_a_rule_blanks():
    """Who has a rare illness is the only one without a value."""
    data = pd.DataFrame(
        {"g": [f"p{i}" for i in range(60)], "ill": ["no"] * 40 + ["flu"] * 18 + ["rare"] * 2}
    )
    for missing, told in (("any", 60), ("own", 58)):  # where flu is blanked besides, it hides rare
        mask = {"method": "blank", "columns": ["ill"], "k": 3, "missing": missing}
        found = tried(data, mask, keys=["g"], sensitive=["ill"], policy={"masks.act": 0.9})
        assert found.tried[0].risks["attribute"] == pytest.approx(told / 60)
    numbers = data.assign(ill=np.r_[np.repeat(np.arange(29.0), 2), 900.0, 901.0])
    mask = {"method": "blank", "columns": ["ill"], "k": 2}
    found = tried(numbers, mask, keys=["g"], sensitive=["ill"], policy={"masks.act": 0.5})
    assert found.tried[0].risks["attribute"] > 0.9


@pytest.mark.parametrize(
    ("method", "options"),
    [("pram", {"keep": 0.2}), ("recode", {"cuts": {"school": [[5]]}, "levels": {"school": 1}})],
)
def test_a_twin_of_a_masked_column_gives_it_back(method, options):
    """Education beside its number: as a key, and as what nobody should learn."""
    rng = np.random.default_rng(2)
    school = rng.integers(0, 40, 200)
    data = pd.DataFrame(
        {"school": school, "years": school * 2 + 1, "sex": rng.choice(["f", "m"], 200)}
    )
    data["noise"] = rng.normal(size=200)
    mask = {"method": method, "columns": ["school"], **options}
    alone = tried(data.drop(columns="years"), mask, keys=["school", "sex"]).tried[0]
    both = tried(data, mask, keys=["school", "sex"]).tried[0]
    plain = tried(data, {"method": "sample", "share": 1.0}, keys=["school", "sex"]).tried[0]
    assert both.risks["identified"] > max(2 * alone.risks["identified"], 0.15)
    assert both.risks["identified"] == pytest.approx(plain.risks["identified"], abs=0.05)
    assert any("years" in text and "school" in text for text in both.said)
    assert not any("noise" in text for text in both.said)
    told = tried(data, mask, keys=["noise"], sensitive=["school"]).tried[0]
    hidden = tried(data.drop(columns="years"), mask, keys=["noise"], sensitive=["school"]).tried[0]
    assert told.risks["attribute"] == 1 > (hidden.risks["attribute"] if method == "pram" else 0)


def test_a_finer_column_gives_back_a_key_that_nobody_knows_finely():
    data = people(200, missing=0).data[["region", "town", "sex", "age"]]
    mask = {"method": "pram", "columns": ["region"], "keep": 0.1}
    found = tried(data, mask, keys=["region", "sex", "age"]).tried[0]
    plain = tried(data, {"method": "sample", "share": 1.0}, keys=["region", "sex", "age"]).tried[0]
    assert found.risks["identified"] == pytest.approx(plain.risks["identified"], abs=1e-9)
    assert any("town" in text for text in found.said)


def test_a_number_with_many_values_is_a_twin_by_its_neighbours():
    data = people(300, missing=0).data[["income", "sex"]].assign(tax=lambda d: d["income"] * 0.3)
    mask = {"method": "noise", "columns": ["income"], "spread": 0.5}
    assert tried(data, mask, keys=["income"]).tried[0].risks["identified"] > 0.95
    assert tried(data.drop(columns="tax"), mask, keys=["income"]).tried[0].risks["identified"] < 0.1


@pytest.mark.parametrize(
    "step",
    [
        {"method": "noise", "columns": "born", "spread": 1e-6},
        {"method": "rank-swap", "columns": "born", "window": 0.01},
        {"method": "pram", "columns": ["place"], "keep": 0.99},
        {"method": "swap", "block": ["place"], "match": ["sex"], "rate": 0.02},
    ],
    ids=str,
)
def test_a_twin_that_chance_hardly_changed_gives_it_back(step):
    rng = np.random.default_rng(9)
    column = np.ravel(step.get("columns", step.get("block")))[0]
    key = rng.integers(20, 90 if column == "born" else 50, 150)
    data = pd.DataFrame({"key": key, "sex": rng.choice([*"abcd"], 150)})
    data["born"], data["place"] = 2024.0 - data["key"], "p" + data["key"].astype(str)
    data = data[["key", "sex", column]]
    recode = {"method": "recode", "columns": ["key"], "levels": {"key": 1}}
    bare = tried(data[["key", "sex"]], recode, keys=["key", "sex"]).tried[0]
    both = tried(data, {"name": "x", "chain": [recode, step]}, keys=["key", "sex"]).tried[0]
    assert bare.risks["identified"] == 0
    assert both.risks["identified"] > 0.2
    told = tried(data, {"name": "x", "chain": [recode, step]}, keys=["sex"], sensitive=["key"])
    assert any("of key" in text for text in told.tried[0].said)


def test_numbers_that_are_told_by_a_twin_with_little_noise():
    data = people(300, missing=0).data[["income", "sex"]].assign(tax=lambda d: d["income"] * 0.3)
    chain = [{"method": "noise", "columns": [c], "spread": s} for c, s in
             (("income", 0.5), ("tax", 1e-6))]  # fmt: skip
    assert tried(data, {"name": "x", "chain": chain}, keys=["income"]).tried[0].risks[
        "identified"
    ] > 0.9  # fmt: skip
    chain[1]["spread"] = 0.5
    found = tried(data, {"name": "x", "chain": chain}, keys=["income"]).tried[0]
    assert found.risks["identified"] < 0.2


def test_what_is_learnt_from_others_is_told_beside_what_is_learnt_from_oneself():
    """In small groups that share a value everybody is told; a model learns it without him."""
    town = np.repeat([f"t{i}" for i in range(30)], 20)
    data = pd.DataFrame({"town": town, "ill": np.repeat(["yes", "no"] * 15, 20)})
    whole, tenth = {"method": "sample", "share": 1.0}, {"method": "sample", "share": 0.1}
    found = tried(data, whole, tenth | {"name": "tenth"}, keys=["town"], sensitive=["ill"])
    for one in found.tried:  # a tenth of 600 has two of each town
        shares = one.inferred["ill"]
        assert shares["told"] == pytest.approx(one.risks["attribute"])
        assert shares["released"] - shares["baseline"] < 0.05
    assert found.tried[0].inferred["ill"]["baseline"] == 1
    assert "Told counts people whose released look-alikes share" in html_report(found)
    alone = data.assign(
        town=np.arange(600), ill=np.random.default_rng(1).choice(["yes", "no"], 600)
    )
    own = tried(alone, whole, keys=["town"], sensitive=["ill"]).tried[0].inferred["ill"]
    assert own["released"] == 1
    assert own["baseline"] < 0.6


def test_a_policy_limits_what_is_learnt_of_who_is_in_the_file():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"g": [f"p{i}" for i in range(80)], "ill": rng.choice(["a", "b"], 80)})
    mask, policy = {"method": "sample", "share": 1.0}, {"masks.limit": 1.0}
    limited = policy | {"masks.inferred": 0.1}
    assert tried(data, mask, keys=["g"], sensitive=["ill"], policy=policy).verdict is Verdict.PASS
    assert tried(data, mask, keys=["g"], sensitive=["ill"], policy=limited).verdict is Verdict.FAIL
    asked = tried(data, mask, keys=["g"], policy=limited)
    assert asked.verdict is Verdict.REVIEW
    assert "masks.inferred is asked" in " ".join(asked.why())


def test_a_risk_that_was_not_looked_at_is_not_0():
    data = pd.DataFrame({"g": list("aabb"), "ill": list("ynyn")})
    found = tried(data, {"method": "sample", "share": 1.0}, keys=["g"], policy={"masks.limit": 0.5})
    document = json.loads(json.dumps(found.to_json()))
    assert document["masks"][0]["risks"]["attribute"] is None
    assert "no column is said to be sensitive" in document["masks"][0]["not_computed"]["attribute"]
    assert found.verdict is Verdict.PASS
    assert "The attribute risk is not computed: no column is said to be" in html_report(found)
    asked = tried(data, {"method": "sample", "share": 1.0}, keys=["g"],
                  policy={"masks.limit": 0.5, "masks.risk": "attribute"})  # fmt: skip
    assert asked.verdict is Verdict.REVIEW
    assert "not computed" in " ".join(asked.why())


def test_numbers_give_back_their_masked_sum():
    """Men and women are released as they are; their sum has noise."""
    rng = np.random.default_rng(4)
    men, women = rng.integers(0, 400, (2, 300))
    data = pd.DataFrame({"sector": rng.choice(list("abc"), 300), "men": men, "women": women})
    data["all"] = men + women
    mask = {"method": "noise", "columns": ["all"], "spread": 3.0}
    found = tried(data, mask, keys=["sector", "all"]).tried[0]
    assert found.risks["identified"] > 0.7
    assert any("men and women" in text for text in found.said)
    told = tried(data, mask, keys=["sector"], sensitive=["all"], policy={"masks.act": 0.2}).tried[0]
    hidden = tried(data.drop(columns="men"), mask, keys=["sector"], sensitive=["all"])
    assert told.inferred["all"]["released"] >= hidden.tried[0].inferred["all"]["released"]


def test_a_weight_or_two_columns_give_back_a_masked_one():
    """Weights are those of cells of town by sex; cohort is year less age."""
    data = people(400, missing=0).data[["town", "sex", "age"]]
    cells = data.groupby(["town", "sex"])["age"].transform("size")
    data = data.assign(
        w=1000 / (cells + (data["sex"] == "f") * 0.5 + data["town"].map(ord) * 0.01),
        year=np.arange(400) % 3,
    )
    mask = {"method": "pram", "columns": ["town"], "keep": 0.1}
    keys = ["town", "sex", "age"]
    whole = dc.compare(
        data, {"seed": 1, "keys": keys, "weight": "w",
               "masks": [mask | {"name": "a"}, {"method": "sample", "share": 1.0}]}, records=True
    )  # fmt: skip
    one, plain = whole.tried
    assert one.risks["identified"] == pytest.approx(plain.risks["identified"], abs=0.02)
    cohort = data.assign(cohort=data["year"] * 100 + data["age"] // 4 * 4).drop(columns="w")
    cohort["ten"] = cohort["age"] // 4 * 4
    masked = {"method": "pram", "columns": ["ten"], "keep": 0.1}
    both = tried(cohort.drop(columns="age"), masked, keys=["ten", "sex", "town"]).tried[0]
    assert any("ten" in text and "cohort" in text for text in both.said)


def test_noise_that_goes_with_that_of_a_known_key_is_known():
    rng = np.random.default_rng(5)
    age = rng.normal(50, 10, 400)
    data = pd.DataFrame({"id": [f"p{i}" for i in range(400)], "age": age})
    data["pay"] = age * 100 + rng.normal(0, 200, 400)
    together = {"method": "noise", "columns": ["age", "pay"], "spread": 1.0}
    alone = together | {"name": "alone", "kind": "independent"}
    options = {"keys": ["id", "age"], "sensitive": ["pay"], "policy": {"masks.act": 0.4}}
    found = tried(data, together | {"kind": "correlated"}, alone, **options)
    tied, free = (one.risks["attribute"] for one in found.tried)
    assert tied > free + 0.2


def test_shares_of_what_pram_hides_are_those_of_the_file():
    """A rare value that is shown is believed by how many have it, not by how many show it."""
    rng = np.random.default_rng(6)
    ill = rng.choice(["no", "heart"], 1000, p=[0.94, 0.06])
    data = pd.DataFrame({"id": [f"p{i}" for i in range(1000)], "ill": ill})
    mask = {"method": "pram", "columns": ["ill"], "keep": 0.6}
    from discreet.decision.compare.sensitive import sensitive_column
    from discreet.masks.records.chain import chained

    file = RecordFile(data)
    masked = chained([mask]).apply(file, np.random.default_rng(1))
    column = sensitive_column(file, masked, "ill")
    shares = np.bincount(column.truth) / 1000
    np.testing.assert_allclose(column.prior, shares)


def test_a_column_that_looks_like_the_number_of_a_household_is_looked_at():
    data = person(300).assign(code=np.arange(300) // 3)
    found = tried(data, {"method": "sample", "share": 0.9}, policy={"masks.limit": 1.0})
    assert found.verdict is Verdict.REVIEW
    assert "code is shared by few records each" in " ".join(found.why())


@pytest.mark.parametrize("size", [3, 8])
@pytest.mark.parametrize("said", ["by the plan", "by the file", "by both", "by nobody"])
def test_a_file_of_households_is_no_pass(size, said):
    """Persons are linked by themselves, and what a household tells of its members is not known."""
    data = person(30 * size).drop(columns="age").assign(code=np.arange(30 * size) // size)
    file = RecordFile(data, household="code" if said in ("by the file", "by both") else None)
    plan = {"keys": ["town", "sex"], "seed": 1}
    plan |= {"household": "code"} if said in ("by the plan", "by both") else {}
    masks = [{"method": "pram", "columns": ["town"], "keep": 0.1},
             {"method": "swap", "block": ["town"], "match": ["sex"], "rate": 0.9},
             {"method": "sample", "share": 0.9}]  # fmt: skip
    limits = dc.Policy().set(["masks.limit=1"])
    found = dc.compare(file, plan | {"masks": masks}, limits)
    assert {mask.verdict for mask in found.choice.masks} == {Verdict.REVIEW}
    assert found.draw(found.best).verdict is Verdict.REVIEW


def test_a_codebook_is_read_for_record_files_too():
    """Missing codes and levels of the codebook count, however the records are given."""
    data = person(300).assign(code=np.arange(300) % 7)
    levels = dict.fromkeys("012345", "some")
    book = dc.Codebook.of(
        {"code": {"role": "sensitive", "hierarchy": levels}}, missing_values=["6"]
    )
    plan = {"keys": ["town", "sex"], "seed": 1, "masks": [{"method": "sample", "share": 0.9}]}
    by_frame, by_file, plain = (
        dc.compare(one, plan, codebook=said).tried[0].to_json()
        for one, said in ((data, book), (RecordFile(data), book), (RecordFile(data), None))
    )
    assert by_frame == by_file != plain


def test_who_is_blanked_for_a_lack_of_diversity_is_told():
    """All of two small towns have one value each: that is why they are blanked."""
    rng = np.random.default_rng(7)
    town = np.repeat(list("ABCD"), [300, 85, 12, 3])
    ill = np.where(rng.random(400) < 0.5, "no", "yes")
    ill[385:397], ill[397:] = "no", "rare"
    data = pd.DataFrame({"town": town, "ill": ill})
    step = {"method": "recode", "columns": ["town"], "levels": {"town": 0}, "l": 2,
            "sensitive": "ill", "suppress": 0.05}  # fmt: skip
    for mask in (step, {"chain": [step, {"method": "sample", "share": 1.0}]}):
        found = tried(data, mask, keys=["town"], sensitive=["ill"], policy={"masks.act": 0.9})
        assert found.tried[0].risks["attribute"] >= 15 / 400
        assert found.tried[0].risks["identified"] == 0


def test_questions_that_only_some_were_asked_give_back_who_they_are():
    """What is blank in five columns says the town; each of them alone says little."""
    rng = np.random.default_rng(8)
    data = people(300, missing=0).data[["town", "sex", "age"]]
    for place, town in enumerate("abcde"):
        data[f"q{place}"] = np.where(data["town"] == town, rng.choice(["x", "y", "z"], 300), None)
    mask = {"method": "pram", "columns": ["town"], "keep": 0.1}
    found = tried(data, mask, keys=["town", "sex", "age"]).tried[0]
    plain = tried(data, {"method": "sample", "share": 1.0}, keys=["town", "sex", "age"]).tried[0]
    assert found.risks["identified"] == pytest.approx(plain.risks["identified"], abs=0.02)


@pytest.mark.parametrize(("formula", "low", "high"), [("a*b*c*ill", 0.06, 1), ("a + b", 0, 0.02)])
def test_where_nearly_every_combination_is_somebodys(formula, low, high):
    """96 combinations of 300 people: hardly any is left that nobody has, to compare with."""
    rng = np.random.default_rng(1)
    kinds = {"a": [*"abcdefgh"], "b": [*"pqrs"], "c": [*"xyz"], "ill": ["no", "yes"]}
    data = pd.DataFrame({name: rng.choice(some, 300) for name, some in kinds.items()})
    whole = {"method": "sample", "share": 1.0}
    found = tried(data, whole, synthetic(formula, 20), keys=["a", "b", "c"])
    own, made = found.tried[0].risks["identified"], found.tried[1]
    assert low <= made.risks["identified"] <= min(high, own)
    many = tried(data, synthetic(formula, 100), keys=["a", "b", "c"]).tried[0]
    assert high < 1 or many.risks["identified"] + many.error > 0.98 * own
