"""`discreet publish`: publish or suppress each cell of a survey table."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import read_policy
from discreet.cli.showing import page_options, show
from discreet.cli.survey_options import besides_options, rule_options, survey_options

if TYPE_CHECKING:
    from discreet.data.domains import Domains
    from discreet.decision.law.policy import Policy
    from discreet.decision.survey.publish import Publication
    from discreet.decision.survey.totals import GuardedTotals

COLUMNS = (
    *("sample_size", "population", "cell_count", "domain", "covariates"),
    *("table", "records", "codebook"),
)
KEYS = (
    *("disclosure_loss", "nonpublication_loss", "rule", "estimator", "floor", "ratio", "share"),
    *("risk", "edge", "combine", "totals"),
)


@click.command(
    "publish",
    epilog="Example: discreet publish areas.csv --sample-size n --population N --cell-count y "
    "--risk 0.2",
)
@survey_options
@rule_options
@besides_options
@page_options
@click.pass_context
def publish_command(
    ctx: click.Context,
    /,
    data: str | None,
    types: str | None,
    policy: str | None,
    changes: tuple[str, ...],
    seed: int,
    expand: bool,
    interval: float | None,
    subclasses: str | None,
    chart: str | None,
    html: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish or suppress each cell of a survey table.

    DATA has one row a domain: how many people it has, how many were sampled, how many of these are
    in the class. A cell is published where the expected loss of disclosure is below that of not
    publishing it. With --plan, before there are data: what a design is expected to publish.
    """
    from discreet.decision.survey.by_policy import for_this_run, plugged
    from discreet.decision.survey.cell_losses import CellLossWarning
    from discreet.look.progress import working

    office = for_this_run(read_policy(policy, changes), {key: options[key] for key in KEYS})
    fitted = None
    if subclasses:
        office, fitted = _subclasses(office, options["disclosure_loss"], subclasses, interval)
    domains = None if types else _read(ctx, data, options)
    prior = {"alpha": options["alpha"], "beta": options["beta"]}
    with working("weighing risks"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CellLossWarning)
        found = (
            _plan(types or "", data, office, prior)
            if domains is None
            else _publish(domains, office, prior, seed)
        )
    for warning in caught:
        click.echo(f"discreet: {warning.message}", err=True)
    exact = found
    found, beside = plugged(exact, office)
    document: dict[str, Any] = {"policy": _stated(office)}
    parts: dict[str, Any] = {"policy": office}
    if beside is not None:
        parts["plug_in"] = beside
        document["plug_in"] = beside.to_json(office.publish.estimator)
    if expand:
        from discreet.decision.survey.taylor import taylor

        parts["taylor"] = taylor(exact)
    if interval is not None:
        from discreet.decision.survey.flips import flips

        kind = "gamma" if office.publish.disclosure_loss.startswith("gamma") else "equal"
        covariates = domains.covariates if domains else None
        with working("moving over the intervals"):
            parts["flips"] = flips(
                exact, level=interval, covariates=covariates, subclasses=fitted, kind=kind
            )
    if fitted is not None:
        parts["subclasses"] = fitted
    if office.publish.edge == "best" and office.publish.cut != "ratio" and beside is None:
        from discreet.decision.survey.edges import edges

        parts["edges"] = edges(exact, seed=seed)
    document |= {name: part.to_json() for name, part in parts.items() if name in WITH_JSON}
    if interval is not None and exact.prior.fitted_to is not None:
        document["intervals"] = exact.prior.intervals_json(interval)
    if chart:
        from discreet.report.export import save_chart

        source = domains.name if domains else "plan"
        save_chart(found.plot(source=source, confidential=domains is not None), chart)
    if domains is None:
        from discreet.decision.survey.plan import plan_json

        document["plan"] = plan_json(found)
        parts["planned"] = True
    else:
        found, kept = _guarded(found, office, domains, parts)
        document |= {
            name: parts[name].to_json() for name in ("combined", "totals") if name in parts
        }
    show(
        found,
        html=html,
        document=found.to_json() | document if as_json else None,
        name=domains.name if domains else "",
        data=data,
        level=interval,
        **parts,
    )
    if domains is not None and kept is not None:
        ctx.exit(0 if str(kept.verdict) == "PASS" else 1)


