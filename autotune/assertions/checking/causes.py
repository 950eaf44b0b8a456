"""Blame: which term of an assertion, or which other count, explains why it does not hold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from autotune.assertions.checking import size_distributions
from autotune.assertions.checking.asserted_points import AssertedPoint, PointMember
from autotune.assertions.checking.cause_search import CountCase, NamedCounts, search
from autotune.assertions.checking.derived_variables import values_of
from autotune.assertions.checking.verdicts import Cause, SizeComparison
from autotune.assertions.records.merged_paths import MergedPath
from autotune.domain.assertion_record import AssertionRecord, Count, PathRecord
from autotune.language import counts, expression
from autotune.language.expression import Bin, Expr, Num, Sym

_MOST_CASES = 64
_MOST_LEAVES = 24
_TERM, _LOOP, _CONSTANT, _VARIABLE, _BLOCK = 0.0, 0.6, 0.7, 1.0, 2.5
"""Costs: a term of the assertion itself, trips of a loop, a constant term, a variable, counts of
another block."""
_FAR = 0.4
"""More for a count that lies neither around nor beside the assertion."""

_Case = tuple[PointMember, Mapping[str, counts.Value]]


def of_point(
    point: AssertedPoint, paths: Sequence[MergedPath], records: Sequence[AssertionRecord]
) -> tuple[Cause, ...]:
    """What explains the difference of an assertion that fails; empty: nothing that is recorded.

    The cases are its worst visits on every path and rank, the worst of all first; for counts that
    are known as sums only, the means over the visits.
    """
    variables = {record.rank: values_of(record) for record in records}
    pairs = [
        (member, case)
        for member in point.members
        if (case := _case(member, summed=point.summed)) is not None
    ]
    pairs.sort(key=lambda pair: -_relative(pair[1]))
    pairs = pairs[:_MOST_CASES]
    if not pairs:
        return ()
    cases: list[_Case] = [
        (member, {**variables[member.rank], **_binding(member.record)}) for member, _ in pairs
    ]
    named = [
        *_own_terms(point.record.expression, cases),
        *_variables(cases),
        *_other_counts(point, paths, cases),
    ]
    replaced = tuple(_replaced(point.record.expression, cases))
    return search([case for _, case in pairs], named, replaced)


def _case(member: PointMember, *, summed: bool) -> CountCase | None:
    """The worst visit of a member; of one whose visits all pass, one of these."""
    record = member.record
    if summed:
        if not record.visits or record.measured is None:
            return None
        visits = record.visits
        return CountCase(Fraction(record.asserted) / visits, Fraction(record.measured) / visits)
    if record.worst is not None:
        return CountCase(Fraction(record.worst.asserted), Fraction(record.worst.measured))
    if record.failures or not record.passes or record.least is None:
        return None
    if record.least != record.most:
        return None
    return CountCase(Fraction(record.least), Fraction(record.least))


def _relative(case: CountCase) -> Fraction:
    return abs(case.difference) / max(abs(case.measured), Fraction(1, 10**9))


def _binding(record: PathRecord) -> Mapping[str, Count]:
    return {} if record.worst is None else record.worst.binding


# --- named counts --------------------------------------------------------------------------------


def _own_terms(text: str, cases: Sequence[_Case]) -> Iterator[NamedCounts]:
    """The terms and factors of the assertion's own expression."""
    try:
        whole = counts.parse(text)
    except ValueError:
        return
    seen: set[str] = set()
    for part, top in _parts(whole):
        words = expression.show(part)
        constant = isinstance(part, Num)
        if words in seen or part == whole or (constant and not top):
            continue
        seen.add(words)
        cost = _CONSTANT if constant else _TERM if top else _TERM + 0.5
        named = words if isinstance(part, Sym) and not top else f"the term {words}"
        yield NamedCounts(named, tuple(_value(part, values) for _, values in cases), cost)


def _replaced(text: str, cases: Sequence[_Case]) -> Iterator[NamedCounts]:
    """What the expression would count with one more or one less of a variable or number in it."""
    try:
        whole = counts.parse(text)
    except ValueError:
        return
    leaves = dict.fromkeys(
        node
        for node in expression.walk(whole)
        if isinstance(node, Sym) or (isinstance(node, Num) and abs(node.value) > 2)
    )
    for leaf in list(leaves)[:_MOST_LEAVES]:
        for op in ("+", "-"):
            other: Expr = Bin(op, leaf, Num(1))
            if isinstance(leaf, Num):
                other = Num(leaf.value + (1 if op == "+" else -1))
            changed = expression.rebuild(whole, lambda e, a=leaf, b=other: b if e == a else e)  # type: ignore[misc]
            words = f"{expression.show(other)} in place of {expression.show(leaf)}"
            yield NamedCounts(words, tuple(_value(changed, values) for _, values in cases), 0.2)


