"""What a masked file tells of sensitive values, where it is easily called safe and is not."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.data.codebook import Codebook, Entry
from discreet.data.hierarchy import Hierarchy
from discreet.decision.compare.plan import Plan
from discreet.decision.compare.records import attack
from discreet.decision.compare.sensitive import having, sensitive_column
from discreet.decision.law.policy import Policy
from discreet.intruder.linkage.links import link
from discreet.masks.records.chain import chained
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import MaskedFile
from discreet.risk.linkage.disclosed import Sensitive, disclosed, statements
from discreet.risk.linkage.identification import identify

AS_IT_IS = {"method": "sample", "share": 1.0}
TOWNS = [f"g{i}" for i in range(20)]


def risks(data, mask, keys, sensitive=(), act=0.5):
    plan = {"seed": 1, "keys": list(keys), "masks": [mask]}
    plan |= {"sensitive": list(sensitive)} if sensitive else {}
    found = dc.compare(data, plan, Policy.of({"masks.act": act}), records=True)
    assert not found.tried[0].failed, found.tried[0].failed
    return found.tried[0].risks


def masked_by(data, *steps, seed=1):
    file = RecordFile(data)
    return file, chained(steps).apply(file, np.random.default_rng(seed))


def test_a_key_that_a_model_makes_again_is_found():
    data = pd.DataFrame(
        {"town": TOWNS, "job": [f"j{i}" for i in range(20)], "z": np.arange(20) % 7}
    )
    mask = {"method": "synthesise", "columns": ["town"], "given": ["job"], "model": "formula",
            "formula": "town*job"}  # fmt: skip
    assert risks(data, mask, ["town"])["identified"] > 0.7
    apart = mask | {"formula": "town + job"}
    assert risks(data, apart, ["town"])["identified"] == 0


@pytest.mark.parametrize("columns", [["a"], ["b"], ["a", "b"]])
def test_links_by_synthetic_keys_are_right_as_often_as_they_say(columns):
    """Also where values are missing, which a model makes again as any other."""
    rng = np.random.default_rng(3)
    given = np.repeat(list("uvwxyz"), 2)
    a = np.where(rng.random(12) < 0.8, given, "u")
    b = np.where(given == "u", None, np.where(given < "x", "0", "1"))
    data = pd.DataFrame({"a": a, "b": b, "g": given, "k": list("ppq") * 4})
    step = {"method": "synthesise", "columns": columns, "given": ["g"], "model": "formula",
            "formula": "*".join([*columns, "g"])}  # fmt: skip
    said, right = [], []
    for seed in range(40):
        file, masked = masked_by(data, step, seed=seed)
        keys = [*columns, "k"]
        found = link(masked.linked_with(file, keys), masked.intruder(keys)).dense()
        said.append(found)
        right.append(np.eye(12))
    said, right = np.ravel(said), np.ravel(right)
    assert (said[right > 0] > 0).all()
    for low, high in [(0, 0.05), (0.05, 0.2), (0.2, 0.45), (0.45, 1.01)]:
        here = (said >= low) & (said < high)
        if here.sum() > 20:
            error = np.sqrt((said[here] * (1 - said[here])).sum()) / here.sum()
            assert abs(said[here].mean() - right[here].mean()) < 5 * error + 0.02


def test_synthetic_records_are_taken_at_face_value():
    ill = np.random.default_rng(1).choice(list("abcd"), 20)
    data = pd.DataFrame({"key": TOWNS, "ill": ill})
    mask = {"method": "synthesise", "model": "formula", "formula": "key*ill"}
    assert risks(data, mask, ["key"], ["ill"], act=0.9)["attribute"] > 0.4


def test_a_higher_act_never_tells_more():
    rng = np.random.default_rng(5)
    beliefs = rng.dirichlet(np.full(4, 0.4), 300)
    column = Sensitive("x", rng.integers(0, 4, 300), beliefs, np.array([0.6, 0.2, 0.15, 0.05]))
    before = np.ones((2, 300), bool)
    for act in np.linspace(0, 1, 41):
        now = np.array(statements(beliefs, column, act))
        assert (now <= before)[1].all()
        assert act <= 0.5 or (now <= before)[0].all()
        assert now[0].sum() <= before[0].sum()
        before = now
    assert not before[1].any() or (beliefs[before[1]].max(1) > 0.999).all()


def test_certainty_of_what_most_have_counts_up_to_nine_in_ten():
    ill = np.repeat(["yes"] * 12 + ["no"] * 8, 4)
    data = pd.DataFrame({"g": np.repeat(TOWNS, 4), "ill": ill})
    assert [risks(data, AS_IT_IS, ["g"], ["ill"], act)["attribute"] for act in (0.3, 0.5, 0.9)] == [
        1.0
    ] * 3
    rare = data.assign(ill=["yes"] * 4 + ["no"] * 76)
    assert risks(rare, AS_IT_IS, ["g"], ["ill"])["attribute"] == 4 / 80


def test_a_frequent_number_is_a_class_and_the_others_are_cut():
    amount = np.zeros(800)
    amount[:62] = np.repeat(np.arange(31) * 100 + 1000, 2)
    data = pd.DataFrame({"g": np.repeat([f"g{i}" for i in range(400)], 2), "benefit": amount})
    assert risks(data, AS_IT_IS, ["g"], ["benefit"], act=0.9)["attribute"] == 62 / 800
    column = sensitive_column(*masked_by(data, AS_IT_IS), "benefit")
    assert sorted(np.bincount(column.truth)) == [62, 738]
    amount[62:400] = np.arange(338) + 5000
    column = sensitive_column(*masked_by(data.assign(benefit=amount), AS_IT_IS), "benefit")
    assert sorted(np.bincount(column.truth)) == [80] * 5 + [400]


@pytest.mark.parametrize(
    "mask",
    [
        AS_IT_IS,
        {"method": "top-code", "columns": "pay", "high": 1e9},
        {"method": "top-code", "columns": "pay", "high": 100_018, "replace": "label"},
        {"method": "pram", "columns": ["pay"], "keep": 0.99},
        {"method": "noise", "columns": "pay", "spread": 1e-6},
    ],
    ids=str,
)
def test_numbers_that_are_close_tell_however_few_they_are(mask):
    pay = np.concatenate([100_000 + np.arange(20), np.arange(280) % 9])
    data = pd.DataFrame({"town": ["Ash"] * 20 + ["Birch"] * 280, "pay": pay})
    assert risks(data, mask, ["town"], ["pay"], act=0.8)["attribute"] > 0.05


def test_a_few_codes_are_what_they_are():
    """Two illnesses in a town, of four, are two."""
    data = pd.DataFrame({"town": ["Ash"] * 20 + ["Birch"] * 280})
    data["ill"] = [1, 2] * 10 + [1, 2, 3, 4] * 70
    for mask in (AS_IT_IS, {"method": "pram", "columns": ["ill"], "keep": 0.9}):
        assert risks(data, mask, ["town"], ["ill"], act=0.8)["attribute"] == 0


def test_noise_is_believed_by_its_density():
    data = pd.DataFrame({"n": np.repeat([1.0, 2.0, 4.0], [5, 3, 2])})
    file, masked = masked_by(data, {"method": "noise", "columns": ["n"], "spread": 0.5})
    column = sensitive_column(file, masked, "n")
    spread, x = masked.keys["n"].spread[0], masked.data["n"].to_numpy()
    for row, value in enumerate(x):
        each = [
            share * np.exp(-((value - true) ** 2) / 2 / spread**2)
            for true, share in [(1, 0.5), (2, 0.3), (4, 0.2)]
        ]
        believed = column.believed[row, np.unique(column.truth)]
        np.testing.assert_allclose(believed, np.array(each) / sum(each), atol=1e-9)


@pytest.mark.parametrize("kind", ["independent", "multiplicative"])
def test_a_trifle_of_noise_hides_nothing_and_much_noise_does(kind):
    data = pd.DataFrame({"g": np.repeat(TOWNS, 5), "n": np.repeat([1, 2, 3, 4] * 5, 5)})
    mask = {"method": "noise", "columns": ["n"], "spread": 1e-6, "kind": kind}
    assert risks(data, mask, ["g"], ["n"], act=0.9)["attribute"] == 1
    assert risks(data, mask | {"spread": 50.0}, ["g"], ["n"], act=0.9)["attribute"] == 0
    many = data.assign(n=np.repeat(np.arange(50.0), 2) ** 1.5 + 1)
    assert risks(many, mask, ["g"], ["n"], act=0.9)["attribute"] > 0.3


PRAM = {
    "method": "pram",
    "columns": ["ill"],
    "matrix": {"ill": {"yes": {"yes": 0.75, "no": 0.25}, "no": {"no": 0.75, "yes": 0.25}}},
}


def told(data, step, keys, name, act=0.8, seed=1):
    file, masked = masked_by(data, step, seed=seed)
    found = identify(masked.linked_with(file, keys), masked.intruder(keys), act=act)
    return disclosed(found, [sensitive_column(file, masked, name)])


def test_records_of_a_class_tell_of_each_other():
    data = pd.DataFrame({"g": np.repeat(TOWNS, 30), "ill": np.repeat(["yes", "no"] * 10, 30)})
    assert told(data, PRAM, ["g"], "ill").attribute > 0.5
    noise = {"method": "noise", "columns": ["n"], "spread": 1.0}
    numbers = data.assign(n=np.repeat([0.0, 1.0] * 10, 30))
    assert told(numbers, noise, ["g"], "n").attribute > 0.5
    mixed = data.assign(ill=["yes", "no"] * 300)
    assert told(mixed, PRAM, ["g"], "ill").attribute < 0.1


def test_a_record_alone_is_believed_by_bayes():
    data = pd.DataFrame({"g": [f"p{i}" for i in range(200)], "ill": ["yes", "no"] * 100})
    found = told(data, PRAM, ["g"], "ill", act=0.8)
    assert not found.stated["ill"].any()
    assert 0.6 < told(data, PRAM, ["g"], "ill", act=0.65).told["ill"].mean() < 0.85


def test_who_is_not_sampled_is_as_those_who_are():
    data = pd.DataFrame({"g": np.repeat(TOWNS, 30), "ill": np.repeat(["yes", "no"] * 10, 30)})
    half = {"method": "sample", "share": 0.5}
    assert told(data, half, ["g"], "ill", act=0.8).attribute == 1
    tenth = {"method": "sample", "share": 0.02}
    assert told(data, tenth, ["g"], "ill", act=0.8).attribute == 0
    chance = data.assign(ill=np.random.default_rng(1).choice(["yes", "no"], 600))
    assert told(chance, half, ["g"], "ill", act=0.8).attribute < 0.1


def shown(file, rows, **changed):
    data = file.data.iloc[rows].assign(**changed).reset_index(drop=True)
    return MaskedFile(data, np.array(rows))


def test_what_is_told_does_not_hang_on_the_values_that_a_sample_happens_to_show():
    """In 7 of the 28 samples all have what 7 of 8 people have; who is found is told it all the
    same, by its name or by its group's.
    """
    kinds = ["flu", "cold"] * 4
    tree = {"ill": Hierarchy.of(dict.fromkeys(kinds, "cough"))}
    plan = Plan.of({"masks": [AS_IT_IS], "keys": ["key"], "sensitive": ["ill"]})
    one = RecordFile(pd.DataFrame({"key": TOWNS[:8], "ill": ["no"] * 7 + ["yes"]}))
    group = RecordFile(one.data.assign(ill=[*kinds[:7], "none"]), tree)
    for rows in itertools.combinations(range(8), 6):
        for file, name in ((one, "ill"), (group, "ill (level 1)")):
            found, _ = attack(file, shown(file, list(rows)), plan, 0.5)
            assert np.flatnonzero(found.told[name]).tolist() == list(rows)


def test_synthetic_records_of_one_value_tell_it():
    file = RecordFile(pd.DataFrame({"key": TOWNS[:8], "ill": ["no"] * 7 + ["yes"]}))
    same = replace(shown(file, list(range(8)), ill="no"), rows=np.full(8, -1))
    plan = Plan.of({"masks": [AS_IT_IS], "keys": ["key"], "sensitive": ["ill"]})
    assert attack(file, same, plan, 0.5)[0].told["ill"].tolist() == [True] * 7 + [False]


def test_frequencies_are_known_from_the_release_and_otherwise():
    ill = np.repeat(["a", "b", "c", "d"], [60, 20, 15, 5])
    half = {"method": "sample", "share": 0.5}
    blank = {"method": "blank", "columns": ["ill", "x"], "k": 4, "priorities": ["ill", "x"]}
    data = pd.DataFrame({"ill": ill, "x": np.arange(100) % 9})
    for steps in [(half,), (half, blank)]:
        file, masked = masked_by(data, *steps)
        released, people = sensitive_column(file, masked, "ill").known
        np.testing.assert_allclose(people.prior, [0.6, 0.2, 0.15, 0.05], atol=0.01)
        shares = np.bincount(released.truth[masked.rows]) / len(masked)
        np.testing.assert_allclose(released.prior, shares, atol=0.02)
    assert len(sensitive_column(*masked_by(data, AS_IT_IS), "ill").known) == 1
    few = RecordFile(pd.DataFrame({"ill": ["a", "b", "c", *[None] * 5]}))
    some, people = having(few, shown(few, [0, 1, 2, 3]), "ill").known
    np.testing.assert_allclose([some.prior[0], people.prior[0]], [3.5 / 5, 3.5 / 9])


def test_what_is_blanked_is_told_by_the_others():
    ill = np.repeat(["a", "b", "c", "d", "e"] * 4, 10)
    x = np.tile(["u"] * 9 + ["rare"], 20)
    data = pd.DataFrame({"g": np.repeat(TOWNS, 10), "ill": ill, "x": x})
    mask = {"method": "blank", "columns": ["ill", "x"], "k": 5, "priorities": ["ill", "x"]}
    assert risks(data, mask, ["g"], ["ill"], act=0.95)["attribute"] == 1
    age = np.repeat(np.arange(20, 40), 10)
    recode = {"method": "recode", "columns": ["age"], "cuts": {"age": [[25, 30, 35]]},
              "levels": {"age": 1}}  # fmt: skip
    rarer = data.assign(age=age).drop(columns="ill")
    then = {"method": "blank", "columns": ["age", "x"], "k": 8, "priorities": ["age", "x"]}
    column = sensitive_column(*masked_by(rarer, recode, then), "age")
    assert (column.truth >= 0).all()
    assert (column.truth == np.repeat(column.truth[::50], 50)).all()


def test_nothing_can_be_told_of_a_column_that_is_missing():
    data = pd.DataFrame({"g": np.repeat(TOWNS, 2), "m": None})
    found = risks(data, AS_IT_IS, ["g"], ["m"])
    assert found["attribute"] == 0
    assert found["perceived"] == risks(data, AS_IT_IS, ["g"])["perceived"]


def test_a_category_that_was_not_sampled_is_not_told():
    data = pd.DataFrame({"a": np.arange(40) % 7, "ill": ["one"] + ["no"] * 30 + ["yes"] * 9})
    for seed in range(5):
        steps = {"method": "sample", "records": 9}, {"method": "pram", "columns": ["ill"]}
        file, masked = masked_by(data, *steps, seed=seed)
        column = sensitive_column(file, masked, "ill")
        np.testing.assert_allclose(column.believed.sum(1), 1)
        if 0 not in masked.rows:
            assert column.believed[:, column.truth[0]].max() == 0


def test_values_that_are_mixed_up_after_they_were_grouped_are_told_as_groups():
    data = pd.DataFrame({"g": np.repeat(TOWNS, 5), "age": np.repeat(np.arange(20, 40), 5)})
    recode = {"method": "recode", "columns": ["age"], "cuts": {"age": [[30]]},
              "levels": {"age": 1}}  # fmt: skip
    pram = {"method": "pram", "columns": ["age"], "keep": 0.95}
    file, masked = masked_by(data, recode, pram)
    column = sensitive_column(file, masked, "age")
    assert len(column.prior) == 2
    assert risks(data, {"chain": [recode, pram]}, ["g"], ["age"], act=0.9)["attribute"] > 0.8


def test_a_sensitive_key_counts_as_a_key():
    data = pd.DataFrame({"g": np.repeat(TOWNS, 2), "ill": ["no", "yes"] * 20})
    found = risks(data, AS_IT_IS, ["g", "ill"], ["ill"])
    assert (found["identified"], found["attribute"]) == (1, None)  # not looked at, which is not 0


@pytest.mark.parametrize(
    "mask",
    [
        {"method": "sample", "share": 1.0},
        {"method": "pram", "columns": ["sex"], "keep": 0.8},
        {"method": "pram", "columns": ["ill"], "keep": 0.9},
        {"method": "synthesise", "model": "formula", "formula": "town*sex*ill"},
    ],
    ids=lambda mask: "-".join([mask["method"], *mask.get("columns", ())]),
)
def test_all_have_cancer_though_of_three_kinds(mask):
    """Levels of a hierarchy are told in a file as they are in a table."""
    rng = np.random.default_rng(3)
    kinds, share = ["lung", "skin", "bone", "flu", "no", "cold"], [0.1, 0.1, 0.1, 0.2, 0.3, 0.2]
    town, sex = rng.choice([*"abcdef"], 600), rng.choice([*"fm"], 600)
    ill = np.where(town == "a", rng.choice(kinds[:3], 600), rng.choice(kinds, 600, p=share))
    data = pd.DataFrame({"town": town, "sex": sex, "ill": ill})
    plan = {"keys": ["town", "sex"], "sensitive": ["ill"], "masks": [mask], "seed": 1}
    tree = {"ill": {"hierarchy": dict.fromkeys(kinds[:3], "cancer")}}
    plain, known = (
        dc.compare(data, plan, records=True, codebook=dc.Codebook.of(book)) for book in ({}, tree)
    )
    before, after = (one.tried[0].risks["attribute"] for one in (plain, known))
    assert after > before + 0.1
    assert str(known.verdict) == "FAIL"


def test_a_code_tells_a_level_of_a_masked_column():
    rng = np.random.default_rng(3)
    kinds = ["lung", "skin", "bone", "flu", "no", "cold"]
    data = pd.DataFrame({"town": rng.choice([*"abcdef"], 600), "ill": rng.choice(kinds, 600)})
    data.loc[data["town"] == "a", "ill"] = rng.choice(kinds[:3], (data["town"] == "a").sum())
    cancer = data["ill"].isin(kinds[:3])
    mask = {"method": "pram", "columns": ["ill"], "matrix": {
        "ill": {a: dict.fromkeys(kinds, 1 / 6) for a in kinds}}}  # fmt: skip
    plan = {"keys": ["town"], "sensitive": ["ill"], "masks": [mask], "seed": 1}
    book = dc.Codebook.of({"ill": {"hierarchy": dict.fromkeys(kinds[:3], "cancer")}})
    codes = np.where(cancer, rng.choice(["C1", "C2"], 600), rng.choice(["X1", "X2"], 600))
    for code, told in ((rng.permutation(codes), False), (codes, True)):
        found = dc.compare(data.assign(code=code), plan, records=True, codebook=book).tried[0]
        assert (found.risks["attribute"] > 0.1) is told


def test_levels_of_codes_that_are_numbers():
    """Codes 1 to 3 are cancers and 4 is none; few have 3 or 4, which stand next to each other."""
    rng = np.random.default_rng(3)
    town = rng.choice([*"abcdef"], 600)
    ill = rng.choice([1, 2, 3, 4, 6], 600, p=[0.15, 0.15, 0.03, 0.03, 0.64])
    cancers = rng.choice([1, 2, 3], 600, p=[0.4, 0.4, 0.2])
    data = pd.DataFrame({"town": town, "ill": np.where(town == "a", cancers, ill)})
    plan = {"keys": ["town"], "sensitive": ["ill"], "seed": 1}
    plan |= {"masks": [{"method": "sample", "share": 1.0}]}
    book = dc.Codebook.of({"ill": {"hierarchy": dict.fromkeys("123", "cancer")}})
    policy = dc.Policy().set(["masks.act=0.9"])
    found = dc.compare(data, plan, policy, records=True, codebook=book).tried[0]
    assert found.risks["attribute"] > 0.15


@pytest.mark.parametrize("mask", ["none", "pram"])
def test_what_follows_from_a_sensitive_column_is_as_sensitive(mask):
    """All of one town have an illness of one chapter, of three kinds; then of any chapter."""
    rng = np.random.default_rng(1)
    kinds = {"cancer": "xyz", "heart": "uvw", "other": "rst"}
    town = rng.choice([*"abcdefgh"], 800)
    anything = rng.choice([*kinds], 800)
    even = dict.fromkeys("xyzuvwrst", 1 / 9)
    hidden = {"method": "pram", "columns": ["ill"], "matrix": {"ill": dict.fromkeys(even, even)}}
    for chapter, told in ((np.where(town == "a", "cancer", anything), True), (anything, False)):
        data = pd.DataFrame({"town": town, "chapter": chapter})
        data["ill"] = [rng.choice([*kinds[one]]) for one in chapter]
        data.loc[rng.random(800) < 0.3, "ill"] = None  # who did not say which
        content = {"keys": ["town"], "sensitive": ["ill"], "seed": 1}
        content["masks"] = [{"method": "sample", "share": 1.0} if mask == "none" else hidden]
        found = dc.compare(data, content, dc.Policy().set(["masks.limit=0.05"]), records=True)
        assert (found.tried[0].risks["attribute"] > 0.1) is told
        assert (found.verdict == dc.Verdict.FAIL) is told
        assert "chapter follows from ill" in str(found.tried[0].said)


@pytest.mark.parametrize("write", ["labels", "+{}", "{}e0", "mixed", "{:02d}"])
def test_a_hierarchy_is_used_however_its_codes_are_written(write):
    """All of one town have cancer, of three kinds: by labels of codes, and by codes as written."""
    rng = np.random.default_rng(1)
    town = rng.choice([*"abcdefgh"], 800)
    ill = np.where(town == "a", rng.integers(1, 4, 800), rng.integers(1, 10, 800))
    labels = {}
    if write == "mixed":
        codes = {k: f"{k}.0" if k % 2 else str(k) for k in range(1, 10)}
    else:
        codes = {k: str(k) if write == "labels" else write.format(k) for k in range(1, 10)}
    if write == "labels":
        labels = {codes[k]: "uvwxyzrst"[k - 1] for k in codes}
    groups = {labels.get(codes[k], codes[k]): "cancer" if k < 4 else "other" for k in range(1, 10)}
    data = pd.DataFrame({"town": town, "ill": [codes[k] for k in ill]})
    book = Codebook({"ill": Entry(labels=labels, hierarchy=Hierarchy.of(groups))})
    content = {"keys": ["town"], "sensitive": ["ill"], "seed": 1}
    content["masks"] = [{"method": "sample", "share": 1.0}]
    found = dc.compare(data, content, codebook=book, records=True).tried[0]
    assert "ill (level 1)" in found.inferred
    assert found.risks["attribute"] > 0.1


def test_a_hierarchy_that_names_no_category_is_refused():
    data = pd.DataFrame({"town": [*"aabb"] * 9, "ill": ["01", "02", "03", "04"] * 9})
    tree = Hierarchy.of({"1": "cancer", "2": "cancer", "3": "other", "4": "other"})
    book = Codebook({"ill": Entry(hierarchy=tree)})
    content = {"keys": ["town"], "sensitive": ["ill"], "masks": [{"method": "sample", "share": 1}]}
    with pytest.raises(dc.DisclosureError, match="names none of its categories"):
        dc.compare(data, content, codebook=book, records=True)
