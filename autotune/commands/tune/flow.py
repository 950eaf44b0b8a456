"""From ranked candidates to a study: candidates are chosen, built, verified, timed, evaluated."""

import dataclasses
import math
import time
from collections.abc import Sequence
from pathlib import Path

from autotune.commands.rank.emit_source import command_lines
from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.commands.rank.ranked_space import RankedSpace, rank_space
from autotune.commands.rank.recalled_candidates import recalled
from autotune.commands.tune.earlier_results import EarlierResults
from autotune.commands.tune.initial_candidates import (
    baseline,
    choose_candidates,
    unfinished_choices,
)
from autotune.commands.tune.moving import require_listed, with_proposed, with_related
from autotune.commands.tune.preflight import check_launchers, check_objectives, conditions_of
from autotune.commands.tune.provenance import (
    config_file,
    content,
    identity_of,
    study_origin,
)
from autotune.commands.tune.study_prior import prior_study
from autotune.commands.tune.study_run import StudyRun, TunedStudy, result_of
from autotune.commands.tune.tune_options import StudyOptions
from autotune.domain.ranking import Ranking
from autotune.domain.setup import Searching, Setup
from autotune.errors import Fault, InputError, WorkFailed
from autotune.files.store import Store, StudyRecord, kept_dissections
from autotune.measuring.candidates.base import Measurer
from autotune.measuring.candidates.stop_request import StopRequest
from autotune.progress import Progress
from autotune.results.report import study_page
from autotune.results.report.number_words import seconds
from autotune.tuning import Chosen, EarlierResult, Watcher, unwatched
from autotune.workloads.base import EnumeratedSpace, Workload
from autotune.workloads.capacity import candidates_on

__all__ = [
    "StudyOptions",
    "StudyRun",
    "TunedStudy",
    "baseline",
    "choose_candidates",
    "content",
    "identity_of",
    "measuring_deadline",
    "require_success",
    "result_of",
    "study",
    "tune",
    "write_report",
]


_ENDING = 0.04
"""Share of a budget that is left for the evaluation at the end."""
_MOST_ENDING = 3.0
"""Seconds that this takes at most."""
_MEASURING = 0.5
"""Share of a budget that is there to measure at least, however long the predictions took."""
_MOVES = "without it, the search moves through all of them"


def tune(
    workload: Workload,
    options: StudyOptions,
    store: str,
    progress: Progress,
    watcher: Watcher = unwatched,
    *,
    began: float | None = None,
    stop: StopRequest | None = None,
) -> TunedStudy:
    """Tune a config: measure the most promising candidates and compare them.

    Every sample is stored when it is taken; Ctrl-C loses at most one. ``began``: the
    time.monotonic() from which the budget counts; None: now. ``stop``: what another thread may ask
    for; it ends as Ctrl-C does.
    """
    wall = time.monotonic() if began is None else began
    setup = workload.setup
    setup = dataclasses.replace(setup, search=_searching(setup.search, options))
    workload = workload.at(setup)
    needing_all = {"--exhaustive": options.exhaustive, "--mirror": options.mirror}
    listed = None
    for option in (option for option, given in needing_all.items() if given):
        listed = listed or candidates_on(workload, uncalibrated_machine(setup))
        require_listed(listed, option, _MOVES)
    with Store.open(store) as results:
        name = _study_name(setup, options, results)
        prior = prior_study(setup.search.prior, results, name if options.resume else None)
        workload.check()
        check_launchers(setup)
        check_objectives(setup)
        resumed = results.load_study(name) if options.resume else None
        progress(_opening_line(setup, name, resumed, results), 0, 1)
        within = _MEASURING * (options.budget_seconds or math.inf)
        ranked = _ranked(workload, results, resumed, progress, listed, within)
        calibrating = ranked.clock.stages["calibrate"]  # of a fresh host: not the user's budget
        before = time.monotonic()
        conditions = {**conditions_of(ranked, progress), **config_file(setup)}
        ranked.clock.timed("calibrate", before)
        measurer: Measurer = workload.measurer(ranked.machine)
        study_run = StudyRun(
            results=results,
            study=_started_study(workload, name, options, results, progress),
            ranked=ranked,
            measurer=measurer if stop is None else stop.heeded_by(measurer),
            conditions=conditions,
            deadline=measuring_deadline(options.budget_seconds, wall + calibrating),
            started=wall,
            watcher=watcher,
            resumed=resumed,
            prior=None if options.exhaustive else prior,
        )
        if not options.exhaustive:
            return _with_commands(study_run.search(options, progress), ranked)
        return _with_commands(_exhaustive(study_run, options, progress), ranked)


def _exhaustive(study_run: StudyRun, options: StudyOptions, progress: Progress) -> TunedStudy:
    """Measure all candidates; when resuming, those that are left."""
    ranked = study_run.ranked
    earlier_results = EarlierResults(
        results=study_run.results, study=study_run.study, ranked=ranked
    )
    earlier = earlier_results.of_the_study() if options.resume else []
    return study_run.run(
        lambda ranking: _remaining(ranked, ranking, options, earlier),
        progress,
        lambda ranking: baseline(ranked, ranking).identity,
    )


def measuring_deadline(budget: float | None, began: float) -> float:
    """When a study with a budget in seconds, from ``began``, starts its last launch.

    What is left is for evaluating. Predictions that took most of a budget leave half of it.
    """
    if budget is None:
        return math.inf
    ends = began + budget - min(_ENDING * budget, _MOST_ENDING)
    return max(ends, time.monotonic() + _MEASURING * budget)


