"""From the records of a run to verdicts on all its assertions."""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from autotune.assertions.checking import causes, size_distributions, tolerances, unexplained
from autotune.assertions.checking.asserted_points import (
    AssertedPoint,
    PointMember,
    points,
)
from autotune.assertions.checking.derived_variables import variable_verdicts
from autotune.assertions.checking.tolerances import JudgedVisits, Tolerances, relative_error
from autotune.assertions.checking.verdicts import (
    AssertionCheck,
    AssertionOutcome,
    AssertionVerdict,
    RankLoss,
    RunOutcome,
    UnassertedMessages,
)
from autotune.assertions.counters.record_counts import ALL_RANKS
from autotune.assertions.library.mpi import message_calls
from autotune.assertions.records.merged_paths import MergedPath, RankGroup, merged
from autotune.assertions.records.run_records import RunRecords, ranks_in_words
from autotune.domain.assertion_record import MESSAGES, Count, SizeCount
from autotune.errors import nearest
from autotune.units import counted

EXACT = Tolerances()
_OPERATIONS = frozenset(call.operation for call in message_calls.message_calls()) - {""}
"""The words by which assertions name collectives."""
HARMLESS = ("peers", "events", "times ", "seconds ", "visits of regions")
"""Losses that begin with one of these words cannot hide a failed assertion."""


def check(
    run: RunRecords, tolerated: Tolerances = EXACT, *, partial: bool = False
) -> AssertionCheck:
    """Verdicts on all assertions of a run.

    ``partial``: messages that nothing foretold are listed but do not make the run fail; so it is
    in any case where no message is asserted at all. A run passes only where something was
    asserted, everything asserted that was counted agrees, and no rank or count is missing.
    """
    paths = merged(run.records)
    asserted = points(paths, run.records)
    verdicts = (
        *variable_verdicts(run.records),
        *(_verdict(point, paths, run, tolerated.share(point.kind)) for point in asserted),
    )
    unasserted = tuple(_unasserted(paths, run))
    strict = not partial and any(point.kind in MESSAGES for point in asserted)
    losses = tuple(RankLoss(r.rank, loss) for r in run.records for loss in r.losses)
    reasons = tuple(_reasons(run, verdicts, unasserted if strict else (), losses))
    sizes = causes.of_sizes(size_distributions.compared(run.records), run.records, paths)
    terms = unexplained.unexplained(asserted, run.records)
    outcome: RunOutcome = "fail" if reasons else "pass"
    if not reasons and not any(verdict.outcome != "not measured" for verdict in verdicts):
        outcome = "nothing asserted"
        reasons = ("nothing that was asserted was counted",) if verdicts else (
            "no assertion was reached",
        )  # fmt: skip
    figures = {
        "assertions": len(verdicts),
        "failures": sum(v.outcome == "fail" for v in verdicts),
        "passes": sum(v.outcome == "pass" for v in verdicts),
        "not_measured": sum(v.outcome == "not measured" for v in verdicts),
        "failed_visits": sum(v.failures for v in verdicts),
        "no_value": sum(reason.visits for v in verdicts for reason in v.no_value),
        "missing": sum(v.missing for v in verdicts),
        "unasserted": sum(u.messages for u in unasserted),
        "worst_error": max((_size_of_error(v) for v in verdicts), default=0.0),
        "size_distance": max((c.total_variation for c in sizes), default=0.0),
        "unexplained_share": max((term.share for term in terms), default=0.0),
        "missing_ranks": len(run.missing),
        "unfinished_ranks": len(run.unfinished),
        "losses": sum(loss.loss.number for loss in losses),
    }
    return AssertionCheck(
        program=run.first.program,
        run=run.first.run,
        ranks=run.first.ranks,
        checked_ranks=tuple(record.rank for record in run.records),
        missing_ranks=run.missing,
        unfinished_ranks=run.unfinished,
        outcome=outcome,
        reasons=reasons,
        verdicts=verdicts,
        sizes=sizes,
        unasserted=unasserted,
        unexplained=terms,
        losses=losses,
        figures=figures,
    )


def _size_of_error(verdict: AssertionVerdict) -> float:
    """|error|; 1 where something was asserted and nothing came, so that conditions can be met."""
    if verdict.error is not None:
        return abs(verdict.error)
    return float(verdict.outcome == "fail" and (verdict.predicted or 0) != (verdict.measured or 0))


