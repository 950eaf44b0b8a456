"""The result of a dissection: the terms of the model of each sweep, predicted and measured.

All times are cycles of the core per source iteration (one component) of one sweep.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["T_OL", "T_nOL", "loads", "core", "level", "level loads"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One term of one sweep.

    ``measured`` is None if there is no probe for the term; ``reason`` says why.
    """

    kind: Kind
    """``T_OL``: arithmetic on registers. ``T_nOL``: loads and stores without arithmetic, in L1.
    ``loads``: loads alone, in L1. ``core``: the whole loop, in L1. ``level``: the whole loop with
    its working set in a level; ``level loads``: its loads alone."""
    level: str
    """Where the working set lies: ``L1``, ``L2``, ..., ``MEM``."""
    working_set: int
    """Bytes of one thread that the probe touches before it comes back to the first."""
    length: int
    """Components of one call."""
    lines: float
    """Cache lines from beyond L1 per iteration, by the traffic analysis."""
    predicted: float | None
    """None where the model has no such term."""
    transfer: float | None = None
    """Predicted transfer time of the lines from beyond L1, before overlap."""
    measured: float | None = None
    interval: tuple[float, float] | None = None
    """Where the measured time lies with a probability of 90 %; None for less than 3 launches."""
    samples: int = 0
    """Samples behind ``measured``."""
    reason: str = ""

    @property
    def name(self) -> str:
        """A short name, unique within a sweep: ``T_OL``, ``core``, ``L2``, ``L2 loads``."""
        if self.kind == "level":
            return self.level
        return f"{self.level} loads" if self.kind == "level loads" else self.kind

    @property
    def deviation(self) -> float | None:
        """The relative deviation of the prediction: (predicted - measured) / measured."""
        if self.predicted is None or self.measured is None:
            return None
        return (self.predicted - self.measured) / self.measured


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTerms:
    """The terms of one sweep of a candidate."""

    sweep: str
    kernel: str
    calls: int
    """Calls in a time step."""
    share: float | None
    """Of the predicted time step."""
    bottleneck: str
    route: str
    """How the in-core time was found."""
    vector: int
    """Bytes of the vectors of the compiled loop."""
    terms: tuple[Term, ...]
    reason: str = ""
    """Why there are no terms, where there are none."""

    def term(self, name: str) -> Term | None:
        """The term with a given name."""
        return next((term for term in self.terms if term.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTime:
    """The time of one kernel within the real time step, in seconds per step."""

    kernel: str
    predicted: float | None
    measured: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dissection:
    """The terms of one candidate on one machine."""

    candidate: str
    """Identity."""
    id: str
    """With its readable label."""
    machine: str
    """Identity of the machine."""
    threads: int
    clock: float
    """Hertz, by which seconds became cycles."""
    taken: str
    """Time of day, ISO 8601, UTC."""
    rounds: int
    """Interleaved rounds that were finished."""
    wanted: int
    """Rounds that were asked for."""
    sweeps: tuple[SweepTerms, ...]
    kernels: tuple[KernelTime, ...] = ()
    notes: tuple[str, ...] = ()
