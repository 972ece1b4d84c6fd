"""`discreet publish`: publish or suppress each cell of a survey table."""

from __future__ import annotations

import warnings
from typing import Any

import click

from discreet.cli.options import Number, records_option
from discreet.cli.showing import page_options, show

POSITIVE = Number(0, min_open=True)


@click.command(
    "publish",
    epilog="Example: discreet publish areas.csv --sample-size n --population N --cell-count y "
    "--risk 0.2",
)
@click.argument("data")
@click.option("--table", metavar="NAME", help="The table of a database URL.")
@click.option("--sample-size", metavar="COLUMN", help="People in the sample of each domain.")
@click.option("--population", required=True, metavar="COLUMN", help="People in each domain.")
@click.option(
    "--cell-count",
    required=True,
    metavar="COLUMN",
    help="Sampled people in the class; of records COLUMN=VALUE, or a column of 0 and 1.",
)
@click.option("--domain", metavar="COLUMN", help="DATA are records, of the domains named here.")
@records_option
@click.option("--alpha", type=POSITIVE, metavar="A", help="Of the beta prior; else fitted.")
@click.option("--beta", type=POSITIVE, metavar="B", help="Of the beta prior; else fitted.")
@click.option(
    "--covariate",
    "covariates",
    multiple=True,
    metavar="COLUMN",
    help="The fitted prior depends on it, on the logit scale; can be repeated.",
)
@click.option(
    "--disclosure-loss",
    default="uniques:10",
    show_default=True,
    metavar="L",
    help="uniques:S, gamma-uniques:S:A, subclasses:FILE, known-sample:S or threshold:T.",
)
@click.option(
    "--nonpublication-loss",
    default="records",
    show_default=True,
    metavar="L",
    help="records, cells, population, domain-sample or domain.",
)
@click.option(
    "--ratio",
    type=Number(0),
    metavar="C",
    help="Publish where R1 < C R0.  [default: 1]",
)
@click.option("--share", type=Number(0, 1), metavar="P", help="Publish this share of the data.")
@click.option(
    "--risk",
    type=Number(0, 1),
    metavar="R",
    help="Take at most this share of the risk of publishing everything.",
)
@click.option(
    "--edge",
    type=click.Choice(["whole", "random"]),
    default="whole",
    show_default=True,
    help="To meet a share or a risk: whole configurations, or one cell published at random.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random edge.")
@click.option(
    "--combine", "joins", is_flag=True, help="Join suppressed cells with rows next to them."
)
@click.option("--chart", metavar="FILE", help="Write the trade-off curve: .html, .svg or .png.")
@page_options
def publish_command(
    data: str,
    table: str | None,
    sample_size: str | None,
    population: str,
    cell_count: str,
    domain: str | None,
    records: bool,
    disclosure_loss: str,
    nonpublication_loss: str,
    covariates: tuple[str, ...],
    joins: bool,
    chart: str | None,
    html: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish or suppress each cell of a survey table.

    DATA has one row a domain: how many people it has, how many were sampled, how many of these are
    in the class. A cell is published where the expected loss of disclosure is below that of not
    publishing it.
    """
    from discreet.data.domains import read_domains
    from discreet.decision.survey.cell_losses import CellLossWarning
    from discreet.decision.survey.publish import publish
    from discreet.look.progress import working

    with working("reading"):
        domains = read_domains(
            data,
            sample_size=sample_size,
            population=population,
            cell_count=cell_count,
            domain=domain,
            covariates=covariates,
            table=table,
            records=records,
        )
    with working("weighing risks"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CellLossWarning)
        found = publish(
            domains.n,
            domains.N,
            domains.y,
            covariates=domains.covariates or None,
            disclosure=disclosure_loss,
            nonpublication=nonpublication_loss,
            columns=domains.columns,
            **options,
        )
    for warning in caught:
        click.echo(f"discreet: {warning.message}", err=True)
    if chart:
        from discreet.report.export import save_chart

        save_chart(found.plot(source=domains.name), chart)
    combined = None
    if joins:
        from discreet.decision.survey.combine import combine

        with working("joining cells"):
            combined = combine(found)
    more = {} if combined is None else {"combined": combined.to_json()}
    show(
        found,
        html=html,
        document=found.to_json() | more if as_json else None,
        name=domains.name,
        combined=combined,
        data=data,
    )
