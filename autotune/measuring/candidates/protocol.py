"""The interface of generated programs: their command line and the JSON lines that they print.

prog verify --size N --n n --h H --threads T --steps K --out FILE    y after K steps, float64
prog time   --size N --n n --h H --threads T --check K --samples S --warm W --attempts A
            --busy B --min-seconds X                                 one JSON object per line
prog phases ...as time...                                            seconds per kernel

Programs on a grid take their extents as the size, slowest first, and no step size:
prog verify --size KxJxI --n n --threads T --steps K --out FILE      interior of u after K sweeps

Programs of several ranks also take --ranks R --communication allgather|neighbour|sparse; --threads
is the number of threads of each rank. Rank 0 prints: ``affinity`` has the CPUs of all ranks'
threads, ``busy`` is the smallest value of all ranks, ``seconds`` is the time of the slowest rank,
switches are summed over the ranks; the last line says what each rank sent.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autotune.domain.results import Sample
from autotune.domain.setup import Measuring
from autotune.domain.variant import Candidate
from autotune.units import Seconds

WARM_UPS = 1
"""Samples at the start of every launch that are recorded but never counted."""


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """The first line of a program: it has allocated its memory and started its threads."""

    threads: int
    affinity: tuple[int, ...]
    """CPU of each thread, rank by rank."""
    leading: int
    """Leading dimension of the rows, in components."""
    ranks: int = 1


@dataclass(frozen=True, slots=True)
class StateCheck:
    """A check of the state at the timed size after the check steps."""

    sum: float
    """Sum of y_j (1 + (j % 7) / 8), which changes when components are exchanged."""
    magnitude: float
    """Sum of abs(y_j)."""
    finite: bool
    denormal: bool


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """Seconds per time step that the slowest thread spends in one kernel."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class FinalState:
    """The state at the timed size after the last step."""

    finite: bool
    denormal: bool


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """The last line of a program that reached its end: the communication of its ranks per time
    step.
    """

    exchanges: float = 0.0
    """Number of communications of a row."""
    messages: tuple[float, ...] = ()
    """Messages of each rank; a rank's part in an Allgather counts as one."""
    bytes: tuple[float, ...] = ()
    """Bytes sent by each rank; empty for a program of one rank."""


Line = ProgramStart | StateCheck | Sample | PhaseTime | FinalState | ProgramEnd


def parse(text: str) -> Line | None:
    """The content of a printed line; None for a line that is not of the protocol, such as a
    launcher's banner.

    Raises ValueError with a description for a JSON object that is not of the protocol.
    """
    if not text.lstrip().startswith("{"):
        return None
    try:
        row = json.loads(text)
    except ValueError as error:
        raise ValueError(f"not a JSON object: {text[:200]!r}") from error
    try:
        return _line(row)
    except (KeyError, TypeError) as error:
        raise ValueError(f"a line without what it should say: {text[:200]!r}") from error


def _line(row: Mapping[str, object]) -> Line:
    match row["kind"]:
        case "start":
            affinity = row["affinity"]
            if not isinstance(affinity, list):
                raise TypeError
            return ProgramStart(
                _whole(row, "threads"), tuple(map(int, affinity)), _whole(row, "ld"),
                _whole(row, "ranks") if "ranks" in row else 1,
            )  # fmt: skip
        case "check":
            return StateCheck(
                _real(row, "sum"), _real(row, "magnitude"),
                row["finite"] is True, row["denormal"] is True,
            )  # fmt: skip
        case "sample":
            return _sample(row)
        case "phase":
            return PhaseTime(str(row["name"]), _real(row, "seconds"))
        case "final":
            return FinalState(row["finite"] is True, row["denormal"] is True)
        case "end":
            if "exchanges" not in row:
                return ProgramEnd()
            return ProgramEnd(
                _real(row, "exchanges"), _reals(row, "messages"), _reals(row, "bytes")
            )
        case kind:
            raise ValueError(f"a line of unknown kind {kind!r}")


def _sample(row: Mapping[str, object]) -> Sample:
    """A sample of launch 0 and round 0, undisturbed where the program itself says so."""
    taken = datetime.fromtimestamp(_positive(row, "taken"), UTC)
    return Sample(
        seconds=Seconds(_positive(row, "seconds")),
        steps=_whole(row, "steps"),
        busy=_real(row, "busy"),
        undisturbed=row["undisturbed"] is True,
        launch=0,
        round=0,
        taken=taken.isoformat(timespec="milliseconds"),
        warm_up=row["warm_up"] is True,
        conditions={name: _whole(row, name) for name in ("voluntary", "involuntary")},
    )


def _real(row: Mapping[str, object], name: str) -> float:
    value = row[name]
    # a state that is not finite prints as null or NaN; ``finite`` tells
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(name)
    return float(value)


def _reals(row: Mapping[str, object], name: str) -> tuple[float, ...]:
    values = row[name]
    if not isinstance(values, list):
        raise TypeError(name)
    return tuple(map(float, values))


def _positive(row: Mapping[str, object], name: str) -> float:
    value = _real(row, name)
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be positive, not {value!r}")
    return value


def _whole(row: Mapping[str, object], name: str) -> int:
    value = row[name]
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(name)
    return value


def verify_arguments(candidate: Candidate, steps: int, out: Path) -> list[str]:
    """The arguments of a verification run that writes its state to ``out``."""
    return ["verify", *_common(candidate), "--steps", str(steps), "--out", str(out)]


def time_arguments(candidate: Candidate, measuring: Measuring, command: str = "time") -> list[str]:
    """The arguments of a timed launch (or of an instrumented one, with ``command`` ``phases``)."""
    return [
        command,
        *_common(candidate),
        *("--check", str(measuring.verify_steps)),
        *("--samples", str(measuring.samples)),
        *("--warm", str(WARM_UPS)),
        *("--attempts", str(measuring.attempts)),
        *("--busy", repr(measuring.busy)),
        *("--min-seconds", repr(float(measuring.min_sample))),
    ]


def _common(candidate: Candidate) -> list[str]:
    problem = candidate.problem
    several = ["--ranks", str(candidate.ranks), "--communication", candidate.communication]
    return [
        *("--size", problem.size_text),
        *("--n", str(problem.n)),
        *(() if problem.h is None else ("--h", problem.h.hex())),
        *("--threads", str(candidate.threads)),
        *(several if candidate.ranks > 1 else []),
    ]
