"""From a study to its reduced winner: a run of the study that leaves out, drops and compares."""

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from autotune.commands.rank.emit_source import command_lines
from autotune.commands.rank.named_programs import require_known
from autotune.commands.rank.ranked_space import RankedSpace, rank_space
from autotune.commands.rank.recalled_candidates import recalled
from autotune.commands.rank.study_setup import setup_of_study
from autotune.commands.reduce.differences import CandidatesBetween, ChangedSetting
from autotune.commands.reduce.influence_shares import influence_shares
from autotune.commands.reduce.reduction_request import ReductionRequest
from autotune.commands.tune.initial_candidates import baseline
from autotune.commands.tune.preflight import check_launchers, conditions_of
from autotune.commands.tune.study_run import StudyRun
from autotune.domain.candidate_names import matching
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError, WorkFailed, nearest
from autotune.files.store import Store
from autotune.files.store.records import StudyRecord
from autotune.progress import Progress
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    evaluate,
)
from autotune.tuning.elimination import Ablation, Elimination, Reduction
from autotune.workloads.base import Workload
from autotune.workloads.shipped import workload_of

PURPOSE = "reduce"
"""Condition ``purpose`` of the runs of a study that reduce its winner."""

_LEAST_ROUNDS = 5
"""Fewer launches do not tell a per cent apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReducedStudy:
    """The reduced winner of a problem of a study."""

    study: str
    problem: ProblemEvaluation
    differences: Mapping[str, ChangedSetting]
    """Of the winner from the baseline, by name."""
    shares: Mapping[str, float]
    """What each is worth by the influence model of the study's samples; see
    ``influence_shares``."""
    reduction: Reduction
    commands: tuple[str, ...]
    """The command lines that build and run the reduced winner; empty for generated code."""
    interrupted: bool
    words: str
    """What was reduced: ``the winner``."""

    @property
    def ablations(self) -> tuple[Ablation, ...]:
        """Of the winner, the difference that seems to be worth most first."""
        return self.reduction.ablations


def reduce_winner(request: ReductionRequest, store: str, progress: Progress) -> ReducedStudy:
    """Measure what the differences of the winner of a study from the baseline are worth, and drop
    those that are worth nothing.

    Every sample is stored in a run of the study. After Ctrl-C the result says what is known. Raises
    InputError where the study does not fit its config any more, WorkFailed where there is nothing
    to reduce.
    """
    started = time.monotonic()
    with Store.open(store, create=False) as results:
        name = request.study or results.latest_study()
        if name is None:
            raise InputError(Fault(where=results.shown, found="no study", hint="tune first"))
        record = results.load_study(name)
        problem = _problem(record, request.problem)
        chosen = _chosen(problem, request.candidate)
        workload = _workload(record, request)
        workload.check()
        check_launchers(workload.setup)
        ranked = rank_space(workload, progress)
        between = _between(ranked, problem, chosen)
        rows = _compared_rows(record, problem)
        shares = influence_shares(rows, between.winner, between.baseline, [*between.differences])
        run = StudyRun(
            results=results,
            study=name,
            ranked=ranked,
            measurer=workload.measurer(ranked.machine),
            conditions=conditions_of(ranked, progress),
            deadline=started + (request.budget_seconds or float("inf")),
            started=started,
        )
        reduction, interrupted = _measured(run, between, shares, chosen, request, progress)
        return ReducedStudy(
            study=name,
            problem=problem,
            differences=between.differences,
            shares=shares,
            reduction=reduction,
            commands=command_lines(workload, reduction.reduced),
            interrupted=interrupted,
            words=_words(problem, chosen, request.candidate),
        )


def _problem(record: StudyRecord, label: str) -> ProblemEvaluation:
    problems = evaluate(record).problems
    labels = [problem.label for problem in problems]
    if not label and len(problems) == 1:
        return problems[0]
    for problem in problems:
        if problem.label == label:
            return problem
    raise InputError(
        Fault(
            where="--problem",
            found=f"no problem {label}" if label else f"study {record.name} has several problems",
            expected=f"one of {', '.join(labels)}" if labels else "a study with candidates",
            hint=nearest(label, labels) if label else "",
        )
    )


def _compared_rows(record: StudyRecord, problem: ProblemEvaluation) -> list[EvaluatedCandidate]:
    """The candidates of the run of a study that compared most, one that reduced nothing.

    Times of several runs are never mixed.
    """
    best: list[EvaluatedCandidate] = []
    for run in record.runs:
        if run.conditions.get("purpose") == PURPOSE:
            continue
        alone = dataclasses.replace(record, runs=(run,))
        for other in evaluate(alone).problems:
            rows = [row for row in other.rows if row.compared]
            if other.label == problem.label and len(rows) > len(best):
                best = rows
    return best


def _chosen(problem: ProblemEvaluation, name: str) -> EvaluatedCandidate:
    """The candidate to reduce: the winner, or that of a name."""
    if not name:
        best, others = (
            problem.best,
            [row for row in problem.contenders if not row.candidate.baseline],
        )
        if best is None:
            raise WorkFailed(f"{problem.label} has no winner: nothing of it was measured")
        return others[0] if best.candidate.baseline and others else best
    rows = {row.candidate.identity: row for row in problem.rows}
    fitting = matching((row.candidate for row in problem.rows), name)
    if len(fitting) == 1:
        return rows[fitting[0].identity]
    several = f"{name!r} names {len(fitting)} candidates of {problem.label}"
    raise InputError(
        Fault(
            where="--candidate",
            found=several if fitting else f"{problem.label} has no candidate {name!r}",
            expected="a name, an identity or an id of the study",
            hint=", ".join(problem.names[candidate.identity] for candidate in fitting[:3])
            or nearest(name, problem.names.values()),
        )
    )


def _words(problem: ProblemEvaluation, chosen: EvaluatedCandidate, name: str) -> str:
    if chosen is problem.best:
        return "the winner"
    return "candidate" if name else "it is undecided; the fastest"


def _workload(record: StudyRecord, request: ReductionRequest) -> Workload:
    """The workload of a study with the wanted rounds.

    Compilers and flags may be any only where the user names the config.
    """
    setup = setup_of_study(record, request.config)
    if request.config is None:
        setup = require_known(setup)
    rounds = request.rounds or max(_LEAST_ROUNDS, setup.measuring.rounds)
    measuring = dataclasses.replace(setup.measuring, rounds=rounds)
    return workload_of(dataclasses.replace(setup, measuring=measuring))


def _between(
    ranked: RankedSpace, problem: ProblemEvaluation, chosen: EvaluatedCandidate
) -> CandidatesBetween:
    """The candidates between the baseline and the one to reduce, as the config makes them now."""
    key, record = problem.problem.key, chosen.candidate
    ranking = next((r for r in ranked.rankings if r.problem.key == key), None)
    safe = baseline(ranked, ranking) if ranking else None
    listed = {c.identity: c for c in (*ranked.enumerated.legal, *([safe] if safe else []))}
    source = ranked.enumerated.sources.get(key)
    winner = listed.get(record.identity)
    if winner is None:
        winner = recalled(ranked.enumerated, [record]).get(record.identity)
    if safe is None or winner is None:
        raise InputError(
            Fault(
                where=record.id,
                found="the config, as it reads today, does not have it any more",
                expected="the config and the sources that the study was begun with",
                hint="tune again",
            )
        )
    if winner.identity == safe.identity:
        raise WorkFailed(
            f"the winner of {problem.label} is the baseline itself: there is nothing to reduce"
            " (tune longer, or name another one: --candidate ID)"
        )
    return CandidatesBetween(winner, safe, ranked.enumerated.legal, source)


def _measured(
    run: StudyRun,
    between: CandidatesBetween,
    shares: Mapping[str, float],
    chosen: EvaluatedCandidate,
    request: ReductionRequest,
    progress: Progress,
) -> tuple[Reduction, bool]:
    """The reduction, and whether it was interrupted."""
    order = sorted(between.differences, key=lambda name: (-abs(shares.get(name, 0.0)), name))
    elimination: Elimination | None = None
    try:
        with run.measuring(progress, PURPOSE) as (bench, plan, states):
            elimination = Elimination(
                differences=order,
                make=between.make,
                bench=bench,
                plan=plan,
                prediction_of=partial(_prediction, run.ranked),
                expected=chosen.measured,
                most=request.most,
            )
            elimination.run()
            states.append("done" if time.monotonic() < run.deadline else "budget")
    except KeyboardInterrupt:
        if elimination is None:
            raise
        return elimination.result(), True
    return elimination.result(), False


def _prediction(ranked: RankedSpace, candidate: Candidate) -> Prediction:
    """The prediction of a candidate; one without a time for those that were not ranked."""
    for ranking in ranked.rankings:
        for entry in ranking.entries:
            if entry.candidate.identity == candidate.identity:
                return entry.prediction
    engine, why = ranked.engines[0], "it is between the winner and the baseline"
    return Prediction(seconds=None, interval=None, parts=(), engine=engine, reason=why)
