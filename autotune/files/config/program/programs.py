"""Reads external programs from YAML (schema autotune.program/1)."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from autotune import paths
from autotune.domain.annotations import Text
from autotune.domain.metric import TIME
from autotune.domain.program import (
    BUILD_PLACES,
    CHECK_PLACES,
    METRICS_OF_ALL,
    NAME,
    RUN_PLACES,
    Command,
    Package,
    Program,
    Template,
    digest,
)
from autotune.domain.space import within
from autotune.errors import nearest, one_of, unknown_name
from autotune.files.config.facts import (
    FORMS,
    LOST,
    FactReader,
    FileForm,
    altered,
    draft,
    settle,
)
from autotune.files.config.program.program_models import complete_model
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, Keys, describe, shown

SCHEMA = "autotune.program/1"
LARGEST = 1 << 28
"""Bytes of all sources of a program together."""


def _read_packages(reader: FactReader, value: object, keys: Keys) -> object:
    """The packages that a program needs, with how to install them: ``{pystencils: pip install
    pystencils}``.
    """
    packages = reader.value(Mapping[str, Text], (), value, keys)
    if packages is LOST:
        return LOST
    named = cast("dict[str, str]", packages)
    return tuple(Package(name=name, install=how) for name, how in named.items())


FORMS[tuple[Package, ...]] = FileForm(_read_packages, lambda of: of(Mapping[str, Text]))


def read_program(session: Session, path: Path) -> Program | None:
    """The program in a file; None with faults noted where it cannot be read."""
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    if document is None:
        return None
    stated = draft(session, document, Program, name=path.stem, source_folder=".")
    if stated is None:
        return None
    checker = _Checker(session, document, stated)
    checker.check()
    folder = path.parent / stated.source_folder
    sources = checker.sources(folder)
    if len(session.faults) > faults_before or sources is None:
        return None
    stated_model = stated.model
    stated = _completed(document, stated, folder, sources)
    program = settle(session, document, stated, at=("run",))
    if program is None or stated_model is None:
        return program
    model = complete_model(session, document, stated_model, program)
    return None if model is None else dataclasses.replace(program, model=model)


def _completed(
    document: Document, stated: Program, folder: Path, sources: Mapping[str, bytes]
) -> Program:
    """The draft of a program with absolute paths and a complete baseline, but without a model."""
    places = {".".join(str(k) for k in keys): p for keys, p in document.places.items() if keys}
    beside = document.path.parent / stated.folder
    return altered(
        stated,
        source=shown(document.path),
        source_folder=str(folder.resolve()),
        sources=tuple(sources),
        digest=digest(sources),
        folder=str(beside.resolve()) if stated.folder else "",
        baseline={
            name: stated.baseline.get(name, values[0]) for name, values in stated.parameters.items()
        },
        model=None,
        places=places,
    )


class _Checker:
    """Checks the keys of a program against one another, and against files."""

    def __init__(self, session: Session, document: Document, program: Program) -> None:
        self.session = session
        self.document = document
        self.program = program
        self.placeholders = [*program.parameters, *program.arguments]

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place(keys), found, expected, hint)

    def check(self) -> None:
        program = self.program
        self._check_own_names()
        stated = self.document.root.get("build")
        nested = isinstance(stated, list) and bool(stated) and isinstance(stated[0], list)
        for i, command in enumerate(program.build):
            keys: Keys = ("build", i) if nested else ("build",)
            self._check_places(keys, command, BUILD_PLACES)
        self._check_places(("run",), program.run, RUN_PLACES)
        for name, template in program.environment.items():
            if not NAME.fullmatch(name):
                self._key(("environment", name), f"{name!r} is not a variable")
            self._check_place(("environment", name), template, RUN_PLACES)
        if program.check is not None:
            self._check_places(("check", "command"), program.check.command or (), CHECK_PLACES)
        self._check_output()
        self._check_constraints()
        self._check_metrics()
        self._check_values()

    def _key(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.key(keys), found, expected, hint)

    def _check_own_names(self) -> None:
        for section in ("parameters", "arguments"):
            for name in getattr(self.program, section):
                if not NAME.fullmatch(name) or name in RUN_PLACES:
                    expected = f"letters, digits and _, and none of {', '.join(RUN_PLACES)}"
                    self._key((section, name), f"{name!r} cannot be such a name", expected)
                if section == "arguments" and name in self.program.parameters:
                    self._key((section, name), f"{name!r} is a parameter already", "another name")

    def _check_places(self, keys: Keys, command: Command, places: Sequence[str]) -> None:
        for i, template in enumerate(command):
            self._check_place((*keys, i), template, places)

    def _check_place(self, keys: Keys, template: Template, places: Sequence[str]) -> None:
        for name in template.names:
            if name in places or name in self.placeholders:
                continue
            if name == "threads":
                found = "{threads} in a build: its threads are those of a run"
                self.add(keys, found, "{threads} in run or environment")
                continue
            allowed = [f"{{{placeholder}}}" for placeholder in (*self.placeholders, *places)]
            place = self.document.place(keys)
            fault = unknown_name(place, "placeholder", f"{{{name}}}", allowed)
            self.session.faults.append(fault)

    def _check_output(self) -> None:
        """Check that a build makes the file that is run, and that all parameters and arguments are
        used.
        """
        program = self.program
        built = {
            name for command in program.build for template in command for name in template.names
        }
        used = {
            name
            for template in (*program.run, *program.environment.values())
            for name in template.names
        }
        if program.build and "output" not in built:
            self.add(("build",), "no {output} in the build", "the file that the build makes")
        if program.build and "output" not in used:
            self.add(("run",), "the run does not use what is built", "{output} among its arguments")
        if "output" in used and not program.build:
            self.add(("run",), "{output}, and nothing is built", "a build that makes it")
        for section in ("parameters", "arguments"):
            for name in getattr(program, section):
                if name not in built | used:
                    found = f"{name} is used by neither build nor run nor environment"
                    self._key((section, name), found, f"{{{name}}} in one of them")

    def _check_constraints(self) -> None:
        program = self.program
        allowed = [*self.placeholders, "threads"]
        measured = [TIME.name, *program.metrics, *self.placeholders]
        for section, constraints, names in (
            ("constraints", program.constraints, allowed),
            ("bounds", program.bounds, measured),
        ):
            for i, constraint in enumerate(constraints):
                for name in constraint.require.names:
                    if name not in names:
                        place = self.document.place((section, i, "require"))
                        self.session.faults.append(unknown_name(place, "name", name, names))

    def _check_metrics(self) -> None:
        program = self.program
        for name in program.metrics:
            if not NAME.fullmatch(name) or name in METRICS_OF_ALL:
                expected = f"letters, digits and _, and none of {', '.join(METRICS_OF_ALL)}"
                self._key(("metrics", name), f"{name!r} cannot be the name of a metric", expected)
            if name in self.placeholders:
                found = f"{name!r} is a parameter or an argument already"
                self._key(("metrics", name), found, "another name")
        if program.objective not in (TIME.name, *program.metrics):
            place = self.document.place(("objective",))
            names = [TIME.name, *program.metrics]
            self.session.faults.append(unknown_name(place, "metric", program.objective, names))
        if program.model is not None and program.objective != TIME.name:
            found = f"a model predicts the time, and the objective is {program.objective}"
            self._key(("model",), found, "no model, or objective: time")

    def _check_values(self) -> None:
        program = self.program
        for name, given in program.baseline.items():
            if name not in program.parameters:
                where = self.document.key(("baseline", name))
                self.session.faults.append(
                    unknown_name(where, "parameter", name, program.parameters)
                )
            elif not within(given, program.parameters[name]):
                allowed = ["null" if v is None else str(v) for v in program.parameters[name]]
                found = f"{name}: {describe(given)} is not one of its values"
                self.add(("baseline", name), found, one_of(allowed), nearest(str(given), allowed))
        for name in [*program.verify, *([program.size] if program.size else [])]:
            if name not in program.arguments:
                where = self.document.key(("verify", name) if name in program.verify else ("size",))
                self.session.faults.append(unknown_name(where, "argument", name, program.arguments))
        built = {
            name for command in program.build for template in command for name in template.names
        }
        for name in program.verify:
            if name in built:
                found = f"{name} is built in: what is timed would not be what is verified"
                self._key(("verify", name), found, "arguments that only the run names")
        if program.verify and program.check is None:
            self._key(("verify",), "verify, and no check value is read", "the key check")
        if program.check is not None and program.check.file and program.folder:
            found = "a file is compared, and all runs share one folder"
            self._key(("check", "file"), found, "no key folder: each run has one of its own")
        if program.folder and not paths.is_folder(self.document.path.parent / program.folder):
            self.add(("folder",), f"there is no folder {program.folder!r}")

    def sources(self, folder: Path) -> dict[str, bytes] | None:
        """The source files: name relative to the source folder, to content; None with
        faults noted.
        """
        if not paths.is_folder(folder):
            self.add(("source_folder",), f"there is no folder {shown(folder)!r}")
            return None
        contents: dict[str, bytes] = {}
        for i, pattern in enumerate(self.program.sources):
            try:
                names = source_names(folder, pattern)
            except (ValueError, NotImplementedError, OSError, RecursionError) as error:
                self.add(("sources", i), f"{pattern!r}: {error}", "a name or a pattern such as *.c")
                continue
            if not names:
                near = nearest(pattern, [p.name for p in folder.iterdir() if p.is_file()])
                self.add(
                    ("sources", i), f"there is no file {pattern!r} in {shown(folder)}", "", near
                )
            for name in names:
                self._read(folder, name, i, contents)
        return dict(sorted(contents.items()))

    def _read(self, folder: Path, name: str, i: int, contents: dict[str, bytes]) -> None:
        try:
            contents[name] = (folder / name).read_bytes()
        except OSError as error:
            self.add(("sources", i), f"{name} cannot be read: {error.strerror}")
        if sum(map(len, contents.values())) > LARGEST:
            self.add(("sources", i), f"the sources have more than {LARGEST} B", "fewer files")
            contents.clear()


def source_names(folder: Path, pattern: str) -> list[str]:
    """The files in a folder that match a name or a pattern, relative to the folder, sorted."""
    if (folder / pattern).is_file():
        return [pattern]
    return sorted(str(p.relative_to(folder)) for p in folder.glob(pattern) if p.is_file())
