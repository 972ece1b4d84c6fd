"""Knowledge: what a release teaches about one person (Duncan & Lambert 1986)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet.data.codebook import Variable
from discreet.data.smallfiles import read_pairs
from discreet.decision.law.case import Case
from discreet.decision.law.policy import Policy, key
from discreet.decision.law.rule import Rule
from discreet.decision.law.verdict import Reason, Verdict
from discreet.errors import DataError
from discreet.intruder.predictive.priors import Independent
from discreet.look.words import both, plural
from discreet.release.release import STRUCTURAL, Release
from discreet.risk.knowledge import knowledge
from discreet.risk.knowledge.anysplit import TooMany, worst_splits
from discreet.risk.knowledge.coarser import Codes, coarser, finest
from discreet.risk.knowledge.taught import Taught, taught_by_table
from discreet.risk.release.expected import Expected, expected
from discreet.risk.uncertainty import OnValues, Uncertainty, on_values
from discreet.risk.uncertainty.named import uncertainty_named

NAME = "knowledge"
NEAR = 1e-4  # of a limit: an inexact fit decides nothing there
KNOWN, UNIFORM, ANY, WEIGHTS = "known", "uniform", "any", "weights:"


@dataclass(frozen=True)
class Knowledge:
    """What a table teaches about one person: the uncertainty that must be left."""

    target: str = key("", "the variable that an intruder wants to know; empty switches it off")
    group: str = key("", "what is known of the person: a variable, or A*B")
    uncertainty: str = key("largest", "largest, entropy, variance, weighted:..., two-sided:A:B")
    measure: str = key(
        "knowledge",
        "knowledge: at least the limit is left; gain, relative-gain: at most it is gone",
        choices=("knowledge", "gain", "relative-gain"),
    )
    limit: float = key(0.0, "of what is measured")
    prior: str = key(
        KNOWN,
        "how somebody splits merged categories of the target: known (as they are), any (in every "
        "way), uniform (evenly), weights:A=1,B=2 or weights:FILE",
    )
    within: str = key(
        "midpoint", "a target in ranges of numbers: midpoint, uniform, pareto:A, uniform+pareto:A"
    )
    top: float = key(0.0, "the end of an open range of numbers; 0: none is stated")


def judge(case: Case) -> Reason:
    """The target of everybody in a group stays uncertain enough, from all that is released.

    What somebody believes of the target is its share in the group; where that table is not
    released, the share that the released margins lead one to expect. Where merged categories of
    the target are released, it is judged on its own ones, split by the policy's prior (section 6).
    """
    rule, names = case.policy.knowledge, case.table.names
    group = [name.strip() for name in rule.group.split("*")] if rule.group else []
    if strange := [name for name in (*group, rule.target) if name not in names]:
        raise DataError(
            f"the policy's knowledge is about {strange[0]!r}, and the table has "
            f"{', '.join(names)}; change knowledge.target or knowledge.group."
        )
    if rule.target in group:
        raise DataError(
            f"{rule.target!r} is both the target and the group of the policy's knowledge; change "
            "knowledge.group."
        )
    categories = case.table.variable(rule.target).categories
    weights = split_weights(rule.prior, rule.target, categories)
    limit = knowledge.KnowledgeRule(
        _asked(rule, case.table.variable(rule.target)),
        rule.limit,
        knowledge.Measure(rule.measure),
    )
    release, merged = case.release, _merged(case)
    if release.formula.contains([*group, rule.target]):
        merged = {}
    elif cell := _known_of(case):
        text = f"{cell} tells of {rule.target}, whose merged category it is, by a single cell."
        return Reason(NAME, Verdict.REVIEW, text)
    if merged and rule.prior == ANY:
        return _however(case, limit, group, merged)
    if merged and rule.prior == KNOWN:
        release = _unmerged(case, merged)
    if rule.target not in _told(release, group):
        return Reason(NAME, Verdict.PASS, f"{rule.target} is in no released table.")
    split = {rule.target: weights} if merged and weights else None
    believed = expected(release, [*group, rule.target], split)
    if believed is None:
        text = f"what is released of {'*'.join([*group, rule.target])} cannot be worked out."
        return Reason(NAME, Verdict.REVIEW, text)
    exact = release.formula.contains([*group, rule.target])
    found = taught_by_table(
        case.table,
        rule.target,
        limit,
        group=group or None,
        fraction=(case.table.sampling_fraction or 1.0) if exact else 1.0,
        prior=_before(believed, categories) if split and group else None,
        believed=None if exact else believed.counts,
    )
    return _reason(case, found, limit, believed, exact, _split_said(case, merged))


def _asked(rule: Knowledge, variable: Variable) -> Uncertainty:
    """The policy's uncertainty, on the numbers of the categories if it is one of numbers."""
    named = uncertainty_named(rule.uncertainty, variable.categories)
    if not named.of_numbers:
        return named
    return on_values(named, variable, within=rule.within, top=rule.top or None)


