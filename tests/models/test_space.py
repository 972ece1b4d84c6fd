"""The models that contain a release."""

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.models import space
from discreet.models.space import (
    decomposable_models,
    hierarchical_models,
    model_priors,
    neighbours,
)
from discreet.table.formula import Formula
from discreet.table.lattice import closure

flat = {"score": lambda model: 0.0}


def formula(text, names):
    return Formula.parse(text, names)


@pytest.mark.parametrize(("names", "models"), [("A", 1), ("AB", 2), ("ABC", 9), ("ABCD", 114)])
def test_number_of_hierarchical_models(names, models):
    """With every main effect: 1, 2, 9, 114, ... simplicial complexes on labelled vertices."""
    found = hierarchical_models(formula("+".join(names), names), most=200)
    assert len(found) == models == len({frozenset(m.sets) for m in found})


def test_too_many_are_not_listed():
    assert hierarchical_models(formula("A+B+C+D+E", "ABCDE"), most=200) is None


def test_every_model_contains_the_release_which_is_the_first():
    release = formula("A*B + B*C + D", "ABCD")
    found = hierarchical_models(release)
    assert closure(found[0].sets) == closure(release.sets)
    assert found[-1].sets == (0b1111,)
    for model in found:
        assert closure(release.sets) <= closure(model.sets)


def test_a_variable_that_is_not_released_may_be_in_or_out():
    found = hierarchical_models(formula("A", "AB"))
    assert [str(model) for model in found] == ["A", "A + B", "A*B"]


@pytest.mark.parametrize(("names", "models"), [("ABC", 8), ("ABCD", 61), ("ABCDE", 822)])
def test_number_of_decomposable_models(names, models):
    """Chordal graphs on labelled vertices: 1, 2, 8, 61, 822."""
    found = decomposable_models(formula("+".join(names), names), **flat, most=1000)
    assert len(found) == models
    assert all(model.is_decomposable for model in found)


def test_decomposable_models_have_the_model_of_the_release_too():
    release = formula("A*B + B*C + C*D + A*D", "ABCD")
    found = decomposable_models(release, **flat)
    assert found[0].sets == release.sets
    assert not found[0].is_decomposable
    assert len(found) == 4  # two ways to cut the square, and the saturated model
    assert all(model.is_decomposable for model in found[1:])


def test_moves_are_reversible():
    kept = formula("A*B + C + D", "ABCD").graph
    graphs = space._all(kept.minimal_triangulation(), kept, 1000)
    for graph in graphs:
        for other in neighbours(graph, kept):
            assert other in graphs
            assert graph in neighbours(other, kept)


def test_a_walk_finds_the_best_models():
    """Of 822 chordal graphs the walk looks at few, and keeps those with the highest score."""
    release = formula("A+B+C+D+E", "ABCDE")

    def score(model):
        return 8.0 * (model.contains("A*B") + model.contains("C*D*E")) - 3.0 * len(
            closure(model.sets)
        )

    found = decomposable_models(release, score, steps=1500, seed=1, most=50)
    assert len(found) <= 51
    everything = decomposable_models(release, score, most=1000)
    best = max(everything, key=score)
    assert set(best.sets) in [set(model.sets) for model in found]


def test_priors_by_model_and_by_size():
    models = hierarchical_models(formula("A+B+C", "ABC"))
    assert model_priors(models) == pytest.approx([1 / 9] * 9)
    by_size = model_priors(models, "size")
    sizes = np.array([len(closure(model.sets)) for model in models])
    assert sum(by_size) == pytest.approx(1)
    for size in set(sizes.tolist()):
        assert np.array(by_size)[sizes == size].sum() == pytest.approx(1 / 5)
    assert model_priors(models[:2], [1, 3]) == [0.25, 0.75]


@pytest.mark.parametrize("by", ["age", [1.0], [0.0, 0.0], [-1.0, 2.0]])
def test_refuses_a_prior(by):
    with pytest.raises(DataError):
        model_priors(hierarchical_models(formula("A + B", "AB")), by)
