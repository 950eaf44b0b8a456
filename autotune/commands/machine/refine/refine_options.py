"""The options of ``autotune machine refine``."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.options import Study, Trust, command_options


@command_options
class RefinementOptions:
    """The study to refine the constants by, and what to do with the result."""

    study: Study = ""
    score: Annotated[
        str,
        typer.Option(
            "--score", metavar="STUDY", help="Score on this study, which the fit does not see."
        ),
    ] = ""
    config: Annotated[
        Path | None,
        typer.Option("--config", help="The study's config, needed if it names files of its own."),
    ] = None
    trust: Trust = False
    apply: Annotated[
        bool,
        typer.Option(
            "--apply", help="Change the calibration. Without it the result is only shown."
        ),
    ] = False
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="With --apply: even if the result scores worse, or was not scored."
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.force and not self.apply:
            raise typer.BadParameter("needs --apply", param_hint="--force")
