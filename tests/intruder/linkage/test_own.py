"""Beliefs that differ by respondent: equation (1) over all assignments, densities by scipy."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import laplace, lognorm, multivariate_normal, norm, uniform

from discreet.errors import DataError
from discreet.intruder.linkage.encode import encode
from discreet.linkage import (
    By,
    Intruder,
    Key,
    Kind,
    Records,
    Stated,
    calibration,
    compose,
    harmless,
    identify,
    link,
    matching,
    read_records,
)
from discreet.risk.linkage.calibration import draw_file

SEEDS = range(6)
TRUE = np.linspace(-10, 110, 120_001)


def all_assignments(densities):
    """Equation (1), one assignment of released records to sources after the other."""
    sources, released = densities.shape
    links = np.zeros_like(densities)
    for chosen in permutations(range(sources), released):
        pairs = list(chosen), range(released)
        links[pairs] += densities[pairs].prod()
    return links / links.sum(0)


def records_of(people, masked):
    """As `read_records` makes them of a file."""
    sides = [
        {name: pa.chunked_array([pa.array(table[name], from_pandas=True)]) for name in table}
        for table in (people, masked)
    ]
    return Records(*sides, len(people), len(masked))


def linked(people, masked, keys, dense=2_000_000, **more):
    intruder = Intruder.of({"keys": keys, **more})
    return link(records_of(people, masked), intruder, dense=dense)


def people_of(rng):
    many = int(rng.integers(2, 7))
    y = pd.DataFrame(
        {
            "v": rng.normal(50, 4, many),
            "w": rng.normal(10, 3, many),
            "sd": rng.uniform(0.5, 5, many),
            "wide": rng.uniform(4, 20, many),
            "mean": rng.normal(50, 4, many),
            "tax": rng.normal(50, 4, many),
            "credit": rng.normal(50, 4, many),
            "rho": rng.uniform(-0.9, 0.9, many),
            "region": rng.choice(["N", "S"], many),
        }
    ).astype({"region": str})
    released = int(rng.integers(1, min(4, many) + 1))
    x = pd.DataFrame({"v": rng.normal(50, 5, released), "w": rng.normal(10, 4, released)})
    return y, x


def grid(function, y, x):
    return np.array([[function(row, float(v)) for v in x["v"]] for _, row in y.iterrows()])


TENT = {"at": [-6.0, 0.0, 12.0], "is": [0.0, 3.0, 0.0]}


def tent(e):
    """Of area 1: 3 (6 + 12) / 2 = 27."""
    return np.maximum(0, np.where(np.less(e, 0), 1 + e / 6, 1 - e / 12)) * 3 / 27


KINDS = {
    "own spread": (
        {"kind": "normal", "spread": {"column": "sd"}},
        lambda p, x: norm.pdf(x, p.v, p.sd),
    ),
    "spread by region": (
        {"kind": "normal", "spread": {"column": "region", "values": {"N": 1, "S": 4}}},
        lambda p, x: norm.pdf(x, p.v, {"N": 1, "S": 4}[p.region]),
    ),
    "own mean and spread": (
        {"kind": "normal", "center": "mean", "spread": {"column": "sd"}},
        lambda p, x: norm.pdf(x, p["mean"], p.sd),
    ),
    "own median": (
        {"kind": "lognormal", "center": "mean", "spread": 0.1},
        lambda p, x: lognorm.pdf(x, 0.1, scale=p["mean"]),
    ),
    "lognormal": (
        {"kind": "lognormal", "spread": {"column": "region", "values": {"N": 0.05, "S": 0.3}}},
        lambda p, x: lognorm.pdf(x, {"N": 0.05, "S": 0.3}[p.region], scale=p.v),
    ),
    "laplace": (
        {"kind": "laplace", "spread": 3},
        lambda p, x: laplace.pdf(x, p.v, 3 / np.sqrt(2)),
    ),
    "own laplace": (
        {"kind": "laplace", "spread": {"column": "sd"}},
        lambda p, x: laplace.pdf(x, p.v, p.sd / np.sqrt(2)),
    ),
    "laplace of logarithms": (
        {"kind": "laplace", "spread": 0.2, "log": True},
        lambda p, x: laplace.pdf(np.log(x), np.log(p.v), 0.2 / np.sqrt(2)) / x,
    ),
    "uniform": (
        {"kind": "uniform", "spread": 30},
        lambda p, x: uniform.pdf(x, p.v - 30, 60),
    ),
    "own uniform": (
        {"kind": "uniform", "spread": {"column": "wide"}, "center": "v"},
        lambda p, x: uniform.pdf(x, p.v - p.wide, 2 * p.wide) + 1e-30,
    ),
    "written": (
        {"kind": "written", "density": TENT, "spread": 4},
        lambda p, x: tent((x - p.v) / 4) / 4,
    ),
    "two registers": (
        {"kind": "normal", "spread": 2,
         "sources": [{"column": "tax", "spread": 1.5}, {"column": "credit",
                                                        "spread": {"column": "sd"}}]},
        lambda p, x: registers(p, x),
    ),
    "unlike persons": (
        {"kind": "own", "column": "region",
         "of": {"N": {"kind": "uniform", "center": "mean", "spread": 40},
                "S": {"kind": "lognormal", "spread": 0.2}}},
        lambda p, x: (uniform.pdf(x, p["mean"] - 40, 80) if p.region == "N"
                      else lognorm.pdf(x, 0.2, scale=p.v)),
    ),
}  # fmt: skip


def registers(p, x):
    """Precisions add up, and masking adds its variance."""
    a, b = 1.5**-2, p.sd**-2
    return norm.pdf(x, (a * p.tax + b * p.credit) / (a + b), np.sqrt(1 / (a + b) + 4))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", KINDS)
def test_every_kind(name, seed):
    """Each against all assignments; a file that is impossible is refused."""
    y, x = people_of(np.random.default_rng(seed))
    said, density = KINDS[name]
    f = grid(density, y, x)
    if name == "own uniform":  # zeros: somebody must be able to have each record
        y["wide"] = 60.0
        f = grid(density, y, x)
    found = linked(y, x[["v"]], {"v": said})
    assert found.exact == 1
    assert found.dense() == pytest.approx(all_assignments(f), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_uniform_errors_exclude(seed):
    """Closed form: n of N sources that can have a record share it, if there is one record."""
    rng = np.random.default_rng(seed)
    y = pd.DataFrame({"v": rng.uniform(0, 10, 6), "wide": rng.uniform(2, 6, 6)})
    x = pd.DataFrame({"v": [float(y["v"][0] + 1)]})
    can = (np.abs(x["v"][0] - y["v"]) <= y["wide"]).to_numpy()
    plain = linked(y, x, {"v": {"kind": "uniform", "spread": 2.0}}).dense()[:, 0]
    near = (np.abs(x["v"][0] - y["v"]) <= 2).to_numpy()
    assert plain == pytest.approx(near / near.sum())
    own = linked(y, x, {"v": {"kind": "uniform", "spread": {"column": "wide"}}}).dense()[:, 0]
    weights = can / y["wide"].to_numpy()
    assert own == pytest.approx(weights / weights.sum())


def test_double_exponential_errors_weigh_absolute_distance():
    """Section 5: exp(-sqrt(2) |x - y| / spread), as squared distance of normal errors."""
    y, x = pd.DataFrame({"v": [1.0, 4.0, 9.0]}), pd.DataFrame({"v": [3.0]})
    found = linked(y, x, {"v": {"kind": "laplace", "spread": 2}}).dense()[:, 0]
    weights = np.exp(-np.sqrt(2) / 2 * np.array([2, 1, 6]))
    assert found == pytest.approx(weights / weights.sum())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [None, "normal", "laplace", "uniform"])
def test_sources_of_any_law(noise, seed):
    """The product of likelihoods, and what masking adds, by quadrature."""
    rng = np.random.default_rng(seed)
    y, x = people_of(rng)
    y, x = y.iloc[:4], x.iloc[:2]
    y["credit"] = y["tax"] + rng.normal(0, 2, len(y))
    stated = [
        {"column": "tax", "kind": "laplace", "spread": {"column": "sd"}},
        {"column": "credit", "kind": "uniform", "spread": 25},
        {"column": "v", "spread": 3.0},
        {"column": "tax", "kind": "written", "density": TENT, "spread": 3.0},
    ]
    chosen = [stated[k] for k in rng.permutation(4)[: int(rng.integers(1, 5))]]
    if all("kind" not in one for one in chosen):
        chosen.append(stated[0])
    said = {"kind": noise or "normal", "sources": chosen} | ({"spread": 1.5} if noise else {})

    def likelihood(p, t):
        value = 1.0
        for one in chosen:
            if one.get("kind") == "laplace":
                value *= laplace.pdf(p.tax, t, p.sd / np.sqrt(2))
            elif one.get("kind") == "uniform":
                value *= uniform.pdf(p.credit, t - 25, 50)
            elif one.get("kind") == "written":
                value *= tent((p.tax - t) / 3) / 3
            else:
                value *= norm.pdf(p.v, t, 3)
        return value

    masked = {
        "normal": lambda e: norm.pdf(e, 0, 1.5),
        "laplace": lambda e: laplace.pdf(e, 0, 1.5 / np.sqrt(2)),
        "uniform": lambda e: uniform.pdf(e, -1.5, 3),
    }

    def density(p, v):
        there = likelihood(p, TRUE)
        area = np.trapezoid(there, TRUE)
        if noise is None:
            return likelihood(p, v) / area
        return np.trapezoid(there * masked[noise](v - TRUE), TRUE) / area

    f = grid(density, y, x)
    if not ((f > 0).any(0).all() and possible(f)):
        with pytest.raises(DataError):
            linked(y, x[["v"]], {"v": said})
        return
    assert linked(y, x[["v"]], {"v": said}).dense() == pytest.approx(all_assignments(f), abs=2e-4)


def possible(f):
    many = f.shape[1]
    return any(f[list(c), range(many)].prod() > 0 for c in permutations(range(len(f)), many))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("own", ["spread", "correlation", "both", "neither"])
def test_correlated_errors(own, seed):
    """Against the bivariate normal density, with spreads and correlations of each person."""
    y, x = people_of(np.random.default_rng(seed))
    spread = {"column": "sd"} if own in ("spread", "both") else 3.0
    value = {"column": "rho"} if own in ("correlation", "both") else 0.6
    keys = {"v": {"kind": "normal", "spread": spread}, "w": {"kind": "normal", "spread": 2.0}}
    found = linked(y, x, keys, correlation=[{"keys": ["v", "w"], "value": value}])
    f = np.zeros((len(y), len(x)))
    for j, p in y.iterrows():
        s, r = (p.sd if own in ("spread", "both") else 3.0), 0.6
        r = p.rho if own in ("correlation", "both") else r
        cov = [[s * s, 2 * s * r], [2 * s * r, 4]]
        f[j] = multivariate_normal.pdf(x[["v", "w"]].to_numpy(), [p.v, p.w], cov)
    assert found.dense() == pytest.approx(all_assignments(f.reshape(len(y), -1)), abs=1e-9)


def test_covariance():
    """A covariance of 3.6 with spreads 3 and 2 is a correlation of .6."""
    keys = {"v": {"kind": "normal", "spread": 3}, "w": {"kind": "normal", "spread": 2}}
    found = Intruder.of({"keys": keys, "correlation": {"keys": ["v", "w"], "covariance": 3.6}})
    assert found.correlation["v", "w"] == pytest.approx(0.6)
    with pytest.raises(DataError, match="by its covariance"):
        Intruder.of({"keys": keys, "correlation": {"keys": ["v", "w"], "covariance": 7}})


@pytest.mark.parametrize("tied", [False, True])
def test_common_spreads_agree_with_the_quick_way(tied):
    """Spreads of a column that are all alike, missing values among them: what the kernels give."""
    rng = np.random.default_rng(5)
    y, x = (pd.DataFrame(rng.normal(0, 2, (n, 2)), columns=["v", "w"]) for n in (9, 5))
    y.loc[[1, 4], "v"], x.loc[[2], "v"], x.loc[[3], "w"], y["one"] = np.nan, np.nan, np.nan, 1.5
    more = {"correlation": [{"keys": ["v", "w"], "value": 0.5}]} if tied else {}
    first, second = (
        linked(y, x, {"v": {"kind": "normal", "spread": spread},
                      "w": {"kind": "normal", "spread": 1.0}}, **more).dense()
        for spread in (1.5, {"column": "one"})
    )  # fmt: skip
    assert second == pytest.approx(first, abs=1e-9)


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "normal", "spread": {"column": "sd"}},
        {"kind": "laplace", "spread": {"column": "sd"}},
        {"kind": "normal", "spread": 1, "sources": [{"column": "v", "kind": "laplace",
                                                     "spread": 2}]},
    ],
)  # fmt: skip
def test_what_pruning_leaves_out_is_stated(said):
    """Heavy tails and wide spreads: no source is cut off by distance; all but the 25 most probable
    are left out, and what that changes is no more than is said.
    """
    rng = np.random.default_rng(7)
    y = pd.DataFrame({"v": rng.normal(0, 30, 90), "w": rng.normal(0, 3, 90)})
    y["sd"] = np.where(rng.random(90) < 0.1, 40.0, 1.0)  # a few of whom little is known
    x = y.iloc[:30].assign(v=lambda t: t["v"] + rng.laplace(0, t["sd"] / np.sqrt(2)))
    keys = {"v": said, "w": {"kind": "normal", "spread": 1.0}}
    x = x[["v", "w"]].assign(w=lambda t: t["w"] + rng.normal(0, 1, 30))
    whole, pruned = (linked(y, x, keys, dense=d, top=25) for d in (10**6, 0))
    assert whole.lost == 0
    assert 0 < pruned.lost < 1e-2
    assert pruned.bound == 0
    gap = np.abs(whole.dense() - pruned.dense())
    assert gap.max() < 0.05
    assert gap.sum(0).mean() < 5 * pruned.lost + 1e-3
    every = linked(y, x, keys, dense=0, top=90)
    assert every.lost < 1e-6  # what weighs next to nothing
    assert every.dense() == pytest.approx(whole.dense(), abs=1e-4)


KEYS = (
    Key("v", Kind.NORMAL, spread_by=By("sd")),
    Key("w", Kind.LAPLACE, spread=(0.3,), center="mean", log=True),
    Key("a", Kind.UNIFORM, spread_by=By("region", {"N": 1.0, "S": 2.5})),
    Key("b", Kind.WRITTEN, density=((-1.0, 0.5, 2.0), (0.0, 1.0, 0.0))),
    Key(
        "c",
        Kind.NORMAL,
        spread=(1.5,),
        sources=(
            Stated("tax", spread=2.0),
            Stated("credit", Kind.WRITTEN, By("sd"), ((-1.0, 0.0, 1.0), (0.0, 1.0, 0.0))),
        ),
    ),
    Key("f", Kind.NORMAL, spread=(1.0, 2.0), weights=(0.5, 0.5), center="mean"),
    Key("d", Kind.LOGNORMAL, sources=(Stated("tax", Kind.LAPLACE, 0.2),)),
    Key(
        "e",
        Kind.OWN,
        column="region",
        of={
            "N": Key("e", Kind.UNIFORM, center="mean", spread=(4.0,)),
            "S": Key("e", Kind.NORMAL, spread=(1.0,)),
        },
    ),
)


def test_files_say_it_all(tmp_path):
    """Written and read back; a density may be a file of its own."""
    intruder = Intruder(KEYS, {("v", "c"): By("rho")})
    intruder.write(tmp_path / "who.toml")
    assert Intruder.read(tmp_path / "who.toml") == intruder
    (tmp_path / "errors.csv").write_text("error,density\n-1,0\n0,2\n3,0\n")
    (tmp_path / "who.toml").write_text('[keys.v]\nkind = "written"\ndensity = "errors.csv"\n')
    key = Intruder.read(tmp_path / "who.toml").keys[0]
    assert key.density == ((-1.0, 0.0, 3.0), (0.0, 2.0, 0.0))


BAD = [
    ({"kind": "laplace"}, "has no spread"),
    ({"kind": "laplace", "spread": 1, "keep": 0.5}, "'keep', which is not known"),
    ({"kind": "uniform", "spread": -1}, "above 0"),
    ({"kind": "normal", "spread": {"colum": "sd"}}, "'colum', which is not known"),
    ({"kind": "normal", "spread": {"values": {"a": 1}}}, "names no column"),
    ({"kind": "normal", "spread": 1, "center": 3}, "name a column"),
    ({"kind": "normal", "spread": 1, "center": "a", "sources": [{"column": "a", "spread": 1}]},
     "has center and sources"),
    ({"kind": "normal", "sources": []}, "a table"),
    ({"kind": "normal", "sources": [{"column": "a"}]}, "spread of source 1"),
    ({"kind": "normal", "sources": [{"column": "a", "spread": 1, "kind": "rank"}]}, "kind 'rank'"),
    ({"kind": "normal", "sources": [{"column": "a", "spread": 1, "sd": 1}]}, "'sd'"),
    ({"kind": "normal", "sources": [{"column": "a", "spread": 1}], "spread": "estimated"},
     "what masking adds"),
    ({"kind": "written"}, "has no density"),
    ({"kind": "written", "density": {"at": [0, 1], "is": [1]}}, "as many points"),
    ({"kind": "written", "density": {"at": [1, 0], "is": [1, 1]}}, "that rise"),
    ({"kind": "written", "density": {"at": [0, 1], "is": [0, 0]}}, "a height above 0"),
    ({"kind": "written", "density": "none.csv"}, "cannot read"),
    ({"kind": "laplace", "spread": 1, "log": 1}, "true or false"),
    ({"kind": "own", "column": "region"}, "says no belief"),
    ({"kind": "own", "column": "region", "of": {"N": {"kind": "rank", "window": 0.1}}},
     "is of kind rank"),
    ({"kind": "own", "of": {}}, "names no column"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "words"), BAD)
def test_wrong_files_are_refused(said, words):
    with pytest.raises(DataError, match=words):
        Intruder.of({"keys": {"v": said}})


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"kind": "normal", "spread": {"column": "sd"}}, "row 2 of the source has no number"),
        ({"kind": "normal", "spread": {"column": "region", "values": {"N": 1}}}, "'S'"),
        ({"kind": "own", "column": "region", "of": {"N": {"kind": "normal", "spread": 1}}}, "'S'"),
        ({"kind": "uniform", "spread": 0.1}, "density 0 under every source"),
        ({"kind": "normal", "sources": [{"column": "v", "kind": "uniform", "spread": 1},
                                        {"column": "w", "kind": "uniform", "spread": 1}]},
         "contradict each other in row 1"),
        ({"kind": "lognormal", "spread": {"column": "w"}}, "numbers above 0"),
    ],
)  # fmt: skip
def test_wrong_columns_are_refused(said, words):
    y = pd.DataFrame({"v": [1.0, -2.0], "w": [10.0, 12.0], "sd": [1.0, 0.0], "region": ["N", "S"]})
    with pytest.raises(DataError, match=words):
        linked(y, pd.DataFrame({"v": [5.0]}), {"v": said})


def test_columns_are_read_where_they_are():
    """The released file has the key, the source what is said of it."""
    y = pd.DataFrame({"m": [1.0, 2.0], "sd": [1.0, 2.0], "r": [0.1, 0.2], "w": [3.0, 4.0]})
    x = pd.DataFrame({"v": [1.5], "w": [3.5]})
    keys = {
        "v": {"kind": "normal", "center": "m", "spread": {"column": "sd"}},
        "w": {"kind": "normal", "spread": 1},
    }
    intruder = Intruder.of({"keys": keys, "correlation": {"keys": ["v", "w"],
                                                          "value": {"column": "r"}}})  # fmt: skip
    assert set(read_records(y, x, intruder, records=True).source) == {"m", "sd", "r", "w"}
    with pytest.raises(DataError, match="no column 'sd'"):
        read_records(y.drop(columns="sd"), x, intruder, records=True)


@pytest.mark.parametrize("key", [key for key in KEYS if key.personal], ids=lambda key: key.kind)
def test_drawn_files_have_the_stated_density(key):
    """Calibration draws each released value from its respondent's density."""
    rng = np.random.default_rng(3)
    y = pd.DataFrame({"mean": [5.0, 9.0], "sd": [1.0, 3.0], "tax": [4.0, 6.0]})
    y = y.assign(credit=[4.5, 5.0], region=["N", "S"], rho=0.5, **{key.name: [5.0, 8.0]})
    x = pd.DataFrame({key.name: np.full(2, 6.0)})
    data = encode(records_of(y, x), Intruder((key,)))
    one = data.own.beliefs[0]
    drawn = np.array([draw_file(data, 2, rng)[0].own.beliefs[0].x for _ in range(2)])
    assert np.isfinite(drawn).all()
    for j in range(2):
        some = one.drawn(np.full(4_000, j), rng)
        at = np.quantile(some, [0.1, 0.5, 0.9])
        fine = np.linspace(some.min() - 2, some.max() + 2, 401)
        fine = fine[fine > 0] if one.log else fine
        own = one.file(fine)
        f = np.array([own.logs(i, np.array([j]))[0] for i in range(len(fine))])
        f = np.exp(f)
        upto = np.concatenate([[0], np.cumsum((f[1:] + f[:-1]) / 2 * np.diff(fine))])
        below = np.interp(at, fine, upto)
        assert upto[-1] == pytest.approx(1, abs=5e-3)
        assert below == pytest.approx([0.1, 0.5, 0.9], abs=0.03)


