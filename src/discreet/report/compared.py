"""The page of masks side by side: the map, the choice and why, and how it moves with the limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.decision.compare.compared import MEANING, told_risk
from discreet.look.words import number, percent, plural
from discreet.report.limits import limits_section
from discreet.report.page import (
    HTML,
    TERMINAL,
    Chart,
    Facts,
    Page,
    Part,
    Points,
    Rows,
    Say,
    Section,
)

if TYPE_CHECKING:
    from discreet.decision.compare.compared import Compared

SAME = "The table below has the same figures."


def compared_page(found: Compared) -> Page:
    """The choice, the map, every mask, the choice at other limits, how masks were made."""
    made = [one for one in found.tried if one.failed is None]
    sections = [_map(found), _masks(found), limits_section(found), _made(found)]
    if any(one.inferred for one in made):
        sections.insert(2, _learnt(found))
    if found.plan.readers:
        sections.insert(2, _users(found))
    return Page(
        "Masks compared",
        _headline(found),
        sections,
        verdict=found.verdict,
        size=plural(len(made), "mask"),
        said=[Say(text) for text in found.why()],
        figures=[
            (number(len(made)), "masks that were tried"),
            (number(sum(mask.within for mask in found.choice.masks)), "within the limit"),
            (percent(found.limit), f"limit: {found.measure}"),
        ],
        assumed=_assumed(found),
        memory="data in memory",
        provenance=lambda: found.provenance,
    )


def _headline(found: Compared) -> str:
    said = str(found.choice).partition(": ")[2]
    trial = found.plan.trial and found.drawn is None
    return f"trial, not for release: {said}" if trial else said


def _map(found: Compared) -> Section:
    chart = Chart("map", found.plot, "Risk across, utility up, a point a mask. " + SAME)
    return Section("Risk and utility", [chart])


def _masks(found: Compared) -> Section:
    few = tuple(dict.fromkeys([found.measure, "perceived", "expected"]))
    parts: list[Part] = [_listed(found, few, TERMINAL), _listed(found, found.risks, HTML)]
    if found.failed:
        parts.append(
            Points([f"{one.name} could not be made: {one.failed}" for one in found.failed])
        )
    return Section("Mask by mask", parts)


def _listed(found: Compared, risks: Sequence[str], on: str) -> Rows:
    """Every mask with these risks."""
    ranked = sorted(found.choice.masks, key=lambda mask: -mask.utility)
    tried = {one.name: one for one in found.tried}
    return Rows(
        "Every mask, the most useful first",
        ["mask"],
        [[mask.name] for mask in ranked],
        [*risks, "utility"],
        [[*(told_risk(tried[m.name].risks[r]) for r in risks), number(m.utility)] for m in ranked],
        every=len(ranked),
        verdicts=[mask.verdict for mask in ranked],
        short=60,
        on=on,
    )


def _learnt(found: Compared) -> Section:
    """Of each mask and sensitive column: who is told it, and what a model gets right."""
    rows = [
        (one.name, name, shares)
        for one in found.tried
        if one.failed is None
        for name, shares in one.inferred.items()
    ]
    said = (
        "Told counts people whose released look-alikes share the value. A model fitted to the "
        "released file predicts it from the keys; the last column is the same model without the "
        "person's own record. Only the difference comes from being in the file."
    )
    listed = Rows(
        "Sensitive values that are told, and that a model gets right",
        ["mask", "column"],
        [[mask, column] for mask, column, _ in rows],
        ["told", "model", "without the person"],
        [
            [number(shares[part]) for part in ("told", "released", "baseline")]
            for *_, shares in rows
        ],
        every=len(rows),
        short=60,
    )
    return Section("What is told of sensitive values", [Say(said), listed])


def _users(found: Compared) -> Section:
    readers = found.plan.readers
    tried = [one for one in found.tried if one.failed is None]
    needs = [f"{u.name} needs {number(u.least)} of {', '.join(u.columns)}." for u in readers]
    rows = Rows(
        "Utility of each mask for what each user needs",
        ["mask"],
        [[one.name] for one in tried],
        [user.name for user in readers],
        [[number(one.by_user[user.name]) for user in readers] for one in tried],
        every=len(tried),
        short=60,
    )
    return Section(
        "Who is served", [Points(needs), rows, *(Say(text) for text in found.unserved())]
    )


def _made(found: Compared) -> Section:
    seed = (
        "given, so that what is drawn is a trial and not for release; --out draws anew"
        if found.plan.trial
        else "secret, and kept nowhere"
    )
    facts = [
        ("Seed", seed),
        ("Measure", f"{found.measure}: {MEANING[found.measure, found.plan.of_table]}"),
        *((one.name, one.spelled) for one in found.plan.candidates),
    ]
    said = [f"{one.name}: {text}" for one in found.tried for text in one.said]
    return Section("How masks were made", [Facts(facts), *([Points(said)] if said else [])])


def _not_computed(found: Compared) -> list[str]:
    """Risks that were not looked at, and why."""
    return list(
        dict.fromkeys(
            f"The {risk} risk is {why}."
            for one in found.tried
            for risk, why in one.not_computed.items()
        )
    )


def _assumed(found: Compared) -> list[str]:
    act = percent(found.policy.masks.act)
    states = f"An intruder states what is at least {act} probable."
    if found.plan.of_table:
        return [
            "Before the release, every table of the known total is alike to the intruder, who "
            "knows the mask and its parameters, not its random numbers.",
            states,
            "Utility is 1 less the mean Hellinger distance of margins of one to three variables.",
        ]
    return [
        f"The intruder knows {', '.join(found.plan.keys)} of everybody in the file, and the mask "
        "and its parameters, not its random numbers; what can be repeated is repeated.",
        states,
        "Nothing else is released of these records: two masks of them, or two draws of one mask, "
        "tell more together than each alone.",
        "Sensitive: " + (", ".join(found.plan.sensitive) or "no column is said to be") + ".",
        *_not_computed(found),
        "Utility is 1 less the mean Hellinger distance of margins of one to three columns, numbers "
        "in tenths; a coarse category is spread evenly over the fine ones.",
    ]
