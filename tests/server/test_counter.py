"""Requests are decided once, in the ledger, whichever process decides."""

import threading
from contextlib import suppress
from itertools import permutations

import numpy as np
import pytest

from discreet.data.previous import Previous
from discreet.decision.answering import Desk, Outcome, Status, Why
from discreet.decision.answering.gate import NotSafe
from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError, LedgerError
from discreet.server.deciding.counter import Counter
from discreet.server.ledger import store
from discreet.server.ledger.chain import verify
from discreet.server.ledger.schema import Kind
from discreet.server.showing.catalogue import Catalogue, NotPublished, Withdrawn
from discreet.table.load import load
from discreet.table.table import Table

RULES = {
    "server.rule": "myopic",
    "bounds.proof": "outer",
    "attribute.check": False,
    "published.least": 0,
}
CZECH = load("example:czech")
SECRET = b"of these tests"
ASKED = {"1": ["AB", "CD", "EF"], "2": ["AC", "BD", "CE"]}  # of two analysts


def policy(**changes):
    return Policy.of(RULES | {key.replace("__", "."): value for key, value in changes.items()})


def opened(database, table=CZECH, rules=None, slug="czech", **more):
    counter = Counter(database, SECRET)
    counter.open(table, rules or policy(), slug=slug, **more)
    return counter


def entries(database, slug="czech"):
    with database.read() as session:
        return store.entries(session, store.find_dataset(session, slug))


def is_verified(database, slug="czech"):
    with database.read() as session:
        return verify(session, store.find_dataset(session, slug)).holds


def test_a_request_is_granted_served_and_kept(database):
    counter = opened(database)
    assert [e.kind for e in entries(database)] == [Kind.OPENED] + [Kind.PUBLISHED] * 6
    decided = counter.request("czech", ["B", "A"])
    assert (decided.number, decided.outcome, decided.margin) == (8, Outcome.GRANTED, ("A", "B"))
    table = Catalogue(database).published("czech", ["A", "B"])
    np.testing.assert_array_equal(table.counts, CZECH.margin("A*B").dense())
    assert (table.entry, table.total) == (8, CZECH.total)
    again = counter.request("czech", ["A", "B"])
    assert (again.outcome, again.why, again.number) == (Outcome.GRANTED, Why.OUT, 9)
    assert counter.standing("czech", ["A"]).status is Status.RELEASED
    assert is_verified(database)


def test_what_does_not_keep_the_policy_is_not_out_from_the_start(database):
    """One-way margins and a frontier that is given are judged before anybody can read them."""
    few = Table.of(np.array([[20, 30], [1, 1]]), A=["a", "b"], B=["c", "d"])
    rules = Policy.of({"server.rule": "myopic", "attribute.check": False, "small.width": 0})
    with pytest.raises(NotSafe, match=r"merge categories, or set server\.one_way = false"):
        opened(database, few, rules, slug="few")
    static = rules.change({"server.rule": "static"})
    with pytest.raises(DisclosureError, match=r"does not keep the policy, .*`discreet frontier`"):
        opened(database, few, static, slug="few", frontier=[["A"]])
    other = Table.of(np.array([[40, 60], [1, 1]]), A=["a", "b"], B=["c", "d"])
    opened(database, other, static, slug="chosen", frontier=[["B"]])
    rules = rules.change({"server.one_way": False})
    with pytest.raises(
        LedgerError, match=r"has the variables of 'chosen'.*--previous chosen.*--apart"
    ):
        opened(database, few, rules, slug="few")
    later = opened(database, few, rules, slug="few", apart=True)
    with pytest.raises(LedgerError, match="the data of 'twin' are those of 'few'"):
        opened(database, few, rules, slug="twin", apart=True)
    assert later.request("few", ["A"]).why is Why.UNSAFE
    assert later.request("few", ["B"]).why is Why.SAFE


