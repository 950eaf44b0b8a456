"""``autotune assert check``: which assertions of a recorded run hold."""

import typer

from autotune.commands.assertion.record_options import RecordOptions, Records, VerdictOptions
from autotune.commands.options import Json, command, command_options
from autotune.commands.output import document, say

EXAMPLE = (
    "Example: autotune assert check records --tolerance flop=3% --junit assertions.xml;"
    " autotune assert check records --fail-if 'worst_error > 0.2 or missing > 0'"
)


@command_options
class CheckOptions:
    """Options of ``autotune assert check``, in the order of its help."""

    files: Records
    records: RecordOptions
    verdicts: VerdictOptions
    json: Json = False


@command
def check(options: CheckOptions) -> None:
    """Say which assertions hold, which do not, and why not.

    A line for each assertion as published (Alam and Vetter 2006): name, type, predicted, measured,
    error, visits that pass and fail; error is (predicted - measured) / measured of the worst visit.
    Below: what explains a failure, sizes of messages as distributions, what is not explained.
    Exit code 1 where an assertion fails, where a rank or message is missing, or where nothing that
    was asserted was counted. What nobody counted is listed as not measured, and fails only by
    --fail-if 'failures > 0 or not_measured > 0'. Figures of --fail-if: assertions, passes,
    failures, not_measured, failed_visits, no_value, missing, unasserted, worst_error,
    size_distance, unexplained_share, missing_ranks, unfinished_ranks, losses.
    """
    from autotune.commands.assertion.check import flow
    from autotune.commands.assertion.check.document import AssertionCheckDocument
    from autotune.results.assertion import check_text

    flow.settle(options.verdicts)
    run = options.records.read(options.files)
    result, fails = flow.check(run, options.verdicts)
    if options.json:
        document(AssertionCheckDocument(check=result, fails=fails))
    else:
        say(check_text.text(result))
    if fails:
        raise typer.Exit(1)