WITH_JSON = ("taylor", "flips", "subclasses", "edges")


def _read(ctx: click.Context, data: str | None, options: dict[str, Any]) -> Domains:
    """One row a domain, from DATA."""
    from discreet.data.domains import read_domains
    from discreet.look.progress import working

    given = {"data": data, **options}
    for parameter in ctx.command.params:
        if parameter.name in ("data", "population", "cell_count") and not given[parameter.name]:
            raise click.MissingParameter(ctx=ctx, param=parameter)
    with working("reading"):
        return read_domains(data, **{name: options[name] for name in COLUMNS})


def _publish(domains: Domains, office: Policy, prior: dict[str, Any], seed: int) -> Publication:
    from discreet.decision.survey.by_policy import rule_of
    from discreet.decision.survey.publish import publish

    return publish(
        domains.n,
        domains.N,
        domains.y,
        covariates=domains.covariates or None,
        columns=domains.columns,
        seed=seed,
        **prior,
        **rule_of(office),
    )


def _plan(types: str, data: str | None, office: Policy, prior: dict[str, Any]) -> Publication:
    from discreet.decision.survey.by_policy import rule_of
    from discreet.decision.survey.plan import plan, read_types
    from discreet.errors import DataError

    if data is not None:
        raise DataError(f"a plan is made before there are data; leave out {data!r} or --plan.")
    if prior["alpha"] is None or prior["beta"] is None:
        raise DataError("a plan has no data to fit a prior to; give --alpha and --beta.")
    if office.publish.combine or office.publish.totals not in ("", "none"):
        raise DataError("--combine and --totals are for cells that were counted; leave out --plan.")
    return plan(read_types(types), alpha=prior["alpha"], beta=prior["beta"], **rule_of(office))


def _subclasses(
    office: Policy, loss: str | None, file: str, level: float | None
) -> tuple[Policy, Any]:
    """S, and A, fitted to the counts in a file; the loss of the policy with them."""
    from discreet.errors import DataError
    from discreet.models.subclasses import fit_subclasses

    kind, _, given = (loss or office.publish.disclosure_loss).partition(":")
    if kind not in ("uniques", "gamma-uniques") or (loss and given):
        raise DataError(
            f"the loss of disclosure is {loss or kind!r}, and S is to be fitted to {file!r}; say "
            "--disclosure-loss uniques or gamma-uniques, without S."
        )
    fitted = fit_subclasses(file, level=level or 0.95)
    name = fitted.loss("equal" if kind == "uniques" else "gamma")
    return office.for_this_run({"publish.disclosure_loss": name}), fitted


def _guarded(
    found: Publication, office: Policy, domains: Domains, parts: dict[str, Any]
) -> tuple[Publication, GuardedTotals | None]:
    """Cells joined, and kept from totals, as the policy says."""
    from discreet.decision.survey.combine import combine
    from discreet.decision.survey.totals import guard_totals, read_totals
    from discreet.look.progress import working

    keys, combined = office.publish, None
    if keys.combine:
        with working("joining cells"):
            combined = parts["combined"] = combine(found)
    totals = read_totals(keys.totals, domains.columns)
    if not totals:
        return found, None
    with working("looking at totals"):
        kept = parts["totals"] = guard_totals(
            found,
            totals,
            width=keys.width,
            secondary=keys.secondary,
            known=keys.known,
            combined=combined,
        )
    return kept.publication, kept


def _stated(office: Policy) -> dict[str, Any]:
    """The policy's name and its section `publish`."""
    from dataclasses import asdict

    return {"name": office.described, "publish": asdict(office.publish)}
