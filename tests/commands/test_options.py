"""Options are declared once, on a class, and a command is a function of that class."""

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.options import command, command_options, seconds


@command_options
class Limits:
    """A group of options."""

    budget: Annotated[int, typer.Option(help="How many.", min=1)] = 5
    exhaustive: Annotated[bool, typer.Option("--all")] = False


@command_options
class Options:
    """Options with a group between others."""

    name: Annotated[str, typer.Argument()]
    limits: Limits
    seed: Annotated[int, typer.Option("--seed")] = 0

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise typer.BadParameter("is below zero", param_hint="--seed")


def run(*words: str) -> str:
    shown = typer.Typer(rich_markup_mode=None)

    @shown.command()
    @command
    def show(options: Options) -> None:
        """Show the options."""
        limits = options.limits
        typer.echo(f"{options.name} {limits.budget} {limits.exhaustive} {options.seed}")

    return CliRunner().invoke(shown, list(words)).output


def test_groups_stand_where_they_are_declared() -> None:
    assert run("wave", "--budget", "7", "--all", "--seed", "3") == "wave 7 True 3\n"
    assert run("wave") == "wave 5 False 0\n"
    text = run("--help")
    assert "Show the options." in text
    assert text.index("--budget") < text.index("--all") < text.index("--seed")


@command_options
class Values:
    """One option of every kind of value."""

    words: Annotated[list[str] | None, typer.Argument(metavar="WORD")] = None
    file: Annotated[Path, typer.Argument()] = Path("mine")
    name: Annotated[str | None, typer.Option("--name")] = None
    count: Annotated[int, typer.Option("--count", min=1)] = 3
    limit: Annotated[float, typer.Option("--limit", metavar="SECONDS")] = 1.0
    ratio: Annotated[float | None, typer.Option("--ratio")] = None
    output: Annotated[Path | None, typer.Option("-o", "--output")] = None
    kind: Annotated[Literal["big", "small"], typer.Option("--kind")] = "big"
    force: Annotated[bool, typer.Option("--force")] = False


def test_the_help_has_a_word_for_every_value() -> None:
    alone = typer.Typer(rich_markup_mode=None)

    @alone.command()
    @command
    def show(options: Values) -> None:
        """Show the options."""

    text = " ".join(CliRunner().invoke(alone, ["--help"]).output.split())
    assert "[OPTIONS] [WORD]... [FILE]" in text
    for shown in (
        "--name TEXT", "--count N", "--limit SECONDS", "--ratio NUMBER", "-o, --output PATH",
        "--kind <big|small>", "--force ",
    ):  # fmt: skip
        assert shown in text


def test_invariants_are_checked_where_options_are_made() -> None:
    assert "is below zero" in run("wave", "--seed", "-1")
    assert "greater than or equal to 1" in run("wave", "--budget", "0")


def test_options_are_frozen_and_complete() -> None:
    limits = Limits(budget=2)
    assert (limits.budget, limits.exhaustive) == (2, False)
    with pytest.raises(FrozenInstanceError, match="budget"):
        limits.budget = 3  # type: ignore[misc]
    with pytest.raises(TypeError, match="needs name"):
        Options(limits=limits)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="has no speed"):
        Limits(speed=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("stated", "duration"), [("60", 60), ("60s", 60), ("90 s", 90), ("2 min", 120), (45.0, 45)]
)
def test_a_duration_is_a_number_of_seconds_or_has_a_unit(
    stated: str | float, duration: float
) -> None:
    assert seconds()(stated) == duration


@pytest.mark.parametrize("stated", ["60x", "1 kB", "", "nan", "0.5", "11 min"])
def test_what_is_no_duration_between_the_limits_is_refused(stated: str) -> None:
    with pytest.raises(typer.BadParameter, match=r"seconds|from 1 to 600 s"):
        seconds(1, 600)(stated)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("calibrate", "Did you mean autotune machine calibrate?"),
        ("fit", "autotune comm fit or autotune learn fit or autotune assert fit?"),
        ("tun", "No such command 'tun'. Did you mean 'tune'?"),
    ],
)
def test_a_command_of_a_group_typed_alone_names_its_group(typed: str, words: str) -> None:
    assert words in CliRunner().invoke(app, [typed]).output


def test_a_choice_that_is_nearly_one_names_it() -> None:
    result = CliRunner().invoke(app, ["export", "--format", "libary"])
    assert result.exit_code == 2
    assert "Did you mean library?" in " ".join(result.output.split())
    unlike = CliRunner().invoke(app, ["export", "--format", "qqqqqqqq"])
    assert "Did you mean" not in unlike.output
