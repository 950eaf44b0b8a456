"""The texts of a first description of a program and of a first config.

What could not be seen is marked ``FILL IN``, what was guessed ``LOOK AT``.
"""

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from autotune import paths
from autotune.commands.init.flag_draft import FlagDraft
from autotune.commands.init.source_scan import COMPILED, SourceScan
from autotune.domain.program import METRICS_OF_ALL, RUN_PLACES

Plain = str | int | float | None

FILL_IN = "# FILL IN: "
LOOK_AT = "# LOOK AT: "
_COMPILERS = {
    "C": ("gcc", "clang", "cc"),
    "C++": ("g++", "clang++", "c++"),
    "Fortran": ("gfortran", "flang"),
}
_MPI_COMPILERS = {"C": "mpicc", "C++": "mpicxx", "Fortran": "mpifort"}
BASE = ("-O3", "-march=native")
"""Flags of the compiler in a first config."""
_USUAL = (
    "selection: {top: 5, random: 2, baseline: true, seed: 1}",
    "search: {budget: 30}",
    "measuring: {rounds: 4, samples: 2}",
)
_OF_OPTIONS = (
    "selection: {top: 1, random: 12, baseline: true, seed: 1}",
    "search: {budget: 100}",
    "measuring: {rounds: 3, samples: 1}",
)
"""How a first config measures: of a few parameters, and of many options of a compiler."""
_MOST = 10_000
"""Combinations that a first config has at most."""


