"""The request of ``autotune check``: against what, how much slower is too slow, how long."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.options import BudgetSeconds, Config, command_options, share

MOST_ROUNDS = 40


@command_options
class CheckRequest:
    """What is checked against what, and how much is measured for it."""

    config: Config
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="STUDY[@STORE]",
            help="The study whose winner of every problem is checked. Its old program is"
            " launched beside the new one if the build cache still has it.",
        ),
    ] = None
    against_revision: Annotated[
        str | None,
        typer.Option(
            "--against-revision",
            metavar="REV",
            help="Build this git revision in a worktree and launch it beside the working tree, in"
            " turn. Checks the winners of --against, or the baselines.",
        ),
    ] = None
    max_slowdown: Annotated[
        str,
        typer.Option(
            "--max-slowdown", metavar="SHARE", help="The largest slowdown that is no regression."
        ),
    ] = "3 %"
    false_alarms: Annotated[
        str,
        typer.Option(
            "--false-alarms",
            metavar="SHARE",
            help="Probability of reporting a regression where there is none, over all problems.",
        ),
    ] = "5 %"
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            min=3,
            help="At most this many rounds per problem; a clear case needs fewer.",
        ),
    ] = MOST_ROUNDS
    budget_seconds: BudgetSeconds = None
    markdown: Annotated[
        Path | None,
        typer.Option(
            "--markdown",
            help="Also write a summary in Markdown here. If GITHUB_STEP_SUMMARY is set, the summary"
            " is added to that file, too.",
        ),
    ] = None
    junit: Annotated[Path | None, typer.Option("--junit", help="Also write JUnit XML here.")] = None

    def __post_init__(self) -> None:
        if self.against is None and self.against_revision is None:
            raise typer.BadParameter(
                "names nothing to compare with: give a study, or --against-revision REV",
                param_hint="--against",
            )
        if not 0 < self.error < 1:
            raise typer.BadParameter("lies between 0 and 100 %", param_hint="--false-alarms")
        share(self.max_slowdown, "--max-slowdown")

    @property
    def limit(self) -> float:
        """The largest slowdown that is no regression."""
        return share(self.max_slowdown, "--max-slowdown")

    @property
    def error(self) -> float:
        """The probability of a false alarm."""
        return share(self.false_alarms, "--false-alarms")
