"""Global recoding: the search against all nodes, counted by pandas alone."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from discreet.data.hierarchy import Hierarchy
from discreet.errors import DataError
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.criteria import Criteria
from discreet.masks.records.file import RecordFile
from discreet.masks.records.recode import Recode, _values
from discreet.risk.uniques.anonymity import diversity, k_anonymity

LOSSES = ("height", "discernibility", "non-uniform entropy", "average class")
TREE = {"a": "ab", "b": "ab", "c": "cd", "d": "cd"}
ILLNESS = {"flu": "lungs", "cough": "lungs", "ulcer": "belly", "colic": "belly"}
CUTS = [[20, 40, 60], [40]]


def some_file(rng):
    n = int(rng.integers(12, 60))
    data = pd.DataFrame(
        {
            "region": rng.choice(list("abcd"), n),
            "age": rng.integers(10, 80, n) // 5 * 5,
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice([*ILLNESS], n, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    data.loc[:3, "ill"] = [*ILLNESS]
    if rng.random() < 0.4:
        data.loc[rng.integers(0, n, 2), "region"] = None
    trees = {"region": Hierarchy.of(TREE), "ill": Hierarchy.of(ILLNESS)}
    return RecordFile(data, trees)


def some_mask(rng):
    options = {"k": int(rng.integers(1, 6)), "loss": LOSSES[rng.integers(4)]}
    kind = rng.integers(4)
    if kind in (1, 3):
        options |= {"l": 2, "diversity": ("distinct", "entropy", "recursive")[rng.integers(3)]}
        options |= {"c": float(rng.choice([1.0, 2.0, 3.0]))}
    if kind in (2, 3):
        options |= {"t": float(rng.uniform(0.15, 0.5))}
        options |= {"distance": ("equal", "ordered", "hierarchical")[rng.integers(3)]}
    if kind:
        options["sensitive"] = "ill"
    elif options["k"] == 1:
        options["k"] = 2
    if rng.random() < 0.5:
        options["suppress"] = float(rng.choice([0.05, 0.1, 0.3]))
    return Recode(("region", "age", "sex"), cuts={"age": CUTS}, **options)


def recoded(data):
    """Every level of every column by hand, as numbers."""
    region, age, zero = data["region"].fillna("?"), data["age"], data["age"] * 0
    regions = [region, region.map(lambda v: TREE.get(v, v)), zero]
    ages = [age, *(pd.cut(age, [-1, *cuts, 999], right=False).astype(str) for cuts in CUTS), zero]
    columns = {"region": regions, "age": ages, "sex": [data["sex"], zero]}
    return {name: [pd.factorize(c)[0] for c in found] for name, found in columns.items()}


def mover(p, q, distance):
    """Earth mover's distance by linear programming, from the distances between values."""
    values = sorted(ILLNESS)
    m = len(values)
    cost = np.zeros((m, m))
    for i, j in itertools.permutations(range(m), 2):
        far = {"equal": 1, "ordered": abs(i - j) / (m - 1)}
        far["hierarchical"] = (2 - (ILLNESS[values[i]] == ILLNESS[values[j]])) / 2
        cost[i, j] = far[distance]
    rows, columns = np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))
    sums = np.concatenate([p, q])
    return linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=sums).fun


def distance_of(p, q, distance):
    if distance == "equal":
        return sum(max(0, a - b) for a, b in zip(p, q, strict=True))
    if distance == "ordered":
        return sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in range(3)) / 3
    belly = [i for i, v in enumerate(sorted(ILLNESS)) if ILLNESS[v] == "belly"]
    between = abs(sum(p[i] - q[i] for i in belly))
    moved = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    return between + (moved - between) / 2


def passes(counts, whole, mask):
    n = counts.sum()
    if n < mask.k:
        return False
    if mask.l > 1:
        share = counts[counts > 0] / n
        tail = np.sort(counts)[::-1]
        if mask.diversity == "distinct" and len(share) < mask.l:
            return False
        if mask.diversity == "entropy" and -(share @ np.log(share)) < math.log(mask.l) - 1e-9:
            return False
        if mask.diversity == "recursive" and not tail[0] < mask.c * tail[mask.l - 1 :].sum():
            return False
    apart = 0 if mask.t is None else distance_of(counts / n, whole / whole.sum(), mask.distance)
    return mask.t is None or apart <= mask.t + 1e-9


def loss_of(known, seen, sizes, out, levels, mask):
    n, kept = len(out), sizes[~out]
    many = sum(1 / kept)
    if mask.loss == "height":
        return sum(levels)
    if mask.loss == "discernibility":
        return kept.sum() + n * out.sum()
    if mask.loss == "average class":
        return n / (many + bool(out.any())) / mask.k
    total = 0.0
    for name, own in known.items():
        before, after = np.bincount(own[0])[own[0]], np.bincount(seen[name])[seen[name]]
        total += np.log2(np.where(out, n, after) / before).sum()
    return total


def best_of_all(file, mask):
    """Loss, then height, then the order of levels, over all nodes."""
    found, known = [], recoded(file.data)
    ill = file.data["ill"].map(sorted(ILLNESS).index).to_numpy()
    for levels in itertools.product(range(3), range(4), range(2)):
        seen = pd.DataFrame({n: known[n][v] for n, v in zip(known, levels, strict=True)})
        key = seen["region"] * 10_000 + seen["age"] * 10 + seen["sex"]
        groups = key.groupby(key).indices.values()
        out, sizes = np.zeros(len(ill), bool), np.zeros(len(ill))
        for rows in groups:
            sizes[rows] = len(rows)
            out[rows] = not passes(np.bincount(ill[rows], minlength=4), np.bincount(ill), mask)
        if out.sum() <= mask.suppress * len(ill) + 1e-9:
            found.append((loss_of(known, seen, sizes, out, levels, mask), sum(levels), levels))
    if not found:
        return None
    least = min(loss for loss, _, _ in found)
    return min((height, levels) for loss, height, levels in found if loss <= least * (1 + 1e-9))


