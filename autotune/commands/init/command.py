"""``autotune init``: a first description of a user's program."""

import re
from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.options import Json, command, command_options
from autotune.commands.output import TerminalProgress, document

EXAMPLE = (
    "Example: autotune init examples/matmul/matmul.c -o tuning; autotune tune"
    " tuning/matmul-tune.yaml; with the program's own command line:"
    " autotune init ./solver -- 4096 --steps 10; to tune the options of the compiler:"
    " autotune init --flags gcc examples/flags/kernels.c"
)


@command_options
class InitOptions:
    """Options of ``autotune init``, in the order of its help."""

    program: Annotated[Path, typer.Argument(help="A source file or an executable.")]
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- ARGUMENTS]", help="Its command line, as you start it."),
    ] = None
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for NAME.yaml and NAME-tune.yaml.")
    ] = Path()
    name: Annotated[
        str | None,
        typer.Option(help="What it is called. Default: the program's name without its ending."),
    ] = None
    flags: Annotated[
        str | None,
        typer.Option(
            "--flags",
            metavar="COMPILER",
            help="Vary the options of gcc (g++, gfortran) that optimise, beside -O3 -march=native:"
            " those that it lists and accepts and that change no result.",
        ),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False
    json: Json = False


@command
def init(options: InitOptions) -> None:
    """Describe a program for tuning, from its source text.

    Writes a first description and a config that tunes it; the program is not run.

    Parameters are its macros with defaults (#ifndef BI, #define BI 64), the macros that it tests
    (#ifdef), the schedule of OpenMP, and with --flags the options of its compiler. Places that
    need a second look are marked in the files.
    """
    from autotune.commands.init import text
    from autotune.commands.init.flow import ConfigRequest, write

    progress = TerminalProgress()
    written = write(
        ConfigRequest(
            program=options.program,
            given=tuple(options.arguments or ()),
            folder=options.output,
            name=_name(options.name),
            force=options.force,
            flags=options.flags,
        ),
        progress,
    )
    progress.close()
    if options.json:
        document(written)
    else:
        typer.echo(text.text(written))


def _name(given: str | None) -> str:
    if given is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", given):
        rule = "letters, digits and . _ -, a letter or digit first"
        raise typer.BadParameter(f"{given!r} is not a name: {rule}", param_hint="--name")
    return given or ""
