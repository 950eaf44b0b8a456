"""Studies from YAML (schema autotune.config/1): the one file that names all others."""

import dataclasses
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from autotune import paths
from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem, Problem
from autotune.domain.program import Program
from autotune.domain.reference import Reference
from autotune.domain.setup import (
    ENGINES,
    FAMILIES,
    OBJECTIVES,
    Engine,
    Generated,
    Layout,
    Learner,
    Limits,
    Measuring,
    Objective,
    Sampler,
    Saturation,
    Searching,
    Selection,
    Setup,
)
from autotune.domain.skeleton import Skeleton
from autotune.domain.space import Space
from autotune.domain.variant import EXCHANGES, NO_COMPILER, Build, Exchange, Placement
from autotune.errors import nearest
from autotune.files.config.fields import Model, Read, Size, Text, Time
from autotune.files.config.machines import read_machine
from autotune.files.config.problems import (
    FILES,
    IvpModel,
    ProblemModel,
    ProgramArguments,
    StencilModel,
    read_problem,
)
from autotune.files.config.programs import read_program
from autotune.files.config.references import check_reference, read_reference
from autotune.files.config.session import Session
from autotune.files.config.skeletons import read_skeleton
from autotune.files.config.spaces import read_space
from autotune.files.config.validation import validate
from autotune.files.config.yaml_document import Document, Keys, Plain, describe, shown
from autotune.units import Bytes, Seconds

SCHEMA = "autotune.config/1"
PLACEHOLDERS = ("command",)
"""What a launcher template may name in braces."""
LAYOUT_PLACEHOLDERS = ("nodes", "ranks", "threads")
"""What a template for programs of several ranks may name as well."""


_FAMILY = {IvpModel: "ivp", StencilModel: "stencil", ProgramArguments: "program"}


def _threads(value: object) -> int | str:
    if value == "all" or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value if isinstance(value, int) else "all"
    hint = nearest(value, ["all"]) if isinstance(value, str) else ""
    raise ValueError(
        f"{describe(value)} is not a number of threads (at least 1) or all"
        + (hint and f" ({hint})")
    )


def _launcher(value: object, further: tuple[str, ...] = ()) -> str:
    """A command line with ``{command}`` once and no placeholder but the ``further`` ones."""
    if not isinstance(value, str):
        raise ValueError(f"{describe(value)} is not a command line")
    names = re.findall(r"\{([^{}]*)\}", value)
    known = (*PLACEHOLDERS, *further)
    unknown = [f"{{{name}}}" for name in names if name not in known]
    if unknown:
        listed = ", ".join(f"{{{name}}}" for name in known)
        raise ValueError(f"unknown placeholder {', '.join(unknown)}; known: {listed}")
    if re.search(r"[{}]", re.sub(r"\{[^{}]*\}", "", value)):
        raise ValueError(f"a brace stands alone in {value!r}")
    if names.count("command") != 1:
        raise ValueError(f"{value!r} must name {{command}} once, where the program goes")
    try:
        shlex.split(value)
    except ValueError as error:
        raise ValueError(f"{value!r} is not a command line: {error}") from error
    return value


def _mpi_launcher(value: object) -> str:
    """As ``_launcher``, but it may also name the nodes, the ranks and the threads of each rank."""
    return _launcher(value, LAYOUT_PLACEHOLDERS)


def _share(value: object) -> float:
    """A share below 1: ``1 %`` or ``0.01``."""
    text = str(value).strip()
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        found = -1.0
    if isinstance(value, bool) or not 0 <= found < 1:
        raise ValueError(f"{describe(value)} is not a share from 0 up to 100 %, such as 1 %")
    return found


def _objectives(value: object) -> tuple[str, ...]:
    """Time, alone or with others, each once; in the order of ``OBJECTIVES``."""
    listed = value if isinstance(value, list) else [value]
    for each in listed:
        if each not in OBJECTIVES:
            hint = nearest(each, OBJECTIVES) if isinstance(each, str) else ""
            known = ", ".join(OBJECTIVES)
            raise ValueError(
                f"{describe(each)} is not an objective ({known})" + (hint and f": {hint}")
            )
    if not listed or len(set(listed)) < len(listed):
        raise ValueError("at least one objective is needed, and each is named once")
    if "time" not in listed:
        raise ValueError(
            f"time is always one of the objectives: [time, {', '.join(map(str, listed))}]"
        )
    return tuple(name for name in OBJECTIVES if name in listed)


class _Layout(Model):
    nodes: int = Field(default=1, ge=1)
    ranks: int = Field(default=1, ge=1)
    threads: Annotated[int | Literal["all"], Read(_threads)] = "all"
    placement: Placement | None = None


class _Build(Model):
    compiler: Text = "gcc"
    flags: list[Text] = Field(default_factory=lambda: list(Build().flags))


