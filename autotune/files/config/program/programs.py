"""Reads external programs from YAML (schema autotune.program/1)."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from autotune import paths
from autotune.domain.metric import TIME
from autotune.domain.parameter_domain import ParameterDomain, flattened
from autotune.domain.program import Program, digest
from autotune.domain.value_conditions import activated
from autotune.errors import nearest
from autotune.files.config.facts import altered, draft, settle
from autotune.files.config.program.program_models import complete_model
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, shown
from autotune.language.constraint import Value

SCHEMA = "autotune.program/1"
LARGEST = 1 << 28
"""Bytes of all sources of a program together."""


def read_program(session: Session, path: Path) -> Program | None:
    """The program in a file; None with faults noted where it cannot be read."""
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    value = None if document is None else program_in(session, document, paths.stem(path))
    return value if len(session.faults) == faults_before else None


def program_in(session: Session, document: Document, name: str) -> Program | None:
    """The program of this name that a document describes, without the key ``schema``; None with
    faults noted where it is wrong.
    """
    faults_before = len(session.faults)
    stated = draft(session, document, Program, name=name, source_folder=".")
    if stated is None:
        return None
    if stated.folder and not paths.is_folder(document.path.parent / stated.folder):
        session.add(document.place(("folder",)), f"there is no folder {stated.folder!r}")
    if stated.model is not None and stated.objective != TIME.name:
        found = f"a model predicts the time, and the objective is {stated.objective}"
        session.add(document.key(("model",)), found, "no model, or objective: time")
    sources = _sources(session, document, stated)
    stated_model, readable = stated.model, len(session.faults) == faults_before
    stated = _completed(document, stated, sources)
    program = settle(session, document, stated, at=("run",), readable=readable)
    if program is None or stated_model is None:
        return program
    model = complete_model(session, document, stated_model, program)
    return None if model is None else dataclasses.replace(program, model=model)


def _completed(document: Document, stated: Program, sources: Mapping[str, bytes]) -> Program:
    """The draft of a program with absolute paths and a complete baseline, but without a model."""
    build = document.root.get("build")
    if isinstance(build, list) and build and not isinstance(build[0], list):
        # the words of a single command: they have the places that those of a list of commands have
        for i in range(len(build)):
            document.places["build", 0, i] = document.place(("build", i))
    folder = document.path.parent
    return altered(
        stated,
        source=shown(document.path),
        source_folder=str(paths.absolute(folder / stated.source_folder)),
        sources=tuple(sources),
        digest=digest(sources),
        folder=str(paths.absolute(folder / stated.folder)) if stated.folder else "",
        parameters={
            name: domain.including(stated.baseline.get(name))
            if isinstance(domain, ParameterDomain)
            else domain
            for name, domain in stated.parameters.items()
        },
        baseline=_baseline(stated),
        model=None,
        places=document.places_by_text(),
    )


def _baseline(stated: Program) -> dict[str, Value]:
    """The stated values, and the first of every other parameter; none for those whose condition is
    false.
    """
    first = {n: values[0] for n, values in flattened(stated.parameters).items() if values}
    try:
        return {
            **activated(
                stated.parameters, {**first, **stated.baseline}, stated.arguments, lambda v: v[0]
            ),
            **stated.baseline,
        }
    except ValueError:  # a condition that cannot be judged is refused where it stands
        return {**first, **stated.baseline}


def _sources(session: Session, document: Document, program: Program) -> dict[str, bytes]:
    """The source files: name relative to the source folder, to content; faults are noted."""
    folder = document.path.parent / program.source_folder
    contents: dict[str, bytes] = {}
    if not paths.is_folder(folder):
        where = document.place(("source_folder",))
        session.add(where, f"there is no folder {shown(folder)!r}")
        return contents
    for i, pattern in enumerate(program.sources):
        where = document.place(("sources", i))
        try:
            names = source_names(folder, pattern)
        except (ValueError, NotImplementedError, OSError, RecursionError) as error:
            session.add(where, f"{pattern!r}: {error}", "a name or a pattern such as *.c")
            continue
        if not names:
            near = nearest(pattern, [p.name for p in folder.iterdir() if p.is_file()])
            session.add(where, f"there is no file {pattern!r} in {shown(folder)}", "", near)
        for name in names:
            try:
                contents[name] = (folder / name).read_bytes()
            except OSError as error:
                session.add(where, f"{name} cannot be read: {error.strerror}")
            if sum(map(len, contents.values())) > LARGEST:
                session.add(where, f"the sources have more than {LARGEST} B", "fewer files")
                contents.clear()
    return dict(sorted(contents.items()))


def source_names(folder: Path, pattern: str) -> list[str]:
    """The files in a folder that match a name or a pattern, relative to the folder, sorted."""
    if (folder / pattern).is_file():
        return [pattern]
    return sorted(str(p.relative_to(folder)) for p in folder.glob(pattern) if p.is_file())
