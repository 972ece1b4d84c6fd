import pytest

from discreet.data.codebook import MISSING, Codebook, Missing, Role, Variable
from discreet.data.hierarchy import Hierarchy
from discreet.errors import CodebookError
from discreet.table.load import load

BOOK = """
missing = "drop"
missing_values = ["NA", 99]
weights = "w"
sampling_fraction = 0.05

[variables.Sex]
role = "identifying"
labels = { 1 = "Male", 2 = "Female" }

[variables.Illness]
role = "sensitive"
categories = ["none", "flu", "HIV"]
sensitive = ["HIV"]
hierarchy = "illness.csv"

[variables.Region.hierarchy]
East = "Coast"
West = "Coast"
"""


def test_a_codebook_from_a_file(tmp_path):
    (tmp_path / "book.toml").write_text(BOOK)
    (tmp_path / "illness.csv").write_text("code,parent\nflu,some\nHIV,some\nnone,\n")
    book = Codebook.read(tmp_path / "book.toml")
    assert book.missing is Missing.DROP
    assert book.missing_values == {"NA", "99"}
    assert (book.weights, book.sampling_fraction) == ("w", 0.05)
    assert book.entry("Sex").labels == {"1": "Male", "2": "Female"}
    assert book.entry("Sex").role is Role.IDENTIFYING
    assert list(book.entry("Illness").labels) == ["none", "flu", "HIV"]
    assert book.entry("Illness").sensitive == ("HIV",)
    assert book.entry("Illness").hierarchy == Hierarchy.of({"flu": "some", "HIV": "some"})
    assert book.entry("Region").hierarchy == Hierarchy.of({"East": "Coast", "West": "Coast"})
    assert book.entry("other").role is Role.UNSTATED


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("colour = 1", "a codebook has 'colour', which is not known; it may have about"),
        ("folder = 'x'", "a codebook has 'folder', which is not known"),
        ("missing = 'ignore'", "missing = 'ignore' must be 'category' or 'drop'"),
        ("missing_values = 'NA'", "missing_values = 'NA' must be a list"),
        ("weights = 3", "weights = 3 must be the name of a column"),
        ("sampling_fraction = 0", "sampling_fraction = 0 must be a number above 0 and at most 1"),
        ("sampling_fraction = 5", "sampling_fraction = 5 must be a number above 0 and at most 1"),
        ("sampling_fraction = 'all'", "sampling_fraction = 'all' must be a number"),
        ("sampling_fraction = nan", "sampling_fraction = nan must be a number"),
        ("variables = 3", "variables = 3 must be a table of variables"),
        ("[variables]\nA = 3", "variable 'A' must be a table"),
        ("[variables.A]\nrule = 3", "variable 'A' has 'rule', which is not known; "),
        ("[variables.A]\nrole = 'secret'", "role = 'secret' of 'A' must be one of identifying"),
        ("[variables.A]\ncategories = 'ab'", "categories of 'A' = 'ab' must be a list"),
        ("[variables.A]\nsensitive = 'HIV'", "sensitive of 'A' = 'HIV' must be a list"),
        ("[variables.A]\ncategories = ['x', 'x']", "'A' lists the category 'x' twice"),
        ("[variables.A]\nlabels = ['x']", r"labels of 'A' = \['x'\] must map each code"),
        ("[variables.A]\nlabels = {a='x'}\ncategories = ['x']", "both labels and categories"),
        ("[variables.A]\nhierarchy = 3", "a hierarchy maps each code to its parent, not 3"),
        (
            "[variables.A]\nhierarchy = 'no.csv'",
            "cannot read the hierarchy '.*no.csv': no such file",
        ),
        (
            "[variables.A]\nhierarchy = {x='y', y='x'}",
            "goes round in a circle at 'x'; cut it there",
        ),
        ("about = 'us'", "about must be a table"),
        ("[about]\nuniverse = 3", "universe of about = 3 must be a text"),
        ("[about]\nsource = ' '", "source of about = ' ' must be a text"),
        ("[about]\nnotes = 3", "notes of about = 3 must be a text or a list of texts"),
        ("[about]\nnotes = ['a', 3]", "a note of about = 3 must be a text"),
        (
            "[about]\nlicense = 'free'",
            "about has 'license', which is not known; did you mean",
        ),
        (f"[about]\nsource = '{'x' * 10_001}'", "source of about has 10,001 characters; shorten"),
        ("[variables.A]\ntitle = ['x']", r"title of 'A' = \['x'\] must be a text"),
        ("[variables.A]\nmap_key = 'x'", "'A' has a map_key and no map; name the GeoJSON file"),
        ("[variables", "is not TOML: .*; repair that place"),
    ],
)
def test_a_wrong_codebook_is_refused(tmp_path, content, message):
    (tmp_path / "book.toml").write_text(content)
    with pytest.raises(CodebookError, match=message) as caught:
        Codebook.read(tmp_path / "book.toml")
    assert "\n" not in str(caught.value)