class _Selection(Model):
    top: int = Field(default=5, ge=1)
    random: int = Field(default=4, ge=0)
    baseline: bool = True
    seed: int = Field(default=1, ge=0, lt=2**32)


class _Searching(Model):
    sampler: Sampler = "model"
    first: int = Field(default=10, ge=1)
    stop_below: Annotated[float, Read(_share)] = 0.01
    patience: int = Field(default=5, ge=1)
    budget: int | None = Field(default=None, ge=1)
    objectives: Annotated[tuple[Objective, ...], Read(_objectives)] = ("time",)
    warm_start: bool = True
    residual: Learner = "process"
    prior: Text | None = Field(default=None, description="a study of the store, or STUDY@STORE")


class _Measuring(Model):
    rounds: int = Field(default=5, ge=1)
    samples: int = Field(default=3, ge=1)
    min_sample: Time = Seconds(0.02)
    busy: float = Field(default=0.95, ge=0, le=1)
    attempts: int = Field(default=3, ge=1)
    verify_steps: int = Field(default=3, ge=1)


class _Limits(Model):
    compile: Time = Seconds(60.0)
    run: Time = Seconds(60.0)
    factor: float = Field(default=20.0, gt=0)
    memory: Size | None = None
    output: Size = Bytes(1 << 20)
    file: Size = Bytes(1 << 30)


class _Study(Model):
    title: str = ""
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] | None = None
    machine: Text = Field(description="host, the name of a machine, or a path that ends in .yaml")
    skeleton: Text | None = None
    space: Text | None = Field(
        default=None, description="the name of a space, or a path that ends in .yaml"
    )
    program: Text | None = Field(
        default=None, description="the name of a program, or a path that ends in .yaml"
    )
    problems: list[ProblemModel] = Field(min_length=1)
    builds: list[_Build] = Field(default_factory=lambda: [_Build()], min_length=1)
    threads: list[Annotated[int | Literal["all"], Read(_threads)]] | None = Field(
        default=None, min_length=1, description="thread counts of programs with one rank"
    )
    layouts: list[_Layout] | None = Field(
        default=None, min_length=1, description="nodes, ranks per node and threads per rank"
    )
    placement: Placement = "compact"
    communication: list[Exchange] = Field(default_factory=lambda: list(EXCHANGES), min_length=1)
    launcher: Annotated[str, Read(_launcher)] = "{command}"
    mpi_launcher: Annotated[str, Read(_mpi_launcher)] = ""
    environment: dict[str, str] = Field(default_factory=dict)
    engine: Engine | None = None
    saturation: Saturation = "paper"
    reference: Text | None = Field(
        default=None, description="the name of a published table, or a path that ends in .yaml"
    )
    selection: _Selection = _Selection()
    search: _Searching = _Searching()
    measuring: _Measuring = _Measuring()
    limits: _Limits = _Limits()


def read_study(session: Session, path: Path) -> Setup | None:
    """The study of a config file and of every file that it names, or None and faults."""
    known = len(session.faults)
    document = session.open(path, SCHEMA)
    model = validate(session, document, _Study) if document else None
    if document is None:
        return None
    readable = len(session.faults) == known
    if model is None:
        _follow_names(session, document)
        return None
    reader = _Reader(session, document, model)
    machine = reader.machine()
    subject = reader.subject()
    program = subject if isinstance(subject, Program) else None
    problems = [
        read_problem(session, document, i, each, program) for i, each in enumerate(model.problems)
    ]
    if readable:
        reader.check_repeats(problems)
    reader.check_layouts(machine, problems)
    if isinstance(subject, Program):
        reader.check_program(subject)
    elif subject is not None:
        reader.check_families(subject.family, f"the skeleton {subject.skeleton.name}")
    reader.check_environment()
    reference = reader.reference()
    if subject is None or len(session.faults) > known:
        return None
    try:
        setup = _build(document, model, machine, subject, [p for p in problems if p])
    except ValueError as error:
        session.add(shown(path), str(error))
        return None
    setup = dataclasses.replace(setup, reference=reference)
    check_reference(session, setup)
    return setup


def _build(
    document: Document,
    model: _Study,
    machine: Machine | None,
    subject: Generated | Program,
    problems: list[AnyProblem],
) -> Setup:
    selection, measuring, limits = model.selection, model.measuring, model.limits
    builds = tuple(Build(compiler=b.compiler, flags=tuple(b.flags)) for b in model.builds)
    program = subject if isinstance(subject, Program) else None
    if program is not None and not program.compiled:
        builds = (NO_COMPILER,)
    return Setup(
        name=model.name or document.path.stem,
        source=shown(document.path),
        machine=machine,
        problems=tuple(problems),
        subject=subject,
        builds=builds,
        layouts=_layouts(model, program),
        communications=tuple(model.communication),
        launcher=model.launcher,
        mpi_launcher=model.mpi_launcher,
        environment=model.environment,
        engine=model.engine or ENGINES["program" if program else problems[0].family][0],
        saturation=model.saturation,
        selection=Selection(**dict(selection)),
        search=Searching(**dict(model.search)),
        measuring=Measuring(**dict(measuring)),
        limits=Limits(**dict(limits)),
        places={".".join(str(k) for k in keys): p for keys, p in document.places.items() if keys},
    )


