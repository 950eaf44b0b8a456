"""``autotune reduce``: the winner of a study without what does nothing."""

from pathlib import Path
from typing import Annotated

import typer

from autotune.commands.options import (
    BudgetSeconds,
    StoreOptions,
    Study,
    command,
    command_options,
)
from autotune.commands.output import TerminalProgress, document, note

EXAMPLE = (
    "Example: autotune tune configs/flags.yaml;"
    " autotune reduce flags --config configs/flags.yaml --budget-seconds 300"
)


@command_options
class ReduceOptions:
    """Options of ``autotune reduce``, in the order of its help."""

    study: Study = ""
    config: Annotated[
        Path | None,
        typer.Option("--config", help="The config of the study. Default: as the store has it."),
    ] = None
    problem: Annotated[
        str, typer.Option("--problem", help="The problem of this label, where there are several.")
    ] = ""
    candidate: Annotated[
        str,
        typer.Option("--candidate", help="Reduce this one: id, identity or label, not the winner."),
    ] = ""
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            min=3,
            help="Launches of each in a comparison; close ones get up to twice as many. Default:"
            " those of the config, at least 5.",
        ),
    ] = None
    most: Annotated[
        int,
        typer.Option(
            "--most",
            min=1,
            help="Settings that are left out one by one: the most influential by the study's"
            " samples. The rest is only dropped together.",
        ),
    ] = 60
    budget_seconds: BudgetSeconds = None
    results: StoreOptions


@command
def reduce(options: ReduceOptions) -> None:
    """Find the few settings of a winner that matter.

    The winner of a study is measured without each of the settings in which it differs from the
    baseline, in turn with both; those whose removal costs nothing that can be shown are dropped,
    and what is left is compared with the whole winner and the baseline. All samples are kept in
    the study.
    """
    from autotune.commands.reduce import flow, text
    from autotune.commands.reduce.document import ReduceDocument

    progress = TerminalProgress()
    request = flow.ReductionRequest(
        study=options.study,
        config=options.config,
        problem=options.problem,
        candidate=options.candidate,
        rounds=options.rounds,
        most=options.most,
        budget_seconds=options.budget_seconds,
    )
    result = flow.reduce_winner(request, options.results.store, progress)
    progress.close()
    if options.results.json:
        document(ReduceDocument.of(result))
    else:
        typer.echo(text.text(result))
    if result.interrupted:
        note("interrupted; every finished sample is kept in the study")
        raise typer.Exit(130)