def _reason(
    case: Case,
    found: Taught,
    limit: knowledge.KnowledgeRule,
    believed: Expected,
    exact: bool,
    said: str,
) -> Reason:
    rule, first = case.policy.knowledge, found.rows[0]
    beyond = sum(not row.within for row in found.rows)
    so = "is" if exact else "is expected to be"
    left = f"{found.rule.uncertainty} of {rule.target} in {first.label} {so} {first.after:.4g}"
    more = (
        f"; {plural(beyond - 1, 'more group is', 'more groups are')} beyond" if beyond > 1 else ""
    )
    text = f"{left}, limit {rule.limit:g} on {rule.measure}{more}. {found.words}{said}"
    if isinstance(limit.uncertainty, OnValues):
        text = f"{text} {' '.join(limit.uncertainty.notes)}"
    near = abs(first.after - limit.least(first.before)) <= NEAR
    if not believed.close or (near and believed.gap):
        return Reason(NAME, Verdict.REVIEW, f"the expected shares are not exact: {text}")
    return Reason(NAME, Verdict.PASS if found.within else Verdict.FAIL, text)


def _however(
    case: Case, limit: knowledge.KnowledgeRule, group: list[str], merged: Mapping[str, Codes]
) -> Reason:
    """Within the limit in whatever way merged categories are split."""
    rule, release = case.policy.knowledge, case.release
    if limit.measure is not knowledge.Measure.KNOWLEDGE:
        text = f"a limit on {limit.measure} is not judged for every prior; set knowledge.prior."
        return Reason(NAME, Verdict.REVIEW, text)
    merged = finest(merged)
    free = [name for name in merged if name not in group]
    shown = [*group, *free]
    believed = expected(release, shown)
    if believed is None:
        text = f"what is released of {'*'.join(shown)} cannot be worked out."
        return Reason(NAME, Verdict.REVIEW, text)
    variable = case.table.variable(rule.target)
    asked = limit.uncertainty
    try:
        rows = worst_splits(case.table, rule.target, asked, group, merged, believed.counts)
    except TooMany as error:
        return Reason(NAME, Verdict.REVIEW, str(error))
    label, least = min(rows, key=lambda row: row[1])
    beyond = sum(u < rule.limit - knowledge.CLOSE for _, u in rows)
    more = (
        f"; {plural(beyond - 1, 'more group is', 'more groups are')} beyond" if beyond > 1 else ""
    )
    words = dataclasses.replace(limit, uncertainty=asked).words(variable.categories)
    text = (
        f"{asked} of {rule.target} in {label} may be as low as {least:.4g}, limit {rule.limit:g} "
        f"on {rule.measure}{more}. {words}{_split_said(case, merged)}"
    )
    exact = release.formula.contains(shown)
    if len(free) > 1 and not exact:
        text = f"{both(free)} are not published together; not every prior can be judged."
        return Reason(NAME, Verdict.REVIEW, text)
    told = {name for margin in release.formula.margins for name in margin}
    if not believed.close or (believed.gap and abs(least - rule.limit) <= NEAR):
        return Reason(NAME, Verdict.REVIEW, f"the expected shares are not exact: {text}")
    if rule.target in told and (beyond or not exact):
        return Reason(NAME, Verdict.REVIEW, f"{text} Other tables of {rule.target} are out, too.")
    return Reason(NAME, Verdict.FAIL if beyond else Verdict.PASS, text)


def _coarser(case: Case) -> dict[str, Codes]:
    return coarser(case.table, case.policy.knowledge.target)


def _merged(case: Case) -> dict[str, Codes]:
    """The released variables that are merged categories of the target."""
    told = {name for margin in case.release.formula.margins for name in margin}
    return {name: codes for name, codes in case.once(_coarser).items() if name in told}


