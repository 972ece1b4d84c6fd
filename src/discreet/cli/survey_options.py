"""The options of `discreet publish`: the survey, the rule, and what is asked besides."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.completion import complete_data
from discreet.cli.options import Command, Number, records_option
from discreet.cli.showing import writable

POSITIVE = Number(0, min_open=True)


def _added(command: Command, options: tuple[Any, ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def survey_options(command: Command) -> Command:
    """What DATA are, or the plan; the prior."""
    return _added(
        command,
        (
            click.argument("data", required=False, shell_complete=complete_data),
            click.option(
                "--table",
                metavar="NAME",
                help="Of a database or a file: its table, sheet or frame.",
            ),
            click.option(
                "--sample-size", metavar="COLUMN", help="People in the sample of each domain."
            ),
            click.option("--population", metavar="COLUMN", help="People in each domain."),
            click.option(
                "--cell-count",
                metavar="COLUMN",
                help="Sampled people in the class; of records COLUMN=VALUE, or a column of 0 and "
                "1.",
            ),
            click.option(
                "--domain", metavar="COLUMN", help="DATA are records, of the domains named here."
            ),
            records_option,
            click.option("--codebook", metavar="FILE", help="TOML, DDI or SDMX: labels of codes."),
            click.option(
                "--plan",
                "types",
                metavar="n:N[:DOMAINS],...",
                help="Before the survey, without DATA: types of domains, n of N people sampled.",
            ),
            click.option(
                "--alpha", type=POSITIVE, metavar="A", help="Of the beta prior; else fitted."
            ),
            click.option(
                "--beta", type=POSITIVE, metavar="B", help="Of the beta prior; else fitted."
            ),
            click.option(
                "--covariate",
                "covariates",
                multiple=True,
                metavar="COLUMN",
                help="The fitted prior depends on it, on the logit scale; can be repeated.",
            ),
        ),
    )


def rule_options(command: Command) -> Command:
    """Keys of the policy's section `publish`: what is not given is as the policy says."""
    return _added(
        command,
        (
            click.option(
                "--policy", metavar="FILE", help="TOML with the thresholds (discreet policy)."
            ),
            click.option(
                "--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a policy key."
            ),
            click.option(
                "--disclosure-loss",
                metavar="L",
                help="uniques:S, gamma-uniques:S:A, subclasses:FILE, known-sample:S or "
                "threshold:T.  [default: uniques:10]",
            ),
            click.option(
                "--nonpublication-loss",
                metavar="L",
                help="records, cells, population, domain-sample or domain.  [default: records]",
            ),
            click.option(
                "--rule",
                type=click.Choice(["bayes", "plug-in"]),
                help="Expected losses, or losses at an estimate of Y.  [default: bayes]",
            ),
            click.option(
                "--estimator",
                type=click.Choice(["weighted", "synthetic", "combined"]),
                help="Of the plug-in rule.  [default: combined]",
            ),
            click.option(
                "--floor",
                type=Number(0),
                metavar="Y",
                help="Plug-in rule: publish where the estimate is above it.",
            ),
            click.option(
                "--ratio",
                type=Number(0),
                metavar="C",
                help="Publish where R1 < C R0.  [default: 1]",
            ),
            click.option(
                "--share", type=Number(0, 1), metavar="P", help="Publish this share of the data."
            ),
            click.option(
                "--risk",
                type=Number(0, 1),
                metavar="R",
                help="Take at most this share of the risk of publishing everything.",
            ),
            click.option(
                "--edge",
                type=click.Choice(["whole", "best", "random"]),
                help="To meet a share or a risk: whole configurations, the best set of whole "
                "cells, or one cell published at random.  [default: whole]",
            ),
            click.option(
                "--combine",
                is_flag=True,
                default=None,
                help="Join suppressed cells with rows next to them.",
            ),
            click.option(
                "--totals",
                metavar="all|COLUMN,...|none",
                help="Totals of the class that are published besides: of all domains, or of those "
                "with the same value in COLUMN.",
            ),
        ),
    )


def besides_options(command: Command) -> Command:
    """What is shown besides the decision."""
    return _added(
        command,
        (
            click.option(
                "--seed", type=int, default=0, show_default=True, help="Of the random edge."
            ),
            click.option(
                "--taylor",
                "expand",
                is_flag=True,
                help="The second-order approximation of R1, and where it fails.",
            ),
            click.option(
                "--interval",
                type=Number(0, 1, min_open=True, max_open=True),
                metavar="LEVEL",
                help="Intervals of what is fitted, and the cells that flip within, e.g. 0.95.",
            ),
            click.option(
                "--subclasses",
                metavar="FILE",
                help="People seen in each subclass, in the last column: S of the loss is fitted.",
            ),
            click.option(
                "--chart",
                metavar="FILE",
                callback=writable,
                help="Write the trade-off curve: .html, .svg or .png.",
            ),
        ),
    )
