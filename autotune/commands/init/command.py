"""``autotune init``: a first description of a user's program."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperOption

from autotune.commands.options import Json, command, command_options
from autotune.commands.output import TerminalProgress, document, say

EXAMPLE = (
    "Example: autotune init ./matmul.c -o tuning; then: autotune tune"
    " tuning/matmul-tune.yaml; with the program's own command line:"
    " autotune init ./solver -- 4096 --steps 10; autotune init -o tuning zstd -b3 FILE; to tune"
    " the options of the compiler: autotune init --flags gcc ./kernels.c"
)


@command_options
class InitOptions:
    """Options of ``autotune init``, in the order of its help."""

    program: Annotated[
        str,
        typer.Argument(
            metavar="PATH|COMMAND",
            help="A source file, a folder with a Makefile, CMakeLists.txt or compile_commands.json,"
            " an executable, or a command on PATH.",
        ),
    ]
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- ARGUMENTS",
            help="The arguments of the program, as you start it. After a command on PATH no -- is"
            " needed.",
        ),
    ] = None
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for NAME.yaml and NAME-tune.yaml.")
    ] = Path()
    name: Annotated[
        str | None,
        typer.Option(
            help="The NAME of the two files. Default: the program's name without its ending."
        ),
    ] = None
    flags: Annotated[
        str | None,
        typer.Option(
            "--flags",
            metavar="COMPILER",
            help="Also vary the optimization options of this compiler (gcc, g++, gfortran), beside"
            " -O3 -march=native: all that it lists and accepts and that change no result.",
        ),
    ] = None
    target: Annotated[
        str, typer.Option("--target", help="Which program, if the project builds several.")
    ] = ""
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="WORD",
            help="A word of the printed line whose number is optimised, or wall for the time of the"
            " whole process. Default: asked on a terminal, else the most likely.",
        ),
    ] = ""
    limit: Annotated[
        float,
        typer.Option("--limit", metavar="SECONDS", help="How long a trial run may take.", min=1),
    ] = 60.0
    run: Annotated[
        bool,
        typer.Option(
            "--run/--no-run",
            help="Build the program and run it twice, or do neither. make -n or cmake is asked for"
            " the commands of a project in either case.",
        ),
    ] = True
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False
    json: Json = False


@command
def init(options: InitOptions) -> None:
    """Describe a program for tuning: look at it, build it, run it.

    Writes a first description and a config that tunes it. Headers and further sources are followed,
    a project is built as its Makefile, CMake or compile_commands.json says, and the lines in which
    it prints a time or a rate are shown.

    Parameters are its macros with defaults (#ifndef BI, #define BI 64), the macros that it tests
    (#ifdef), its options with defaults, the schedule of OpenMP, and options of its compiler (with
    --flags all of them). What changes the amount of work, such as repeat counts and sizes, is
    reported, not varied. Places that need a second look are marked in the files.
    """
    from autotune.commands.init import text
    from autotune.commands.init.flow import ConfigRequest, first_answer, write
    from autotune.commands.init.trying.first_try import TrySettings

    progress = TerminalProgress()
    written = write(
        ConfigRequest(
            program=options.program,
            given=tuple(options.arguments or ()),
            folder=options.output,
            name=_name(options.name),
            force=options.force,
            flags=options.flags,
            target=options.target,
            tried=TrySettings(limit=options.limit, metric=options.metric) if options.run else None,
        ),
        progress,
        first_answer if options.json else _question(progress),
    )
    progress.close()
    if options.json:
        document(written)
    else:
        say(text.text(written))


class InitCommand(TyperCommand):
    """The command; behind a command on PATH all words are that command's, as behind ``nice``."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put ``--`` before a first word that is a command on PATH and no file."""
        valued = {
            name
            for parameter in self.params
            if isinstance(parameter, TyperOption) and not parameter.is_flag
            for name in parameter.opts
        }
        place = 0
        while place < len(args) and args[place].startswith("-") and args[place] != "--":
            place += 1 + (args[place] in valued)
        word = args[place] if place < len(args) else ""
        marked = args[place + 1 : place + 2] == ["--"]
        if word and not marked and "/" not in word and _is_command(word):
            args = [*args[:place], "--", *args[place:]]
        return super().parse_args(ctx, args)


def _is_command(word: str) -> bool:
    return not os.path.exists(word) and shutil.which(word) is not None  # noqa: PTH110


def _question(progress: TerminalProgress) -> Callable[[str, Sequence[str]], int]:
    """Asks a question on the terminal, where there is one; else the first answer is taken."""

    def ask(question: str, answers: Sequence[str]) -> int:
        if not (sys.stdin.isatty() and sys.stderr.isatty()) or len(answers) < 2:
            return 0
        progress.close()
        typer.echo(question, err=True)
        for number, answer in enumerate(answers, 1):
            typer.echo(f"  {number}  {answer}", err=True)
        number_of = _numbered(len(answers))
        return int(typer.prompt("number", default="1", value_proc=number_of, err=True)) - 1

    return ask


def _numbered(count: int) -> Callable[[str], int]:
    """Reads a number from 1 to ``count``; BadParameter, on which the question is asked again."""

    def number(text: str) -> int:
        if text.isdecimal() and 1 <= int(text) <= count:
            return int(text)
        raise typer.BadParameter(f"{text!r} is no number from 1 to {count}")

    return number


def _name(given: str | None) -> str:
    if given is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", given):
        rule = "letters, digits and . _ -, a letter or digit first"
        raise typer.BadParameter(f"{given!r} is not a name: {rule}", param_hint="--name")
    return given or ""