def _with_commands(result: TunedStudy, ranked: RankedSpace) -> TunedStudy:
    """A study with the command lines of its winners."""
    listed = {candidate.identity: candidate for candidate in ranked.enumerated.legal}
    commands: dict[str, tuple[str, ...]] = {}
    for problem in result.evaluation.problems:
        if problem.best is None:
            continue
        record = problem.best.candidate
        candidate = listed.get(record.identity)
        candidate = candidate or recalled(ranked.enumerated, [record]).get(record.identity)
        if candidate is not None:
            commands[problem.label] = command_lines(ranked.workload, candidate)
    return dataclasses.replace(result, commands=commands)


def _ranked(
    workload: Workload,
    results: Store,
    resumed: StudyRecord | None,
    progress: Progress,
    listed: EnumeratedSpace | None,
    within: float,
) -> RankedSpace:
    """The ranked candidates; of those that cannot be listed also what a study that is resumed
    proposed and, with a warm start, what others measured. ``listed``: the candidates, where they
    were listed before. ``within``: seconds for predictions that are not the cheapest.
    """
    ranked = rank_space(workload, progress, listed=listed, within=within)
    for line in (*ranked.machine_notes, *ranked.candidate_notes):
        progress(line, 0, 1)
    if resumed is not None:
        ranked = with_proposed(ranked, resumed.candidates)
    if workload.setup.search.warm_start and ranked.enumerated.sources:
        present = {candidate.identity for candidate in ranked.enumerated.legal}
        ranked = with_related(ranked, results.other_candidates(present))
    return ranked


def _searching(search: Searching, options: StudyOptions) -> Searching:
    """The search settings of the config, replaced where the command line sets others.

    With another sampler than ``model``, settings that apply only to ``model`` are dropped.
    """
    if options.sampler is not None and options.sampler != "model":
        search = dataclasses.replace(
            search, sampler=options.sampler, residual="process", prior=None
        )
    elif options.sampler is not None:
        search = dataclasses.replace(search, sampler=options.sampler)
    return search if options.prior is None else dataclasses.replace(search, prior=options.prior)


def _remaining(
    ranked: RankedSpace, ranking: Ranking, options: StudyOptions, earlier: Sequence[EarlierResult]
) -> list[Chosen]:
    """The candidates of a problem to measure; when resuming, only those not finished before."""
    chosen = choose_candidates(ranked, ranking, options)
    if not options.resume:
        return chosen
    finished = [e for e in earlier if e.candidate.problem.key == ranking.problem.key]
    return unfinished_choices(ranking, chosen, finished, baseline(ranked, ranking).identity)


def _study_name(setup: Setup, options: StudyOptions, results: Store) -> str:
    if not options.resume:
        return results.unused_name(setup.name)
    name = results.latest_study(setup.name)
    if name is None:
        raise InputError(
            Fault(
                where="--resume",
                found=f"no study of {setup.name} in {results.shown}",
                expected="a study that was begun",
                hint="run without --resume, or name its --store",
            )
        )
    return name


def _started_study(
    workload: Workload, name: str, options: StudyOptions, results: Store, progress: Progress
) -> str:
    """The name of the study that is resumed or newly begun.

    Its number is new if another tuner took the planned name meanwhile.
    """
    if options.resume:
        return name
    setup = workload.setup
    begun = results.new_study(setup.name, study_origin(workload))
    if begun != name:
        progress(f"begin study {begun}: another tuner began {name} meanwhile", 0, 1)
    return begun


def _of_other_problems(setup: Setup, study: StudyRecord) -> str:
    """A remark where a study that is resumed has none of the problems of the config, such as that
    of another config of the same name; else empty.
    """
    before = {c.problem.key: c.problem.label for c in study.candidates}
    if not before or {problem.key for problem in setup.problems} & before.keys():
        return ""
    named = ", ".join(before.values())
    return f", which was about {named} so far (a key name in the config keeps studies apart)"


def _opening_line(setup: Setup, name: str, resumed: StudyRecord | None, results: Store) -> str:
    """A line that says which study begins or continues.

    It also mentions an unfinished study that is not continued.
    """
    if resumed is not None:
        return f"continue study {name}{_of_other_problems(setup, resumed)}"
    before = results.latest_study(setup.name)
    states = [run.state for run in results.load_study(before).tunings] if before else []
    unfinished = states and states[-1] != "done"
    return f"begin study {name}" + (
        f" ({before} is unfinished: see --resume)" if unfinished else ""
    )


# --- reading back ---------------------------------------------------------------------------


def study(name: str, store: str) -> TunedStudy:
    """A study of a store by its name; an empty name means the latest."""
    with Store.open(store, create=False) as results:
        latest = name or results.latest_study()
        if latest is None:
            raise InputError(
                Fault(where=results.shown, found="no study", expected="a study", hint="tune first")
            )
        return result_of(results.load_study(latest))


def write_report(result: TunedStudy, path: Path) -> Path:
    """Write the HTML page of a study; InputError if that is not possible.

    The page includes the stored dissections of the study's candidates on the machines of its runs.
    """
    machines = list(dict.fromkeys(run.machine_identity for run in result.record.runs))
    kept = [
        dissection
        for problem in result.evaluation.problems
        for row in problem.rows
        for machine in machines
        if (dissection := kept_dissections.kept(machine, row.candidate.identity)) is not None
    ]
    return study_page.write(result.evaluation, path, kept, result.commands)


def require_success(result: TunedStudy) -> None:
    """Raise WorkFailed when not a single candidate ran."""
    statuses = {m.status for run in result.record.runs for m in run.measurements}
    if not statuses:
        analysed = sum(run.timings.get("predict", 0.0) for run in result.record.runs)
        took = f" (predictions took {seconds(analysed)})" if analysed else ""
        raise WorkFailed(f"nothing was measured: no time was left for it{took}")
    if "ok" not in statuses:
        raise WorkFailed(f"no candidate ran: {', '.join(sorted(statuses))}")
