"""The limits of a study and the settings of its search: options of ``autotune tune``."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.options import command_options
from autotune.commands.replay.command import SamplerName


@command_options
class StudyOptions:
    """The limits of a study and the settings of its search."""

    budget_seconds: Annotated[
        float | None,
        typer.Option(
            help="From the start of the command; no launch starts later. Half of them are left to"
            " measure where predictions take longer. Replaces a budget of candidates in the"
            " config.",
            min=1,
        ),
    ] = None
    budget_evaluations: Annotated[
        int | None,
        typer.Option(
            help="Measure at most this many candidates a problem, instead of the config's.",
            min=1,
        ),
    ] = None
    exhaustive: Annotated[bool, typer.Option("--exhaustive", help="Measure all.")] = False
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the study: keep what is finished.")
    ] = False
    sampler: Annotated[
        SamplerName | None,
        typer.Option(
            help="Who searches. Default: model for a replay, else the sampler of the config."
        ),
    ] = None
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="STUDY[@STORE]",
            help="A study, such as one of another machine or size: what a model learned of it"
            " expects orders the candidates, as far as it proves itself here.",
        ),
    ] = None
    mirror: Annotated[
        Path | None,
        typer.Option("--mirror", help="Show the search in this Optuna journal while it goes on."),
    ] = None
