"""Ask and tell: a study of those who run candidates themselves, in batches or on a cluster.

import autotune as at

study = at.Study({"tile": [16, 32, 64], "unroll": range(1, 9)}, name="matmul")
while not study.finished:
    trial = study.ask()
    study.tell(trial, time=measure(**trial.params))
study.best.params
"""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from autotune.api.asking.candidates_by_settings import Settings, user_space
from autotune.api.asking.rebuilt_search import RebuiltSearch
from autotune.api.asking.study_runs import StudyRuns, still_running
from autotune.api.asking.told_results import Number, ToldResults, told_samples
from autotune.api.asking.user_program import Objectives, StudySettings, user_program
from autotune.api.asking.user_workload import Model
from autotune.api.parameters import Parameters
from autotune.api.study_result import MeasuredTrial, StudyResult
from autotune.commands.options import DEFAULT_STORE
from autotune.commands.tune.study_run import result_of
from autotune.domain.results import STATUSES, Measurement, Sample, Status
from autotune.domain.variant import Candidate, Value
from autotune.errors import Fault, InputError, WorkFailed, unknown_name
from autotune.files.store import RunRecord, Store, StudyRecord
from autotune.statistics.launch_times import time_of
from autotune.tuning.base import Chosen
from autotune.tuning.study_search import Hint
from autotune.workloads.program.measuring.command_line import program_problem

if TYPE_CHECKING:
    import pandas