@dataclass(slots=True)
class Draft:
    """The texts of a first program description and a first config, as they are built up."""

    path: Path
    """The program."""
    folder: Path
    """Where the texts go."""
    given: tuple[str, ...]
    """Its command line, as far as it is told."""
    seen: SourceScan
    options: FlagDraft | None = None
    """The options of the compiler that are to be tried; None: those of the source alone."""
    compiler: str = ""
    parameters: dict[str, tuple[Plain, ...]] = field(default_factory=dict)
    baseline: dict[str, Plain] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    """Arguments of the build that parameters fill."""
    arguments: dict[str, Plain] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    """Arguments of the run."""
    environment: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    """Parameter or argument to the mark beside it."""

    def __post_init__(self) -> None:
        self._command_line()
        if self.seen.language in COMPILED:
            self.compiler = self._compiler()
            self._macros()
        if self.seen.schedule:
            values = ("static", "dynamic,1", "dynamic,16", "guided")
            self.environment["OMP_SCHEDULE"] = f"{{{self._vary('schedule', values)}}}"
        if self.seen.mpi:
            self.remarks[self._vary("ranks", (1, 2))] = f"{LOOK_AT}numbers of MPI processes"
        if self.options is not None:
            self.flags.append(f"{{{self._free(self.options.name)}}}")
        elif not self.parameters:
            self._nothing_varies()
        while _combinations(self.parameters) > _MOST:
            self._shorten()

    @property
    def size(self) -> str:
        """The argument that counts as the problem size; empty if there is none."""
        usable = [n for n, v in self.arguments.items() if isinstance(v, int) and v >= 1]
        named = [n for n in usable if n.lower() in ("n", "size", "nx", "m", "length")]
        return next(iter((*named, *usable)), "")

    # --- what is there ------------------------------------------------------------------------

    def _vary(self, wanted: str, values: Sequence[Plain], baseline: Plain = None) -> str:
        """Add a parameter and return its name, which is changed if it is taken already."""
        name = self._free(wanted)
        self.parameters[name] = tuple(values)
        self.baseline[name] = values[0] if baseline is None else baseline
        return name

    def _free(self, wanted: str, taken: Sequence[str] = RUN_PLACES) -> str:
        """A valid name, equal to the wanted one unless that is taken."""
        name = re.sub(r"\W", "_", wanted, flags=re.ASCII)
        while name in (*self.parameters, *self.arguments, *taken) or not re.match(
            r"[A-Za-z_]", name
        ):
            name = f"p_{name}"
        return name

    def _command_line(self) -> None:
        given = self.given
        arguments = {seen_argument.position: seen_argument for seen_argument in self.seen.arguments}
        for position in range(1, max([len(given), *arguments]) + 1):
            word = given[position - 1] if position <= len(given) else ""
            argument = arguments.get(position)
            value = _number(word or (argument.default if argument else ""))
            if word and value is None:
                self.words.append(_doubled(word))
                continue
            name = self._free(argument.name if argument else f"argument{position}")
            self.arguments[name] = 1 if value is None else value
            self.words.append(f"{{{name}}}")
            if value is None:
                self.remarks[name] = f"{FILL_IN}a value; the source tells no default"

    def _compiler(self) -> str:
        if self.seen.mpi:
            return _MPI_COMPILERS[self.seen.language]
        if self.options is not None:
            return self.options.compiler
        compilers = _COMPILERS[self.seen.language]
        return next((compiler for compiler in compilers if shutil.which(compiler)), compilers[0])

    def _macros(self) -> None:
        for macro, value in self.seen.macros:
            values = (0, 1) if macro in self.seen.flags else around(value)
            name = self._vary(macro.lower(), values, value)
            self.flags.append(f"-D{macro}={{{name}}}")
            self.remarks[name] = f"{LOOK_AT}values of {macro}"
        for chain in self.seen.switches:
            name = self._vary(_common(chain), (None, *(f"-D{macro}" for macro in chain)))
            self.flags.append(f"{{{name}}}")
            self.remarks[name] = f"{LOOK_AT}null: the source as it is"

    def _nothing_varies(self) -> None:
        """Add a placeholder parameter (a compiler flag or an option) if the program shows none to
        vary.
        """
        if self.seen.language in COMPILED:
            name = self._vary("unroll", (None, "-funroll-loops"))
            self.flags.append(f"{{{name}}}")
            self.remarks[name] = f"{LOOK_AT}flags to try; null: none. The source has no macros"
        else:
            name = self._vary("option", (None,))
            self.words.append(f"{{{name}}}")
            self.remarks[name] = f"{FILL_IN}options of the program to try; null: none"

    def _shorten(self) -> None:
        """Drop one value from the longest list, at the end that is farther from the baseline."""
        name = max(self.parameters, key=lambda parameter: len(self.parameters[parameter]))
        values, base = self.parameters[name], self.baseline[name]
        place = values.index(base)
        self.parameters[name] = values[:-1] if place * 2 < len(values) else values[1:]

    # --- the texts ----------------------------------------------------------------------------

    def program(self, name: str) -> str:
        """The text of the file that describes the program."""
        seen, path = self.seen, self.path
        folder = os.path.relpath(paths.absolute(path).parent, paths.absolute(self.folder))
        lines = [
            "schema: autotune.program/1",
            f"title: {_quoted(f'{name}, a {seen.language} program'.replace('a ex', 'an ex'))}",
            "",
            f"source_folder: {_quoted(folder)}",
            "# Their content decides whether a result is used again.",
            f"sources: {_listed(_globbed(file) for file in seen.files)}",
            "",
        ]
        if self.compiler:
            lines += ["# Each item is one argument; one whose value is null is left out."]
            lines += ["build:", *(f"  - {_quoted(word)}" for word in self._build())]
        lines += [f"run: {_listed(self._run())}"]
        if self.environment:
            lines += [f"environment: {_mapped(self.environment)}"]
        if self.arguments:
            lines += ["", "arguments:", *self._entries(self.arguments)]
        if self.size:
            lines += [f"size: {self.size}"]
        lines += [f"threads: {self._threads()}", "", "parameters:"]
        lines += self._entries({k: list(v) for k, v in self.parameters.items()})
        if self.options is not None:
            lines += self.options.lines(self._free(self.options.name))
        lines += [f"baseline: {_mapped(self.baseline)}"] if self.baseline else []
        lines += ["", *self._readings()]
        return "\n".join(lines) + "\n"

    def config(self, name: str) -> str:
        """The text of the config that tunes the program."""
        lines = [
            "schema: autotune.config/1",
            f"title: {_quoted(f'A first look at {name}')}",
            "",
            "machine: host",
            f"program: {_quoted(f'{name}.yaml')}",
        ]
        size = self._size_argument()
        if size:
            lines += ["problems:", f"  - arguments: {_mapped(size)}"]
        if self.compiler:
            lines += [
                "# Every candidate is built and measured with each of these.",
                "builds:",
                f"  - {{compiler: {_quoted(self.compiler)}, flags: [{', '.join(BASE)}]}}",
            ]
        if self._threads() == "openmp":
            lines += ["threads: [1, all]"]
        lines += [
            "",
            *(_OF_OPTIONS if self.options is not None else _USUAL),
            f"limits: {{compile: 60 s, run: 60 s}}  {LOOK_AT}a run that takes longer is ended",
        ]
        return "\n".join(lines) + "\n"

    def _size_argument(self) -> dict[str, Plain]:
        """The size argument, if its value is known; all other arguments keep their defaults."""
        name = self.size
        return {name: self.arguments[name]} if name and name not in self.remarks else {}

    def _build(self) -> list[str]:
        seen = self.seen
        sources = [name for name in seen.files if not name.lower().endswith((".h", ".hpp", ".inc"))]
        words = ["{compiler}", "{flags}", *self.flags]
        words += ["-fopenmp"] * seen.openmp + ["-pthread"] * seen.threads
        words += [f"{{source folder}}/{_doubled(name)}" for name in sources]
        return [*words, "-o", "{output}", *(["-lm"] if seen.language == "C" else [])]

    def _run(self) -> list[str]:
        source = f"{{source folder}}/{_doubled(self.path.name)}"
        if self.compiler:
            command = ["{output}"]
        elif self.seen.language == "Python":
            command = ["{python}", source]
        else:
            command = [source]
        ranks = next((name for name in self.parameters if name.endswith("ranks")), "")
        launched = ["mpirun", "-n", f"{{{ranks}}}"] if self.seen.mpi else []
        return [*launched, *command, *self.words]

    def _threads(self) -> str:
        if self.seen.openmp:
            return "openmp"
        quiet = self.seen.language in COMPILED and not (self.seen.threads or self.seen.mpi)
        return "one" if quiet else "own"

    def _entries(self, values: Mapping[str, Plain | list[Plain]]) -> list[str]:
        return [
            f"  {name}: {json.dumps(value, ensure_ascii=False)}"
            + (f"  {self.remarks[name]}" if name in self.remarks else "")
            for name, value in values.items()
        ]

    def _readings(self) -> list[str]:
        seen = self.seen
        tolerance = "1e-5" if seen.single else "1e-9"
        lines = []
        if seen.time:
            unit = f", unit: {seen.unit}" if seen.unit != "s" else ""
            lines.append(
                f"time: {{pattern: {_quoted(seen.time)}{unit}}}  {LOOK_AT}what its line looks like"
            )
        elif seen.rate is None:
            lines += [
                f"time: wall  {LOOK_AT}of the whole process; a time that it prints is better:",
                '# time: {pattern: "time ([-+0-9.eE]+) s", warm_ups: 1}',
            ]
        if seen.rate is not None:
            name = self._free(seen.rate.name, METRICS_OF_ALL)
            pattern, unit = _quoted(seen.rate.pattern), _quoted(seen.rate.unit)
            lines += [
                "metrics:",
                f"  {name}: {{pattern: {pattern}, unit: {unit}, better: more}}"
                f"  {LOOK_AT}what its line looks like",
                f"{'# ' if seen.time else ''}objective: {name}",
            ]
        if seen.check:
            lines.append(
                f"check: {{pattern: {_quoted(seen.check)}, tolerance: {tolerance}}}"
                f"  {LOOK_AT}the value that must not change"
            )
        else:
            lines += [
                f"{LOOK_AT}without a check value wrong answers go unseen:",
                f'# check: {{pattern: "sum (\\\\S+)", tolerance: {tolerance}}}',
            ]
        return lines


