"""``autotune compare``, ``report``: what a study says."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.cli.options import DEFAULT_STORE, Engine, Json, Store, Study, engines
from autotune.cli.output import TerminalProgress, document, note

if TYPE_CHECKING:
    from autotune.pipeline.study import Result

COMPARE_EXAMPLE = (
    "Example: autotune compare quickstart; autotune compare configs/icpe19-wave1d.yaml"
)
REPORT_EXAMPLE = "Example: autotune report quickstart -o report.html"


def compare(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[STUDY|CONFIG]",
            help="Name of a study in the store, the latest if left out; or a config with a"
            " published table (its key reference).",
        ),
    ] = "",
    engine: Engine = None,
    store: Store = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Predicted against measured times: of a study, or of a published table."""
    from autotune.pipeline import published
    from autotune.pipeline.study import study as load_study
    from autotune.report import comparison as table
    from autotune.report.documents import comparisons

    config = published.config_of(name, store)
    if config is None:
        if engine is not None:
            raise typer.BadParameter("needs a config, not a study", param_hint="--engine")
        result = load_study(name, store)
        show(result, json=json, report=None, store=store, command="compare")
        return
    chosen = engines(engine)
    found, compared = published.compare_published(config, TerminalProgress(), chosen)
    if json:
        document(comparisons.comparison(compared, found.setup, found.machine))
    else:
        typer.echo(table.comparisons(compared, found.setup, found.machine))


def report(
    study: Study = "",
    output: Annotated[Path, typer.Option("-o", "--output", help="The HTML file.")] = Path(
        "report.html"
    ),
    store: Store = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """One self-contained HTML page of a study."""
    from autotune.pipeline.study import study as load_study
    from autotune.pipeline.study import write_report
    from autotune.report.documents import studies

    result = load_study(study, store)
    path = write_report(result, output)
    if json:
        document(studies.report(result.record.name, path))
    else:
        note(f"wrote {path}")


def show(
    result: "Result", *, json: bool, report: Path | None, store: str, command: str = "tune"
) -> None:
    """Print a study; WorkFailed where no candidate ran."""
    from autotune.pipeline.study import require_success, write_report
    from autotune.report import table
    from autotune.report.documents import studies

    if json:
        document(studies.study(result.evaluation, command, store))
    else:
        typer.echo(table.study(result.evaluation, store=store))
    if report is not None:
        note(f"wrote {write_report(result, report)}")
    require_success(result)
