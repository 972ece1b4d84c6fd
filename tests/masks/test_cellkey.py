"""Cell keys: properties, simulation, and what an intruder believes."""

import numpy as np
import pytest

from discreet.data.codebook import Variable
from discreet.errors import DataError, DisclosureError
from discreet.masks.cellkey import (
    Amounts,
    Flex,
    PTable,
    Simple,
    amount_ptable,
    as_fractions,
    cell_key,
    cell_key_amounts,
    count_ptable,
    empty_keys,
    fingerprint,
    from_fractions,
    likelihood,
    perturbed,
    posterior,
    read_ptable,
    record_keys,
    row_keys,
    top,
    write_ptable,
)
from discreet.masks.cellkey.continuous import turned
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System

SECRET = "a secret of the office"


def variable(name, size):
    return Variable(name, tuple(f"{name}{code}" for code in range(size)))


def crossed(*sizes):
    lines = [Grouping.of(variable(f"v{axis}", size)) for axis, size in enumerate(sizes)]
    return System.of([Sheet("1", tuple(lines))])


@pytest.mark.parametrize("js", [0, 1, 3])
@pytest.mark.parametrize("mono", [True, False])
def test_conditions_of_the_table(js, mono):
    table = count_ptable(6, 4.5, js=js, mono=mono)
    for i in range(1, int(table.largest) + 1):
        row = table.i == i
        p, v, j = table.p[row], table.v[row], table.j[row]
        assert p.sum() == pytest.approx(1, abs=1e-8)
        assert abs(p @ v) < 1e-6
        assert p @ v**2 <= 4.5 + 1e-6
        assert np.abs(v).max() <= 6
        assert ((j == 0) | (j > js)).all()
        if mono and (v == 0).any():
            assert (np.diff(p[: int(np.flatnonzero(v == 0)[0]) + 1]) > -1e-7).all()


def test_no_other_distribution_has_more_entropy():
    """Directions that keep sum, mean and variance only lose."""
    table = count_ptable(4, 2)
    row = table.i == 4
    p, v = table.p[row], table.v[row]
    rng = np.random.default_rng(0)
    keep = np.stack([np.ones(len(v)), v, v**2])
    _, _, basis = np.linalg.svd(keep)
    for _ in range(50):
        step = basis[3:].T @ rng.normal(size=len(v) - 3) * 1e-3
        other = p + step
        if (other > 0).all():
            assert -(other * np.log(other)).sum() < -(p * np.log(p)).sum() + 1e-9


def test_impossible_tables():
    with pytest.raises(DisclosureError, match="variance"):
        count_ptable(3, 0.2, js=2)
    for wrong in ({"D": 0}, {"pstay": 1.5}, {"optim": 5}, {"mono": (True, False)}, {"js": -1}):
        with pytest.raises(DataError):
            count_ptable(**({"D": 3, "V": 1.0} | wrong))


@pytest.mark.parametrize("tool", ["all", "TauArgus", "SAS"])
def test_files(tmp_path, tool):
    table = count_ptable(5, 3, js=2).shuffled(0.2, np.random.default_rng(1))
    path = tmp_path / "ptable.csv"
    write_ptable(table, path, tool=tool)
    again = read_ptable(path)
    for name in ("i", "j", "p", "v", "lower", "upper"):
        assert np.allclose(getattr(table, name), getattr(again, name), atol=1e-8)
    header = path.read_text().splitlines()[0]
    assert ("p_int_lb" in header) == (tool != "TauArgus")


def test_a_file_as_r_writes_it(tmp_path):
    path = tmp_path / "ptable.txt"
    path.write_text(
        "i;j;p;v;p_int_ub\n0;0;1.00000000; 0;1.00000000\n1;0;0.36250000;-1;0.36250000\n"
        "1;1;0.36250000; 0;0.72500000\n1;2;0.18750000; 1;0.91250000\n1;3;0.08750000; 2;1.00000000\n"
    )
    table = read_ptable(path)
    assert table.noise([1, 1, 1, 1, 0], [0, 0.3625, 0.8, 0.99, 0.5]).tolist() == [-1, 0, 1, 2, 0]
    path.write_text("i;j;p_int_ub\n1;0;0.5\n1;1;0.9\n")
    with pytest.raises(DataError, match="i = 1"):
        read_ptable(path)
    path.write_text("i;p\n1;0\n")
    with pytest.raises(DataError, match="column"):
        read_ptable(path)


