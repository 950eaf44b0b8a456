"""The files of a library, by name: what an application builds, links and calls."""

import hashlib
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autotune.codegen.c import harness
from autotune.domain.problem import AnyProblem, Problem
from autotune.domain.variant import Candidate
from autotune.language.expression import show
from autotune.measuring.verification import ivp_reference
from autotune.measuring.verification.verify import checked
from autotune.results.export import c_names, header
from autotune.results.export.entries import ExportEntry
from autotune.results.export.library import build_text
from autotune.results.export.library.dense_output import Interpolant
from autotune.results.export.library.library_callback import CalledForm, chain
from autotune.results.export.library.library_facts import (
    MOST_COMPONENTS,
    LibraryContents,
    LibraryFacts,
    LibraryStepper,
    dense_degree,
    dense_order,
    embedded_order,
    real_limit,
)
from autotune.version import VERSION

MARK = "autotune.library/1"
"""What the first line of README of such a library holds."""
_TEXT = Path(__file__).parent / "text"
_TEMPLATES = harness.templates(_TEXT)
_TEMPLATES.filters["quoted"] = shlex.quote
_TEMPLATES.filters["cmake_option"] = build_text.cmake_option
_TEMPLATES.filters["meson_flag"] = build_text.meson_flag
_EXACT = ("-O3", "-fno-fast-math", "-fno-unsafe-math-optimizations")
"""Flags of what is not tuned, and of the link: these take back -Ofast, -ffast-math and
-funsafe-math-optimizations, for which compilers link code that switches denormals off at load.
"""
_HEADERS = (
    "stepper.h", "ranks.h", "dense.h", "solver.h", "rivals.h", "chooser.h", "wisdom.h",
)  # fmt: skip
"""That the code of a library of an IVP includes."""
_SCHEMES = {"allgather": 0, "neighbour": 1, "sparse": 2}
"""Ways of ranks to communicate, as ``enum scheme`` of ``exchange.h`` numbers them."""
_STEPS = 3
"""That the self-test takes."""
PLACES = 32
"""Components that a self-test compares with the reference, spread over all."""


@dataclass(frozen=True, slots=True)
class _SelfTest:
    """A small problem with the state that the reference computes."""

    size: int
    h: float
    components: int
    places: tuple[int, ...]
    values: tuple[float, ...]
    largest: float
    called_h: float
    called_values: tuple[float, ...]
    """Of a right-hand side of a caller, at the same places."""


def files(facts: LibraryFacts) -> dict[str, str]:
    """Path in the folder of the library to text."""
    fields = dict(_fields(facts))
    if not facts.distributed:
        return texts(facts, fields, _HEADERS)
    templates = {
        f"include/{facts.name}_mpi.h": "mpi.h.j2",
        f"src/{facts.name}_mpi.c": "mpi.c.j2",
        f"src/{facts.name}_ranks.h": "ranks_of.h.j2",
        "src/self_test_mpi.c": "self_test_mpi.c.j2",
    }
    of_ranks = {path: _TEMPLATES.get_template(t).render(fields) for path, t in templates.items()}
    exchange = {f"src/{file}": text for file, text in harness.exchange_units().items()}
    return texts(facts, fields, _HEADERS) | of_ranks | exchange


def texts(
    facts: LibraryContents, fields: Mapping[str, object], headers: Sequence[str], kind: str = ""
) -> dict[str, str]:
    """The files of a library of any kind; ``headers``: those that its code includes.

    ``kind``: the folder of the templates that stand in for those of the same name.
    """
    name = facts.name
    templates = {
        "README.md": "README.md.j2",
        "CMakeLists.txt": "CMakeLists.txt.j2",
        "meson.build": "meson.build.j2",
        "build.sh": "build.sh.j2",
        "pyproject.toml": "pyproject.toml.j2",
        f"{name}.pc.in": "pkgconfig.pc.in.j2",
        f"{name}-config.cmake.in": "config.cmake.in.j2",
        f"include/{name}.h": "library.h.j2",
        f"src/{name}.c": "library.c.j2",
        "src/self_test.c": "self_test.c.j2",
        f"python/{name}/__init__.py": "python_module.py.j2",
        f"fortran/{name}.f90": "fortran.f90.j2",
    }
    rendered = {
        path: _TEMPLATES.select_template([f"{kind}/{template}", template]).render(fields)
        for path, template in templates.items()
    }
    rendered[f"python/{name}/py.typed"] = ""
    for shared in ("processor.h", *headers):
        rendered[f"src/{shared}"] = (_TEXT / shared).read_text(encoding="utf-8")
    for code in facts.units:
        for file, text in code.files.items():
            place = "src" if file.endswith(".h") else f"src/{code.name}"
            rendered[f"{place}/{file}"] = text
    return rendered