def test_optimal_equals_exhaustive_search_on_50_lattices():
    rng = np.random.default_rng(18)
    looked = nodes = 0
    for _ in range(50):
        file, mask = some_file(rng), some_mask(rng)
        wanted = best_of_all(file, mask)
        if wanted is None:
            with pytest.raises(DataError, match="no levels"):
                mask.search(file)
            continue
        found = mask.search(file)
        assert (sum(found.levels), found.levels) == wanted
        looked, nodes = looked + found.looked, nodes + found.nodes
        masked = mask.apply(file, rng)
        assert mask.broken(file, masked) == []
        assert masked.parameters["levels"] == dict(zip(found.columns, found.levels, strict=True))
    assert nodes > 900
    assert looked < 0.8 * nodes


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_distances_are_least_costs_of_moving(distance):
    rng = np.random.default_rng(4)
    for _ in range(5):
        p, q = rng.dirichlet(np.ones(4), 2)
        file = RecordFile(pd.DataFrame({"ill": sorted(ILLNESS)}), {"ill": Hierarchy.of(ILLNESS)})
        _, tree = _values(file, "ill")
        found = Criteria(t=1.0, distance=distance, tree=tree).moved((p - q)[None, :])
        assert found[0] == pytest.approx(mover(p, q, distance), abs=1e-9)
        assert found[0] == pytest.approx(distance_of(p, q, distance), abs=1e-9)


def test_peers_measures_agree():
    """What the library says elsewhere of the released file."""
    rng = np.random.default_rng(3)
    file = some_file(rng)
    asked = {"k": 3, "l": 2, "sensitive": "ill", "loss": "discernibility"}
    mask = Recode(("region", "age", "sex"), cuts={"age": CUTS}, **asked)
    masked = mask.apply(file, rng)
    names = ["region", "age", "sex"]
    assert k_anonymity(masked.data, names, records=True).k >= 3
    assert diversity(masked.data, names, "ill", records=True).distinct.min() >= 2


def test_keys_say_what_became_of_each_value():
    data = pd.DataFrame({"region": ["a", "b", "c", None], "age": [15, 35, 70, None]})
    file = RecordFile(data, {"region": Hierarchy.of(TREE)})
    mask = Recode(("region", "age"), levels={"region": 1, "age": 1}, cuts={"age": CUTS})
    masked = mask.apply(file, np.random.default_rng(1))
    assert masked.data["region"].fillna("?").tolist() == ["ab", "ab", "cd", "?"]
    assert masked.data["age"].fillna("?").tolist() == ["< 20", "[20, 40)", ">= 60", "?"]
    region, age = masked.keys["region"], masked.keys["age"]
    assert region.kind is Kind.CATEGORY
    assert region.matrix == {"a": {"ab": 1.0}, "b": {"ab": 1.0}, "c": {"cd": 1.0}}
    assert (age.kind, age.cuts) == (Kind.INTERVAL, (20.0, 40.0, 60.0))
    assert age.labels == ("< 20", "[20, 40)", "[40, 60)", ">= 60")
    assert mask.broken(file, masked) == []


def test_the_last_level_is_one_for_everybody():
    file = RecordFile(pd.DataFrame({"sex": ["f", "m", None, "f"]}))
    masked = Recode("sex", k=2).apply(file, np.random.default_rng(1))
    assert masked.data["sex"].tolist() == ["*"] * 4
    assert masked.keys["sex"].seen.tolist() == ["*"] * 4


def test_records_left_out_are_blanked():
    file = RecordFile(pd.DataFrame({"sex": list("fffffffffm"), "town": list("aaaaabbbbb")}))
    masked = Recode(("sex", "town"), k=3, suppress=0.1).apply(file, np.random.default_rng(1))
    assert masked.data.isna().to_numpy().tolist() == [[False, False]] * 9 + [[True, True]]
    assert masked.keys["town"].kind is Kind.SHARED
    assert masked.keys["town"].seen.tolist() == [*"aaaaabbbb", ""]
    assert Recode(("sex", "town"), k=3, suppress=0.1).broken(file, masked) == []


def test_a_broken_promise_is_found():
    file = RecordFile(pd.DataFrame({"sex": list("ffmm"), "town": list("aabb")}))
    mask = Recode(("sex", "town"), k=2)
    masked = mask.apply(file, np.random.default_rng(1))
    assert mask.broken(file, masked) == []
    masked.data.loc[0, "town"] = "b"
    assert len(mask.broken(file, masked)) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"columns": "sex"}, "nothing to reach"),
        ({"columns": "sex", "k": 2, "loss": "most"}, "loss is 'most'"),
        ({"columns": "sex", "k": 2, "l": 2}, "name it as sensitive"),
        ({"columns": "sex", "levels": {"sex": 9}}, "from 0 to 1"),
        ({"columns": "sex", "k": 9}, "no levels"),
        ({"columns": "age", "k": 2, "cuts": {"age": [[3, 1]]}}, "rising order"),
        ({"columns": "age", "k": 2, "cuts": {"age": [[1], [2]]}}, "cut there too"),
        ({"columns": "town", "k": 2}, "no column 'town'"),
    ],
)
def test_errors_name_the_value(options, said):
    file = RecordFile(pd.DataFrame({"sex": list("ffmm"), "age": [1, 2, 3, 4]}))
    with pytest.raises(DataError, match=said):
        Recode.of(options).apply(file, np.random.default_rng(1))
