"""The request of ``autotune export``: what to export, in which format, and where to."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autotune.commands.options import Study, command_options

Format = Literal["header", "library", "wisdom", "t4", "csv", "parquet"]


@command_options
class ExportRequest:
    """What is exported, in which format, and where to."""

    study: Study = ""
    format: Annotated[
        Format,
        typer.Option(
            "--format",
            help="header: C, chooses by size and threads when compiled or at run time. library: the"
            " code itself, a folder with C sources, build files, a Python module and a self-test:"
            " solve and step for an IVP, if asked with a choice at run time (--top), and on the"
            " ranks of an MPI communicator if such were tuned; sweep for a stencil. wisdom: JSON"
            " with readers for C and Python; what the file holds of other studies stays. t4:"
            " auto-tuning results in the T4 format. csv, parquet: every candidate, predicted and"
            " measured.",
        ),
    ] = "header"
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The file, or the folder of a library. Default: named after the study.",
        ),
    ] = None
    problem: Annotated[
        str,
        typer.Option(
            "--problem", metavar="PROBLEM", help="Only the problem with this label: heat2d-N256."
        ),
    ] = ""
    readers: Annotated[
        Path | None,
        typer.Option(
            "--with-reader",
            help="With wisdom: also write autotune_wisdom.h and autotune_wisdom.py, the readers"
            " for the application, into this folder.",
        ),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            help="With library: the config of the study. Default: as the store has it.",
        ),
    ] = None
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            min=1,
            max=8,
            help="With library, for an IVP: this many candidates per problem and number of threads,"
            " the winner and others that took at most 1.5 times as long, to choose from at run"
            " time. Default: 3.",
        ),
    ] = None
    force: Annotated[
        bool, typer.Option("--force", help="Replace what is there; a wisdom file begins anew.")
    ] = False

    def __post_init__(self) -> None:
        if self.readers is not None and self.format != "wisdom":
            raise typer.BadParameter("goes with --format wisdom", param_hint="--with-reader")
        if self.config is not None and self.format != "library":
            raise typer.BadParameter("goes with --format library", param_hint="--config")
        if self.top is not None and self.format != "library":
            raise typer.BadParameter("goes with --format library", param_hint="--top")