class NothingLeft(WorkFailed):
    """Every candidate of a study was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTrial:
    """A candidate that its user is to run."""

    number: int
    """From 0, in the order in which this study object met them."""
    params: Mapping[str, Value]
    """A value of every parameter."""
    problem: Mapping[str, Value]
    """The arguments of its problem."""
    threads: int
    candidate: str
    """Its id in the store."""
    why: str
    """Why it was chosen."""
    predicted: float | None = None
    """Seconds by the model of the study; None where there is none."""

    @property
    def settings(self) -> dict[str, Value]:
        """Parameters, arguments and threads in one dict, by which another process can tell it."""
        return {**self.problem, **self.params, "threads": self.threads}


class Study:
    """Candidates to run, asked for one after the other or many at once, and told when they ran.

    Everything is stored when it is told; a study that is opened again under its name goes on, and
    asks once more for what a process that ended had asked and not told. Several processes may work
    on one study: each sees what the others told, and asks for other candidates. Safe to use from
    several threads.
    """

    def __init__(
        self,
        parameters: Parameters,
        *,
        name: str = "study",
        restrictions: Sequence[object] | str = (),
        objectives: Objectives = "time",
        store: str | Path = DEFAULT_STORE,
        model: Model | None = None,
        **further: Unpack[StudySettings],
    ) -> None:
        """Begin a study, or continue the one of this name in the store.

        ``parameters``, ``restrictions``: as of ``at.tune``. ``objectives``: what is told, the one
        that counts first: ``"time"``, ``["time", "energy"]``, ``{"speed": "more"}``. ``model``:
        predicted seconds of a dict of all settings.

        Further keywords: ``problems``: arguments of what is computed, such as ``[{"n": 512}, {"n":
        4096}]``; ``size`` names the one that counts as size. ``threads``: numbers of threads, in
        which candidates differ. ``baseline``: runs first, and others are compared with it.
        ``evaluations``: so many candidates are asked for before the study is finished.
        ``machine``: what it runs on, if not this host; ``conditions``: what else is kept with the
        results, such as clocks. ``sampler``: ``model``, or one of Optuna's; ``seed``: its seed.

        InputError for what makes no sense, with all mistakes at once.
        """
        program = user_program(
            name, parameters, restrictions=restrictions, objectives=objectives, further=further
        )
        self.name = name
        self.evaluations = further.get("evaluations")
        self._lock = threading.RLock()
        self._results = ToldResults()
        self._taken: dict[str, Candidate] = {}
        """Candidates that were asked for or told, by identity."""
        self._trials: dict[str, AskedTrial] = {}
        """Those that this object has met, by identity, in the order of their numbers."""
        self._again: dict[str, Candidate] = {}
        """Candidates that a process that ended had asked for and not told."""
        self._turn = 0
        self._space = user_space(program, further.get("machine"), model)
        self._goal = next(iter(program.better))
        self._store = Store.open(str(store))
        self._runs = StudyRuns(
            store=self._store,
            name=name,
            text=program.text,
            conditions=dict(further.get("conditions", {})),
        )
        try:
            self._runs.begin_study()
            self._search = RebuiltSearch(
                space=self._space, results=self._results, taken=self._taken
            )
            self._follow()
        except BaseException:
            self._store.close()
            raise

    # --- asking ---------------------------------------------------------------------------

    def ask(self, **problem: Value) -> AskedTrial:
        """The next candidate to run; of several problems of the one with these arguments.

        Without arguments problems take turns. NothingLeft where every candidate was asked for.
        """
        with self._lock:
            self._follow()
            for number in self._numbers(problem):
                chosen = self._next(number)
                if chosen is not None:
                    return self._handed_out(chosen)
        raise NothingLeft(f"study {self.name}: every candidate was asked for")

    def ask_several(self, count: int, **problem: Value) -> list[AskedTrial]:
        """At most ``count`` candidates to run side by side; fewer where fewer are left."""
        trials: list[AskedTrial] = []
        with self._lock:
            while len(trials) < count:
                try:
                    trials.append(self.ask(**problem))
                except NothingLeft:
                    break
        return trials

    @property
    def finished(self) -> str:
        """Why no more is worth running, in words; empty while there is. More may still be asked."""
        with self._lock:
            self._follow()
            if self.evaluations is not None and len(self._taken) >= self.evaluations:
                return f"the budget of {self.evaluations} evaluations is used up"
            if self._again:
                return ""
            reasons = [self._search.finished(k) for k in range(len(self._space.problems))]
        return "" if None in reasons else "; ".join(dict.fromkeys(filter(None, reasons)))

    @property
    def outstanding(self) -> list[AskedTrial]:
        """What was asked for and not told, by this process or others."""
        with self._lock:
            self._follow()
            done = {*self._results.candidates}
            return [trial for identity, trial in self._trials.items() if identity not in done]

    # --- telling --------------------------------------------------------------------------

    def tell(
        self,
        trial: AskedTrial | Settings | int,
        value: Number | None = None,
        *,
        failed: str | None = None,
        status: Status = "crashed",
        conditions: Mapping[str, float | int | str] | None = None,
        **values: Number,
    ) -> None:
        """Tell what a candidate took: a number, or a list of samples of one launch.

        ``trial``: what was asked for, its number, or its settings as a dict, which need not have
        been asked for. ``value`` is that of the objective that counts; others by name:
        ``tell(trial, time=0.2, energy=31.0)``. ``failed``: why it gave no result, with a
        ``status`` such as ``wrong-result``. A candidate may be told again and again: the more
        often, the surer its time. InputError for what cannot be, before anything is stored.
        """
        with self._lock:
            candidate = self._candidate(trial)
            given = self._checked(value, values, failed, status)
            self._follow()
            run = self._runs.journal(self._space).run
            before = self._results.measurements.get((run, candidate.identity))
            samples = before.samples if before else ()
            new: list[Sample] = []
            if failed is None:
                launch = 1 + max((sample.launch for sample in samples), default=-1)
                new = told_samples(
                    candidate.problem.facts(), given, launch=launch, conditions=conditions or {}
                )
                status, failed = ("ok", "")
                if before is not None and before.status != "ok":
                    status, failed = before.status, before.detail  # it failed before: unreliable
            self._keep(
                candidate,
                new,
                Measurement(
                    candidate=candidate.identity, run=run, status=status, detail=failed,
                    samples=(*samples, *new),
                ),
            )  # fmt: skip

    def hint(self, params: Settings, seconds: float, *, sigma: float = 0.1) -> None:
        """Say what a candidate took elsewhere: on another machine, or in an earlier version.

        It guides the search and is no result: the candidate may still be asked for. ``sigma``:
        standard deviation of the logarithm of the seconds. Hints are not stored.
        """
        if not (_is_number(seconds) and seconds > 0 and _is_number(sigma) and sigma >= 0):
            raise InputError(
                Fault(
                    where="hint",
                    found=f"{seconds!r} s with sigma {sigma!r}",
                    expected="seconds above 0 and a sigma of at least 0",
                )
            )
        with self._lock:
            candidate = self._space.candidate(params)
            hint = Hint(candidate=candidate, seconds=float(seconds), sigma=float(sigma))
            self._search.hint(hint)

    # --- results --------------------------------------------------------------------------

    @property
    def record(self) -> StudyRecord:
        """All that is stored of the study."""
        return self._store.load_study(self.name)

    @property
    def result(self) -> StudyResult:
        """The study as it stands, evaluated as ``autotune compare`` does: frames, figures, page."""
        return StudyResult(result_of(self.record), self._store.shown)

    @property
    def best(self) -> MeasuredTrial:
        """The fastest of a study of one problem; WorkFailed where nothing ran."""
        return self.result.best

    @property
    def best_params(self) -> dict[str, Value]:
        """The parameters of the fastest."""
        return self.result.best_params

    @property
    def trials(self) -> tuple[MeasuredTrial, ...]:
        """Everything that was told, the best first, failures last."""
        return self.result.trials

    def __str__(self) -> str:
        return str(self.result)

    def frame(self) -> "pandas.DataFrame":
        """One row per candidate that was told."""
        return self.result.frame()

    def report(self, path: str | Path) -> Path:
        """Write the page of the study."""
        return self.result.report(path)

    def close(self) -> None:
        """End the run and close the store; the study can be opened again under its name."""
        with self._lock:
            self._runs.end()
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- inside ---------------------------------------------------------------------------

    def _numbers(self, problem: Mapping[str, Value]) -> list[int]:
        """The problems to ask for, in order; they take turns, those that are finished last."""
        if problem:
            self._space.require_arguments(problem)
            return [self._space.problem(problem)]
        count = len(self._space.problems)
        order = [(self._turn + k) % count for k in range(count)]
        self._turn += 1
        if count > 1:
            order.sort(key=lambda number: self._search.finished(number) is not None)
        return order

    def _next(self, number: int) -> Chosen | None:
        for identity, candidate in self._again.items():
            if self._space.number(candidate) == number:
                del self._again[identity]
                return self._search.chosen(candidate, "asked for before, and never told")
        return self._search.propose(number)

    def _handed_out(self, chosen: Chosen) -> AskedTrial:
        self._runs.journal(self._space).chosen([chosen])
        identity = chosen.candidate.identity
        self._again.pop(identity, None)
        self._taken[identity] = chosen.candidate
        return self._trial(chosen)

    def _trial(self, chosen: Chosen) -> AskedTrial:
        """The trial of a candidate; always the same one."""
        candidate = chosen.candidate
        return self._trials.setdefault(
            candidate.identity,
            AskedTrial(
                number=len(self._trials),
                params=dict(candidate.variant.parameters),
                problem=dict(program_problem(candidate).arguments),
                threads=candidate.threads,
                candidate=candidate.id,
                why=chosen.why,
                predicted=chosen.prediction.seconds,
            ),
        )

    def _candidate(self, trial: AskedTrial | Settings | int) -> Candidate:
        """The candidate that is told of; InputError where there is none."""
        if isinstance(trial, AskedTrial):
            return self._space.candidate(trial.settings)
        if isinstance(trial, int):
            if 0 <= trial < len(self._trials):
                return self._taken[[*self._trials][trial]]
            raise InputError(
                Fault(
                    where="tell",
                    found=f"trial {trial}",
                    expected=f"a number below {len(self._trials)}, so many were asked for here",
                    hint="a trial of another process is told by its settings, a dict",
                )
            )
        return self._space.candidate(trial)

    def _checked(
        self,
        value: Number | None,
        values: Mapping[str, Number],
        failed: str | None,
        status: Status,
    ) -> dict[str, Number]:
        """What was told by name; InputError for a failure with values, or neither of both."""
        given = {**({} if value is None else {self._goal: value}), **values}
        where = f"tell of {self.name}"
        if value is not None and self._goal in values:
            raise InputError(
                Fault(where=where, found=f"{self._goal} twice", expected="it once, by name or not")
            )
        if status not in STATUSES or status == "ok":
            raise InputError(unknown_name(where, "status", status, [*STATUSES[1:]]))
        if failed is not None and (given or not isinstance(failed, str)):
            raise InputError(
                Fault(
                    where=where,
                    found=f"failed={failed!r}" + (f" and {', '.join(given)}" if given else ""),
                    expected="failed with a text, or values",
                    hint="a candidate with a wrong result has no time",
                )
            )
        return given

    def _keep(self, candidate: Candidate, new: Sequence[Sample], result: Measurement) -> None:
        """Store samples and outcome of a candidate, and learn from them."""
        journal = self._runs.journal(self._space)
        chosen = self._search.chosen(candidate, "told without being asked for")
        journal.chosen([chosen])
        for sample in new:
            journal.sample(candidate, sample)
        journal.outcome(result, None)
        self._again.pop(candidate.identity, None)
        self._taken[candidate.identity] = candidate
        self._trial(chosen)
        self._results.add(result)
        self._search.learn(candidate)

    def _follow(self) -> None:
        """Take in what other runs of the study have stored since the last time."""
        news = self._runs.news()
        if news is None:
            return
        record, runs = news
        records = {stored.identity: stored for stored in record.candidates}
        machine = self._runs.machine(self._space)
        for run in runs:
            running = still_running(run)
            for identity in _names_of(run):
                candidate = self._space.stored(records[identity])
                if candidate is not None:
                    self._take_in(run, candidate, running, run.machine_identity == machine)

    def _take_in(self, run: RunRecord, candidate: Candidate, running: bool, here: bool) -> None:
        """What another run says of a candidate: a result, a hint, or that it runs or was lost."""
        identity = candidate.identity
        measurement = run.measurement(identity)
        if measurement is not None and here:
            self._results.add(measurement)
        elif measurement is not None:
            if measurement.status == "ok":
                hint = Hint(candidate=candidate, seconds=time_of(measurement.samples))
                self._search.hint(hint)
            return
        elif identity in self._taken or not here:
            return
        elif not running:
            self._again[identity] = candidate
            return
        self._again.pop(identity, None)
        self._taken[identity] = candidate
        self._trial(self._search.chosen(candidate, "asked for by another process"))
        self._search.learn(candidate)


def _names_of(run: RunRecord) -> list[str]:
    """The candidates that a run asked for or was told of, in its order."""
    chosen = [choice.candidate for choice in run.choices]
    return list(dict.fromkeys([*chosen, *(m.candidate for m in run.measurements)]))


def _is_number(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)  # type: ignore[arg-type]
