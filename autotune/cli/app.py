"""The command line: its commands, in the order of the help."""

from typing import Annotated

import typer

from autotune.cli import evaluate, export, importing, init, measure, mirror, predict, studies, tune
from autotune.cli.comm import app as comm_app
from autotune.cli.learn import app as learn_app
from autotune.cli.machine import app as machine_app
from autotune.cli.map import EXAMPLE as MAP_EXAMPLE
from autotune.cli.map import decide
from autotune.cli.options import Json
from autotune.cli.output import document
from autotune.cli.scale import EXAMPLE as SCALE_EXAMPLE
from autotune.cli.scale import scale
from autotune.version import VERSION

app = typer.Typer(
    name="autotune",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Predict, rank, tune and explain the variants of one computation.",
    epilog="Start with: autotune doctor; autotune tune configs/quickstart.yaml",
)
app.add_typer(machine_app, name="machine")
app.add_typer(comm_app, name="comm")
app.add_typer(learn_app, name="learn")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"autotune {VERSION}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(epilog="Example: autotune doctor")
def doctor(json: Json = False) -> None:
    """What is installed, what is missing, and the exact command that installs it."""
    from autotune.host.doctor import examine
    from autotune.report import text
    from autotune.report.documents import machines

    findings = examine()
    if json:
        document(machines.doctor(findings))
    else:
        typer.echo(text.doctor(findings))
    if any(finding.state == "missing" for finding in findings):
        raise typer.Exit(2)


app.command("init", epilog=init.EXAMPLE)(init.init)
app.command("variants", epilog=predict.VARIANTS_EXAMPLE)(predict.variants)
app.command("predict", epilog=predict.PREDICT_EXAMPLE)(predict.predict)
app.command("rank", epilog=predict.RANK_EXAMPLE)(predict.rank)
app.command("tune", epilog=tune.EXAMPLE)(tune.tune)
app.command("measure", epilog=measure.EXAMPLE)(measure.measure)
app.command("compare", epilog=studies.COMPARE_EXAMPLE)(studies.compare)
app.command("evaluate", epilog=evaluate.EXAMPLE)(evaluate.evaluate)
app.command("report", epilog=studies.REPORT_EXAMPLE)(studies.report)
app.command("export", epilog=export.EPILOG)(export.export)
app.command("import", epilog=importing.EXAMPLE)(importing.import_)
app.command("mirror", epilog=mirror.EPILOG)(mirror.mirror)
app.command("map", epilog=MAP_EXAMPLE)(decide)
app.command("scale", epilog=SCALE_EXAMPLE)(scale)