def test_what_a_codebook_says_in_words(tmp_path):
    (tmp_path / "book.toml").write_text(
        """[about]
universe = "All households"
notes = ["One.", "Two  lines."]
licence = "CC BY 4.0"

[variables.Town]
title = "Town of residence"
description = "On 1 May."
unit = "people"
map = "towns.geojson"
map_key = "NAME"
"""
    )
    book = Codebook.read(tmp_path / "book.toml")
    assert book.about.universe == "All households"
    assert book.about.notes == ("One.", "Two lines.")
    assert (book.about.licence, book.about.contact) == ("CC BY 4.0", None)
    town = book.entry("Town")
    assert (town.title, town.description, town.unit) == ("Town of residence", "On 1 May.", "people")
    assert (town.map, town.map_key) == (tmp_path / "towns.geojson", "NAME")
    assert Codebook().about == Codebook.of(about={}).about


def test_a_codebook_that_cannot_be_read(tmp_path):
    with pytest.raises(CodebookError, match="no such file or directory; check the path"):
        Codebook.read(tmp_path / "book.toml")
    (tmp_path / "book.toml").write_bytes(b"# caf\xe9")
    with pytest.raises(CodebookError, match="is not UTF-8; save it as UTF-8"):
        Codebook.read(tmp_path / "book.toml")


def test_a_codebook_speaks_of_columns_that_are_there():
    book = Codebook.of({"Sex": {}}, weights="w")
    book.check_columns(["w", "Sex", "Age"])
    with pytest.raises(
        CodebookError, match="describes 'w', but the data have no such column; they"
    ):
        book.check_columns(["Sex"])


@pytest.mark.parametrize("role", Role)
def test_what_is_not_said_is_taken_for_the_worst(role):
    assert role.identifies == (role in ("identifying", "both", "unstated"))
    assert role.is_sensitive == (role in ("sensitive", "both", "unstated"))


def test_the_sensitive_categories_of_a_variable():
    labels = ("none", "flu", "HIV")
    assert Variable("A", labels, Role.NEITHER).sensitive_codes == ()
    assert Variable("A", labels, Role.SENSITIVE).sensitive_codes == (0, 1, 2)
    assert Variable("A", labels, Role.BOTH, ("HIV",)).sensitive_codes == (2,)


def test_a_merged_group_is_sensitive_if_a_member_is():
    variable = Variable("A", ("none", "flu", "HIV"), Role.SENSITIVE, ("HIV",))
    merged = variable.merged(["none", "some", "some"])
    assert merged.categories == ("none", "some")
    assert merged.sensitive == ("some",)
    with pytest.raises(CodebookError, match="'A' has 3 categories but 2 groups; give each"):
        variable.merged(["a", "b"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("A", ()), "variable 'A' has no categories"),
        (("A", ("x", "y", "x")), "variable 'A' lists the category 'x' twice; list it once"),
        (("A", ("x",), Role.BOTH, ("z",)), "'z' is called sensitive but is no category of 'A'; it"),
    ],
)
def test_a_wrong_variable_is_refused(arguments, message):
    with pytest.raises(CodebookError, match=message):
        Variable(*arguments)


def test_categories_are_found_by_value():
    variable = Variable("A", ("true", "2", MISSING))
    assert [variable.code(c) for c in (True, 2, 2.0, "2", MISSING)] == [0, 1, 1, 1, 2]
    with pytest.raises(
        CodebookError, match=r"'A' has no category 'x'; it has true, 2, \(missing\)"
    ):
        variable.code("x")


def test_hierarchies_get_coarser_down_to_two_groups():
    pairs = {"a": "A", "b": "A", "c": "C", "A": "top", "C": "top", "d": "D", "D": "top"}
    assert Hierarchy.of(pairs).levels("abcd") == (("A", "A", "C", "D"),)
    pairs |= {"D": "E"}
    assert Hierarchy.of(pairs).levels("abcd") == (("A", "A", "C", "D"), ("top", "top", "top", "E"))
    assert Hierarchy.of({}).levels("ab") == ()


def test_a_wrong_hierarchy_is_refused(tmp_path):
    with pytest.raises(CodebookError, match="gives 'x' two parents; keep one"):
        Hierarchy.of([("x", "a"), ("x", "b")])
    (tmp_path / "tree.csv").write_text("kind,parent\nx,y\n")
    with pytest.raises(CodebookError, match=r"tree.csv' needs the columns code and parent"):
        Hierarchy.read(tmp_path / "tree.csv")
    (tmp_path / "tree.csv").write_bytes(b"code,parent\n\xe9,y\n")
    with pytest.raises(CodebookError, match=r"tree.csv' is not UTF-8"):
        Hierarchy.read(tmp_path / "tree.csv")


@pytest.mark.parametrize("role", ["identifying", "neither"])
def test_sensitive_categories_are_of_a_sensitive_variable(role):
    """They were left aside, and everybody in a town could be shown to have one."""
    wanted = {"identifying": "both", "neither": "sensitive"}[role]
    said = f"'Ill' has the role '{role}', and 'yes' of it .* Give it the role '{wanted}'"
    with pytest.raises(CodebookError, match=said):
        Codebook.of({"Ill": {"role": role, "sensitive": ["yes"]}})
    with pytest.raises(CodebookError, match=said):
        Variable("Ill", ("no", "yes"), Role(role), ("yes",))
    documented = Codebook.of({"Ill": {"sensitive": ["yes"]}})
    book = Codebook.of({"Ill": {"role": role}}).over(documented)
    with pytest.raises(CodebookError, match=said):
        load({"Ill": ["yes", "no"] * 9}, codebook=book)