def _known_of(case: Case) -> str:
    """A merged category of the target that a single known cell is about."""
    cells = [known.cell for known in case.release.known if known.why != STRUCTURAL]
    named = {name for cell in cells for name, _ in cell}
    return next((name for name in case.once(_coarser) if name in named), "")


def _told(release: Release, group: Iterable[str]) -> set[str]:
    """What tables and single cells are about, and what is tied to it by impossible combinations."""
    told = {name for margin in release.formula.margins for name in margin} | set(group)
    ties = [({name for name, _ in known.cell}, known.why) for known in release.known]
    told |= {name for names, why in ties if why != STRUCTURAL for name in names}
    more = True
    while more:
        linked = {name for names, _ in ties if names & told for name in names}
        more, told = not linked <= told, told | linked
    return told


def _unmerged(case: Case, merged: Mapping[str, Codes]) -> Release:
    """The same release with the target's own categories in place of the merged ones."""
    target = case.policy.knowledge.target
    margins = [
        {target if name in merged else name for name in margin}
        for margin in case.release.formula.margins
    ]
    release = Release.margins(case.table, margins)
    known = dict.fromkeys((*release.known, *case.release.known))
    return dataclasses.replace(release, known=tuple(known))


def _before(believed: Expected, categories: tuple[str, ...]) -> Independent:
    """What the same person believes of everybody, whatever the group."""
    sums = believed.counts.reshape(-1, len(categories)).sum(0)
    return Independent.of(dict(zip(categories, (sums / sums.sum()).tolist(), strict=True)))


def split_weights(prior: str, target: str, categories: tuple[str, ...]) -> list[float] | None:
    """The weights of the categories by which merged ones are split; None if they are not fixed.

    >>> split_weights("weights:a=1,b=2", "Ill", ("a", "b"))
    [1.0, 2.0]
    """
    if prior in (KNOWN, ANY):
        return None
    if prior == UNIFORM:
        return [1.0] * len(categories)
    if not prior.startswith(WEIGHTS):
        raise DataError(
            f"knowledge.prior = {prior!r} is no prior; write known, any, uniform, "
            "weights:CATEGORY=NUMBER,... or weights:FILE."
        )
    rest = prior.removeprefix(WEIGHTS)
    found = read_pairs(rest).numbers if "=" not in rest and Path(rest).suffix else _written(rest)
    if odd := sorted(set(found) ^ set(categories)):
        raise DataError(
            f"knowledge.prior must give each category of {target!r} a weight, and no other; see "
            f"{odd[0]!r}."
        )
    if bad := [name for name, weight in found.items() if not 0 < weight < float("inf")]:
        raise DataError(f"knowledge.prior gives {bad[0]!r} {found[bad[0]]:g}; give more than 0.")
    return [found[name] for name in categories]


def _written(text: str) -> dict[str, float]:
    found = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise DataError(f"knowledge.prior has {part!r}; write CATEGORY=NUMBER.") from None
    return found


def _split_said(case: Case, merged: Mapping[str, Codes]) -> str:
    """The prior, in a sentence."""
    if not merged:
        return ""
    rule = case.policy.knowledge
    how = {
        KNOWN: "how many each has may be known, so that merging hides nothing",
        ANY: "they may be split in any way",
        UNIFORM: "they are split evenly",
    }.get(rule.prior, f"they are split by {rule.prior}")
    return f" {both(list(merged))} merges categories of {rule.target}: {how}."


def assumes(case: Case) -> Iterable[str]:
    yield (
        "Of a table that is not released, an intruder believes what the released margins lead one "
        "to expect, and nothing else."
    )
    rule = case.policy.knowledge
    if rule.target in case.table.names:
        variable = case.table.variable(rule.target)
        asked = on_values(uncertainty_named(rule.uncertainty, variable.categories), variable)
        if isinstance(asked, OnValues):
            yield from asked.notes
        said = _split_said(case, _merged(case)).strip()
        if said:
            yield said


def promises(policy: Policy) -> Iterable[str]:
    yield f"What the tables teach about a person's {policy.knowledge.target} is limited."


RULE = Rule(
    NAME,
    judge,
    section="knowledge",
    keys=Knowledge,
    asked=lambda policy: bool(policy.knowledge.target),
    assumes=assumes,
    promises=promises,
    place=70,
)
