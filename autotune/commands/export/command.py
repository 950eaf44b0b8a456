"""``autotune export``: the choice for the application, the results for other tools."""

from typing import TYPE_CHECKING

from autotune.commands.export.export_options import ExportRequest
from autotune.commands.options import StoreOptions, command, command_options
from autotune.commands.output import TerminalProgress, document, note, say

if TYPE_CHECKING:
    pass

EPILOG = (
    "Example: autotune export quickstart --format header -o quickstart.h;"
    " autotune export quickstart --format library -o heat2d/;"
    " autotune export --format wisdom -o app.wisdom.json --with-reader src/;"
    " autotune export quickstart --format csv -o quickstart.csv"
)


@command_options
class ExportOptions:
    """Options of ``autotune export``, in the order of its help."""

    file: ExportRequest
    results: StoreOptions


@command
def export(options: ExportOptions) -> None:
    """Write the choice for an application, or result tables.

    The choice is a C header, a library with the code itself, or a wisdom file; results for tools
    are t4, csv or parquet.

    The choice for a number of threads is the fastest verified candidate. The file states which
    other candidates are within the noise of it. A size between tuned sizes gets the choice of the
    nearest one; the file states this rule. A library can also choose at run time, among the
    next fastest candidates too (--top), and remember its choice.
    """
    from autotune.commands.export import flow, text

    exported = flow.export(options.file, options.results.store, TerminalProgress())
    if options.results.json:
        document(exported)
    else:
        say(text.text(exported))
    for line in (*exported.notes, *exported.replaced):
        note(line)
    for path in (exported.file, *exported.readers):
        note(f"wrote {path}")
