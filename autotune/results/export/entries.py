"""The input of the writers of headers and wisdom files: choices and their origins.

Entries come from evaluated studies or decision maps. A writer does not depend on which.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autotune.domain.metric import TIME, Metric
from autotune.domain.variant import Build, ExecutionLayout, Value
from autotune.files.recorded.recorded_space import setting_order
from autotune.results.export.readers.autotune_wisdom import LARGEST

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryMachine:
    """The machine that an entry holds for."""

    identity: str
    name: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSubject:
    """The computation that a section is about, whatever its size."""

    id: str
    """Readable and unique: ``heat2d radau-iia-7 m6 h0.1``, ``star3d-7pt``, ``matmul``."""
    name: str
    family: str
    definition: str
    """12 hexadecimal digits over what is computed, whatever its name."""
    size: str
    """What counts as size, in words."""

    per: str = "time step"
    """What takes one of the stated times, in words."""
    goal: Metric = TIME
    """What the candidates were chosen by."""
    source: Literal["C source", "commands"] = "C source"
    """What ``autotune variants --emit`` writes of its candidates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionKey:
    """The key of a section: a machine, a problem, a number of ranks."""

    place: EntryMachine
    subject: ExportSubject
    ranks: int

    @property
    def identity(self) -> "Identity":
        """The key by which two sections count as the same: machine, problem and ranks."""
        return self.place.identity, self.subject.id, self.subject.definition, self.ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryOrigin:
    """The run that an entry comes from."""

    study: str
    run: str
    taken: str
    """When the run began, ISO 8601, UTC."""
    compiler: str
    """The compiler as it said of itself; empty where that is not known."""
    flags: str
    """Flags as they were resolved; empty where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportEntry:
    """The candidate to run at one size and number of threads, with its time and status."""

    size: int
    """Components, points, or the argument that counts as size."""
    problem: str
    """Label of the problem that was tuned: ``heat2d-N256``."""
    candidate: str
    """Its id."""
    variant: str
    parameters: Mapping[str, Value]
    build: Build
    layout: ExecutionLayout
    seconds: float | None
    """Per time step, or per run of an external program; None where the objective is another."""
    interval: Interval | None
    """90 % interval of ``seconds``, or of ``value``."""
    value: float | None = None
    """Of an objective that is not the time, in its unit; None where that is the time."""
    samples: int = 0
    verified: bool = False
    error: float | None = None
    """max abs(a - b) / max abs(b) against the reference."""
    ties: tuple[str, ...] = ()
    """Ids of the candidates that noise does not tell from this one, fastest first."""
    speedup: float | None = None
    """Over the baseline; chosen and scored on different rounds."""
    loss_bound: float | None = None
    """Of a decision map: following it loses at most this share of the best time."""
    source: Literal["measured", "map"] = "measured"
    origin: EntryOrigin

    def __post_init__(self) -> None:
        for name in ("size", "threads"):
            if not 1 <= getattr(self, name) <= LARGEST:
                raise ValueError(f"{name} must be from 1 to 2**53, not {getattr(self, name)}")

    def shown(self, subject: ExportSubject) -> str:
        """Its time, or the value of another objective, with its unit; empty where neither is known.

        ``subject``: that of its section.
        """
        if self.value is not None:
            goal = subject.goal
            return f"{goal.name} {goal.show(goal.cost(self.value))}"
        return "" if self.seconds is None else f"{self.seconds:.4g} s per {subject.per}"

    def cost(self, goal: Metric) -> float | None:
        """Its seconds, or the cost of its value of another objective; None where it has neither."""
        return self.seconds if self.value is None else goal.cost(self.value)

    @property
    def threads(self) -> int:
        """OpenMP threads of each rank."""
        return self.layout.threads


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSection:
    """The entries of one key, by threads, then size; none twice."""

    key: SectionKey
    entries: tuple[ExportEntry, ...]
    domains: Mapping[str, tuple[Value, ...]]
    """Each parameter with the values that it may have, chosen or not, in order."""
    alternatives: tuple[ExportEntry, ...] = ()
    """Candidates beside the choices, of their sizes and threads, fastest first, among which a
    library can choose on line."""

    def __post_init__(self) -> None:
        keys = [(entry.threads, entry.size) for entry in self.entries]
        if not keys or keys != sorted(set(keys)):
            raise ValueError("a section has entries, by threads and size, none twice")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedProblem:
    """A problem, or a number of threads of it, without a choice, and the reason."""

    problem: str
    threads: int | None
    """None: all of it."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """All choices of a study, by section, with the skipped problems."""

    study: str
    sections: tuple[ExportSection, ...]
    skipped: tuple[SkippedProblem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def entries(self) -> int:
        """The number of entries in all sections."""
        return sum(len(section.entries) for section in self.sections)


Identity = tuple[str, str, str, int]
Domains = Mapping[str, tuple[Value, ...]]


def sections(
    pairs: Sequence[tuple[SectionKey, ExportEntry]],
    domains: Mapping[Identity, Domains],
    ranked: Sequence[tuple[SectionKey, ExportEntry]] = (),
) -> tuple[tuple[ExportSection, ...], list[str]]:
    """Entries grouped by section, and a note for each entry that another one displaced.

    Two entries with the same size and threads exclude each other. An entry of a map takes
    precedence, because a map weighs all measurements; otherwise the first one is kept.

    ``ranked``: good candidates, fastest first; those that are no entry become alternatives.
    """
    groups: dict[Identity, tuple[SectionKey, dict[tuple[int, int], ExportEntry]]] = {}
    notes = []
    for key, entry in sorted(pairs, key=lambda pair: pair[1].source != "map"):
        kept = groups.setdefault(key.identity, (key, {}))[1]
        there = kept.setdefault((entry.threads, entry.size), entry)
        if there is not entry and entry.source == there.source:
            notes.append(
                f"{entry.problem} and {there.problem} have the same size, {entry.size}, and number"
                f" of threads, {entry.threads}: {entry.candidate} is left out"
            )
    export_sections = [
        ExportSection(
            key=key,
            entries=tuple(kept[place] for place in sorted(kept)),
            domains=merged([domains.get(identity, {}), *(_domains_of(e) for e in kept.values())]),
            alternatives=_alternatives(
                kept, [entry for other, entry in ranked if other.identity == identity]
            ),
        )
        for identity, (key, kept) in sorted(groups.items())
    ]
    return tuple(export_sections), notes


def _alternatives(
    kept: Mapping[tuple[int, int], ExportEntry], ranked: Sequence[ExportEntry]
) -> tuple[ExportEntry, ...]:
    """The ranked candidates at sizes and threads that have an entry, but for the entries."""
    beside = [
        entry
        for entry in ranked
        if (place := (entry.threads, entry.size)) in kept
        and entry.candidate != kept[place].candidate
    ]
    return tuple(sorted(beside, key=lambda entry: (entry.threads, entry.size)))


def merged(several: Sequence[Domains]) -> dict[str, tuple[Value, ...]]:
    """All values of each parameter: none first, then truth values and numbers, then text."""
    names = dict.fromkeys(name for domains in several for name in domains)
    values = {name: [v for d in several for v in d.get(name, ())] for name in names}
    return {
        name: tuple(sorted(_distinct(values_of), key=setting_order))
        for name, values_of in values.items()
    }


def _domains_of(entry: ExportEntry) -> Domains:
    return {name: (value,) for name, value in entry.parameters.items()}


def _distinct(values: Sequence[Value]) -> list[Value]:
    """The different values in their order; 1 and true are different."""
    return list({(type(value), value): value for value in values}.values())
