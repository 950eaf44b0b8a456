"""A study from what Python states of a target: what its config and its program file would say."""

import shlex
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autotune import paths
from autotune.api.calling.accepted_names import require_accepted
from autotune.api.calling.function_program import CalledFunction, is_lazy, texts_of
from autotune.api.parameters import (
    Parameters,
    domains,
    parameters_notation,
    restrictions_notation,
)
from autotune.domain.metric import TIME
from autotune.domain.parameter_domain import FlagSet
from autotune.domain.program import Program, digest
from autotune.domain.setup import Measuring, Setup
from autotune.errors import ConfigError, Fault, InputError, nearest, unknown_name
from autotune.files import config
from autotune.files.config.file_fields import keys_of
from autotune.language.constraint import Value

Target = Callable[..., Any] | str | Path | Sequence[str]
"""A function, a command as words or as one text, a source file, or its text."""

_COMPILERS = {".c": "gcc", ".cc": "g++", ".cpp": "g++", ".cxx": "g++", ".f90": "gfortran"}
"""By the ending of a source file."""
_FLAGS = ("-O3", "-march=native")
_BETTER = {"less": "less", "more": "more", "minimize": "less", "maximize": "more"}
_WALL = "wall"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDescription:
    """What ``tune`` is told of a target; see there."""

    target: Target
    parameters: Parameters
    name: str | None = None
    restrictions: Iterable[object] | str = ()
    baseline: Mapping[str, Value] = field(default_factory=dict)
    arguments: Mapping[str, Value] = field(default_factory=dict)
    problems: Sequence[Mapping[str, Value]] = ()
    time: object = None
    metrics: Mapping[str, object] | Sequence[str] = ()
    objectives: str | Sequence[str] | Mapping[str, str] = ()
    check: Any = None
    tolerance: float = 1e-9
    further: Mapping[str, object] = field(default_factory=dict)
    """Further keys of a config or a program file."""

    def setup(self) -> Setup:
        """The setup of the study; InputError or ConfigError with everything that is wrong."""
        study, program = self._split()
        names, better = _objectives(self.objectives)
        metrics = self._metrics(better)
        program = {
            "title": f"{self._title}, tuned from Python",
            **self._target(metrics),
            "parameters": parameters_notation(self.parameters),
            "constraints": restrictions_notation(self.restrictions),
            "baseline": dict(self.baseline),
            "arguments": dict(self._arguments),
            **({"objective": names[0]} if names else {}),
            **program,
        }
        if names:
            study["search"] = {"objectives": names, **dict(_keys(study, "search"))}
        if self.problems:
            study["problems"] = [{"arguments": dict(problem)} for problem in self.problems]
        title = {"title": self._title, "name": self.name or self._name}
        try:
            return config.stated({**title, "program": program, **study})
        except ConfigError as error:
            raise ConfigError(*map(_as_stated, error.faults)) from None

    # --- names --------------------------------------------------------------------------------

    @property
    def _title(self) -> str:
        if callable(self.target):
            named = getattr(self.target, "__name__", type(self.target).__name__)
            return f"function {named}"
        if isinstance(self.target, str | Path):
            text = str(self.target)
            return "C text" if "\n" in text else text
        return shlex.join(map(str, self.target))

    @property
    def _name(self) -> str:
        """A name for the study, from the target."""
        if callable(self.target):
            words = getattr(self.target, "__name__", type(self.target).__name__)
        elif self._source_file is not None:
            words = self._source_file.stem
        elif isinstance(self.target, str | Path) and "\n" in str(self.target):
            words = "source"
        else:
            words = Path(next(iter(self._words), "study")).stem
        kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in words).strip("-")
        return kept[:60] or "study"

    @property
    def _arguments(self) -> dict[str, Value]:
        """The arguments with their usual values, those that only problems state among them."""
        stated: dict[str, Value] = {}
        for problem in reversed(self.problems):
            stated |= problem
        return {**stated, **self.arguments}

    def _split(self) -> tuple[dict[str, object], dict[str, object]]:
        """The further keys of the config and those of the program."""
        study: dict[str, object] = {}
        program: dict[str, object] = {}
        of_study, of_program = keys_of(Setup), keys_of(Program)
        for key, value in self.further.items():
            # threads: [1, 2] is a number of threads, threads: openmp how a program gets it
            if key in of_program and (key not in of_study or isinstance(value, str)):
                program[key] = value
            else:
                study[key] = value
        return study, program

    # --- targets ------------------------------------------------------------------------------

    def _target(self, metrics: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
        """The keys that depend on what the target is."""
        if callable(self.target):
            if is_lazy(self.target):
                raise InputError(_lazy(self._title))
            return self._called(self.target, metrics)
        for name, metric in metrics.items():
            if callable(metric.get("read")):
                raise InputError(_needs_function(f"metrics.{name}"))
        for key, value in (("time", self.time), ("check", self.check)):
            if callable(value):
                raise InputError(_needs_function(key))
        shape = self._source() or self._command()
        time = {"time": _reading(self.time)} if self.time is not None else {}
        read = {n: {**_where(m["read"]), **_without(m, "read")} for n, m in metrics.items()}
        check = _reading(self.check)
        if isinstance(check, dict) and "tolerance" not in check:
            check = {**check, "tolerance": self.tolerance}
        return {
            **shape,
            **time,
            **({"metrics": read} if read else {}),
            **({"check": check} if check is not None else {}),
        }

    def _called(
        self, function: Callable[..., Any], metrics: Mapping[str, Mapping[str, object]]
    ) -> dict[str, object]:
        """A function, as a program that calls it."""
        require_accepted(
            function,
            {
                **dict.fromkeys(self._arguments, "problems"),
                **dict.fromkeys(self.arguments, "arguments"),
                **dict.fromkeys(map(str, parameters_notation(self.parameters)), "parameters"),
            },
        )
        values: dict[str, list[Value]] = {}
        for name, domain in domains(self.parameters).items():
            listed = [] if isinstance(domain, FlagSet) else list(domain.all_values)
            values[name] = [*listed, *([self.baseline[name]] if name in self.baseline else [])]
        for name, usual in self._arguments.items():
            values[name] = [usual, *(problem[name] for problem in self.problems if name in problem)]
        measuring = dict(_keys(self.further, "measuring"))
        samples = measuring.get("samples", Measuring().samples)
        called = CalledFunction(
            function=function,
            texts=texts_of(values),
            time=_of_result(self.time, "time"),
            metrics={n: _of_result(m["read"], f"metrics.{n}") or n for n, m in metrics.items()},
            check=self.check,
            tolerance=self.tolerance,
            samples=samples if isinstance(samples, int) else Measuring().samples,
        ).program()
        if metrics:
            called["metrics"] = {
                n: {"json": f"autotune.metrics.{n}", **_without(m, "read")}
                for n, m in metrics.items()
            }
        return called

    @property
    def _source_file(self) -> Path | None:
        if not isinstance(self.target, str | Path) or "\n" in str(self.target):
            return None
        path = Path(self.target)
        return path if path.suffix in _COMPILERS else None

    def _source(self) -> dict[str, object] | None:
        """A source file, or its text: compiled with a macro for every parameter, and run."""
        path = self._source_file
        if path is None and isinstance(self.target, str) and "\n" in self.target:
            path = _kept(self.target)
        if path is None:
            return None
        if not paths.exists(path):
            near = sorted(p.name for p in path.parent.glob(f"*{path.suffix}"))
            found, hint = f"there is no file {str(path)!r}", nearest(path.name, near)
            raise InputError(Fault(where="target", found=found, hint=hint))
        text = path.read_text(encoding="utf-8", errors="replace")
        spread = "#pragma omp" in text or "!$omp" in text.lower()
        flags = [n for n, d in domains(self.parameters).items() if isinstance(d, FlagSet)]
        macros = [f"-D{name}={{{name}}}" for name in self.parameters if name not in flags]
        build = ["{compiler}", "{flags}", *(f"{{{name}}}" for name in flags), *macros]
        build += ["-fopenmp"] if spread else []
        return {
            "source_folder": str(paths.absolute(path.parent)),
            "sources": [path.name],
            "build": [*build, f"{{source folder}}/{path.name}", "-o", "{output}", "-lm"],
            "run": ["{output}", *(f"{{{name}}}" for name in self._arguments)],
            "threads": "openmp" if spread else "one",
        }

    @property
    def _words(self) -> list[str]:
        if isinstance(self.target, str):
            return shlex.split(self.target)
        if isinstance(self.target, Path):
            return [str(self.target)]
        assert not callable(self.target)
        return [str(word) for word in self.target]

    def _command(self) -> dict[str, object]:
        """A command line, run in the current folder; files that it names make the program."""
        words = self._words
        named = [word for word in words if "{" not in word and Path(word).is_file()]
        program = shutil.which(words[0]) if words else None
        if not named and program is not None:
            named = [program]
        if not named:
            found = f"no program {words[0]!r}" if words else "no command"
            expected = "a program on PATH, a path to one, a source file, or a function"
            raise InputError(Fault(where="target", found=found, expected=expected))
        return {"folder": ".", "sources": list(dict.fromkeys(named)), "run": words}

    # --- what is read ---------------------------------------------------------------------------

    def _metrics(self, better: Mapping[str, str]) -> dict[str, dict[str, object]]:
        """Every metric by name: how it is read, its unit, whether more or less of it is better."""
        stated = self.metrics
        named = stated if isinstance(stated, Mapping) else {name: name for name in stated}
        made: dict[str, dict[str, object]] = {}
        for name, way in named.items():
            metric = dict(way) if isinstance(way, Mapping) else {"read": way}
            metric.setdefault("read", {k: metric.pop(k) for k in _WAYS if k in metric} or name)
            metric["better"] = better.get(name) or metric.get("better", "less")
            made[str(name)] = metric
        return made


_WAYS = ("pattern", "json", "csv", "warm_ups")
"""Keys of a metric that say where it is read."""


def _objectives(
    stated: str | Sequence[str] | Mapping[str, str],
) -> tuple[list[str], dict[str, str]]:
    """The objectives, the time first if it is one, and which of their values are better.

    >>> _objectives({"rate": "maximize", "time": "minimize"})
    (['time', 'rate'], {'rate': 'more', 'time': 'less'})
    """
    if not isinstance(stated, Mapping):
        stated = dict.fromkeys([stated] if isinstance(stated, str) else stated, "")
    better: dict[str, str] = {}
    for name, direction in stated.items():
        if direction and direction not in _BETTER:
            raise InputError(unknown_name(f"objectives.{name}", "direction", direction, _BETTER))
        if direction:
            better[name] = _BETTER[direction]
    first = [TIME.name] if TIME.name in stated else []
    return [*first, *(name for name in stated if name not in first)], better


def _reading(stated: object) -> object:
    """How something is read from what a command prints: a text with a group is a pattern, another
    one the key of a JSON object.

    >>> _reading("seconds (\\\\S+)"), _reading("wall"), _reading("time.s")
    ({'pattern': 'seconds (\\\\S+)'}, 'wall', {'json': 'time.s'})
    """
    if not isinstance(stated, str) or stated == _WALL:
        return stated
    return {"pattern": stated} if "(" in stated else {"json": stated}


def _where(stated: object) -> dict[str, object]:
    place = _reading(stated)
    return dict(place) if isinstance(place, Mapping) else {"json": place}


def _of_result(stated: object, where: str) -> str | Callable[..., Any] | None:
    """A function of a result, or a name in it; InputError for anything else."""
    if stated is None or isinstance(stated, str) or callable(stated):
        return stated
    raise InputError(
        Fault(
            where=where,
            found=f"a value of type {type(stated).__name__}",
            expected="a name in what the function returns, or a function of it",
            hint="time=float where it returns its time in seconds",
        )
    )


def _lazy(title: str) -> Fault:
    """The fault of a target whose call returns before its work is done."""
    return Fault(
        where="target",
        found=f"{title} is a coroutine or generator, whose call returns before its work is done",
        expected="a function whose calls can be timed",
        hint="wrap it: lambda **parameters: asyncio.run(it(**parameters)), or list(it(...))",
    )


def _needs_function(where: str) -> Fault:
    return Fault(
        where=where,
        found="a function, and the target is a command",
        expected='how it is read from the output: "seconds (\\\\S+)", or {"json": "key"}',
        hint="tune a function that runs the command to judge it in Python",
    )


def _without(metric: Mapping[str, object], *names: str) -> dict[str, object]:
    return {key: value for key, value in metric.items() if key not in names}


def _keys(stated: Mapping[str, object], section: str) -> Mapping[str, object]:
    """A section of further keys; empty where it is absent or none."""
    value = stated.get(section)
    return value if isinstance(value, Mapping) else {}


def _kept(text: str) -> Path:
    """The file with a source text, in the cache."""
    folder = paths.cache_dir() / "sources" / digest({"": text.encode()})
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "source.c"
    path.write_text(text, encoding="utf-8")
    return path


_STATED = {"program.constraints": "restrictions", "program.run": "target"}


def _as_stated(fault: Fault) -> Fault:
    """A fault whose place is a keyword of ``tune``."""
    where = fault.where
    for prefix, keyword in (*_STATED.items(), ("program.", "")):
        if where.startswith(prefix):
            where = (keyword + where.removeprefix(prefix)).removesuffix(".require")
    return Fault(where=where, found=fault.found, expected=fault.expected, hint=fault.hint)
