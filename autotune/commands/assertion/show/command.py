"""``autotune assert show``: what was recorded."""

from typing import Annotated

import typer

from autotune.commands.assertion.record_options import RecordOptions, Records
from autotune.commands.options import Json, command, command_options
from autotune.commands.output import document, say

EXAMPLE = "Example: autotune assert show records; autotune assert show profile.cali --top 0"


@command_options
class ShowRecordsOptions:
    """Options of ``autotune assert show``, in the order of its help."""

    files: Records
    records: RecordOptions
    top: Annotated[
        int, typer.Option("--top", help="At most this many call paths; 0 for all.", min=0)
    ] = 200
    json: Json = False


@command
def show(options: ShowRecordsOptions) -> None:
    """Show the call paths of a run with their counts.

    Below each path stands how other ranks differ, and its calls of MPI by size.
    """
    from autotune.commands.assertion.show.document import AssertionRecordsDocument
    from autotune.results.assertion import path_tree

    run = options.records.read(options.files)
    if options.json:
        document(AssertionRecordsDocument(missing_ranks=run.missing, records=run.records))
    else:
        say(path_tree.text(run, options.top))
