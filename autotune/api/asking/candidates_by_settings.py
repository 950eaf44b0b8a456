"""The candidates of a study of ask and tell: listed or drawn, and found by their settings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from autotune.api.asking.user_program import AskedProgram
from autotune.api.asking.user_workload import AskedWorkload, Model
from autotune.commands.rank.ranked_space import RankedSpace
from autotune.domain.machine import Machine
from autotune.domain.misfit import Misfit
from autotune.domain.parameter_values import misfit_of, same
from autotune.domain.problem import ProgramProblem
from autotune.domain.ranking import rank
from autotune.domain.results import Prediction
from autotune.domain.variant import NO_COMPILER, Candidate, ExecutionLayout, Value
from autotune.errors import Fault, InputError, one_of, unknown_name
from autotune.files.store import CandidateRecord
from autotune.measuring.host import detect
from autotune.progress import silent
from autotune.workloads.promising import promising

Settings = Mapping[str, object]
"""Values of parameters; of arguments and threads where the study has several."""


@dataclass(frozen=True, slots=True)
class AskedSpace:
    """What a study chooses from."""

    ranked: RankedSpace
    workload: AskedWorkload
    """The workload, whose candidates the user runs."""
    problems: tuple[ProgramProblem, ...]
    """The problems of the study, numbered as in the search."""

    @property
    def threads(self) -> tuple[int, ...]:
        """The numbers of threads that candidates have."""
        return tuple(int(layout.threads) for layout in self.ranked.setup.layouts)

    def baseline(self, number: int) -> Candidate:
        """The candidate of a problem that others are compared with."""
        problem = self.problems[number]
        return self.workload.baseline(problem, max(self.threads), NO_COMPILER)

    def predicted(self, candidate: Candidate) -> Prediction:
        """The prediction of the model of the study."""
        with self.workload.predictor("", self.ranked.machine, silent) as engine:
            return engine.predict([candidate])[0]

    def number(self, candidate: Candidate) -> int:
        """The number of the problem of a candidate."""
        return [problem.key for problem in self.problems].index(candidate.problem.key)

    def stored(self, record: CandidateRecord) -> Candidate | None:
        """The candidate of a record; None where the study has no such candidate."""
        settings = {**record.problem.arguments, **record.parameters}
        try:
            candidate = self.candidate({**settings, "threads": record.layout.threads})
        except InputError:
            return None
        return candidate if candidate.identity == record.identity else None

    def problem(self, settings: Settings) -> int:
        """The number of the problem with these arguments; InputError where none has them, or the
        study has several and the settings do not name one.
        """
        given = {name: settings[name] for name in self.problems[0].arguments if name in settings}
        fitting = [
            number
            for number, problem in enumerate(self.problems)
            if all(problem.arguments[name] == value for name, value in given.items())
        ]
        if len(fitting) == 1:
            return fitting[0]
        shown = [", ".join(f"{k}={v}" for k, v in p.arguments.items()) for p in self.problems]
        raise InputError(
            Fault(
                where="problem",
                found=", ".join(f"{k}={v}" for k, v in given.items()) or "no arguments",
                expected=f"those of a problem of the study: {'; '.join(shown)}",
            )
        )

    def require_arguments(self, settings: Settings) -> None:
        """Raise InputError for a name that is no argument of the problems."""
        names = list(self.problems[0].arguments)
        faults = [unknown_name("problem", "argument", n, names) for n in settings if n not in names]
        if faults:
            raise InputError(*faults)

    def candidate(self, settings: Settings) -> Candidate:
        """The candidate with these settings; InputError where there is none."""
        if not isinstance(settings, Mapping):
            raise InputError(
                Fault(
                    where="params",
                    found=f"a value of type {type(settings).__name__}",
                    expected='a trial, its number, or a dict such as {"tile": 16}',
                )
            )
        problem = self.problems[self.problem(settings)]
        values = self._values(settings, problem)
        threads = self._threads(settings)
        violated = problem.program.violated(values, {**problem.arguments, "threads": threads})
        if violated is not None:
            shown = ", ".join(f"{name}={value}" for name, value in values.items())
            raise InputError(
                Fault(
                    where="params",
                    found=f"{shown}: {violated.words}",
                    expected=violated.require.text,
                )
            )
        return Candidate(
            variant=self.workload.variant(values),
            problem=problem,
            build=NO_COMPILER,
            layout=ExecutionLayout(threads=threads),
        )

    def _values(self, settings: Settings, problem: ProgramProblem) -> dict[str, Value]:
        """A value of every parameter as the study has it: 64 for numpy's 64, say."""
        domains = problem.program.domains
        names = [*domains, *problem.arguments, "threads"]
        faults = [
            unknown_name("params", "parameter", name, names)
            for name in settings
            if name not in names
        ]
        values: dict[str, Value] = {}
        for name, domain in domains.items():
            if name not in settings and None not in domain:
                some = one_of([str(value) for value in domain[:12]])
                faults.append(Fault(where="params", found=f"no value of {name}", expected=some))
                continue
            stated = _plain(settings.get(name))
            match = [v for v in domain if same(v, stated)] or [
                v for v in domain if v == stated and not isinstance(stated, bool)
            ]
            if match:
                values[name] = match[0]
            else:
                faults.append(_fault(misfit_of((name,), name, stated, domain)))
        if faults:
            raise InputError(*faults)
        return values

    def _threads(self, settings: Settings) -> int:
        given = settings.get("threads", self.threads[0] if len(self.threads) == 1 else None)
        if given in self.threads:
            return int(str(given))
        raise InputError(
            Fault(
                where="params",
                found="no number of threads" if given is None else f"threads={given}",
                expected=f"threads: {one_of([str(count) for count in self.threads])}",
            )
        )


def user_space(program: AskedProgram, machine: str | None, model: Model | None) -> AskedSpace:
    """The candidates of a study, with the predictions of its model; InputError for a description
    that makes no sense.

    ``machine``: what the user runs on; None: this host.
    """
    if model is not None and not callable(model):
        found = f"a value of type {type(model).__name__}"
        expected = "a function from a dict of settings to seconds"
        raise InputError(Fault(where="model", found=found, expected=expected))
    host = detect.detect()
    setup = program.setup(None if machine is None else named_machine(host, machine))
    workload = AskedWorkload(setup, model)
    cores = host.cores if machine is None else max(program.threads, default=1)
    enumerated = workload.candidates(cores)
    with workload.predictor("", host, silent) as engine:
        seed = program.seed if workload.predicted else None
        legal, predictions = promising(enumerated, engine.predict, seed)
    return AskedSpace(
        RankedSpace(
            workload=workload,
            machine=setup.machine or host,
            enumerated=replace(enumerated, legal=legal),
            rankings=tuple(rank(legal, predictions)),
        ),
        workload,
        cast("tuple[ProgramProblem, ...]", setup.problems),
    )


def named_machine(host: Machine, title: str) -> Machine:
    """A machine of which only the title is known; its figures are those of the host."""
    return replace(host, name="-".join(title.split()), title=title, calibration=None)


def _plain(value: object) -> Value:
    """A value without its NumPy type."""
    item = getattr(value, "item", None)
    plain = item() if callable(item) else value
    return plain if isinstance(plain, str | int | float | bool) else None


def _fault(misfit: Misfit) -> Fault:
    return Fault(where="params", found=misfit.found, expected=misfit.expected, hint=misfit.hint)
