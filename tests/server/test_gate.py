"""Everything that becomes public passes the one gate, together with all that is out."""

import numpy as np
import pytest

from discreet.data.previous import Previous
from discreet.decision.answering import Outcome, Why
from discreet.decision.answering.gate import NotSafe
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import DisclosureError, LedgerError
from discreet.server.deciding.counter import Counter
from discreet.server.ledger import store
from discreet.server.ledger.schema import Kind
from discreet.server.showing.catalogue import Catalogue
from discreet.table.formula import Formula
from discreet.table.table import Table
from server.sites import MYOPIC, world

SECRET = b"of these tests"
WIDTHS = {"server.rule": "myopic", "attribute.check": False, "server.slot": 0.0}
OLD = np.array([[40, 55], [61, 38]])


def two(counts, **categories):
    names = {"A": ["a", "b"], "B": ["x", "y"]} | categories
    return Table.of(np.asarray(counts), **names)


def policy(**changes):
    return Policy.of(WIDTHS | {key.replace("__", "."): value for key, value in changes.items()})


def opened(database, table, rules=None, slug="people", **more):
    counter = Counter(database, SECRET)
    counter.open(table, rules or policy(), slug=slug, **more)
    return counter


def count_of(database, what=store.datasets):
    with database.read() as session:
        return len(what(session))


# Opening


def test_one_judge_is_not_published(database):
    jobs = Table.of(
        np.array([[30, 20], [1, 0], [25, 31]]),
        Job=["clerk", "judge", "nurse"],
        Sex=["female", "male"],
    )
    with pytest.raises(NotSafe, match=r"merge categories, or set server\.one_way") as caught:
        opened(database, jobs)
    assert "merge 'judge' of Job with others, or set server.one_way" in caught.value.why
    assert "judge" not in str(caught.value)
    assert count_of(database) == 0
    merged = jobs.merge("Job", {"clerk": "clerk", "judge": "other", "nurse": "other"})
    assert opened(database, merged).request("people", ["Job"]).why is Why.OUT


def test_doubt_is_not_published_at_opening(database):
    """Groups by two variables are not looked at across margins."""
    table = Table.of(np.full((2,) * 3, 40), **{name: [0, 1] for name in "ABC"})
    lenient = policy(server__rule="static", attribute__check=True, attribute__order=1)
    doubt = [["A", "B"], ["B", "C"], ["A", "C"]]
    assert decide(table, doubt, lenient).verdict is Verdict.REVIEW
    with pytest.raises(NotSafe, match="is not proven to keep the policy"):
        opened(database, table, lenient, frontier=doubt)
    assert count_of(database) == 0


def test_the_confidential_table_is_no_frontier(database):
    table = two([[40, 55], [1, 38]])
    static = policy(server__rule="static")
    for rules in (static, static.change({"bounds.gigabytes": 1e-12})):  # as if it were huge
        with pytest.raises(NotSafe, match="does not keep the policy, and would be public"):
            opened(database, table, rules, frontier=[["A", "B"]])
    assert count_of(database) == 0


def test_without_one_way_margins_nothing_is_taken_for_granted(database):
    """Each margin by itself is judged as if it were the first."""
    rng, rules = np.random.default_rng(3), policy(server__one_way=False)
    for case in range(6):
        counts = rng.multinomial(200, rng.dirichlet(np.full(12, 0.7))).reshape(2, 2, 3)
        table = Table.of(counts, A=[0, 1], B=[0, 1], C=[0, 1, 2])
        counter = opened(database, table, rules, slug=f"case-{case}", apart=case > 0)
        for margin in ("A", "B", "C", "A*B", "A*C", "B*C", "A*B*C"):
            with counter.desk(f"case-{case}") as desk:
                granted = desk.ask(margin).outcome is Outcome.GRANTED
            alone = decide(table, Formula.parse(margin, table.names), rules).verdict
            assert granted == (alone is Verdict.PASS)