def _reasons(
    run: RunRecords,
    verdicts: Sequence[AssertionVerdict],
    unasserted: Sequence[UnassertedMessages],
    losses: Sequence[RankLoss],
) -> Iterator[str]:
    """Why a run does not pass."""
    failing = [verdict.id for verdict in verdicts if verdict.outcome == "fail"]
    if failing:
        verb = "does" if len(failing) == 1 else "do"
        yield f"{counted(len(failing), 'assertion')} of {len(verdicts)} {verb} not hold"
    if unasserted:
        number = sum(entry.messages for entry in unasserted)
        yield f"{counted(number, 'message')} that no assertion foretold"
    if run.missing:
        yield f"no record of {ranks_in_words(run.missing)} of {run.first.ranks}"
    if run.unfinished:
        yield (
            f"{ranks_in_words(run.unfinished)}: the program ended before its end, and the record"
            " with it"
        )
    hiding = [entry for entry in losses if not entry.loss.what.startswith(HARMLESS)]
    for what in dict.fromkeys(entry.loss.what for entry in hiding):
        same = [entry for entry in hiding if entry.loss.what == what]
        ranks = ranks_in_words(tuple(dict.fromkeys(entry.rank for entry in same)))
        times = counted(sum(entry.loss.number for entry in same), "time")
        yield f"the record of {ranks} is not whole: {what}, {times}"


# --- one assertion -------------------------------------------------------------------------------


def _verdict(
    point: AssertedPoint, paths: Sequence[MergedPath], run: RunRecords, tolerance: float
) -> AssertionVerdict:
    record = point.record
    visits = _judged_sum(point, tolerance) if point.summed else _judged_visits(point, tolerance)
    missing = sum(member.record.missing for member in point.members)
    outcome = _outcome(point, visits, missing)
    predicted, measured, span, worst = _shown_counts(point)
    return AssertionVerdict(
        id=record.name,
        type=point.type,
        expression=record.expression,
        repeat=record.repeat,
        place=point.place,
        counter=record.counter,
        call_paths=point.call_paths,
        predicted=predicted,
        measured=measured,
        error=None if predicted is None or measured is None else (
            relative_error(predicted, measured)
        ),
        span=span,
        passes=visits.passes,
        failures=visits.failures,
        missing=missing,
        no_value=point.no_value,
        tolerance=tolerance,
        summed=point.summed,
        worst=None if worst is None else worst.record.worst,
        worst_rank=None if worst is None else worst.rank,
        by_rank=_by_rank(point, run),
        outcome=outcome,
        causes=causes.of_point(point, paths, run.records) if outcome == "fail" else (),
        notes=tuple(_notes(point, visits)),
    )  # fmt: skip


def _judged_visits(point: AssertedPoint, tolerance: float) -> JudgedVisits:
    judged = [tolerances.judged(member.record, tolerance) for member in point.members]
    return JudgedVisits(*(sum(column) for column in zip(*judged, strict=True)))


def _judged_sum(point: AssertedPoint, tolerance: float) -> JudgedVisits:
    """All visits of a rank pass, or none: only their sum is known.

    Of ranks that were counted together, only the sum over all of them is known.
    """
    passes = failures = 0
    for part in _summed_parts(point):
        measured = Fraction(part.measured or 0)
        if abs(Fraction(part.asserted) - measured) <= Fraction(tolerance) * abs(measured):
            passes += part.visits
        else:
            failures += part.visits
    return JudgedVisits(passes, failures, 0)


def _summed_parts(point: AssertedPoint) -> Sequence[AssertedPoint]:
    """A point rank by rank, or as a whole where ranks were counted together."""
    if point.record.counter == ALL_RANKS:
        return [point]
    members = sorted(point.members, key=lambda member: member.rank)
    return [
        replace(point, members=tuple(same))
        for _, same in itertools.groupby(members, key=lambda member: member.rank)
    ]


def _outcome(point: AssertedPoint, visits: JudgedVisits, missing: int) -> AssertionOutcome:
    if visits.failures or missing or point.no_value:
        return "fail"
    if point.measured is None:
        return "not measured"
    vacuous = point.kind in MESSAGES and point.asserted == 0
    return "pass" if visits.passes or vacuous else "not measured"


_ShownCounts = tuple[Count | None, Count | None, tuple[Count, Count] | None, PointMember | None]
"""Predicted and measured of a visit, the span of measured ones, the member with the worst visit."""


