"""``autotune compare`` and ``autotune report``: the results of a study or a published table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands.options import (
    Engine,
    RowsShown,
    StoreOptions,
    Study,
    Trust,
    command,
    command_options,
)
from autotune.commands.output import TerminalProgress, document, note

if TYPE_CHECKING:
    from autotune.commands.tune.flow import TunedStudy
    from autotune.results.documents.study_document import StudySchema

COMPARE_EXAMPLE = (
    "Example: autotune compare quickstart; autotune compare configs/icpe19-wave1d.yaml"
)
REPORT_EXAMPLE = "Example: autotune report quickstart -o report.html"


@command_options
class CompareOptions:
    """Options of ``autotune compare``, in the order of its help."""

    name: Annotated[
        str,
        typer.Argument(
            metavar="[STUDY|CONFIG]",
            help="Name of a study in the store, the latest if left out; or a config with a"
            " published table (its key reference).",
        ),
    ] = ""
    engine: Engine = None
    trust: Trust = False
    tables: RowsShown
    results: StoreOptions


@command
def compare(options: CompareOptions) -> None:
    """Compare predicted with measured or published times."""
    from autotune.commands.compare import document as compare_document
    from autotune.commands.compare import flow as compare_flow
    from autotune.commands.compare import text as compare_text
    from autotune.commands.tune.flow import study as load_study

    config = compare_flow.config_of(options.name, options.results.store)
    if config is None:
        if options.engine is not None:
            raise typer.BadParameter("needs a config, not a study", param_hint="--engine")
        result = load_study(options.name, options.results.store)
        show(
            result,
            json=options.results.json,
            report=None,
            store=options.results.shown,
            schema="autotune.compare/1",
            top=options.tables.top,
        )
        return
    ranked, compared = compare_flow.compare_published(
        config, TerminalProgress(), options.engine, trusted=options.trust
    )
    if options.results.json:
        document(compare_document.comparison(compared, ranked.setup, ranked.machine))
    else:
        typer.echo(compare_text.comparisons(compared, ranked.setup, ranked.machine))


@command_options
class ReportOptions:
    """Options of ``autotune report``, in the order of its help."""

    study: Study = ""
    output: Annotated[Path, typer.Option("-o", "--output", help="The HTML file.")] = Path(
        "report.html"
    )
    results: StoreOptions


@command
def report(options: ReportOptions) -> None:
    """One self-contained HTML page of a study."""
    from autotune.commands.compare.document import ReportDocument
    from autotune.commands.tune.flow import study as load_study
    from autotune.commands.tune.flow import write_report

    result = load_study(options.study, options.results.store)
    path = write_report(result, options.output)
    if options.results.json:
        document(ReportDocument(study=result.record.name, file=path))
    else:
        note(f"wrote {path}")


def show(
    result: "TunedStudy",
    *,
    json: bool,
    report: Path | None,
    store: str,
    schema: "StudySchema" = "autotune.tune/1",
    top: int = 0,
) -> None:
    """Print a study, ``top`` rows of each table (0: all); WorkFailed where no candidate ran."""
    from autotune.commands.tune.flow import require_success, write_report
    from autotune.results.documents import study_document
    from autotune.results.report import study_table

    if json:
        document(study_document.study(result.evaluation, schema, store))
    else:
        typer.echo(study_table.study(result.evaluation, store=store, top=top))
        for label, lines in result.commands.items():
            if lines:
                typer.echo("\n".join([f"\nthe winner of {label} is built and run by:", *lines]))
    if report is not None:
        note(f"wrote {write_report(result, report)}")
    require_success(result)
