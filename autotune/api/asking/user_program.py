"""The setup of a study whose candidates its user runs: a program that autotune never starts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import UnionType
from typing import TypedDict

import yaml

from autotune.api.parameters import (
    Parameters,
    parameter_space,
    parameters_notation,
    restrictions_notation,
)
from autotune.domain.family import PROGRAM
from autotune.domain.machine import Machine
from autotune.domain.metric import ENERGY, MEMORY, TIME, Direction
from autotune.domain.misfit import MisfitError
from autotune.domain.parameter_domain import Domain, flattened
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program, Template, digest
from autotune.domain.readings import PrintedMetric
from autotune.domain.setup import SAMPLERS, Layout, Searching, Selection, Setup
from autotune.domain.variant import NO_COMPILER, Value
from autotune.errors import Fault, InputError, describe, nearest, one_of, unknown_name
from autotune.workloads.program.legal_combinations import LegalCombinations

Objectives = str | Sequence[str] | Mapping[str, Direction]
"""Names of what is told, the first of which counts; with ``less`` or ``more`` where more of one is
better."""
BETTER: tuple[Direction, ...] = ("less", "more")


class StudySettings(TypedDict, total=False):
    """Further keywords of ``at.Study``, which says what they mean."""

    problems: Sequence[Mapping[str, Value]]
    size: str | None
    threads: Sequence[int]
    baseline: Mapping[str, Value] | None
    evaluations: int | None
    machine: str | None
    conditions: Mapping[str, float | int | str]
    sampler: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedProgram:
    """What a study of ask and tell is about, as its user says it."""

    name: str
    parameters: Parameters
    restrictions: Sequence[object] | str = ()
    objectives: Objectives = ("time",)
    problems: Sequence[Mapping[str, Value]] = ({},)
    size: str | None = None
    threads: Sequence[int] = ()
    baseline: Mapping[str, Value] | None = None
    sampler: str = "model"
    seed: int = 1

    @property
    def where(self) -> str:
        """The place of mistakes."""
        return f"at.Study {self.name}"

    @property
    def better(self) -> dict[str, Direction]:
        """The objectives with the better of two values, the one that counts first."""
        stated = self.objectives
        if isinstance(stated, str):
            return {stated: "less"}
        if isinstance(stated, Mapping):
            return dict(stated)
        return dict.fromkeys(stated, "less")

    @property
    def text(self) -> str:
        """The study as text: two that differ in it may not share a name in a store."""
        said = {
            "parameters": parameters_notation(self.parameters),
            "restrictions": restrictions_notation(self.restrictions),
            "objectives": dict(self.better),
            "problems": [dict(problem) for problem in self.problems],
            "size": self.size,
            "threads": list(self.threads),
            "baseline": None if self.baseline is None else dict(self.baseline),
        }
        return yaml.safe_dump({"ask and tell": self.name, **said}, sort_keys=False)

    def setup(self, machine: Machine | None) -> Setup:
        """The setup of the study; InputError with what is wrong in its description."""
        self._check()
        try:
            program = self._program()
            return Setup(
                name=self.name,
                title=self.name,
                source=self.where,
                machine=machine,
                problems=tuple(
                    ProgramProblem(program=program, arguments=dict(problem))
                    for problem in self.problems
                ),
                subject=program,
                builds=(NO_COMPILER,),
                layouts=tuple(Layout(threads=count) for count in self.threads or (1,)),
                engine=PROGRAM.engines[0],
                selection=Selection(seed=self.seed),
                search=Searching(
                    sampler=next(name for name in SAMPLERS if name == self.sampler),
                    objectives=(TIME.name, *list(self.better)[1:]),
                    warm_start=False,
                ),
            )
        except MisfitError as error:
            raise InputError(*self._faults(error)) from error
        except ValueError as error:
            raise InputError(Fault(where=self.where, found=str(error))) from error

    def _program(self) -> Program:
        arguments = dict(self.problems[0])
        space = parameter_space(self.parameters, self.restrictions)
        varied = space.parameters
        names = [*varied, *arguments, *(["threads"] if self.threads else [])]
        goal, *_ = self.better
        first = Program(
            name=self.name,
            title=self.name,
            source=self.where,
            source_folder="",
            sources=(self.name,),
            digest=digest({self.name: b"ask and tell"}),
            run=(Template("told"), *(Template(f"{{{name}}}") for name in names)),
            arguments=arguments,
            parameters=varied,
            constraints=space.constraints,
            baseline=_first(varied) | dict(self.baseline or {}),
            metrics={
                name: PrintedMetric(name=name, json=(name,), better=better)
                for name, better in self.better.items()
                if name not in (TIME.name, ENERGY.name, MEMORY.name)
            },
            objective=goal,
            size=self.size,
        )
        return first if self.baseline is not None else self._with_legal_baseline(first)

    def _with_legal_baseline(self, program: Program) -> Program:
        """The program with the first combination as baseline that every problem allows."""
        given = [
            {**problem, "threads": threads}
            for problem in self.problems
            for threads in self.threads or (1,)
        ]

        def allowed(values: Mapping[str, Value]) -> bool:
            return all(program.violated(values, arguments) is None for arguments in given)

        combinations = chain([program.baseline], LegalCombinations(program, given[0]).walk())
        legal = next((values for values in combinations if allowed(values)), None)
        return program if legal is None else replace(program, baseline=dict(legal))

    def _check(self) -> None:
        faults = [*self._wrong_objectives(), *self._wrong_problems()]
        if not self.parameters:
            faults.append(
                Fault(
                    where="parameters",
                    found="nothing says what varies",
                    expected="the values of each parameter by its name",
                    hint='{"tile": [16, 32, 64]}',
                )
            )
        if not self.name.strip():
            faults.append(
                Fault(where="name", found="an empty name", expected="a name of the study")
            )
        if self.sampler not in SAMPLERS:
            faults.append(unknown_name("sampler", "sampler", self.sampler, SAMPLERS))
        for count in self.threads:
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                faults.append(
                    Fault(
                        where="threads",
                        found=describe(count),
                        expected="numbers of threads, each 1 or more",
                    )
                )
        if faults:
            raise InputError(*faults)

    def _wrong_objectives(self) -> Iterable[Fault]:
        better = self.better
        if not better:
            yield Fault(
                where="objectives",
                found="no objective",
                expected="names of what is told, the one that counts first",
                hint='"time", or {"speed": "more"}',
            )
        for name, direction in better.items():
            if direction not in BETTER:
                yield Fault(
                    where=f"objectives.{name}",
                    found=describe(direction),
                    expected=one_of(BETTER),
                    hint=nearest(str(direction), BETTER)
                    or {"minimize": "write less", "maximize": "write more"}.get(direction, ""),
                )
        if TIME.name in list(better)[1:]:
            yield Fault(
                where="objectives",
                found="time behind another objective",
                expected="time first, or left out",
                hint="a time may be told beside any objective: it is kept",
            )

    def _wrong_problems(self) -> Iterable[Fault]:
        if not self.problems:
            yield Fault(
                where="problems", found="no problem", expected="one at least", hint="leave it out"
            )
        for number, problem in enumerate(self.problems[1:], start=1):
            if list(problem) != list(self.problems[0]):
                yield Fault(
                    where=f"problems.{number}",
                    found=", ".join(problem) or "no argument",
                    expected=f"the arguments of the first: {', '.join(self.problems[0]) or 'none'}",
                )

    def _faults(self, error: MisfitError) -> Iterable[Fault]:
        for misfit in error.misfits:
            keys = ["restrictions" if key == "constraints" else key for key in misfit.keys]
            where = ".".join(str(key) for key in keys if key != "require")
            yield Fault(
                where=f"{self.where}: {where}" if where else self.where,
                found=misfit.found,
                expected=misfit.expected,
                hint=misfit.hint,
            )


def user_program(
    name: str,
    parameters: Parameters,
    *,
    restrictions: Sequence[object] | str,
    objectives: Objectives,
    further: StudySettings,
) -> AskedProgram:
    """What a study is about; InputError for a keyword that there is not."""
    names = [*StudySettings.__annotations__, "restrictions", "objectives", "store", "model"]
    unknown = [
        unknown_name("at.Study", "keyword", key, names) for key in further if key not in names
    ]
    wrong = [*unknown, *_wrong_kinds(name, further)]
    if wrong:
        raise InputError(*wrong)
    threads = further.get("threads", ())
    return AskedProgram(
        name=name,
        parameters=parameters,
        restrictions=restrictions,
        objectives=objectives,
        problems=tuple(further.get("problems", ({},))),
        size=further.get("size"),
        threads=(threads,) if isinstance(threads, int) else tuple(threads),
        baseline=further.get("baseline"),
        sampler=further.get("sampler", "model"),
        seed=further.get("seed", 1),
    )


def _wrong_kinds(name: object, further: Mapping[str, object]) -> Iterable[Fault]:
    """Keywords whose values are of a kind that makes no sense."""
    kinds: dict[str, tuple[type | UnionType, str]] = {
        "problems": (list | tuple, 'a list of dicts, such as [{"n": 512}, {"n": 4096}]'),
        "threads": (int | list | tuple | range, "numbers of threads, such as [1, 2]"),
        "baseline": (Mapping | None, "a dict of values of parameters"),
        "conditions": (Mapping | None, "a dict of texts and numbers"),
        "evaluations": (int | None, "a whole number"),
        "seed": (int, "a whole number"),
        "machine": (str | None, "the name of a machine as text"),
        "size": (str | None, "the name of an argument as text"),
    }
    if not isinstance(name, str):
        yield Fault(where="name", found=describe(name), expected="a name of the study as text")
    for key, (kind, expected) in kinds.items():
        value = further.get(key)
        if key in further and not isinstance(value, kind):
            yield Fault(
                where=key, found=f"a value of type {type(value).__name__}", expected=expected
            )
    problems = further.get("problems", ())
    for number, problem in enumerate(problems if isinstance(problems, list | tuple) else ()):
        if not isinstance(problem, Mapping):
            found = f"a value of type {type(problem).__name__}"
            yield Fault(where=f"problems.{number}", found=found, expected="a dict of arguments")


def _first(varied: Mapping[str, Domain]) -> dict[str, Value]:
    """The first value of every parameter; flags are absent."""
    return {name: values[0] for name, values in flattened(varied).items()}