# Policies


def test_a_policy_publishes_what_it_adds_or_is_refused(database):
    """No table is called granted that is not there."""
    counter = opened(
        database, two(OLD), policy(server__one_way=False), frontier=[["A"]], slug="people"
    )
    counter.change_policy("people", {"server.rule": "static"}, "7")
    assert counter.request("people", ["A"]).why is Why.OUT
    assert Catalogue(database).published("people", ["A"]).counts.tolist() == [95, 99]
    counter.change_policy("people", {"server.rule": "myopic", "server.one_way": True}, "7")
    assert Catalogue(database).published("people", ["B"]).counts.tolist() == [101, 93]
    assert {e.kind for e in entries(database)} == {Kind.OPENED, Kind.POLICY, Kind.PUBLISHED,
                                                   Kind.REQUEST}  # fmt: skip
    few = two([[40, 2], [30, 0]])
    other = opened(database, few, policy(server__one_way=False), slug="few", apart=True)
    with pytest.raises(NotSafe, match="merge categories") as caught:
        other.change_policy("few", {"server.one_way": True}, "7")
    assert "merge 'y' of B" in caught.value.why
    with other.desk("few") as desk:
        assert desk.out == ()
        assert not desk.policy.server.one_way
    assert other.request("few", ["B"]).why is Why.UNSAFE


def test_a_closed_data_set_publishes_nothing_by_a_policy(database):
    counter = opened(database, two(OLD), policy(server__one_way=False))
    counter.close("people", "7", "done")
    with pytest.raises(DisclosureError, match="closed"):
        counter.change_policy("people", {"server.one_way": True}, "7")
    assert Catalogue(database).margins("people") == []


def test_what_is_in_doubt_is_called_so_where_everything_waits(database):
    table = Table.of(np.full((2,) * 3, 40), **{name: [0, 1] for name in "ABC"})
    rules = policy(
        attribute__check=True,
        attribute__order=1,
        server__approval="always",
        server__one_way=False,
    )
    counter = opened(database, table, rules)
    for margin, why, then in (("AB", Why.APPROVAL, Why.SAFE), ("BC", Why.DOUBT, Why.ACCEPTED)):
        decided = counter.request("people", list(margin))
        assert (decided.outcome, decided.why) == (Outcome.PENDING, why)
        assert counter.approve("people", decided.number, "7").why is then


def test_two_custodians_approve(database):
    counter = opened(database, two(OLD), policy(server__approval="always", server__approvers=2))
    ticket = counter.request("people", ["A", "B"], "9").number
    again = counter.request("people", ["A", "B"], "8")
    assert again.outcome is Outcome.PENDING
    for asked in ("9", "8"):  # first, and while it waited
        with pytest.raises(DisclosureError, match="own request"):
            counter.approve("people", ticket, asked)
    first = counter.approve("people", ticket, "7")
    assert (first.outcome, first.why) == (Outcome.PENDING, Why.SECOND)
    with pytest.raises(DisclosureError, match="you have approved it"):
        counter.approve("people", ticket, "7")
    assert ["A", "B"] not in [list(m) for m in Catalogue(database).margins("people")]
    assert counter.approve("people", ticket, "6").outcome is Outcome.GRANTED
    with pytest.raises(DisclosureError, match="no pending"):
        counter.approve("people", again.number, "7")
    # nor can one of them change the rule alone
    assert counter.change_policy("people", {"server.approvers": 1}, "7") == 1
    assert counter.change_policy("people", {"server.approvers": 1}, "7") == 1
    assert counter.change_policy("people", {"server.approvers": 1}, "8") == 2


# Vintages


def grown(*cells):
    counts = OLD.copy()
    for cell in cells:
        counts[cell] += 1
    return two(counts)


