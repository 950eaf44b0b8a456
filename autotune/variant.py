"""Skeletons, transformations, variants, candidates, spaces: what may be chosen."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import product

from autotune.expression import Expr
from autotune.kernel import Kernel
from autotune.problem import Problem

# --- skeleton -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallStep:
    """Run a kernel over the whole block of the thread."""

    kernel: str


@dataclass(frozen=True, slots=True)
class CommStep:
    """Make the remote parts of an array available that the next right-hand side reads."""

    array: str


@dataclass(frozen=True, slots=True)
class SyncStep:
    """All threads wait for one another."""


@dataclass(frozen=True, slots=True)
class LoopStep:
    """Repeat steps ``count`` times (an expression of s and m)."""

    variable: str
    count: Expr
    body: tuple["Step", ...]


Step = CallStep | CommStep | SyncStep | LoopStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """The kernel calls, loops, communication and synchronisation of one time step.

    ``dimensions`` maps loop names to extents: ``s`` (short, known when code is generated) or ``n``
    (long, distributed blockwise). ``arrays`` maps array names to the extents of their dimensions;
    those whose last extent is ``n`` are stored, the others are coefficients of the method.
    """

    name: str
    title: str
    source: str
    dimensions: Mapping[str, str]
    arrays: Mapping[str, tuple[str, ...]]
    kernels: Mapping[str, Kernel]
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        for kernel in self.kernels.values():
            for loop in kernel.loops:
                if loop not in self.dimensions:
                    raise ValueError(f"kernel {kernel.name}: unknown dimension {loop!r}")
            for ref in (kernel.target, *kernel.reads):
                if ref.array not in self.arrays:
                    raise ValueError(f"kernel {kernel.name}: unknown array {ref.array!r}")
        called = _called(self.steps)
        for name in called:
            if name not in self.kernels:
                raise ValueError(f"step calls unknown kernel {name!r}")


def _called(steps: tuple[Step, ...]) -> list[str]:
    names: list[str] = []
    for step in steps:
        if isinstance(step, CallStep):
            names.append(step.kernel)
        elif isinstance(step, LoopStep):
            names.extend(_called(step.body))
    return names


# --- transformations ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Interchange:
    """Put the loops of a kernel in this order, outermost first."""

    kernel: str
    order: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.order or len(set(self.order)) != len(self.order):
            raise ValueError(f"an order names each loop once, not {''.join(self.order)!r}")


@dataclass(frozen=True, slots=True)
class Fuse:
    """Compute two neighbouring kernels in one sweep over the long dimension."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Tile:
    """Run a kernel over tiles of its long dimension, all its sweeps tile by tile."""

    kernel: str
    size: int

    def __post_init__(self) -> None:
        _check_tile(self.size)


@dataclass(frozen=True, slots=True)
class FuseTiles:
    """Run two kernels tile by tile, one after the other on each tile, across the corrector loop.

    ``buffer`` names the array that the second writes and the first reads beyond its tile: it is
    double-buffered.
    """

    first: str
    second: str
    size: int
    buffer: str

    def __post_init__(self) -> None:
        _check_tile(self.size)


@dataclass(frozen=True, slots=True)
class Pad:
    """Leading dimension of the stage rows: n rounded up to lines, plus ``lines`` cache lines."""

    lines: int

    def __post_init__(self) -> None:
        if self.lines < 0:
            raise ValueError(f"a padding must not be negative, but is {self.lines} lines")


Transformation = Interchange | Fuse | Tile | FuseTiles | Pad

TRANSFORMATIONS: Mapping[str, type[Transformation]] = {
    "interchange": Interchange,
    "fuse": Fuse,
    "tile": Tile,
    "fuse_tiles": FuseTiles,
    "pad": Pad,
}
"""The kinds of transformation by the name that a space calls them."""


def _check_tile(size: int) -> None:
    if size < 1:
        raise ValueError(f"a tile needs at least one component, not {size}")


# --- variants and candidates ----------------------------------------------------------------

