"""Critical widths against bounds, their laws, scores and groups, and what is said of them."""

import json
import time
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cli.widths import widths_command
from discreet.data.codebook import Variable
from discreet.decision.frontier.widths import widths
from discreet.errors import DisclosureError
from discreet.intruder.bounds.bounder import bounds
from discreet.look.theme import NARROW
from discreet.release.release import Release
from discreet.table.lattice import bits, children
from discreet.table.load import load
from discreet.table.table import Table
from oracle import named, small_tables


def most_parsimonious(margin, k):
    """The margin, and the one-way margin of every other variable (Definition 1.1; [1,2,3] of a
    six-way table gives [1,2,3], [4], [5], [6], where [1,2] is printed)."""
    return (margin, *(1 << p for p in range(k) if not margin >> p & 1))


@st.composite
def tables(draw):
    """Small tables with at least one small cell, often few of them among large counts."""
    array = draw(small_tables(most_people=12))
    for place in draw(st.lists(st.integers(0, array.size - 1), max_size=array.size)):
        array.flat[place] += draw(st.integers(0, 9))
    array.flat[draw(st.integers(0, array.size - 1))] = 1
    return array


def by_definition(table, s, small):
    """The formula of the definition, cell by cell."""
    k, n = len(table.names), table.total
    inside = list(bits(s))
    outside = [p for p in range(k) if not s >> p & 1]
    rows = list(zip(table.codes.tolist(), table.counts.tolist(), strict=True))
    sums, ones = Counter(), [Counter() for _ in range(k)]
    for cell, count in rows:
        sums[tuple(cell[p] for p in inside)] += count
        for p in range(k):
            ones[p][cell[p]] += count
    widths = []
    for cell, count in rows:
        if count <= small:
            own, rest = sums[tuple(cell[p] for p in inside)], [ones[p][cell[p]] for p in outside]
            widths.append(min([own, *rest]) - max(0, own + sum(rest) - len(rest) * n))
    return min(widths)


def random_table(sizes, records, seed):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.binomial(size - 1, 0.3, records) for size in sizes], 1).astype(np.uint16)
    variables = [Variable(f"v{p}", tuple(map(str, range(s)))) for p, s in enumerate(sizes)]
    return Table.from_cells(variables, codes, np.ones(records, np.int64))


@given(tables(), st.integers(1, 3))
@settings(max_examples=150)
def test_widths_are_the_narrowest_bounds_of_the_most_parsimonious_model(array, small):
    table = named(array)
    known = widths(table, small=small)
    assert known.complete
    for s, width in zip(known.sets, known.width, strict=True):
        model = [known.margin(m) for m in most_parsimonious(s, array.ndim)]
        found = bounds(Release.margins(table, model), table.small(small))
        assert width == found.narrowest == by_definition(table, s, small)


@given(tables())
@settings(max_examples=50)
def test_a_superset_is_never_wider(array):
    found = widths(named(array))
    width = dict(zip(found.sets, found.width, strict=True))
    for s in found.sets:
        assert all(width[s] <= width[child] for child in children(s) if child)


@given(st.data(), tables())
@settings(max_examples=50)
def test_names_and_categories_do_not_matter(data, array):
    order = data.draw(st.permutations(range(array.ndim)))
    flips = [data.draw(st.permutations(range(n))) for n in array.shape]
    here = widths(named(array))
    there = widths(named(array[np.ix_(*flips)].transpose(order)))
    for s, width in zip(here.sets, here.width, strict=True):
        assert width == there.of([chr(65 + order.index(p)) for p in bits(s)])


@given(tables(), st.integers(1, 6))
@settings(max_examples=50)
def test_beta_leaves_out_only_margins_below_it(array, beta):
    every, some = widths(named(array)), widths(named(array), beta=beta)
    width = dict(zip(every.sets, every.width, strict=True))
    assert all(width[s] == w for s, w in zip(some.sets, some.width, strict=True))
    for s in set(every.sets) - set(some.sets):
        assert width[s] < beta
        assert any(width[child] < beta for child in children(s))
    assert some.complete == (some.not_computed == "") == (len(some) == len(every))


@pytest.mark.parametrize(
    ("sizes", "records", "max_order"),
    [((7, 5, 6, 5, 4, 6, 5, 3), 300, None), ((2,) * 70, 200, 2), ((300, 299, 2, 3), 400, None)],
    ids=["more groups than sums", "more than 64 variables", "large categories"],
)
def test_widths_of_sparse_tables(sizes, records, max_order):
    table = random_table(sizes, records, 5)
    found = widths(table, max_order=max_order)
    chosen = range(0, len(found), 1 if len(found) < 300 else 97)
    assert all(found.width[row] == by_definition(table, found.sets[row], 2) for row in chosen)


def test_totals_beyond_32_bits():
    table = named(np.array([[2**33, 2**32], [1, 2**32]]))
    found = widths(table)
    assert [found.of(m) for m in ("A", "B", "A*B")] == [2**32 + 1, 2**32 + 1, 0]


def test_the_list_puts_wide_margins_first_and_breaks_ties_by_order_and_number():
    found = widths(load("example:czech"))
    width = dict(zip(found.sets, found.width.tolist(), strict=True))
    ranks = [(-width[s], -s.bit_count(), -s) for s in found.ordered()]
    assert ranks == sorted(ranks)
    assert found.to_frame()["width"].tolist() == [width[s] for s in found.ordered()]
    assert found.worst(6) == (0b111111,)
    assert [found.label(s) for s in found.worst(3, 2)] == ["B*C*F", "A*B*C"]


