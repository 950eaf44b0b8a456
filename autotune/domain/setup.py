"""The definition of a study: the content of a config file, as frozen values."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, Protocol

from autotune.domain.annotations import (
    Bounds,
    Count,
    Derived,
    FileKey,
    FileKeys,
    Fraction,
    InNotation,
    OneOf,
    Text,
)
from autotune.domain.family import ENGINES, go_together
from autotune.domain.machine import Machine
from autotune.domain.metric import TIME
from autotune.domain.misfit import Misfit, MisfitError
from autotune.domain.problem import AnyProblem, Problem, ProgramProblem
from autotune.domain.reference import Reference
from autotune.domain.skeleton import Skeleton
from autotune.domain.space import Space
from autotune.domain.variant import EXCHANGES, Build, Exchange, Placement
from autotune.errors import Fault, InputError, nearest, one_of
from autotune.units import Bytes, Seconds, counted

ThreadCount = Annotated[int | Literal["all"], InNotation("threads")]


@dataclass(frozen=True, slots=True)
class Layout:
    """The distribution of a program: nodes, ranks on each node, threads of each rank."""

    nodes: Count = 1
    """Of a cluster."""
    ranks: Count = 1
    """Per node."""
    threads: ThreadCount = "all"
    """``all``: the cores of a node over the ranks on it."""
    placement: Annotated[Placement, FileKey(optional=True)] = "compact"
    """Threads side by side, or far from one another."""

    def __post_init__(self) -> None:
        if self.nodes * self.ranks > 1 and self.placement != "compact":
            raise ValueError("ranks are placed side by side: scatter is for layouts of one rank")
        if min(self.nodes, self.ranks) < 1 or (self.threads != "all" and self.threads < 1):
            raise ValueError("a layout needs at least one node, one rank per node, one thread")


Saturation = Literal["paper", "kerncraft"]
"""Eq. 9 of Scherg et al. 2019 with sigma = T_ECM/T_Mem, or kerncraft 0.8.18's recursion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which candidates of each problem are measured when there is no exhaustive search."""

    top: Count = 5
    """The best by prediction."""
    random: Annotated[int, Bounds(least=0)] = 2
    """Drawn at random from the rest, so that losses mean something."""
    baseline: bool = True
    """Whether the baseline is measured too."""
    seed: Annotated[int, Bounds(least=0, below=2**32)] = 1
    """Of the random draw."""

    def __post_init__(self) -> None:
        if self.top < 1:
            raise ValueError(f"top must be at least 1, not {self.top}")
        if self.random < 0:
            raise ValueError(f"random must not be negative, but is {self.random}")


Sampler = Literal["model", "random", "tpe", "gp", "cmaes", "nsga2"]
SAMPLERS: tuple[Sampler, ...] = ("model", "random", "tpe", "gp", "cmaes", "nsga2")
"""Who says what is measured next: our own, informed by the predictions, or one of Optuna's."""
Learner = Literal["process", "pool"]
LEARNERS: tuple[Learner, ...] = ("process", "pool")
"""What learns where predictions are wrong: a Gaussian process, or the pool of learned models."""
Objective = Literal["time", "energy", "memory"]
OBJECTIVES: tuple[Objective, ...] = ("time", "energy", "memory")
WinnerRule = Literal["each", "geometric mean", "worst"]
"""A winner of each problem alone, or also one over all: by the geometric mean of its costs over the
best of each problem, or by the largest of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """How candidates are searched after the first ones, and when the search ends."""

    sampler: Sampler = "model"
    """What says what is measured next: our model, or a sampler of Optuna's."""
    first: Count = 3
    """So many of the best by prediction come before anything is learned from times."""
    stop_below: Annotated[float, InNotation("share")] = 0.01
    """Relative improvement: the search of a problem is over when no more is expected ..."""
    patience: Count = 5
    """... in so many steps in a row."""
    budget: Count | None = None
    """Candidates that are measured per problem, at most."""
    objectives: Annotated[tuple[str, ...], InNotation("objectives")] = ("time",)
    """What is optimised: time first, or ``time`` for the objective of a program that has another;
    energy, memory and metrics of a program beside it give a Pareto front."""
    warm_start: bool = True
    """Results of other studies in the store are used."""
    residual: Learner = "process"
    """What the sampler ``model`` learns log(measured / predicted) with."""
    prior: Text | None = None
    """``STUDY`` of the store or ``STUDY@STORE``, such as one of another machine: what a model of it
    expects orders the candidates, as far as it proves itself here."""
    winner: WinnerRule = "each"
    """Whether one winner is chosen over all problems, such as several inputs, and how."""
    weights: tuple[Annotated[float, Bounds(above=0)], ...] = ()
    """Of the problems in their order, for the geometric mean; empty: all count alike."""

    def __post_init__(self) -> None:
        if self.residual not in LEARNERS:
            raise ValueError(f"residual must be one of {', '.join(LEARNERS)}, not {self.residual}")
        for name, usual in (("residual", "process"), ("prior", None)):
            if self.sampler != "model" and getattr(self, name) != usual:
                raise ValueError(f"{name} is for sampler model, not {self.sampler}")
        if self.sampler not in SAMPLERS:
            raise ValueError(f"sampler must be one of {', '.join(SAMPLERS)}, not {self.sampler}")
        for name in ("first", "patience"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.stop_below < 1:
            raise ValueError(f"stop_below must be in [0, 1), not {self.stop_below}")
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"budget must be at least 1, not {self.budget}")
        if not self.objectives or len(set(self.objectives)) != len(self.objectives):
            raise ValueError("objectives are named once each, and there is at least one")
        if self.objectives[0] != "time":
            raise ValueError(f"time is the first objective, not {self.objectives[0]}")
        if self.weights and self.winner != "geometric mean":
            raise ValueError(f"weights are for winner: geometric mean, not {self.winner}")
        if not all(0 < weight < math.inf for weight in self.weights):
            raise ValueError(f"weights must be positive, not {list(self.weights)}")