def test_pieces_in_random_order_have_the_same_probabilities():
    table = count_ptable(3, 1.5)
    mixed = table.shuffled(0.1, np.random.default_rng(3))
    assert np.allclose(likelihood(table, 9), likelihood(mixed, 9), atol=1e-6)
    assert mixed.p[mixed.i > 0].max() <= 0.1 + 1e-8
    assert (np.diff(mixed.v[mixed.i == 3]) < 0).any()


def test_record_keys():
    keys = record_keys(SECRET, 20_000)
    assert (keys == record_keys(SECRET, range(20_000))).all()
    assert (keys[:50] != record_keys(SECRET + "!", 50)).all()
    shares = np.histogram(as_fractions(keys), 20, (0, 1))[0] / 1000
    assert np.abs(shares - 1).max() < 0.16
    assert fingerprint(SECRET) != fingerprint(SECRET + "!")
    assert SECRET not in fingerprint(SECRET)
    with pytest.raises(DataError, match="guessed"):
        record_keys("short", 3)
    assert np.allclose(as_fractions(from_fractions([0, 0.25, 0.999])), [0, 0.25, 0.999])
    with pytest.raises(DataError):
        from_fractions([1.0])


def test_same_people_same_noise_in_every_table():
    rng = np.random.default_rng(1)
    codes = {name: rng.integers(0, 4, 900) for name in ("x", "y", "z")}
    keys, table = record_keys(SECRET, 900), count_ptable(5, 3, js=2)
    x, y, z = (Grouping.of(variable(name, 4)) for name in "xyz")
    apart, together = [], System.of([Sheet("1", (x, y)), Sheet("2", (x, z))])
    order = rng.permutation(900)
    for system in (together, System.of([Sheet("3", (z, x))])):
        counts = system.sums @ system.fine(codes, np.ones(900))
        shuffled = {name: code[order] for name, code in codes.items()}
        own = row_keys(system, shuffled, keys[order])
        apart.append(cell_key(system, counts, own, table, secret=fingerprint(SECRET)))
    first = apart[0].values[together.places[1]]
    assert (first == apart[1].values[apart[1].system.places[0]].T).all()
    assert apart[0].printed is None
    assert apart[0].parameters["secret"] == fingerprint(SECRET)
    assert SECRET not in repr(apart[0].parameters)


def test_zeros_that_move():
    """A table of an office whose zeros may become 1: keys of cells, the same in every table."""
    table = PTable(
        np.array([0.0, 0, 1, 1, 1]),
        np.array([0.0, 1, 0, 1, 2]),
        np.array([0.75, 0.25, 0.25, 0.5, 0.25]),
        np.array([0.0, 1, -1, 0, 1]),
        np.array([0.0, 0.75, 0, 0.25, 0.75]),
        np.array([0.75, 1, 0.25, 0.75, 1]),
        np.full(5, "all"),
    )
    x, y = Grouping.of(variable("x", 60)), Grouping.of(variable("y", 50))
    one, other = System.of([Sheet("1", (x, y))]), System.of([Sheet("2", (y, x))])
    none = np.zeros(one.cells)
    keys = none.astype(np.uint64)
    with pytest.raises(DataError, match="empty_keys"):
        cell_key(one, none, keys, table)
    shown = [cell_key(s, none, keys, table, empty=empty_keys(s, SECRET)) for s in (one, other)]
    first, second = (m.values[m.system.places[0]] for m in shown)
    assert (first == second.T).all()
    assert abs(first.mean() - 0.25) < 4.5 * np.sqrt(0.19 / one.cells)
    small = crossed(2)
    seen = np.zeros(3, int)
    found = posterior(small, seen, table)
    # nobody: three empty cells; one person: the total has the same noise; two are never shown as 0
    nobody, one_person = 0.75**3, 0.25 * 0.75
    expected = (nobody + one_person) / (nobody + 2 * one_person)
    assert found.chances[0, 0] == pytest.approx(expected, abs=1e-12)