def test_tied_errors_are_drawn_tied():
    y = pd.DataFrame({"v": [0.0, 0.0], "w": [0.0, 0.0], "sd": [1.0, 3.0], "rho": [0.8, -0.5]})
    x = pd.DataFrame({"v": np.zeros(2), "w": np.ones(2)})
    keys = (Key("v", Kind.NORMAL, spread_by=By("sd")), Key("w", Kind.NORMAL, spread=(2.0,)))
    data = encode(records_of(y, x), Intruder(keys, {("v", "w"): By("rho")}))
    rng = np.random.default_rng(0)
    many = np.repeat([0, 1], 20_000)
    own = replace(
        data.own, beliefs=tuple(one.file(np.zeros(len(many))) for one in data.own.beliefs)
    )
    made = own.drawn(many, set(), rng)
    a, b = (one.x.reshape(2, -1) for one in made.beliefs)
    assert a.std(1) == pytest.approx([1, 3], rel=0.03)
    assert [np.corrcoef(a[k], b[k])[0, 1] for k in range(2)] == pytest.approx([0.8, -0.5], abs=0.02)


def test_less_precise_and_calibrated():
    """Twice less precise is twice the spread; drawn files are linked."""
    rng = np.random.default_rng(1)
    y = pd.DataFrame({"v": rng.normal(0, 3, 8), "sd": rng.uniform(0.5, 2, 8)})
    x = y[["v"]].iloc[:5] + 0.3
    intruder = Intruder((Key("v", Kind.LAPLACE, spread_by=By("sd")),))
    records = records_of(y, x)
    found = harmless(records, intruder, limit=0.0)
    wide = linked(y.assign(sd=y["sd"] * 2), x, {"v": {"kind": "laplace", "spread": {
        "column": "sd"}}})  # fmt: skip
    assert dict(found.grid)[2.0] == pytest.approx(wide.perceived.max())
    assert found.without == {"v": pytest.approx(1 / 8)}
    trust = calibration(records, intruder, files=30)
    stated, right = np.array([(t.stated, t.right.value) for t in trust.tenths if t.right.of]).T
    assert np.abs(stated - right).mean() < 0.2