def test_scores_are_means_over_the_margins_with_the_variable():
    found = widths(load("example:tract"))
    scores = found.scores()
    assert scores.to_json() == {"Race": 1.75, "Gender": 2.75, "Income": 2.75}
    assert scores["Race"] == (5 + 1 + 1 + 0) / 4
    assert scores.groups() == (("Race",), ("Gender", "Income"))
    assert "all margins" in scores.basis


def test_scores_say_which_orders_they_are_over():
    czech = load("example:czech")
    cut = widths(czech, max_order=2)
    assert "up to 2 variables" in cut.scores().basis
    assert cut.not_computed == "42 of 63 margins not computed: those of more than 2 variables"
    alike = widths(czech, max_order=1).scores()
    assert len(alike.groups()) == 1
    assert alike.words(1) == "all alike"
    searched = widths(czech, beta=30)
    assert searched.orders == (1, 2, 3)
    assert searched.scores().to_json() == widths(czech, max_order=3).scores().to_json()
    assert "a margin with a width below 30" in searched.not_computed
    assert "more than" not in searched.not_computed


def test_a_margin_that_was_not_computed_is_no_guess():
    found = widths(load("example:czech"), max_order=2)
    assert found.of(["F", "B"]) == found.of("B*F") == 126
    with pytest.raises(DisclosureError, match=r"A\*B\*C is not known: 42 of 63"):
        found.of("A*B*C")
    with pytest.raises(DisclosureError, match="2 margins"):
        found.of("A + B")
    with pytest.raises(DisclosureError, match="unknown variable"):
        found.of(["Z"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"small": 0}, "small is 0"),
        ({"max_order": 7}, "max_order is 7, but the table has 6 variables"),
        ({"max_order": 2.0}, "max_order is 2.0"),
        ({"beta": 0}, "beta is 0"),
    ],
)
def test_wrong_arguments(options, says):
    with pytest.raises(DisclosureError, match=says):
        widths(load("example:czech"), **options)


def test_tables_without_an_answer():
    with pytest.raises(DisclosureError, match="no count from 1 to 2"):
        widths(named(np.array([[3, 4], [5, 0]])))
    with pytest.raises(DisclosureError, match="at most 5, or give beta"):
        widths(random_table((2,) * 53, 50, 1))


def test_one_line_and_a_table_in_a_notebook():
    found = widths(load("example:czech"))
    assert repr(found) == "Widths(63 of 63 margins of 6 variables: 0 to 260 at 3 small cells)"
    assert found._repr_html_().count("<tr") == 11
    assert repr(found.scores()).startswith("Scores(6 variables: 52.25 (F) to 89.91 (D); mean")
    assert found.to_frame("arrow").num_rows == 63


@pytest.mark.parametrize("width", [660, NARROW])
def test_charts_say_the_finding(width):
    found = widths(load("example:czech"))
    boxes = json.dumps(found.plot(width=width).to_dict())
    assert (
        "falls from 260 with 1 variable to 0 with 6 variables"
        in found.plot().to_dict()["description"]
    )
    assert "symlog" in boxes
    bars = found.scores().plot(width=width)
    assert bars.to_dict()["description"] == "F is very problematic"
    assert "52.25" in json.dumps(bars.to_dict())
    bars.to_json()


def test_the_command():
    found = json.loads(CliRunner().invoke(widths_command, ["example:czech", "--json"]).stdout)
    assert found["widths"][-1] == {"margin": list("ABCDEF"), "width": 0}
    assert len(found["widths"]) == 63
    assert list(found["scores"]) == list("FBCAED")
    assert found["complete"] is True
    result = CliRunner().invoke(widths_command, ["example:czech", "--max-order", "3"])
    assert result.exit_code == 0
    assert "22 of 63 margins not computed: those of more than 3 variables" in result.stdout
    assert "B*C*F" in result.stdout
    assert len(result.stdout.splitlines()) < 40


def test_too_many_margins_are_said_at_once_with_what_can_be_searched():
    """Nobody gave a beta: the repair is an order that can be listed, and holds."""
    rng = np.random.default_rng(1)
    records = (rng.random((2_000, 40)) < rng.uniform(0.2, 0.8, 40)).astype(np.uint8)
    codes, counts = np.unique(records, axis=0, return_counts=True)
    variables = [Variable(f"V{n}", ("0", "1")) for n in range(40)]
    table = Table.from_cells(variables, codes, counts)
    started = time.perf_counter()
    for order in (None, 8):
        with pytest.raises(DisclosureError, match=r"max_order.* to at most 5, or classify") as said:
            widths(table, beta=3, max_order=order)
        assert "larger beta" not in str(said.value)
    assert time.perf_counter() - started < 20
    assert len(widths(table, beta=3, max_order=3).sets) > 10_000


def test_what_can_be_listed_is_not_refused():
    """Few of the margins of 30 variables keep a width of 40, and all these are found."""
    rng = np.random.default_rng(2)
    records = (rng.random((300, 30)) < 0.3).astype(np.uint8)
    codes, counts = np.unique(records, axis=0, return_counts=True)
    variables = [Variable(f"V{n}", ("0", "1")) for n in range(30)]
    table = Table.from_cells(variables, codes, counts)
    found = widths(table, beta=20)
    assert 30 < len(found.sets) < 100_000
