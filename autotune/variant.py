"""Skeletons, transformations, variants, candidates, spaces: what may be chosen."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Pad:
    """Leading dimension of the stage rows: n rounded up to lines, plus ``lines`` cache lines."""

    lines: int


Transformation = Interchange | Fuse | Tile | FuseTiles | Pad


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
    """What is predicted, built, measured, ranked: a variant, built and run one way, on a problem."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One transformation of a space: ``make`` with parameter values put in, when ``when`` holds.

    ``arguments`` are the fields of the transformation; a string ``$name`` stands for the value of
    a parameter. ``when`` maps parameter names to the values for which the rule applies.
    """

    kind: str
    arguments: Mapping[str, Value]
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A combination that is left out: where all of ``when`` hold, ``require`` must hold too.

    ``require`` is ``limited`` (the problem has a limited access distance) or ``never``.
    """

    when: Mapping[str, tuple[Value, ...]]
    require: str
    reason: str


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
    """Parameter values of the baseline variant."""

    def __post_init__(self) -> None:
        for name, value in self.baseline.items():
            if name not in self.parameters:
                raise ValueError(f"baseline: unknown parameter {name!r}")
            if value not in self.parameters[name]:
                raise ValueError(f"baseline: {name} = {value!r} is not in its domain")