def shared_fields(
    facts: LibraryContents, title: str, about: Iterable[str]
) -> Iterator[tuple[str, object]]:
    """The values of the fields that the templates of all kinds have; ``about``: what is computed,
    in lines.
    """
    section = facts.section
    yield "name", facts.name
    yield "upper", facts.name.upper()
    yield "mark", MARK
    yield "version", VERSION
    yield "abi", build_text.interface_version(VERSION)
    title = c_names.comment(title)
    escaped = title.replace("\\", "\\\\")
    yield "mpi", facts.distributed
    yield "title", title
    yield "toml_title", json.dumps(title, ensure_ascii=False)
    yield "meson_title", build_text.meson_string(title)
    yield "pkgconfig_title", build_text.pkg_config(title)
    yield "docstring_title", escaped.replace('"', "'")
    yield "about", [c_names.comment(line) for line in (*about, *_origin(facts))]
    yield "machine", c_names.literal(section.key.place.title)
    yield "exact", _EXACT
    yield "compiler", shlex.quote(facts.compiler)
    yield (
        "steppers",
        [
            (code.name, code.flags, [file for file in code.files if file.endswith(".c")])
            for code in facts.units
        ],
    )
    chosen = header.rank_decision(facts.sections, section.key.subject.goal)
    yield "decision", list(header.branches(chosen, "    ", "{}"))
    yield "rows", [_row(*row) for row in rows(facts)]


def _fields(facts: LibraryFacts) -> Iterator[tuple[str, object]]:
    problem = facts.problem
    test = _self_test(facts)
    yield from shared_fields(facts, problem.ivp.title, _about(facts))
    yield "handle", "solver"
    yield "unit", "components"
    yield "per", "time step"
    yield "kind", "stepper"
    yield "runtime", "solver.h"
    yield "dimension", c_names.comment(show(problem.ivp.dimension))
    yield "smallest", problem.ivp.minimum
    yield "largest", facts.largest
    yield "most_components", MOST_COMPONENTS
    yield "order", embedded_order(problem)
    yield "dense", _dense(problem)
    yield "called", [(s.name, list(map(_form, s.called))) for s in facts.steppers.values()]
    yield "limit", repr(real_limit(problem))
    yield "controlled", facts.controlled
    yield "codes", _identity(facts)
    yield "winners", len(facts.entries) - len(facts.beside)
    yield "entries", [", ".join((*entry(*row), *_of_steps(*row[:2]))) for row in rows(facts)]
    yield "first_of_several", 0 if facts.section.key.ranks > 1 else len(facts.section.entries)
    yield "size", test.size
    yield "components", test.components
    yield "steps", _STEPS
    yield "h", repr(test.h)
    yield "places", test.places
    yield "values", [repr(value) for value in test.values]
    yield "largest_value", repr(test.largest)
    yield "called_h", repr(test.called_h)
    yield "called_values", [repr(value) for value in test.called_values]


@dataclass(frozen=True, slots=True)
class _DenseTables:
    """The tables of dense.h."""

    order: int
    degree: int
    stages: tuple[str, ...]
    expansion: tuple[str, ...]


def _dense(problem: Problem) -> _DenseTables:
    interpolant = Interpolant(dense_degree(problem))
    stages = [x for node, weights in interpolant.stages() for x in (node, *weights)]
    return _DenseTables(
        order=dense_order(problem),
        degree=interpolant.degree,
        stages=tuple(repr(float(x)) for x in stages),
        expansion=tuple(repr(float(x)) for x in interpolant.expansion.ravel()),
    )


def rows(facts: LibraryContents) -> Iterator[tuple[ExportEntry, LibraryStepper, float | None]]:
    """Each choice with its code and its predicted seconds of a step."""
    return zip(facts.entries, facts.chosen, facts.predicted, strict=True)


