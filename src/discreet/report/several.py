"""The page of several intruders: each by itself, and all together; row numbers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.look.words import number, percent, plural
from discreet.report import identify_words as say
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
    from discreet.intruder.linkage.model import Intruder
    from discreet.risk.linkage.several import Several

MOST_EXPOSED, SHORT = 20, 10
INDEPENDENT = (
    "some intruder, if they err independently: 1 minus the product of 1 - p; whatever their "
    "dependence, at least that of the worst and at most the sum"
)


def several_page(
    found: Several,
    *,
    intruders: Sequence[Intruder] = (),
    parts: Sequence[Mapping[str, Any]] = (),
    files: Mapping[str, str | Path] | None = None,
) -> Page:
    """Risks by intruder, ways to put them together, the most exposed rows.

    `parts` are what else was asked of each intruder, as the page of one takes it.
    """
    files = dict(files or {})
    first = {"Released": files["Released"]} if "Released" in files else {}
    released = len(found.found[0].links.released.of)
    sections = [_request(found, files), _each(found, parts), _all(found), _exposed(found)]
    assumed = []
    for name, intruder in zip(found.names, intruders, strict=False):
        assumed += [f"{Path(name).stem}: {one}" for one in say.assumed(intruder, len(found.linked))]
    assumed.append("The intruders do not tell each other what they know.")
    return Page(
        "Identification by several intruders",
        headline(found),
        [*sections, _how(found)],
        size=plural(released, "record"),
        said=_said(found),
        figures=_figures(found),
        assumed=assumed,
        files=first | files,
        memory="records in memory",
    )


def headline(found: Several) -> str:
    linked = plural(int(found.linked.sum()), "respondent")
    many = plural(len(found.found), "intruder")
    return f"{linked} of {number(len(found.linked))} linked by at least one of {many}"


def _said(found: Several) -> list[Say]:
    worst, most = found.risks("worst"), found.risks("any_at_most")
    said = [Say(say.how_words(one), "quiet", on=TERMINAL) for one in _least_exact(found)]
    said.append(
        Say(
            f"perceived: highest {worst['pessimistic']:.4f} by the worst intruder; average "
            f"{worst['average']:.4f} by the worst, at most {most['average']:.4f} by some"
        )
    )
    if found.known:
        said.append(Say(_true_words(found)))
    return [*said, Say("No limit is set for this risk: a person has to decide.", on=HTML)]


def _least_exact(found: Several) -> list[Any]:
    return [min(found.found, key=lambda one: one.links.exact)]


def _true_words(found: Several) -> str:
    right, most = found.correct
    released = len(found.found[0].links.released.of)
    ties = "" if most - right < 1e-9 else f", at most {most:,.4g} as ties are broken"
    return (
        f"true: {right:,.4g} of {plural(released, 'released record')} correctly identified by some "
        f"({percent(right / released, 1)}){ties}"
    )


def _figures(found: Several) -> list[tuple[str, str]]:
    worst = found.risks("worst")
    figures = [
        (number(int(found.linked.sum())), "respondents linked by some intruder"),
        (f"{worst['pessimistic']:.4f}", "highest probability of a link, by the worst intruder"),
    ]
    if found.known:
        of = plural(len(found.found[0].links.released.of), "released record")
        figures.append((f"{found.correct[0]:,.4g}", f"of {of} correctly identified by some"))
    return figures


def _request(found: Several, files: Mapping[str, str | Path]) -> Section:
    masked = plural(len(found.found[0].links.released.of), "masked record")
    asked = (
        f"To release {masked}. {plural(len(found.found), 'intruder')} look for each of "
        f"{plural(len(found.linked), 'respondent')}."
    )
    facts = [(what, Path(file).name) for what, file in files.items()]
    known = "known by the id" if found.known else "not known"
    return Section("The request", [Say(asked), Facts([*facts, ("True links", known)])], on=HTML)


def _each(found: Several, parts: Sequence[Mapping[str, Any]]) -> Section:
    """One row an intruder, with what else was asked of each."""
    heads = ["highest", "average", "linked"]
    figures = [
        [f"{one.perceived.pessimistic:.4f}", f"{one.perceived.average:.4f}",
         number(int(one.linked.sum()))]
        for one in found.found
    ]  # fmt: skip
    if found.known:
        heads.append("right")
        for row, one in zip(figures, found.found, strict=True):
            row.append(f"{one.true.acted:,.4g}")
    more: tuple[tuple[str, str, Any], ...] = (
        ("near", "matching", lambda near: percent(near.risk, 1)),
        ("felt", "harm", lambda felt: f"{felt.total:,.6g}"),
        ("approximate", "with replacement", lambda near: f"{near.approximate.average:.4f}"),
    )
    for name, head, words in more:
        if parts and parts[0].get(name) is not None:
            heads.append(head)
            for row, part in zip(figures, parts, strict=True):
                row.append(words(part[name]))
    table = Rows(
        "What each intruder believes by itself",
        ["intruder"],
        [[name] for name in _short(found)],
        heads,
        figures,
    )
    return Section("Intruders", [table, *_more(found, parts)])


def _short(found: Several) -> list[str]:
    """Names as tables show them: of files, without folder and ending if that is clear."""
    short = [Path(name).stem for name in found.names]
    return short if len(set(short)) == len(short) else list(found.names)


def _more(found: Several, parts: Sequence[Mapping[str, Any]]) -> list[Part]:
    """How far links can be trusted, and which intruders are harmless, if that was asked."""
    said = []
    for name, one, part in zip(_short(found), found.found, parts, strict=False):
        if (trust := part.get("trust")) is not None:
            wrong = say.share(trust.error(one.act))
            said.append(f"{name}: {wrong} of links at {one.act:g} or more are wrong in drawn files")
        if (safe := part.get("safe")) is not None:
            said.append(f"{name}: {say.harmless_words(safe)[0]}")
    return [Points(said)] if said else []


def _all(found: Several) -> Section:
    from discreet.risk.linkage.several import SAID, WAYS

    table = Rows(
        "Risks of perceived identification, intruders put together person by person",
        ["together"],
        [[SAID[way]] for way in WAYS],
        ["highest", "average", "sum", f"at {found.act:g} or more"],
        [
            [f"{risks['pessimistic']:.4f}", f"{risks['average']:.4f}", f"{risks['total']:,.2f}",
             number(risks["above"])]
            for risks in map(found.risks, WAYS)
        ],
    )  # fmt: skip
    about = "One bar a tenth of probability: respondents by the most probable link of the worst "
    chart = Chart("risk", found.plot, f"{about}intruder.")
    return Section("All together", [chart, table])


def _exposed(found: Several) -> Section:
    rows = found.most_exposed(MOST_EXPOSED)
    if not rows:
        return Section("The most exposed records", [Say("No respondent has a link.")], on=HTML)
    every = int((found.perceived["worst"] > 0).sum())
    short = dict(zip(found.names, _short(found), strict=True))
    table = Rows(
        "By row number, below the header; by: whose link is the most probable",
        ["row"],
        [[number(row["row"])] for row in rows],
        ["worst", "any", "at most", "average", "by"],
        [
            [*(f"{row[way]:.4f}" for way in ("worst", "any", "any_at_most", "average")),
             short[row["by"]]]
            for row in rows
        ],
        every,
        words=("by",),
        kind="more respondent",
        short=SHORT,
    )  # fmt: skip
    return Section("The most exposed records", [table], "Most exposed")


def _how(found: Several) -> Section:
    said = [
        "a person's risk is the probability of the most probable link (Lambert 1993)",
        INDEPENDENT,
        "an intruder taken at random: each as likely, unless shares were given",
    ]
    if len(set(found.shares)) > 1:
        said[-1] = "an intruder taken at random: " + ", ".join(
            f"{name} {percent(share)}"
            for name, share in zip(_short(found), found.shares, strict=True)
        )
    return Section("How it was computed", [Points(said)], on=HTML)