def test_a_vintage_is_one_whatever_the_command_line_says(database):
    rules = policy(server__one_way=False)
    counter = opened(database, two(OLD), rules, slug="v1")
    assert counter.request("v1", ["A", "B"]).why is Why.SAFE
    counter.open(grown((0, 0)), rules, slug="v2", previous="v1")
    again = Counter(database, SECRET)  # as if it were served for the first time
    again.open(two(OLD), rules, slug="v1")
    again.open(grown((0, 0)), rules, slug="v2")
    assert again.request("v2", ["A"]).why is Why.UNSAFE
    alone = Counter(database, SECRET)
    with pytest.raises(LedgerError, match="serve the data of 'v1' too"):
        alone.open(grown((0, 0)), rules, slug="v2")
    with pytest.raises(LedgerError, match="leave --previous out"):
        again.open(two(OLD), rules, slug="v1", previous="v2")


def test_an_older_vintage_is_not_forgotten(database):
    """One came since the first; the second has published nothing that tells it."""
    rules = policy(server__one_way=False)
    counter = opened(database, two(OLD), rules, slug="v1")
    counter.request("v1", ["A", "B"])
    counter.open(grown((0, 0)), rules, slug="v2", previous="v1")
    many = two(OLD + np.array([[1, 0], [0, 0]]) + 50)
    counter.open(many, rules, slug="v3", previous="v2")
    assert counter.request("v3", ["A"]).why is Why.SAFE
    counter.open(two(OLD + np.array([[0, 0], [0, 1]])), rules, slug="v4", previous="v2")
    assert counter.request("v4", ["A"]).why is Why.UNSAFE  # with v1, the grandparent
    assert counter.request("v3", ["B"]).why is Why.CLOSED  # a sibling


def test_one_way_margins_of_a_growing_register_are_judged(database):
    """Who came is a table of its own: one new person in a category."""
    counter = opened(database, two(OLD), slug="v1")
    with pytest.raises(NotSafe, match="of those who came or went"):
        counter.open(grown((0, 0)), policy(), slug="v2", previous="v1")
    assert count_of(database) == 1
    assert counter.request("v1", ["A", "B"]).outcome is Outcome.GRANTED  # v1 is not closed
    counter.open(two(OLD + 20), policy(), slug="v2", previous="v1")
    assert counter.request("v1", ["A"]).why is Why.OUT


NEW = {
    "categories": {"A": {"1": "", "2": ""}, "B": {"3": "", "4": ""}},
    "ended_categories": {"A": ["a", "b"], "B": ["x", "y"]},
}
SPLIT = {"categories": {"A": {"a1": "a", "a2": "a"}}}


@pytest.mark.parametrize(
    ("later", "said"),
    [
        (two(OLD + np.array([[1, 0], [0, 0]]), A=["A", "b"]), {}),
        (two(OLD + np.array([[1, 0], [0, 0]]), A=["1", "2"], B=["3", "4"]), NEW),
        (Table.of([[20, 30], [21, 25], [61, 38]], A=["a1", "a2", "b"], B=["x", "y"]), SPLIT),
        (two([*(OLD + np.array([[1, 0], [0, 0]])).tolist(), [0, 0]], A=["A", "b", "a"]), {}),
    ],
    ids=["one name", "all names", "split", "listed"],
)
def test_new_names_of_categories_hide_nobody_who_came(database, later, said):
    """Also where somebody says that all names are new and none is an old one."""
    counter = opened(database, two(OLD), slug="v1")
    if said:
        with pytest.raises(LedgerError, match="of the older vintage 'v1' it is not said what"):
            counter.open(later, policy(), slug="v2", previous="v1")
    names = Previous.of(said)
    with pytest.raises(NotSafe, match="of those who came or went"):
        counter.open(later, policy(), slug="v2", previous="v1", older_names=names)
    more = two(OLD + 20, A=["A", "b"])
    counter.open(more, policy(), slug="v3", previous="v1")


