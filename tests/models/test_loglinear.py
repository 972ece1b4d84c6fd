"""Log-linear fits: published deviances, two ways to the same fit, and laws."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.codebook import Variable
from discreet.errors import DataError, FormulaError
from discreet.models.ipf import ipf
from discreet.models.loglinear import LogLinear
from discreet.table.formula import Formula
from discreet.table.load import load
from discreet.table.table import Table
from oracle import letters, named, releases, small_tables

DRUGS = named(np.array([[[911, 538], [44, 456]], [[3, 43], [2, 279]]]))
PLUMS = named(np.array([[[156, 84], [84, 156]], [[107, 133], [31, 209]]]))
BERKELEY = named(
    np.array(
        [
            [[512, 89], [313, 19]],
            [[353, 17], [207, 8]],
            [[120, 202], [205, 391]],
            [[138, 131], [279, 244]],
            [[53, 94], [138, 299]],
            [[22, 24], [351, 317]],
        ]
    )
)
CZECH_MODELS = ["A*D*E + B*C + A*C + F", "A*C*E + A*D*E + B*C + F", "B*F + A*B*C*E + A*D*E"]


def fit(table, text, **options):
    return LogLinear(Formula.parse(text, table.names)).fit(table, **options)


def design(formula, shape):
    """A row a cell, a column for each cell of each margin: spans the model."""
    cells = np.array(list(np.ndindex(*shape)))
    columns = [np.ones((len(cells), 1))]
    for s in formula.sets:
        places = [p for p in range(len(shape)) if s >> p & 1]
        for values in np.ndindex(*(shape[p] for p in places)):
            columns.append((cells[:, places] == values).all(1, keepdims=True))
    return np.hstack(columns).astype(float)


def poisson_deviance(table, formula):
    """By Newton steps on a basis of the model's space."""
    X = design(formula, table.shape)
    U, size, _ = np.linalg.svd(X, full_matrices=False)
    X = U[:, size > 1e-9]
    n = table.dense().ravel().astype(float)
    eta = np.log(n + 0.5)
    for _ in range(50):
        m = np.exp(eta)
        b = np.linalg.solve(X.T @ (m[:, None] * X), X.T @ (m * (eta + (n - m) / m)))
        eta = X @ b
    m, on = np.exp(eta), n > 0
    return 2 * (n[on] @ np.log(n[on] / m[on]) - (n - m).sum())


# Published numbers


@pytest.mark.parametrize(
    ("model", "deviance", "df"),
    [
        ("A + B + C", 1286.02, 4),
        ("A*B + C", 843.83, 3),
        ("A*B + A*C", 497.37, 2),
        ("A*C + B*C", 187.75, 2),
        ("A*B + B*C", 92.02, 2),
        ("A*B + A*C + B*C", 0.37, 1),
        ("A*B*C", 0, 0),
    ],
)
def test_alcohol_cigarettes_marijuana(model, deviance, df):
    """Agresti 2002, section 8.2: A alcohol, B cigarettes, C marijuana."""
    found = fit(DRUGS, model)
    assert found.deviance == pytest.approx(deviance, abs=0.006)
    assert found.df == found.adjusted_df == df


def test_fitted_counts_of_alcohol_cigarettes_marijuana():
    """Agresti 2002, section 8.2."""
    found = fit(DRUGS, "A*B + A*C + B*C").expected_array().ravel()
    assert np.allclose(found, [910.4, 538.6, 44.6, 455.4, 3.6, 42.4, 1.4, 279.6], atol=0.05)


def test_plum_root_cuttings():
    """Bartlett 1935; Bishop, Fienberg & Holland 1975: no three-way interaction, G^2 = 2.29."""
    found = fit(PLUMS, "A*B + A*C + B*C")
    assert found.deviance == pytest.approx(2.29, abs=0.006)
    assert found.expected_array()[0, 0, 0] == pytest.approx(161.1, abs=0.05)