def _layouts(model: _Study, program: Program | None = None) -> tuple[Layout, ...]:
    """``threads: [1, all]`` is short for layouts of one rank; a program may have one thread."""
    if model.layouts is not None:
        return tuple(_layout(each, model.placement) for each in model.layouts)
    usual: int | Literal["all"] = "all" if program is None or program.spread else 1
    counts = model.threads or [usual]
    return tuple(Layout(threads=count, placement=model.placement) for count in counts)


def _layout(model: _Layout, usual: Placement) -> Layout:
    """A layout; the placement of the study holds for those of one rank that name none."""
    single = model.nodes * model.ranks == 1
    placement = model.placement or (usual if single else "compact")
    # a placement that is refused is told by ``check_layouts``
    return Layout(model.nodes, model.ranks, model.threads, placement if single else "compact")


def _follow_names(session: Session, document: Document) -> None:
    """Note the faults of the files that a study names, where the study itself cannot be read."""
    folder = document.path.parent

    def follow(
        keys: Keys,
        value: Plain,
        collection: paths.Collection,
        reader: Callable[[Session, Path], object],
    ) -> None:
        if isinstance(value, str) and value and (keys, value) != (("machine",), "host"):
            also = ("host",) if collection == "machines" else ()
            path = session.resolve(value, collection, folder, document.place(keys), also)
            if path is not None:
                session.once(path, reader)

    root = document.root
    follow(("machine",), root.get("machine"), "machines", read_machine)
    follow(("skeleton",), root.get("skeleton"), "variants/skeleton", read_skeleton)
    follow(("space",), root.get("space"), "variants/space", read_space)
    follow(("program",), root.get("program"), "variants/program", read_program)
    follow(("reference",), root.get("reference"), "benchmarks/published", read_reference)
    problems = root.get("problems")
    for i, problem in enumerate(problems if isinstance(problems, list) else []):
        named = problem if isinstance(problem, dict) else {}
        for key, (collection, reader) in FILES.items():
            follow(("problems", i, key), named.get(key), collection, reader)


