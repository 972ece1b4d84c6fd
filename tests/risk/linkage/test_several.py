"""Several intruders, and links as if records were drawn with replacement."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy.stats import lognorm, norm

from discreet.cli import main
from discreet.errors import DataError
from discreet.linkage import (
    Intruder,
    Records,
    identify,
    matching,
    several,
    with_replacement,
    with_replacement_links,
)

PEOPLE = pd.DataFrame(
    {"id": range(6), "age": [20.0, 24, 31, 40, 52, 53], "pay": [1.0, 3, 9, 4, 2, 7]}
)
MASKED = pd.DataFrame({"id": [1, 2, 5, 0], "age": [25.0, 30, 55, 22], "pay": [2.0, 8, 9, 1]})


def records_of(people, masked):
    sides = [
        {name: pa.chunked_array([pa.array(table[name], from_pandas=True)]) for name in table}
        for table in (people, masked)
    ]
    parents = [people["id"].tolist().index(k) for k in masked["id"]] if "id" in masked else None
    whose = None if parents is None else np.array(parents)
    return Records(*sides, len(people), len(masked), whose)


def found_by(name, spread, **more):
    intruder = Intruder.of({"keys": {name: {"kind": "normal", "spread": spread}}, **more})
    return identify(records_of(PEOPLE, MASKED), intruder), intruder


def test_ways_to_put_intruders_together():
    """Any: over all ways in which independent links are right; its bounds hold for all others."""
    each = [found_by("age", 3)[0], found_by("pay", 1)[0], found_by("age", 20)[0]]
    both = several(each, names=["a", "b", "c"], shares=[0.5, 0.25, 0.25])
    p = np.array([one.links.perceived for one in each])
    some = np.zeros(6)
    for right in product([0, 1], repeat=3):
        way = np.prod([np.where(r, q, 1 - q) for r, q in zip(right, p, strict=True)], 0)
        some += any(right) * way
    assert both.perceived["any"] == pytest.approx(some)
    assert both.perceived["worst"] == pytest.approx(p.max(0))
    assert both.perceived["average"] == pytest.approx(0.5 * p[0] + 0.25 * p[1] + 0.25 * p[2])
    assert (both.perceived["worst"] <= some + 1e-12).all()
    assert (some <= both.perceived["any_at_most"] + 1e-12).all()
    assert both.perceived["any_at_most"].max() <= 1
    linked = [one.linked for one in each]
    assert (both.linked == (linked[0] | linked[1] | linked[2])).all()
    right = [np.where(one.linked, one.correct, 0) for one in each]
    assert both.correct[0] == pytest.approx(np.max(right, 0).sum())  # no ties
    assert both.to_json()["true"]["risk"] == pytest.approx(both.correct[0] / 4)
    assert list(both.to_frame()) == ["a", "b", "c", "worst", "any", "any_at_most", "average",
                                     "linked"]  # fmt: skip
    first = both.most_exposed()[0]
    assert first["worst"] == pytest.approx(p.max())
    assert p[["a", "b", "c"].index(first["by"]), first["row"] - 1] == pytest.approx(p.max())


def test_one_intruder_alone():
    one = found_by("age", 3)[0]
    alone = several([one])
    for way in ("worst", "any", "any_at_most", "average"):
        assert alone.perceived[way] == pytest.approx(one.links.perceived)


def test_refused():
    one = found_by("age", 3)[0]
    intruder = Intruder.of({"keys": {"age": {"kind": "normal", "spread": 3}}})
    less = identify(records_of(PEOPLE.iloc[:5], MASKED.iloc[[0, 1]]), intruder)
    with pytest.raises(DataError, match="5 and 6 respondents"):
        several([one, less])
    with pytest.raises(DataError, match=r"sum to 0\.9"):
        several([one, one], shares=[0.5, 0.4])
    with pytest.raises(DataError, match="as many names"):
        several([one, one], names=["a"])
    with pytest.raises(DataError, match="no intruder"):
        several([])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("population", [None, 12])
def test_with_replacement(seed, population):
    """Section 5 by its formula, pair by pair, duplicates among records; strangers look average."""
    rng = np.random.default_rng(seed)
    sources = int(rng.integers(2, 7))
    y = pd.DataFrame({"v": rng.normal(0, 2, sources).round(int(rng.integers(0, 2)))})
    x = pd.DataFrame({"v": rng.normal(0, 2, int(rng.integers(1, min(5, sources) + 1))).round()})
    if y["v"].nunique() == 1:
        y.loc[0, "v"] += 1
    more = {} if population is None else {"population": population}
    intruder = Intruder.of({"keys": {"v": {"kind": "normal", "spread": 1.0}}, **more})
    found = identify(records_of(y, x), intruder)
    near = with_replacement(found, intruder)
    f = norm.pdf(x["v"].to_numpy()[None], y["v"].to_numpy()[:, None], 1.0)
    share = f / f.sum(0) * sources / (population or sources)
    p = np.array([[share[j, i] * np.prod([1 - share[j, k] for k in range(len(x)) if k != i])
                   for i in range(len(x))] for j in range(sources)])  # fmt: skip
    if population is None:
        assert p == pytest.approx(with_replacement_links(f))
    gap = np.abs(p - found.links.dense())
    assert near.largest == pytest.approx(gap.max(), abs=1e-9)
    assert near.mean == pytest.approx(gap.mean(), abs=1e-9)
    assert near.perceived == pytest.approx(p.max(1), abs=1e-9)
    assert near.approximate.total == pytest.approx(p.max(1).sum())
    assert near.equation == found.perceived


def test_table_1_with_replacement_and_on_the_log_scale():
    """Differences of up to .031. On the log scale 35 is nearest to 40.7, not to 30."""
    source = [9.8, 10.8, 14.1, 14.6, 14.7, 15.0, 30.0, 40.7, 47.1, 53.2]
    y, x = pd.DataFrame({"id": range(10), "v": source}), pd.DataFrame({"id": [5, 6], "v": [32.0,
                                                                       35.0]})  # fmt: skip
    intruder = Intruder.of({"keys": {"v": {"kind": "lognormal", "spread": 0.5}}})
    records = records_of(y, x)
    found = identify(records, intruder)
    f = np.array([lognorm.pdf([32, 35], 0.5, scale=m) for m in source])
    assert with_replacement(found, intruder).largest == pytest.approx(
        np.abs(with_replacement_links(f) - found.links.dense()).max()
    )
    assert [matching(records, intruder, found.data, distance=d).risk
            for d in ("absolute", "squared", "log", "log-squared")] == [0.5, 0.5, 0, 0]  # fmt: skip


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("distance", ["absolute", "squared", "log", "log-squared"])
def test_matching_with_weights(seed, distance):
    """Numbers, lognormal numbers and categories with the user's weights, record by record."""
    rng = np.random.default_rng(seed)
    many = int(rng.integers(3, 9))
    y = pd.DataFrame(
        {
            "id": range(many),
            "v": rng.normal(0, 2, many).round(1),
            "z": rng.lognormal(2, 1, many).round(2),
            "c": rng.choice(["a", "b"], many),
        }
    )
    y = y.astype({"c": str})  # fmt: skip
    x = y.iloc[rng.permutation(many)[: max(1, many // 2)]].copy()
    x["v"] += rng.normal(0, 1, len(x))
    x["z"] *= rng.lognormal(0, 0.5, len(x))
    x["c"] = np.where(rng.random(len(x)) < 0.3, rng.choice(["a", "b"], len(x)), x["c"])
    keys = {"v": {"kind": "normal", "spread": 1}, "z": {"kind": "lognormal", "spread": 0.5},
            "c": {"kind": "category", "keep": 0.7}}  # fmt: skip
    intruder, weights = Intruder.of({"keys": keys}), {"v": 0.3, "z": 2.0, "c": 0.7}
    if y["c"].nunique() == 1 or x["c"].nunique() == 1:
        y.loc[0, "c"], x["c"] = "b" if y["c"][0] == "a" else "a", x["c"].to_numpy()
    records = records_of(y, x)
    data = identify(records, intruder, act=0).data
    found = matching(records, intruder, data, distance=distance, weights=weights)
    power = 2 if distance.endswith("squared") else 1
    hits = 0
    for _, record in x.iterrows():
        away = np.zeros(many)
        for name in ("v", "z"):
            logs = name == "z" and distance.startswith("log")
            own = np.log(y[name]) if logs else y[name]
            value = np.log(record[name]) if logs else record[name]
            away += weights[name] * (np.abs(own - value) / own.std(ddof=0)).to_numpy() ** power
        away += weights["c"] * (y["c"] != record["c"]).to_numpy()
        mine = int(record["id"])
        hits += bool((np.delete(away, mine) > away[mine] + 1e-12).all())
    assert found.matched == hits
    assert found.to_json()["weights"] == weights


def test_a_number_that_the_source_lacks_tells_nothing():
    y = pd.DataFrame({"id": range(3), "v": [np.nan] * 3, "c": ["a", "b", "c"]})
    x = pd.DataFrame({"id": [2, 0], "v": [1.0, 2.0], "c": ["c", "b"]})
    keys = {"v": {"kind": "normal", "spread": 1}, "c": {"kind": "category", "keep": 0.9}}
    intruder, records = Intruder.of({"keys": keys}), records_of(y, x)
    assert matching(records, intruder, identify(records, intruder).data).matched == 1


def test_weights_are_checked():
    found, intruder = found_by("age", 3)
    records = records_of(PEOPLE, MASKED)
    for weights, words in (({"size": 1}, "of no key"), ({"age": -1}, "from 0 on"),
                           ({"age": 0.0}, "all weights are 0")):  # fmt: skip
        with pytest.raises(DataError, match=words):
            matching(records, intruder, found.data, weights=weights)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.assign(sd=2.0).to_csv("people.csv", index=False)
    MASKED.to_csv("masked.csv", index=False)
    for name, spread in (("age", 3), ("pay", 1)):
        text = f'[keys.{name}]\nkind = "normal"\nspread = {spread}\n'
        (tmp_path / f"{name}.toml").write_text(text)
    own = '[keys.age]\nkind = "laplace"\nspread = { column = "sd" }\n'
    (tmp_path / "own.toml").write_text(own)

    def running(*arguments):
        files = ["--source", "people.csv", "--released", "masked.csv", "--id", "id", "--records"]
        return CliRunner().invoke(main, ["identify", *files, *arguments])

    return running


def test_several_intruders_by_the_command(run):
    files = ["--intruder", "age.toml", "--intruder", "pay.toml", "--intruder", "own.toml"]
    said = json.loads(run(*files, "--json", "--compare", "with-replacement").stdout)
    assert [one["intruder"] for one in said["intruders"]] == ["age.toml", "pay.toml", "own.toml"]
    one = json.loads(run("--intruder", "pay.toml", "--json").stdout)
    assert said["intruders"][1]["perceived"] == one["perceived"]
    assert one["with_replacement"] is None
    assert said["intruders"][0]["with_replacement"]["largest"] > 0
    highest = max(i["perceived"]["pessimistic"] for i in said["intruders"])
    assert said["together"]["worst"]["pessimistic"] == highest
    shown = run(*files, "--harmless", "0.3", "--calibrate", "2", "--html", "page.html")
    assert shown.exit_code == 0, shown.output
    assert "linked by at least one of 3 intruders" in shown.stdout
    assert "some intruder, at most" in shown.stdout
    assert "own: " in shown.stdout
    with open("page.html", encoding="utf-8") as file:
        page = file.read()
    assert "double exponential error of standard deviation that sd gives" in page
    assert "The intruders do not tell each other" in page


def test_options_by_the_command(run):
    shown = run("--intruder", "age.toml", "--weight", "age=2", "--distance", "log-squared",
                "--compare", "with-replacement")  # fmt: skip
    assert "squared distance, of the logarithms of lognormal keys, weights age 2" in " ".join(
        shown.stdout.split()
    )
    assert "With replacement, an approximation" in shown.stdout
    wrong = run("--intruder", "age.toml", "--weight", "age")
    assert (wrong.exit_code, len(wrong.stderr.strip().splitlines())) == (2, 1)
    assert "write, for example, age=2" in wrong.stderr