def test_the_ledger_remembers_what_became_of_names(database):
    """One came to a1 since the first vintage; the ledger knows that a1 and a2 were a."""
    rules = policy(server__one_way=False)
    counter = opened(database, two(OLD), rules, slug="v1")
    counter.request("v1", ["A"])
    later = Table.of([[20, 30], [21, 25], [61, 38]], A=["a1", "a2", "b"], B=["x", "y"])
    names = Previous.of(SPLIT)
    counter.open(later, rules, slug="v2", previous="v1", older_names=names)
    for served in (counter, Counter(database, SECRET)):
        served.open(two(OLD), rules, slug="v1")
        served.open(later, rules, slug="v2")
        assert served.request("v2", ["A"]).why is Why.UNSAFE
        assert served.request("v2", ["B"]).outcome is Outcome.GRANTED


def test_a_vintage_cannot_be_forgotten(database):
    counter = opened(database, two(OLD), slug="v1")
    with pytest.raises(LedgerError, match=r"--previous v1: .*--apart"):
        counter.open(two(OLD + 20), policy(), slug="v2")
    wider = Table.of(np.stack([OLD, OLD], -1), A=[0, 1], B=[0, 1], C=[0, 1])
    with pytest.raises(LedgerError, match="has the variables of 'v1'"):
        counter.open(wider, policy(), slug="v2")
    with pytest.raises(LedgerError, match="the data of 'copy' are those of 'v1'"):
        counter.open(two(OLD), policy(), slug="copy", apart=True)
    counter.open(wider, policy(), slug="others", apart=True, actor="operator ada")
    first = entries(database, "others")[0]
    assert (first.actor, first.note) == (
        "operator ada",
        "Said to be of other people than other data sets.",
    )


def test_one_file_is_not_served_in_parts(database):
    """Two parts that overlap, or whose columns have other names."""
    counter = opened(database, two(OLD), slug="v1")
    other = Table.of(OLD + 20, B=[0, 1], C=[0, 1])
    with pytest.raises(LedgerError, match=r"has 'B' in common with 'v1'.*one data set.*--apart"):
        counter.open(other, policy(), slug="part")
    renamed = Table.of(OLD[::-1], C=[0, 1], D=[0, 1])
    with pytest.raises(LedgerError, match="has about the number of people in common with 'v1'"):
        counter.open(renamed, policy(), slug="part")
    grown = Table.of(OLD + 40, C=[0, 1], D=[0, 1])  # by 160 to 354
    with pytest.raises(LedgerError, match="has about the number of people in common with 'v1'"):
        counter.open(grown, policy(), slug="part")
    counter.open(Table.of(3 * OLD, C=[0, 1], D=[0, 1]), policy(), slug="others")
    counter.open(other, policy(), slug="part", apart=True)


def test_a_vintage_of_what_is_not_there(database):
    counter = opened(database, two(OLD), slug="v1")
    with pytest.raises(LedgerError, match="the older vintage 'v0' is not served"):
        counter.open(two(OLD + 20), policy(), slug="v2", previous="v0")


def test_data_that_are_not_served_are_asked_about(database):
    """Their columns cannot be compared, and nobody has said that their people are others."""
    opened(database, two(OLD), slug="v1")
    renamed = Table.of(OLD[::-1], C=[0, 1], D=[0, 1])
    with pytest.raises(LedgerError, match=r"'v1', whose data are not served here.*--apart"):
        opened(database, renamed, policy(), slug="part")
    counter = opened(database, renamed, policy(), slug="part", apart=True)
    more = Table.of(OLD[::-1] + 20, C=[0, 1], D=[0, 1])
    counter.open(more, policy(), slug="later", previous="part")  # it was said of its vintage


