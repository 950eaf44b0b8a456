"""From ranked candidates to a study: chosen, built, verified, timed, stored, evaluated."""

import dataclasses
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.codegen import harness, space
from autotune.codegen.programs import Programs
from autotune.errors import Fault, InputError, WorkFailed
from autotune.evaluate import StudyResult, evaluate
from autotune.machine import Machine
from autotune.measure.base import Measurer, Prepared
from autotune.measure.run import HostMeasurer
from autotune.measure.stats import location
from autotune.pipeline.circumstances import check_launchers, conditions_of, versions
from autotune.pipeline.prospect import Prospect, check_builds, prospect
from autotune.progress import Progress
from autotune.ranking import Ranking
from autotune.report import page
from autotune.results import Measurement, Sample
from autotune.select import choose, everything
from autotune.setup import Selection, Setup
from autotune.store import Choice, RunFacts, RunRecord, Store, StudyRecord, dissections
from autotune.toolchain import compiler as compilers
from autotune.toolchain.compiler import Compiler
from autotune.tuning import Chosen, Plan, tune_problem
from autotune.variant import Build, Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How far a study goes."""

    budget_seconds: float | None = None
    budget_evaluations: int | None = None
    """Candidates per problem."""
    exhaustive: bool = False
    resume: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A study and what follows from it."""

    record: StudyRecord
    evaluation: StudyResult


def tune(setup: Setup, options: Options, store: str, progress: Progress) -> Result:
    """The main job. Every sample is in the store when it is taken; Ctrl-C loses at most one."""
    wall = time.monotonic()
    with Store.open(store) as results:
        name = _study_name(setup, options, results)
        check_builds(setup, openmp=True)
        check_launchers(setup)
        progress(_opening(setup, name, options, results), 0, 1)
        found = prospect(setup, progress)
        before = time.monotonic()
        conditions = conditions_of(found, progress)
        found.clock.timed("calibrate", before)
        conduct = Conduct(
            results=results,
            study=name,
            found=found,
            measurer=host_measurer(setup),
            conditions=conditions,
            deadline=wall + (options.budget_seconds or float("inf")),
            started=wall,
        )
        return conduct.run(lambda r: choose_candidates(found, r, options, results, name), progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """One run of a study: who measures, where it is stored, until when."""

    results: Store
    study: str
    found: Prospect
    measurer: Measurer
    conditions: Mapping[str, float | int | str]
    deadline: float
    """time.monotonic() after which nothing is started."""
    started: float
    machine_identity: str | None = None
    """Where the times come from, if not from the machine that was predicted for."""

    def run(self, choose_of: Callable[[Ranking], list[Chosen]], progress: Progress) -> Result:
        """Measure what is chosen of each problem, one after the other."""
        found, results = self.found, self.results
        results.begin_study(
            self.study,
            config=found.setup.name,
            setup_text=_text(found.setup),
            versions=versions(found.setup),
        )
        run = self._begin()
        state = "interrupted"
        try:
            for ranking in found.rankings:
                chosen = choose_of(ranking)
                results.add_choices(run, _choices(chosen))
                if chosen and time.monotonic() < self.deadline:
                    plan = self._plan(ranking)
                    journal = _Journal(results, run)
                    tune_problem(chosen, self.measurer, journal, plan, progress, found.clock)
            state = "done" if time.monotonic() < self.deadline else "budget"
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self.study) from None
        finally:
            found.clock.stages["wall"] = time.monotonic() - self.started
            results.end_run(run, state=state, timings=found.clock.stages)
        return result_of(results.load_study(self.study))

    def _begin(self) -> str:
        found, machine = self.found, self.found.machine
        safe = [baseline(found, ranking).identity for ranking in found.rankings]
        self.results.add_candidates(self.study, found.enumerated.legal, baselines=safe)
        pairs = [(e.candidate, e.prediction) for r in found.rankings for e in r.entries]
        self.results.add_predictions(self.study, pairs)
        facts = RunFacts(
            machine=machine,
            machine_identity=self.machine_identity or identity_of(machine),
            versions=versions(found.setup),
            conditions=self.conditions,
        )
        return self.results.begin_run(self.study, facts)

    def _plan(self, ranking: Ranking) -> Plan:
        setup = self.found.setup
        return Plan(
            measuring=setup.measuring,
            candidates=tuple(entry.candidate for entry in ranking.entries),
            deadline=self.deadline,
            seed=setup.selection.seed,
        )


def host_measurer(setup: Setup) -> HostMeasurer:
    """The measurer of a setup on this host."""
    programs = Programs(setup.skeleton)

    def sources(candidate: Candidate) -> Mapping[str, str]:
        distributed = candidate.ranks > 1
        return harness.units(programs(candidate), candidate.problem, distributed=distributed)

    def compiler(build: Build) -> Compiler:
        return compilers.find(build, setup.place(f"builds.{setup.builds.index(build)}"))

    return HostMeasurer(
        measuring=setup.measuring,
        limits=setup.limits,
        sources=sources,
        compiler=compiler,
        launcher=setup.launcher,
        mpi_launcher=setup.mpi_launcher,
        environment=setup.environment,
    )


# --- choosing -------------------------------------------------------------------------------


def baseline(found: Prospect, ranking: Ranking) -> Candidate:
    """The baseline of a problem: the space's own, first build, most threads."""
    setup = found.setup
    return space.baseline(setup, ranking.problem, found.machine.cores, setup.builds[0])


