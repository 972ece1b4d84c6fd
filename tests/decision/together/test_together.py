"""Several masked releases together, against all tables one by one, with laws written anew."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.table.table import Table


def tables_of(total: int, cells: int):
    """Every table of a total: places of bars among people."""
    for bars in combinations(range(total + cells - 1), cells - 1):
        ends = [-1, *bars, total + cells - 1]
        yield np.diff(ends) - 1


def rounding_law(true: int, base: int, shown: float) -> float:
    below = true // base * base
    up = (true - below) / base
    return {below: 1 - up, below + base: up}.get(int(shown), 0.0) if up else float(true == shown)


def nearest_law(true: int, base: int, shown: float) -> float:
    return float(int(np.floor(true / base + 0.5)) * base == shown)


def small_table(rng: np.random.Generator, total: int) -> Table:
    counts = rng.multinomial(total, rng.dirichlet(np.ones(6))).reshape(2, 3)
    variables = (Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C")))
    codes = np.argwhere(np.ones((2, 3), bool))
    return Table.from_cells(variables, codes, counts.ravel())


SUMS = {
    "Sex*Town": [[i] for i in range(6)],
    "Sex": [[0, 1, 2], [3, 4, 5]],
    "Town": [[0, 3], [1, 4], [2, 5]],
}


@pytest.mark.parametrize("seed", range(12))
def test_beliefs_are_those_of_all_tables_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = small_table(rng, 9)
    counts = table.dense().ravel()
    told, laws = [], []
    for _ in range(3):
        margin, base = str(rng.choice(list(SUMS))), int(rng.integers(2, 5))
        sums = [int(counts[cells].sum()) for cells in SUMS[margin]]
        if rng.random() < 0.5:
            shown, how = dc.office.random_rounding(sums, base, rng), "random rounding"
            laws.append((SUMS[margin], shown, base, rounding_law))
        else:
            shown, how = dc.office.conventional(sums, base), "conventional rounding"
            laws.append((SUMS[margin], shown, base, nearest_law))
        told.append(dc.office.Told.of_margin(table, margin, shown, how, {"base": base}))
    found = dc.office.together(table, told)
    weights = np.zeros((6, 10))
    for n in tables_of(9, 6):
        weight = 1.0
        for sums, shown, base, law in laws:
            for cells, value in zip(sums, shown, strict=True):
                weight *= law(int(n[cells].sum()), base, value)
        weights[np.arange(6), n] += weight
    chances = weights / weights.sum(1, keepdims=True)
    guarded = np.flatnonzero((counts >= 1) & (counts <= 2))
    assert found.exact
    assert found.cells.tolist() == guarded.tolist()
    np.testing.assert_allclose(found.chances, chances[guarded, counts[guarded]], atol=1e-12)


def test_keys_of_one_secret_tell_a_cell_once_and_of_two_twice() -> None:
    table = small_table(np.random.default_rng(5), 8)
    noise = dc.office.count_ptable(2, 0.9)
    given = {"D": 2, "V": 0.9}

    def told(shown: list[int], secret: str) -> dc.office.Told:
        return dc.office.Told.of_margin(
            table, "Sex*Town", shown, "cell key", given | {"secret": secret}
        )

    counts = table.dense().ravel()
    shown = np.where(counts > 0, np.maximum(counts - 1, 0), 0).tolist()
    matrix = {
        (i, j): p
        for i, j, p in zip(noise.i.tolist(), noise.j.tolist(), noise.p.tolist(), strict=True)
    }
    known = {}
    for copies in (1, 2):
        weights = np.zeros((6, 9))
        for n in tables_of(8, 6):
            weight = 1.0
            for true, seen in zip(n.tolist(), shown, strict=True):
                own = min(true, 2)
                weight *= matrix.get((own, seen - true + own), 0.0) ** copies
            weights[np.arange(6), n] += weight
        known[copies] = weights / weights.sum(1, keepdims=True)
    other = [*shown]
    once = dc.office.together(table, [told(shown, "a"), told(other, "a")])
    twice = dc.office.together(table, [told(shown, "a"), told(other, "b")])
    assert any("name a copy once" in text for text in twice.said)
    at = once.cells, counts[once.cells]
    np.testing.assert_allclose(once.chances, known[1][at], atol=1e-12)
    np.testing.assert_allclose(twice.chances, known[2][at], atol=1e-12)


def test_copies_rounded_anew_give_the_counts_away() -> None:
    """Random rounding must not be drawn again."""
    rng = np.random.default_rng(8)
    table = small_table(rng, 12)
    counts = table.dense().ravel()
    assert ((counts > 0) & (counts < 3)).sum() >= 2

    def risk(copies: int) -> float:
        told = [
            dc.office.Told.of_margin(
                table, "Sex*Town", dc.office.random_rounding(counts, 3, rng), "random rounding",
                {"base": 3},
            )
            for _ in range(copies)
        ]  # fmt: skip
        return dc.office.together(table, told).risk["expected"]

    assert risk(1) < 0.75
    assert risk(60) > 0.95


def test_gaps_and_zeros() -> None:
    """Where zeros are printed, a gap is no zero."""
    variables = (Variable("Town", ("A", "B", "C", "D")),)
    codes = np.arange(4)[:, None]
    table = Table.from_cells(variables, codes, np.array([1, 2, 0, 5]))
    told = dc.office.Told.of_margin(table, "Town", [np.nan, np.nan, 0, 5])
    found = dc.office.together(table, [told])
    assert found.chances.tolist() == [0.5, 0.5]
    hidden = dc.office.Told.of_margin(table, "Town", [np.nan, np.nan, np.nan, 5])
    assert dc.office.together(table, [hidden]).chances.tolist() == pytest.approx([0.3, 0.2])


def test_wrong_input_is_a_sentence() -> None:
    table = small_table(np.random.default_rng(1), 5)
    with pytest.raises(DataError, match="give one for each"):
        dc.office.Told.of_margin(table, "Sex", [1])
    with pytest.raises(DataError, match="nothing is known of 'magic'"):
        dc.office.Told.of_margin(table, "Sex", [1, 1], "magic")
    other = small_table(np.random.default_rng(1), 5).margin("Sex")
    with pytest.raises(DataError, match="read it for this table"):
        dc.office.together(other, [dc.office.Told.of_margin(table, "Sex", [3, 2])])
    with pytest.raises(DataError, match="at least one release"):
        dc.office.together(table, [])
    with pytest.raises(DataError, match="transition probabilities"):
        dc.office.Told.of_margin(table, "Sex", [1, 1], "cell key", {})
    told = dc.office.Told.of_margin(table, "Sex", table.margin("Sex").dense())
    with pytest.raises(DataError, match="which is of records"):
        dc.office.together(table, [told], dc.Policy().set(["masks.risk=identified"]))


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """The same margin hidden here and rounded there."""
    found = {}
    runs = {
        "hidden": ["--method", "suppress"],
        "threes": ["--method", "round", "--rounding", "conventional", "--base", "3"],
        "fives": ["--method", "round", "--rounding", "conventional", "--base", "5"],
    }
    for name, options in runs.items():
        found[name] = str(tmp_path / name)
        words = ["mask", "example:tract", "--release", "Race*Income", *options]
        result = CliRunner().invoke(main, [*words, "--out", found[name], "--force"])
        assert Path(found[name]).is_dir(), result.output
    return found


def test_what_roundings_give_back_is_not_hidden(folders: dict[str, str]) -> None:
    """2 to the nearest 3 and the nearest 5 is 3 and 0: 2 alone fits both."""
    check = ["check", folders["hidden"], "--against", "example:tract"]
    alone = CliRunner().invoke(main, check)
    assert alone.exit_code == 0, alone.output
    rounded = ["--released", folders["threes"], "--released", folders["fives"]]
    both = CliRunner().invoke(main, [*check, *rounded, "--json"])
    assert both.exit_code == 1, both.output
    texts = [f["text"] for f in json.loads(both.stdout)["findings"] if f["verdict"] == "FAIL"]
    assert "printed cells leave it no other value than 2" in texts


def test_a_count_that_keys_show_is_no_zero(tmp_path: Path) -> None:
    """a, b, d hidden with 10 in sum; keys show 1, 1, 10, so that d has 8 or more: 1, 1, 8."""
    data = tmp_path / "people.csv"
    data.write_text("T\n" + "a\nb\n" + "c\n" * 10 + "d\n" * 8, encoding="utf-8")
    keys = ["--method", "cell-key", "--secret", "abcdefghijklmnopq29"]
    for name, how in (("hidden", ["--method", "suppress"]), ("keys", keys)):
        words = ["mask", str(data), "--release", "T", *how, "--out", str(tmp_path / name)]
        CliRunner().invoke(main, [*words, "--force"])
    shown = (tmp_path / "keys" / "table-T.csv").read_text(encoding="utf-8").split()
    assert {"a,1", "b,1", "d,10"} <= set(shown)
    check = ["check", str(tmp_path / "hidden"), "--against", str(data)]
    assert CliRunner().invoke(main, check).exit_code == 0
    both = CliRunner().invoke(main, [*check, "--released", str(tmp_path / "keys"), "--json"])
    assert both.exit_code == 1, both.output
    texts = [f["text"] for f in json.loads(both.stdout)["findings"] if f["verdict"] == "FAIL"]
    assert texts.count("printed cells leave it no other value than 1") == 2


def test_the_command(folders: dict[str, str], tmp_path: Path) -> None:
    words = ["together", "example:tract", "--variables", "Race,Income"]
    for name in ("threes", "fives"):
        words += ["--released", folders[name]]
    page = tmp_path / "together.html"
    result = CliRunner().invoke(main, [*words, "--json", "--html", str(page)])
    assert result.exit_code == 1, result.output
    found = json.loads(result.stdout)
    assert found["verdict"] == "FAIL"
    assert [one["name"] for one in found["releases"]] == ["threes", "fives"]
    for cell in found["cells"]:
        assert cell["count"] == 2 or cell["cell"]["Race"] == "Chinese"
    twos = [cell for cell in found["cells"] if cell["count"] == 2]
    assert twos
    assert all(cell["together"] == pytest.approx(1) for cell in twos)
    assert any(max(cell["alone"]) < 0.9 for cell in twos)
    assert "Releases together" in page.read_text(encoding="utf-8")
    shown = CliRunner().invoke(main, words)
    assert "✗ FAIL" in shown.output
    assert "small counts known at 50%" in shown.output


def test_what_two_tables_of_a_release_show_is_one_draw(tmp_path: Path) -> None:
    """The sums of A stand in A*B and in A*C, rounded at random once."""
    counts = [1, 2, 0, 1, 1, 0, 1, 1]
    lines = [f"{a},{b},{c}" for a in "xy" for b in "uv" for c in "st"]
    rows = [f"{line},{n}" for line, n in zip(lines, counts, strict=True)]
    data, out = tmp_path / "people.csv", tmp_path / "out"
    data.write_text("\n".join(["A,B,C,n", *rows]), encoding="utf-8")
    words = ["mask", str(data), "--count", "n", "--release", "A*B + A*C", "--method", "round"]
    words += ["--rounding", "random", "--seed", "2", "--out", str(out), "--force"]
    CliRunner().invoke(main, words)
    shown: dict[tuple[int, ...], int] = {}
    for name in ("table-A_B.csv", "table-A_C.csv"):
        text = (out / name).read_text(encoding="utf-8")
        first, *body = (line.split(",") for line in text.splitlines())
        places = ["ABC".index(column) for column in first[:-1]]
        for *labels, value in body:
            asked = [(p, x) for p, x in zip(places, labels, strict=True) if x != "Total"]
            cells = [
                i for i, at in enumerate(lines) if all(at.split(",")[p] == x for p, x in asked)
            ]
            shown[tuple(cells)] = int(value)
    assert len(shown) == 15
    weights = np.zeros((8, 8))
    for n in tables_of(7, 8):
        weight = np.prod([rounding_law(int(n[list(at)].sum()), 3, v) for at, v in shown.items()])
        weights[np.arange(8), n] += weight
    table = dc.load(str(data), count="n")
    found = dc.office.together(table, [dc.office.Told.read(out, table)])
    chances = weights[found.cells, found.truth] / weights[found.cells].sum(1)
    np.testing.assert_allclose(found.chances, chances, atol=1e-12)


def test_a_table_that_was_drawn_tells_the_margins_that_it_keeps(tmp_path: Path) -> None:
    """It tells nothing else: beside a rounded table, both margins are known exactly."""
    (tmp_path / "tables.toml").write_text(
        '[[tables]]\nname = "r"\nrows = ["A"]\nstatus = "out"\n'
        '[[tables]]\nname = "c"\nrows = ["B"]\nstatus = "out"\n'
        '[[tables]]\nname = "rc"\nrows = ["A"]\ncolumns = ["B"]\n',
        encoding="utf-8",
    )
    data, out = tmp_path / "cells.csv", tmp_path / "drawn"
    data.write_text("A,B,n\na,x,1\na,y,4\nb,x,3\nb,y,2\n", encoding="utf-8")
    words = ["mask", str(data), "--count", "n", "--tables", str(tmp_path / "tables.toml")]
    words += ["--method", "perturb", "--seed", "1", "--out", str(out)]
    assert CliRunner().invoke(main, words).exit_code == 0
    table = dc.load(str(data), count="n")
    drawn = dc.office.Told.read(out, table)
    fits = [np.array([k, 5 - k, 4 - k, 1 + k]) for k in range(5)]
    alone = dc.office.together(table, [drawn, drawn])
    assert alone.chances.tolist() == pytest.approx([0.2, 0.2])
    assert not any("two draws" in text for text in alone.said)
    rounded = dc.office.Told.of_margin(table, "A*B", [0, 3, 3, 3], "random rounding", {"base": 3})
    both = dc.office.together(table, [drawn, rounded])
    weights = [
        np.prod([rounding_law(int(n), 3, v) for n, v in zip(t, [0, 3, 3, 3], strict=True)])
        for t in fits
    ]
    assert both.chances[0] == pytest.approx(weights[1] / sum(weights))


def test_what_no_table_shows_is_refused() -> None:
    table = small_table(np.random.default_rng(1), 9)
    with pytest.raises(DataError, match="no count from 0 to 9 is shown as 60; correct it"):
        dc.office.Told.of_margin(table, "Sex", [60, 60], "conventional rounding", {"base": 50})
    large = dc.Table.of([[10**9, 2], [1, 10**9]], A=["a", "b"], B=["x", "y"])
    with pytest.raises(DataError, match="too many to hold"):
        dc.office.Told.of_margin(large, "A*B", [10**9, np.nan, np.nan, 10**9])
