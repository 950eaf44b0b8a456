"""``autotune import``: results of other tuners and other machines, into the store."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands.options import Config, StoreOptions, command, command_options
from autotune.commands.output import TerminalProgress, document, say

if TYPE_CHECKING:
    pass

EXAMPLE = (
    "Example: autotune import cache.json my-program.yaml --given compiler=gcc;"
    " then: autotune tune my-program.yaml"
)


@command_options
class ImportOptions:
    """Options of ``autotune import``, in the order of its help."""

    file: Annotated[
        Path,
        typer.Argument(
            help="T4 results, a Kernel Tuner cache, or CSV with the time in the last column"
            " (time_ms, ..., or the objective of the config: speed); also packed with gzip."
        ),
    ]
    config: Config
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--given",
            metavar="NAME=VALUE",
            help="What holds for all rows but is not in the file: threads=2, flags=-O3, or a"
            " parameter. May be repeated.",
        ),
    ] = None
    results: StoreOptions


@command
def import_(options: ImportOptions) -> None:
    """Enter recorded times of candidates as a study.

    A row stands for the candidate with the same parameters; problem, threads, compiler and flags
    are compared as well if the file names them. Other studies of the same candidates use the times
    as hints, never as results, because they were not measured here. compare, report and export work
    on the study as on any other.
    """
    from autotune.commands.importing import flow, text
    from autotune.commands.rank import ranked_space

    workload = ranked_space.load(options.config)
    settings = flow.given_settings(options.given or [])
    study = flow.import_file(
        options.file, workload, settings, options.results.store, TerminalProgress()
    )
    if options.results.json:
        document(study)
    else:
        say(text.text(study))
