"""Release formulas: what is read, what is refused, and how the refusal reads."""

import json
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import FormulaError
from discreet.table.formula import Formula
from discreet.table.lattice import maximal

TRACT = ("Gender", "Race", "Income")
ODD = ("Age group", "Sex-ratio", "Income (USD)", "A", "B", "C", "Größe", "身長", "x.1", "2")
OTHERWISE = "write margins as A*B + C, and a name with other characters in backticks"
ONLY_ADDS = "a release only adds margins, as in A*B + C, and a name with '-' needs backticks"


@st.composite
def formulas(draw):
    names = draw(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=7, unique=True))
    sets = st.lists(st.integers(1, 2 ** len(names) - 1), min_size=1, max_size=8, unique=True)
    return Formula(tuple(names), tuple(draw(sets)))


def message(text, names=("A", "B", "C")):
    with pytest.raises(FormulaError) as caught:
        Formula.parse(text, names)
    return str(caught.value)


# Reading


@pytest.mark.parametrize(
    ("text", "margins"),
    [
        ("Race*Income + Income*Gender", (("Race", "Income"), ("Gender", "Income"))),
        ("Race", (("Race",),)),
        ("  Race \n*\tIncome+Gender ", (("Race", "Income"), ("Gender",))),
        ("`Race`*Gender", (("Gender", "Race"),)),
        ("Race + Race", (("Race",),)),
    ],
)
def test_margins_are_read_in_the_order_written(text, margins):
    assert Formula.parse(text, TRACT).margins == margins


def test_names_with_other_characters():
    formula = Formula.parse("`Age group`*`Sex-ratio` + Größe*身長 + x.1*2 + `Income (USD)`", ODD)
    assert formula.margins == (
        ("Age group", "Sex-ratio"),
        ("Größe", "身長"),
        ("x.1", "2"),
        ("Income (USD)",),
    )


def test_a_backtick_in_a_name_is_doubled():
    formula = Formula.of([["a`b", "c"]], ["a`b", "c"])
    assert str(formula) == "`a``b`*c"
    assert Formula.parse("`a``b`*c", formula.names) == formula


@given(formulas())
def test_text_reads_back_as_the_same_formula(formula):
    assert Formula.parse(str(formula), formula.names) == formula
    assert Formula.of(formula.margins, formula.names) == formula


@given(formulas())
def test_repr_is_one_line(formula):
    assert len(repr(formula).splitlines()) == 1
    assert len(repr(formula)) < 140


@given(st.text(alphabet="AB+*`:()[],~-^| \n\u0301身", max_size=14))
def test_any_text_is_read_or_refused_with_its_place_underlined(text):
    try:
        formula = Formula.parse(text, ("A", "B"))
    except FormulaError as error:
        sentence, shown, carets = str(error).split("\n")
        assert " in the release formula; " in sentence
        assert len(shown) == len(text) + 2
        assert set(carets) == {" ", "^"}
    else:
        assert Formula.parse(str(formula), ("A", "B")) == formula


# Asking


def test_frontier_keeps_the_maximal_margins_in_the_order_written():
    formula = Formula.parse("C + B*C + A + A*B", "ABC")
    assert str(formula.frontier) == "B*C + A*B"


def test_closure_counts_and_containment():
    formula = Formula.parse("Race*Income + Income*Gender", TRACT)
    assert str(formula.closure()) == "Gender + Race + Income + Gender*Income + Race*Income"
    assert formula.by_order() == {1: 3, 2: 2}
    assert formula.contains(["Income", "Race"])
    assert formula.contains("Income*Gender + Race")
    assert formula.contains([])
    assert not formula.contains(["Gender", "Race"])


@given(formulas())
def test_a_formula_contains_exactly_its_closure(formula):
    released = set(formula.closure())
    assert len(formula.closure()) == sum(formula.by_order().values()) == len(released)
    everything = Formula.of([formula.names], formula.names).closure()
    assert {margin for margin in everything if formula.contains(margin)} == released
    assert formula.frontier.closure() == formula.closure()
    assert set(formula.frontier.sets) == set(maximal(formula.sets))


def test_structure_of_a_decomposable_release_in_names():
    formula = Formula.parse("A*B + B*C + D", "ABCD")
    assert formula.is_graphical
    assert formula.is_decomposable
    assert formula.is_reducible
    assert formula.cliques == (("A", "B"), ("B", "C"), ("D",))
    assert sorted(formula.separators) == [(), ("B",)]
    assert sorted(formula.prime_components) == [("A", "B"), ("B", "C"), ("D",)]
    assert formula.graph.cliques() == (0b0011, 0b0110, 0b1000)
    for i, j, separator in formula.junction_tree.edges:
        ends = formula.junction_tree.nodes[i], formula.junction_tree.nodes[j]
        assert set(separator) == set(ends[0]) & set(ends[1])


