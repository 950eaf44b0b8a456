"""The request of ``autotune reduce``: which candidate, and how much is measured for it."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.options import BudgetSeconds, Study, command_options


@command_options
class ReductionRequest:
    """Which candidate of which study to reduce, and how much to measure for it."""

    study: Study = ""
    config: Annotated[
        Path | None,
        typer.Option("--config", help="The config of the study. Default: as the store has it."),
    ] = None
    problem: Annotated[
        str,
        typer.Option(
            "--problem",
            metavar="PROBLEM",
            help="The label of the problem, if the study has several.",
        ),
    ] = ""
    candidate: Annotated[
        str,
        typer.Option(
            "--candidate",
            metavar="CANDIDATE",
            help="Reduce this one: id, identity or label. Default: the winner; if it is undecided"
            " and the baseline is chosen, the fastest.",
        ),
    ] = ""
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            min=3,
            help="Launches of each candidate in a comparison; up to twice as many in close ones."
            " Default: those of the config, at least 5.",
        ),
    ] = None
    most: Annotated[
        int,
        typer.Option(
            "--most",
            min=1,
            help="At most this many settings are left out one by one, the most influential by the"
            " study's samples first. The rest is only dropped together.",
        ),
    ] = 60
    budget_seconds: BudgetSeconds = None
