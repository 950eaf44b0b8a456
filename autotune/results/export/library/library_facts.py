"""What a library holds: the codes of the chosen candidates, and the choice among them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from autotune.codegen.c import harness
from autotune.codegen.tree import variant_program
from autotune.domain.problem import AnyProblem, ButcherTableau, Problem
from autotune.domain.setup import Setup
from autotune.domain.variant import Transformation, Variant
from autotune.errors import Fault, InputError
from autotune.results.export import c_names
from autotune.results.export.entries import Choices, ExportEntry, ExportSection
from autotune.results.export.library.library_callback import CalledForm, CalledForms, evaluations
from autotune.workloads.generated import candidate_space

MOST_COMPONENTS = 2**31 - 1
"""Of a problem, as in the programs that are measured."""
_TAKEN = {
    "assert", "callback", "chooser", "complex", "ctype", "dense", "errno", "exchange", "fcntl",
    "fenv", "float", "grids", "in_place", "inttypes", "iso646", "limits", "locale", "math", "mpi",
    "neighbours", "omp", "overlap", "pages", "processor", "ranks", "reading", "rivals", "sched",
    "self_test", "setjmp", "signal", "solver", "stddef", "stdint", "stdio", "stdlib", "stepper",
    "storage", "string", "sweeper", "tgmath", "thread", "threads", "time", "uchar", "unistd",
    "utsname", "wavefront", "wchar", "wctype", "windows", "wisdom",
}  # fmt: skip
"""Names of headers and of other files of a library."""
_FURTHEST = 1e6
"""So far the negative real axis is searched for the end of the stability interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryStepper:
    """The code of a time step, with its flags."""

    name: str
    """Of its symbol in C, and of its folder."""
    variant: Variant
    flags: tuple[str, ...]
    files: Mapping[str, str]
    """File name to C text."""
    evaluations: int = 0
    """Of the right-hand side in a step; 0 of a sweep over a grid."""
    called: tuple[CalledForm, ...] = ()
    """The forms for right-hand sides of a caller, in the order of ``library_callback.STATED``; of
    a sweep over a grid none."""


