"""Reads studies from YAML (schema autotune.config/1): the file that names all others."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

from autotune import paths
from autotune.domain.family import family_of, go_together
from autotune.domain.machine import Machine
from autotune.domain.metric import TIME
from autotune.domain.problem import AnyProblem, Problem, ProgramProblem
from autotune.domain.program import Program
from autotune.domain.reference import Reference
from autotune.domain.setup import Generated, Layout, Searching, Setup, StudySubject
from autotune.domain.variant import NO_COMPILER, Placement
from autotune.files.config.facts import (
    FORMS,
    altered,
    draft,
    faults_noted,
    named_file,
    note_misfits,
    settle,
    unchecked,
)
from autotune.files.config.machines import read_possible_machine
from autotune.files.config.problems import complete_problem
from autotune.files.config.program.programs import SCHEMA as PROGRAM_SCHEMA
from autotune.files.config.program.programs import program_in, read_program
from autotune.files.config.references import check_reference, read_reference
from autotune.files.config.session import Session
from autotune.files.config.skeletons import read_skeleton
from autotune.files.config.spaces import read_generated
from autotune.files.parsing.yaml_document import Document, Keys, shown

SCHEMA = "autotune.config/1"


FORMS[Machine | None] = named_file("machines", read_possible_machine, also=("host",))
FORMS[Reference | None] = named_file("benchmarks/published", read_reference)


def read_study(session: Session, path: Path) -> Setup | None:
    """The study in a config file and in every file that it names; None with faults noted where it
    is wrong.
    """
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    value = None if document is None else study_in(session, document)
    return value if len(session.faults) == faults_before else None


def study_in(session: Session, document: Document) -> Setup | None:
    """The study that a document describes, without the key ``schema``; None with faults noted
    where it is wrong.
    """
    faults_before = len(session.faults)
    stated = draft(session, document, Setup, name=paths.stem(document.path))
    stated = stated and _with_problems(session, document, stated)
    if stated is None:
        _follow_subject(session, document)
        return None
    for i, build in enumerate(stated.builds):
        note_misfits(session, document, build.misfits(), ("builds", i))
    readable = len(session.faults) - faults_before == session.followed
    reader = _Reader(session, document, stated)
    subject = reader.subject()
    program: Program | None = None
    if isinstance(subject, Program):
        program = subject
    problems = [
        complete_problem(session, document, i, problem, program)
        for i, problem in enumerate(stated.problems)
    ]
    if readable:
        reader.check_repeats(problems)
    reader.check_layouts(stated.machine, problems)
    if program is not None:
        reader.check_program(program)
    elif subject is not None:
        reader.check_families(subject, f"the skeleton {subject.name}")
    reader.check_environment()
    if program is not None:
        reader.check_objectives(program)
        stated = altered(stated, search=_objective_first(stated.search, program))
    sections = {
        name: settle(session, document, getattr(stated, name), (name,))
        for name in ("selection", "search", "measuring", "limits")
    }
    if subject is None or len(session.faults) > faults_before:
        return None
    stated = altered(stated, problems=tuple(problems), subject=subject, **sections)
    with faults_noted(session, document):
        setup = replace(_completed(document, stated, reader))
        check_reference(session, setup)
        return setup
    return None


def _with_problems(session: Session, document: Document, stated: Setup) -> Setup | None:
    """The draft of a study with its problems; None with a fault noted where it lacks them.

    A study of a program may leave them out: it has one problem with the arguments of the program's
    file.
    """
    if cast("tuple[AnyProblem, ...] | None", stated.problems) is not None:
        return stated
    if document.root.get("problems") is not None:
        return None
    if document.root.get("program") is None:
        about = "a list of what is computed, such as [{stencil: star3d-7pt, size: 96}]"
        session.add(document.place(()), "the key 'problems' is missing", about)
        return None
    return altered(stated, problems=(unchecked(ProgramProblem, None, {}),))


def _objective_first(search: Searching, program: Program) -> Searching:
    """The search with ``time`` first, which stands for the objective of the program."""
    others = [name for name in search.objectives if name not in (program.objective, TIME.name)]
    return altered(search, objectives=(TIME.name, *others))


def _follow_subject(session: Session, document: Document) -> None:
    """Note the faults of skeleton, space and program where the study itself cannot be read."""
    names = {key: document.root.get(key) for key in ("space", "skeleton", "program")}
    space, skeleton, program = (n if isinstance(n, str) and n else None for n in names.values())
    if space is not None:
        _generated_in(session, document, space, skeleton)
    elif skeleton is not None:
        session.follow(document, ("skeleton",), "variants/skeleton", read_skeleton, skeleton)
    if program is not None:
        session.follow(document, ("program",), "variants/program", read_program, program)
    _program_inside(session, document)


def _generated_in(
    session: Session, document: Document, space: str, name: str | None
) -> Generated | None:
    """The space of this name, and its skeleton, which must be the one of the second name; None with
    faults noted where one of them is wrong.
    """
    generated = session.follow(document, ("space",), "variants/space", read_generated, space)
    if name is None:
        return generated
    skeleton = session.follow(document, ("skeleton",), "variants/skeleton", read_skeleton, name)
    if generated is None or skeleton is None:
        return None
    if generated.skeleton.name != skeleton.name:
        found = f"the space {generated.space.name} is for the skeleton {generated.skeleton.name}"
        expected = f"a space for {skeleton.name}, as the key skeleton says"
        session.add(document.place(("space",)), found, expected)
        return None
    return replace(generated, skeleton=skeleton)


def _program_inside(session: Session, document: Document) -> Program | None:
    """The program that a config itself describes; None where it describes none, or with faults
    noted.
    """
    inside = document.inside("program")
    if inside is None:
        return None
    if inside.root.pop("schema", PROGRAM_SCHEMA) != PROGRAM_SCHEMA:
        found = "the schema of another kind of file"
        session.add(inside.place(("schema",)), found, f"schema: {PROGRAM_SCHEMA}, or no schema")
    name = document.root.get("name")
    usual = paths.stem(document.path)
    return program_in(session, inside, name if isinstance(name, str) and name else usual)


def _completed(document: Document, stated: Setup, reader: "_Reader") -> Setup:
    """The draft of a study, completed from its problems and its program."""
    subject = stated.subject
    engine = family_of(subject).engines[0]
    return altered(
        stated,
        source=shown(document.path),
        builds=stated.builds if subject.compiled else (NO_COMPILER,),
        layouts=reader.layouts(subject),
        engine=engine if document.root.get("engine") is None else stated.engine,
        places=document.places_by_text(),
    )


class _Reader:
    """Reads the files that one study names."""

    def __init__(self, session: Session, document: Document, stated: Setup) -> None:
        self.session = session
        self.document = document
        self.stated = stated
        names = cast("Mapping[str, str | None]", stated.subject)
        self.names = names
        """The skeleton, the space and the program by their keys."""
        spread = cast("Mapping[str, object]", stated.layouts)
        self.threads = cast("tuple[int | Literal['all'], ...] | None", spread["threads"])
        self.stated_layouts = cast("tuple[Layout, ...] | None", spread["layouts"])
        self.placement = cast("Placement | None", spread["placement"])

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place(keys), found, expected, hint)

    def subject(self) -> Generated | Program | None:
        """The subject of the study: a space of variants of a skeleton, or an external program."""
        if self.names["program"] is None:
            if self.names["space"] is None:
                self.add((), "neither space nor program is given", "one of them")
                return None
            return _generated_in(
                self.session, self.document, self.names["space"], self.names["skeleton"]
            )
        for key in ("space", "skeleton"):
            if self.names[key] is not None:
                self.add((key,), f"both {key} and program are given", "one of them")
        if isinstance(self.document.root["program"], dict):
            return _program_inside(self.session, self.document)
        return self.session.follow(
            self.document, ("program",), "variants/program", read_program, self.names["program"]
        )

    def layouts(self, subject: StudySubject | None = None) -> tuple[Layout, ...]:
        """The layouts of the study; ``threads: [1, all]`` is short for layouts of one rank.

        A subject that does not run on several threads has one layout.
        """
        usual_placement = self.placement or "compact"
        if self.stated_layouts is not None:
            return tuple(self._layout(i, usual_placement) for i in range(len(self.stated_layouts)))
        usual: int | Literal["all"] = "all" if subject is None or subject.spread else 1
        counts = self.threads or (usual,)
        return tuple(Layout(threads=count, placement=usual_placement) for count in counts)

    def _layout(self, i: int, usual: Placement) -> Layout:
        """Layout ``i``; a layout of one rank that names no placement has the placement of the
        study.
        """
        assert self.stated_layouts is not None
        stated = self.stated_layouts[i]
        single = stated.nodes * stated.ranks == 1
        placement = stated.placement if self._is_placed(i) else usual
        # a placement that is refused is told by ``check_layouts``
        return Layout(
            stated.nodes, stated.ranks, stated.threads, placement if single else "compact"
        )

    def _is_placed(self, i: int) -> bool:
        layouts = self.document.root["layouts"]
        layout = layouts[i] if isinstance(layouts, list) else None
        return isinstance(layout, dict) and layout.get("placement") is not None

    def check_repeats(self, problems: Sequence[AnyProblem | None]) -> None:
        """Check that no problem, build or layout occurs twice, since their results could not be
        told apart.

        Problems are compared as values: ``size: 96`` may be the same problem as a grid written out.
        """
        stated = self.stated
        # a layout that names no placement has that of the study, which need not be the usual one
        layouts = [
            (layout, self._is_placed(i)) for i, layout in enumerate(self.stated_layouts or ())
        ]
        lists: dict[str, Sequence[object]] = {
            "problems": cast("list[object]", self.document.root.get("problems") or []),
            "builds": stated.builds,
            "threads": self.threads or (),
            "layouts": layouts,
            "communication": stated.communications,
        }
        for key, listed in lists.items():
            for i, item in enumerate(listed):
                same = listed.index(item)
                if key == "problems" and problems[i] is not None:
                    same = min(same, problems.index(problems[i]))
                if same < i:
                    first = self.document.place((key, same))
                    self.add((key, i), f"{key}: the same again", f"each once (first at {first})")

    def check_families(self, subject: StudySubject, shown_subject: str) -> None:
        """Check that the subject can compute every problem."""
        for i, problem in enumerate(self.stated.problems):
            if not go_together(problem, subject):
                family = family_of(problem)
                found = f"{family.words} with {shown_subject}"
                expected = f"{family_of(subject).words}, or {family.needs}"
                self.add(("problems", i, family.problem_key), found, expected)

    def check_program(self, program: Program) -> None:
        """Check that the study of an external program has no keys that only apply to generated
        code.
        """
        self.check_families(program, f"the program {program.name}")
        if not program.compiled and "builds" in self.document.root:
            found = f"builds: {program.name} names neither {{compiler}} nor {{flags}}"
            self.add(("builds",), found, "no builds, or these places in its build")
        engine = self.document.root.get("engine")
        if engine not in (None, *family_of(program).engines):
            found = f"engine {engine} predicts generated code"
            self.add(("engine",), found, "no engine: a program is predicted by its own model")
        if self.document.root.get("reference") is not None:
            self.add(("reference",), "a published table, and a program", "a space")
        for i, layout in enumerate(self.layouts(program)):
            if layout.nodes * layout.ranks > 1:
                found = f"layouts: {layout.nodes * layout.ranks} ranks of a program"
                self.add(("layouts", i), found, "1 rank: a program starts its own")
            elif layout.threads != 1 and not program.spread:
                why = "has one thread" if program.threads == "one" else "names no {threads}"
                key = "layouts" if self.stated_layouts is not None else "threads"
                found = f"{layout.threads} threads, and {program.name} {why}"
                self.add((key, i), found, "1, or threads: openmp in its file")

    def check_layouts(self, machine: Machine | None, problems: Sequence[AnyProblem | None]) -> None:
        """Check that the layouts fit the machine, and that some requested communication fits the
        problems.
        """
        if self.threads is not None and self.stated_layouts is not None:
            self.add(("layouts",), "both threads and layouts are given", "one of them")
        key = "layouts" if self.stated_layouts is not None else "threads"
        layouts = self.layouts()
        for i, layout in enumerate(layouts if machine else []):
            assert machine is not None
            threads = 1 if layout.threads == "all" else layout.threads
            if layout.ranks * threads > machine.cores:
                ranks = f"{layout.ranks} ranks of {threads} threads"
                count = ranks if key == "layouts" else f"{threads}"
                found = f"{key}: {count} are more than the cores of {machine.name}"
                self.add((key, i), found, f"at most {machine.cores}")
        for i, layout_stated in enumerate(self.stated_layouts or ()):
            if (
                self._is_placed(i)
                and layout_stated.placement == "scatter"
                and layout_stated.nodes * layout_stated.ranks > 1
            ):
                found = "layouts: scatter, and several ranks, which are placed side by side"
                self.add((key, i, "placement"), found, "compact, or a layout of one rank")
        several = any(layout.nodes * layout.ranks > 1 for layout in layouts)
        communication = self.stated.communications
        if self.names["program"] or not several or communication != ("neighbour",):
            return
        for i, problem in enumerate(problems):
            if not isinstance(problem, Problem):
                continue
            if not problem.ivp.limited or problem.ivp.periodic:
                lacks = "is periodic" if problem.ivp.periodic else "has no limited access distance"
                found = f"{problem.ivp.name} {lacks}, so its ranks cannot"
                self.add(
                    ("communication", 0),
                    f"{found} exchange with neighbours only (problem {i + 1})",
                    "allgather or sparse",
                )

    def check_objectives(self, program: Program) -> None:
        """Check that what the program is judged by is among the objectives of the search."""
        names = self.stated.search.objectives
        if {program.objective, TIME.name} & {*names}:
            return
        found = f"objectives: {program.objective}, which {program.name} is judged by, is missing"
        expected = f"[{', '.join((program.objective, *names))}]"
        self.add(("search", "objectives"), found, expected)

    def check_environment(self) -> None:
        for name in self.stated.environment:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                where = self.document.key(("environment", name))
                self.session.add(where, f"{name!r} is not a variable", "letters, digits and _")
