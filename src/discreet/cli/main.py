"""`discreet`: the group of commands, and how errors and interrupts end."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.accounts import accounts_command
from discreet.cli.again import typed
from discreet.cli.assess import assess_command
from discreet.cli.bounds import bounds_command
from discreet.cli.check import check_command
from discreet.cli.choose import choose_command
from discreet.cli.compare import compare_command
from discreet.cli.completion import completion_command
from discreet.cli.count import count_command
from discreet.cli.diff import diff_command
from discreet.cli.doctor import doctor_command
from discreet.cli.endings import closed_pipes, endings, spoken_warnings
from discreet.cli.examples import examples_command
from discreet.cli.frontier import frontier_command
from discreet.cli.identify import identify_command
from discreet.cli.interrupts import prompt_interrupts
from discreet.cli.knowledge import knowledge_command
from discreet.cli.ledger import ledger_command
from discreet.cli.look import look_command
from discreet.cli.mask import mask_command
from discreet.cli.policy import policy_command
from discreet.cli.posterior import posterior_command
from discreet.cli.publish import publish_command
from discreet.cli.serve import serve_command
from discreet.cli.setup import setup_command
from discreet.cli.together import together_command
from discreet.cli.uniques import uniques_command
from discreet.cli.unread import guarded
from discreet.cli.widths import widths_command
from discreet.look.telling import telling


class Commands(click.Group):
    """Commands whose errors are sentences and whose interruption leaves nothing behind."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with prompt_interrupts(), spoken_warnings(), closed_pipes():
            return super().__call__(*args, **kwargs)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        said = [*args]
        with endings():
            ctx = super().make_context(info_name, args, parent, **extra)
        typed(ctx, said)
        return ctx

    def invoke(self, ctx: click.Context) -> Any:
        with endings(), telling(lambda note: click.echo(f"discreet: {note}", err=True)):
            return super().invoke(ctx)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Example: discreet assess example:tract --release "Race*Income + Income*Gender"',
)
@click.version_option(package_name="discreet")
def main() -> None:
    """Decide what can be published from confidential data.

    DATA is a file of records (CSV, Parquet, Excel, OpenDocument, SPSS, Stata, SAS, R), or of cells
    with --count COLUMN, or a folder or pattern of such files, or example:NAME, or a database URL
    with --table NAME. Exit code 0: PASS or done; 1: REVIEW or FAIL; 2: wrong input; 3: not
    finished, by a defect or for want of memory.
    """


for command in (
    accounts_command,
    assess_command,
    bounds_command,
    check_command,
    choose_command,
    compare_command,
    completion_command,
    count_command,
    diff_command,
    doctor_command,
    examples_command,
    frontier_command,
    identify_command,
    knowledge_command,
    ledger_command,
    look_command,
    mask_command,
    policy_command,
    posterior_command,
    publish_command,
    serve_command,
    setup_command,
    together_command,
    uniques_command,
    widths_command,
):
    main.add_command(guarded(command))
