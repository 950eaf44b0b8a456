"""``autotune assert flags``: what a compiler needs for a program with assertions."""

import shlex
from typing import Annotated

import typer

from autotune.commands.options import command, command_options

EXAMPLE = (
    "Example: autotune assert flags; mpicc -O2 $(autotune assert flags --gcov) cg.c -o cg -lm;"
    " mpifort -O2 $(autotune assert flags --fortran --gcov) cg.F90 -o cg"
)


@command_options
class FlagsOptions:
    """Options of ``autotune assert flags``, in the order of its help."""

    fortran: Annotated[
        bool,
        typer.Option(
            "--fortran",
            help="For Fortran: print the module's source, to stand before the files that use it.",
        ),
    ] = False
    gcov: Annotated[
        bool,
        typer.Option(
            "--gcov",
            help="Also print flags that count how often every line runs, so that floating-point"
            " operations are counted (gcc, g++, gfortran). They switch optimization off: put them"
            " last.",
        ),
    ] = False


@command
def flags(options: FlagsOptions) -> None:
    """Print what a compiler needs for assertions.

    For use in a command line: $(autotune assert flags).

    With --gcov the program writes its line counts when it ends; `autotune assert check` reads them
    with the records of the run, and the counter of a block of operations is source-operators.
    Compile and link with the same flags, in one folder for each program, and again after a change;
    threads need -fprofile-update=atomic too.
    """
    from autotune.assertions.counters.source_operators import FLAGS
    from autotune.assertions.library import library_build

    needed = [
        str(library_build.fortran_source())
        if options.fortran
        else f"-I{library_build.header_folder()}"
    ]
    if options.gcov:
        needed = [*FLAGS, *needed]
    typer.echo(shlex.join(needed))