def test_structure_of_three_pairs_with_a_tail():
    formula = Formula.parse("A*B + B*C + A*C + C*D", "ABCD")
    assert not formula.is_graphical
    assert not formula.is_decomposable
    assert formula.is_reducible
    assert formula.cliques == (("A", "B", "C"), ("C", "D"))
    assert formula.prime_components == (("A", "B", "C"), ("C", "D"))
    assert formula.separators == (("C",),)


def test_variables_left_out_are_cliques_by_themselves():
    formula = Formula.parse("A*B", "ABC")
    assert formula.is_decomposable
    assert formula.cliques == (("A", "B"), ("C",))
    assert formula.separators == ((),)


def test_union():
    a, b = Formula.parse("A*B + C", "ABC"), Formula.parse("C + B*C", "ABC")
    assert str(a + b) == "A*B + C + B*C"
    assert len(a + b) == 3
    with pytest.raises(FormulaError, match="only over the same variables, not A, B, C and A, B"):
        a + Formula.parse("A", "AB")


def test_equal_formulas_are_one_key():
    assert len({Formula.parse("A*B", "AB"), Formula.parse("B*A", "AB")}) == 1


def test_repr_of_a_long_formula_is_cut():
    names = [f"V{i}" for i in range(30)]
    assert repr(Formula.of([[n] for n in names], names)).endswith(
        "...: 30 margins of 30 variables)"
    )
    assert repr(Formula.of([], "AB")) == "Formula(nothing: 0 margins of 2 variables)"


# Refusing


def test_an_unknown_name_is_underlined_and_the_nearest_is_offered():
    expected = """\
        unknown variable 'Gendr' in the release formula; did you mean 'Gender'?
          Race*Income + Income*Gendr
                               ^^^^^"""
    assert message("Race*Income + Income*Gendr", TRACT) == dedent(expected)


def test_another_case_is_the_nearest_name():
    assert "did you mean 'RACE'?" in message("race", ("Rice", "RACE", "Races"))


def test_without_a_near_name_the_variables_are_listed():
    assert "the variables are A, `B b`\n" in message("zzz", ("A", "B b"))
    assert "and 5 more\n" in message("zzz", [f"V{i}" for i in range(15)])


@pytest.mark.parametrize(
    ("text", "problem", "remedy", "place"),
    [
        ("A:B", "unexpected ':'", "write A*B", " ^"),
        ("A*(B + C)", "unexpected '('", "write A*B + A*C", "  ^"),
        ("(A + B)*(A + C)", "unexpected '('", "write A + A*C + B*A + B*C", "^"),
        ("[A,B][C]", "unexpected '['", "write A*B + C", "^"),
        ("[A:B] + [C]", "unexpected '['", "write A*B + C", "^"),
        ("A*(B + C", "unexpected '('", "write out every margin, as in A*B + A*C", "  ^"),
        ("A)", "unexpected ')'", OTHERWISE, " ^"),
        (
            "A, B",
            "unexpected ','",
            "write A*B for one margin of both, or A + B for two margins",
            " ^",
        ),
        ("A|B", "unexpected '|'", "a margin has no condition, write it as A*B", " ^"),
        ("~ A + B", "unexpected '~'", "write A + B", "^"),
        (
            "A ~ B",
            "unexpected '~'",
            "a release has no response, write its margins as A*B + C",
            "  ^",
        ),
        ("A - B", "unexpected '-'", ONLY_ADDS, "  ^"),
        ("A^2", "unexpected '^'", "write out every margin, as in A*B + A*C", " ^"),
        ("A & B", "unexpected '&'", OTHERWISE, "  ^"),
        ("A ++ B", "a name is missing before '+'", "write A + B", "   ^"),
        ("A**B", "a name is missing before '*'", "write A*B", "  ^"),
        ("A + *B", "a name is missing before '*'", "write margins as A*B + C", "    ^"),
        ("A +", "a name is missing after '+'", "write A", "  ^"),
        ("A*B*", "a name is missing after '*'", "write A*B", "   ^"),
        ("+ A", "a name is missing before '+'", "write A", "^"),
        ("A*B*A + C", "'A' occurs twice in one margin", "write A*B + C", "    ^"),
        ("A B", "no '*' or '+' before 'B'", "write margins as A*B + C", "  ^"),
        ("", "no margin", "write margins as A*B + C", "^"),
        ("  ", "no margin", "write margins as A*B + C", "^"),
        ("A*`B + C", "a backtick without its partner", "write `B`", "  ^"),
        ("A*``", "a backtick without its partner", "write `a name`", "  ^"),
    ],
)
def test_other_notations_are_refused_with_the_right_form(text, problem, remedy, place):
    sentence, shown, carets = message(text).split("\n")
    assert sentence == f"{problem} in the release formula; {remedy}"
    assert shown == f"  {text}"
    assert carets == f"  {place}"


