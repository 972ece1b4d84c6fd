"""What `discreet knowledge` reads of categories that are numbers, and of prior beliefs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import Command, Number

if TYPE_CHECKING:
    from discreet.intruder.predictive.elicit import ElicitedPrior
    from discreet.intruder.predictive.priors import Prior
    from discreet.table.table import Table

VALUES = ("values", "within", "top")


def value_options(command: Command) -> Command:
    """`--values`, `--within` and `--top`."""
    values = click.option(
        "--values",
        metavar="FILE",
        help="The categories are numbers: CSV of category and value, or category, low and high.",
    )
    within = click.option(
        "--within",
        metavar="W",
        default="midpoint",
        show_default=True,
        help="Within a range: midpoint, uniform, pareto:ALPHA, or uniform+pareto:ALPHA.",
    )
    top = click.option("--top", type=Number(), metavar="N", help="Where the open range ends.")
    return values(within(top(command)))


def prior_options(command: Command) -> Command:
    """`--prior-from` with its count, `--prior-by`, `--prior-worth` and `--prior-family`."""
    table = click.option(
        "--prior-from", metavar="DATA", help="Believed before: as in these comparable data."
    )
    count = click.option(
        "--prior-count", metavar="N", help="Its column of counts, if not that of --count."
    )
    by = click.option(
        "--prior-by",
        metavar="V",
        help="Of --prior-from: a table for each category of V; how far they differ is its worth.",
    )
    worth = click.option(
        "--prior-worth",
        type=Number(0, min_open=True),
        metavar="N",
        help="How many people the shares of --prior or --prior-from count for.",
    )
    family = click.option(
        "--prior-family",
        type=click.Choice(["gamma", "lognormal", "pareto"]),
        default="gamma",
        show_default=True,
        help="Fitted to a --prior of quantiles (probability, quantile) of rates or alphas.",
    )
    return table(count(by(worth(family(command)))))


def check_of_numbers(options: dict[str, Any]) -> None:
    """Options that rates and totals do not have."""
    from discreet.errors import DataError

    priors = ("prior_from", "prior_count", "prior_by", "prior_worth")
    given = [name for name in (*VALUES, *priors) if options[name]]
    if odd := [name for name in given if (name, options[name]) != ("within", "midpoint")]:
        raise DataError(
            f"--{odd[0].replace('_', '-')} goes with a table, not with rates or totals."
        )


def prior_of_table(options: dict[str, Any], table: Table) -> Prior | ElicitedPrior | None:
    """From a file of shares or weights, or from comparable data."""
    from discreet.errors import DataError

    if options["prior"] and options["prior_from"]:
        raise DataError("--prior and --prior-from both say what is believed before; give one.")
    if (options["prior_by"] or options["prior_count"]) and not options["prior_from"]:
        raise DataError("--prior-by and --prior-count are columns of --prior-from; give that too.")
    if options["prior_from"]:
        return _comparable(options, table)
    if options["prior"]:
        return _stated(options["prior"], options["prior_worth"])
    if options["prior_worth"] is not None:
        raise DataError("--prior-worth says what shares count for; give --prior or --prior-from.")
    return None


def _stated(path: str, worth: float | None) -> Prior | ElicitedPrior:
    from discreet.data.smallfiles import read_pairs
    from discreet.errors import DataError
    from discreet.intruder.predictive.elicit import elicit_shares
    from discreet.intruder.predictive.priors import Dirichlet, Independent

    pairs = read_pairs(path)
    if pairs.called == "weight" and worth is None:
        return Dirichlet.of(pairs.numbers)
    if pairs.called != "probability":
        more = "; weights have their worth" if pairs.called == "weight" else ""
        raise DataError(
            f"the numbers of {path} are called {pairs.called!r}; call them probability, or weight "
            f"for a Dirichlet prior{more}."
        )
    if worth is None:
        return Independent.of(pairs.numbers)
    return elicit_shares(pairs.numbers, worth)


def _comparable(options: dict[str, Any], table: Table) -> ElicitedPrior:
    from discreet.data.codebook import Codebook
    from discreet.errors import DataError
    from discreet.intruder.predictive.elicit import elicit_table
    from discreet.table.load import load

    target, by = options["target"], options["prior_by"]
    found = load(options["prior_from"], count=options["prior_count"] or options["count"])
    for name in filter(None, (target, by)):
        if name not in found.names:
            raise DataError(
                f"{options['prior_from']!r} has no column {name!r}; it has "
                f"{', '.join(found.names)}."
            )
    book = Codebook.read(options["codebook"]) if options["codebook"] else Codebook()
    names = [*([by] if by else []), target]
    sums = found.margin(names).reorder(names)
    labels = [book.category(target, text) for text in sums.variable(target).categories]
    known = table.variable(target).categories
    if odd := [label for label in labels if label not in known]:
        raise DataError(
            f"{options['prior_from']!r} has {odd[0]!r}, which is no category of {target!r}; it has "
            f"{', '.join(known[:10])}."
        )
    lines = sums.dense().reshape(-1, len(labels)).tolist()
    counts = [
        dict.fromkeys(known, 0) | dict(zip(labels, line, strict=True))
        for line in lines
        if sum(line)
    ]
    return elicit_table(counts, worth=options["prior_worth"])


def numbers_prior(options: dict[str, Any]) -> Any:
    """A belief about a number, from a file of values or of quantiles."""
    path = options["prior"]
    if path is None:
        return None
    from discreet.data.smallfiles import read_pairs
    from discreet.errors import DataError
    from discreet.intruder.belief.belief import Belief
    from discreet.intruder.predictive.quantiles import elicit_quantiles

    pairs = read_pairs(path)
    try:
        values = [float(name) for name in pairs.numbers]
    except ValueError:
        raise DataError(f"{path} must list numbers with their probabilities.") from None
    if pairs.called == "quantile":
        quantiles = dict(zip(values, pairs.numbers.values(), strict=True))
        return elicit_quantiles(quantiles, options["prior_family"])
    if pairs.called != "probability":
        raise DataError(
            f"the numbers of {path} are called {pairs.called!r}; call them probability, or "
            "quantile if the first are probabilities."
        )
    return Belief.discrete(values, list(pairs.numbers.values()))