Value = str | int | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A skeleton with transformations, and the parameter values that they came from."""

    skeleton: str
    transformations: tuple[Transformation, ...]
    parameters: Mapping[str, Value]

    @property
    def label(self) -> str:
        """The parameter values, readable: ``jli``, ``ilj-t256-au``, ``lij-pad9``."""
        parts = []
        for name, value in self.parameters.items():
            if value in (None, False, 0, "none"):
                continue
            parts.append(
                name if value is True else value if isinstance(value, str) else f"{name}{value}"
            )
        return "-".join(parts) or "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """The compiler as asked for; its resolved flags and version are found by the toolchain."""

    compiler: str = "gcc"
    flags: tuple[str, ...] = ("-O3", "-march=native")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What is predicted, built, measured, ranked: a variant, built and run one way."""

    variant: Variant
    problem: Problem
    build: Build = field(default_factory=Build)
    threads: int = 1
    ranks: int = 1
    communication: str = "none"

    def canonical(self) -> dict[str, object]:
        """Everything that makes this candidate this one, in plain values."""
        problem = self.problem
        return {
            "skeleton": self.variant.skeleton,
            "transformations": [
                {"kind": type(t).__name__}
                | {name: _plain(getattr(t, name)) for name in t.__dataclass_fields__}
                for t in self.variant.transformations
            ],
            "parameters": dict(sorted(self.variant.parameters.items())),
            "compiler": self.build.compiler,
            "flags": list(self.build.flags),
            "method": problem.method.name,
            "correctors": problem.correctors,
            "ivp": problem.ivp.name,
            "size": problem.size,
            "step_fraction": problem.step_fraction,
            "threads": self.threads,
            "ranks": self.ranks,
            "communication": self.communication,
        }

    @property
    def identity(self) -> str:
        """12 hexadecimal digits of SHA-256 over the canonical form."""
        text = json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def label(self) -> str:
        """Readable, unique with the identity: ``jli-au@heat2d-N256-T2``."""
        text = f"{self.variant.label}@{self.problem.label}-T{self.threads}"
        if self.ranks > 1:
            text += f"-R{self.ranks}-{self.communication}"
        return text

    @property
    def id(self) -> str:
        """``label:identity``, as users name a candidate."""
        return f"{self.label}:{self.identity}"


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


# --- space ----------------------------------------------------------------------------------


def same(a: Value, b: Value) -> bool:
    """Equal in value and type: the flag ``true`` is not the number 1."""
    return type(a) is type(b) and a == b


def within(value: Value, domain: tuple[Value, ...]) -> bool:
    """The value is one of a domain, by ``same``."""
    return any(same(value, other) for other in domain)