def _shown_counts(point: AssertedPoint) -> _ShownCounts:
    if point.summed:
        part = max(_summed_parts(point), key=_gap_of_sum)
        mean = _mean(part.asserted, part.visits), _mean(part.measured or 0, part.visits)
        differs = _gap_of_sum(part) and len(part.members) < len(point.members)
        return (*mean, None, part.members[0] if differs else None)
    unequal = [
        member
        for member in point.members
        if (worst := member.record.worst) is not None and worst.asserted != worst.measured
    ]
    span = _span(point)
    if unequal:
        worst_member = max(unequal, key=_worst_error)
        worst = worst_member.record.worst
        assert worst is not None
        return worst.asserted, worst.measured, span, worst_member
    if point.measured is None:
        return _mean(point.asserted, point.visits), None, None, None
    if span is None or (point.kind in MESSAGES and not point.measured):
        sizes = _asserted_sizes(point)
        only = sizes[0].size if len(sizes) == 1 else _mean(point.asserted, point.visits)
        return only, None, None, None
    if span[0] == span[1]:
        return span[0], span[0], None, None
    return None, None, span, None


def _gap_of_sum(part: AssertedPoint) -> Fraction:
    return abs(Fraction(part.asserted) - Fraction(part.measured or 0))


def _worst_error(member: PointMember) -> tuple[float, int]:
    worst = member.record.worst
    assert worst is not None
    error = relative_error(worst.asserted, worst.measured)
    return (float("inf") if error is None else abs(error)), -member.rank


def _span(point: AssertedPoint) -> tuple[Count, Count] | None:
    """The least and the most measured of a visit over all members; None: not known."""
    ends = [(m.record.least, m.record.most) for m in point.members]
    least = [low for low, high in ends if low is not None and high is not None]
    most = [high for low, high in ends if low is not None and high is not None]
    return (min(least), max(most)) if least else None


def _asserted_sizes(point: AssertedPoint) -> list[SizeCount]:
    sizes = {size for member in point.members for size in member.record.asserted_sizes}
    return sorted({size.size: size for size in sizes}.values())


def _mean(total: Count, visits: int) -> Count | None:
    if not visits:
        return None
    mean = Fraction(total) / visits
    return mean.numerator if mean.denominator == 1 else float(mean)


def _by_rank(point: AssertedPoint, run: RunRecords) -> tuple[RankGroup, ...]:
    """The ranks grouped by their counts; empty where all ranks agree."""
    groups: defaultdict[tuple[Count | None, Count | None, int], list[int]] = defaultdict(list)
    for record in run.records:
        same = [m.record for m in point.members if m.rank == record.rank]
        counts = [r.measured for r in same if r.measured is not None]
        key = (
            sum(r.asserted for r in same) if same else None,
            sum(counts) if counts else None,
            sum(r.visits for r in same),
        )
        groups[key].append(record.rank)
    if len(groups) == 1:
        return ()
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[1]))
    return tuple(RankGroup(*key, tuple(ranks)) for key, ranks in ordered)


def _notes(point: AssertedPoint, visits: JudgedVisits) -> Iterator[str]:
    if visits.unsure:
        yield (
            f"{counted(visits.unsure, 'failed visit')} may be within the tolerance: what was"
            " measured in just these was not kept"
        )
    if point.summed:
        yield f"compared as the sum over {counted(point.visits, 'visit')}"
    if point.measured is None:
        yield _uncounted(point)
    operation = point.record.operation
    if point.kind == "coll" and operation not in _OPERATIONS:
        hint = nearest(operation, _OPERATIONS)
        yield f"no collective of MPI is named {operation!r}" + (f" ({hint})" if hint else "")
    deepest = max(member.record.deepest for member in point.members)
    if deepest > 1:
        yield f"{deepest} visits were open at once: it calls itself"


def _uncounted(point: AssertedPoint) -> str:
    """That nobody counted, and who could have."""
    if point.kind in MESSAGES:
        return "nobody counted: calls of MPI were not recorded (autotune assert run --mpi)"
    if point.kind == "flop":
        return (
            "nobody counted: build with $(autotune assert flags --gcov), or let the program count"
            " (ma_flop_count; in Python the count() of the block)"
        )
    return f"nobody counted: the program can ({point.type}_count; in Python the block's count())"


# --- messages ------------------------------------------------------------------------------------


def _unasserted(paths: Sequence[MergedPath], run: RunRecords) -> Iterator[UnassertedMessages]:
    """Messages that no assertion foretold, by path and function of MPI."""
    counts: dict[tuple[str, str], dict[int, int]] = {}
    outside = [("(outside of every path)", record.rank, record.calls) for record in run.records]
    within = [
        (path.words, rank, record.calls) for path in paths for rank, record in path.records.items()
    ]
    for words, rank, calls in [*outside, *within]:
        for call in calls:
            if call.unasserted:
                by_rank = counts.setdefault((words, call.call), {})
                by_rank[rank] = by_rank.get(rank, 0) + call.unasserted
    for (words, name), by_rank in counts.items():
        yield UnassertedMessages(words, name, sum(by_rank.values()), tuple(sorted(by_rank)))
