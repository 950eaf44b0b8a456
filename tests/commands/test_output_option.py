"""``-o`` names the output of every command that has one, and nothing else."""

from collections.abc import Iterator

import typer

from autotune.commands.app import app


def commands(command: object, name: str = "") -> Iterator[tuple[str, object]]:
    """All commands below one, by their names."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for part, below in inner.items():
        yield from commands(below, f"{name} {part}".strip())


def test_o_is_the_output_everywhere() -> None:
    seen = 0
    for name, command in commands(typer.main.get_command(app)):
        for parameter in command.params:
            long = {"--output", "--report"} & set(parameter.opts)
            page = "--page" in parameter.opts  # of assert run -o is the folder of its records
            assert page or ("-o" in parameter.opts) == bool(long), (name, parameter.opts)
            seen += bool(long)
    assert seen > 10


def test_outputs_are_shown_in_the_help_by_o() -> None:
    names = {name for name, _ in commands(typer.main.get_command(app))}
    assert {"tune", "map", "export", "report", "comm fit", "learn fit"} <= names