class _Reader:
    """Follows the names in one study to their files."""

    def __init__(self, session: Session, document: Document, model: _Study) -> None:
        self.session = session
        self.document = document
        self.model = model

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place(keys), found, expected, hint)

    def machine(self) -> Machine | None:
        if self.model.machine == "host":
            return None
        path = self.session.resolve(
            self.model.machine,
            "machines",
            self.document.path.parent,
            self.document.place(("machine",)),
            also=("host",),
        )
        return self.session.once(path, read_machine) if path else None

    def subject(self) -> Generated | Program | None:
        """What the study is about: a space of a skeleton, or a program."""
        if self.model.program is None:
            if self.model.space is None:
                self.add((), "neither space nor program is given", "one of them")
                return None
            skeleton, space = self._skeleton_and_space(self.model.space)
            if skeleton is None or space is None or space.skeleton != skeleton.name:
                return None
            return Generated(skeleton=skeleton, space=space)
        for key in ("space", "skeleton"):
            if getattr(self.model, key) is not None:
                self.add((key,), f"both {key} and program are given", "one of them")
        where, folder = self.document.place(("program",)), self.document.path.parent
        path = self.session.resolve(self.model.program, "variants/program", folder, where)
        return self.session.once(path, read_program) if path else None

    def _skeleton_and_space(self, named: str) -> tuple[Skeleton | None, Space | None]:
        folder, session = self.document.path.parent, self.session
        where = self.document.place(("space",))
        path = session.resolve(named, "variants/space", folder, where)
        space = session.once(path, read_space) if path else None
        name = self.model.skeleton
        if name is None:
            # The space was checked against the skeleton that it names.
            if space is None or path is None:
                return None, space
            name, folder = space.skeleton, path.parent
        where = self.document.place(("skeleton",))
        place = session.resolve(name, "variants/skeleton", folder, where)
        skeleton = session.once(place, read_skeleton) if place else None
        if space is not None and skeleton is not None and space.skeleton != skeleton.name:
            found = f"the space {space.name} is for the skeleton {space.skeleton}"
            self.add(("space",), found, f"a space for {skeleton.name}, as the key skeleton says")
        return skeleton, space

    def reference(self) -> Reference | None:
        name = self.model.reference
        if name is None:
            return None
        where, folder = self.document.place(("reference",)), self.document.path.parent
        path = self.session.resolve(name, "benchmarks/published", folder, where)
        return self.session.once(path, read_reference) if path else None

    def check_repeats(self, problems: Sequence[AnyProblem | None]) -> None:
        """No problem, build or layout twice: their results could not be told apart.

        Problems are compared as they were understood: ``size: 96`` is also a way to write a grid.
        """
        for key in ("problems", "builds", "threads", "layouts", "communication"):
            listed = getattr(self.model, key) or []
            for i, item in enumerate(listed):
                same = listed.index(item)
                if key == "problems" and problems[i] is not None:
                    same = min(same, problems.index(problems[i]))
                if same < i:
                    first = self.document.place((key, same))
                    self.add((key, i), f"{key}: the same again", f"each once (first at {first})")

    def check_families(self, wanted: str, subject: str) -> None:
        """The subject is for problems of this family."""
        for i, model in enumerate(self.model.problems):
            family = _FAMILY[type(model)]
            if family != wanted:
                found = f"{FAMILIES[family]} with {subject}"
                key = "arguments" if family == "program" else family
                other = "the key program" if family == "program" else f"a space for {family}s"
                self.add(("problems", i, key), found, f"{FAMILIES[wanted]}, or {other}")

    def check_program(self, program: Program) -> None:
        """What a program of the user's has no use for is not given."""
        model = self.model
        self.check_families("program", f"the program {program.name}")
        if not program.compiled and "builds" in self.document.root:
            found = f"builds: {program.name} names neither {{compiler}} nor {{flags}}"
            self.add(("builds",), found, "no builds, or these places in its build")
        if model.engine not in (None, *ENGINES["program"]):
            found = f"engine {model.engine} predicts generated code"
            self.add(("engine",), found, "no engine: a program is predicted by its own model")
        if model.reference is not None:
            self.add(("reference",), "a published table, and a program", "a space")
        for i, layout in enumerate(_layouts(model, program)):
            if layout.nodes * layout.ranks > 1:
                found = f"layouts: {layout.nodes * layout.ranks} ranks of a program"
                self.add(("layouts", i), found, "1 rank: a program starts its own")
            elif layout.threads != 1 and not program.spread:
                why = "has one thread" if program.threads == "one" else "names no {threads}"
                key = "layouts" if model.layouts is not None else "threads"
                found = f"{layout.threads} threads, and {program.name} {why}"
                self.add((key, i), found, "1, or threads: openmp in its file")

    def check_layouts(self, machine: Machine | None, problems: Sequence[AnyProblem | None]) -> None:
        """They fit the machine, and some communication that was asked for fits the problems."""
        if self.model.threads is not None and self.model.layouts is not None:
            self.add(("layouts",), "both threads and layouts are given", "one of them")
        key = "layouts" if self.model.layouts is not None else "threads"
        layouts = _layouts(self.model)
        for i, layout in enumerate(layouts if machine else []):
            assert machine is not None
            threads = 1 if layout.threads == "all" else layout.threads
            if layout.ranks * threads > machine.cores:
                ranks = f"{layout.ranks} ranks of {threads} threads"
                count = ranks if key == "layouts" else f"{threads}"
                found = f"{key}: {count} are more than the cores of {machine.name}"
                self.add((key, i), found, f"at most {machine.cores}")
        for i, each in enumerate(self.model.layouts or []):
            if each.placement == "scatter" and each.nodes * each.ranks > 1:
                found = "layouts: scatter, and several ranks, which are placed side by side"
                self.add((key, i, "placement"), found, "compact, or a layout of one rank")
        several = any(layout.nodes * layout.ranks > 1 for layout in layouts)
        if all(isinstance(p, StencilModel) for p in self.model.problems):
            self._check_one_rank(layouts)
        if self.model.program or not several or self.model.communication != ["neighbour"]:
            return
        for i, problem in enumerate(problems):
            if isinstance(problem, Problem) and not problem.ivp.limited:
                found = f"{problem.ivp.name} has no limited access distance, so its ranks cannot"
                self.add(
                    ("communication", 0),
                    f"{found} exchange with neighbours only (problem {i + 1})",
                    "allgather or sparse",
                )

    def _check_one_rank(self, layouts: Sequence[Layout]) -> None:
        if all(layout.nodes * layout.ranks > 1 for layout in layouts):
            self.add(
                ("layouts",),
                "layouts: none has one rank, and grids are not spread over ranks",
                "threads: [all], or a layout of one rank on one node",
            )

    def check_environment(self) -> None:
        for name in self.model.environment:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                where = self.document.key(("environment", name))
                self.session.add(where, f"{name!r} is not a variable", "letters, digits and _")
