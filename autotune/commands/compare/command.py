"""``autotune compare`` and ``autotune report``: the results of a study or a published table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands import completion
from autotune.commands.options import (
    BudgetSeconds,
    Engine,
    RowsShown,
    StoreOptions,
    Study,
    Trust,
    command,
    command_options,
)
from autotune.commands.output import TerminalProgress, document, note, say

if TYPE_CHECKING:
    from autotune.commands.tune.flow import TunedStudy
    from autotune.results.documents.study_document import StudySchema

COMPARE_EXAMPLE = (
    "Example: autotune compare quickstart; autotune compare quickstart quickstart-2@other.sqlite;"
    " autotune compare --revisions HEAD~1 HEAD solver-tune.yaml --page revisions.html"
)
REPORT_EXAMPLE = "Example: autotune report quickstart -o report.html"


@command_options
class SideOptions:
    """What is compared beside studies, and the page of a comparison."""

    revisions: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--revisions",
            metavar="REV REV",
            help="Build the CONFIG in these two git revisions (. is the working tree) and launch"
            " them in turn in one run.",
        ),
    ] = None
    machines: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--machines",
            metavar="MACHINE MACHINE",
            help="Compare what is predicted best for the CONFIG on these machines; nothing is run.",
        ),
    ] = None
    budget_seconds: BudgetSeconds = None
    page: Annotated[
        Path | None,
        typer.Option("-o", "--page", help="Also write the comparison as an HTML page here."),
    ] = None


@command_options
class CompareOptions:
    """Options of ``autotune compare``, in the order of its help."""

    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STUDY|CONFIG",
            autocompletion=completion.studies_and_configs,
            help="One: a study of the store, the latest if left out, or a config with a published"
            " table (its key reference). Several: studies to compare with the first, as STUDY,"
            " STUDY@STORE, or the file of a store.",
        ),
    ] = None
    sides: SideOptions
    engine: Engine = None
    trust: Trust = False
    tables: RowsShown
    results: StoreOptions

    @property
    def name(self) -> str:
        """The study or config, where at most one is named."""
        return (self.names or [""])[0]

    def __post_init__(self) -> None:
        chosen = self.sides.revisions or self.sides.machines
        if self.sides.revisions and self.sides.machines:
            raise typer.BadParameter("does not go with --machines", param_hint="--revisions")
        option = "--revisions" if self.sides.revisions else "--machines"
        if chosen and chosen[0] == chosen[1]:
            raise typer.BadParameter(f"names {chosen[0]} twice", param_hint=option)
        if chosen and len(self.names or ()) != 1:
            said = "needs one CONFIG"
            if not self.names:
                said += f" behind both: {' and '.join(chosen)} are what is compared"
            if not self.names and chosen[1].endswith((".yaml", ".yml")):
                working = ". is the working tree" if self.sides.revisions else "host is this one"
                said = (
                    f"needs two before the CONFIG {chosen[1]}: only {chosen[0]} is one ({working})"
                )
            raise typer.BadParameter(said, param_hint=option)
        if self.sides.page and not chosen and len(self.names or ()) < 2:
            raise typer.BadParameter(
                "is for two sides or more; the page of a study: autotune report STUDY",
                param_hint="--page",
            )


@command
def compare(options: CompareOptions) -> None:
    """Compare predicted and measured times, studies or revisions.

    For two or more it says, problem by problem, which is faster and by how much, whether the winner
    changed, what it would cost to keep the old one, and how the model explains the difference.
    What differs in problem, size, amount of work or unit is named and not compared.
    """
    from autotune.commands.compare import document as compare_document
    from autotune.commands.compare import flow as compare_flow
    from autotune.commands.compare import text as compare_text
    from autotune.commands.tune.flow import study as load_study

    sides = options.sides
    if sides.revisions or sides.machines or len(options.names or ()) > 1:
        _compare_sides(options)
        return
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
            tables=options.tables,
        )
        return
    ranked, compared = compare_flow.compare_published(
        config, TerminalProgress(), options.engine, trusted=options.trust
    )
    if options.results.json:
        document(compare_document.comparison(compared, ranked.setup, ranked.machine))
    else:
        say(compare_text.comparisons(compared, ranked.setup, ranked.machine))


def _compare_sides(options: CompareOptions) -> None:
    """Compare two sides or more; exit code 1 where nothing could be compared."""
    from autotune.commands.compare import compared_sides
    from autotune.commands.compare.document import CompareSidesDocument
    from autotune.results.comparison import side_words

    progress = TerminalProgress()
    comparison = compared_sides.compare(
        options.names or (), options.sides, options.results.store, progress, trust=options.trust
    )
    progress.close()
    if options.results.json:
        document(CompareSidesDocument(comparison=comparison))
    else:
        say(side_words.text(comparison))
    if options.sides.page is not None:
        from autotune.results.comparison import comparison_page

        comparison_page.write(comparison, options.sides.page)
        note(f"wrote {options.sides.page}")
    if comparison.interrupted:
        note("interrupted; the finished rounds are above")
        raise typer.Exit(130)
    if not comparison.compared and not comparison.unchanged:
        raise typer.Exit(1)


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
    """Write a study as one self-contained HTML page."""
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
    tables: RowsShown,
) -> None:
    """Print a study with so much of its tables; WorkFailed where no candidate ran."""
    from autotune.commands.tune.flow import require_success, write_report
    from autotune.results.documents import study_document
    from autotune.results.report import study_table

    if json:
        document(study_document.study(result.evaluation, schema, store))
    else:
        say(study_table.study(result.evaluation, store=store, top=tables.top, ids=tables.ids))
        decided = {p.label for p in result.evaluation.problems if p.decided}
        for label, lines in result.commands.items():
            if lines:
                what = "winner" if label in decided else "chosen candidate"
                typer.echo("\n".join([f"\nthe {what} of {label} is built and run by:", *lines]))
    if report is not None:
        note(f"wrote {write_report(result, report)}")
    require_success(result)