def test_a_vintage_may_be_of_the_people_of_another_data_set(database):
    """It has columns of two data sets that have nothing in common: nobody was asked about both."""
    counter = opened(database, two(OLD), slug="v1")
    counter.open(Table.of(OLD + 90, C=[0, 1], D=[0, 1]), policy(), slug="other")
    both = Table.of(np.stack([OLD, OLD], -1) + 90, A=[0, 1], C=[0, 1], D=[0, 1])
    names = Previous.of({"variables": {"A": ""}})
    with pytest.raises(LedgerError, match=r"has 'A' in common with 'v1'.*--apart"):
        counter.open(both, policy(), slug="later", previous="other", older_names=names)
    counter.open(both, policy(), slug="later", previous="other", older_names=names, apart=True)
    last = Table.of(np.stack([OLD, OLD], -1) + 150, A=[0, 1], C=[0, 1], D=[0, 1])
    counter.open(last, policy(), slug="last", previous="later")


def test_a_new_vintage_waits_for_requests_under_way(database, monkeypatch):
    """What goes out of the old one while the new one is judged is judged with it."""
    from discreet.decision.answering import gate

    counter, real = opened(database, two(OLD), policy(server__one_way=False), slug="v1"), gate.check

    def late(*args):
        monkeypatch.setattr(gate, "check", real)
        real(*args)
        counter.request("v1", ["A"])

    monkeypatch.setattr(gate, "check", late)
    with pytest.raises(NotSafe, match="of those who came or went"):
        counter.open(grown((0, 0)), policy(), slug="v2", previous="v1")


def entries(database, slug="people"):
    with database.read() as session:
        return store.entries(session, store.find_dataset(session, slug))


def test_the_simulatable_rule_has_the_gate(database):
    """What the public takes for safe and the data speak against."""
    table, rules = two([[40, 55], [1, 38]]), policy(server__rule="simulatable", server__delta=0.2)
    counter = opened(database, table, rules)
    assert counter.request("people", ["A", "B"]).why is Why.UNSAFE
    counter.change_policy("people", {"server.gate": False}, "7")
    assert counter.request("people", ["A", "B"]).outcome is Outcome.GRANTED


# What waits


def test_the_same_request_waits_once_and_every_ticket_follows_it(tmp_path):
    with world(tmp_path) as made:
        made.open(changes=MYOPIC | {"server.approval": "always", "attribute.check": False})
        one, two_, staff = (made.client(role) for role in ("public", "analyst", "custodian"))
        asked = "/api/v1/datasets/tract/requests"
        wanted = {"variables": ["Gender", "Income"]}
        tickets = [client.post(asked, wanted).json()["ticket"] for client in (one, two_, two_)]
        assert len(set(tickets)) == 3
        waiting = staff.get("/api/v1/datasets/tract/pending").json()["pending"]
        assert [item["number"] for item in waiting] == [int(tickets[0].rpartition("/")[2])]
        for place in (1, 2):
            assert two_.get(tickets[place]).json()["outcome"] == "pending"
        number = waiting[0]["number"]
        assert staff.post(f"/api/v1/datasets/tract/pending/{number}/approve").status_code == 200
        for client, ticket in ((one, tickets[0]), (two_, tickets[1]), (two_, tickets[2])):
            told = client.get(ticket).json()
            assert (told["outcome"], told["why"]) == ("granted", "safe")
            assert told["address"].endswith("/tables/Gender*Income")


def test_a_ticket_follows_a_table_that_came_out_with_another(tmp_path):
    with world(tmp_path) as made:
        made.open(changes=MYOPIC | {"server.approval": "always", "attribute.check": False,
                                    "published.least": 0, "small.width": 0})  # fmt: skip
        public, staff = made.client(), made.client("custodian")
        asked = "/api/v1/datasets/tract/requests"
        small = public.post(asked, {"variables": ["Gender", "Race"]}).json()["ticket"]
        large = public.post(asked, {"variables": ["Gender", "Race", "Income"]}).json()
        staff.post(f"/api/v1/datasets/tract/pending/{large['entry']}/approve")
        told = public.get(small).json()
        assert (told["outcome"], told["why"]) == ("granted", "out")
