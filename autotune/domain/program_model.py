"""Models of external programs, which predict the time of a run without running it.

    FormulaModel     seconds as formulas
    KerncraftModel   a kernel in kerncraft's C, so many iterations of it
    KernelModel      a stencil or an IVP of the kernel files, so many time steps of it
    MarkedModel      loops of the program's own source, as the compiler makes them
    AssertedModel    the counts and messages of a rank, as a model of assertions states them

Formulas name arguments, parameters, ``threads`` and figures of the machine (``FACTS``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated, Literal

from autotune.domain.annotations import (
    Bounds,
    Count,
    Derived,
    FileKey,
    FileSection,
    InNotation,
    Text,
)
from autotune.domain.assertion_model import AssertionModel
from autotune.domain.misfit import Misfit, refuse
from autotune.errors import nearest, one_of
from autotune.language.constraint import Condition, Value

Formula = Condition
"""An expression that gives a number."""
AnyFormula = Annotated[Formula, InNotation("formula of any value")]
"""An expression that gives any value."""
Accuracy = Annotated[float, InNotation("accuracy")]

FACTS: Mapping[str, str] = {
    "threads": "threads of the candidate",
    "clock": "Hz, measured where the machine is calibrated",
    "cores": "cores of a node",
    "line": "bytes of a cache line",
    "flops": "double-precision operations per second of one core, at its widest vectors",
    "barrier": "seconds of one OpenMP barrier of the candidate's threads",
}
"""Figures of the machine that a formula may name."""
LEVELS = ("L1", "L2", "L3", "L4", "MEM")
CACHE, BANDWIDTH = "cache_", "bandwidth_"
"""Followed by a level: bytes of the cache that one thread has, and bytes per second that one thread
gets from the level, both while all threads of the candidate run."""
NAMES = (*FACTS, *(CACHE + name for name in LEVELS[:-1]), *(BANDWIDTH + name for name in LEVELS))
"""Every name that a formula may use beside arguments and parameters."""

Access = Literal["read", "write", "update"]
"""A stream is only read; written without being read; read and written."""


def amount(formula: Formula, values: Mapping[str, Value]) -> float:
    """The number that a formula evaluates to; ValueError, in words, if it is not a number."""
    number = formula.value(values)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ValueError(f"{formula.text!r} is {number!r}, not a number")
    return float(number)


def least(formula: Formula, values: Mapping[str, Value], bound: float, what: str) -> float:
    """The number that a formula evaluates to; ValueError if it is below a bound."""
    number = amount(formula, values)
    if number < bound:
        raise ValueError(f"{what} = {formula.text} is {number:g}, below {bound:g}")
    return number


_NOTHING, _UNIT, _ALL = Condition("0"), Condition("1"), Condition("threads")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaModel:
    """Seconds of a run as a sum of named terms."""

    terms: Annotated[Mapping[str, Formula], InNotation("formulas"), FileKey(name="formula")]
    where: Mapping[str, AnyFormula] = field(default_factory=dict)
    """Names for formulas, each with what it may name before it; so in all models."""
    accuracy: Accuracy = 0.3
    """80 % of the true times lie between t / (1 + a) and t (1 + a); so in all models, where it is
    about what is stated here, not about the figures of the machine."""

    def __post_init__(self) -> None:
        if not self.terms:
            raise ValueError("a formula needs at least one term")
        _check_accuracy(self.accuracy)


@dataclass(frozen=True, slots=True, kw_only=True)
class KerncraftModel:
    """A kernel in kerncraft's C, and how many iterations of its innermost loop a run takes."""

    file: Annotated[Text, FileKey(name="kerncraft")]
    """As it was named; parameters in braces."""
    names: Annotated[tuple[str, ...], Derived()]
    """Of the parameters in braces."""
    texts: Annotated[Mapping[tuple[Value, ...], str], Derived()]
    """The C text for the values of these parameters."""
    constants: Mapping[str, Formula] = field(default_factory=dict)
    """The sizes of the kernel, those of one thread."""
    iterations: Annotated[Formula, FileKey(about="of the innermost loop, of all threads, in a run")]
    """Of all threads together."""
    workers: Formula = _ALL
    """Threads that the iterations keep busy."""
    extra: Formula = _NOTHING
    """Seconds of a run that no kernel holds; so in all models below."""
    where: Mapping[str, AnyFormula] = field(default_factory=dict)
    accuracy: Accuracy = 0.2

    def __post_init__(self) -> None:
        _check_accuracy(self.accuracy)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelModel:
    """A stencil or an IVP of the kernel files, implemented as a variant of a space."""

    stencil: Annotated[Text | None, FileSection("kernel")] = None
    """Path of its file; so of the others."""
    ivp: Annotated[Text | None, FileSection("kernel")] = None
    method: Annotated[Text | None, FileSection("kernel")] = None
    correctors: Annotated[Count | None, FileSection("kernel")] = None
    """None: the order of the method less one; none of an explicit method."""
    size: Annotated[tuple[Formula, ...], InNotation("sizes"), FileSection("kernel")]
    """N, or the points of a grid in the order of its dimensions (one: the same in each)."""
    space: Annotated[
        Text,
        FileSection("kernel"),
        FileKey(about="the name of a space, or a path that ends in .yaml"),
    ]
    parameters: Annotated[Mapping[str, AnyFormula], FileSection("kernel")] = field(
        default_factory=dict
    )
    """Values of the parameters of the space; the others are those of its baseline."""
    times: Formula = _UNIT
    """Time steps (sweeps over the grid) of a run."""
    extra: Formula = _NOTHING
    where: Mapping[str, AnyFormula] = field(default_factory=dict)
    accuracy: Accuracy = 0.2

    def __post_init__(self) -> None:
        refuse(self.misfits())
        _check_accuracy(self.accuracy)

    @property
    def family(self) -> Literal["ivp", "stencil"]:
        """The family of the problems that the kernel files describe."""
        return "stencil" if self.ivp is None else "ivp"

    def misfits(self) -> Iterator[Misfit]:
        """The first of the settings that do not go together."""
        keys = ("kernel",)
        if (self.stencil is None) == (self.ivp is None):
            yield Misfit(keys, "a kernel is one of stencil and ivp", "either of them")
        elif self.ivp is None and (self.method or self.correctors):
            found = "a stencil has no method and no correctors"
            yield Misfit(keys, found, "an ivp, or none of these")
        elif self.ivp is not None and self.method is None:
            found = "the key 'method' is missing"
            yield Misfit(keys, found, "the method that solves the IVP")
        elif self.ivp is not None and len(self.size) > 1:
            yield Misfit((*keys, "size"), f"{len(self.size)} sizes of an IVP", "one: N")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """The cache lines of one array in a loop: bytes per iteration, and the distance of reuse."""

    name: Annotated[Text, FileKey(name="array")]
    """Of the array."""
    bytes: Annotated[Formula, FileKey(about="of new cache lines per iteration")]
    """Of cache lines that an iteration takes anew, on average: 8 for doubles one after the other,
    a whole line where each iteration jumps."""
    reuse: Annotated[
        Formula | None,
        InNotation("reuse"),
        FileKey(about="bytes touched between two uses of a line, or never"),
    ]
    """Bytes that the thread touches between two uses of a line; None: it never comes again."""
    access: Access = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedLoop:
    """A loop of the source that a comment marks: how often it runs, and its data traffic."""

    name: Text
    iterations: Annotated[Formula, FileKey(about="of all threads, in a run")]
    """Of all threads together, in a run."""
    entries: Formula = _UNIT
    """How often the loop is begun, by all threads together."""
    workers: Formula = _ALL
    """Threads that the iterations keep busy."""
    flops: Formula | None = None
    """Floating-point operations of an iteration; None: iterations are counted by addresses."""
    element: Annotated[int, InNotation("element")] = 8
    """Bytes that a stream with unit stride advances by in an iteration."""
    streams: tuple[Stream, ...] = ()

    def __post_init__(self) -> None:
        if self.element < 1:
            raise ValueError(f"element: at least 1 B, not {self.element} B")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedModel:
    """Loops of the program's own source, compiled as the candidate is, added up."""

    file: Annotated[Text, FileKey(name="marked")]
    """Absolute path of the source."""
    lines: Annotated[Mapping[str, tuple[int, int]], Derived()]
    """First and last line of each loop by its name."""
    loops: Annotated[tuple[MarkedLoop, ...], Bounds(least=1)]
    compile: tuple[Text, ...] = ()
    """Templates of the compiler's command line; empty: taken from the build of the program."""
    barriers: Formula = _NOTHING
    """OpenMP barriers of a run."""
    extra: Formula = _NOTHING
    where: Mapping[str, AnyFormula] = field(default_factory=dict)
    accuracy: Accuracy = 0.2

    def __post_init__(self) -> None:
        if not self.loops:
            raise ValueError("a model of marked loops needs at least one loop")
        refuse(self.misfits())
        _check_accuracy(self.accuracy)

    def misfits(self) -> Iterator[Misfit]:
        """Every loop that no comment of the source marks, and every one described twice."""
        names = [loop.name for loop in self.loops]
        for i, name in enumerate(names):
            keys = ("loops", i, "name")
            if name not in self.lines:
                found = f"no loop of {PurePath(self.file).name} is marked as {name!r}"
                mark = "a comment /* autotune: loop NAME */ marks one"
                hint = nearest(name, self.lines) or mark
                yield Misfit(keys, found, one_of(sorted(self.lines)), hint)
            if name in names[:i]:
                yield Misfit(keys, f"{name!r} is described twice", "each once")


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertedModel:
    """A model of assertions: operations, bytes and messages of each rank as expressions."""

    file: Annotated[Text, FileKey(name="assertions")]
    """As it was named; parameters in braces."""
    names: Annotated[tuple[str, ...], Derived()]
    """Of the parameters in braces."""
    models: Annotated[Mapping[tuple[Value, ...], AssertionModel], Derived()]
    """The model for the values of these parameters."""
    paths: Annotated[Mapping[tuple[Value, ...], str], Derived()]
    """Their files."""
    ranks: Annotated[Formula, FileKey(about="processes of a run")]
    """Processes of a run; the variable of the model that holds their number has this value."""
    nodes: Formula = _UNIT
    """Nodes that the processes are spread over."""
    bind: Mapping[str, Formula] = field(default_factory=dict)
    """Values of the inputs of the model. An input that is not bound keeps the value of the run that
    the model was made of."""
    flops: Formula | None = None
    """Operations per second of a rank; None: those of a core at its widest vectors."""
    bandwidth: Formula | None = None
    """Bytes per second of a rank; None: its share of the bandwidth of memory."""
    extra: Formula = _NOTHING
    where: Mapping[str, AnyFormula] = field(default_factory=dict)
    accuracy: Accuracy = 0.3

    def __post_init__(self) -> None:
        refuse(self.misfits())
        _check_accuracy(self.accuracy)

    def misfits(self) -> Iterator[Misfit]:
        """Every bound name that is no input of a model, and every input without a value."""
        inputs = {name for model in self.models.values() for name in model.inputs}
        for name in self.bind if self.models else ():
            if name not in inputs:
                hint = self._hint(name) or nearest(name, inputs)
                found = f"no input {name!r} in {self.file}"
                yield Misfit(("bind", name), found, one_of(sorted(inputs)), hint, of_key=True)
        for key, model in self.models.items():
            lacking = [
                name for name in model.inputs if name not in self.bind and name not in model.values
            ]
            if lacking:
                found = f"{', '.join(lacking)} of {PurePath(self.paths[key]).name} has no value"
                expected = "a formula under bind for every input"
                yield Misfit(("assertions",), found, expected, f"bind: {{{lacking[0]}: ...}}")

    def _hint(self, name: str) -> str:
        for model in self.models.values():
            if name == model.ranks:
                return "the key ranks gives it"
            for variable in model.variables:
                if variable.name == name and variable.expression:
                    return f"it is derived: {variable.expression}"
        return ""