def choose_candidates(
    found: Prospect,
    ranking: Ranking,
    options: Options,
    results: Store | None = None,
    study: str = "",
) -> list[Chosen]:
    """What a run measures of a problem.

    After a resume what is not finished, and beside it the best so far and the baseline, so that
    the times of the new run have something to be compared with.
    """
    selection = found.setup.selection
    if options.budget_evaluations is not None:
        selection = _within(options.budget_evaluations, selection)
    safe = baseline(found, ranking).identity
    picks = everything(ranking) if options.exhaustive else choose(ranking, selection, safe)
    chosen = [Chosen(pick.entry.candidate, pick.entry.prediction, pick.why) for pick in picks]
    if not options.resume or results is None:
        return chosen
    alike = _alike(results.load_study(study).runs, found)
    finished = {identity for run in alike for identity in run.finished}
    best = _incumbent(alike, {choice.candidate.identity for choice in chosen})
    left = [choice for choice in chosen if choice.candidate.identity not in finished]
    again = [
        dataclasses.replace(choice, why=f"{choice.why}; measured again, to compare with")
        for choice in chosen
        if choice not in left and choice.candidate.identity in (best, safe)
    ]
    return [*again, *left] if left else []


def _within(budget: int, selection: Selection) -> Selection:
    """The selection cut to a number of candidates, the baseline among them."""
    safe = selection.baseline and budget > 1
    rest = budget - safe
    random = min(selection.random, rest // 2)
    return dataclasses.replace(selection, top=rest - random, random=random, baseline=safe)


def _alike(runs: Sequence[RunRecord], found: Prospect) -> list[RunRecord]:
    """The runs whose results still hold: same machine, same compilers, same MPI."""
    machine, now = identity_of(found.machine), versions(found.setup)
    return [
        run
        for run in runs
        if run.machine_identity == machine
        and all(run.versions.get(name) == now.get(name) for name in ("compilers", "mpi"))
    ]


def identity_of(machine: Machine) -> str:
    """What times are filed under: the identity of the calibrated host, else the name."""
    return machine.calibration.identity if machine.calibration else machine.name


def _incumbent(runs: Sequence[RunRecord], identities: set[str]) -> str | None:
    """The fastest finished candidate of the latest run that finished any of these."""
    for run in reversed(runs):
        times = {
            m.candidate: location([sample.seconds for sample in m.accepted])
            for m in run.measurements
            if m.candidate in identities & run.finished and m.status == "ok" and m.accepted
        }
        if times:
            return min(times, key=lambda identity: (times[identity], identity))
    return None


def _choices(chosen: Sequence[Chosen]) -> list[Choice]:
    return [
        Choice(candidate=choice.candidate.identity, place=place, reason=choice.why)
        for place, choice in enumerate(chosen)
    ]


# --- storing --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Journal:
    """The store, as the tuner sees it."""

    store: Store
    run: str
    numbers: dict[tuple[str, int], int] = dataclasses.field(default_factory=dict)

    def prepared(self, prepared: Prepared) -> None:
        self.store.add_prepared(self.run, prepared)

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        key = (candidate.identity, sample.launch)
        number = self.numbers.get(key, 0)
        self.store.add_sample(self.run, candidate.identity, number, sample)
        self.numbers[key] = number + 1

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        self.store.add_outcome(
            self.run, measurement.candidate, measurement.status, measurement.detail, checksum
        )


def _study_name(setup: Setup, options: Options, results: Store) -> str:
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


def _opening(setup: Setup, name: str, options: Options, results: Store) -> str:
    """What a run begins or continues; names an unfinished study that it leaves alone."""
    if options.resume:
        return f"continue study {name}"
    before = results.latest_study(setup.name)
    states = [run.state for run in results.load_study(before).runs] if before else []
    left = states and states[-1] != "done"
    return f"begin study {name}" + (f" ({before} is unfinished: see --resume)" if left else "")


def _text(setup: Setup) -> str:
    """The configuration, word for word, and digests of what it names."""
    names = [setup.skeleton.definition, *(p.definition for p in setup.problems)]
    space = hashlib.sha256(repr(setup.space).encode()).hexdigest()[:12]
    text = Path(setup.source).read_text(encoding="utf-8")
    return f"{text}\n# definitions: {' '.join(names)} {space}\n"


# --- reading back ---------------------------------------------------------------------------


def study(name: str, store: str) -> Result:
    """A study of a store by name, the latest when the name is empty."""
    with Store.open(store, create=False) as results:
        wanted = name or results.latest_study()
        if wanted is None:
            raise InputError(
                Fault(where=results.shown, found="no study", expected="a study", hint="tune first")
            )
        return result_of(results.load_study(wanted))


def result_of(record: StudyRecord) -> Result:
    return Result(record=record, evaluation=evaluate(record))


def write_report(result: Result, path: Path) -> Path:
    """Write the HTML page; InputError where that is not possible.

    With the dissections that are kept of its candidates on the machines of its runs.
    """
    machines = list(dict.fromkeys(run.machine_identity for run in result.record.runs))
    kept = [
        found
        for problem in result.evaluation.problems
        for row in problem.rows
        for machine in machines
        if (found := dissections.kept(machine, row.candidate.identity)) is not None
    ]
    return page.write(result.evaluation, path, kept)


def require_success(result: Result) -> None:
    """Raise WorkFailed when not a single candidate ran."""
    statuses = {m.status for run in result.record.runs for m in run.measurements}
    if statuses and "ok" not in statuses:
        raise WorkFailed(f"no candidate ran: {', '.join(sorted(statuses))}")
