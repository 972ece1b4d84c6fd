"""What `discreet knowledge` reads of a table with merged or left out categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from discreet.cli.knowledge_beliefs import VALUES
from discreet.cli.options import Command

if TYPE_CHECKING:
    from discreet.intruder.predictive.elicit import ElicitedPrior
    from discreet.intruder.predictive.priors import Prior
    from discreet.risk.knowledge.reach import Priors
    from discreet.risk.knowledge.withheld import Withheld
    from discreet.table.table import Table

MIXTURE = "mixture:"


def hidden_options(command: Command) -> Command:
    """`--merge`, `--suppress`, `--total-known` and `--priors`."""
    merge = click.option(
        "--merge",
        multiple=True,
        metavar="NAME=A,B",
        help="Published with categories of the target merged; judged on its own ones.",
    )
    suppress = click.option(
        "--suppress",
        multiple=True,
        metavar="CATEGORY",
        help="Published without the count of a category of the target.",
    )
    total = click.option(
        "--total-known",
        is_flag=True,
        help="What all suppressed categories have together is known.",
    )
    priors = click.option(
        "--priors",
        metavar="CLASS",
        help="With --merge or --suppress, for every prior of a class: any, A=LOW:HIGH,... (shares),"
        " weights:A=LOW:HIGH,... (Dirichlet), or mixture:FILE=SHARE,... of files.",
    )
    return merge(suppress(total(priors(command))))


def check_hidden(options: dict[str, Any], *, of_table: bool) -> bool:
    """Are categories merged or left out? Refuses what does not go with it."""
    from discreet.errors import DataError

    hides = bool(options["merge"] or options["suppress"])
    if not hides and (options["total_known"] or options["priors"]):
        raise DataError("--total-known and --priors go with --merge or --suppress.")
    if hides and not of_table:
        raise DataError("--merge and --suppress go with a table, not with rates or totals.")
    if hides and options["fraction"] != 1:
        raise DataError("--sampling-fraction does not go with --merge or --suppress; leave it out.")
    if hides and options["priors"] and options["prior"]:
        raise DataError("--prior is one prior, --priors a class of them; give one of the two.")
    return hides


def withheld_of(
    options: dict[str, Any], table: Table, prior: Prior | ElicitedPrior | None
) -> Withheld:
    """What the table teaches, for the prior or the class of priors that is asked about."""
    from discreet.intruder.predictive.elicit import ElicitedPrior
    from discreet.risk.knowledge.hiding import withheld
    from discreet.risk.uncertainty import on_values
    from discreet.risk.uncertainty.named import uncertainty_named

    asked = {key: options[key] for key in ("target", "group", "limit", "measure", "total_known")}
    variable = table.variable(options["target"])
    categories = variable.categories
    given: Prior | Priors | None = prior.prior if isinstance(prior, ElicitedPrior) else prior
    if options["priors"]:
        given = _class_of(options["priors"])
    named = uncertainty_named(options["uncertainty"] or "largest", categories)
    values = {key: options[key] for key in VALUES}
    return withheld(
        table,
        **asked,
        uncertainty=on_values(named, variable, **values),
        merge=dict(_merged(text, categories) for text in options["merge"]),
        suppress=options["suppress"],
        prior=given,
    )


def _class_of(text: str) -> Prior | Priors:
    from discreet.risk.knowledge.reach import Priors

    return _mixture(text) if text.startswith(MIXTURE) else Priors.parse(text)


def _merged(text: str, categories: tuple[str, ...]) -> tuple[str, list[str]]:
    """`NAME=A,B`; categories with a comma are found by what is left of the text."""
    from discreet.errors import DataError

    name, equals, rest = text.partition("=")
    parts, found = rest.split(","), []
    while parts:
        for length in range(len(parts), 0, -1):
            if (label := ",".join(parts[:length]).strip()) in categories:
                break
        else:
            raise DataError(
                f"--merge {text!r}: {parts[0].strip()!r} is no category; there are "
                f"{', '.join(categories[:10])}."
            )
        found.append(label)
        parts = parts[length:]
    if not equals or not name.strip() or len(found) < 2:
        raise DataError(f"--merge {text!r} merges nothing; write NAME=A,B.")
    return name.strip(), found


def _mixture(text: str) -> Prior:
    from discreet.data.smallfiles import read_pairs
    from discreet.errors import DataError
    from discreet.intruder.predictive.priors import Dirichlet, Independent, Mixture

    kinds: dict[str, Any] = {"probability": Independent.of, "weight": Dirichlet.of}
    parts, shares = [], []
    for part in text.removeprefix(MIXTURE).split(","):
        path, _, share = part.rpartition("=")
        try:
            shares.append(float(share))
        except ValueError:
            raise DataError(f"{part!r} is no part of a mixture; write FILE=SHARE.") from None
        pairs = read_pairs(path.strip())
        if pairs.called not in kinds:
            raise DataError(
                f"the numbers of {path.strip()} are called {pairs.called!r}; call them "
                "probability, or weight for a Dirichlet prior."
            )
        parts.append(kinds[pairs.called](pairs.numbers))
    return Mixture.of(parts, shares)
