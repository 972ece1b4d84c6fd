"""Requests are read from every kind of file, weighed fairly, and accounted for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DataError, DisclosureError, FormulaError
from discreet.table.formula import Formula
from discreet.utility.requests import EVERYBODY, Request, Requests, share_frame

NAMES = ("Age", "Sex", "Region", "Home town")
AGE, SEX, REGION, TOWN = 1, 2, 4, 8

CSV = """user,margin,count,weight
Ann,Age*Sex,3,2
Bob,Region,10,
Ann,`Home town`,1,2
Bob,Sex*Age,30,
Ann,Sex*Age,2,
"""
JSON = """{"users": {"Ann": 2}, "requests": [
  {"user": "Ann", "margin": "Age*Sex", "count": 3},
  {"user": "Bob", "margin": ["Region"], "count": 10},
  {"user": "Ann", "margin": "`Home town`"},
  {"user": "Bob", "margin": "Sex*Age", "count": 30},
  {"user": "Ann", "margin": ["Sex", "Age"], "count": 2}]}
"""
TOML = """
[users]
Ann = 2

[[requests]]
user = "Ann"
margin = "Age*Sex"
count = 3
[[requests]]
user = "Bob"
margin = "Region"
count = 10
[[requests]]
user = "Ann"
margin = "`Home town`"
[[requests]]
user = "Bob"
margin = "Sex*Age"
count = 30
[[requests]]
user = "Ann"
margin = "Sex*Age"
count = 2
"""
POLL = """margin;Ann;Bob;Cay
Age*Sex;5;30;
Region;;10;
`Home town`;1;0;
"""


def read(tmp_path, text, kind="csv", **options):
    path = tmp_path / f"asked.{kind}"
    path.write_text(text, encoding="utf-8")
    return Requests.read(path, NAMES, **options)


def release(text):
    return Formula.parse(text, NAMES)


@pytest.mark.parametrize(("text", "kind"), [(CSV, "csv"), (JSON, "json"), (TOML, "toml")])
def test_every_format_says_the_same(text, kind, tmp_path):
    asked = read(tmp_path, text, kind)
    assert asked.names == NAMES
    assert asked.users == {"Ann": 2, "Bob": 1}
    assert asked.requests == (
        Request("Ann", AGE | SEX, 3), Request("Bob", REGION, 10), Request("Ann", TOWN, 1),
        Request("Bob", AGE | SEX, 30), Request("Ann", AGE | SEX, 2),
    )  # fmt: skip
    assert asked.weights() == pytest.approx(
        {AGE | SEX: 2 * 5 / 6 + 30 / 40, REGION: 10 / 40, TOWN: 2 * 1 / 6}
    )
    assert asked.first_come() == (AGE | SEX, REGION, TOWN)


def test_a_poll_has_a_column_a_user(tmp_path):
    asked = read(tmp_path, POLL)
    assert asked.users == {"Ann": 1, "Bob": 1}  # Cay asks for nothing
    assert asked.weights() == pytest.approx({AGE | SEX: 5 / 6 + 3 / 4, REGION: 1 / 4, TOWN: 1 / 6})
    heavier = read(tmp_path, POLL, users={"Ann": 2, "Cay": 5})
    assert heavier.users == {"Ann": 2, "Bob": 1}


def test_margins_alone_are_one_request_each(tmp_path):
    asked = read(tmp_path, "\ufeffMargin\nAge\n\nAge*Sex\nAge\n", "txt")
    assert asked.users == {EVERYBODY: 1}
    assert asked.weights() == pytest.approx({AGE: 2 / 3, AGE | SEX: 1 / 3})
    assert read(tmp_path, '[{"margin": "Age"}]', "json").weights() == {AGE: 1}
    assert read(tmp_path, '[{"margin": "Age", "user": 7}]', "json").users == {"7": 1}


def test_from_python():
    one = Requests.of({"Age*Sex": 3, ("Age", "Region"): 1}, NAMES)
    assert one.weights() == {AGE | SEX: 0.75, AGE | REGION: 0.25}
    many = Requests.of({"Ann": {"Age": 1}, "Bob": {"Sex": 1, "Age": 3}}, NAMES, {"Bob": 4})
    assert many.weights() == {AGE: 4, SEX: 1}
    assert repr(many) == (
        "Requests(2 margins of 4 variables, asked for by 2 users with a weight of 5)"
    )
    assert Requests.of({"Age*Sex": 1, "Sex*Age": 2}, NAMES).weights() == {AGE | SEX: 1}


def test_one_user_with_many_requests_does_not_crowd_out_the_others():
    asked = {"Crowd": {"Age": 9000}, "Ann": {"Sex": 1}}
    found = Requests.of(asked, NAMES)
    assert found.weights() == {AGE: 1, SEX: 1}
    assert found.worth(release("Sex")) == 0.5


def test_weights_given_with_the_call_replace_those_of_the_file(tmp_path):
    assert read(tmp_path, CSV, users={"Ann": 7}).users == {"Ann": 7, "Bob": 1}


def test_what_follows_by_adding_up_is_served(tmp_path):
    ann, bob = read(tmp_path, CSV).served(release("Age*Sex*Region"))
    assert (ann.name, ann.weight, ann.requests, ann.count, ann.served) == ("Ann", 2, 2, 6, 5)
    assert ann.share == 5 / 6
    assert ann.missed == (("Home town",),)
    assert (bob.share, bob.missed) == (1, ())
    nothing = Requests.of({"Age": 1, "Age*Sex": 5, "Region": 5}, NAMES).served(
        release("`Home town`")
    )
    assert nothing[0].share == 0
    assert nothing[0].missed == (("Region",), ("Age", "Sex"), ("Age",))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames(kind, tmp_path):
    asked = read(tmp_path, CSV)
    shares = share_frame(asked.served(release("Age + Region")), kind)
    users = shares["user"].to_pylist() if kind == "arrow" else list(shares["user"])
    assert users == ["Ann", "Bob"]
    if kind == "pandas":
        assert shares.to_dict("list") == {
            "user": ["Ann", "Bob"], "weight": [2, 1], "requests": [2, 2], "count": [6, 40],
            "served": [0, 10], "share": [0, 0.25], "missed": ["Age*Sex + `Home town`", "Age*Sex"],
        }  # fmt: skip
        listed = asked.to_frame()
        assert list(listed["margin"]) == ["Age*Sex", "`Home town`", "Region", "Age*Sex"]
        assert listed["weight"].sum() == pytest.approx(3)


def test_a_release_of_another_table_is_refused():
    with pytest.raises(FormulaError, match="build both from one table"):
        Requests.of({"Age": 1}, NAMES).served(Formula.parse("Age", ["Age", "Sex"]))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("margin\nAeg\n", "unknown variable 'Aeg' in line 2 of 'asked.csv'; did you mean 'Age'"),
        ("margin\nAge + Sex\n", "'Age . Sex' in line 2 .* names 2 margins; make a request for"),
        ("margin,count\nAge,-1\n", "count = '-1' in line 2 of 'asked.csv' must be a number from 0"),
        ("margin,count\nAge,nan\n", "count = 'nan'"),
        ("margin,count\nAge,1e300\n", r"count = '1e300' .* to 1e\+15"),
        ("margin,count\nAge,\n", "count in line 2 of 'asked.csv' is missing; write a number"),
        ("margin,count\nAge,many\n", "count = 'many'"),
        ("margin,count\n,3\n", "line 2 of 'asked.csv' has no margin; write one as A"),
        ("margin,count\nAge,0\n", "every count is 0; ask for"),
        ("", "'asked.csv' is empty"),
        (" \n\n", "'asked.csv' is empty"),
        (",,\n", "'asked.csv' is empty; it needs a heading"),
        ("margin,count\n", "'asked.csv' has no line below its heading"),
        ("margins\nAge\n", "has no column 'margin'; it has 'margins'"),
        ("margin,usr,count\nAge,Ann,1\n", "column 'usr' in 'asked.csv'; did you mean 'user'"),
        ("margin,counts\nAge,1\n", "unknown column 'counts' in 'asked.csv'; did you mean 'count'"),
        ("margin,remark\nAge,please\n", "column 'remark' .*; there are .* votes as numbers"),
        ("margin,Ann\nAge,1\nSex,x\n", "the vote of 'Ann' = 'x' in line 3"),
        ("margin,Ann,Ann\nAge,1,2\n", "two columns named 'Ann'"),
        ("margin,,Ann\nAge,1,2\n", "column 2 of 'asked.csv' has no name"),
        ("margin,user\nAge\n", "line 2 of 'asked.csv' has 1 field where its heading has 2"),
        ("margin,user\nAge,Ann\nSex,\n", "line 3 of 'asked.csv' has no user, others have"),
        ("margin,weight\nAge,2\n", "a weight in line 2 of 'asked.csv' has no user"),
        (
            "margin,user,weight\nAge,Ann,1\nSex,Ann,2\n",
            "user 'Ann' has the weight 1 and, in line 3 of 'asked.csv', 2; give each user one",
        ),
        ("margin,user,weight\nAge,Ann,0\n", "every user has a weight of 0; give at least one"),
        ('margin\n"Age\n', "line 2 of 'asked.csv' is no line of CSV"),
    ],
)  # fmt: skip
def test_a_wrong_csv_is_told_apart(text, says, tmp_path):
    with pytest.raises(DisclosureError, match=says):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[", "'asked.json' is not JSON"),
        ("[" * 100_000, "'asked.json' is not JSON"),
        ("[]", "'asked.json' has no request"),
        ("3", "'asked.json' does not list requests; write them as in"),
        ('{"users": {"Ann": 1}}', "does not list requests"),
        ('{"user": {}, "requests": []}', "has 'user', which is not known; did you mean 'users'"),
        ('["Age"]', "request 1 of 'asked.json' is 'Age'; write it as in"),
        ('[{"margin": "Age", "n": 1}]', "request 1 of 'asked.json' has 'n', which is not known"),
        ('[{"count": 1}]', "request 1 of 'asked.json' has no margin"),
        ('[{"margin": 3}]', "request 1 of 'asked.json' has 3, which is no margin"),
        ('[{"margin": []}]', "has no margin"),
        ('[{"margin": ["Aeg"]}]', "unknown variable 'Aeg' .* did you mean 'Age'"),
        ('[{"margin": "Age", "count": null}]', "count in request 1 of 'asked.json' is missing"),
        ('[{"margin": "Age", "count": NaN}]', "count = nan"),
        ('[{"margin": "Age", "count": true}]', "count = True"),
        ('[{"margin": "Age", "count": 1' + "0" * 400 + "}]", "count = 1000"),
        ('[{"margin": "Age", "user": ["Ann"]}]', r"user = \['Ann'\] .* must be a name"),
        ('{"users": {"Ann": 1, "Ann": 2}, "requests": []}', "has 'Ann' twice, as 1 and 2"),
        (
            '{"users": {"Anne": 1}, "requests": [{"margin": "Age", "user": "Ann"}]}',
            "unknown user 'Anne' in the weights; did you mean 'Ann'",
        ),
        (
            '{"users": {"Ann": -1}, "requests": [{"margin": "Age", "user": "Ann"}]}',
            "the weight of 'Ann' = -1 in 'asked.json' must be",
        ),
        (
            '{"users": {"Ann": 3}, "requests": [{"margin": "Age", "user": "Ann", "weight": 1}]}',
            "user 'Ann' has the weight 3 and, in request 1",
        ),
    ],
)  # fmt: skip
def test_a_wrong_json_is_told_apart(text, says, tmp_path):
    with pytest.raises(DisclosureError, match=says):
        read(tmp_path, text, "json")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*no such file.*; check the path"):
        Requests.read(tmp_path / "none.csv", NAMES)
    with pytest.raises(DataError, match=r"ends in '\.xlsx', which is not read"):
        Requests.read(tmp_path / "asked.xlsx", NAMES)
    with pytest.raises(DataError, match=r"'asked\.toml' is not TOML"):
        read(tmp_path, "= 3", "toml")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="is a directory"):
        Requests.read(tmp_path / "folder.csv", NAMES)
    (tmp_path / "latin.csv").write_bytes("margin\nGröße\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"'latin\.csv' is not UTF-8"):
        Requests.read(tmp_path / "latin.csv", NAMES)


def test_wrong_values_in_python():
    with pytest.raises(DataError, match="there is no request"):
        Requests.of({}, NAMES)
    with pytest.raises(DataError, match="'Age' stands beside users"):
        Requests.of({"Ann": {"Age": 1}, "Age": 3}, NAMES)
    with pytest.raises(DataError, match="unknown user 'bop' in the weights; did you mean 'Bob'"):
        Requests.of({"Bob": {"Age": 1}}, NAMES, {"bop": 1})
    with pytest.raises(DataError, match="count = nan in the requests of 'Ann'"):
        Requests(NAMES, (Request("Ann", AGE, float("nan")),))
    with pytest.raises(FormulaError, match="only 4 variables"):
        Requests(NAMES, (Request("Ann", 16),))


# Laws

COUNTS = st.one_of(st.integers(1, 9), st.floats(1e-9, 1e9))
ROWS = st.lists(
    st.builds(Request, st.sampled_from("abc"), st.integers(1, 15), COUNTS), min_size=1, max_size=12
)
WEIGHTS = st.fixed_dictionaries(dict.fromkeys("abc", st.floats(0.1, 10)))
SETS = st.lists(st.integers(1, 15), max_size=4).map(tuple)


def asked(rows, weights):
    users = {row.user for row in rows}
    return Requests(NAMES, tuple(rows), {u: w for u, w in weights.items() if u in users})


@given(ROWS, WEIGHTS, SETS, SETS)
def test_releasing_more_never_lowers_a_share(rows, weights, few, more):
    requests = asked(rows, weights)
    less, all_ = Formula(NAMES, few), Formula(NAMES, few + more)
    for here, there in zip(requests.served(less), requests.served(all_), strict=True):
        assert 0 <= here.share <= there.share <= 1
        assert 0 <= len(there.missed) <= len(here.missed) <= here.requests
    assert 0 <= requests.worth(less) <= requests.worth(all_) <= 1
    assert requests.worth(Formula(NAMES, (15,))) == 1
    assert requests.worth(Formula(NAMES, ())) == 0


@given(ROWS, WEIGHTS, SETS)
def test_worth_is_the_weight_of_the_served_margins(rows, weights, sets):
    requests, formula = asked(rows, weights), Formula(NAMES, sets)
    closed = set(formula.closure().sets)
    by_margin = requests.weights()
    served = sum(w for margin, w in by_margin.items() if margin in closed)
    assert requests.worth(formula) == pytest.approx(served / sum(by_margin.values()))


@given(ROWS, WEIGHTS)
def test_fair_weights_add_up_to_those_of_the_users(rows, weights):
    requests = asked(rows, weights)
    assert sum(requests.weights().values()) == pytest.approx(sum(requests.users.values()))


@given(ROWS, WEIGHTS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, weights, random):
    turned = random.sample(rows, len(rows))
    assert asked(rows, weights).weights() == asked(turned, weights).weights()


@given(ROWS, st.floats(0.01, 100))
def test_asking_more_often_for_everything_changes_nothing(rows, factor):
    more = [Request(r.user, r.margin, r.count * factor) for r in rows]
    expected = Requests(NAMES, tuple(rows)).weights()
    assert Requests(NAMES, tuple(more)).weights() == pytest.approx(expected)
