"""Skeletons: the kernel calls, loops, communication and synchronisation of one time step."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from autotune.expression import Expr
from autotune.kernel import Kernel


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
    definition: str = field(init=False, default="")
    """12 hexadecimal digits over what a step computes, whatever its name."""

    def __post_init__(self) -> None:
        essence = repr((self.dimensions, self.arrays, self.kernels, self.steps))
        object.__setattr__(self, "definition", hashlib.sha256(essence.encode()).hexdigest()[:12])
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