def holds(when: Mapping[str, tuple[Value, ...]], values: Mapping[str, Value]) -> bool:
    """Every parameter that ``when`` names has one of the values that it lists."""
    return all(within(values[name], domain) for name, domain in when.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One transformation of a space: ``make`` with parameter values put in, when ``when`` holds.

    ``kind`` is a key of ``TRANSFORMATIONS``; ``arguments`` are its fields; a string ``$name``
    stands for the value of a parameter, and an order such as ``jli`` for the loops j, l, i.
    ``when`` maps parameter names to the values for which the rule applies.
    """

    kind: str
    arguments: Mapping[str, Value]
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in TRANSFORMATIONS:
            raise ValueError(f"unknown transformation {self.kind!r}")
        needed = {f.name for f in fields(TRANSFORMATIONS[self.kind])}
        if set(self.arguments) != needed:
            raise ValueError(f"{self.kind} needs {', '.join(sorted(needed))}")

    @property
    def parameters(self) -> frozenset[str]:
        """The parameters that the arguments stand for."""
        return frozenset(
            v[1:] for v in self.arguments.values() if isinstance(v, str) and v.startswith("$")
        )

    def make(self, values: Mapping[str, Value]) -> Transformation:
        """The transformation at these parameter values; ValueError where one does not fit."""
        arguments = {
            name: values[value[1:]] if isinstance(value, str) and value.startswith("$") else value
            for name, value in self.arguments.items()
        }

        def text(name: str) -> str:
            value = arguments[name]
            if not isinstance(value, str):
                raise ValueError(f"{self.kind}: {name} must be a name, not {value!r}")
            return value

        def whole(name: str) -> int:
            value = arguments[name]
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError(f"{self.kind}: {name} must be a whole number, not {value!r}")
            return value

        match self.kind:
            case "interchange":
                return Interchange(text("kernel"), tuple(text("order")))
            case "fuse":
                return Fuse(text("first"), text("second"))
            case "tile":
                return Tile(text("kernel"), whole("size"))
            case "fuse_tiles":
                return FuseTiles(text("first"), text("second"), whole("size"), text("buffer"))
            case _:
                return Pad(whole("lines"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A combination that is left out: where all of ``when`` hold, ``require`` must hold too.

    ``require`` is ``limited`` (the problem has a limited access distance) or ``never``.
    """

    when: Mapping[str, tuple[Value, ...]]
    require: str
    reason: str

    def __post_init__(self) -> None:
        if self.require not in ("limited", "never"):
            raise ValueError(f"a constraint requires limited or never, not {self.require!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Parameters with their domains, the transformations they stand for, and constraints."""

    name: str
    title: str
    skeleton: str
    parameters: Mapping[str, tuple[Value, ...]]
    rules: tuple[Rule, ...]
    constraints: tuple[Constraint, ...] = ()
    baseline: Mapping[str, Value] = field(default_factory=dict)
    """Parameter values of the baseline variant: all of them, or none where there is no baseline."""

    def __post_init__(self) -> None:
        for name, domain in self.parameters.items():
            if not domain:
                raise ValueError(f"parameter {name} has no values")
            for i, value in enumerate(domain):
                if within(value, domain[:i]):
                    raise ValueError(f"parameter {name} lists {value!r} twice")
        for name, value in self.baseline.items():
            if name not in self.parameters:
                raise ValueError(f"baseline: unknown parameter {name!r}")
            if not within(value, self.parameters[name]):
                raise ValueError(f"baseline: {name} = {value!r} is not in its domain")
        absent = set(self.parameters) - set(self.baseline)
        if self.baseline and absent:
            raise ValueError(f"baseline: no value for {', '.join(sorted(absent))}")
        for constraint in self.constraints:
            self._check_when(constraint.when)
        for rule in self.rules:
            self._check_when(rule.when)
            self._check_rule(rule)

    def _check_when(self, when: Mapping[str, tuple[Value, ...]]) -> None:
        for name, domain in when.items():
            if name not in self.parameters:
                raise ValueError(f"when: unknown parameter {name!r}")
            for value in domain:
                if not within(value, self.parameters[name]):
                    raise ValueError(f"when: {name} is never {value!r}")

    def _check_rule(self, rule: Rule) -> None:
        """A rule must make a transformation for every value with which it applies."""
        unknown = rule.parameters - set(self.parameters)
        if unknown:
            raise ValueError(f"{rule.kind}: ${sorted(unknown)[0]} is not a parameter")
        names = sorted(rule.parameters)
        for choice in product(*(rule.when.get(n, self.parameters[n]) for n in names)):
            rule.make(dict(zip(names, choice, strict=True)))

    def combinations(self) -> Iterator[dict[str, Value]]:
        """Every combination of parameter values, forbidden ones too; the last varies fastest."""
        for choice in product(*self.parameters.values()):
            yield dict(zip(self.parameters, choice, strict=True))

    def transformations(self, values: Mapping[str, Value]) -> tuple[Transformation, ...]:
        """What the parameter values stand for, in the order of the rules.

        ``values`` has one value per parameter, each from its domain.
        """
        return tuple(rule.make(values) for rule in self.rules if holds(rule.when, values))

    def forbidden(self, values: Mapping[str, Value], limited: bool) -> str | None:
        """The reason why these values are left out, or None where they are allowed.

        ``limited``: the problem has a limited access distance.
        """
        for constraint in self.constraints:
            if holds(constraint.when, values) and not (constraint.require == "limited" and limited):
                return constraint.reason
        return None