@pytest.mark.parametrize(
    ("model", "deviance", "df"), [("A*B + A*C", 21.74, 6), ("A*B + A*C + B*C", 20.20, 5)]
)
def test_berkeley_admissions(model, deviance, df):
    """Bickel, Hammel & O'Connell 1975; Agresti 2002: A department, B admission, C sex."""
    found = fit(BERKELEY, model)
    assert found.deviance == pytest.approx(deviance, abs=0.006)
    assert found.df == df


def test_four_variables_of_the_czech_table_in_r():
    """Hojsgaard, vignette of the R package gRim: smoke:systol + smoke:mental:phys."""
    table = load("example:czech").margin("A*B*C*D")
    found = fit(table, "A*D + A*B*C")
    assert -2 * found.log_likelihood == pytest.approx(9391.38, abs=0.006)
    assert found.parameters == 9
    assert found.aic == pytest.approx(9409.38, abs=0.006)
    assert found.bic == pytest.approx(9459.05, abs=0.006)
    assert found.deviance == pytest.approx(3.80, abs=0.006)
    assert found.df == 6
    assert fit(table, "A + B + C + D").deviance - found.deviance == pytest.approx(730.47, abs=0.006)


@pytest.mark.parametrize("model", CZECH_MODELS)
def test_closed_form_is_proportional_fitting_on_the_czech_table(model):
    table = load("example:czech")
    found = fit(table, model)
    counts = table.dense()
    margins = {
        tuple(p for p in range(6) if s >> p & 1): counts.sum(
            tuple(p for p in range(6) if not s >> p & 1)
        )
        for s in found.formula.sets
    }
    scaled = ipf(np.ones(counts.shape), margins)
    assert found.iterations == 0
    assert scaled.converged
    assert np.allclose(found.expected_array(), scaled.array, rtol=1e-8)
    on = counts > 0
    deviance = 2 * counts[on] @ np.log(counts[on] / scaled.array[on])
    assert found.deviance == pytest.approx(deviance)


@pytest.mark.parametrize(
    "model", [*CZECH_MODELS, "A*C + A*D*E + B*C + B*E + F", "A*B + B*C + C*D + D*E + E*F + F*A"]
)
def test_the_czech_table_by_poisson_regression(model):
    table = load("example:czech")
    found = fit(table, model)
    assert found.deviance == pytest.approx(poisson_deviance(table, found.formula), abs=1e-6)
    assert found.converged


# Laws


@given(small_tables(), st.data())
def test_fitted_margins_are_observed_margins(array, data):
    """Birch 1963."""
    table = named(array)
    formula = Formula.of(letters(data.draw(releases(array.ndim))), table.names)
    found = LogLinear(formula).fit(table)
    fitted = found.expected_array()
    room = 1e-6 if found.converged else 0.1
    assert fitted.sum() == pytest.approx(table.total, abs=room)
    for s in formula.sets:
        others = tuple(p for p in range(array.ndim) if not s >> p & 1)
        assert np.allclose(fitted.sum(others), array.sum(others), atol=room)


@given(small_tables(), st.data())
def test_the_deviance_is_not_negative_and_falls_as_margins_are_added(array, data):
    table = named(array)
    margins = letters(data.draw(releases(array.ndim)))
    more, fewer = (
        LogLinear(Formula.of(listed, table.names)).fit(table) for listed in (margins, margins[:-1])
    )
    room = 1e-6 if more.converged and fewer.converged else 0.1
    assert 0 <= more.deviance <= fewer.deviance + room
    assert more.parameters >= fewer.parameters


@given(small_tables(), st.data())
def test_closed_form_is_proportional_fitting(array, data):
    table = named(array)
    formula = Formula.of(letters(data.draw(releases(array.ndim))), table.names)
    found = LogLinear(formula).fit(table)
    margins = {
        tuple(p for p in range(array.ndim) if s >> p & 1): array.sum(
            tuple(p for p in range(array.ndim) if not s >> p & 1)
        )
        for s in formula.sets
    }
    scaled = ipf(np.ones(array.shape), margins)
    assert found.converged or not formula.is_decomposable
    room = 1e-6 if found.converged and scaled.converged else 0.1
    assert np.allclose(found.expected_array(), scaled.array, atol=room)
    assert np.allclose(found.expected(table.all()), found.expected_array().ravel())


