"""``autotune tune``: the main job, a job for elsewhere, the search of a recorded space."""

import contextlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands.compare.command import show
from autotune.commands.options import DEFAULT_STORE, Json, Store, refuse_together
from autotune.commands.output import TerminalProgress, document, note
from autotune.commands.replay.command import SamplerName, replay_command

if TYPE_CHECKING:
    from autotune.commands.tune.flow import StudyOptions
    from autotune.domain.setup import Setup

EXAMPLE = (
    "Example: autotune tune configs/quickstart.yaml --report report.html;"
    " after Ctrl-C: autotune tune configs/quickstart.yaml --resume;"
    " a recorded space: autotune tune --replay space.json.gz"
)


def tune(
    config: Annotated[
        Path | None,
        typer.Argument(help="A config file, such as configs/quickstart.yaml; not for --replay."),
    ] = None,
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
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay",
            help="Search a recorded space instead of measuring: T4 results, a Kernel Tuner cache,"
            " or CSV with the time in the last column.",
        ),
    ] = None,
    sampler: Annotated[
        SamplerName | None,
        typer.Option(help="Who searches; of a replay model, else the config's, if left out."),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="STUDY[@STORE]",
            help="A study, such as one of another machine or size: what a model learned of it"
            " expects orders the candidates, as far as it proves itself here.",
        ),
    ] = None,
    mirror: Annotated[
        Path | None,
        typer.Option("--mirror", help="Show the search in this Optuna journal while it goes on."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="With --replay: 1 if left out.", min=0)] = None,
    store: Store = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """The main job: rank, build, verify, time and compare the most promising candidates."""
    _check_together(
        {
            "CONFIG": config is not None,
            "--budget-seconds": budget_seconds is not None,
            "--budget-evaluations": budget_evaluations is not None,
            "--exhaustive": exhaustive,
            "--resume": resume,
            "--report": report is not None,
            "--emit-job": emit_job is not None,
            "--collect": collect is not None,
            "--replay": replay is not None,
            "--sampler": sampler is not None,
            "--prior": prior is not None,
            "--mirror": mirror is not None,
            "--seed": seed is not None,
        }
    )
    if prior is not None and sampler not in (None, "model"):
        raise typer.BadParameter("is for --sampler model", param_hint="--prior")
    if replay is not None:
        replay_command(replay, sampler, budget_evaluations, seed, json=json)
        return
    if config is None:
        raise typer.BadParameter("is needed, or --replay FILE", param_hint="CONFIG")
    from autotune.commands.live import screen
    from autotune.commands.rank import ranked_space
    from autotune.commands.tune import flow as tune_flow
    from autotune.commands.tune import jobs
    from autotune.results.report import page_file

    setup = ranked_space.load(config)
    if report is not None:
        page_file.check(report)
    options = tune_flow.StudyOptions(
        budget_seconds=budget_seconds,
        budget_evaluations=budget_evaluations,
        exhaustive=exhaustive,
        resume=resume,
        sampler=sampler,
        prior=prior,
        mirror=str(mirror) if mirror else None,
    )
    if emit_job is not None:
        _emit(config, setup, options, emit_job, json=json)
        return
    try:
        with contextlib.closing(screen()) as shown:
            if collect is not None:
                result = jobs.collect(setup, collect, store, shown)
            else:
                result = tune_flow.tune(setup, options, store, shown, shown.watch)
    except KeyboardInterrupt as stop:
        place = f" --store {shlex.quote(store)}" if store != DEFAULT_STORE else ""
        again = f"autotune tune {shlex.quote(str(config))} --resume{place}"
        begun = f"; every finished sample is kept: {again}"
        note("interrupted" + (begun if stop.args else "; nothing was measured yet"))
        raise typer.Exit(130) from None
    show(result, json=json, report=report, store=store)


_EXCLUSIVE: Mapping[str, tuple[str, ...]] = {
    "--replay": (
        "CONFIG", "--budget-seconds", "--exhaustive", "--resume", "--report", "--emit-job",
        "--collect", "--prior", "--mirror",
    ),
    "--emit-job": ("--collect", "--resume", "--prior"),
    "--collect": (
        "--resume", "--exhaustive", "--budget-seconds", "--budget-evaluations", "--prior",
    ),
    "--exhaustive": ("--budget-evaluations", "--sampler", "--prior", "--mirror"),
}  # fmt: skip
"""What an option does not go with."""


def _check_together(given: Mapping[str, bool]) -> None:
    for option, others in _EXCLUSIVE.items():
        if given[option]:
            refuse_together(option, {name: given[name] for name in others})
    if given["--seed"] and not given["--replay"]:
        raise typer.BadParameter("needs --replay", param_hint="--seed")


def _emit(
    config: Path, setup: "Setup", options: "StudyOptions", folder: Path, *, json: bool
) -> None:
    from autotune.commands.tune import jobs

    emitted = jobs.emit_job(setup, options, folder, TerminalProgress())
    if json:
        document(emitted)
    note(
        f"wrote {emitted.script}; run it there, bring the folder back, then:"
        f" autotune tune {config} --collect {emitted.folder / 'results.jsonl'}"
    )
