"""The commands and their options."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autotune.cli.comm import app as comm_app
from autotune.cli.machine import app as machine_app
from autotune.cli.options import DEFAULT_STORE, Json, Store
from autotune.cli.output import TerminalProgress, document, note
from autotune.version import VERSION

if TYPE_CHECKING:
    from autotune.pipeline.prospect import Prospect
    from autotune.pipeline.study import Result
    from autotune.setup import Engine as EngineOfSetup

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

Config = Annotated[Path, typer.Argument(help="A config file, such as configs/quickstart.yaml.")]
EngineName = Literal["reuse", "kerncraft", "planes", "both"]
Engine = Annotated[
    EngineName | None,
    typer.Option(
        "--engine",
        help="Who predicts the time on a node: reuse (from the compiled loops), kerncraft (IVPs, as"
        " published), planes (stencils, as published), or both that can. Default: the config's.",
    ),
]
Study = Annotated[str, typer.Argument(help="Name of a study in the store; the latest if left out.")]


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


@app.command(epilog="Example: autotune variants configs/quickstart.yaml --illegal")
def variants(
    config: Config,
    illegal: Annotated[
        bool, typer.Option("--illegal", help="Also the combinations left out, with their reasons.")
    ] = False,
    emit: Annotated[
        str | None, typer.Option("--emit", help="Write the C source of this candidate.")
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the source of --emit.")
    ] = Path(),
    json: Json = False,
) -> None:
    """The candidate space of a config; the source of one candidate."""
    from autotune.pipeline import machines, prospect, sources
    from autotune.report import text
    from autotune.report.documents import predictions

    setup = prospect.load(config)
    machine = machines.uncalibrated_machine(setup)
    enumerated = prospect.enumerate_space(setup, machine)
    if emit is not None:
        for path in sources.emit_sources(setup, enumerated, emit, output):
            note(f"wrote {path}")
    if json:
        document(predictions.variants(setup, enumerated, illegal=illegal))
    elif emit is None:
        typer.echo(text.variants(enumerated, illegal=illegal))


@app.command(epilog="Example: autotune predict configs/quickstart.yaml --json > predictions.json")
def predict(config: Config, engine: Engine = None, json: Json = False) -> None:
    """Predicted time of every candidate with its parts, in the order of the space."""
    from autotune.pipeline.prospect import require_predictions
    from autotune.report import text
    from autotune.report.documents import predictions

    prospect = _prospect(config, engine)
    if json:
        document(
            predictions.predict(
                prospect.setup, prospect.machine, prospect.enumerated.legal, prospect.rankings
            )
        )
    else:
        typer.echo(text.predictions(prospect.rankings))
    require_predictions(prospect)


@app.command(
    epilog="Example: autotune rank configs/quickstart.yaml --top 10;"
    " autotune rank configs/quickstart.yaml --why jli-pad5@heat2d-N256-T2;"
    " autotune rank configs/quickstart.yaml --why ijl-pad5 --against jli-pad5"
)
def rank(
    config: Config,
    top: Annotated[int, typer.Option(help="Rows per problem; 0 for all.", min=0)] = 15,
    why: Annotated[
        str | None,
        typer.Option(
            "--why",
            help="In words, why this candidate takes as long as predicted. The name of a variant"
            " stands for its fastest candidate in every problem.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", help="With --why: what makes the difference to this candidate."),
    ] = None,
    assembly: Annotated[
        bool, typer.Option("--assembly", help="With --why: the annotated loops as compiled.")
    ] = False,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """The candidates of each problem, fastest prediction first, with a reason each."""
    from autotune.pipeline.prospect import require_predictions
    from autotune.pipeline.whys import explain
    from autotune.report import blocks, text, whytext
    from autotune.report.documents import predictions

    for option, wanted in (("--against", against), ("--assembly", assembly)):
        if wanted and not why:
            raise typer.BadParameter(f"{option} needs --why", param_hint=option)
    found = _prospect(config, engine)
    whys = explain(found, why, against, TerminalProgress()) if why else []
    if json:
        document(
            predictions.rank(found.setup, found.machine, found.rankings, whys, assembly=assembly)
        )
    elif why:
        typer.echo("\n\n".join(whytext.explained(each, assembly=assembly) for each in whys))
    else:
        typer.echo(
            text.rankings(found.rankings, found.machine, top=top, enumerated=found.enumerated)
        )
        choice = blocks.text(found.rankings, found.machine)
        if choice:
            typer.echo(f"\n{choice}")
    require_predictions(found)


@app.command(
    epilog="Example: autotune tune configs/quickstart.yaml --report report.html;"
    " after Ctrl-C: autotune tune configs/quickstart.yaml --resume"
)
def tune(
    config: Config,
    budget_seconds: Annotated[
        float | None, typer.Option(help="Start no launch after this many seconds.", min=1)
    ] = None,
    budget_evaluations: Annotated[
        int | None, typer.Option(help="Measure at most this many candidates a problem.", min=1)
    ] = None,
    exhaustive: Annotated[bool, typer.Option("--exhaustive", help="Measure all.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the study: keep what is finished.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="Also write the HTML page here.")
    ] = None,
    emit_job: Annotated[
        Path | None,
        typer.Option("--emit-job", help="Write a job for another machine into this new folder."),
    ] = None,
    collect: Annotated[
        Path | None, typer.Option("--collect", help="Read back the results.jsonl of a job.")
    ] = None,
    store: Store = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """The main job: rank, build, verify, time and compare the most promising candidates."""
    from autotune.pipeline import jobs, prospect, study
    from autotune.report.documents import studies

    _refuse_together("--emit-job", emit_job, {"--collect": collect is not None, "--resume": resume})
    _refuse_together(
        "--collect",
        collect,
        {
            "--resume": resume,
            "--exhaustive": exhaustive,
            "--budget-seconds": budget_seconds is not None,
            "--budget-evaluations": budget_evaluations is not None,
        },
    )
    if exhaustive and budget_evaluations is not None:
        raise typer.BadParameter("--exhaustive does not go with --budget-evaluations")
    setup = prospect.load(config)
    options = study.Options(
        budget_seconds=budget_seconds,
        budget_evaluations=budget_evaluations,
        exhaustive=exhaustive,
        resume=resume,
    )
    progress = TerminalProgress()
    if emit_job is not None:
        emitted = jobs.emit_job(setup, options, emit_job, progress)
        if json:
            document(
                studies.emitted(emitted.study, emitted.folder, emitted.script, emitted.candidates)
            )
        note(
            f"wrote {emitted.script}; run it there, bring the folder back, then:"
            f" autotune tune {config} --collect {emitted.folder / 'results.jsonl'}"
        )
        return
    try:
        if collect is not None:
            result = jobs.collect(setup, collect, store, progress)
        else:
            result = study.tune(setup, options, store, progress)
    except KeyboardInterrupt as stop:
        progress.close()
        place = f" --store {shlex.quote(store)}" if store != DEFAULT_STORE else ""
        again = f"autotune tune {shlex.quote(str(config))} --resume{place}"
        begun = f"; every finished sample is kept: {again}"
        note("interrupted" + (begun if stop.args else "; nothing was measured yet"))
        raise typer.Exit(130) from None
    _show_study(result, json=json, report=report, store=store)


@app.command(
    epilog="Example: autotune measure configs/quickstart.yaml --candidate ID --phases;"
    " autotune measure configs/quickstart.yaml --candidate ID --dissect"
)
def measure(
    config: Config,
    candidate: Annotated[
        str, typer.Option("--candidate", help="Id, identity or label, as rank prints them.")
    ],
    phases: Annotated[
        bool, typer.Option("--phases", help="Time per kernel and barrier, in a run of its own.")
    ] = False,
    dissect: Annotated[
        bool,
        typer.Option(
            "--dissect",
            help="Measure each term of the model by probes made of its own loops: arithmetic, loads"
            " and stores, the loop with its data in each cache and in memory. A minute or two.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """One candidate, built, verified and properly timed."""
    from autotune.pipeline import prospect, single
    from autotune.report import terms, text
    from autotune.report.documents import dissections, studies

    setup = prospect.load(config)
    progress = TerminalProgress()
    try:
        result = single.measure(setup, candidate, phases=phases, dissect=dissect, progress=progress)
    except KeyboardInterrupt as stop:
        progress.close()
        kept = f"; the rounds that were finished are kept: {stop}" if stop.args else ""
        note(f"interrupted{kept}")
        raise typer.Exit(130) from None
    told = (result.ranked, result.measurement, result.location, result.phases)
    if json:
        document(dissections.with_terms(studies.measure(*told), result.dissection))
    else:
        typer.echo(text.measured(*told))
        if result.dissection:
            typer.echo(f"\n{terms.text(result.dissection)}")
    if result.measurement.status != "ok":
        raise typer.Exit(1)


@app.command(
    epilog="Example: autotune compare quickstart; autotune compare configs/icpe19-wave1d.yaml"
)
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
        _show_study(result, json=json, report=None, store=store, command="compare")
        return
    chosen = _engines(engine)
    found, compared = published.compare_published(config, TerminalProgress(), chosen)
    if json:
        document(comparisons.comparison(compared, found.setup, found.machine))
    else:
        typer.echo(table.comparisons(compared, found.setup, found.machine))


@app.command(epilog="Example: autotune report quickstart -o report.html")
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


def _refuse_together(option: str, value: Path | None, others: Mapping[str, bool]) -> None:
    given = [name for name, wanted in others.items() if wanted]
    if value is not None and given:
        raise typer.BadParameter(f"does not go with {', '.join(given)}", param_hint=option)


def _prospect(config: Path, engine: EngineName | None) -> "Prospect":
    from autotune.pipeline.prospect import load, prospect

    setup = load(config)
    return prospect(setup, TerminalProgress(), _engines(engine, setup.skeleton.family))


def _engines(engine: EngineName | None, family: str = "ivp") -> "Sequence[EngineOfSetup] | None":
    """The engines that an option stands for; None: that of the config."""
    from autotune.setup import ENGINES

    return None if engine is None else ENGINES[family] if engine == "both" else (engine,)


def _show_study(
    result: "Result", *, json: bool, report: Path | None, store: str, command: str = "tune"
) -> None:
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
