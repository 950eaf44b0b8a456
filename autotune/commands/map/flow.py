"""The decision map of a config: predicted everywhere, measured where the winner is unsure."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.commands.map import map_times
from autotune.commands.map.map_grid import (
    MapGrid,
    MapSubject,
    check_memory,
    grid,
    kinds,
    teams,
    widened,
    with_problem,
)
from autotune.commands.map.map_request import MapRequest
from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.commands.rank.ranked_space import RankedSpace, rank_space
from autotune.commands.tune.moving import with_measured_anywhere
from autotune.commands.tune.preflight import check_launchers, conditions_of
from autotune.commands.tune.provenance import (
    identity_of,
    launching,
    study_origin,
    versions,
)
from autotune.domain.decision_map import DecisionMap
from autotune.domain.results import Measurement, Prediction
from autotune.domain.setup import Setup
from autotune.errors import Fault, InputError, StoreError, WorkFailed
from autotune.files.store import MAP, RunFacts, RunRecord, Store
from autotune.measuring.candidates.base import Measurer
from autotune.measuring.conditions.host_lock import HostLock
from autotune.progress import Clock, Progress, silent
from autotune.tuning import Bench, Chosen, TuningPlan, tune_problem
from autotune.tuning.maps.explore import Aim, Explorer
from autotune.tuning.maps.finish import Facts, finish
from autotune.tuning.maps.map_posterior import MapObservations
from autotune.tuning.maps.visits import Visit
from autotune.workloads.base import Workload

_ROUNDS = 4
"""A visit may have so many times the rounds of the config: what was disturbed is repeated."""
_BUSY = 3
"""After so many visits without a single sample the machine is taken for busy."""
_TAKEN = "other processes take the cores: no launch ended in time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """The maps of a study, with the name of the study."""

    study: str
    maps: tuple[DecisionMap, ...]


def make(workload: Workload, options: MapRequest, store: str, progress: Progress) -> Mapped:
    """Make one map for each kind of problem of the config.

    Every sample is stored when it is taken, and the map after each visit, so an interrupt loses at
    most one sample. InputError for axes that make no map.
    """
    setup = workload.setup
    started = time.monotonic()
    aim = _aim(setup, options)
    subjects = kinds(with_problem(setup, options.problem), options.size_axis())
    threads = teams(setup, options.threads, uncalibrated_machine(setup).cores)
    for kind in subjects:
        widened(setup, kind, threads)  # sizes that a problem cannot have are told at once
        check_memory(kind)
    workload.check()
    with Store.open(store) as results:
        name = _study(workload, options, results)
        check_launchers(setup)
        progress(f"map of study {name}", 0, 1)
        remaining = options.budget_evaluations
        maps: list[DecisionMap] = []
        deadline = started + (options.budget_seconds or float("inf"))
        try:
            for number, kind in enumerate(subjects):
                # what is left is shared by the maps that are left
                share = len(subjects) - number
                work = _Work(
                    workload=workload,
                    options=options,
                    store=results,
                    study=name,
                    deadline=_until(deadline, share),
                    evaluations=None if remaining is None else -(-remaining // share),
                    progress=progress,
                )
                chart, used = work.run(kind, threads, aim)
                maps.append(chart)
                remaining = None if remaining is None else max(0, remaining - used)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(name) from None
        return Mapped(study=name, maps=tuple(maps))


def require_map(mapped: Mapped) -> None:
    """Raise WorkFailed if a map has neither predictions nor measurements."""
    for chart in mapped.maps:
        if not chart.evaluations and not chart.engine:
            failed = sorted({failure for cell in chart.cells for failure in cell.failed.values()})
            why = ", ".join(failed) or chart.stopped
            raise WorkFailed(f"{chart.label}: no map: nothing is predicted, nothing ran: {why}")


def require_success(mapped: Mapped) -> None:
    """Raise WorkFailed if candidates were tried and none ran."""
    require_map(mapped)
    for chart in mapped.maps:
        if any(cell.measured for cell in chart.cells):
            continue
        statuses = sorted({failure for cell in chart.cells for failure in cell.failed.values()})
        if statuses or chart.stopped == _TAKEN:
            raise WorkFailed(f"{chart.label}: no candidate ran: {', '.join(statuses) or _TAKEN}")


def _aim(setup: Setup, options: MapRequest) -> Aim:
    try:
        return Aim(tolerance=options.loss(), seed=setup.selection.seed)
    except ValueError as error:
        raise InputError(Fault(where="--tolerance", found=str(error))) from error


def _until(deadline: float, share: int) -> float:
    now = time.monotonic()
    return now + (deadline - now) / share


def _study(workload: Workload, options: MapRequest, results: Store) -> str:
    """The latest study of the config if its content is unchanged, else a new one."""
    setup = workload.setup
    name = results.latest_study(setup.name)
    if options.resume and name is None:
        raise InputError(
            Fault(
                where="--resume",
                found=f"no study of {setup.name} in {results.shown}",
                expected="a map that was begun",
                hint="run without --resume, or name its --store",
            )
        )
    origin = study_origin(workload)
    if name is not None:
        try:
            results.begin_study(name, origin)
            return name
        except StoreError:
            if options.resume:
                raise
    name = results.unused_name(setup.name)
    results.begin_study(name, origin)
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """Everything needed to make one map: setup, options, store, and the budget."""

    workload: Workload
    options: MapRequest
    store: Store
    study: str
    deadline: float
    evaluations: int | None
    progress: Progress

    @property
    def setup(self) -> Setup:
        """The setup of the map."""
        return self.workload.setup

    def run(self, kind: MapSubject, threads: Sequence[int], aim: Aim) -> tuple[DecisionMap, int]:
        """The map of one subject, and how many contenders were measured for it in this run."""
        started = time.monotonic()
        wide = self.workload.at(widened(self.setup, kind, threads))
        ranked = self._with_measured(rank_space(wide, self.progress))
        for line in (*ranked.machine_notes, *_drawn_notes(ranked)):
            self.progress(line, 0, 1)
        map_grid = grid(kind, threads, ranked)
        conditions = {
            **conditions_of(ranked, self.progress),
            "purpose": MAP,
            "launching": launching(wide.setup),
        }
        record = self.store.load_study(self.study)
        earlier = map_times.recorded_times(
            [run for run in record.runs if self._holds(run, ranked)],
            map_grid.places(),
            _ROUNDS * self.setup.measuring.rounds,
        )
        explorer = Explorer(map_grid.prior, aim, _costs(map_grid, self.setup))
        explorer.tell(earlier.seen, _failures(earlier))
        facts = RunFacts(
            machine=ranked.machine,
            machine_identity=identity_of(ranked.machine),
            versions=versions(wide),
            conditions=conditions,
        )
        run = self.store.begin_run(self.study, facts)
        visit_loop = _VisitLoop(
            work=self,
            grid=map_grid,
            explorer=explorer,
            earlier=earlier,
            measurer=wide.measurer(ranked.machine),
            journal=map_times.VisitJournal(self.store, run, _ROUNDS * self.setup.measuring.rounds),
            clock=ranked.clock,
        )
        state = "interrupted"
        try:
            chart = visit_loop.run()
            state = "done" if time.monotonic() < self.deadline else "budget"
        except KeyboardInterrupt:
            visit_loop.keep("it was interrupted")
            raise
        finally:
            ranked.clock.timed("wall", started)
            self.store.end_run(run, state=state, timings=ranked.clock.stages)
        return chart, visit_loop.used

    def _with_measured(self, ranked: RankedSpace) -> RankedSpace:
        """The ranked candidates; of problems that have more than can be listed at every size also
        those that a study measured at any size.
        """
        if not ranked.enumerated.sources:
            return ranked
        return with_measured_anywhere(ranked, self.store.other_candidates(()))

    def _holds(self, run: RunRecord, ranked: RankedSpace) -> bool:
        """Whether a map may use the times of an earlier run.

        Machine, compilers and tools must be the same. Times of an earlier map are used only with
        --resume.
        """
        left_alone = run.for_map and not self.options.resume
        now = versions(ranked.workload)
        same = all(run.versions.get(name) == now.get(name) for name in ("compilers", "tools"))
        return same and not left_alone and run.machine_identity == identity_of(ranked.machine)


def _drawn_notes(ranked: RankedSpace) -> tuple[str, ...]:
    """A line for the user where a map has a part of all candidates."""
    counts = [source.count for source in ranked.enumerated.sources.values()]
    if not counts:
        return ()
    most = max(counts, key=lambda count: count.value)
    return (
        f"the map has some of {most} candidates: the baseline, some drawn at random, and those that"
        " studies measured; tune a few sizes before it, so that it has what is fast there",
    )


@dataclass(slots=True, kw_only=True)
class _VisitLoop:
    """The loop of visits that makes one map; its state changes with every visit."""

    work: _Work
    grid: MapGrid
    explorer: Explorer
    earlier: map_times.MapTimes
    measurer: Measurer
    journal: map_times.VisitJournal
    clock: Clock
    used: int = 0
    _idle: int = 0

    def run(self) -> DecisionMap:
        """Visit cells until another visit gains nothing or the budget is spent; the final map."""
        number = self.earlier.visits
        while True:
            visit = self._next()
            if isinstance(visit, str):
                return self.keep(visit)
            self._show(visit)
            self._measure(visit, number)
            number += 1
            self.keep("it is not finished")

    def keep(self, stopped: str) -> DecisionMap:
        """Store the map as it is now, unless it has neither predictions nor measurements."""
        chart = finish(self.explorer, self._facts(), stopped)
        if not chart.evaluations and not chart.engine:
            return chart
        identities = {cell.winner.candidate for cell in chart.cells}
        identities |= {cell.merged.candidate for cell in chart.cells}
        rows = self.grid.candidates
        kept = [candidate for row in rows for candidate in row if candidate.identity in identities]
        self.work.store.add_unchosen_candidates(kept)
        self.work.store.add_map(self.work.study, chart)
        return chart

    def _next(self) -> Visit | str:
        if time.monotonic() >= self.work.deadline:
            return "the budget of seconds is spent"
        remaining = None if self.work.evaluations is None else self.work.evaluations - self.used
        if remaining is not None and remaining < 2:
            return "the budget of evaluations is spent"
        if self._idle >= _BUSY:
            return _TAKEN
        visit = self.explorer.ask()
        if isinstance(visit, str) or remaining is None:
            return visit
        return Visit(visit.cell, visit.contenders[:remaining], visit.gain)

    def _measure(self, visit: Visit, number: int) -> None:
        rows = [self.grid.candidates[k][visit.cell] for k in visit.contenders]
        self.work.store.add_unchosen_candidates(rows)
        self.journal.begin(number)
        chosen = [
            Chosen(candidate, self._expected(k, visit.cell), why)
            for k, candidate, why in zip(visit.contenders, rows, _whys(visit), strict=True)
        ]
        self.journal.chosen(chosen)
        bench = Bench(
            measurer=self.measurer,
            journal=self.journal,
            progress=silent,
            clock=self.clock,
            lock=HostLock(self.work.progress, self.work.deadline),
        )
        plan = TuningPlan(
            measuring=self.work.setup.measuring,
            deadline=self.work.deadline,
            seed=self.work.setup.selection.seed + number,
        )
        by_identity = {
            candidate.identity: k for k, candidate in zip(visit.contenders, rows, strict=True)
        }
        measurements = tune_problem(chosen, bench, plan)
        self.used += len(measurements)
        self._learn(visit.cell, number, {by_identity[m.candidate]: m for m in measurements})

    def _learn(self, cell: int, visit: int, measurements: dict[int, Measurement]) -> None:
        seen, failed = [], []
        for contender, measurement in measurements.items():
            time_of = map_times.log_time(measurement.samples)
            if measurement.status == "ok" and time_of is not None:
                seen.append(MapObservations(contender, cell, *time_of, visit))
            elif measurement.status == "contended":
                self.explorer.blocked[contender, cell] = True
            else:
                self.earlier.failed[contender, cell] = measurement.status
                everywhere = map_times.failed_everywhere(measurement)
                failed.append((contender, None if everywhere else cell))
        self._idle = 0 if seen or failed else self._idle + 1
        self.explorer.tell(seen, failed)

    def _expected(self, contender: int, cell: int) -> Prediction:
        prediction = self.grid.predictions[contender][cell]
        assert prediction is not None, "only legal contenders are measured"
        return prediction

    def _show(self, visit: Visit) -> None:
        size, threads = self.grid.cells.at(visit.cell)
        names = ", ".join(self.grid.contenders[k].label for k in visit.contenders)
        bounds = self.explorer.bounds
        total = self.work.evaluations or self.grid.prior.legal.sum()
        self.work.progress(
            f"measure the map of {self.grid.kind.label}",
            self.used,
            int(total),
            f"loss below {100 * float(bounds.mean()):.0f} % (mean),"
            f" {100 * float(bounds.max()):.0f} % (worst); now"
            f" {self.grid.kind.size_name} = {size}, T = {threads}: {names}",
        )

    def _facts(self) -> Facts:
        cells = self.grid.cells
        at = [self.grid.candidates[0][c].problem for c in range(len(cells))]
        return Facts(
            label=self.grid.kind.label,
            title=self.grid.kind.problem.title,
            size_name=self.grid.kind.size_name,
            engine=self.grid.engine,
            contenders=self.grid.contenders,
            left_out=self.grid.left_out,
            problems=tuple(problem.label for problem in at),
            n=tuple(problem.n for problem in at),
            candidates=[[candidate.identity for candidate in row] for row in self.grid.candidates],
            failed=self.earlier.failed,
            goal=self.grid.kind.problem.facts().goal,
        )


def _failures(earlier: map_times.MapTimes) -> list[tuple[int, int | None]]:
    single = [(k, c) for k, c in earlier.failed]
    return [*single, *((k, None) for k in sorted(earlier.everywhere))]


def _whys(visit: Visit) -> list[str]:
    rest = ["may be faster: the border is unsure here"] * (len(visit.contenders) - 1)
    return ["wins here so far", *rest]


def _costs(grid: MapGrid, setup: Setup) -> list[float]:
    """Estimated seconds of a visit, for each cell."""
    m = setup.measuring
    costs = []
    for c in range(len(grid.cells)):
        times = [p.seconds for row in grid.predictions if (p := row[c]) and p.seconds]
        step = min(times, default=0.0)
        costs.append(1.0 + m.rounds * (m.samples + 2) * max(m.min_sample, step))
    return costs
