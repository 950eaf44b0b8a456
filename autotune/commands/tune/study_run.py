"""One run of a study: measuring, storing, evaluating."""

import dataclasses
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.commands.tune.earlier_results import EarlierResults
from autotune.commands.tune.initial_candidates import baseline, evaluations, tasks
from autotune.commands.tune.moving import search_over
from autotune.commands.tune.problem_spaces import entries_of, problem_space
from autotune.commands.tune.provenance import (
    identity_of,
    launching,
    study_origin,
    versions,
)
from autotune.commands.tune.study_prior import PriorStudy, StudyPrior, proved
from autotune.commands.tune.tune_options import StudyOptions
from autotune.domain.ranking import Ranking
from autotune.domain.results import Measurement, Prediction, Prepared, Sample
from autotune.domain.variant import Candidate
from autotune.files import codec
from autotune.files.store import RunFacts, Store, StoredChoice, StudyRecord
from autotune.files.store.records import CUT, CutSearch
from autotune.measuring.candidates.base import Measurer
from autotune.measuring.conditions import quiet
from autotune.measuring.conditions.host_lock import HostLock
from autotune.progress import Progress
from autotune.results.evaluate.study_evaluation import StudyEvaluation, evaluate
from autotune.tuning import (
    Bench,
    Chosen,
    EarlierResult,
    EndedSearch,
    Task,
    TuningPlan,
    Watcher,
    tune_problem,
    tune_problems,
    unwatched,
)
from autotune.tuning.study_search import MirrorFile, StudySearch, study_search

