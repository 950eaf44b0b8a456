"""External programs: how one is built and run, what may vary, how its time and result are read."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Annotated, ClassVar, Literal

from autotune.domain.annotations import Bounds, Derived, FileKey, InNotation, ShortForm, Text
from autotune.domain.metric import TIME, Metric
from autotune.domain.misfit import Keys, Misfit, refuse, unknown
from autotune.domain.parameter_domain import Domain, FlagSet, ParameterDomain, flattened
from autotune.domain.parameter_values import wrong_values
from autotune.domain.program_model import ProgramModel
from autotune.domain.readings import PrintedMetric, Reading, TimeReading
from autotune.domain.value_conditions import (
    activated,
    conditional,
    dependent,
    never_true,
    required,
    wrong_comparisons,
)
from autotune.language.constraint import Condition, Value

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What parameters and arguments are called."""
_LONGEST_NAME = 64
"""Characters of the name of a parameter or argument."""

BUILD_PLACES = ("output", "source folder", "compiler", "flags", "python")
"""What the templates of a build may name beside parameters and arguments."""
RUN_PLACES = (*BUILD_PLACES, "threads")
"""The same of a run and its environment."""
CHECK_PLACES = (*RUN_PLACES, "printed")
"""The same of a command that checks a run."""

METRICS_OF_ALL = ("time", "energy", "memory")
"""Metrics of every program, whose names no metric of its output can have."""

Threads = Literal["one", "openmp", "own"]
"""How many threads a program runs: one; as many as OMP_NUM_THREADS says; as it likes."""


Flags = tuple[str, ...]
"""The flags of a set that are present."""


@dataclass(frozen=True, slots=True)
class Template:
    """One argument of a command line with names in braces: ``-DBI={bi}``.

    It stays one argument whatever the values contain, because no shell is involved. ``{{`` and
    ``}}`` stand for braces.
    """

    text: str
    beside: tuple[str, ...] = ()
    """Names in the arguments that it is grouped with: it is left out where one of them is null."""

    def __post_init__(self) -> None:
        for match in _PIECE.finditer(self.text):
            if match.group() in ("{", "}"):
                raise ValueError(f"a brace stands alone in {self.text!r}: write it twice")

    @property
    def names(self) -> tuple[str, ...]:
        """The names in braces, in order."""
        names = (match.group(1) for match in _PIECE.finditer(self.text))
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def fill(self, values: Mapping[str, Value | Flags]) -> str | None:
        """The argument with values inserted; None if one of them, or of its group, is null.

        True and false are written 1 and 0, flags with spaces between them.

        >>> Template("-DBI={bi}").fill({"bi": 64})
        '-DBI=64'
        """
        if any(values[name] is None for name in (*self.names, *self.beside)):
            return None

        def put(match: re.Match[str]) -> str:
            name = match.group(1)
            return match.group()[0] if name is None else written(values[name])

        return _PIECE.sub(put, self.text)


Command = Annotated[tuple[Template, ...], InNotation("command")]
Given = Annotated[Value, InNotation("value")]
"""Text, a number, true, false or null."""


def digest(files: Mapping[str, bytes]) -> str:
    """A hash of files, given as name to content; it does not depend on their order."""
    made = hashlib.sha256()
    for name, content in sorted(files.items()):
        for part in (name.encode(), content):
            made.update(len(part).to_bytes(8, "little") + part)
    return made.hexdigest()[:32]


def written(value: Value | Flags) -> str:
    """A value in the form in which a command line takes it."""
    if isinstance(value, tuple):
        return " ".join(value)
    if isinstance(value, bool):
        return str(int(value))
    return value if isinstance(value, str) else repr(value)


