"""The texts of a first description of a program and of a first config.

What could not be seen is marked ``FILL IN``, what was guessed ``LOOK AT``.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from autotune import paths
from autotune.commands.init.building.build_plan import FLAGS, BuildPlan, default_compiler
from autotune.commands.init.flag_draft import FlagDraft
from autotune.commands.init.option_scan import ProgramOption, filled_words, given_option
from autotune.commands.init.printed_by_source import source_readings
from autotune.commands.init.source_scan import COMPILED, LANGUAGES, SourceScan
from autotune.commands.init.trying.observed_run import ObservedRun
from autotune.commands.init.work_amount import role_of
from autotune.commands.init.yaml_text import (
    FILL_IN,
    LOOK_AT,
    Plain,
    doubled,
    globbed,
    listed,
    mapped,
    number_of,
    quoted,
)
from autotune.domain.program import METRICS_OF_ALL, RUN_PLACES

BASE = ("-O3", "-march=native")
"""Flags of the compiler in a first config."""
_USUAL = (
    "selection: {top: 5, random: 2, baseline: true, seed: 1}",
    "search: {budget: 30}",
    "measuring: {rounds: 4, samples: 2}",
)
_MANY = 100
"""Candidates of a first study of many options of a compiler."""
_OF_OPTIONS = (
    "selection: {top: 1, random: 12, baseline: true, seed: 1}",
    f"search: {{budget: {_MANY}}}",
    "measuring: {rounds: 3, samples: 1}",
)
"""How a first config measures: of a few parameters, and of many options of a compiler."""
_MOST = 10_000
"""Combinations that a first config has at most."""
_OPTIONAL = "no value is passed, for a default in the source is no plain number"
_CORES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_ALLOCATOR: tuple[Plain, ...] = (
    None,
    "glibc.malloc.hugetlb=1",
    "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824",
)
"""What the C library offers to any program: huge pages, and memory that is kept for reuse."""


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
    plan: BuildPlan | None = None
    """How its project builds it; None: in one call of a compiler, or not at all."""
    ranks: int = 0
    """Processes of MPI that are told; 0: none are."""
    libraries: tuple[str, ...] = ()
    """Flags of the linker that it needs."""
    observed: ObservedRun | None = None
    """What was seen when it was run; None: it was not."""
    run_folder: Path | None = None
    """Where it is run; None: in a fresh folder."""
    bare: str = ""
    """Why only what is told stands in its command line; empty: defaults of the source as well."""
    compiler: str = ""
    parameters: dict[str, tuple[Plain, ...]] = field(default_factory=dict)
    baseline: dict[str, Plain] = field(default_factory=dict)
    flag_set: list[tuple[str, ...]] = field(default_factory=list)
    """Flags that are tried beside those of the project, each with its spellings."""
    flags: list[str] = field(default_factory=list)
    """Arguments of the build that parameters fill."""
    arguments: dict[str, Plain] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    """Arguments of the run."""
    environment: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    """Parameter or argument to the mark beside it."""
    safe: set[str] = field(default_factory=set)
    """Parameters that change neither work nor answer, whatever the program is."""
    kept: dict[str, str] = field(default_factory=dict)
    """What could vary and does not, with the reason."""
    hints: list[str] = field(default_factory=list)
    """What the user may do next."""
    untold: list[str] = field(default_factory=list)
    """Arguments that are passed although nobody told them."""

    def __post_init__(self) -> None:
        self._command_line()
        self.kept.update(self.seen.unvaried)
        for option in self.seen.options:
            self._option(option)
        if self.plan is not None:
            self.compiler = self.plan.compiler
            if self.plan.flagged:
                self._macros()
            else:
                why = "the build takes no flags from outside"
                self.kept |= dict.fromkeys((macro for macro, _ in self.seen.macros), why)
        elif self.seen.language in COMPILED:
            self.compiler = self._compiler()
            self._macros()
        if self.seen.schedule:
            values = ("static", "dynamic,1", "dynamic,16", "guided")
            name = self._vary("schedule", values)
            self.environment["OMP_SCHEDULE"] = f"{{{name}}}"
            self.safe.add(name)
        if self.seen.mpi:
            ranks = (1, 2) if self.ranks in (0, 1, 2) else (self.ranks // 2, self.ranks)
            name = self._vary("ranks", ranks, self.ranks or None)
            self.remarks[name] = f"{LOOK_AT}numbers of MPI processes"
        cores = usual_values("cores", os.cpu_count() or 1)
        if self.seen.numeric and len(cores) > 1:
            name = self._vary("cores", cores, cores[-1])
            self.environment |= dict.fromkeys(_CORES, f"{{{name}}}")
            self.safe.add(name)
            self.remarks[name] = f"{LOOK_AT}threads of the libraries that it computes in"
        self._flags()
        if not self.parameters and not self.flag_set and self.options is None:
            self._nothing_varies()
        while _combinations(self.parameters) > _MOST:
            self._shorten()

    @property
    def size(self) -> str:
        """The argument that counts as the problem size; empty if there is none."""
        usable = [n for n, v in self.arguments.items() if isinstance(v, int) and v >= 1]
        named = [n for n in usable if n.lower() in ("n", "size", "nx", "m", "length")]
        return next(iter((*named, *usable)), "")

    def keep(self, name: str, why: str) -> None:
        """Take a parameter back to its baseline, for a reason."""
        value = self.baseline[name]
        self.parameters[name] = (value,)
        self.kept[name] = why
        self.remarks[name] = f"# stays {value}: {why}"
        if _combinations(self.parameters) < 2 and not self.flag_set and self.options is None:
            self._nothing_varies()

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
            named, head, number = given_option(given, position - 1) if word else ("", "", "")
            argument = arguments.get(position)
            if not word and argument and (reason := self.bare or _OPTIONAL * argument.optional):
                # no later one can be passed without it
                left = [a.name for p, a in sorted(arguments.items()) if p >= position]
                self.kept |= dict.fromkeys(left, reason)
                break
            if named and number:
                self._given(named, head, number)
                continue
            value = number_of(word or (argument.default if argument else ""))
            if word and value is None:
                self.words.append(doubled(word))
                continue
            wanted = argument.name if argument else f"argument{position}"
            self.untold += [wanted] * (not word)
            if isinstance(value, int) and value > 0 and role_of(wanted)[0] == "tuning":
                name = self._vary(wanted, usual_values(wanted, value), value)
                self.words.append(f"{{{name}}}")
                self.remarks[name] = f"{LOOK_AT}values of argument {position}"
                continue
            name = self._free(wanted)
            self.arguments[name] = 1 if value is None else value
            self.words.append(f"{{{name}}}")
            if value is None:
                self.remarks[name] = f"{FILL_IN}a value; the source tells no default"

    def _given(self, option: str, head: str, number: str) -> None:
        """An option of the command line with its number: varied only if it says how to work."""
        value = number_of(number)
        level = bool(head) and option in self.seen.levels
        varied = level or role_of(option)[0] == "tuning"
        if varied and isinstance(value, int) and value > 0:
            name = self._vary(option, usual_values(option, value), value)
            better = ": a level trades speed for another result" if level else ""
            self.remarks[name] = f"{LOOK_AT}values of the option {option}{better}"
        else:
            name = self._free(option)
            self.arguments[name] = value
        self.words.append(f"{doubled(head)}{{{name}}}")

    def _option(self, option: ProgramOption) -> None:
        """An option or a variable that the program declares, unless the command line has it."""
        stated = {word.partition("=")[0] for word in self.given}
        if (option.words and option.words[0] in stated) or set(option.choices) & stated:
            return
        role, why = role_of(option.name)
        default = option.default
        if role in ("work", "quality", "report"):
            if default is not None:
                self.kept[option.name] = why
            return
        if option.choices:
            values: Sequence[Plain] = option.choices
        elif isinstance(default, int) and default > 0:
            values = usual_values(option.name, default)
        else:
            return
        if default is not None and default not in values:
            values = (default, *values)
        name = self._vary(option.name, values, default)
        self.remarks[name] = f"{LOOK_AT}values of {option.name}"
        if option.words:
            self.words += filled_words(option, name)
        else:
            self.environment[option.name] = f"{{{name}}}"

    def _compiler(self) -> str:
        if self.options is not None and not self.seen.mpi:
            return self.options.compiler
        return default_compiler(self.seen.language, mpi=self.seen.mpi)

    def _macros(self) -> None:
        for macro, value in self.seen.macros:
            role, why = ("tuning", "") if macro in self.seen.flags else role_of(macro)
            if role == "work":
                # an argument: a problem of a config may set it, the tuner never does
                name = self._free(macro.lower())
                self.arguments[name] = value
                self.remarks[name] = f"# {macro}: {why}, not varied"
                self.flags.append(f"-D{macro}={{{name}}}")
            if role in ("work", "quality", "report"):
                self.kept[macro] = why
                continue
            values = (0, 1) if macro in self.seen.flags else usual_values(macro, value)
            name = self._vary(macro.lower(), values, value)
            self.flags.append(f"-D{macro}={{{name}}}")
            self.remarks[name] = f"{LOOK_AT}values of {macro}"
        for chain in self.seen.switches:
            if fixed := _fixed(chain):
                self.kept |= fixed
                continue
            if self.plan is not None:
                self.flag_set.append(tuple(f"-D{macro}" for macro in chain))
                continue
            name = self._vary(_common(chain), (None, *(f"-D{macro}" for macro in chain)))
            self.flags.append(f"{{{name}}}")
            self.remarks[name] = f"{LOOK_AT}null: the source as it is"

    def _flags(self) -> None:
        """The options of the compiler that are tried, beside what the project states."""
        if self.options is not None:
            self.flags.append(f"{{{self._free(self.options.name)}}}")
        elif self.plan is not None and self.plan.flagged:
            other = [flag for flag in ("-O2", "-O3") if flag not in self.plan.base]
            self.flag_set += [tuple(other), ("-march=native",), ("-funroll-loops",)]
            self.flags.append(f"{{{self._free('options')}}}")

    def _nothing_varies(self) -> None:
        """Add what may vary in any program, if this one shows nothing of its own."""
        if self.compiler and self.plan is None:
            name = self._vary("unroll", (None, "-funroll-loops"))
            self.flags.append(f"{{{name}}}")
            self.safe.add(name)
            why = "shows no macro that may vary"
            self.remarks[name] = f"{LOOK_AT}flags to try; null: none. The source {why}"
            if self.compiler in ("gcc", "g++", "gfortran"):
                next_step = f"--flags {self.compiler} varies the options of the compiler as well"
                self.hints.append(f"the source {why}: {next_step}")
            return
        name = self._vary("allocator", _ALLOCATOR)
        self.environment["GLIBC_TUNABLES"] = f"{{{name}}}"
        self.safe.add(name)
        self.remarks[name] = f"{LOOK_AT}how the C library takes memory; its own options go into run"

    def _shorten(self) -> None:
        """Drop one value from the longest list, at the end that is farther from the baseline."""
        name = max(self.parameters, key=lambda parameter: len(self.parameters[parameter]))
        values, base = self.parameters[name], self.baseline[name]
        place = values.index(base)
        self.parameters[name] = values[:-1] if place * 2 < len(values) else values[1:]

    # --- the texts ----------------------------------------------------------------------------

    def program(self, name: str) -> str:
        """The text of the file that describes the program."""
        seen = self.seen
        folder = os.path.relpath(self.root, paths.absolute(self.folder))
        lines = [
            "schema: autotune.program/1",
            f"title: {quoted(f'{name}, a {seen.language} program'.replace('a ex', 'an ex'))}",
            "",
            f"source_folder: {quoted(folder)}",
            "# Their content decides whether a result is used again.",
            f"sources: {listed(self._sources())}",
            "",
        ]
        if self.compiler:
            lines += ["# Each item is one argument; one whose value is null is left out."]
            lines += ["build:", *self._build_lines()]
        elif self.plan is not None:
            lines += ["build:", *self._build_lines()]
        lines += [f"run: {listed(self._run())}"]
        if self.run_folder is not None:
            beside = os.path.relpath(self.run_folder, paths.absolute(self.folder))
            lines += [f"folder: {quoted(beside)}  # it needs files that lie there"]
        if self.environment:
            lines += [f"environment: {mapped(self.environment)}"]
        if self.arguments:
            lines += ["", "arguments:", *self._entries(self.arguments)]
        if self.size:
            lines += [f"size: {self.size}"]
        lines += [f"threads: {self._threads()}", "", "parameters:"]
        lines += self._entries({k: list(v) for k, v in self.parameters.items()})
        if self.options is not None:
            lines += self.options.lines(self._free(self.options.name))
        elif self.flag_set:
            lines += [f"  {self._free('options')}:", "    flags:"]
            lines += [f"      - {listed(f) if len(f) > 1 else f[0]}" for f in self.flag_set]
        lines += [f"baseline: {mapped(self.baseline)}"] if self.baseline else []
        lines += ["", *self._readings()]
        return "\n".join(lines) + "\n"

    def config(self, name: str) -> str:
        """The text of the config that tunes the program."""
        lines = [
            "schema: autotune.config/1",
            f"title: {quoted(f'A first look at {name}')}",
            "",
            "machine: host",
            f"program: {quoted(f'{name}.yaml')}",
        ]
        size = self._size_argument()
        if size:
            lines += ["problems:", f"  - arguments: {mapped(size)}"]
        if self.compiler:
            lines += [
                "# Every candidate is built and measured with each of these.",
                "builds:",
                f"  - {{compiler: {quoted(self.compiler)}, flags: [{', '.join(self.base)}]}}",
            ]
        if self._threads() == "openmp":
            lines += ["threads: [1, all]"]
        lines += [
            "",
            *self._measuring(),
        ]
        return "\n".join(lines) + "\n"

    @property
    def budget(self) -> int:
        """Candidates that the config has measured at most."""
        return _MANY if self.options is not None or not self.observed else self.observed.budget

    def _size_argument(self) -> dict[str, Plain]:
        """The size argument, if its value is known; all other arguments keep their defaults."""
        name = self.size
        return {name: self.arguments[name]} if name and name not in self.remarks else {}

    def _measuring(self) -> list[str]:
        """How candidates are searched and measured, by how long the program took."""
        usual = _OF_OPTIONS if self.options is not None else _USUAL
        if self.observed is None:
            note = f"  {LOOK_AT}a run that takes longer is ended"
            return [*usual, f"limits: {{compile: 60 s, run: 60 s}}{note}"]
        compile_limit, run_limit = self.observed.limits()
        limits = f"limits: {{compile: {compile_limit} s, run: {run_limit} s}}"
        if self.options is not None:
            return [*usual, limits]
        rounds, samples = self.observed.rounds
        return [
            usual[0],
            f"search: {{budget: {self.observed.budget}{self.observed.objectives}}}  # a run took"
            f" {max(self.observed.walls):.3g} s",
            f"measuring: {{rounds: {rounds}, samples: {samples}}}",
            limits,
        ]

    @property
    def root(self) -> Path:
        """The absolute folder of the sources; that of a program on PATH is not behind links."""
        if self.plan is not None:
            return paths.absolute(self.plan.folder)
        if self.seen.language in ("script", "executable"):
            return paths.absolute(self.path.parent)
        return paths.absolute(self.path).parent

    @property
    def base(self) -> tuple[str, ...]:
        """The flags that every candidate is built with."""
        return self.plan.base if self.plan is not None else BASE

    def _sources(self) -> list[str]:
        if self.plan is not None:
            return list(self.plan.patterns)
        return [globbed(file) for file in self.seen.files]

    def _build_lines(self) -> list[str]:
        """The commands of the build as items of a list."""
        if self.plan is None:
            return [f"  - {quoted(word)}" for word in self._build()]
        varied = ["{flags}", *self.flags]
        lines = []
        for command in self.plan.commands:
            words = list[str]()
            for word in command:
                words += varied if word == FLAGS else [word.replace(FLAGS, " ".join(varied))]
            links = self.libraries if FLAGS in command else ()
            lines.append(f"  - {listed((*words, *links))}")
        return lines

    def _build(self) -> list[str]:
        seen = self.seen
        sources = [name for name in seen.files if Path(name).suffix in LANGUAGES]
        words = ["{compiler}", "{flags}", *self.flags]
        words += [f"-I{{source folder}}/{doubled(name)}" for name in seen.includes]
        words += ["-fopenmp"] * seen.openmp + ["-pthread"] * seen.threads
        words += [f"{{source folder}}/{doubled(name)}" for name in sources]
        mathematics = ["-lm"] if seen.language == "C" else []
        return [*words, "-o", "{output}", *mathematics, *self.libraries]

    def _run(self) -> list[str]:
        source = f"{{source folder}}/{doubled(self.path.name)}"
        if self.compiler or self.plan is not None:
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
        """How time and answer are read: from what was printed, or what the source prints."""
        tolerance = "1e-5" if self.seen.single else "1e-9"
        if self.observed is not None:
            return self.observed.lines(tolerance, self._metric)
        return source_readings(self.seen, tolerance, self._metric)

    def _metric(self, wanted: str) -> str:
        return self._free(wanted, METRICS_OF_ALL)


def usual_values(name: str, value: int) -> tuple[int, ...]:
    """Values to try of a parameter: numbers of threads up to those of this host, else those around
    its default.
    """
    if not re.search(r"thread|jobs?$|workers?$|cores|nproc|cpus", name, re.IGNORECASE):
        return around(value)
    cores = os.cpu_count() or 1
    return tuple(sorted({value, cores, *(2**k for k in range(10) if 2**k <= cores)}))


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


def _fixed(chain: Sequence[str]) -> dict[str, str]:
    """The switches of a chain that say what is done and not how, each with the reason; alternatives
    of one another are ways to do the work, such as ORDER_IJK and ORDER_KIJ.
    """
    what = ("quality", "report") if len(chain) > 1 else ("work", "quality", "report")
    return {macro: why for macro in chain for role, why in (role_of(macro),) if role in what}


def _common(chain: Sequence[str]) -> str:
    """The common prefix of alternative macros: ``order`` for ORDER_IJK and ORDER_KIJ."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*chain, strict=False))
    shared = "".join(letters[0] for letters in alike).rstrip("_")
    return (shared if len(shared) > 1 else chain[0]).lower()