_BATCH = 8
"""More candidates are never built together: what is learned of one helps to choose the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedStudy:
    """A stored study and its evaluation."""

    record: StudyRecord
    evaluation: StudyEvaluation
    commands: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """By label of a problem, the command lines that build and run its winner; none for generated
    code and for a study that is read back."""


def result_of(record: StudyRecord) -> TunedStudy:
    """A stored study with its evaluation."""
    return TunedStudy(record=record, evaluation=evaluate(record))


@dataclass(slots=True)
class StoreJournal:
    """A journal that writes everything that the tuner reports to the store."""

    store: Store
    run: str
    places: dict[str, int] = dataclasses.field(default_factory=dict)
    """Candidate to its place among those that were chosen."""
    numbers: dict[tuple[str, int], int] = dataclasses.field(default_factory=dict)

    def chosen(self, choices: Sequence[Chosen]) -> None:
        """Enter candidates with their predictions and reasons; the first reason of a candidate
        stays.
        """
        new: dict[str, Chosen] = {}
        for choice in choices:
            if choice.candidate.identity not in self.places:
                new.setdefault(choice.candidate.identity, choice)
        if not new:
            return
        begin = len(self.places)
        self.places |= {identity: begin + k for k, identity in enumerate(new)}
        self.store.add_proposals(
            self.run,
            [choice.ranked for choice in new.values()],
            [
                StoredChoice(candidate=identity, place=self.places[identity], reason=choice.why)
                for identity, choice in new.items()
            ],
        )

    def prepared(self, prepared: Prepared) -> None:
        """Enter the result of preparing a candidate."""
        self.store.add_prepared(self.run, prepared)

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        """Enter a sample; it is on disk when this returns."""
        key = (candidate.identity, sample.launch)
        number = self.numbers.get(key, 0)
        self.store.add_sample(self.run, candidate.identity, number, sample)
        self.numbers[key] = number + 1

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        """Enter the outcome of a candidate, which then counts as finished."""
        self.store.add_outcome(
            self.run, measurement.candidate, measurement.status, measurement.detail, checksum
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRun:
    """One run of a study: its measurer, its store, its time limit."""

    results: Store
    study: str
    ranked: RankedSpace
    measurer: Measurer
    conditions: Mapping[str, float | int | str]
    deadline: float
    """time.monotonic() after which nothing is started."""
    started: float
    machine_identity: str | None = None
    """Where the times come from, if not from the machine that was predicted for."""
    watcher: Watcher = unwatched
    resumed: StudyRecord | None = None
    """The study as it was before this run continued it; None where the study is new."""
    prior: PriorStudy | None = None
    """The study whose model is a prior of a search."""

    def run(
        self,
        choose_of: Callable[[Ranking], list[Chosen]],
        progress: Progress,
        baseline_of: Callable[[Ranking], str] = lambda _: "",
    ) -> TunedStudy:
        """Measure the chosen candidates of each problem, problem by problem, without a search.

        ``baseline_of``: the identity of the baseline that must work; empty where none must.
        """
        self._enter()
        with self._running(self.conditions) as (run, states):
            bench = self._bench(run, progress)
            for ranking in self.ranked.rankings:
                chosen = choose_of(ranking)
                bench.journal.chosen(chosen)
                if chosen and time.monotonic() < self.deadline:
                    tune_problem(chosen, bench, self._plan(None), baseline_of(ranking))
            states.append("done" if time.monotonic() < self.deadline else "budget")
        return result_of(self.results.load_study(self.study))

    def search(self, options: StudyOptions, progress: Progress) -> TunedStudy:
        """Measure first candidates of all problems, search, then measure the finalists again."""
        ranked, setup = self.ranked, self.ranked.setup
        entries = [entry for ranking in ranked.rankings for entry in ranking.entries]
        candidates = [entry.candidate for entry in entries]
        predictions = [entry.prediction for entry in entries]
        study_search(candidates[:1], predictions[:1], settings=setup.search)  # missing tools
        self._enter()
        earlier_results = EarlierResults(results=self.results, study=self.study, ranked=ranked)
        earlier = earlier_results.new_results()
        before = self._prior(candidates, predictions, progress)
        first = [baseline(ranked, ranking).identity for ranking in ranked.rankings]
        mirror = MirrorFile(str(options.mirror), self.study) if options.mirror else None

        def over(pool: Sequence[Candidate], predicted: Sequence[Prediction]) -> StudySearch:
            members = {candidate.identity for candidate in pool}
            hints = earlier_results.hints.values()
            before.extend(pool, predicted)
            return study_search(
                pool,
                predicted,
                settings=setup.search,
                first=[identity for identity in first if identity in members],
                hints=[hint for hint in hints if hint.candidate.identity in members],
                prior=before.seconds,
                mirror_file=mirror,
                seed=setup.selection.seed,
            )

        def hinted() -> list[Candidate]:
            return [hint.candidate for hint in earlier_results.hints.values()]

        search = search_over(ranked, candidates, predictions, over, hinted)
        note = {"warm_start": earlier_results.note} if earlier_results.note else {}
        note |= {"prior": before.note} if before.note else {}
        if earlier_results.note:
            progress(earlier_results.note, 1, 1)
        with self._running({**self.conditions, **note}) as (run, states):
            earlier_results.run = run
            ended = tune_problems(
                self._tasks(options, earlier, earlier_results, before.seconds),
                search,
                self._bench(run, progress),
                self._plan(evaluations(ranked, options)),
                earlier_results.new_results,
            )
            states.append("budget" if any(outcome.cut for outcome in ended) else "done")
        self._note_cuts(run, ended)
        if search.fault:
            progress(search.fault, 1, 1)
        result = result_of(self.results.load_study(self.study))
        if not before.note:
            return result
        note_of_prior = f"{before.note}; {proved(before, result.evaluation)}"
        self.results.add_conditions(run, {"prior": note_of_prior})
        return result_of(self.results.load_study(self.study))

    def _note_cuts(self, run: str, ended: Sequence[EndedSearch]) -> None:
        """Enter which searches a budget ended, and what their untried candidates promise."""
        cut = tuple(
            CutSearch(problem=search.key, why=search.why, promise=search.promise)
            for search in ended
            if search.cut
        )
        if cut:
            self.results.add_conditions(run, {CUT: codec.dump(cut)})

    @contextmanager
    def measuring(
        self, progress: Progress, purpose: str
    ) -> Iterator[tuple[Bench, TuningPlan, list[str]]]:
        """A new run for a flow that chooses by itself what it measures: its bench, its plan, and a
        list for its final state. Ctrl-C carries the name of the study.
        """
        with self._running({**self.conditions, "purpose": purpose}) as (run, states):
            yield self._bench(run, progress), self._plan(None), states

    def _prior(
        self,
        candidates: Sequence[Candidate],
        predictions: Sequence[Prediction],
        progress: Progress,
    ) -> StudyPrior:
        """The prior from the study that the settings name; an empty prior if they name none."""
        if self.prior is None:
            return StudyPrior()
        seed = self.ranked.setup.selection.seed
        study_prior = self.prior.prior(candidates, predictions, seed)
        progress(study_prior.note, 1, 1)
        return study_prior

    def _tasks(
        self,
        options: StudyOptions,
        earlier: Sequence[EarlierResult],
        earlier_results: EarlierResults,
        prior: Mapping[str, float],
    ) -> list[Task]:
        """The work for each problem; a continued study counts what its own runs measured.

        Runs for a decision map are not counted.
        """
        runs = [] if self.resumed is None else self.resumed.tunings
        finished = {c.identity: c for run in runs for c in earlier_results.counted(run)}
        keys = Counter(candidate.problem.key for candidate in finished.values())
        done = bool(runs) and runs[-1].state == "done" and bool(earlier_results.counted(runs[-1]))
        complete = "the study was done" if options.resume and done else ""
        return tasks(self.ranked, options, earlier, keys, complete, prior)

    def _enter(self) -> None:
        """Enter the study and what it chooses from into the store: a summary and the baselines.

        Candidates that earlier runs of the study proposed get the predictions of today; those that
        are no longer legal are marked.
        """
        rankings, results = self.ranked.rankings, self.results
        results.begin_study(self.study, study_origin(self.ranked.workload))
        safe = {baseline(self.ranked, ranking).identity for ranking in rankings}
        sources = self.ranked.enumerated.sources
        spaces = [problem_space(r, sources.get(r.problem.key)) for r in rankings]
        results.add_space(self.study, spaces, entries_of(rankings, safe))
        earlier = results.members(self.study) - safe
        results.add_predictions(self.study, entries_of(rankings, earlier))
        results.mark_lost(self.study, self._lost())

    def _lost(self) -> set[str]:
        """The candidates of a continued study that its problems no longer have."""
        rankings = self.ranked.rankings
        present = {entry.candidate.identity for r in rankings for entry in r.entries}
        keys = {ranking.problem.key for ranking in rankings}
        before = self.resumed.candidates if self.resumed else ()
        return {c.identity for c in before if c.problem.key in keys} - present

    @contextmanager
    def _running(
        self, conditions: Mapping[str, float | int | str]
    ) -> Iterator[tuple[str, list[str]]]:
        """A context with a new run and a list for its final state; it always ends the run.

        Linear algebra of this process takes one thread there: its matrices are small, and threads
        that wait for one another by spinning would disturb what is timed.
        """
        ranked = self.ranked
        facts = RunFacts(
            machine=ranked.machine,
            machine_identity=self.machine_identity or identity_of(ranked.machine),
            versions=versions(ranked.workload),
            conditions={
                **conditions,
                "launching": launching(ranked.setup),
                "process": os.getpid(),
                "node": platform.node(),
            },
        )
        run = self.results.begin_run(self.study, facts)
        states = ["interrupted"]
        try:
            with threadpool_limits(1, user_api="blas"):
                yield run, states
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self.study) from None
        finally:
            ranked.clock.stages["wall"] = time.monotonic() - self.started
            self.results.end_run(run, state=states[-1], timings=ranked.clock.stages)

    def _bench(self, run: str, progress: Progress) -> Bench:
        return Bench(
            measurer=self.measurer,
            journal=StoreJournal(self.results, run),
            progress=progress,
            clock=self.ranked.clock,
            watcher=self.watcher,
            lock=HostLock(progress, self.deadline),
        )

    def _plan(self, budget: int | None) -> TuningPlan:
        setup = self.ranked.setup
        return TuningPlan(
            measuring=setup.measuring,
            deadline=self.deadline,
            seed=setup.selection.seed,
            evaluations=budget,
            batch=min(quiet.cpus(), _BATCH),
            common=setup.search.winner != "each",
        )