ProgramModel = FormulaModel | KerncraftModel | KernelModel | MarkedModel | AssertedModel


def _check_accuracy(accuracy: float) -> None:
    if not 0 < accuracy <= 10:
        raise ValueError(f"an accuracy must be above 0, and 1000 % at most, not {accuracy:.0%}")


def formulas(model: ProgramModel) -> Iterator[tuple[tuple[str | int, ...], Formula]]:
    """Every formula of a model with its path of keys in the model; not those in ``where``."""
    match model:
        case FormulaModel():
            for name, term in model.terms.items():
                yield ("formula", name), term
            return
        case KerncraftModel():
            yield from ((("constants", name), size) for name, size in model.constants.items())
            yield ("iterations",), model.iterations
            yield ("workers",), model.workers
        case KernelModel():
            yield from ((("kernel", "size", k), size) for k, size in enumerate(model.size))
            for name, value in model.parameters.items():
                yield ("kernel", "parameters", name), value
            yield ("times",), model.times
        case MarkedModel():
            for place, loop in enumerate(model.loops):
                yield from _of_loop(("loops", place), loop)
            yield ("barriers",), model.barriers
        case AssertedModel():
            yield ("ranks",), model.ranks
            yield ("nodes",), model.nodes
            yield from ((("bind", name), value) for name, value in model.bind.items())
            rates = {"flops": model.flops, "bandwidth": model.bandwidth}
            yield from (((name,), rate) for name, rate in rates.items() if rate is not None)
    yield ("extra",), model.extra


def _of_loop(
    keys: tuple[str | int, ...], loop: MarkedLoop
) -> Iterator[tuple[tuple[str | int, ...], Formula]]:
    for name in ("iterations", "entries", "workers", "flops"):
        formula = getattr(loop, name)
        if formula is not None:
            yield (*keys, name), formula
    for place, stream in enumerate(loop.streams):
        yield (*keys, "streams", place, "bytes"), stream.bytes
        if stream.reuse is not None:
            yield (*keys, "streams", place, "reuse"), stream.reuse
