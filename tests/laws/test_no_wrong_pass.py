"""Ways in which PASS once came out wrong, each with the smallest case that shows it."""

import dataclasses
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli.main import main
from discreet.data.codebook import Codebook, Role
from discreet.data.hierarchy import Hierarchy
from discreet.decision.answering.desk import Desk
from discreet.decision.batch.out import out_of
from discreet.decision.frontier.frontier import frontier
from discreet.decision.law.alternatives import alternatives
from discreet.decision.law.assess import assess
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.errors import DataError, DisclosureError
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table

ROOT = Path(__file__).parents[2]


def run(command):
    return CliRunner().invoke(main, shlex.split(command))


def with_roles(table, **roles):
    variables = tuple(
        dataclasses.replace(v, role=Role(roles.get(v.name, "unstated"))) for v in table.variables
    )
    return dataclasses.replace(table, variables=variables)


def judged(decision, rule):
    (reason,) = [reason for reason in decision.reasons if reason.rule == rule]
    return reason.verdict


# A frontier is judged as it is assessed


@pytest.mark.parametrize("example", ["tract", "czech"])
def test_a_frontier_that_passes_is_a_release_that_passes(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run(f"frontier example:{example} --json --limit 20")
    Path("f.json").write_text(found.stdout, encoding="utf-8")
    again = run(f"assess example:{example} --release @f.json --json --set alternatives.number=0")
    assert json.loads(again.stdout)["verdict"] == json.loads(found.stdout)["verdict"]


def test_widths_alone_are_named_in_the_first_line():
    alone = run("frontier example:czech --beta 3 --limit 20")
    assert "policy widths alone" in " ".join(alone.output.split("Method")[0].split())
    whole = run("frontier example:czech --limit 20")
    assert "policy discreet's defaults" in " ".join(whole.output.split("Method")[0].split())


def test_a_table_too_large_for_the_shuttle_does_not_forget_a_rule():
    rng = np.random.default_rng(0)
    names = {f"v{i}": ["no", "yes"] for i in range(6)}
    table = Table.of(rng.poisson(3, (2,) * 6), **names)
    keys = {"attribute.check": False, "published.least": 0, "bounds.gigabytes": 1e-12}
    policy = Policy.of(keys | {"knowledge.target": "v0", "knowledge.limit": 0.9})
    assert decide(table, "v0", policy).verdict == "FAIL"
    with pytest.raises(DataError, match="under the rules knowledge"):
        frontier(table, policy=policy)


# Two codings of one variable


def test_two_codings_of_one_variable_are_judged_together(tmp_path, monkeypatch):
    """Age cut at 50 and at 51: the difference is the number of people aged 50."""
    monkeypatch.chdir(tmp_path)
    rows = ["Age50,Age51,Region"]
    for region, fifty in (("N", 1), ("S", 6)):
        rows += [f"under 50,under 51,{region}"] * 40 + [f"50+,under 51,{region}"] * fifty
        rows += [f"50+,51+,{region}"] * 35
    Path("ages.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = run("assess ages.csv --release 'Age50*Region + Age51*Region' --json")
    assert json.loads(found.stdout)["verdict"] == "FAIL"
    said = run("assess ages.csv --release 'Age50*Region + Age51*Region'")
    assert "Age50" in said.output.split("Assumed")[1]
    apart = run("assess ages.csv --release 'Age50*Region + Age51*Region' --impossible none --json")
    assert json.loads(apart.stdout)["verdict"] == "PASS"


# Published cells


def test_the_verdict_on_one_table_does_not_depend_on_other_columns():
    """A published count of 4, where the office publishes none below 5."""
    alone = Table.of([[40, 4], [30, 20]], Town="ab", Ill="ny")
    more = Table.of([[[20, 2], [15, 10]], [[20, 2], [15, 10]]], Sex="mf", Town="ab", Ill="ny")
    for table in (alone, more):
        decision = decide(table, "Town*Ill", Policy.of({"published.least": 5}))
        assert judged(decision, "published cells") == "FAIL"
        assert judged(decide(table, "Town*Ill"), "published cells") == "PASS"


def test_published_counts_of_1_are_refused_whatever_the_roles():
    table = with_roles(Table.of([[9, 1], [9, 9]], A="ab", S="xy"), A="neither", S="neither")
    assert decide(table, "A*S").verdict == "FAIL"


# What is offered instead


def merging(table, name, **parents):
    """The table with a hierarchy for one of its variables."""
    variables = tuple(
        dataclasses.replace(v, hierarchy=Hierarchy.of(parents)) if v.name == name else v
        for v in table.variables
    )
    return dataclasses.replace(table, variables=variables)


def test_a_merge_is_judged_on_the_original_categories():
    """Race 50, 2, 1 and width 5: White 50, Other 3 leaves the count of 1 a width of 3."""
    table = Table.of([50, 2, 1], Race=["White", "Black", "Chinese"])
    table = merging(table, "Race", Black="Other", Chinese="Other")
    keys = {"attribute.check": False, "published.least": 0}
    wide = Policy.of(keys | {"small.width": 5})
    assert not any("merge" in offer.how for offer in alternatives(table, "Race", wide))
    narrow = Policy.of(keys | {"small.width": 3})
    assert any("merge" in offer.how for offer in alternatives(table, "Race", narrow))


def test_a_merge_that_teaches_too_much_of_the_original_category_is_not_offered():
    """Ill or not: .368 nats are gained of the merged category, .646 of the original one."""
    table = Table.of([[90, 5, 5], [10, 45, 45]], Town=["a", "b"], Ill=["no", "flu", "cold"])
    table = merging(table, "Ill", flu="ill", cold="ill")
    keys = {"attribute.check": False, "published.least": 0, "small.width": 0}
    rule = {"knowledge.target": "Ill", "knowledge.group": "Town", "knowledge.measure": "gain"}
    policy = Policy.of(keys | rule | {"knowledge.uncertainty": "entropy", "knowledge.limit": 0.5})
    assert decide(table, "Town*Ill", policy).verdict == "FAIL"
    assert not any("merge" in offer.how for offer in alternatives(table, "Town*Ill", policy))


# Attribute disclosure

CUBE = [[[[8, 8], [6, 9]], [[0, 14], [5, 14]]], [[[16, 11], [0, 12]], [[18, 19], [17, 17]]]]


def test_groups_that_no_released_margin_has_are_looked_at():
    table = Table.of(CUBE, A=["a0", "a1"], B=["b0", "b1"], C=["c0", "c1"], Ill=["yes", "no"])
    table = with_roles(table, A="identifying", B="identifying", C="identifying", Ill="sensitive")
    decision = decide(table, "A*B*Ill + A*C*Ill + B*C*Ill")
    assert judged(decision, "attribute disclosure") == "FAIL"


@pytest.mark.parametrize("release", ["Ill", "Sex + Ill"])
def test_everybody_is_a_group(release):
    table = Table.of([[10, 0], [10, 0]], Sex=["m", "f"], Ill=["yes", "no"])
    assert decide(table, release).verdict == "FAIL"


# Beliefs and knowledge


def test_beliefs_are_about_what_identifies():
    counts = [[[2, 2], [0, 0]], [[96, 96], [2, 2]]]
    table = Table.of(counts, A=["a0", "a1"], B=["b0", "b1"], S=["s0", "s1"])
    table = with_roles(table, A="identifying", B="identifying", S="sensitive")
    keys = {"attribute.check": False, "published.least": 0, "small.width": 0, "small.most": 4}
    for release in ("A + B", "A + B + S"):
        policy = Policy.of(keys | {"belief.most": 0.9, "belief.model": release})
        assert judged(decide(table, release, policy), "beliefs") == "FAIL"


@pytest.mark.parametrize("release", ["A*B*S", "A*S", "A*S + B*S + A*B"])
def test_knowledge_is_what_all_that_is_released_leads_one_to_expect(release):
    table = Table.of([[[45, 5], [45, 5]], [[25, 25], [25, 25]]], A="ab", B="cd", S="yn")
    keys = {"attribute.check": False, "published.least": 0, "small.width": 0}
    rule = {"knowledge.target": "S", "knowledge.group": "A*B", "knowledge.limit": 0.25}
    assert decide(table, release, Policy.of(keys | rule)).verdict == "FAIL"


# What is said is true


def test_a_sentence_says_which_variables_were_looked_at():
    table = with_roles(Table.of([[9, 1], [9, 9]], A="ab", S="xy"), A="identifying", S="sensitive")
    (reason,) = [r for r in decide(table, "A").reasons if r.rule == "small counts"]
    assert reason.text == "the table of A, which alone can identify, has no count of 1 or 2."


def test_the_first_line_says_policy_proof_and_variables():
    table = load("example:tract")
    (first, *_) = str(decide(table, "Race + Income*Gender")).splitlines()
    assert "policy discreet's defaults" in first
    assert "proven by tables of whole numbers" in first
    assert "identifying Gender, Race, Income; sensitive Income" in first
    changed = Policy().set(["small.width=5"])
    assert "discreet's defaults (small.width = 5)" in str(decide(table, "Race", changed))


def test_a_verdict_by_outer_bounds_says_so_in_its_first_line():
    rng = np.random.default_rng(1)
    names = {f"v{i}": ["no", "yes"] for i in range(6)}
    table = Table.of(rng.poisson(2, (2,) * 6), **names)
    keys = {"attribute.check": False, "published.least": 0, "small.width": 1}
    outer = {"bounds.method": "shuttle", "bounds.proof": "outer", "bounds.witness_seconds": 0.0}
    found = assess(table, "v0*v1 + v1*v2 + v0*v2 + v3*v4 + v5", Policy.of(keys | outer))
    assert found.verdict == "PASS"
    assert "by outer bounds, which prove nothing" in str(found).splitlines()[0]
    assert "by outer bounds" in found.to_json()["basis"]


def test_the_server_is_not_started_on_outer_bounds():
    assert "bounds.proof" not in (ROOT / "Makefile").read_text(encoding="utf-8")


# Frontiers


def test_what_is_proven_best_is_best_where_a_one_way_margin_cannot_go():
    table = Table.of([[[30, 1], [25, 0]], [[28, 0], [40, 1]]], A="ab", B="cd", C="ef")
    policy = Policy.of({"attribute.check": False, "published.least": 0})
    assert decide(table, "A*B", policy).verdict == "PASS"
    found = frontier(table, policy=policy, released="A")
    assert found.optimal
    assert found.formula.contains(["A", "B"])
    assert frontier(table, policy=policy, never="C").formula.contains(["A", "B"])


def test_nothing_is_proven_best_under_rules_that_a_further_margin_can_mend():
    table = load("example:tract")
    policy = Policy.of({"belief.most": 0.95, "attribute.check": False})
    assert frontier(table, policy=policy).at_most is None


def test_a_short_limit_leaves_time_to_search():
    found = frontier(load("example:blond"), policy=Policy(), seconds=5)
    assert found.released == 2


def test_greedy_leaves_out_what_cannot_go_by_itself():
    found = frontier(load("example:blond"), policy=Policy(), method="greedy")
    assert found.released == 2
    nothing = Table.of([9, 0], Ill=["yes", "no"])
    with pytest.raises(DisclosureError, match="no margin keeps the policy by itself"):
        frontier(nothing, policy=Policy())


# A release of another table


def test_a_release_of_another_table_is_refused():
    table, other = (Table.of([[9, n], [9, 9]], A="ab", B="cd") for n in (1, 9))
    with pytest.raises(DataError, match="not that of the table"):
        decide(table, Release.margins(other, "A*B"))
    with pytest.raises(DataError, match="variables"):
        decide(table, Release.margins(Table.of([9, 9], A="ab"), "A"))


def test_a_least_printed_count_is_meant_of_what_follows_too(tmp_path, monkeypatch):
    """Cuts at 60 and 61: no printed count is below 10, and 5 people of 60 follow."""
    monkeypatch.chdir(tmp_path)
    rows = ["Age60,Age61,Region"]
    for region, sixty in (("N", 5), ("S", 16)):
        rows += [f"under 60,under 61,{region}"] * 40 + [f"60+,under 61,{region}"] * sixty
        rows += [f"60+,61+,{region}"] * 35
    Path("ages.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    Path("office.toml").write_text("[published]\nleast = 10\n", encoding="utf-8")
    asked = "assess ages.csv --release 'Age60*Region + Age61*Region' --json"
    alone = json.loads(run(f"{asked} --policy office.toml").stdout)
    assert alone["verdict"] == "FAIL"
    assert "small.most = 9, one less than published.least" in alone["basis"]
    both = json.loads(run(f"{asked} --policy office.toml --set small.most=2").stdout)
    assert both["verdict"] == "PASS"
    assert "counts from 3 to 9 may follow from printed ones" in both["basis"]
    Path("tables.toml").write_text(
        '[[tables]]\nname = "a"\nvariables = "Age60*Region"\n\n'
        '[[tables]]\nname = "b"\nvariables = "Age61*Region"\n',
        encoding="utf-8",
    )
    listed = "assess ages.csv --tables tables.toml --policy office.toml --impossible "
    stated = run(f"{listed} 'Age60=under 60, Age61=61+'")
    assert stated.exit_code == 1
    assert "small.most = 9" in " ".join(stated.output.split())


CANCERS = Codebook.of(
    {
        "Town": {"role": "identifying"},
        "Diag": {
            "role": "sensitive",
            "hierarchy": {"lung": "cancer", "skin": "cancer", "flu": "other", "cold": "other"},
        },
    }
)


def cancers():
    """In Ash 50 have lung cancer, 49 skin cancer, and nobody anything else."""
    rows = [("Ash", "lung", 50), ("Ash", "skin", 49), ("Birch", "lung", 30), ("Birch", "skin", 20)]
    rows += [("Birch", "flu", 40), ("Birch", "cold", 50)]
    return load(pd.DataFrame(rows, columns=["Town", "Diag", "n"]), count="n", codebook=CANCERS)


@pytest.mark.parametrize("proof", ["integer", "linear", "outer"])
def test_a_category_of_any_level_is_told(proof):
    """Whoever adds up along the hierarchy sees that all in Ash have cancer."""
    policy = Policy.of({"attribute.exclusion": False, "bounds.proof": proof})
    found = decide(cancers(), "Town*Diag", policy)
    assert found.verdict == "FAIL"
    assert "all of the 99 in Ash have Diag cancer" in str(found)
    assert decide(cancers(), "Town + Diag", policy).verdict == "PASS"
    asked = policy.change({"server.rule": "myopic", "server.approval": "never"})
    assert Desk(cancers(), asked).ask("Town*Diag").outcome == "refused"
    for method in ("best", "greedy"):
        released = frontier(cancers(), policy=policy, method=method)
        assert not released.formula.contains(["Town", "Diag"])


def test_groups_of_any_level_are_groups():
    """Of 50 in each town of a region at least 47 are ill, which is 94%; of all 100 at least 97."""
    book = Codebook.of(
        {
            "Town": {"hierarchy": {"Ash": "North", "Birch": "North"}, "role": "identifying"},
            "Ill": {"role": "sensitive", "sensitive": ["yes"]},
        }
    )
    table = Table.of([[1, 49], [1, 49], [1, 1]], Town=["Ash", "Birch", "Cedar"], Ill=["no", "yes"])
    policy = Policy.of({"small.width": 0, "published.least": 0})
    found = decide(load(table.to_frame(), count="count", codebook=book), "Town + Ill", policy)
    (reason,) = [reason for reason in found.reasons if reason.rule == "attribute disclosure"]
    told = {str(cell["group"]): cell["lower"] for cell in reason.cells}
    assert told == {"{}": 99, "{'Town': 'North'}": 97}


def test_a_category_of_any_level_is_believed():
    policy = Policy.of({"attribute.check": False, "belief.attribute": 0.9})
    found = decide(cancers(), "Town*Diag", policy)
    assert judged(found, "beliefs") == "FAIL"
    assert "Diag cancer" in str(found)


@pytest.mark.parametrize("key", ['published.tables = "`A`*B: 90"', 'categories.hidden = "`A`=a"'])
def test_a_name_in_backticks_is_that_name(key):
    table = Table.of([[20, 30], [40, 50]], A="ab", B="cd")
    assert decide(table, "A*B", Policy().set(["attribute.check=false"])).verdict == "PASS"
    assert decide(table, "A*B", Policy().set(["attribute.check=false", key])).verdict == "FAIL"
    section, name = key.split(".", 1)
    policy = Policy.loads(f"[attribute]\ncheck = false\n[{section}]\n{name}\n")
    assert decide(table, "A*B", policy).verdict == "FAIL"


# Masks of tables


def test_counts_are_rounded_to_multiples_of_a_whole_number():
    """A count of 2 to a multiple of 1.5 is 1 or 2 where 1.5 is shown; a range to 3 was taken."""
    table = Table.of([[16, 2], [16, 12]], Sex="mf", Town="ab")
    records, sheets = dc.office.formula_sheets(table, "Sex*Town")
    for kind in ("random", "conventional", "controlled", "unbiased"):
        with pytest.raises(DataError, match="multiples of a whole number"):
            dc.office.mask(records, sheets, method="round", base=1.5, kind=kind)


def test_what_is_out_rounded_shows_multiples_of_its_base():
    """A manifest that says so of true counts would leave them open by the base."""
    said = {"exact": False, "whole": True, "method": "controlled rounding"}
    with pytest.raises(DisclosureError, match="no multiple of 5"):
        out_of(np.array([10.0, 7.0]), said | {"parameters": {"base": 5}})


def test_hidden_cells_of_one_owner_in_a_table_of_one_variable(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["Region,Owner,Turnover"]
    for region, amounts in (("N", (900, 20)), ("S", (700, 10)), ("E", (90, 80, 70, 60))):
        rows += [f"{region},{'one' if x > 500 else ''},{x}" for x in amounts]
    rows += [f"W,,{x}" for x in (50, 60, 70, 80)]
    Path("firms.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = run("mask firms.csv --release Region --value Turnover --holding Owner --json")
    assert done.exit_code in (0, 1)


def test_a_level_is_told_by_large_cells_though_no_margin_speaks_of_it():
    """99 are in Ash: 50 with lung cancer and 49 with skin cancer, both published as large."""
    counts = {"Ash": [50, 49, 0], "Birch": [30, 20, 60], "Cedar": [40, 30, 40]}
    cells = [(town, ill, n) for town, own in counts.items() for ill, n in zip(
        ["lung", "skin", "flu"], own, strict=True)]  # fmt: skip
    frame = pd.DataFrame(cells, columns=["Town", "Ill", "n"])
    tree = {"lung": "cancer", "skin": "cancer"}
    book = {"Town": {"role": "identifying"}, "Ill": {"role": "sensitive", "hierarchy": tree}}
    table = dc.load(frame, count="n", codebook=dc.Codebook.of(book))
    policy = dc.Policy().set(["attribute.exclusion=false"])
    assert str(dc.decide(table, "Town", policy).verdict) == "PASS"
    assert str(dc.decide(table, "Town", policy, large=40).verdict) == "FAIL"
    assert str(dc.assess(table, "Town", policy, large=40).verdict) == "FAIL"