def _parts(expr: Expr) -> Iterator[tuple[Expr, bool]]:
    """All parts of an expression; True: a summand of the whole."""
    summands: set[int] = set()
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Bin) and node.op in ("+", "-"):
            waiting += (node.left, node.right)
        else:
            summands.add(id(node))
    for node in expression.walk(expr):
        yield node, id(node) in summands


def _variables(cases: Sequence[_Case]) -> Iterator[NamedCounts]:
    """The variables with values in the first case."""
    for name in cases[0][1]:
        yield NamedCounts(name, tuple(_value(Sym(name), values) for _, values in cases), _VARIABLE)


def _value(expr: Expr, values: Mapping[str, counts.Value]) -> Fraction | None:
    try:
        return Fraction(counts.exact(expr, values))
    except ValueError:
        return None


def _other_counts(
    point: AssertedPoint, paths: Sequence[MergedPath], cases: Sequence[_Case]
) -> Iterator[NamedCounts]:
    """Trips of loops, and counts of other blocks, a visit; those near the assertion first."""
    around = {member.path.id for member in point.members}
    near = {path.parent for path in paths if path.id in around}
    near |= {paths[parent].parent for parent in near if parent >= 0}
    for path in paths:
        if path.id in around or path.first.kind in ("region", "sub", "send", "recv", "coll"):
            continue
        far = 0.0 if path.parent in near or path.id in near else _FAR
        loop = path.first.kind == "loop"
        words = f"the trips of the loop {path.first.name}" if loop else f"the {path.first.kind}" + (
            f" count of {path.first.name}"
        )  # fmt: skip
        yield NamedCounts(
            words,
            tuple(_of_visit(path.records.get(member.rank)) for member, _ in cases),
            (_LOOP if loop else _BLOCK) + far,
        )


def _of_visit(record: PathRecord | None) -> Fraction | None:
    """What a visit counts where all visits count the same; as asserted where nobody counted."""
    if record is None or not record.visits:
        return None
    if record.least is not None and record.least == record.most:
        return Fraction(record.least)
    if record.measured is None and not record.unevaluated:
        return Fraction(record.asserted) / record.visits
    return None


# --- sizes of messages ---------------------------------------------------------------------------


def of_sizes(
    compared: Sequence[SizeComparison],
    records: Sequence[AssertionRecord],
    paths: Sequence[MergedPath],
) -> tuple[SizeComparison, ...]:
    """The comparisons with what explains their largest difference in number.

    The cases are the sizes that differ on all ranks, the largest difference first.
    """
    by_rank = size_distributions.by_rank(records)
    variables = {record.rank: values_of(record) for record in records}
    return tuple(
        replace(comparison, causes=_of_size(comparison, by_rank, variables, paths))
        if comparison.differences
        else comparison
        for comparison in compared
    )


def _of_size(
    comparison: SizeComparison,
    by_rank: Mapping[str, Mapping[int, size_distributions.RankSizes]],
    variables: Mapping[int, Mapping[str, counts.Value]],
    paths: Sequence[MergedPath],
) -> tuple[Cause, ...]:
    ranks: list[int] = []
    cases: list[CountCase] = []
    for rank, sizes in by_rank[comparison.messages].items():
        unequal = size_distributions.differences(sizes.stated, sizes.counted)
        if unequal:
            ranks.append(rank)
            cases.append(CountCase(Fraction(unequal[0].asserted), Fraction(unequal[0].measured)))
    ranks, cases = ranks[:_MOST_CASES], cases[:_MOST_CASES]
    names = dict.fromkeys(name for rank in ranks[:1] for name in variables[rank])
    named = [
        NamedCounts(name, tuple(_value(Sym(name), variables[rank]) for rank in ranks), _VARIABLE)
        for name in names
    ]
    for path in paths:
        if path.first.kind == "loop":
            values = tuple(_of_visit(path.records.get(rank)) for rank in ranks)
            named.append(NamedCounts(f"the trips of the loop {path.first.name}", values, _LOOP))
    for path in paths:
        visits = [path.records.get(rank) for rank in ranks]
        values = tuple(None if record is None else Fraction(record.visits) for record in visits)
        named.append(NamedCounts(f"the visits of {path.first.name}", values, _BLOCK))
    return search(cases, named)