def around(value: int) -> tuple[int, ...]:
    """Values to try around a default: its halves and doubles, from 1 on.

    >>> around(64)
    (16, 32, 64, 128, 256)
    """
    if value <= 0:
        return (value, 1) if value == 0 else (value,)
    near = {max(1, value // 4), max(1, value // 2), value, value * 2, value * 4}
    return tuple(sorted(near))


def _combinations(parameters: Mapping[str, Sequence[Plain]]) -> int:
    total = 1
    for values in parameters.values():
        total *= len(values)
    return total


def _common(chain: Sequence[str]) -> str:
    """The common prefix of alternative macros: ``order`` for ORDER_IJK and ORDER_KIJ."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*chain, strict=False))
    shared = "".join(letters[0] for letters in alike).rstrip("_")
    return (shared if len(shared) > 1 else chain[0]).lower()


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if abs(number) < 1e18 else None
    return None


def _doubled(text: str) -> str:
    """Text with its braces doubled, so that a template prints it unchanged."""
    return text.replace("{", "{{").replace("}", "}}")


def _globbed(name: str) -> str:
    """A file name with its wildcards escaped, for use where a glob pattern is expected."""
    return re.sub(r"([*?\[])", r"[\1]", name)


def _quoted(text: str) -> str:
    """The text as a YAML scalar, quoted where it has to be.

    Quotes as in JSON are valid in YAML, but not the pairs of escapes for one character.

    >>> _quoted("a b"), _quoted("\U0001f600.c")
    ('"a b"', '"\\\\U0001f600.c"')
    """
    if re.fullmatch(r"[A-Za-z][\w./+-]*", text) and text.lower() not in _WORDS:
        return text
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    """A character between the double quotes of a YAML scalar."""
    code = ord(character)
    return f"\\U{code:08x}" if code > 0xFFFF else json.dumps(character)[1:-1]


_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf")


def _listed(words: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, words))}]"


def _mapped(values: Mapping[str, Plain]) -> str:
    pairs = (
        f"{name}: {_quoted(value) if isinstance(value, str) else json.dumps(value)}"
        for name, value in values.items()
    )
    return f"{{{', '.join(pairs)}}}"
