"""Verdicts on variables: derived values against the program's, values against their domains."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from autotune.assertions.checking.tolerances import relative_error
from autotune.assertions.checking.verdicts import (
    AssertionOutcome,
    AssertionVerdict,
)
from autotune.assertions.records.merged_paths import RankGroup
from autotune.domain.assertion_record import (
    AssertionRecord,
    Count,
    UnevaluatedVisits,
    VariableRecord,
)
from autotune.language import counts

_ByRank = Mapping[int, VariableRecord]


def variable_verdicts(records: Sequence[AssertionRecord]) -> tuple[AssertionVerdict, ...]:
    """Verdicts on the variables of a run that are checked, in the order of the program."""
    by_name: defaultdict[str, dict[int, VariableRecord]] = defaultdict(dict)
    values: dict[int, Mapping[str, counts.Value]] = {}
    for record in records:
        values[record.rank] = values_of(record)
        for variable in record.variables:
            by_name[variable.variable.name][record.rank] = variable
    verdicts: list[AssertionVerdict] = []
    for ranks in by_name.values():
        if any(v.passes + v.failures or v.unevaluated for v in ranks.values()):
            verdicts.append(_derived(ranks, values))
        if any(v.variable.domain for v in ranks.values()):
            verdicts.append(_domain(ranks))
    return tuple(verdicts)


def values_of(record: AssertionRecord) -> Mapping[str, counts.Value]:
    """The values of the variables of a rank that never changed."""
    return {v.variable.name: v.last for v in record.variables if not v.changes}


def _derived(ranks: _ByRank, values: Mapping[int, Mapping[str, counts.Value]]) -> AssertionVerdict:
    """A variable whose value the program gives too, beside that of its expression."""
    failing = [rank for rank, v in ranks.items() if v.failures]
    rank = failing[0] if failing else min(ranks)
    shown = ranks[rank]
    computed = _computed(shown.variable.expression, values[rank]) if failing else shown.last
    no_value: Counter[str] = Counter()
    for variable in ranks.values():
        for reason in variable.unevaluated:
            no_value[reason.reason] += reason.visits
    passes = sum(v.passes for v in ranks.values())
    outcome: AssertionOutcome = "fail" if failing or no_value else "pass"
    return AssertionVerdict(
        id=shown.variable.name,
        type="ma_derive",
        expression=shown.variable.expression,
        counter="program",
        predicted=computed,
        measured=shown.last,
        error=None if computed is None else relative_error(computed, shown.last),
        passes=passes,
        failures=sum(v.failures for v in ranks.values()),
        no_value=tuple(UnevaluatedVisits(*item) for item in no_value.items()),
        worst_rank=rank if failing else None,
        by_rank=_by_rank(ranks),
        outcome=outcome,
        notes=(f"its value changed {shown.changes} times: the last one is shown",)
        if shown.changes
        else (),
    )


def _domain(ranks: _ByRank) -> AssertionVerdict:
    """A variable with a domain: values inside pass, values outside fail."""
    failing = [rank for rank, v in ranks.items() if v.violations]
    rank = failing[0] if failing else min(ranks)
    shown = ranks[rank]
    violations = sum(v.violations for v in ranks.values())
    return AssertionVerdict(
        id=shown.variable.name,
        type="ma_var",
        expression=shown.variable.domain,
        counter="program",
        predicted=None,
        measured=shown.worst_value if failing else shown.last,
        error=None,
        passes=max(0, sum(v.changes + 1 for v in ranks.values()) - violations),
        failures=violations,
        worst_rank=rank if failing else None,
        by_rank=_by_rank(ranks),
        outcome="fail" if violations else "pass",
        notes=(f"{shown.worst_value} is outside of its domain, {shown.variable.domain}",)
        if failing
        else (),
    )


def _computed(expression: str, values: Mapping[str, counts.Value]) -> Count | None:
    try:
        value = counts.exact(counts.parse(expression), values)
    except ValueError:
        return None
    return value if isinstance(value, int | float) else float(value)


def _by_rank(ranks: _ByRank) -> tuple[RankGroup, ...]:
    groups: defaultdict[tuple[Count, int], list[int]] = defaultdict(list)
    for rank, variable in ranks.items():
        groups[variable.last, variable.changes + 1].append(rank)
    if len(groups) == 1:
        return ()
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[1]))
    return tuple(RankGroup(None, value, visits, tuple(same)) for (value, visits), same in ordered)
