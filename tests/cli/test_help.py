"""Help texts are whole: no command's line is cut."""

import click
import pytest
from click.testing import CliRunner

from discreet.cli import main


def commands(command, path=()):
    yield path, command
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from commands(each, (*path, name))


EVERY = list(commands(main))


@pytest.mark.parametrize("columns", [80, 100])
def test_no_command_is_cut(columns):
    for path, command in EVERY:
        if not isinstance(command, click.Group):
            continue
        said = CliRunner().invoke(main, [*path, "--help"], terminal_width=columns - 2).output
        listed = said.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
        assert len(listed) == len(command.commands), f"a line runs over: {listed}"
        assert not [line for line in listed if line.endswith(("...", "\u2026"))]


def test_every_option_is_explained_in_full():
    for path, command in EVERY:
        said = CliRunner().invoke(main, [*path, "--help"], terminal_width=78).output
        shown = "".join(said.split())
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.help, f"{path}: {option.name}"
                assert "".join(option.help.split()) in shown
