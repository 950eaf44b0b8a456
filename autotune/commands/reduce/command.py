"""``autotune reduce``: the winner of a study without what does nothing."""

import typer

from autotune.commands.options import StoreOptions, command, command_options
from autotune.commands.output import TerminalProgress, document, note, say
from autotune.commands.reduce.reduction_request import ReductionRequest

EXAMPLE = (
    "Example: autotune reduce flags --budget-seconds 300, after: autotune tune configs/flags.yaml;"
    " a program of your own: autotune reduce --config tuning.yaml"
)


@command_options
class ReduceOptions:
    """Options of ``autotune reduce``, in the order of its help."""

    request: ReductionRequest
    results: StoreOptions


@command
def reduce(options: ReduceOptions) -> None:
    """Find the few settings of a winner that matter.

    The winner of a study is measured without each of the settings in which it differs from the
    baseline, in turn with both; those whose removal has no provable cost are dropped,
    and what is left is compared with the whole winner and the baseline. All samples are kept in
    the study.
    """
    from autotune.commands.reduce import flow, text
    from autotune.commands.reduce.document import ReduceDocument

    progress = TerminalProgress()
    result = flow.reduce_winner(options.request, options.results.store, progress)
    progress.close()
    if options.results.json:
        document(ReduceDocument.of(result))
    else:
        say(text.text(result))
    if result.interrupted:
        note("interrupted; every finished sample is kept in the study")
        raise typer.Exit(130)
