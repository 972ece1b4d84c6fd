"""The page of an identification: who could be found; row numbers, and no key or id of a person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.look.words import listed, number, percent, plural
from discreet.report import identify_words as say
from discreet.report.identify_told import told_sections
from discreet.report.page import (
    HTML,
    MOST_LONG,
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
    from discreet.risk.linkage.calibration import Calibration
    from discreet.risk.linkage.harm import Harm
    from discreet.risk.linkage.harmless import Harmless
    from discreet.risk.linkage.identification import Identification
    from discreet.risk.linkage.matching import Matching
    from discreet.risk.linkage.replacement import Replacement

MOST_EXPOSED, SHORT = 20, 10
MOST_NAMES = 24
RIGHT = {None: "", True: "right", False: "wrong"}
SAME = "The table below has the same figures."


def identify_page(
    found: Identification,
    *,
    intruder: Intruder | None = None,
    near: Matching | None = None,
    felt: Harm | None = None,
    trust: Calibration | None = None,
    safe: Harmless | None = None,
    approximate: Replacement | None = None,
    files: Mapping[str, str | Path] | None = None,
) -> Page:
    """Risks, their distribution, the most exposed rows, harm, how far to trust a link.

    `files` are what was read, by what each is: Source, Released, ...
    """
    files = dict(files or {})
    first = {"Released": files["Released"]} if "Released" in files else {}
    released = len(found.links.released.of)
    sections = [_request(found, intruder, files), _believed(found)]
    if found.parents is not None:
        sections.append(_right(found, near))
    sections.append(_exposed(found))
    if felt is not None:
        sections += _harm(felt)
    if trust is not None:
        sections.append(_calibration(trust, found.act))
    if safe is not None:
        sections.append(_harmless(safe))
    if approximate is not None:
        sections.append(_approximate(approximate, found.act))
    assumed = [] if intruder is None else say.assumed(intruder, len(found.linked))
    return Page(
        "Identification assessment",
        say.headline(found),
        [*sections, *_how(found)],
        size=plural(released, "record"),
        said=_said(found, near, felt),
        figures=_figures(found, near, felt),
        assumed=assumed + ([] if felt is None else say.harm_assumed(felt.costs)),
        files=first | files,
        memory="records in memory",
    )


def _said(found: Identification, near: Matching | None, felt: Harm | None) -> list[Say]:
    """What follows the headline."""
    seen = found.perceived
    believed = f"perceived: highest {seen.pessimistic:.4f}, average {seen.average:.4f}"
    said = [
        Say(say.how_words(found), "quiet", on=TERMINAL),
        Say(f"{believed}, total {seen.total:,.2f}", on=TERMINAL),
    ]
    if found.parents is not None:
        said.append(Say(say.true_words(found)))
    if near is not None:
        said.append(Say(say.matching_words(near), on=TERMINAL))
    if felt is not None:
        said.append(Say(say.harm_words(felt), on=HTML))
    return [*said, Say("No limit is set for this risk: a person has to decide.", on=HTML)]


def _figures(
    found: Identification, near: Matching | None, felt: Harm | None
) -> list[tuple[str, str]]:
    """The few numbers that a reader wants first, each with what it counts."""
    seen = found.perceived
    linked = (
        f"of {plural(seen.respondents, 'respondent')} linked with probability {found.act:g} or more"
    )
    figures = [
        (number(int(found.linked.sum())), linked),
        (f"{seen.pessimistic:.4f}", "highest probability of a link"),
    ]
    if found.parents is not None:
        of = plural(found.true.released, "released record")
        figures.append((f"{found.true.acted:,.4g}", f"of {of} correctly identified"))
    if near is not None:
        figures.append((percent(near.risk, 1), "of released records nearest to their own source"))
    if felt is not None:
        figures.append((say.harm_total(felt), f"harm from {felt.costs.sensitive}"))
    return figures


def _request(
    found: Identification, intruder: Intruder | None, files: Mapping[str, str | Path]
) -> Section:
    masked = plural(len(found.links.released.of), "masked record")
    people = plural(found.perceived.respondents, "respondent")
    asked = (
        f"To release {masked}. An intruder who knows the keys of {people} looks for each of them."
    )
    facts = [(what, Path(file).name) for what, file in files.items()]
    if intruder is not None:
        facts.append(("Keys", listed(say.known(intruder), MOST_NAMES)))
    fears = intruder is not None and intruder.wrong is not None
    cheaper = ", unless no link is cheaper" if fears else ""
    acts = f"on links with a probability of {found.act:g} or more{cheaper}"
    known = "not known" if found.parents is None else "known by the id"
    facts += [("The intruder acts", acts), ("True links", known)]
    return Section("The request", [Say(asked), Facts(facts)], on=HTML)


def _believed(found: Identification) -> Section:
    seen = found.perceived
    rows = [row for row in found.distribution if row[2]]
    facts = [
        ("Highest", f"{seen.pessimistic:.4f}"),
        ("Average", f"{seen.average:.4f}"),
        ("Sum", f"{seen.total:,.2f}: so many best links are expected to be right"),
    ]
    table = Rows(
        "Respondents by the probability of their most probable link",
        ["probability"],
        [[f"{low:.1f} to {high:.1f}"] for low, high, _ in rows],
        ["respondents", "share"],
        [[number(n), percent(n / seen.respondents, 2)] for *_, n in rows],
        folded=True,
    )
    about = "One bar a tenth of probability: how many respondents have their most probable link "
    chart = Chart("risk", found.plot, f"{about}there. {SAME}")
    return Section(
        "What the intruder believes", [chart, Facts(facts, on=HTML), table], "Most probable link"
    )


def _right(found: Identification, near: Matching | None) -> Section:
    true = found.true
    facts = [
        (
            "Right links",
            f"{true.acted:,.4g} that are acted on, {percent(true.risk, 1)} of released records; "
            f"{true.best:,.4g} if every best link counts",
        ),
        ("Wrong links", f"{true.wrong:,.4g} that are acted on"),
    ]
    if near is not None:
        of = plural(near.released, "released record")
        facts.append(
            (
                "Matching",
                f"{number(near.matched)} of {of} nearest to their own source record "
                f"({percent(near.risk, 1)}), {say.distance_words(near)}",
            )
        )
    about = "One point a tenth of probability: the share of best links that are right."
    chart = Chart("reliability", found.plot_reliability, about)
    return Section("How often that is right", [chart, Facts(facts)], on=HTML)


def _exposed(found: Identification) -> Section:
    rows = found.most_exposed(MOST_EXPOSED)
    title, finding = "The most exposed records", "Most exposed"
    if not rows:
        return Section(title, [Say("No respondent has a link.")], finding, on=HTML)
    known, every = found.parents is not None, int((found.links.perceived > 0).sum())
    rest = plural(every - len(rows), "more respondent")
    figures = [
        [f"{row['probability']:.4f}", *([RIGHT[row["true"]]] if known else []),
         say.because_words(row)]
        for row in rows
    ]  # fmt: skip
    table = Rows(
        "By row number, below the header; times: how much likelier the key makes the link than an "
        "average respondent",
        ["row", "released"],
        [[number(row["row"]), number(row["released_row"])] for row in rows],
        ["probability", *(["link"] if known else []), "because of"],
        figures,
        every,
        words=("link", "because of"),
        note=f"{rest}, none with a more probable link.",
        short=SHORT,
    )
    return Section(title, [table], finding)


def _harm(felt: Harm) -> list[Section]:
    from discreet.risk.linkage.harm import OUTCOMES, SAID

    many, sums, costs = felt.by_outcome, felt.harm_by_outcome, felt.costs.costs
    heads = ["respondents", *(["cost"] if costs else []), "harm"]
    figures = []
    for name in OUTCOMES:
        cost = [say.amount(costs[name]) if name in costs else ""] if costs else []
        figures.append([number(many[name]), *cost, f"{sums[name]:,.6g}"])
    table = Rows(
        "Respondents by what the intruder does and infers, what it costs one of them, and the sum",
        ["outcome"],
        [[SAID[name]] for name in OUTCOMES],
        heads,
        figures,
        total=["All", number(len(felt.harm)), *([""] if costs else []), f"{felt.total:,.6g}"],
    )
    parts: list[Part] = [
        Chart("outcomes", felt.plot, f"One bar an outcome: its harm. {SAME}"),
        table,
    ]
    parts.append(Say(say.inferred_words(felt)))
    if felt.without_link is not None and felt.without_link[0]:
        inferred, right = felt.without_link
        parts.append(
            Say(f"inferred without a link: {number(inferred)}, of which {number(right)} true")
        )
    title = f"Harm {say.harm_total(felt)} from {felt.costs.sensitive}"
    found = [Section("Harm", parts, title), *told_sections(felt)]
    if felt.groups:
        found.append(_groups(felt))
    return found


def _groups(felt: Harm) -> Section:
    groups = sorted(felt.by_group(), key=lambda row: -row["harm"] / row["respondents"])
    shown = groups[:MOST_LONG]
    table = Rows(
        "Harm by group, most a respondent first",
        ["group", "value"],
        [[row["group"], row["value"] or "missing"] for row in shown],
        ["respondents", "linked", "harm", "a respondent"],
        [
            [number(r["respondents"]), number(r["linked"]), f"{r['harm']:,.6g}",
             f"{r['harm'] / r['respondents']:,.3g}"]
            for r in shown
        ],
        len(groups),
        kind="more group",
        short=MOST_LONG,
    )  # fmt: skip
    chart = Chart("groups", felt.plot_groups, f"One bar a group: harm a respondent. {SAME}")
    return Section("Harm by group", [chart, table])


def _calibration(trust: Calibration, act: float) -> Section:
    """How often a link so probable arises, and how often it is right."""
    rows = [row for row in trust.tenths if row.present.value or row.absent.value]
    table = Rows(
        "Shares of targets and of links by the probability of their most probable link, with "
        "standard errors",
        ["probability"],
        [[f"{row.low:.1f} to {row.high:.1f}"] for row in rows],
        ["of present targets", "of absent targets", "right"],
        [[say.share(each) for each in (row.present, row.absent, row.right)] for row in rows],
    )
    said = [f"{say.share(trust.error(act))} of links at {act:g} or more are wrong"]
    absent = "every source is released: no target is absent"
    if not trust.released.all():
        absent = f"{say.share(trust.arises(act))} of absent targets have a link at {act:g} or more"
    drawn = plural(len(trust.chance), "drawn file")
    title = f"Calibration by {drawn} (and standard errors)"
    return Section(title, [table, Points([*said, absent])])


def _harmless(safe: Harmless) -> Section:
    """From which imprecision on an intruder poses little risk, and without which key."""
    labels = [["as assumed"], *([f"{times:.2f} times less precise"] for times, _ in safe.grid[1:])]
    risks = [*(risk for _, risk in safe.grid), *safe.without.values()]
    table = Rows(
        "The highest risk by what the intruder knows",
        ["intruder"],
        [*labels, *([f"{name} not known"] for name in safe.without)],
        ["highest risk"],
        [[f"{risk:.4f}"] for risk in risks],
        short=len(risks),
    )
    said, checked = say.harmless_words(safe)
    return Section("Little risk", [Say(said), Say(checked, "quiet"), table])


def _approximate(near: Replacement, act: float) -> Section:
    """Sampling with replacement beside equation (1)."""
    both = (near.equation, near.approximate)
    table = Rows(
        "Risks of perceived identification by equation (1), and as if records were drawn with "
        "replacement",
        ["links"],
        [["equation (1)"], ["with replacement"]],
        ["highest", "average", "sum", f"at {act:g} or more"],
        [
            [f"{one.pessimistic:.4f}", f"{one.average:.4f}", f"{one.total:,.2f}", number(one.above)]
            for one in both
        ],
    )
    said = say.replacement_words(near)
    return Section("With replacement, an approximation", [table, Say(said, "quiet")])


def _how(found: Identification) -> list[Section]:
    links = found.links
    lost = "no candidate was left out"
    if links.lost:
        expected = f"{links.lost * len(links.released.of):,.3g} expected"
        pairs = plural(links.lost_at_most, "true pair")
        lost = f"pruning loses at most {pairs} (99.9%), {expected}"
    said = [
        say.how_words(found),
        lost,
        "a person's risk is the probability of the most probable link (Lambert 1993)",
    ]
    if found.parents is not None:
        said.append("a best link that ties with others counts as right in its share")
    how = [Section("How it was computed", [Points(said)], on=HTML)]
    approximate = Section("Approximate", [Say(lost)], on=TERMINAL)
    return [*how, approximate] if links.lost else how