MOST_ROUNDS = 10_000
"""A launch takes milliseconds at least."""
LEAST_MEMORY = 1 << 20
"""Bytes: no process starts in less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """How candidates are timed."""

    rounds: Count = 5
    """Interleaved rounds: every candidate is launched once per round, in shuffled order. One that
    is clearly slower is launched in fewer, one too close to call in up to twice as many if these
    may decide."""
    samples: Count = 3
    """Undisturbed samples per launch; on a busy machine there are more, disturbed and shorter."""
    min_sample: Seconds = Seconds(0.02)
    """A sample repeats time steps until it takes at least this long."""
    busy: Fraction = 0.95
    """A sample is disturbed when CPU time / (threads x wall time) falls below this."""
    attempts: Count = 3
    """While they are disturbed, a launch takes at most this many times its samples, or as many
    shorter ones as take no longer."""
    verify_steps: Count = 3
    """Time steps that are compared with the reference."""

    def __post_init__(self) -> None:
        for name in ("rounds", "samples", "attempts", "verify_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.rounds > MOST_ROUNDS:
            raise ValueError(f"rounds must be at most {MOST_ROUNDS}, not {self.rounds}")
        if not 0 < self.min_sample <= 60:
            raise ValueError(f"min_sample must be in (0, 60 s], not {self.min_sample} s")
        if not 0 <= self.busy <= 1:
            raise ValueError(f"busy must be in [0, 1], not {self.busy}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Resource limits of a candidate; if it exceeds one, its whole process group is ended."""

    compile: Seconds = Seconds(60.0)
    run: Seconds = Seconds(60.0)
    """Floor of the limit of one launch; the limit is this or ``factor`` times what is expected."""
    factor: Annotated[float, Bounds(above=0)] = 20.0
    """Of the time that is expected. The run of a program that verifies it ends after so many times
    that of the baseline, at least 2 s and at most ``run``."""
    memory: Bytes | None = None
    """Address space of a launch; None: no limit but the machine's."""
    output: Bytes = Bytes(1 << 20)
    """What a launch may print."""
    file: Bytes = Bytes(1 << 30)
    """The largest file that a program of the user's may write."""

    def __post_init__(self) -> None:
        for name in ("compile", "run", "factor", "output", "file"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        if self.memory is not None and self.memory < LEAST_MEMORY:
            raise ValueError(f"memory must be at least {LEAST_MEMORY} B, not {self.memory:.6g}")


class StudySubject(Protocol):
    """What varies in a study: generated code, a program, or a kind of your own."""

    @property
    def name(self) -> str:
        """The name of the skeleton or program."""

    @property
    def family(self) -> str:
        """The family of the problems that it can compute."""

    @property
    def compiled(self) -> bool:
        """Whether the candidates are built by the compilers of a study's builds."""

    @property
    def spread(self) -> bool:
        """Whether the candidates run with the number of threads that a layout demands."""

    @property
    def definitions(self) -> tuple[str, ...]:
        """Digests of what is computed, apart from the digests of the problems."""

    @property
    def varied(self) -> str:
        """The space of variants as text; equal for equal spaces."""

    @property
    def source_folders(self) -> tuple[str, ...]:
        """Absolute paths of the folders with files that are built as they lie there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """Generated code: the steps of a skeleton, and the space of its variants."""

    skeleton: Skeleton
    space: Space

    def __post_init__(self) -> None:
        if self.space.skeleton != self.skeleton.name:
            raise ValueError(
                f"space {self.space.name} is for skeleton {self.space.skeleton},"
                f" not {self.skeleton.name}"
            )

    @property
    def name(self) -> str:
        """The name of the skeleton."""
        return self.skeleton.name

    @property
    def family(self) -> str:
        """The family of the problems that the skeleton is for."""
        return self.skeleton.family

    @property
    def compiled(self) -> bool:
        """True: generated code is built by the compilers of a study's builds."""
        return True

    @property
    def spread(self) -> bool:
        """True: generated code runs with the number of threads that a layout demands."""
        return True

    @property
    def definitions(self) -> tuple[str, ...]:
        """Digest of the steps of the skeleton."""
        return (self.skeleton.definition,)

    @property
    def varied(self) -> str:
        """The space of variants as text."""
        return repr(self.space)

    @property
    def source_folders(self) -> tuple[str, ...]:
        """None: the code is generated."""
        return ()


_SUBJECT = FileKeys(
    {
        "skeleton": Annotated[Text, FileKey(about="the kernels and their order, by name or path")],
        "space": Annotated[Text, FileKey(about="what of the skeleton varies, by name or path")],
        "program": Annotated[
            str,
            InNotation("program of a config"),
            FileKey(about="a program of your own, by name or path, or what its file says"),
        ],
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The content of a config file: problems, machine, variants, selection, measuring."""

    title: str = ""
    """What the study is, in a line."""
    name: Annotated[str, InNotation("study name"), FileKey(optional=True)]
    """Name of the study: the file's stem unless the file says otherwise."""
    source: Annotated[str, Derived()]
    """The file it came from."""
    machine: Annotated[
        Machine | None,
        FileKey(about="host, the name of a machine, or a path that ends in .yaml"),
    ]
    """None: the host, detected and calibrated."""
    problems: Annotated[
        tuple[AnyProblem, ...],
        Bounds(least=1),
        FileKey(
            optional=True,
            about="what is computed: IVPs with a method and a size, stencils on grids, or arguments"
            " of the program",
        ),
    ]
    """Of a program without this key: one problem, with the arguments of the program's file."""
    subject: Annotated[StudySubject, _SUBJECT]
    """What varies: code that is generated, or a program of the user's."""
    builds: Annotated[tuple[Build, ...], Bounds(least=1)] = (Build(),)
    """Compilers with flags; every candidate is built with each."""
    layouts: Annotated[
        tuple[Layout, ...],
        FileKeys(
            {
                "threads": Annotated[
                    tuple[ThreadCount, ...],
                    Bounds(least=1),
                    FileKey(about="numbers of threads of one rank, or all"),
                ],
                "layouts": Annotated[
                    tuple[Layout, ...],
                    Bounds(least=1),
                    FileKey(about="nodes, ranks and threads of each, in place of threads"),
                ],
                "placement": Annotated[
                    Placement, FileKey(about="threads side by side, or far from one another")
                ],
            }
        ),
    ]
    """How the threads and ranks of a candidate are spread. A file gives ``layouts``, or ``threads``
    alone; ``placement`` applies to both."""
    communications: Annotated[
        tuple[Exchange, ...], Bounds(least=1), FileKey(name="communication")
    ] = EXCHANGES
    """How the ranks of layouts with several may exchange."""
    launcher: Annotated[str, InNotation("launcher")] = "{command}"
    """Template of the command line that runs a measuring program: ``srun -n 1 {command}``."""
    mpi_launcher: Annotated[str, InNotation("launcher of ranks")] = ""
    """The same for programs of several ranks: ``srun -N {nodes} -n {ranks} {command}``; empty: the
    mpiexec that is found, with the options of its flavour."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that are set where candidates run."""
    engine: Annotated[str, OneOf(ENGINES), FileKey(optional=True)] = "reuse"
    """What predicts; without this key the usual one of the problems."""
    saturation: Saturation = "paper"
    """The rule of engine ``kerncraft``."""
    selection: Selection = field(default_factory=Selection)
    search: Searching = field(default_factory=Searching)
    measuring: Measuring = field(default_factory=Measuring)
    limits: Limits = field(default_factory=Limits)
    reference: Reference | None = None
    """A published table to compare with."""
    trusted: Annotated[bool, Derived()] = True
    """Whether predictions may run every compiler and pass every flag that files name."""
    text: Annotated[str, Derived()] = ""
    """What a file would say, for a setup that was stated without a file."""
    places: Annotated[Mapping[str, str], Derived()] = field(default_factory=dict)
    """Key path (``threads``, ``builds.0.compiler``) to ``file:line:column``, for later errors."""

    def __post_init__(self) -> None:
        if not self.problems:
            raise ValueError("a study needs at least one problem")
        for problem in self.problems:
            self._check_problem(problem)
        for i, problem in enumerate(self.problems):
            self._check_method(i, problem)
        for problem in self.problems:
            self._check_objectives(problem)
        given = len(self.search.weights)
        if given not in (0, len(self.problems)):
            found = f"{counted(given, 'weight')} for {counted(len(self.problems), 'problem')}"
            raise MisfitError(Misfit(("search", "weights"), found))

    def _check_objectives(self, problem: AnyProblem) -> None:
        facts = problem.facts()
        others = [metric.name for metric in facts.metrics if metric != facts.goal]
        allowed = (*OBJECTIVES, *others)
        shown = [facts.goal.name if name == TIME.name else name for name in allowed]
        for name in self.search.objectives:
            if name not in allowed:
                found, hint = f"{name!r} is not an objective", nearest(name, shown)
                raise MisfitError(Misfit(("search", "objectives"), found, one_of(shown), hint))

    def _check_problem(self, problem: AnyProblem) -> None:
        if not go_together(problem, self.subject):
            raise ValueError(
                f"{problem.label} is of family {problem.family},"
                f" {self.subject.name} is for problems of family {self.family}"
            )
        if isinstance(problem, ProgramProblem) and problem.program != self.subject:
            raise ValueError(f"{problem.label} is no problem of program {self.subject.name}")

    def _check_method(self, i: int, problem: AnyProblem) -> None:
        """Check that the skeleton is one of the method of problem ``i``."""
        if not (isinstance(problem, Problem) and isinstance(self.subject, Generated)):
            return
        lacking = self.subject.skeleton.lacking(
            explicit=problem.method.explicit, stages=problem.method.advancing.stages
        )
        if lacking is not None:
            found = f"{problem.method.name}, and the skeleton {self.subject.name} {lacking}"
            raise MisfitError(Misfit(("problems", i, "method"), found))

    @property
    def family(self) -> str:
        """The family of the setup's problems."""
        return self.subject.family

    @property
    def compiled_builds(self) -> tuple[Build, ...]:
        """The builds that need a compiler; none if the subject is not compiled."""
        return self.builds if self.subject.compiled else ()

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of the generated code; InputError for a study without generated code."""
        return self._generated().skeleton

    @property
    def space(self) -> Space:
        """The space of variants of generated code; InputError for a study without generated
        code.
        """
        return self._generated().space

    def _generated(self) -> Generated:
        if isinstance(self.subject, Generated):
            return self.subject
        raise InputError(
            Fault(
                where=self.place("program"),
                found=f"this needs generated code, {self.subject.name} is a program of its own",
                expected="a config with a space",
            )
        )

    def place(self, key: str) -> str:
        """``file:line:column`` of a key; only the file if the key is not in it."""
        return self.places.get(key, self.source)

    def place_of_build(self, build: Build) -> str:
        """``file:line:column`` of a build; ``builds`` if the build is not in the file."""
        return (
            self.place(f"builds.{self.builds.index(build)}") if build in self.builds else "builds"
        )

    def place_of_layout(self, index: int) -> str:
        """``file:line:column`` of a layout, written in full or in the short form ``threads``."""
        return self.places.get(f"layouts.{index}") or self.place(f"threads.{index}")
