"""External programs from YAML (schema autotune.program/1)."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from autotune.domain.program import (
    BUILD_PLACES,
    NAME,
    RUN_PLACES,
    Check,
    Command,
    Package,
    Program,
    ProgramConstraint,
    Reading,
    Template,
    Threads,
    digest,
)
from autotune.domain.space import within
from autotune.errors import nearest, one_of, unknown_name
from autotune.files.config.fields import Model, Read, Text
from autotune.files.config.program_models import ModelFile, read_model
from autotune.files.config.session import Session
from autotune.files.config.validation import validate
from autotune.files.config.yaml_document import Document, Keys, describe, shown
from autotune.language.constraint import Condition, Value
from autotune.units import parse as parse_quantity

SCHEMA = "autotune.program/1"
LARGEST = 1 << 28
"""Bytes of all sources of a program together."""
_LARGEST = 1e18
"""Of numbers, whatever their sign: they fit into the integers of C and of databases."""
_STEPS = 4096
"""Values of a domain that is given by its ends."""


def value(found: object) -> Value:
    """Text, a number, true, false or null."""
    if isinstance(found, int | float) and not abs(found) <= _LARGEST:
        raise ValueError(f"{describe(found)} is beyond {_LARGEST:g}")
    if isinstance(found, str):
        return _plain(found)
    if isinstance(found, bool | int | float) or found is None:
        return found
    raise ValueError(f"{describe(found)} is not text, a number, true, false or null")


def _plain(text: str) -> str:
    """Text that can be an argument of a command line."""
    if "\0" in text:
        raise ValueError(f"{text!r} holds the character 0, which no command line can")
    return text


def domain(found: object) -> tuple[Value, ...]:
    """The values of a parameter: a list, or ``{from: 8, to: 64, step: 8}``, ``{..., times: 2}``."""
    if isinstance(found, dict):
        return _steps(found)
    values = tuple(value(v) for v in found) if isinstance(found, list) else (value(found),)
    if not values:
        raise ValueError("no values")
    for i, each in enumerate(values):
        if within(each, values[:i]):
            raise ValueError(f"{describe(each)} is here twice")
    return values


def _steps(found: Mapping[str, object]) -> tuple[Value, ...]:
    form = "{from: 8, to: 64, step: 8} or {from: 8, to: 64, times: 2}"
    growth = [key for key in ("step", "times") if key in found]
    if set(found) != {"from", "to", *growth} or len(growth) != 1:
        raise ValueError(f"{', '.join(found) or 'nothing'} is not of the form {form}")
    numbers: dict[str, int] = {}
    for key, number in found.items():
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError(f"{key}: {describe(number)} is not a whole number")
        numbers[key] = number
    first, last, by = numbers["from"], numbers["to"], numbers[growth[0]]
    if first > last or by < 1 or (growth == ["times"] and (by < 2 or first < 1)):
        raise ValueError(f"these values never go from {first} to {last}: {form}")
    values = [first]
    while (following := values[-1] + by if growth == ["step"] else values[-1] * by) <= last:
        values.append(following)
        if len(values) > _STEPS:
            raise ValueError(f"more than {_STEPS} values")
    return tuple(values)


def _unit(found: object) -> float:
    if not isinstance(found, str):
        raise ValueError(f"{describe(found)} is not a unit of time")
    return parse_quantity(f"1 {found}", "time")


def _keys(found: object) -> tuple[str, ...]:
    if not isinstance(found, str) or not all(found.split(".")):
        raise ValueError(f"{describe(found)} is not a key, or several joined by dots")
    return tuple(found.split("."))


def _pattern(found: object) -> str:
    if not isinstance(found, str):
        raise ValueError(f"{describe(found)} is not a regular expression")
    try:
        groups = re.compile(found).groups
    except re.error as error:
        raise ValueError(f"{found!r} is not a regular expression: {error}") from error
    if groups != 1:
        raise ValueError(f"{found!r} has {groups} groups; one is read: time: ([0-9.eE+-]+)")
    return found


def _template(found: object) -> Template:
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        raise ValueError(f"{describe(found)} is not an argument of a command line")
    return Template(_plain(str(found)))


def _commands(found: object) -> tuple[Command, ...]:
    """One command, a list of arguments; or several, a list of lists."""
    if not isinstance(found, list) or not found:
        raise ValueError(f"{describe(found)} is not a list of arguments")
    lists = found if isinstance(found[0], list) else [found]
    if not all(isinstance(each, list) and each for each in lists):
        raise ValueError("a build is a list of arguments, or a list of such lists")
    return tuple(tuple(_template(word) for word in each) for each in lists)


def _command(found: object) -> Command:
    if not isinstance(found, list) or not found:
        raise ValueError(f"{describe(found)} is not a list of arguments")
    return tuple(_template(word) for word in found)


def _constraint(found: object) -> ProgramConstraint:
    """A condition, or ``{require: condition, reason: text}``."""
    parts = found if isinstance(found, dict) else {"require": found}
    require, reason = parts.get("require"), parts.get("reason", "")
    for key in parts:
        if key not in ("require", "reason"):
            raise ValueError(f"unknown key {key!r}: a constraint has require and reason")
    if not isinstance(require, str) or not isinstance(reason, str):
        raise ValueError(f"{describe(require)} is not a condition such as bi * bj <= 4096")
    return ProgramConstraint(require=Condition(require), reason=reason)


class _Check(Model):
    pattern: Annotated[str, Read(_pattern, "(.)")] | None = None
    keys: Annotated[tuple[str, ...], Read(_keys, "x")] | None = Field(default=None, alias="json")
    tolerance: float = Field(default=1e-9, ge=0, lt=1)

    @model_validator(mode="after")
    def _one(self) -> "_Check":
        if len(self.model_fields_set & {"pattern", "keys"}) != 1:
            raise ValueError("a check value is read by one of pattern and json")
        return self


def _spell_out(found: object) -> object:
    """``wall`` stands for ``{wall: true}``."""
    return {"wall": True} if found == "wall" else found


class _PlainTime(Model):
    pattern: Annotated[str, Read(_pattern, "(.)")] | None = None
    keys: Annotated[tuple[str, ...], Read(_keys, "x")] | None = Field(default=None, alias="json")
    wall: Literal[True] | None = None
    unit: Annotated[float, Read(_unit, "s")] = 1.0
    warm_ups: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _one(self) -> "_PlainTime":
        if len(self.model_fields_set & {"pattern", "keys", "wall"}) != 1:
            raise ValueError("a time is read by one of pattern, json and wall")
        return self


_Time = Annotated[_PlainTime, BeforeValidator(_spell_out)]


class _Program(Model):
    title: Text
    source_folder: Text = "."
    sources: list[Text] = Field(
        min_length=1, description="the files that make the program; names or patterns such as *.c"
    )
    folder: Text | None = None
    build: Annotated[tuple[Command, ...], Read(_commands, ["{output}"])] = ()
    run: Annotated[Command, Read(_command, ["true"])] = Field(
        description="the command line as a list of arguments"
    )
    environment: dict[str, Annotated[Template, Read(_template, "")]] = Field(default_factory=dict)
    packages: dict[str, Text] = Field(default_factory=dict)
    arguments: dict[str, Annotated[Value, Read(value)]] = Field(default_factory=dict)
    size: Text | None = None
    parameters: dict[str, Annotated[tuple[Value, ...], Read(domain, [0])]] = Field(min_length=1)
    constraints: list[Annotated[ProgramConstraint, Read(_constraint, "true")]] = Field(
        default_factory=list
    )
    baseline: dict[str, Annotated[Value, Read(value)]] = Field(default_factory=dict)
    time: _Time = Field(description="wall, {pattern: ...} or {json: ...}")
    check: _Check | None = None
    verify: dict[str, Annotated[Value, Read(value)]] = Field(default_factory=dict)
    threads: Threads = "own"
    model: ModelFile | None = None


def read_program(session: Session, path: Path) -> Program | None:
    """The program of a file, or None and faults."""
    known = len(session.faults)
    document = session.open(path, SCHEMA)
    model = validate(session, document, _Program) if document else None
    if document is None or model is None:
        return None
    checker = _Checker(session, document, model)
    checker.check()
    folder = path.parent / model.source_folder
    sources = checker.sources(folder)
    if len(session.faults) > known or sources is None:
        return None
    try:
        program = _program(document, model, folder, sources)
    except ValueError as error:
        session.add(document.place(("run",)), str(error))
        return None
    if model.model is None:
        return program
    read = read_model(session, document, model.model, program)
    return None if read is None else dataclasses.replace(program, model=read)


def _program(
    document: Document, model: _Program, folder: Path, sources: Mapping[str, bytes]
) -> Program:
    parameters = model.parameters
    return Program(
        name=document.path.stem,
        title=model.title,
        source=shown(document.path),
        source_folder=str(folder.resolve()),
        sources=tuple(sources),
        digest=digest(sources),
        folder=str((document.path.parent / model.folder).resolve()) if model.folder else "",
        build=model.build,
        run=model.run,
        environment=model.environment,
        packages=tuple(Package(name=n, install=how) for n, how in model.packages.items()),
        arguments=model.arguments,
        parameters=parameters,
        constraints=tuple(model.constraints),
        baseline={name: model.baseline.get(name, values[0]) for name, values in parameters.items()},
        time=_reading(model.time.pattern, model.time.keys, model.time.unit),
        warm_ups=model.time.warm_ups,
        check=None
        if model.check is None
        else Check(
            reading=_reading(model.check.pattern, model.check.keys),
            tolerance=model.check.tolerance,
        ),
        verify=model.verify,
        size=model.size,
        threads=model.threads,
        places={".".join(str(k) for k in keys): p for keys, p in document.places.items() if keys},
    )


def _reading(pattern: str | None, keys: tuple[str, ...] | None, unit: float = 1.0) -> Reading:
    if pattern is not None:
        return Reading(kind="pattern", pattern=pattern, unit=unit)
    if keys is not None:
        return Reading(kind="json", keys=keys, unit=unit)
    return Reading(kind="wall")


class _Checker:
    """What the keys of a program say about one another, and about files."""

    def __init__(self, session: Session, document: Document, model: _Program) -> None:
        self.session = session
        self.document = document
        self.model = model
        self.own = [*model.parameters, *model.arguments]

    def add(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.place(keys), found, expected, hint)

    def check(self) -> None:
        model = self.model
        self._check_own_names()
        several = bool(model.build) and isinstance(self.document.root["build"], list)
        nested = several and isinstance(self.document.root["build"][0], list)  # type: ignore[index]
        for i, command in enumerate(model.build):
            keys: Keys = ("build", i) if nested else ("build",)
            self._check_places(keys, command, BUILD_PLACES)
        self._check_places(("run",), model.run, RUN_PLACES)
        for name, template in model.environment.items():
            if not NAME.fullmatch(name):
                self._key(("environment", name), f"{name!r} is not a variable")
            self._check_place(("environment", name), template, RUN_PLACES)
        self._check_output()
        self._check_constraints()
        self._check_values()

    def _key(self, keys: Keys, found: str, expected: str = "", hint: str = "") -> None:
        self.session.add(self.document.key(keys), found, expected, hint)

    def _check_own_names(self) -> None:
        for section in ("parameters", "arguments"):
            for name in getattr(self.model, section):
                if not NAME.fullmatch(name) or name in RUN_PLACES:
                    expected = f"letters, digits and _, and none of {', '.join(RUN_PLACES)}"
                    self._key((section, name), f"{name!r} cannot be such a name", expected)
                if section == "arguments" and name in self.model.parameters:
                    self._key((section, name), f"{name!r} is a parameter already", "another name")

    def _check_places(self, keys: Keys, command: Command, places: Sequence[str]) -> None:
        for i, template in enumerate(command):
            self._check_place((*keys, i), template, places)

    def _check_place(self, keys: Keys, template: Template, places: Sequence[str]) -> None:
        for name in template.names:
            if name in places or name in self.own:
                continue
            if name == "threads":
                found = "{threads} in a build: its threads are those of a run"
                self.add(keys, found, "{threads} in run or environment")
                continue
            known = [f"{{{each}}}" for each in (*self.own, *places)]
            place = self.document.place(keys)
            fault = unknown_name(place, "placeholder", f"{{{name}}}", known)
            self.session.faults.append(fault)

    def _check_output(self) -> None:
        """A build makes the output that is run, and everything that is listed is used."""
        model = self.model
        built = {name for command in model.build for each in command for name in each.names}
        used = {name for each in (*model.run, *model.environment.values()) for name in each.names}
        if model.build and "output" not in built:
            self.add(("build",), "no {output} in the build", "the file that the build makes")
        if model.build and "output" not in used:
            self.add(("run",), "the run does not use what is built", "{output} among its arguments")
        if "output" in used and not model.build:
            self.add(("run",), "{output}, and nothing is built", "a build that makes it")
        for section in ("parameters", "arguments"):
            for name in getattr(model, section):
                if name not in built | used:
                    found = f"{name} is used by neither build nor run nor environment"
                    self._key((section, name), found, f"{{{name}}} in one of them")

    def _check_constraints(self) -> None:
        known = [*self.own, "threads"]
        for i, constraint in enumerate(self.model.constraints):
            for name in constraint.require.names:
                if name not in known:
                    place = self.document.place(("constraints", i, "require"))
                    self.session.faults.append(unknown_name(place, "name", name, known))

    def _check_values(self) -> None:
        model = self.model
        for name, given in model.baseline.items():
            if name not in model.parameters:
                where = self.document.key(("baseline", name))
                self.session.faults.append(unknown_name(where, "parameter", name, model.parameters))
            elif not within(given, model.parameters[name]):
                allowed = ["null" if v is None else str(v) for v in model.parameters[name]]
                found = f"{name}: {describe(given)} is not one of its values"
                self.add(("baseline", name), found, one_of(allowed), nearest(str(given), allowed))
        for name in [*model.verify, *([model.size] if model.size else [])]:
            if name not in model.arguments:
                where = self.document.key(("verify", name) if name in model.verify else ("size",))
                self.session.faults.append(unknown_name(where, "argument", name, model.arguments))
        built = {name for command in model.build for each in command for name in each.names}
        for name in model.verify:
            if name in built:
                found = f"{name} is built in: what is timed would not be what is verified"
                self._key(("verify", name), found, "arguments that only the run names")
        if model.verify and model.check is None:
            self._key(("verify",), "verify, and no check value is read", "the key check")
        if model.folder and not (self.document.path.parent / model.folder).is_dir():
            self.add(("folder",), f"there is no folder {model.folder!r}")

    def sources(self, folder: Path) -> dict[str, bytes] | None:
        """Name, relative to the source folder, to content."""
        if not folder.is_dir():
            self.add(("source_folder",), f"there is no folder {shown(folder)!r}")
            return None
        found: dict[str, bytes] = {}
        for i, pattern in enumerate(self.model.sources):
            try:
                names = source_names(folder, pattern)
            except (ValueError, NotImplementedError) as error:
                self.add(("sources", i), f"{pattern!r}: {error}", "a name or a pattern such as *.c")
                continue
            if not names:
                near = nearest(pattern, [p.name for p in folder.iterdir() if p.is_file()])
                self.add(
                    ("sources", i), f"there is no file {pattern!r} in {shown(folder)}", "", near
                )
            for name in names:
                self._read(folder, name, i, found)
        return dict(sorted(found.items()))

    def _read(self, folder: Path, name: str, i: int, found: dict[str, bytes]) -> None:
        try:
            found[name] = (folder / name).read_bytes()
        except OSError as error:
            self.add(("sources", i), f"{name} cannot be read: {error.strerror}")
        if sum(map(len, found.values())) > LARGEST:
            self.add(("sources", i), f"the sources have more than {LARGEST} B", "fewer files")
            found.clear()


def source_names(folder: Path, pattern: str) -> list[str]:
    """The files of a folder that a name or a pattern stands for, relative to it, sorted."""
    if (folder / pattern).is_file():
        return [pattern]
    return sorted(str(p.relative_to(folder)) for p in folder.glob(pattern) if p.is_file())