def _about(facts: LibraryFacts) -> Iterator[str]:
    """What is computed."""
    problem = facts.problem
    steps = f", {problem.correctors} corrector steps" if problem.correctors else ""
    yield f"Method: {problem.method.title}{steps}."
    if not facts.controlled:
        yield "There is no error estimate, and no solve: these take a method whose last row of A"
        yield "is b, with no more corrector steps than its order, or embedded weights."


def _origin(facts: LibraryContents) -> Iterator[str]:
    """What was tuned, when and where."""
    section = facts.section
    origin = section.entries[0].origin
    yield f"Tuned: study {origin.study}, begun {origin.taken}, on {section.key.place.title},"
    yield f"with {origin.compiler or section.entries[0].build.compiler}."


def entry(choice: ExportEntry, stepper: LibraryStepper, predicted: float | None) -> Iterator[str]:
    """The values of a row of the table in C."""
    yield f"&{stepper.name}"
    yield c_names.literal(stepper.name)
    yield c_names.literal(choice.candidate)
    yield c_names.literal(" ".join(stepper.flags))
    yield str(choice.size)
    yield str(choice.threads)
    for seconds in _times(choice, predicted):
        yield "-1.0" if seconds is None else repr(float(seconds))


def _times(choice: ExportEntry, predicted: float | None) -> tuple[float | None, float | None]:
    """The measured and the predicted seconds; what a decision map expects is not measured."""
    return (None, choice.seconds) if choice.source == "map" else (choice.seconds, predicted)


def _of_steps(choice: ExportEntry, stepper: LibraryStepper) -> Iterator[str]:
    """What a row of the table in C has of time steps, behind the values of ``entry``."""
    yield str(stepper.evaluations)
    yield f"{stepper.name}_called"
    yield str(choice.layout.ranks)
    yield str(_SCHEMES.get(choice.layout.communication, 0))


def _form(form: CalledForm) -> str:
    """The values of a form for right-hand sides of a caller in C."""
    words = c_names.literal(form.words)
    return ", ".join((f"&{form.name}", words, str(form.stages), str(form.evaluations)))


def _identity(facts: LibraryContents) -> str:
    """16 hexadecimal digits over the text and flags of all codes."""
    codes = [
        [stepper.name, stepper.flags, sorted(stepper.files.items())]
        for stepper in facts.steppers.values()
    ]
    return hashlib.sha256(json.dumps(codes).encode()).hexdigest()[:16]


def _row(entry: ExportEntry, stepper: LibraryStepper, predicted: float | None) -> tuple[str, ...]:
    """The cells of a row of README's table."""
    times = ["" if value is None else f"{value:.4g}" for value in _times(entry, predicted)]
    layout = entry.layout
    ranks = f"{layout.ranks} x " if layout.ranks > 1 else ""
    team = f"{ranks}{entry.threads}" + (f", {layout.communication}" if ranks else "")
    return (entry.variant, str(entry.size), team, " ".join(stepper.flags), *times)


def _self_test(facts: LibraryFacts) -> _SelfTest:
    """The smallest problem at which every code of the library runs through all of its cases."""
    awkward = (checked(facts.problem).awkward(c) for c in candidates(facts, facts.problem))
    problem = max(awkward, key=lambda problem: problem.n)
    state = checked(problem).state(_STEPS)
    places = np.unique(np.linspace(0, problem.n - 1, PLACES).round().astype(int))
    called = chain(facts.problem, problem.n)
    return _SelfTest(
        size=int(problem.size_text),
        h=problem.h or 0.0,
        components=problem.n,
        places=tuple(places.tolist()),
        values=tuple(state[places].tolist()),
        largest=float(np.abs(state).max()),
        called_h=called.h,
        called_values=tuple(ivp_reference.integrate(called, _STEPS)[places].tolist()),
    )


def candidates(facts: LibraryContents, problem: AnyProblem) -> list[Candidate]:
    """The choices as candidates of one problem."""
    return [
        Candidate(
            variant=stepper.variant, problem=problem, build=choice.build, layout=choice.layout
        )
        for choice, stepper, _ in rows(facts)
    ]