def test_reasons_and_matching():
    """The centre of what is believed is what records are matched to."""
    y = pd.DataFrame({"tax": [10.0, 20.0, 30.0], "credit": [12.0, 22.0, 28.0]})
    x = pd.DataFrame({"v": [11.0, 29.0]})
    key = Key("v", Kind.NORMAL, sources=(Stated("tax", spread=1.0), Stated("credit", spread=1.0)))
    intruder, records = Intruder((key,)), records_of(y, x)
    records = Records(records.source, records.released, 3, 2, np.array([0, 2]))
    found = identify(records, intruder)
    assert found.links.dense()[[0, 2], [0, 1]] == pytest.approx([1, 1])
    assert found.most_exposed()[0]["because"]["v"] == pytest.approx(3, abs=1e-6)
    assert matching(records, intruder, found.data).matched == 2


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (Key("v", Kind.UNIFORM), "has no spread"),
        (Key("v", Kind.WRITTEN), "no density"),
        (Key("v", Kind.WRITTEN, density=((1.0, 0.0), (1.0, 1.0))), "that rise"),
        (Key("v", Kind.NORMAL, sources=(Stated("w", Kind.RANK),)), "of kind rank"),
        (Key("v", Kind.NORMAL, sources=(Stated("w", Kind.LOGNORMAL),)), "make the key lognormal"),
        (Key("v", Kind.OWN), "give `column` and `of`"),
        (Key("v", Kind.LAPLACE, spread=(-1.0,)), "above 0"),
    ],
)
def test_wrong_keys_are_refused(key, words):
    y = pd.DataFrame({"v": [1.0, 2.0], "w": [1.0, 3.0]})
    with pytest.raises(DataError, match=words):
        link(records_of(y, y[["v"]]), Intruder((key,)))