StepperMaker = Callable[[str, Variant, tuple[str, ...], bool], LibraryStepper]
"""Name, variant, flags, and whether it is for several ranks, to the code."""
_CodeKey = tuple[tuple[Transformation, ...], tuple[str, ...], bool]
"""What makes two codes the same: their loops and flags, and whether they are for several ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryContents:
    """What libraries of all kinds hold: codes, and the choice among them."""

    name: str
    """Of the library, its header and the functions: a C identifier."""
    compiler: str
    """With which all of it was tuned."""
    section: ExportSection
    """Of the fewest ranks."""
    wider: tuple[ExportSection, ...] = ()
    """Of more ranks, ascending; else as ``section``."""
    chosen: tuple[LibraryStepper, ...]
    """Of each of the entries."""
    predicted: tuple[float | None, ...]
    """Seconds of a step, of each of the entries."""
    beside: tuple[ExportEntry, ...] = ()
    """Alternatives of the fewest ranks whose code is that of no entry of a section."""

    @property
    def sections(self) -> tuple[ExportSection, ...]:
        """All sections, by ascending ranks."""
        return (self.section, *self.wider)

    @property
    def entries(self) -> tuple[ExportEntry, ...]:
        """The entries of all sections, then the alternatives."""
        return (*entries_of(self.sections), *self.beside)

    @property
    def distributed(self) -> bool:
        """Some of the code is for several ranks, and the library needs MPI."""
        return self.sections[-1].key.ranks > 1

    @property
    def steppers(self) -> dict[str, LibraryStepper]:
        """The codes by name, each once."""
        return {stepper.name: stepper for stepper in self.chosen}

    @property
    def units(self) -> list[LibraryStepper | CalledForm]:
        """All code that is compiled with flags of its own, each once."""
        forms = {form.name: form for code in self.chosen for form in code.called}
        return [*self.steppers.values(), *forms.values()]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryFacts(LibraryContents):
    """A library for one IVP and method."""

    problem: Problem
    """At the smallest tuned size."""
    controlled: bool
    """The step size can be controlled."""

    @property
    def largest(self) -> int:
        """The largest size N with at most ``MOST_COMPONENTS`` components."""
        low, high = self.problem.ivp.minimum, MOST_COMPONENTS
        while low < high:
            middle = (low + high + 1) // 2
            fits = self.problem.ivp.values(middle)["n"] <= MOST_COMPONENTS
            low, high = (middle, high) if fits else (low, middle - 1)
        return low


def gather(choices: Choices, setup: Setup, predicted: Mapping[str, float]) -> LibraryFacts:
    """The codes of the choices of a study of one IVP and method.

    ``predicted``: seconds of a step by identity of a candidate. InputError where the choices are of
    something else, of several problems, or of a config that has changed.
    """
    sections, chosen_problem = tuned(choices, setup)
    problem, skeleton = cast("Problem", chosen_problem), setup.skeleton
    controlled = skeleton.controlled() if estimates_error(problem) else None
    name = library_name(sections[0])
    forms = CalledForms(
        name, controlled or skeleton, problem, None if controlled is None else skeleton
    )

    def make(
        name: str, variant: Variant, flags: tuple[str, ...], distributed: bool
    ) -> LibraryStepper:
        return _stepper(name, variant, flags, forms, distributed=distributed)

    beside = _beside(sections, setup)
    entries = (*entries_of(sections), *beside)
    return LibraryFacts(
        name=name,
        compiler=compiler_of(sections),
        problem=problem,
        section=sections[0],
        wider=tuple(sections[1:]),
        beside=beside,
        chosen=codes(entries, setup, name, make),
        predicted=predictions(entries, predicted),
        controlled=controlled is not None,
    )


def tuned(
    choices: Choices, setup: Setup, most_ranks: int | None = None
) -> tuple[list[ExportSection], AnyProblem]:
    """The sections of the choices that a library is made of, by ascending ranks, and its smallest
    problem. ``most_ranks``: of what is taken; None: any.

    InputError where the choices are of something else, of several problems, or of a config that has
    changed.
    """
    problems = _problems(setup)
    sections = _sections(choices, problems, most_ranks)
    problem = problems[sections[0].key.subject.id]
    for section in sections:
        _check_definition(section, problem)
    return sections, problem


def entries_of(sections: Sequence[ExportSection]) -> tuple[ExportEntry, ...]:
    """The entries of several sections, one after the other."""
    return tuple(entry for section in sections for entry in section.entries)


def library_name(section: ExportSection) -> str:
    """The name of the subject as a C identifier that is no name of a header."""
    name = c_names.lower(section.key.subject.name)
    return f"{section.key.subject.family}_{name}" if name in _TAKEN else name


def codes(
    entries: Sequence[ExportEntry], setup: Setup, library: str, make: StepperMaker
) -> tuple[LibraryStepper, ...]:
    """The code of each entry; entries with the same loops and flags share it, unless one is for
    several ranks and the other is not.
    """
    made: dict[_CodeKey, LibraryStepper] = {}
    chosen = []
    for entry in entries:
        key = _code_key(entry, setup)
        if key not in made:
            name = f"{library}_{len(made) + 1}"
            made[key] = make(name, _variant(entry, setup), key[1], key[2])
        chosen.append(made[key])
    return tuple(chosen)


def _code_key(entry: ExportEntry, setup: Setup) -> _CodeKey:
    flags = tuple(flag for flag in entry.build.flags if flag != "-fopenmp")
    return _variant(entry, setup).transformations, flags, entry.layout.ranks > 1


def _beside(sections: Sequence[ExportSection], setup: Setup) -> tuple[ExportEntry, ...]:
    """The alternatives of the first section, of the same compiler, with a code of their own."""
    compiler = compiler_of(sections)
    taken = {_code_key(entry, setup) for entry in entries_of(sections)}
    beside = []
    for entry in sections[0].alternatives:
        key = _code_key(entry, setup)
        if entry.build.compiler == compiler and key not in taken:
            beside.append(entry)
            taken.add(key)
    return tuple(beside)


def predictions(
    entries: Sequence[ExportEntry], predicted: Mapping[str, float]
) -> tuple[float | None, ...]:
    """Seconds of a step of each entry; ``predicted``: by identity of a candidate."""
    return tuple(predicted.get(entry.candidate.rpartition(":")[2]) for entry in entries)


def has_estimate(method: ButcherTableau) -> bool:
    """Whether there is an approximation of lower order beside that of the method: by embedded
    weights of an explicit one; of an implicit one by the corrector step before, which the last
    stage holds where the last row of A is b.
    """
    if method.explicit:
        return method.embedded is not None
    return bool(np.allclose(method.A[-1], method.b, rtol=0.0, atol=1e-15))


def estimates_error(problem: Problem) -> bool:
    """Whether there is an approximation that estimates the error of a step.

    With more corrector steps than the order of the method there is none: the approximation of the
    corrector step before then lies nearer to that of the last than to the solution.
    """
    return has_estimate(problem.method) and problem.correctors <= problem.method.order


def embedded_order(problem: Problem) -> int:
    """The order of the approximation that estimates the error: that of the embedded weights, of
    corrector steps the number of evaluations in turn (van der Houwen, Sommeijer 1990); 0 where
    there is none.
    """
    return problem.method.embedded_order or problem.correctors


def dense_degree(problem: Problem) -> int:
    """The degree of the interpolant between the ends of a step: the order of the approximation that
    estimates the error, so that both errors shrink alike, or 3 if that is lower.
    """
    return max(3, embedded_order(problem))


def dense_order(problem: Problem) -> int:
    """The order of the interpolant: its degree, or that of the steps if that is lower, which m
    corrector steps limit to m + 1 (van der Houwen, Sommeijer 1990).
    """
    steps = problem.correctors + 1 if problem.correctors else problem.method.order
    return min(dense_degree(problem), steps, problem.method.order)


def real_limit(problem: Problem) -> float:
    """The largest x up to which a step of y' = -x y is stable: abs(R(-x)) <= 1.

    R is 1 + z b^T Y_m, where Y_0 = 1 and Y_k = 1 + z A Y_(k-1) (Scherg et al. 2019, Eq. 1-3). For
    an explicit method of s stages Y_(s-1) is the solution of Y = 1 + z A Y.
    """
    A, b = np.array(problem.method.A), np.array(problem.method.b)
    iterations = len(b) - 1 if problem.method.explicit else problem.correctors

    def amplification(x: float) -> float:
        stages = np.ones(len(b))
        for _ in range(iterations):
            stages = 1.0 - x * (A @ stages)
        return abs(1.0 - x * float(b @ stages))

    low = 0.0
    for x in np.geomspace(1e-2, _FURTHEST, 4000):
        if amplification(float(x)) > 1.0:
            break
        low = float(x)
    return low


def _problems(setup: Setup) -> dict[str, AnyProblem]:
    """The problems of a config at their smallest size, by what a choice names them."""
    problems: dict[str, AnyProblem] = {}
    for problem in sorted(setup.problems, key=lambda problem: problem.n):
        problems.setdefault(problem.facts().id, problem)
    return problems


def _sections(
    choices: Choices, problems: Mapping[str, AnyProblem], most_ranks: int | None
) -> list[ExportSection]:
    """The sections of the choices that are of one of these problems, by ascending ranks."""
    where = f"study {choices.study}"
    subjects = {s.key.subject.id: s for s in choices.sections}
    taken = [s for s in choices.sections if most_ranks is None or s.key.ranks <= most_ranks]
    sections = [s for s in taken if s.key.subject.id in problems]
    if not sections:
        raise InputError(
            Fault(
                where=where,
                found="no choice of a problem of the config"
                f"{' in one process' if most_ranks == 1 else ''}"
                f" (there is {', '.join(sorted(subjects))})",
                expected="an IVP, or a stencil tuned with one rank, that the config has today",
                hint="a header or a wisdom file holds every choice: --format header",
            )
        )
    if len({section.key.identity[:-1] for section in sections}) > 1:
        raise InputError(
            Fault(
                where=where,
                found=f"choices of {', '.join(sorted(subjects))}",
                expected="one stencil, or one IVP with one method, and one machine in a library",
                hint=f"name one of its problems: --problem {sections[0].entries[0].problem}",
            )
        )
    return sorted(sections, key=lambda section: section.key.ranks)


def compiler_of(sections: Sequence[ExportSection]) -> str:
    """The compiler of all choices; InputError where there are several: flags are theirs."""
    section, entries = sections[0], entries_of(sections)
    compilers = sorted({entry.build.compiler for entry in entries})
    if len(compilers) > 1:
        raise InputError(
            Fault(
                where=section.key.subject.id,
                found=f"choices of {' and '.join(compilers)}",
                expected="one compiler in a library",
                hint="tune with the builds of one, or name one problem: --problem "
                + section.entries[0].problem,
            )
        )
    return compilers[0]


def _check_definition(section: ExportSection, problem: AnyProblem) -> None:
    """InputError where what is computed has changed since the study."""
    subject = section.key.subject
    if problem.facts().key.split()[0] != subject.definition:
        raise InputError(
            Fault(
                where=subject.id,
                found="the IVP, its method or the stencil is another today",
                expected="what the study was begun with",
                hint="tune again",
            )
        )


def _variant(entry: ExportEntry, setup: Setup) -> Variant:
    missing = sorted(set(setup.space.parameters) - set(entry.parameters))
    if missing:
        raise InputError(
            Fault(
                where=entry.candidate,
                found=f"the space {setup.space.name} has other parameters today: {missing[0]}",
                expected="the space that the study was begun with",
                hint="tune again",
            )
        )
    return candidate_space.variant(setup, entry.parameters)


def _stepper(
    name: str,
    variant: Variant,
    flags: tuple[str, ...],
    forms: CalledForms,
    *,
    distributed: bool,
) -> LibraryStepper:
    problem = forms.problem
    program = variant_program.program(variant, forms.skeleton, problem)
    fixed = None
    if forms.fixed is not None:
        fixed = variant_program.program(variant, forms.fixed, problem)
    return LibraryStepper(
        name=name,
        variant=variant,
        flags=flags,
        files=harness.stepper_units(program, problem, name, distributed=distributed, fixed=fixed),
        evaluations=evaluations(program, variant.transformations, problem.correctors),
        called=forms.of(variant, flags),
    )