def filled(
    command: Command, values: Mapping[str, Value | Flags], flags: Sequence[str] = ()
) -> list[str]:
    """A command line with values inserted.

    An argument is left out if it, or one that it is grouped with, names a value that is null. The
    argument ``{flags}``, or the name
    of a set of flags, is replaced by all of its flags as separate arguments if it stands alone.
    """
    words: list[str] = []
    given: dict[str, Value | Flags] = {"flags": tuple(flags), **values}
    for template in command:
        alone = given.get(template.text[1:-1]) if template.names == (template.text[1:-1],) else None
        if isinstance(alone, tuple) and all(given[name] is not None for name in template.beside):
            words.extend(alone)
            continue
        word = template.fill(given)
        if word is not None:
            words.append(word)
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Reading):
    """What decides whether the result of a run is right, in one of several ways."""

    WAYS: ClassVar[tuple[str, ...]] = (*Reading.WAYS, "file", "command")
    WORDS: ClassVar[str] = "a check value"
    file: Text | None = None
    """A file that a run writes into its folder. It must have the words of the baseline's file;
    numbers may differ by the tolerance, relative to the largest number there."""
    command: Command | None = None
    """A command that is run after each run, in the folder of the run; exit code 0: right. Its
    templates may name ``{printed}``, a file with what the run printed."""
    value: Given = None
    """The value that is right; without this key it is that of the baseline."""
    tolerance: Annotated[float, Bounds(least=0, below=1)] = 1e-9
    """Largest difference, relative to the reference; text must be the same."""

    def __post_init__(self) -> None:
        Reading.__post_init__(self)
        if self.value is not None and (self.file or self.command):
            raise ValueError("value goes with pattern, json or csv: it is the value that is read")

    @property
    def absolute(self) -> bool:
        """Whether a result is judged by itself, not beside that of the baseline."""
        return self.command is not None or self.value is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramConstraint:
    """A condition on combinations of parameters and arguments, with its reason."""

    require: Condition
    reason: str = ""

    @property
    def words(self) -> str:
        """The reason, or the condition itself."""
        return self.reason or f"{self.require.text} does not hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A user's program: how it is built and run, what may vary, how it is measured.

    Templates name parameters, arguments and the names in ``BUILD_PLACES`` and ``RUN_PLACES``.
    """

    family: ClassVar[Literal["program"]] = "program"
    name: Annotated[str, Derived()]
    title: Text
    """What it is, in a line."""
    source: Annotated[str, Derived()]
    """The file that describes it."""
    source_folder: Annotated[Text, FileKey(optional=True)]
    """Absolute path that ``{source folder}`` stands for; in a file relative to it."""
    sources: Annotated[
        tuple[Text, ...],
        Bounds(least=1),
        FileKey(about="the files that make the program; names or patterns such as *.c"),
    ]
    """Files of the source folder whose content makes the program, sorted."""
    digest: Annotated[str, Derived()]
    """Hash of the names and contents of the sources, as they were read."""
    folder: Text = ""
    """Working folder of a run, an absolute path; empty: a fresh one for each run."""
    build: Annotated[tuple[Command, ...], InNotation("commands")] = ()
    """Commands that make ``{output}``, one after the other; empty: nothing is built."""
    run: Annotated[Command, FileKey(about="the command line as a list of arguments")]
    environment: Mapping[str, Template] = field(default_factory=dict)
    """Variables of a run; one whose value is null is not set."""
    packages: Mapping[str, Text] = field(default_factory=dict)
    """Python packages that it needs, each with the command that installs it."""
    arguments: Mapping[str, Given] = field(default_factory=dict)
    """What a problem may set, with defaults."""
    parameters: Annotated[Mapping[str, Annotated[Domain, InNotation("parameter")]], Bounds(least=1)]
    """What varies: a list of values; whole numbers ``{from: 1, to: 64, times: 2}`` or ``step``;
    numbers ``{from: 0.1, to: 10.0, log: true}``; ``{ordered: [low, high]}``; ``{permutation: [i, j,
    k]}``; ``{flags: [-funroll-loops, {-falign-loops=: [16, 32]}]}``. With ``when: condition`` (and
    ``values`` for a list) a parameter has a value, and a set has flags, only where the condition is
    true; ``{flag: -fgcse-las, when: condition}`` in a set is a flag with a condition."""
    constraints: tuple[ProgramConstraint, ...] = ()
    """Which combinations are possible, such as ``bi <= bj``."""
    baseline: Mapping[str, Given] = field(default_factory=dict)
    """A value of every parameter; in a file of some, the others have their first."""
    time: Annotated[TimeReading, ShortForm("wall", {"wall": True})] = field(
        default_factory=lambda: TimeReading(wall=True)
    )
    """How the time of a run is read; without this key, from the start of the process to its end."""
    metrics: Mapping[str, PrintedMetric] = field(default_factory=dict)
    """What is read from the output beside the time."""
    objective: Text = "time"
    """What is to be optimised: ``time``, or the name of a metric."""
    bounds: tuple[ProgramConstraint, ...] = ()
    """Conditions that the metrics of every run have to fulfil, such as ``ratio >= 5``. Parameters,
    arguments and ``time`` in seconds may be named too."""
    check: Check | None = None
    """How results are compared; without this key they are not."""
    verify: Mapping[str, Annotated[tuple[Value, ...], InNotation("domain")]] = field(
        default_factory=dict
    )
    """Arguments of the runs that are compared with the reference; empty: those of the problem. Of
    several values, or a range such as ``{from: 1, to: 1000, step: 1}``, one is drawn anew in every
    run of a study, so that no candidate can know it."""
    size: Text | None = None
    """The argument that counts as problem size n."""
    threads: Threads = "own"
    """Its threads: one, as many as OMP_NUM_THREADS says, or as it likes."""
    model: ProgramModel | None = None
    """What predicts its time; without this key nothing does."""
    places: Annotated[Mapping[str, str], Derived()] = field(
        default_factory=dict, compare=False, repr=False
    )
    """Key (``run``, ``build``) to ``file:line:column``, for later errors."""
    definition: str = field(init=False, default="")
    """12 hexadecimal digits over what is run, how it is read and checked, whatever may vary."""
    domains: Mapping[str, tuple[Value, ...]] = field(init=False, default_factory=dict, repr=False)
    """The values of every parameter, each flag of a set being one; null where it may have none."""
    requirements: tuple[ProgramConstraint, ...] = field(init=False, default=(), repr=False)
    """What the conditions of parameters require, then the constraints."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "domains", flattened(self.parameters))
        object.__setattr__(self, "requirements", (*self._conditions(), *self.constraints))
        beside = os.path.relpath(self.folder, self.source_folder) if self.folder else ""
        essence = (
            *(self.digest, self.build, self.run, sorted(self.environment.items()), beside),
            *(self.threads, self.time, self.check, sorted(self.verify.items())),
            *(sorted(self.metrics.items()), self.objective, self.bounds),
        )
        digest = hashlib.sha256(repr(essence).encode()).hexdigest()[:12]
        object.__setattr__(self, "definition", digest)
        if set(self.baseline) != set(self.domains):
            raise ValueError("the baseline needs a value of every parameter")
        refuse(self.misfits())

    def _conditions(self) -> Iterator[ProgramConstraint]:
        """The conditions of parameters and flags, as constraints."""
        for name, domain in self.parameters.items():
            for reason, condition in required(name, domain):
                yield ProgramConstraint(require=condition, reason=reason)

    def misfits(self) -> Iterator[Misfit]:
        """Every name that cannot be one or is unknown where it stands, every output that is not
        made or not used, and every value that a parameter does not have.
        """
        yield from self._misnamed()
        for i, command in enumerate(self.build):
            yield from self._unknown_places(("build", i), command, BUILD_PLACES)
        yield from self._unknown_places(("run",), self.run, RUN_PLACES)
        for name, template in self.environment.items():
            if not NAME.fullmatch(name):
                found = f"{name!r} is not a variable"
                yield Misfit(("environment", name), found, of_key=True)
            yield from self._unknown_place(("environment", name), template, RUN_PLACES)
        if self.check is not None:
            command = self.check.command or ()
            yield from self._unknown_places(("check", "command"), command, CHECK_PLACES)
        yield from self._wrong_output()
        varied = {**self.parameters, **flattened(self.parameters)}
        names = [*varied, *self.arguments, "threads"]
        for i, constraint in enumerate(self.constraints):
            for name in constraint.require.names:
                yield from unknown(("constraints", i, "require"), "name", name, names)
            yield from wrong_comparisons(
                ("constraints", i, "require"), constraint.require, self.parameters
            )
        for name, value in self.baseline.items():
            yield from wrong_values(("baseline", name), (value,), flattened(self.parameters))
        yield from self._wrong_conditions(names)
        if self.size is not None:
            yield from unknown(("size",), "argument", self.size, self.arguments, of_key=True)
        yield from self._wrong_verification()
        yield from self._wrong_metrics()

    def _wrong_conditions(self, names: Sequence[str]) -> Iterator[Misfit]:
        """Conditions of parameters and flags that name what is unknown or what a parameter never
        is, that are never true, or that depend on themselves.
        """
        set_of = {flag: name for name, flags in self.flag_sets.items() for flag in flags}
        for name, when in conditional(self.parameters).items():
            keys = ("parameters", set_of.get(name, name))
            for other in when.names:
                yield from unknown(keys, "name", other, names)
            yield from wrong_comparisons(keys, when, self.parameters)
        if (circular := dependent(self.parameters)) is not None:
            found = f"whether {circular} has a value depends on its own value"
            expected = "a condition on other parameters that do not depend on it"
            yield Misfit(("parameters", set_of.get(circular, circular)), found, expected)
            return
        for name, when in never_true(self.parameters):
            keys = ("parameters", set_of.get(name, name))
            made = "be set" if name in set_of or name in self.flag_sets else "have a value"
            found = f"when: {when.text!r} is never true: {name} would never {made}"
            yield Misfit(keys, found, "a condition that some values of the parameters fulfil")

    def _misnamed(self) -> Iterator[Misfit]:
        sections = {"parameters": self.parameters, "arguments": self.arguments}
        for name, flag_set in self.parameters.items():
            taken = {*self.parameters, *self.arguments} | {
                flag for other, flags in self.flag_sets.items() for flag in flags if other != name
            }
            flags = flag_set.flags if isinstance(flag_set, FlagSet) else {}
            for flag, spellings in flags.items():
                if flag in taken or flag in RUN_PLACES or not NAME.fullmatch(flag):
                    found = f"the flag {spellings[0]} is called {flag} here: taken, or no name"
                    yield Misfit(("parameters", name), found, "flags with names of their own")
        for section, names in sections.items():
            for name in names:
                if not NAME.fullmatch(name) or name in RUN_PLACES:
                    expected = f"letters, digits and _, and none of {', '.join(RUN_PLACES)}"
                    found = f"{name!r} cannot be such a name"
                    yield Misfit((section, name), found, expected, of_key=True)
                elif len(name) > _LONGEST_NAME:
                    found = f"the name {name[:20]}... has {len(name)} characters"
                    expected = f"at most {_LONGEST_NAME}"
                    yield Misfit((section, name), found, expected, of_key=True)
                if section == "arguments" and name in self.parameters:
                    found = f"{name!r} is a parameter already"
                    yield Misfit((section, name), found, "another name", of_key=True)

    def _unknown_places(
        self, keys: Keys, command: Command, places: Sequence[str]
    ) -> Iterator[Misfit]:
        for i, template in enumerate(command):
            yield from self._unknown_place((*keys, i), template, places)

    def _unknown_place(
        self, keys: Keys, template: Template, places: Sequence[str]
    ) -> Iterator[Misfit]:
        """The names in braces that a template may not use."""
        varied = dict.fromkeys([*self.parameters, *flattened(self.parameters)])
        allowed = [f"{{{name}}}" for name in (*varied, *self.arguments, *places)]
        for name in template.names:
            if name == "threads" and f"{{{name}}}" not in allowed:
                found = "{threads} in a build: its threads are those of a run"
                yield Misfit(keys, found, "{threads} in run or environment")
            else:
                yield from unknown(keys, "placeholder", f"{{{name}}}", allowed)

    def _wrong_output(self) -> Iterator[Misfit]:
        """An output that is not made or not used, and names that no template uses."""
        built = self._named_in_build()
        used = {n for t in (*self.run, *self.environment.values()) for n in t.names}
        if self.build and "output" not in built:
            yield Misfit(("build",), "no {output} in the build", "the file that the build makes")
        if self.build and "output" not in used:
            found = "the run does not use what is built"
            yield Misfit(("run",), found, "{output} among its arguments")
        if "output" in used and not self.build:
            yield Misfit(("run",), "{output}, and nothing is built", "a build that makes it")
        sections = {"parameters": self.parameters, "arguments": self.arguments}
        judged = {name for bound in self.bounds for name in bound.require.names}
        for section, names in sections.items():
            serving = built | used | (judged if section == "arguments" else set())
            for name in names:
                if not serving & {name, *self.flag_sets.get(name, ())}:
                    found = f"{name} is used by neither build nor run nor environment"
                    yield Misfit((section, name), found, f"{{{name}}} in one of them", of_key=True)

    def _wrong_verification(self) -> Iterator[Misfit]:
        for name in self.verify:
            yield from unknown(("verify", name), "argument", name, self.arguments, of_key=True)
            if name in self._named_in_build():
                found = f"{name} is built in: what is timed would not be what is verified"
                expected = "arguments that only the run names"
                yield Misfit(("verify", name), found, expected, of_key=True)
        if self.verify and self.check is None:
            found = "verify, and no check value is read"
            yield Misfit(("verify",), found, "the key check", of_key=True)
        if self.check is not None and self.check.file and self.folder:
            found = "a file is compared, and all runs share one folder"
            expected = "no key folder: each run has one of its own"
            yield Misfit(("check", "file"), found, expected, of_key=True)

    def _named_in_build(self) -> set[str]:
        return {name for command in self.build for template in command for name in template.names}

    def _wrong_metrics(self) -> Iterator[Misfit]:
        """Metrics whose names something else has, an objective that is no metric, and bounds that
        name what no run has.
        """
        varied = {*self.parameters, *flattened(self.parameters), *self.arguments}
        metrics = [TIME.name, *self.metrics]
        for name in self.metrics:
            if not NAME.fullmatch(name) or name in METRICS_OF_ALL:
                expected = f"letters, digits and _, and none of {', '.join(METRICS_OF_ALL)}"
                found = f"{name!r} cannot be the name of a metric"
                yield Misfit(("metrics", name), found, expected, of_key=True)
            if name in varied:
                found = f"{name!r} is a parameter or an argument already"
                yield Misfit(("metrics", name), found, "another name", of_key=True)
        yield from unknown(("objective",), "metric", self.objective, metrics)
        for i, bound in enumerate(self.bounds):
            for name in bound.require.names:
                yield from unknown(("bounds", i, "require"), "name", name, {*metrics, *varied})
            yield from wrong_comparisons(("bounds", i, "require"), bound.require, self.parameters)

    @property
    def goal(self) -> Metric:
        """The metric that is optimised."""
        return TIME if self.objective == TIME.name else self.metrics[self.objective].metric

    @property
    def warm_ups(self) -> int:
        """Values of the objective at the start of each run that are kept but never counted."""
        timed = self.objective == TIME.name
        return self.time.warm_ups if timed else self.metrics[self.objective].warm_ups

    @property
    def named(self) -> frozenset[str]:
        """All names that occur in the program's templates."""
        templates = [*self.run, *self.environment.values(), *(t for c in self.build for t in c)]
        return frozenset(name for template in templates for name in template.names)

    @property
    def definitions(self) -> tuple[str, ...]:
        """No digests: the problems of a program carry the digest of its definition themselves."""
        return ()

    @property
    def varied(self) -> str:
        """Parameters, constraints and baseline as text."""
        return repr((self.parameters, self.constraints, self.baseline))

    @property
    def source_folders(self) -> tuple[str, ...]:
        """The folder of its sources."""
        return (self.source_folder,)

    @property
    def compiled(self) -> bool:
        """Whether the program is built with the compiler or the flags of a study's builds."""
        return bool(self.named & {"compiler", "flags"})

    @property
    def spread(self) -> bool:
        """Whether the program runs with the number of threads that a layout demands."""
        return self.threads == "openmp" or (self.threads == "own" and "threads" in self.named)

    @property
    def flag_sets(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the flags of each set."""
        return {
            name: tuple(domain.flags)
            for name, domain in self.parameters.items()
            if isinstance(domain, FlagSet)
        }

    def present(self, values: Mapping[str, Value]) -> dict[str, Flags]:
        """The flags of each set that are present, as a command line takes them."""
        return {
            name: tuple(written(values[flag]) for flag in flags if values[flag] is not None)
            for name, flags in self.flag_sets.items()
        }

    def sizes_of_sets(self, values: Mapping[str, Value]) -> dict[str, int]:
        """How many flags of each set are present."""
        return {name: len(flags) for name, flags in self.present(values).items()}

    def coordinates(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The values as a search and a learned model see them, by name."""
        seen: dict[str, Value] = {}
        for name, value in values.items():
            domain = self.parameters.get(name)
            if isinstance(domain, ParameterDomain):
                seen |= domain.coordinates(name, value)
            else:
                seen[name] = value
        return seen

    def activated(
        self,
        values: Mapping[str, Value],
        arguments: Mapping[str, Value],
        choose: Callable[[Sequence[Value]], Value],
    ) -> dict[str, Value]:
        """The values, with those of conditional parameters given or taken as their conditions
        say.
        """
        return activated(self.parameters, values, arguments, choose)

    def combinations(self) -> Iterator[dict[str, Value]]:
        """All combinations of parameter values, also forbidden ones; the last parameter varies
        fastest.
        """
        for choice in product(*self.domains.values()):
            yield dict(zip(self.domains, choice, strict=True))

    def violated(
        self, values: Mapping[str, Value], arguments: Mapping[str, Value]
    ) -> ProgramConstraint | None:
        """The first constraint that these values violate, or None.

        Raises ValueError, with the reason in words, if a constraint cannot be evaluated.
        """
        all_values = {**arguments, **values, **self.sizes_of_sets(values)}
        for rule in self.requirements:
            if not rule.require.holds(all_values):
                return rule
        return None
