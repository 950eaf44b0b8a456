"""Verdicts: which assertions of a run hold, which do not, and by how much."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from autotune.assertions.records.merged_paths import RankGroup
from autotune.domain.assertion_record import (
    Count,
    RecordLoss,
    SizeCount,
    UnevaluatedVisits,
    WorstVisit,
)
from autotune.units import Unbounded

AssertionOutcome = Literal["pass", "fail", "not measured"]
"""``pass``: counted, and all visits agree; ``fail``: a visit does not agree, has no value, or its
message did not come; ``not measured``: nobody counted."""
RunOutcome = Literal["pass", "fail", "nothing asserted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A count or term of the program that is as large as a difference."""

    words: str
    """``overpredicts by 1 = the trips of the loop l2npcols``."""
    holds: int
    """In how many of the cases it holds."""
    cases: int
    """Ranks and call paths with counts of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionVerdict:
    """One assertion of the program over all its call paths and ranks."""

    id: str
    """The name that the program gives it."""
    type: str
    """As published: ``ma_loop``, ``ma_flop``, ``ma_mpi_send``, ``ma_derive``."""
    expression: str
    repeat: str = "1"
    place: str = ""
    """``cg.c:12-14``; empty: not known."""
    counter: str = ""
    """Who counted; two counters are never compared."""
    call_paths: tuple[str, ...] = ()
    predicted: Count | None
    """Of the worst visit; of one visit where all agree; None: no single value."""
    measured: Count | None
    error: Unbounded | None
    """(predicted - measured) / measured of the worst visit; null: not known, or infinite because
    nothing was measured."""
    span: tuple[Count, Count] | None = None
    """The least and the most measured of a visit where these differ."""
    passes: int
    failures: int
    missing: int = 0
    """Asserted messages that did not come."""
    no_value: tuple[UnevaluatedVisits, ...] = ()
    """Visits whose expression had no value: these never pass."""
    tolerance: float = 0.0
    """The share of the measured count that a difference may have."""
    summed: bool = False
    """Counts were compared as sums over all visits: their counter does not know single visits."""
    worst: WorstVisit | None = None
    worst_rank: int | None = None
    by_rank: tuple[RankGroup, ...] = ()
    """Where ranks differ: the largest group first. Empty: all ranks agree."""
    outcome: AssertionOutcome
    causes: tuple[Cause, ...] = ()
    """The simplest first."""
    notes: tuple[str, ...] = ()


class SizeDifference(NamedTuple):
    """A size of which not as many messages were sent as asserted."""

    size: Count
    asserted: int
    measured: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeComparison:
    """The sizes of messages of a kind, asserted and counted, as two distributions."""

    messages: str
    """``send``, ``recv``, or the collective operation: ``allreduce``."""
    asserted: tuple[SizeCount, ...]
    measured: tuple[SizeCount, ...]
    """By size, ascending, over all ranks; those to the rank itself included."""
    to_self: int
    """Messages of a rank to itself, which no network carries."""
    total_variation: float
    """Half the sum of the differences of shares, of the rank where it is largest: 0 the same
    distribution, 1 no size in common."""
    earth_mover: float
    """Bytes by which a message would have to change on average to turn one distribution into the
    other, on the same rank."""
    rank: int | None
    """The rank that differs most; None: no rank differs."""
    differences: tuple[SizeDifference, ...]
    """Of that rank, the largest first."""
    unknown: int
    """Messages whose size was not kept, for there were too many sizes."""
    causes: tuple[Cause, ...] = ()


class UnassertedMessages(NamedTuple):
    """Messages that no assertion foretold."""

    path: str
    call: str
    messages: int
    ranks: tuple[int, ...]


class UnexplainedTerm(NamedTuple):
    """How much of all that was counted of a kind one assertion does not explain."""

    assertion: str
    kind: str
    """With the counter: ``flops by program``, ``loop trips``, ``send bytes``."""
    asserted: Count
    measured: Count
    share: float
    """|asserted - measured| over all that was counted of the kind."""


class RankLoss(NamedTuple):
    """What the record of a rank does not hold."""

    rank: int
    loss: RecordLoss


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionCheck:
    """All verdicts on a run."""

    program: str
    run: str
    ranks: int
    checked_ranks: tuple[int, ...]
    missing_ranks: tuple[int, ...]
    """Ranks without a record: their assertions are not checked, so the run does not pass."""
    unfinished_ranks: tuple[int, ...]
    """Ranks whose record ends before the program does."""
    outcome: RunOutcome
    reasons: tuple[str, ...]
    """Why the outcome is no pass, in words."""
    verdicts: tuple[AssertionVerdict, ...]
    """Derived variables and domains first, then in the order of the program."""
    sizes: tuple[SizeComparison, ...]
    unasserted: tuple[UnassertedMessages, ...]
    unexplained: tuple[UnexplainedTerm, ...]
    """The largest share of each kind first."""
    losses: tuple[RankLoss, ...]
    figures: Mapping[str, float]
    """Numbers by name, for conditions: see ``FIGURES``."""


FIGURES: Mapping[str, str] = {
    "assertions": "assertions of the run",
    "failures": "assertions that fail",
    "passes": "assertions that pass",
    "not_measured": "assertions that nobody counted",
    "failed_visits": "visits that failed",
    "no_value": "visits whose expression had no value",
    "missing": "asserted messages that did not come",
    "unasserted": "messages that no assertion foretold",
    "worst_error": "the largest |predicted - measured| / measured",
    "size_distance": "the largest total variation between sizes asserted and counted",
    "unexplained_share": "the largest share of a kind that one assertion does not explain",
    "missing_ranks": "ranks without a record",
    "unfinished_ranks": "ranks whose program did not end by itself",
    "losses": "counts that records had no room for",
}
"""The names of the figures of a check, and what they are."""
