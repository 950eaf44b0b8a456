"""The limits of a study and the settings of its search: options of ``autotune tune``."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.options import command_options, seconds
from autotune.commands.replay.command import SamplerName


@command_options
class StudyOptions:
    """The limits of a study and the settings of its search."""

    budget_seconds: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Start no launch after this many seconds of the command. A calibration of the host"
            " is not counted. However long predictions take, half of the seconds are left to"
            " measure. Replaces the config's budget of candidates.",
            parser=seconds(),
        ),
    ] = None
    budget_evaluations: Annotated[
        int | None,
        typer.Option(
            help="Measure at most this many candidates per problem, instead of the config's.",
            min=1,
        ),
    ] = None
    exhaustive: Annotated[bool, typer.Option("--exhaustive", help="Measure all candidates.")] = (
        False
    )
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue the latest study of this config; what was measured is kept.",
        ),
    ] = False
    sampler: Annotated[
        SamplerName | None,
        typer.Option(
            help="The search method. Default: model for a replay, else the sampler of the config."
        ),
    ] = None
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="STUDY[@STORE]",
            help="A study, such as one of another machine or size. A model that learned from it"
            " orders the candidates, as far as its predictions prove right here.",
        ),
    ] = None
    mirror: Annotated[
        Path | None,
        typer.Option(
            "--mirror", help="Write the search to this journal as it goes on, for optuna-dashboard."
        ),
    ] = None