def test_masks_do_not_compose_with_own_beliefs():
    """Noise upon a belief that differs by respondent: no key says both."""
    own = Key("v", Kind.NORMAL, spread_by=By("sd"))
    with pytest.raises(DataError, match="no key says both"):
        compose(own, Key("v", Kind.NORMAL, spread=(1.0,)))
    hidden = compose(own, Key("v", Kind.SUPPRESSED, suppressed=0.2))
    assert (hidden.spread_by, hidden.suppressed) == (own.spread_by, 0.2)


def test_suppressed_and_never_released():
    """A value is missing with probability .25: of two who are alike, the one with a value."""
    y = pd.DataFrame({"v": [1.0, np.nan, 4.0], "sd": [1.0, 1.0, 2.0]})
    x = pd.DataFrame({"v": [1.5, np.nan]})
    key = {"kind": "normal", "spread": {"column": "sd"}, "suppressed": 0.25, "missing": "kept"}
    found = linked(y, x, {"v": key}).dense()
    f = np.array([norm.pdf(1.5, 1, 1) * 0.75, 0, norm.pdf(1.5, 4, 2) * 0.75])
    gone = np.array([0.25, 1, 0.25])
    assert found == pytest.approx(all_assignments(np.column_stack([f, gone])), abs=1e-9)
