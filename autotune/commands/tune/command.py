"""``autotune tune``: tune here, write a job for another machine, or search a recorded space."""

import contextlib
import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune import paths
from autotune.commands.compare.command import show
from autotune.commands.options import (
    Report,
    RowsShown,
    StoreOptions,
    command,
    command_options,
    refuse_together,
)
from autotune.commands.output import TerminalProgress, document, note
from autotune.commands.replay.command import replay_command
from autotune.commands.tune.tune_options import StudyOptions

if TYPE_CHECKING:
    from autotune.commands.tune.flow import TunedStudy
    from autotune.workloads.base import Workload

EXAMPLE = (
    "Example: autotune tune configs/quickstart.yaml --report report.html;"
    " after Ctrl-C: autotune tune configs/quickstart.yaml --resume;"
    " a recorded space: autotune tune --replay space.json.gz"
)


@command_options
class TuneOptions:
    """Options of ``autotune tune``, in the order of its help."""

    config: Annotated[
        Path | None,
        typer.Argument(help="A config file, such as configs/quickstart.yaml; not with --replay."),
    ] = None
    study: StudyOptions
    report: Report = None
    emit_job: Annotated[
        Path | None,
        typer.Option("--emit-job", help="Write a job for another machine into this new folder."),
    ] = None
    collect: Annotated[
        Path | None, typer.Option("--collect", help="Read back the results.jsonl of a job.")
    ] = None
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay",
            help="Search a recorded space instead of measuring: T4 results, a Kernel Tuner cache,"
            " or CSV with the time in the last column.",
        ),
    ] = None
    seed: Annotated[
        int | None, typer.Option(help="With --replay: the seed of the search. Default: 1.", min=0)
    ] = None
    tables: RowsShown
    results: StoreOptions

    @property
    def given(self) -> dict[str, bool]:
        """For every option that excludes others, whether it was set."""
        return {
            "CONFIG": self.config is not None,
            "--budget-seconds": self.study.budget_seconds is not None,
            "--budget-evaluations": self.study.budget_evaluations is not None,
            "--exhaustive": self.study.exhaustive,
            "--resume": self.study.resume,
            "--report": self.report is not None,
            "--emit-job": self.emit_job is not None,
            "--collect": self.collect is not None,
            "--replay": self.replay is not None,
            "--sampler": self.study.sampler is not None,
            "--prior": self.study.prior is not None,
            "--mirror": self.study.mirror is not None,
            "--seed": self.seed is not None,
        }


@command
def tune(options: TuneOptions) -> None:
    """Build, verify, time and compare the best candidates.

    Candidates are ranked by prediction. The baseline, the most promising and a few drawn at random
    are measured, then those that a search names; the best are measured again at the end.
    What the config and its program name is built and run, as if you had typed it.
    """
    began = time.monotonic()
    _check_together(options.given)
    if options.study.prior is not None and options.study.sampler not in (None, "model"):
        raise typer.BadParameter("is for --sampler model", param_hint="--prior")
    if options.replay is not None:
        replay_command(
            options.replay,
            options.study.sampler,
            options.study.budget_evaluations,
            options.seed,
            json=options.results.json,
        )
        return
    if options.config is None:
        raise typer.BadParameter("is needed, or --replay FILE", param_hint="CONFIG")
    opening = TerminalProgress()
    if sys.stderr.isatty():
        opening(f"read {options.config}", 0, 1)
    from autotune.commands.rank import ranked_space
    from autotune.results.page import page_file

    workload = ranked_space.load(options.config)
    opening.close()
    if options.report is not None:
        page_file.check(options.report)
    if options.study.mirror is not None:
        paths.check_output(options.study.mirror)
    if options.emit_job is not None:
        _emit(options.config, workload, options, options.emit_job)
        return
    try:
        study = _tuned(workload, options, began)
    except KeyboardInterrupt as stop:
        resume = f"autotune tune {shlex.quote(str(options.config))} --resume{options.results.again}"
        kept = f"every finished sample is kept: {resume}"
        note(f"interrupted; {kept if stop.args else 'nothing was measured yet'}")
        raise typer.Exit(130) from None
    show(
        study,
        json=options.results.json,
        report=options.report,
        store=options.results.shown,
        tables=options.tables,
    )


def _tuned(workload: "Workload", options: TuneOptions, began: float) -> "TunedStudy":
    """The study, measured here or read from the results of a job on another machine; ``began``: the
    time.monotonic() from which a budget counts.
    """
    from autotune.commands.live import screen

    with contextlib.closing(screen()) as display:
        display("prepare the study", 0, 1)
        from autotune.commands.tune import flow, jobs

        if options.collect is not None:
            return jobs.collect(workload, options.collect, options.results.store, display)
        store = options.results.store
        return flow.tune(workload, options.study, store, display, display.watch, began=began)


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
"""An option to the options that it does not go with."""


def _check_together(given: Mapping[str, bool]) -> None:
    for option, others in _EXCLUSIVE.items():
        if given[option]:
            refuse_together(option, {name: given[name] for name in others})
    if given["--seed"] and not given["--replay"]:
        raise typer.BadParameter("needs --replay", param_hint="--seed")


def _emit(config: Path, workload: "Workload", options: TuneOptions, folder: Path) -> None:
    """Write a job for another machine, and print how to run it and read it back."""
    from autotune.commands.tune import jobs

    job = jobs.emit_job(workload, options.study, folder, TerminalProgress())
    if options.results.json:
        document(job)
    note(
        f"wrote {job.script}; run it there, bring the folder back, then:"
        f" autotune tune {shlex.quote(str(config))}"
        f" --collect {shlex.quote(str(job.folder / 'results.jsonl'))}"
    )