def test_noise_over_cells():
    """Mean zero, the variance of the table, no small counts, zeros stay."""
    system, table = crossed(60, 50), count_ptable(5, 3, js=2)
    rng = np.random.default_rng(2)
    fine = rng.integers(8, 30, system.columns)
    fine[:200] = 0
    codes = np.repeat(np.arange(system.columns), fine)
    keys = row_keys(system, {"v0": codes // 50, "v1": codes % 50}, record_keys(SECRET, len(codes)))
    counts = system.sums @ fine
    noise = cell_key(system, counts, keys, table).values - counts
    assert (noise[counts == 0] == 0).all()
    noise = noise[counts > 0]
    assert abs(noise.mean()) < 4 * np.sqrt(3 / len(noise))
    assert noise.var() == pytest.approx(3, abs=0.35)
    with pytest.raises(DataError):
        cell_key(system, counts[:4], keys, table)
    mixed = table.shuffled(0.1, rng)
    assert table.ordered
    assert not mixed.ordered
    assert any("shuffle" in line for line in cell_key(system, counts, keys, table).said)
    assert not any("shuffle" in line for line in cell_key(system, counts, keys, mixed).said)


def test_likelihood_by_simulation():
    table = count_ptable(3, 1.5, js=1)
    matrix = likelihood(table, 7)
    rng = np.random.default_rng(0)
    assert np.allclose(matrix.sum(1), 1)
    for count in range(8):
        shown = count + table.noise(np.full(50_000, count), rng.random(50_000))
        share = np.bincount(shown.astype(int), minlength=11) / 50_000
        assert np.abs(share - matrix[count]).max() < 4.5 * 0.5 / np.sqrt(50_000)


def same_people(tables, sums):
    """Which rows hold the same people as an earlier one, table by table."""
    inside = (tables[:, None, :] * sums[None]) > 0
    bits = inside @ (1 << np.arange(tables.shape[1]))
    first = np.argmax(bits[:, :, None] == bits[:, None, :], axis=2)
    return first


def simulated(system, shown, table, draw, batches, by_records, rng):
    """Tables from the prior whose perturbed sums are as shown."""
    sums = system.sums.toarray().astype(int)
    kept = []
    for _ in range(batches):
        tables = draw(100_000)
        near = (np.abs(tables @ sums.T - shown) <= table.reach).all(1)
        tables = tables[near]
        if by_records:
            cells = np.where(tables > 0, rng.random(tables.shape), 0.0)
            keys = (cells @ sums.T) % 1.0
        else:
            keys = rng.random((len(tables), len(sums)))
            keys = np.take_along_axis(keys, same_people(tables, sums), 1)
        counts = tables @ sums.T
        good = np.ones(len(tables), bool)
        for row in range(len(sums)):
            noisy = counts[good, row] + table.noise(counts[good, row], keys[good, row])
            good[np.flatnonzero(good)[noisy != shown[row]]] = False
        kept.append(tables[good])
    return np.concatenate(kept)


def agrees(beliefs, tables):
    values = np.arange(beliefs.chances.shape[1])
    share = (tables[:, :, None] == values).mean(0)
    error = np.sqrt(beliefs.chances * (1 - beliefs.chances) / len(tables) + beliefs.error**2)
    assert len(tables) > 300
    assert (np.abs(share - beliefs.chances) <= 4 * error + 2 / len(tables)).all()


def case(seed, sizes=(2, 2), D=2, V=0.9):
    system, rng = crossed(*sizes), np.random.default_rng(seed)
    true = rng.poisson(2.0, system.columns)
    table = count_ptable(D, V)
    sums = system.sums.toarray()
    keys = (np.where(true > 0, rng.random(system.columns), 0) @ sums.T) % 1.0
    counts = sums @ true
    return system, table, (counts + table.noise(counts, keys)).astype(int), rng


@pytest.mark.parametrize("seed", [3, 8])
def test_posterior_when_cells_are_perturbed_apart(seed):
    system, table, shown, rng = case(seed, (3,), 1, 0.5)
    found = posterior(system, shown, table, means=2.0)
    assert found.method == "enumerate"
    drawn = simulated(
        system, shown, table, lambda n: rng.poisson(2.0, (n, 3)), 6, by_records=False, rng=rng
    )
    agrees(found, drawn)
    assert found.said


def test_posterior_by_keys_of_records():
    system, table, shown, rng = case(5, (3,), 1, 0.5)
    found = posterior(system, shown, table, means=2.0, keys="records", rng=rng)
    drawn = simulated(
        system, shown, table, lambda n: rng.poisson(2.0, (n, 3)), 6, by_records=True, rng=rng
    )
    agrees(found, drawn)


def test_a_walk_over_tables_and_keys_agrees_with_draws():
    for seed in (1, 4):
        system, table, shown, rng = case(seed)
        drawn = posterior(system, shown, table, means=2.0, keys="records", method="draw", rng=rng)
        walked = posterior(
            system, shown, table, means=2.0, keys="records", method="walk", rng=rng, effort=0.5
        )
        error = np.sqrt(drawn.error**2 + walked.error**2)
        assert (np.abs(drawn.chances - walked.chances) <= 4.5 * error + 3e-3).all()
        assert walked.ess > 300


def test_a_walk_over_keys_where_not_all_is_printed():
    """Fine cells are not shown; the walk takes them along."""
    one, other = Grouping.of(variable("x", 2)), Grouping.of(variable("y", 2))
    system = System.of([Sheet("1", (one, other))])
    inner = Grouping.cut(one.variable, {"x0": ["x0"]}, total=True)
    coarse = System.of([Sheet("1", (inner, other))])
    assert coarse.columns == system.columns == 4
    table, rng = count_ptable(1, 0.5), np.random.default_rng(6)
    sums = coarse.sums.toarray().astype(int)
    true = np.array([2, 1, 3, 1])
    keys = (rng.random(4) @ sums.T) % 1.0
    shown = (sums @ true + table.noise(sums @ true, keys)).astype(int)
    found = posterior(coarse, shown, table, means=2.0, keys="records", rng=rng, effort=0.5)
    assert found.method == "walk with keys"
    drawn = simulated(
        coarse, shown, table, lambda n: rng.poisson(2.0, (n, 4)), 40, by_records=True, rng=rng
    )
    agrees(found, drawn)


def test_sums_of_keys_may_tell_what_the_product_leaves_in_doubt():
    """Rows 6 3 3 / 6 1 3 / 3 3 0: with keys of records only 1 3 / 2 0 is possible."""
    system, table = crossed(2, 2), count_ptable(2, 0.9)
    shown = np.zeros(9, int)
    shown[system.places[0]] = [[6, 3, 3], [6, 1, 3], [3, 3, 0]]
    apart = posterior(system, shown, table, means=2.0)
    rng = np.random.default_rng(1)
    exact = posterior(system, shown, table, means=2.0, keys="records", rng=rng, effort=0.1)
    assert apart.chances[0].max() < 0.6
    assert exact.chances.argmax(1).tolist() == [1, 3, 2, 0]
    assert exact.chances.max(1).min() > 0.99
    assert "may know more" in apart.said[0]


@pytest.mark.parametrize("prior", [{}, {"means": 3.0}, {"means": 3.0, "total": 9}])
def test_a_walk_agrees_with_every_table(prior):
    system, table, _, rng = case(2)
    shown = np.zeros(9, int)
    shown[system.places[0]] = [[9, 5, 4], [6, 4, 2], [3, 1, 2]]
    exact = posterior(system, shown, table, **prior)
    walked = posterior(system, shown, table, method="walk", rng=rng, effort=0.5, **prior)
    assert walked.ess > 1_000
    gap = np.abs(exact.chances - walked.chances)
    assert (gap <= 4.5 * walked.error + 1e-3).all()


def test_posterior_with_a_total_by_hand():
    """Two cells and a known total of 2: 0 2, 1 1 or 2 0, weighed by hand."""
    system, table = crossed(2), count_ptable(1, 0.5)
    places = system.places[0]
    shown = np.zeros(3, int)
    shown[places] = [2, 1, 1]
    found = posterior(system, shown, table, means=1.0, total=2)
    # 0 is never shown as 1, so both are 1
    assert found.chances[:, 1].tolist() == [1, 1]
    assert found.tables == 1


def test_posterior_of_a_total_over_one_cell():
    """An empty cell makes the total the other cell: it must be shown alike."""
    system, table = crossed(2), count_ptable(1, 0.5)
    shown = np.zeros(3, int)
    shown[system.places[0]] = [3, 2, 0]
    found = posterior(system, shown, table)
    matrix = likelihood(table, 4)
    weights = {}
    for a in range(5):
        for b in range(5):
            if a and b:  # with an empty cell the total would be shown as the other
                weight = matrix[a, 2] * matrix[b, 0] * matrix[min(a + b, 4), 3] * (a + b <= 4)
                weights[a, b] = weight
    whole = sum(weights.values())
    for a in range(4):
        assert found.chances[0, a] == pytest.approx(
            sum(w for (x, _), w in weights.items() if x == a) / whole, abs=1e-9
        )


def test_wrong_questions():
    system, table = crossed(2), count_ptable(1, 0.5)
    for wrong in (
        {"shown": [1, 1]},
        {"shown": [50, 1, 1]},
        {"means": 0.0},
        {"method": "walk"},
        {"method": "guess"},
        {"keys": "guess"},
        {"shown": [2, 1, 1], "total": 40},
    ):
        given = {"shown": [2, 1, 1]} | wrong
        with pytest.raises(DisclosureError):
            posterior(system, given.pop("shown"), table, **given)


AMOUNTS = amount_ptable(10, 3, icat=(1, 5, 10), step=2, optim=(4, 1, 1))


def test_flex_function():
    """cellKey's: p_small at the flex point, p_large far out, without a jump."""
    flex = Flex(1000, (0.20, 0.03), (1.0, 0.5, 0.3), q=2)
    assert flex.magnitude(999.999, 0) == flex.magnitude(1000, 0) == pytest.approx(0.2)
    assert flex.magnitude(1e12, 0) == pytest.approx(0.03, rel=1e-3)
    assert flex.magnitude(5000, 1) == flex.magnitude(5000, 0) / 2


def test_turned_keys():
    assert turned(0.12345678, 3) == [0.12345678, 0.23456781, 0.34567812]
    assert turned(0.5, 2) == [0.5, 0.00000005]


@pytest.mark.parametrize(
    "multiplier", [Simple(0.1, (1.0, 0.5)), Flex(500, (0.2, 0.05), (1.0, 0.5))]
)
def test_amounts_are_unbiased_and_keep_their_sign(multiplier):
    amounts = Amounts(AMOUNTS, multiplier, top_k=2)
    rng = np.random.default_rng(1)
    keys = rng.integers(0, 10**8, 4_000) / 10**8
    for value, largest in ((5_000.0, [900.0, 400.0]), (950.0, [900.0, 50.0]), (-80.0, [-60, 30])):
        shown = np.array([perturbed(value, largest, key, amounts) for key in keys])
        assert (shown * value >= 0).all()
        if abs(value) > 3 * AMOUNTS.reach * abs(largest[0]) * multiplier.small / 2:
            assert abs(shown.mean() - value) < 4.5 * shown.std() / np.sqrt(len(keys))
        assert shown.std() > 0
    one = Amounts(AMOUNTS, Simple(0.1), top_k=1)
    shown = np.array([perturbed(5_000.0, [900.0], key, one) for key in keys])
    assert shown.std() == pytest.approx(90 * np.sqrt(3), rel=0.05)


def test_small_cells_and_sensitive_cells():
    small = amount_ptable(5, 1, icat=(1, 3, 5), step=5, optim=(4, 1, 1), kind="small_cells")
    both = type(AMOUNTS)(
        *(
            np.concatenate([getattr(AMOUNTS, name), getattr(small, name)])
            for name in ("i", "j", "p", "v", "lower", "upper", "kind")
        )
    )
    amounts = Amounts(both, Simple(0.2), mu_c=2.0)
    assert amounts.separation == pytest.approx(1 / 0.2, rel=1e-4)
    noise = {round(perturbed(4.0, [3.0], key, amounts) - 4, 6) for key in np.arange(0.01, 1, 0.01)}
    assert all(abs(step) <= 5 for step in noise)
    usual = perturbed(1000.0, [300.0], 0.9, amounts) - 1000
    more = perturbed(1000.0, [300.0], 0.9, amounts, sensitive=True) - 1000
    assert more - usual == pytest.approx(2 * 60)
    assert perturbed(0.0, [1.0], 0.5, amounts) == 0
    assert perturbed(7.0, [], 0.5, amounts) == 0


def test_even_and_odd_cells():
    kinds = [
        amount_ptable(8, v, icat=(1, 8), optim=(4, 1), kind=k) for v, k in ((1, "even"), (2, "odd"))
    ]
    both = type(AMOUNTS)(
        *(
            np.concatenate([getattr(table, name) for table in kinds])
            for name in ("i", "j", "p", "v", "lower", "upper", "kind")
        )
    )
    amounts = Amounts(both, Simple(0.1))
    shown = [
        np.std([perturbed(1e4, [100.0], k, amounts, contributors=n) for k in np.arange(0, 1, 1e-3)])
        for n in (4, 5)
    ]
    assert shown == pytest.approx([10, 10 * np.sqrt(2)], rel=0.05)
    with pytest.raises(DataError, match="top_k"):
        Amounts(both, Simple(0.1, (1.0, 0.5)), top_k=2)


def test_largest_contributions_and_tables_of_amounts():
    rng = np.random.default_rng(4)
    system = crossed(3, 4)
    codes = {"v0": rng.integers(0, 3, 60), "v1": rng.integers(0, 4, 60)}
    values = rng.lognormal(5, 1, 60)
    values[:5] = 0
    largest, number = top(system, codes, values, 3)
    rows = system.places[0]
    for a in range(4):
        for b in range(5):
            inside = ((a == 0) | (codes["v0"] == a - 1)) & ((b == 0) | (codes["v1"] == b - 1))
            own = np.sort(values[inside])[::-1][:3]
            assert np.allclose(largest[rows[a, b]][: len(own)], own)
            assert number[rows[a, b]] == (values[inside] > 0).sum()
    keys = row_keys(system, codes, record_keys(SECRET, 60))
    for kind, k in (("top_contr", 3), ("mean", 1), ("range", 1), ("sum", 1)):
        amounts = Amounts(AMOUNTS, Simple(0.05, (1.0, 0.5, 0.2)[:k]), kind, k)
        masked = cell_key_amounts(system, codes, values, keys, amounts)
        sums = system.sums @ system.fine(codes, values)
        assert masked.printed is None
        assert (masked.values >= 0).all()
        assert ((masked.values != sums) | (sums == 0)).any()
        most = AMOUNTS.reach * 0.05 * np.nanmax(np.abs(largest), 1) * 1.7
        if kind == "top_contr":
            assert (np.abs(masked.values - sums) <= np.nan_to_num(most) + 1e-9).all()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Simple(0.0),
        lambda: Simple(0.5, (0.5,)),
        lambda: Flex(0, (0.2, 0.1)),
        lambda: Flex(10, (0.1, 0.2)),
        lambda: Flex(10, (0.2, 0.1), q=0.5),
        lambda: Amounts(AMOUNTS, Simple(0.5), top_k=2),
        lambda: Amounts(AMOUNTS, Simple(0.5), "median"),
        lambda: Amounts(AMOUNTS, Simple(0.5), mu_c=-1),
        lambda: amount_ptable(5, 1, icat=(1, 3)),
    ],
)
def test_wrong_parameters(wrong):
    with pytest.raises(DataError):
        wrong()
