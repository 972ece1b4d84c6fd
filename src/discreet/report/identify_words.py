"""The sentences of a report on identification; none has a value of the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.intruder.linkage.model import By, Kind
from discreet.look.words import number, percent, plural, rounded

if TYPE_CHECKING:
    from discreet.intruder.linkage.model import Intruder, Key, Stated
    from discreet.risk.linkage.calibration import Share
    from discreet.risk.linkage.harm import Costs, Harm
    from discreet.risk.linkage.harm.own import Amount
    from discreet.risk.linkage.harmless import Harmless
    from discreet.risk.linkage.identification import Identification
    from discreet.risk.linkage.matching import Matching
    from discreet.risk.linkage.replacement import Replacement

TELLS = 1.5  # a key that makes a pair so many times likelier is a reason


def headline(found: Identification) -> str:
    linked = plural(int(found.linked.sum()), "respondent")
    return f"{linked} of {number(len(found.linked))} linked with probability {found.act:g} or more"


def how_words(found: Identification) -> str:
    """How many records were released, and how exact their links are."""
    released = plural(len(found.links.released.of), "released record")
    exact = found.links.exact
    if exact == 1:
        return f"{released}, all link probabilities exact"
    off = f"; two approximations of them differ by {found.links.error:.2g} or less"
    if exact == 0:
        return f"{released}, all link probabilities approximate{off}"
    known = f"{percent(exact)} with exact link probabilities, the others approximate"
    return f"{released}, {known}{off}"


def true_words(found: Identification) -> str:
    true = found.true
    return (
        f"true: {true.acted:,.4g} of {plural(true.released, 'released record')} correctly "
        f"identified ({percent(true.risk, 1)}), {true.wrong:,.4g} wrong; "
        f"{true.best:,.4g} if every best link counts"
    )


def matching_words(near: Matching) -> str:
    return (
        f"matching: {number(near.matched)} nearest to their own source "
        f"({percent(near.risk, 1)}), {distance_words(near)}"
    )


def distance_words(near: Matching) -> str:
    """Which distance, and the weights that were given."""
    logs = ", of the logarithms of lognormal keys" if near.distance.startswith("log") else ""
    kind = "squared" if near.distance.endswith("squared") else "absolute"
    given = ", ".join(f"{name} {value:g}" for name, value in near.weights.items())
    return f"{kind} distance{logs}{f', weights {given}' if given else ''}"


def replacement_words(near: Replacement) -> str:
    """How far the approximation is from equation (1)."""
    changed = plural(near.changed, "respondent")
    return (
        f"link probabilities differ by {near.mean:.4f} on average and by {near.largest:.4f} at "
        f"most; {changed} with another best link"
    )


def because_words(row: Mapping[str, Any]) -> str:
    """The keys that tell, and how many times likelier they make the link."""
    told = [(key, times) for key, times in row["because"].items() if times >= TELLS]
    return ", ".join(f"{key} {rounded(times, 3)}x" for key, times in told[:3])


def share(found: Share) -> str:
    """A share with its standard error."""
    return f"{percent(found.value, 1)} ({found.error:.1%})" if found.of else "-"


def harmless_words(found: Harmless) -> tuple[str, str]:
    """From which imprecision on there is little risk, and how far that was looked at."""
    last = number(found.grid[-1][0])
    if found.times is None:
        said = f"no intruder up to {last} times less precise keeps"
    elif found.times == 1:
        said = "the intruder as assumed keeps"
    else:
        said = f"an intruder at least {found.times:.2f} times less precise than assumed keeps"
    steady = "" if found.steady else ", and the risk rises in between"
    return (
        f"{said} the highest risk at {found.limit:g} or less",
        f"checked where shown, up to {last} times{steady}",
    )


def harm_words(felt: Harm) -> str:
    average = felt.total / len(felt.harm)
    return (
        f"Harm from {felt.costs.sensitive}: {harm_total(felt)}, which is {average:,.3g} a "
        "respondent."
    )


def harm_total(felt: Harm) -> str:
    """The sum, whether it is exact, and about how far it may be off."""
    return felt.words


def amount(cost: Amount) -> str:
    """A cost, or where it stands if every respondent has their own."""
    return f"{cost:,.6g}" if isinstance(cost, int | float) else f"by {cost.column}"


def inferred_words(felt: Harm) -> str:
    found = felt.inferences
    said = f"inferred: {number(found['right'])} right, {number(found['wrong'])} wrong"
    return f"{said}; of {number(found['nothing'])} with a link nothing"


def known(intruder: Intruder) -> list[str]:
    """Names of the keys that the intruder knows."""
    return [key.name for key in intruder.keys if key.kind is not Kind.UNKNOWN]


def assumed(intruder: Intruder, sources: int) -> list[str]:
    """What the intruder is taken to know."""
    said = [f"{key.name}: {key_words(key)}." for key in intruder.keys]
    for pair, value in intruder.correlation.items():
        tie = f"that {value.column} gives" if isinstance(value, By) else f"of {value:g}"
        said.append(f"The noise of {' and '.join(pair)} has a correlation {tie}.")
    if len(intruder.types) > 1:
        for kind in intruder.types:
            own = [f"{key.name} {key_words(key)}" for key in kind.keys.values()]
            masked = "; ".join(own) or "all keys as said above"
            said.append(f"{percent(kind.share)} of the released records are of a type: {masked}.")
    if intruder.population is None or intruder.population == sources:
        said.append("The released records are a sample of the source.")
    else:
        everyone = plural(intruder.population, "person", "people")
        said.append(
            f"The released records are a sample of {everyone}, of whom {number(sources)} are in "
            "the source. The others are taken to look like these."
        )
    knows = "knows" if intruder.present else "does not know"
    said.append(f"The intruder {knows} that a respondent was released.")
    if intruder.wrong is not None:
        said.append(
            f"A wrong link costs the intruder {intruder.wrong:g}, a missed one "
            f"{intruder.missed:g}: no link is made that is expected to cost more than none."
        )
    return said


def key_words(key: Key) -> str:
    """How the intruder takes it to be masked."""
    said = _known_words(key)
    if isinstance(key.suppressed, Mapping) or key.suppressed > 0:
        said += ", or missing with a known probability"
    return f"{said}, after what each record became" if _stands_in(key) else said


def _stands_in(key: Key) -> bool:
    return key.seen is not None and key.kind not in (Kind.SHARED, Kind.SWAPPED)


PLAIN = {
    Kind.UNKNOWN: "not known to the intruder",
    Kind.EXACT: "a value that is released as it is",
    Kind.SUPPRESSED: "a value that is released as it is",
    Kind.INTERVAL: "the interval in which the value lies",
    Kind.SHARED: "what it became, which whoever repeats the mask knows and several records share",
}


def _known_words(key: Key) -> str:
    if key.kind in PLAIN:
        return PLAIN[key.kind]
    if key.kind is Kind.TOPCODE:
        ends = [f"below {key.low:g}"] if key.low is not None else []
        ends += [f"above {key.high:g}"] if key.high is not None else []
        return f"a value that is released as it is, and as a code {' or '.join(ends)}"
    if key.kind is Kind.RANK:
        return f"a value whose rank is at most {percent(key.window or 0)} of the records away"
    if key.kind is Kind.SWAPPED:
        block = " and ".join((key.name, *key.joint))
        return f"{block} as they are, or those of another record, with given probabilities"
    if key.kind is Kind.CATEGORY:
        if key.matrix is not None:
            return "a category that changes with given probabilities"
        if key.keep == 1:
            return "a category that is released as it is"
        return f"a category that stays with probability {key.keep:g}"
    if key.personal or key.center:
        return _own_words(key)
    what = "the logarithm of the value" if key.kind is Kind.LOGNORMAL else "the value"
    if key.spread is None:
        return f"{what} with normal noise, whose spread is estimated from the files"
    spreads = [
        f"{spread:g}" + (f" for {percent(share)}" if len(key.spread) > 1 else "")
        for spread, share in zip(key.spread, key.weights, strict=True)
    ]
    return f"{what} with normal noise of standard deviation {', '.join(spreads)}"


ERRORS = {
    Kind.NORMAL: "normal error of standard deviation {}",
    Kind.LOGNORMAL: "normal error of standard deviation {}",
    Kind.LAPLACE: "double exponential error of standard deviation {}",
    Kind.UNIFORM: "a uniform error of at most {}",
    Kind.WRITTEN: "an error of a written density, stretched by {}",
}


def _own_words(key: Key) -> str:
    """A belief that differs by respondent, or whose error is not normal."""
    if key.of is not None:
        each = [f"{_own_words(one)} if {key.column} is {label}" for label, one in key.of.items()]
        return "; ".join(each)
    logs = key.log or key.kind is Kind.LOGNORMAL
    what = f"the logarithm of {key.center or 'the value'}" if logs else key.center or "the value"
    said: float | By | None = key.spread_by
    if said is None and key.spread is not None:
        said = key.spread[0]
    error = ERRORS[key.kind].format(_spread_words(said))
    if key.kind is Kind.WRITTEN and said is None:
        error = "an error of a written density"
    if not key.sources:
        return f"{what} with {error}"
    stated = " and ".join(_stated_words(one) for one in key.sources)
    added = f", and masked with {error}" if said is not None else ""
    return f"{'the logarithm of ' * logs}what is stated by {stated}{added}"


def _stated_words(one: Stated) -> str:
    return f"{one.column} with {ERRORS[one.kind].format(_spread_words(one.spread))}"


def _spread_words(said: float | By | None) -> str:
    if isinstance(said, By):
        return f"that {said.column} gives" if said.values is None else f"by {said.column}"
    return "that is estimated from the files" if said is None else f"{said:g}"


def harm_assumed(costs: Costs) -> list[str]:
    """How the intruder infers, and what that costs."""
    whose = {"record": "the linked record", "mixture": "all candidates"}[costs.belief]
    said = [f"{costs.sensitive} is inferred from {whose}."]
    if costs.function is None:
        said.append(f"A released {costs.sensitive} is right with probability {costs.q:g}.")
        if isinstance(costs.infer, float | int):
            said.append(f"It is inferred if it is believed with {costs.infer:g} or more.")
        else:
            said.append("It is inferred if it is believed as much as is given for its category.")
    else:
        said.append(f"It costs the respondent {cost_words(costs)}.")
        said.append("That is expected over all that is believed of the number, not at its mean.")
        said += _number_words(costs)
    if not isinstance(costs.times, int | float):
        said.append(f"All harm is multiplied by what {costs.times.column} says of a respondent.")
    elif costs.times != 1:
        said.append(f"All harm is multiplied by {costs.times:g}.")
    if costs.bayes:
        said.append("Costs are weighted by what is believed of each category.")
    if costs.predict:
        said.append(f"It is predicted from {', '.join(costs.predict)}.")
    return said


def _said(cost: Amount) -> str:
    return f"{cost:,.6g}" if isinstance(cost, int | float) else f"what {cost.column} says"


def cost_words(costs: Costs) -> str:
    """What a number costs that is taken for another."""
    if callable(costs.function):
        return "what a function says of the true number and what it is taken for"
    known = costs.settings
    place = "what it is off by" if known.get("of", "error") == "error" else "what it is taken for"
    between = "the true value"
    if "low" in known:
        between = f"{_said(known['low'])} to {_said(known['high'])}"
    elif "within" in known:
        between = f"the true value -+ {_said(known['within'])}"
    elif "share" in known:
        share = known["share"]
        many = percent(share) if isinstance(share, int | float) else _said(share)
        between = f"the true value -+ {many}"
    return {
        "overestimate": "the square of what it is overestimated by",
        "excess": "what it is overestimated by",
        "absolute": "what it is off by",
        "squared": "the square of what it is off by",
        "relative": "the square of what it is off by, as a share of the true value",
        "threshold": f"{_said(costs.loss)} if it is believed to be above {_said(costs.limit)}",
        "inside": f"{_said(costs.loss)} if it is believed to be in {between}",
        "outside": f"{_said(costs.loss)} if it is not believed to be in {between}",
        "written": f"by a line through {len(known.get('points', ()))} points of {place}",
    }[costs.function or "excess"]


def _number_words(costs: Costs) -> list[str]:
    said = []
    if costs.wrong:
        said.append(f"After a wrong link it costs {cost_words(costs.after_wrong_link)}.")
    if costs.spread or costs.log_spread:
        what = "Its logarithm" if costs.log_spread else "It"
        error = costs.spread or costs.log_spread
        said.append(
            f"{what} is released with a normal error of standard deviation {error:g}, and true "
            "values are normal about what is predicted of them."
        )
    if costs.near:
        said.append(f"An estimate within {costs.near:g} of the true value is a true inference.")
    return said