@given(small_tables(), st.data())
def test_parameters_and_adjusted_df_are_ranks(array, data):
    table = named(array)
    formula = Formula.of(letters(data.draw(releases(array.ndim))), table.names)
    found = LogLinear(formula).fit(table)
    X = design(formula, array.shape)
    support = np.ones(array.shape, bool)
    for s in formula.sets:
        others = tuple(p for p in range(array.ndim) if not s >> p & 1)
        support &= array.sum(others, keepdims=True) > 0
    rank = np.linalg.matrix_rank(X[support.ravel()])
    assert found.parameters == np.linalg.matrix_rank(X) - 1
    assert found.df == array.size - 1 - found.parameters
    assert found.adjusted_df == support.sum() - rank
    assert 0 <= found.p_value <= 1


# Large and sparse


def records(k, people=300, seed=3):
    """A chain of k variables, each like the one before."""
    rng = np.random.default_rng(seed)
    codes = np.empty((people, k), np.uint8)
    codes[:, 0] = rng.integers(0, 3, people)
    for p in range(1, k):
        same = rng.random(people) < 0.9
        codes[:, p] = np.where(same, codes[:, p - 1], rng.integers(0, 3, people))
    variables = [Variable(f"v{p}", ("a", "b", "c")) for p in range(k)]
    return Table.from_cells(variables, codes, np.ones(people, np.int64))


@pytest.mark.parametrize("k", [12, 30, 70])
def test_a_chain_in_a_large_table(k):
    """Closed form by hand at the cells that occur; the df need every cell, and are whole."""
    table = records(k)
    formula = Formula.of([[f"v{p}", f"v{p + 1}"] for p in range(k - 1)], table.names)
    found = LogLinear(formula).fit(table)
    pairs = [table.margin([f"v{p}", f"v{p + 1}"]).dense() for p in range(k - 1)]
    singles = [pair.sum(1) for pair in pairs]
    codes = table.codes.astype(int)
    m = np.array(
        [
            prod(pairs[p][c[p], c[p + 1]] / (singles[p][c[p]] if p else 1) for p in range(k - 1))
            for c in codes
        ]
    )
    assert np.allclose(found.expected(table.nonzero()), m)
    assert found.deviance == pytest.approx(2 * table.counts @ np.log(table.counts / m))
    assert found.parameters == 2 + 6 * (k - 1)
    ways = [1, 1, 1]
    for pair in pairs[::-1]:
        ways = [sum(ways[j] for j in range(3) if pair[i, j]) for i in range(3)]
    rank = sum(int((pair > 0).sum()) for pair in pairs) - 3 * (k - 2)
    assert found.adjusted_df == sum(ways) - rank
    assert 0 <= found.p_value <= 1


def test_a_cycle_in_a_large_table_is_scaled_by_itself():
    """Only the part that no margin separates needs all its cells."""
    table = records(40, people=3_000)
    chain = [[f"v{p}", f"v{p + 1}"] for p in range(39)]
    found = LogLinear(Formula.of([*chain, ["v0", "v3"]], table.names)).fit(table)
    assert [part.places for part in found.parts if part.scaled] == [(0, 1, 2, 3)]
    assert found.converged
    four = table.margin(["v0", "v1", "v2", "v3"])
    alone = fit(four, "v0*v1 + v1*v2 + v2*v3 + v0*v3")
    rest = LogLinear(Formula.of(chain[3:], table.names[3:])).fit(table.margin(table.names[3:]))
    joint = alone.log_likelihood + rest.log_likelihood
    single = fit(table.margin("v3"), "v3").log_likelihood
    assert found.log_likelihood == pytest.approx(joint - single)