def test_a_refusal_is_kept_and_the_table_is_not(database):
    counter = opened(database)
    decided = counter.request("czech", list("ABCDEF"))
    assert (decided.outcome, decided.why) == (Outcome.REFUSED, Why.UNSAFE)
    assert decided.near == tuple((name,) for name in "ABCDEF")
    with pytest.raises(NotPublished):
        Catalogue(database).published("czech", list("ABCDEF"))
    assert entries(database)[-1].table_hash is None


def test_a_slice_and_a_child_come_from_the_published_margin(database):
    counter = opened(database)
    counter.request("czech", list("ABC"))
    catalogue = Catalogue(database)
    child = catalogue.published("czech", ["C", "A"])
    np.testing.assert_array_equal(child.counts, CZECH.margin("A*C").dense())
    label = CZECH.variable("B").categories[1]
    part = catalogue.published("czech", ["A"], {"B": label})
    np.testing.assert_array_equal(part.counts, CZECH.margin("A*B").dense()[:, 1])
    with pytest.raises(NotPublished):
        catalogue.published("czech", ["A"], {"D": CZECH.variable("D").categories[0]})
    with pytest.raises(DisclosureError, match="no category"):
        catalogue.published("czech", ["A"], {"B": "perhaps"})


def test_two_counters_on_one_database_are_of_one_mind(database):
    first, second = opened(database), opened(database)
    assert first.request("czech", list("ABC")).why is Why.SAFE
    assert second.request("czech", list("AB")).why is Why.OUT
    first.change_policy("czech", {"server.max_order": 2}, "1")
    assert second.request("czech", list("DEF")).why is Why.ORDER
    with second.desk("czech") as desk:
        assert desk.policy.server.max_order == 2
    assert first.request("czech", list("DEF")).why is Why.ORDER
    assert is_verified(database)


def test_of_two_requests_that_are_unsafe_together_one_is_granted(database):
    rng, rules = np.random.default_rng(4), policy(small__width=6)
    counts = rng.multinomial(400, rng.dirichlet(np.full(32, 0.8))).reshape((2,) * 5)
    table = Table.of(counts, **{name: [0, 1] for name in "ABCDE"})
    names = [list("ABCD"), list("ACDE")]
    for margin in names:
        assert Desk(table, rules).ask("*".join(margin)).outcome is Outcome.GRANTED
    counters = [opened(database, table, rules, slug="pair") for _ in range(4)]
    outcomes = [None] * 4

    def ask(i):
        outcomes[i] = counters[i].request("pair", names[i % 2]).outcome

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(set(outcomes)) == [Outcome.GRANTED, Outcome.REFUSED]
    assert outcomes[0] == outcomes[2] != outcomes[1] == outcomes[3]
    assert is_verified(database, "pair")


def test_the_state_is_rebuilt_from_the_ledger_and_compared(database):
    counter = opened(database)
    counter.request("czech", list("ABC"))
    again = opened(database)
    assert again.served["czech"].desk.out == counter.served["czech"].desk.out
    other = Counter(database, SECRET)
    with pytest.raises(LedgerError, match="not those that its ledger was opened with"):
        other.open(load("example:czech").margin("A*B*C*D*E"), policy(), slug="czech")
    stranger = Counter(database, b"another secret")
    with pytest.raises(LedgerError, match=r"secret is not the one .* Do not open the data under"):
        stranger.open(CZECH, policy(), slug="czech")


def test_nothing_is_told_or_kept_if_the_transaction_fails(database, monkeypatch):
    counter = opened(database)
    before = len(entries(database))
    real = store.publish

    def lost(*args, **kwargs):
        real(*args, **kwargs)
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(store, "publish", lost)
    with pytest.raises(RuntimeError):
        counter.request("czech", list("ABC"))
    monkeypatch.undo()
    assert len(entries(database)) == before
    assert counter.standing("czech", list("ABC")).status is Status.POSSIBLE
    with pytest.raises(NotPublished):
        Catalogue(database).published("czech", list("ABC"))
    assert counter.request("czech", list("ABC")).outcome is Outcome.GRANTED


