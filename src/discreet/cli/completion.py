"""`discreet completion`: names and options by the Tab key."""

from __future__ import annotations

import click


@click.command(
    "completion",
    epilog='Example: eval "$(discreet completion bash)"',
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print what makes SHELL complete what is typed.

    bash and zsh read it in their start file, as in the example; fish from a file in
    ~/.config/fish/completions.
    """
    from click.shell_completion import get_completion_class

    from discreet.cli.main import main

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "discreet", "_DISCREET_COMPLETE").source())


def complete_data(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[click.shell_completion.CompletionItem]:
    """Files, and the examples that ship."""
    from click.shell_completion import CompletionItem

    from discreet.data.examples import EXAMPLES, PREFIX

    names = [f"{PREFIX}{example.name}" for example in EXAMPLES]
    shown = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return [*shown, CompletionItem(incomplete, type="file")]
