"""What one study is about: the content of a config file, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from autotune.machine import Machine
from autotune.problem import AnyProblem
from autotune.reference import Reference
from autotune.skeleton import Skeleton
from autotune.space import Space
from autotune.units import Bytes, Seconds
from autotune.variant import EXCHANGES, Build, Exchange, Placement


@dataclass(frozen=True, slots=True)
class Layout:
    """How a program is spread: nodes, ranks on each node, threads of each rank."""

    nodes: int = 1
    ranks: int = 1
    """Per node."""
    threads: int | Literal["all"] = "all"
    """``all``: the cores of a node over the ranks on it."""
    placement: Placement = "compact"

    def __post_init__(self) -> None:
        if self.nodes * self.ranks > 1 and self.placement != "compact":
            raise ValueError("ranks are placed side by side: scatter is for layouts of one rank")
        if min(self.nodes, self.ranks) < 1 or (self.threads != "all" and self.threads < 1):
            raise ValueError("a layout needs at least one node, one rank per node, one thread")


FAMILIES = {"ivp": "an IVP", "stencil": "a stencil"}
"""The families of problems in words."""
Engine = Literal["reuse", "kerncraft", "planes"]
ENGINES: Mapping[str, tuple[Engine, ...]] = {
    "ivp": ("reuse", "kerncraft"),
    "stencil": ("reuse", "planes"),
}
"""The engines that predict the problems of a family."""
Saturation = Literal["paper", "kerncraft"]
"""Eq. 9 of Scherg et al. 2019 with sigma = T_ECM/T_Mem, or kerncraft 0.8.18's recursion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which candidates of each problem are measured when there is no exhaustive search."""

    top: int = 5
    """The best by prediction."""
    random: int = 4
    """Drawn at random from the rest, so that losses mean something."""
    baseline: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        if self.top < 1:
            raise ValueError(f"top must be at least 1, not {self.top}")
        if self.random < 0:
            raise ValueError(f"random must not be negative, but is {self.random}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """How candidates are timed."""

    rounds: int = 5
    """Interleaved rounds: every candidate is launched once per round, in shuffled order."""
    samples: int = 3
    """Accepted samples per launch."""
    min_sample: Seconds = Seconds(0.02)
    """A sample repeats time steps until it takes at least this long."""
    busy: float = 0.95
    """A sample is rejected when CPU time / (threads x wall time) falls below this."""
    attempts: int = 3
    """A launch takes at most this many times its samples before it is given up as contended."""
    verify_steps: int = 3
    """Time steps that are compared with the reference."""

    def __post_init__(self) -> None:
        for name in ("rounds", "samples", "attempts", "verify_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 < self.min_sample <= 60:
            raise ValueError(f"min_sample must be in (0, 60 s], not {self.min_sample} s")
        if not 0 <= self.busy <= 1:
            raise ValueError(f"busy must be in [0, 1], not {self.busy}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a candidate may take before it is ended, group and all."""

    compile: Seconds = Seconds(60.0)
    run: Seconds = Seconds(60.0)
    """Floor of the limit of one launch; the limit is this or ``factor`` times what is expected."""
    factor: float = 20.0
    memory: Bytes | None = None
    """Address space of a launch; None: no limit but the machine's."""
    output: Bytes = Bytes(1 << 20)
    """What a launch may print."""

    def __post_init__(self) -> None:
        for name in ("compile", "run", "factor", "output"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        if self.memory is not None and self.memory <= 0:
            raise ValueError(f"memory must be positive, not {self.memory}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A config file: what is computed, where, in which ways, and how it is chosen and measured."""

    name: str
    """Name of the study: the file's stem unless the file says otherwise."""
    source: str
    """The file it came from."""
    machine: Machine | None
    """None: the host, detected and calibrated."""
    problems: tuple[AnyProblem, ...]
    skeleton: Skeleton
    space: Space
    builds: tuple[Build, ...]
    layouts: tuple[Layout, ...]
    communications: tuple[Exchange, ...] = EXCHANGES
    """How the ranks of layouts with several may exchange."""
    launcher: str = "{command}"
    """Template of the command line that runs a measuring program: ``srun -n 1 {command}``."""
    mpi_launcher: str = ""
    """The same for programs of several ranks: ``srun -N {nodes} -n {ranks} {command}``; empty: the
    mpiexec that is found, with the options of its flavour."""
    environment: Mapping[str, str] = field(default_factory=dict)
    engine: Engine = "reuse"
    saturation: Saturation = "paper"
    """The rule of engine ``kerncraft``."""
    selection: Selection = field(default_factory=Selection)
    measuring: Measuring = field(default_factory=Measuring)
    limits: Limits = field(default_factory=Limits)
    reference: Reference | None = None
    """A published table to compare with."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Key path (``threads``, ``builds.0.compiler``) to ``file:line:column``, for later errors."""

    def __post_init__(self) -> None:
        if not self.problems:
            raise ValueError("a study needs at least one problem")
        if self.space.skeleton != self.skeleton.name:
            raise ValueError(
                f"space {self.space.name} is for skeleton {self.space.skeleton},"
                f" not {self.skeleton.name}"
            )
        for problem in self.problems:
            if problem.family != self.skeleton.family:
                raise ValueError(
                    f"{problem.label} is {FAMILIES[problem.family]}, skeleton"
                    f" {self.skeleton.name} is for {FAMILIES[self.skeleton.family]}"
                )

    def place(self, key: str) -> str:
        """``file:line:column`` of a key, or the file where the key is not in it."""
        return self.places.get(key, self.source)

    def place_of_layout(self, index: int) -> str:
        """``file:line:column`` of a layout; ``threads`` is the short form."""
        return self.places.get(f"layouts.{index}") or self.place(f"threads.{index}")
