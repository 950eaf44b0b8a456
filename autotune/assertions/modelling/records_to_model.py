"""The model that the records of a run state: its call paths as a tree, with the asserted counts.

What no assertion explains is counted: a node that is visited more or less often than the trips
above it say gets a ``repeat`` that is marked as measured. Ranks that do different things are named,
and their repeats become conditions on the rank.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from autotune.assertions.modelling import count_formula
from autotune.assertions.modelling.count_formula import shown
from autotune.assertions.records import merged_paths
from autotune.assertions.records.merged_paths import MergedPath
from autotune.assertions.records.run_records import ranks_in_words
from autotune.domain.assertion_model import AssertionModel, ModelNode
from autotune.domain.assertion_record import (
    AssertionRecord,
    CallRecord,
    Count,
    NamedVariable,
    VariableRecord,
)
from autotune.errors import Fault, InputError
from autotune.units import counted

RANKS = "nprocs"
_RANKS_NAMES = frozenset(
    {RANKS, "num_procs", "nranks", "ranks", "size", "np", "npes", "world_size"}
)
_MOST_PIECES = 16
"""Groups of neighbouring ranks that a condition tells apart."""
_MESSAGES = ("send", "recv")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedModel:
    """A model made of records."""

    model: AssertionModel
    notes: tuple[str, ...]
    """Measured repeats, ranks that differ, and variables that changed."""


def model_from_records(records: Sequence[AssertionRecord], name: str = "") -> RecordedModel:
    """The model that the records of all ranks of one run state together.

    Raises InputError without records, for records of different runs and for a rank that is missing
    or there twice.
    """
    _refuse_mixed(records)
    ordered = sorted(records, key=lambda record: record.rank)
    merging = _Merging(ordered)
    merging.notes += _gaps(ordered)
    variables, values, rank = merging.variables()
    nodes = tuple(merging.nodes(-1, dict.fromkeys(merging.ranks, Fraction(1))))
    first = ordered[0]
    model = AssertionModel(
        name=name or first.program.rsplit("/", 1)[-1] or "program",
        ranks=merging.ranks_name,
        rank=rank,
        variables=(*variables, *_undefined(variables, nodes, rank)),
        values=values,
        nodes=nodes,
        sources=(f"run {first.run} of {first.program} on {counted(first.ranks, 'rank')}",),
    )
    return RecordedModel(model=model, notes=tuple(merging.notes))


def _refuse_mixed(records: Sequence[AssertionRecord]) -> None:
    if not records:
        raise InputError(Fault(where="records", found="none", expected="one of every rank"))
    runs = sorted({record.run for record in records})
    if len(runs) > 1:
        found = f"records of {len(runs)} runs: {', '.join(runs[:4])}"
        raise InputError(Fault(where="records", found=found, expected="records of one run"))
    ranks = sorted(record.rank for record in records)
    twice = sorted({rank for rank in ranks if ranks.count(rank) > 1})
    missing = sorted(set(range(records[0].ranks)) - set(ranks))
    if twice or missing:
        found = f"rank {twice[0]} twice" if twice else f"no record of {ranks_in_words(missing)}"
        expected = f"one of each of {records[0].ranks} ranks"
        raise InputError(Fault(where="records", found=found, expected=expected))


def _gaps(records: Sequence[AssertionRecord]) -> Iterator[str]:
    """What the records do not hold."""
    if ended := [record.rank for record in records if not record.complete]:
        yield f"{ranks_in_words(ended)} did not end by itself: the counts end where it died"
    losses: Counter[str] = Counter()
    for record in records:
        losses.update({loss.what: loss.number for loss in record.losses})
    yield from (f"not recorded: {number:,} {what}" for what, number in losses.items())


def _undefined(
    variables: Sequence[NamedVariable], nodes: Iterable[ModelNode], rank: str
) -> tuple[NamedVariable, ...]:
    """The names in expressions that the program never gave a value."""
    names = {variable.name for variable in variables} | {rank}
    texts = [variable.expression for variable in variables if variable.expression]
    for node in (part for top in nodes for part in top.walk()):
        texts += [text for text in (node.expression, node.repeat, node.peer) if text]
    used = dict.fromkeys(symbol for text in texts for symbol in sorted(_symbols(text)))
    return tuple(NamedVariable(name=symbol) for symbol in used if symbol not in names)


def _symbols(text: str) -> frozenset[str]:
    try:
        return count_formula.parse(text).symbols
    except ValueError:
        return frozenset()


class _Merging:
    """The trees of all ranks as one."""

    def __init__(self, records: Sequence[AssertionRecord]) -> None:
        self.records = {record.rank: record for record in records}
        self.ranks = tuple(self.records)
        self.notes: list[str] = []
        self.ranks_name = RANKS
        self.rank_name = "rank"
        self.inner: dict[int, list[MergedPath]] = {}
        self.places = {-1: ""}
        self.calls = {-1: {record.rank: record.calls for record in records}}
        for path in merged_paths.merged(records):
            self.inner.setdefault(path.parent, []).append(path)
            self.places[path.id] = f"{self.places[path.parent]}/{path.first.name}".lstrip("/")
            self.calls[path.id] = {rank: part.calls for rank, part in path.records.items()}

    # --- variables --------------------------------------------------------------------------

    def variables(self) -> tuple[tuple[NamedVariable, ...], dict[str, Count], str]:
        """The variables, the values of the inputs, and the name of the rank."""
        gathered: dict[str, dict[int, VariableRecord]] = {}
        for rank, record in self.records.items():
            for variable in record.variables:
                gathered.setdefault(variable.variable.name, {})[rank] = variable
        values: dict[str, Count] = {}
        named = []
        for name, by_rank in gathered.items():
            declared = next(iter(by_rank.values())).variable
            named.append(declared)
            if not declared.expression:
                self._value(name, by_rank, values)
        if self.ranks_name not in values:
            values[self.ranks_name] = len(self.ranks)
            named.insert(0, NamedVariable(name=self.ranks_name, domain="whole; [1, ]"))
        named = [variable for variable in named if variable.name != self.rank_name]
        values.pop(self.rank_name, None)
        return tuple(named), values, self.rank_name

    def _value(
        self, name: str, by_rank: Mapping[int, VariableRecord], values: dict[str, Count]
    ) -> None:
        firsts = {rank: variable.first for rank, variable in by_rank.items()}
        values[name] = firsts[min(firsts)]
        unit = by_rank[min(firsts)].variable.unit
        if name == "rank" or (len(firsts) > 1 and all(r == v for r, v in firsts.items())):
            self.rank_name = name
            return
        if set(firsts.values()) == {len(self.ranks)} and (
            name.lower() in _RANKS_NAMES or unit in ("processes", "ranks")
        ):
            self.ranks_name = name
        if len(set(firsts.values())) > 1:
            different = f"{shown(values[name])} on rank {min(firsts)}"
            self.notes.append(f"variable {name} differs between ranks: {different} is taken")
        changes = max(variable.changes for variable in by_rank.values())
        if changes:
            text = f"variable {name} changed {counted(changes, 'time')} in the run"
            self.notes.append(f"{text}: its first value, {shown(values[name])}, is taken")

    # --- nodes ------------------------------------------------------------------------------

    def nodes(self, above: int, units: Mapping[int, Fraction]) -> Iterator[ModelNode]:
        """The nodes below a path that turns or is visited ``units`` times on each rank."""
        for merged in self.inner.get(above, ()):
            repeat, measured = self._repeat(merged, units)
            path = merged.first
            inner_units = {rank: self._units(merged, rank) for rank in self.ranks}
            message = path.kind in _MESSAGES
            yield ModelNode(
                kind=path.kind,
                name=path.name,
                expression=path.expression,
                repeat=_times(repeat, path.repeat if path.kind in (*_MESSAGES, "coll") else "1"),
                repeat_measured=measured,
                operation=path.operation,
                nonblocking=message and _nonblocking(self.calls[above], path.kind),
                peer=self._peer(above, path.kind) if message else "",
                inner=tuple(self.nodes(merged.id, inner_units)),
            )

    def _units(self, merged: MergedPath, rank: int) -> Fraction:
        """How often the nodes inside of a path are due on a rank: its visits, or its trips."""
        path = merged.records.get(rank)
        if path is None:
            return Fraction(0)
        if path.kind != "loop":
            return Fraction(path.visits)
        if path.unevaluated and path.measured is not None:
            return Fraction(path.measured)
        return Fraction(path.asserted)

    def _repeat(self, merged: MergedPath, units: Mapping[int, Fraction]) -> tuple[str, bool]:
        """The repeat of a node, and whether it is measured."""
        place = self.places[merged.id]
        visits = {rank: Fraction(path.visits) for rank, path in merged.records.items()}
        ratios = {
            rank: visits.get(rank, Fraction(0)) / units[rank] for rank in self.ranks if units[rank]
        }
        lost = [rank for rank in self.ranks if not units[rank] and visits.get(rank)]
        if lost:
            text = f"{place}: visited on {ranks_in_words(lost)}"
            self.notes.append(f"{text}, where nothing above it should turn")
        if len(set(ratios.values())) <= 1:
            ratio = next(iter(ratios.values()), Fraction(1))
            if ratio != 1:
                kind = f"{shown(_whole(ratio))} times for each of what is above it"
                self.notes.append(f"{place}: visited {kind} (measured, not asserted)")
            return str(_whole(ratio)), ratio != 1
        return self._by_rank(place, ratios), True

    def _by_rank(self, place: str, ratios: Mapping[int, Fraction]) -> str:
        """A repeat as a condition on the rank; the mean where ranks differ too irregularly."""
        groups: dict[Fraction, list[int]] = {}
        for rank, ratio in ratios.items():
            groups.setdefault(ratio, []).append(rank)
        parts = [f"{shown(_whole(ratio))} on {ranks_in_words(r)}" for ratio, r in groups.items()]
        text = f"{place}: ranks differ (measured): {'; '.join(parts[:_MOST_PIECES])}"
        pieces: list[tuple[int, Fraction]] = []
        for rank in self.ranks:
            ratio = ratios.get(rank, Fraction(0))
            if not pieces or pieces[-1][1] != ratio:
                pieces.append((rank, ratio))
        if len(pieces) > _MOST_PIECES:
            mean = sum(ratios.values(), Fraction(0)) / len(ratios)
            self.notes.append(f"{text}; ...; the mean, {shown(_whole(mean))}, is taken")
            return str(_whole(mean))
        self.notes.append(text)
        result = str(_whole(pieces[-1][1]))
        for (start, _), (_, ratio) in reversed(list(zip(pieces[1:], pieces[:-1], strict=True))):
            result = f"({_whole(ratio)} if {self.rank_name} < {start} else {result})"
        return result.removeprefix("(").removesuffix(")") if len(pieces) == 2 else result

    def _peer(self, above: int, kind: str) -> str:
        """The peer of all messages of a kind directly in a path, as a formula of the rank.

        Empty where a rank has several, or where no simple pattern fits.
        """
        peers: dict[int, int] = {}
        for rank, calls in self.calls[above].items():
            partners = {p.rank for c in calls if c.kind == kind for p in c.peers if p.messages}
            if len(partners) > 1 or any(c.other_peers for c in calls if c.kind == kind):
                return ""
            if partners:
                peers[rank] = partners.pop()
        return peer_formula(peers, len(self.ranks), self.rank_name, self.ranks_name)


def _times(repeat: str, times: str) -> str:
    """The product of two repeats."""
    if times == "1":
        return repeat
    return times if repeat == "1" else f"({repeat})*({times})"


def _whole(value: Fraction) -> int | Fraction:
    return int(value) if value.denominator == 1 else value


def _nonblocking(calls: Mapping[int, tuple[CallRecord, ...]], kind: str) -> bool:
    """Whether all messages of a kind were started by calls such as MPI_Isend."""
    names = {call.call for by_rank in calls.values() for call in by_rank if call.kind == kind}
    return bool(names) and all(name.startswith(("MPI_I", "MPI_Start")) for name in names)


def peer_formula(peers: Mapping[int, int], ranks: int, rank: str, ranks_name: str) -> str:
    """The partner of every rank as a formula; empty where no simple one fits all.

    >>> peer_formula({0: 1, 1: 2, 2: 0}, 3, "rank", "nprocs")
    '(rank + 1) % nprocs'
    """
    if not peers or ranks < 2:
        return ""
    if len(set(peers.values())) == 1 and len(peers) > 1:
        return str(next(iter(peers.values())))
    if all(peer == number ^ 1 for number, peer in peers.items()) and ranks > 2:
        return f"{rank} + 1 - 2*({rank} % 2)"
    shifts = {(peer - number) % ranks for number, peer in peers.items()}
    if len(shifts) != 1:
        return ""
    shift = shifts.pop()
    if shift == 0:
        return rank
    sign, distance = ("+", shift) if shift <= ranks // 2 else ("-", ranks - shift)
    return f"({rank} {sign} {distance}) % {ranks_name}"