@pytest.mark.parametrize(
    ("text", "name", "carets"),
    [
        ("A*Age group", "Age group", "    ^^^^^^^^^"),
        ("Sex-ratio*A", "Sex-ratio", "  ^^^^^^^^^"),
        ("A + Income (USD)", "Income (USD)", "      ^^^^^^^^^^^^"),
    ],
)
def test_a_name_without_its_backticks_is_recognised(text, name, carets):
    found = message(text, ODD)
    assert f"no backticks around {name!r} in the release formula; write `{name}`\n" in found
    assert found.split("\n")[2] == carets


def test_carets_stand_below_wide_and_combining_characters():
    assert message("身長*Q", ODD).endswith("\n  身長*Q\n       ^")
    assert message("`e\u0301`*Q", ("e\u0301",)).endswith("\u0301`*Q\n      ^")


def test_line_breaks_and_control_characters_are_shown_as_spaces():
    assert message("A +\n\x1bB*Q").split("\n")[1] == "  A +  B*Q"


def test_a_long_formula_is_shown_around_the_place():
    text = " + ".join(["A*B"] * 50 + ["Q"] + ["A*B"] * 50)
    _, shown, carets = message(text).split("\n")
    assert len(shown) < 110
    assert shown[carets.index("^")] == "Q"
    assert shown.startswith("  ...")
    assert shown.endswith("...")


def test_lists_of_names_are_checked_too():
    with pytest.raises(FormulaError, match=r"unknown variable 'gender' .* did you mean 'Gender'"):
        Formula.of([["Race", "gender"]], TRACT)
    with pytest.raises(FormulaError, match="'Race' occurs twice"):
        Formula.of([["Race", "Race"]], TRACT)
    with pytest.raises(FormulaError, match=r"write \['Race'\], not 'Race'"):
        Formula.of(["Race"], TRACT)
    with pytest.raises(FormulaError, match="has no variable; name at least one"):
        Formula.of([[]], TRACT)


def test_names_must_differ_and_margins_fit():
    with pytest.raises(FormulaError, match="'A', 'A' need names that differ"):
        Formula.parse("A", ("A", "A"))
    with pytest.raises(FormulaError, match="'' need names that differ and are not empty"):
        Formula.of([], ("",))
    with pytest.raises(FormulaError, match="bit set 4, but there are only 2 variables"):
        Formula(("A", "B"), (4,))


# Files


def from_file(tmp_path, content, names=("A", "B", "C"), name="release.txt"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Formula.parse(f"@{path}", names)


@pytest.mark.parametrize(
    "content",
    [
        "A*B\n + C\n",
        "\ufeffA*B + C",
        json.dumps([["A", "B"], ["C"]]),
        json.dumps({"frontier": [["B", "A"], ["C"]], "released": 4}),
        json.dumps({"released": [["A", "B"], ["C"]]}),
        json.dumps({"margins": [["A", "B"], ["C"]]}),
    ],
)
def test_a_file_holds_a_formula_or_json(tmp_path, content):
    assert str(from_file(tmp_path, content)) == "A*B + C"


def test_spaces_around_the_file_name(tmp_path):
    (tmp_path / "my release").write_text("A")
    assert str(Formula.parse(f" @ {tmp_path / 'my release'} ", "A")) == "A"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"A*\xff", "is not UTF-8 text"),
        ("[['A']]", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("{}", "does not list margins"),
        ('{"released": 415}', "does not list margins"),
        ("[]", "does not list margins"),
        ("[[1, 2]]", "does not list margins"),
        ('["A", "B"]', "does not list margins"),
        ('[["A", "D"]]', "unknown variable 'D'"),
        ('[["A", "A"]]', "'A' occurs twice"),
        ("A + D", "unknown variable 'D'"),
        ("", "no margin"),
        ("@other.txt", "unexpected '@'"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, content, problem):
    with pytest.raises(FormulaError) as caught:
        from_file(tmp_path, content)
    assert problem in str(caught.value)
    assert "release.txt" in str(caught.value)


@pytest.mark.parametrize("path", ["nowhere.txt", ".", "nul\0", ""])
def test_a_file_that_cannot_be_read_is_named(path):
    with pytest.raises(FormulaError) as caught:
        Formula.parse(f"@{path}", "A")
    assert f"the release file {path!r} cannot be read" in str(caught.value)


def test_files_can_be_forbidden(tmp_path):
    (tmp_path / "secret").write_text("A")
    with pytest.raises(FormulaError, match="unexpected '@' in the release formula"):
        Formula.parse(f"@{tmp_path / 'secret'}", "A", files=False)