def test_a_policy_that_cannot_be_kept_leaves_the_old_one(database, monkeypatch):
    counter = opened(database)
    monkeypatch.setattr(store, "append", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        counter.change_policy("czech", {"small.width": 9}, "1")
    monkeypatch.undo()
    with counter.desk("czech") as desk:
        assert desk.policy.small.width == 3
    with pytest.raises(DisclosureError, match="needs a frontier"):
        counter.change_policy("czech", {"server.rule": "static"}, "1")


def test_pending_requests_are_approved_or_rejected(database):
    counter = opened(database, rules=policy(server__approval="always"))
    first, second = counter.request("czech", list("AB")), counter.request("czech", list("CD"))
    assert first.outcome is second.outcome is Outcome.PENDING
    assert counter.cost("czech", list("AB")).gone == 0
    assert counter.approve("czech", first.number, "7", "harmless").outcome is Outcome.GRANTED
    assert Catalogue(database).published("czech", list("AB")).total == CZECH.total
    counter.reject("czech", second.number, "7", "not needed")
    assert counter.request("czech", list("CD")).why is Why.REJECTED
    assert opened(database).request("czech", list("CDE")).why is Why.REJECTED
    for number in (first.number, second.number, 1):
        with pytest.raises(DisclosureError, match=r"decided already|no pending"):
            counter.approve("czech", number, "7")


def test_what_became_unsafe_cannot_be_approved(database):
    counter = opened(database, rules=policy(server__approval="always"))
    ticket = counter.request("czech", list("ABC"))
    counter.change_policy("czech", {"server.max_order": 2}, "7")
    with pytest.raises(DisclosureError, match="can no longer be approved"):
        counter.approve("czech", ticket.number, "7")


def test_a_withdrawn_table_is_not_served_and_stays_counted(database):
    counter = opened(database)
    counter.request("czech", list("ABC"))
    counter.withdraw("czech", list("ABC"), "7", "a coding error")
    with pytest.raises(Withdrawn, match="a coding error"):
        Catalogue(database).published("czech", list("AB"))
    assert Catalogue(database).published("czech", ["A"]).total == CZECH.total
    assert opened(database).standing("czech", list("ABC")).status is Status.RELEASED
    with pytest.raises(DisclosureError, match="not published by itself"):
        counter.withdraw("czech", list("AB"), "7", "a part")
    assert is_verified(database)


def test_a_quota_is_for_one_user_and_one_day(database):
    counter = opened(database, rules=policy(server__quota=1))
    assert counter.request("czech", list("AB"), "1").outcome is Outcome.GRANTED
    assert counter.request("czech", list("CD"), "1").why is Why.QUOTA
    assert counter.request("czech", list("AB"), "1").why is Why.OUT
    assert counter.request("czech", list("CD"), "2").outcome is Outcome.GRANTED


@pytest.mark.parametrize("approvers", [["7"], ["7", "8", "9"], ["9", "7", "9"]])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_an_approved_table_is_charged_to_who_asked(database, order, approvers):
    """Whoever approves, in whatever order: one table for each analyst, none for a custodian."""
    counter = opened(database, rules=policy(server__approval="always", server__quota=1))
    asked = {a: [counter.request("czech", list(m), a).number for m in ASKED[a]] for a in ASKED}
    published = []
    for place in order:
        for analyst, numbers in asked.items():
            with suppress(DisclosureError):
                counter.approve("czech", numbers[place], approvers[place % len(approvers)])
                published.append(analyst)
    assert sorted(published) == sorted(ASKED)


def test_a_custodian_whose_quota_is_spent_approves_for_another(database):
    counter = opened(database, rules=policy(server__quota=1))
    assert counter.request("czech", list("AB"), "7").outcome is Outcome.GRANTED
    counter.change_policy("czech", {"server.approval": "always"}, "7")
    ticket = counter.request("czech", list("CD"), "1").number
    assert counter.approve("czech", ticket, "7").outcome is Outcome.GRANTED
    assert counter.request("czech", list("EF"), "1").why is Why.QUOTA


def test_who_asks_for_what_waits_is_charged_too(database):
    """One of those who asked must have some of the quota left, and it is spent for all of them."""
    counter = opened(database, rules=policy(server__approval="always", server__quota=1))
    first, second = (counter.request("czech", list(m), "1").number for m in ("AB", "CD"))
    counter.approve("czech", first, "7")
    with pytest.raises(DisclosureError, match=r"server\.quota.*approve it tomorrow"):
        counter.approve("czech", second, "7")
    counter.request("czech", list("CD"), "2")
    assert counter.approve("czech", second, "7").outcome is Outcome.GRANTED
    assert counter.request("czech", list("EF"), "2").why is Why.QUOTA


def test_the_quota_is_charged_when_the_last_custodian_approves(database):
    rules = policy(server__approval="always", server__quota=1, server__approvers=2)
    counter = opened(database, rules=rules)
    numbers = [counter.request("czech", list(m), "1").number for m in ("AB", "CD")]
    for number in numbers:
        assert counter.approve("czech", number, "7").why is Why.SECOND
    assert counter.approve("czech", numbers[1], "8").outcome is Outcome.GRANTED
    with pytest.raises(DisclosureError, match="approve it tomorrow"):
        counter.approve("czech", numbers[0], "8")


def test_a_list_of_candidates(database):
    counter = opened(database, rules=policy(server__curated=True), listed=[list("AB")])
    assert counter.request("czech", list("CD")).why is Why.UNLISTED
    counter.list_margins("czech", [list("CD")], "7")
    assert counter.request("czech", list("CD")).outcome is Outcome.GRANTED
    assert opened(database).request("czech", list("AB")).why is Why.UNLISTED


def test_a_vintage_with_a_renamed_column_is_asked_like_any_other(database):
    counter, rules = Counter(database, SECRET), policy(server__one_way=False)
    older = Table.of([[40, 55], [61, 38]], Town=["a", "b"], Sex=["f", "m"])
    counter.open(older, rules, slug="old")
    assert counter.request("old", ["Town", "Sex"]).outcome == "granted"
    newer = Table.of([[140, 155], [161, 138]], City=["a", "b"], Sex=["f", "m"])
    said = Previous.of({"variables": {"City": "Town"}})
    counter.open(newer, rules, slug="new", previous="old", older_names=said)
    assert counter.request("new", ["City", "Sex"]).outcome == "granted"


def test_a_new_vintage_closes_the_old_one_and_is_judged_with_it(database):
    counter = opened(database)
    counter.request("czech", list("AB"))
    more = np.concatenate([CZECH.codes, CZECH.codes[:1]])  # one person came
    newer = Table.from_cells(CZECH.variables, more, np.append(CZECH.counts, 1))
    with pytest.raises(
        DisclosureError, match="of those who came or went"
    ):  # each tells of who came
        counter.open(newer, policy(), slug="czech-2", previous="czech")
    assert counter.request("czech", list("BC")).why is Why.SAFE
    counter.open(newer, policy(server__one_way=False), slug="czech-2", previous="czech")
    assert counter.request("czech", list("CD")).why is Why.CLOSED
    assert counter.request("czech", list("AB")).why is Why.OUT
    assert counter.request("czech-2", list("AB")).why is Why.UNSAFE
    assert counter.request("czech-2", list("CD")).why is Why.UNSAFE


def test_a_dry_run_changes_nothing(database):
    counter = opened(database)
    counter.request("czech", list("ABC"))
    before = len(entries(database))
    found = counter.dry_run("czech", {"small.width": 20})
    assert found.complete
    assert found.keeps
    assert sum(one.gone for one in found.after) > sum(one.gone for one in found.before)
    assert len(entries(database)) == before
    assert not counter.dry_run("czech", {"small.width": 1_000}).keeps