def test_too_many_cells_are_refused():
    table = records(30)
    cycle = [[f"v{p}", f"v{(p + 1) % 30}"] for p in range(30)]
    with pytest.raises(DataError, match=r"205,891,132,094,649 cells over 30 variables"):
        LogLinear(Formula.of(cycle, table.names)).fit(table)
    with pytest.raises(DataError, match="the most is 16,777,216"):
        LogLinear(Formula.of([["v0"]], table.names)).fit(table).expected_array()


# Odds and ends


def test_a_variable_in_no_margin_is_uniform():
    found = fit(DRUGS, "A")
    assert np.allclose(found.expected_array()[0], 1949 / 4)
    assert found.parameters == 1
    nothing = LogLinear(Formula(DRUGS.names, ())).fit(DRUGS)
    assert np.allclose(nothing.expected_array(), DRUGS.total / 8)
    assert nothing.df == nothing.adjusted_df == 7
    assert repr(nothing).startswith("Fit(nothing: deviance")


def test_a_formula_in_another_order_of_variables():
    one = fit(DRUGS, "A*B + B*C")
    two = LogLinear(Formula.parse("A*B + B*C", "CBA")).fit(DRUGS)
    assert np.allclose(one.expected_array(), two.expected_array())
    assert one.formula == two.formula


def test_cells_in_another_order_of_variables():
    found = fit(DRUGS, "A*B + B*C")
    cells = DRUGS.reorder("CAB").nonzero()
    assert found.expected(cells).sum() == pytest.approx(DRUGS.total)
    assert found.expected(cells)[0] == pytest.approx(found.expected_array()[0, 0, 0])


def test_margins_inside_others_change_nothing():
    assert fit(DRUGS, "A*B + A + B + C").formula.margins == (("A", "B"), ("C",))


def test_a_fit_with_zeros_that_no_margin_has_comes_close_but_does_not_converge():
    """Haberman 1974: 2x2x2, pairs, two opposite corners empty; the fit is the table itself."""
    array = np.array([[[0, 4], [3, 2]], [[5, 1], [2, 0]]])
    found = fit(named(array), "A*B + B*C + A*C")
    assert not found.converged
    assert np.allclose(found.expected_array(), array, atol=0.01)


def test_few_iterations_are_owned_up_to():
    found = fit(DRUGS, "A*B + B*C + A*C", iterations=2)
    assert not found.converged
    assert found.iterations == 2
    assert repr(found).endswith(", not converged)")


def test_a_frame_has_counts_and_fitted_counts():
    frame = fit(DRUGS, "A*B + C").to_frame()
    assert list(frame.columns) == ["A", "B", "C", "count", "expected"]
    assert frame["expected"].sum() == pytest.approx(DRUGS.total)
    assert len(fit(DRUGS, "A*B + C").to_frame("arrow", zeros=True)) == 8


def test_sparse_tables_say_so():
    assert not fit(DRUGS, "A*B + C").is_sparse
    assert fit(named(np.eye(3, dtype=int)), "A + B").is_sparse


def test_wrong_input_is_named():
    with pytest.raises(FormulaError, match=r"the model is over A, B, the table over A, B, C"):
        LogLinear(Formula.parse("A*B", "AB")).fit(DRUGS)
    with pytest.raises(DataError, match="counts nobody"):
        fit(named(np.zeros((2, 2), int)), "A + B")
    with pytest.raises(DataError, match=r"the cells are of A\*B, the fit is of A\*B\*C"):
        fit(DRUGS, "A*B + C").expected(DRUGS.margin("A*B").nonzero())


def test_all_pairs_of_the_czech_table():
    """Adjusted and plain degrees of freedom agree where no margin has a zero."""
    table = load("example:czech")
    found = LogLinear(Formula.of(combinations("ABCDEF", 2), table.names)).fit(table)
    assert found.df == found.adjusted_df == 63 - 6 - 15
