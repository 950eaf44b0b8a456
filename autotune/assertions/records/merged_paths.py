"""The call paths of all ranks of a run as one tree, and which ranks differ from the others."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from autotune.domain.assertion_record import AssertionRecord, Count, PathRecord

_LONGEST = 12
"""Steps of a call path that its words name; of more, the first and the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedPath:
    """One call path with its record on every rank that reached it."""

    id: int
    parent: int
    """The id of the path that it lies in; -1: the program itself."""
    depth: int
    words: str
    """The names from the outermost one: ``main > conj_grad > cgit``."""
    records: Mapping[int, PathRecord]
    """By rank; at least one."""

    @property
    def first(self) -> PathRecord:
        """The record of the lowest rank that reached it."""
        return self.records[min(self.records)]


class RankGroup(NamedTuple):
    """Ranks with the same counts on a path, or of an assertion, over all visits of a rank."""

    asserted: Count | None
    measured: Count | None
    """None: no record of the path, or not counted."""
    visits: int
    ranks: tuple[int, ...]


_Key = tuple[str, str, str, str, str, int]
"""Kind, name, operation, expression, repeat; which of several siblings that have the same ones."""


def merged(records: Sequence[AssertionRecord]) -> tuple[MergedPath, ...]:
    """The paths of several ranks as one tree, parents before children.

    Paths of two ranks are the same where their chains of kinds, names and expressions are. The
    order is that of the first rank; what only others reached follows its siblings.
    """
    nodes: dict[tuple[int, _Key], int] = {}
    chains: list[tuple[int, _Key]] = []
    by_rank: list[dict[int, PathRecord]] = []
    for record in records:
        ids = {-1: -1}
        seen: Counter[tuple[int, tuple[str, ...]]] = Counter()
        for path in record.paths:
            parent = ids[path.parent]
            named = (path.kind, path.name, path.operation, path.expression, path.repeat)
            key = parent, (*named, seen[parent, named])
            seen[parent, named] += 1
            if key not in nodes:
                nodes[key] = len(chains)
                chains.append(key)
                by_rank.append({})
            ids[path.id] = nodes[key]
            by_rank[nodes[key]][record.rank] = path
    return _ordered(chains, by_rank)


def _ordered(
    chains: Sequence[tuple[int, _Key]], by_rank: Sequence[Mapping[int, PathRecord]]
) -> tuple[MergedPath, ...]:
    """The nodes with every one directly below its parent."""
    below: defaultdict[int, list[int]] = defaultdict(list)
    for node, (parent, _) in enumerate(chains):
        below[parent].append(node)
    paths: list[MergedPath] = []
    places: dict[int, int] = {-1: -1}
    names: dict[int, tuple[str, ...]] = {-1: ()}
    waiting = list(reversed(below[-1]))
    while waiting:
        node = waiting.pop()
        parent, key = chains[node]
        steps = (*names[parent], key[1])
        names[node] = steps if len(steps) <= _LONGEST else (*steps[:3], "...", *steps[-8:])
        places[node] = len(paths)
        paths.append(
            MergedPath(
                id=len(paths),
                parent=places[parent],
                depth=0 if parent == -1 else paths[places[parent]].depth + 1,
                words=" > ".join(names[node]),
                records=by_rank[node],
            )
        )
        waiting += reversed(below[node])
    return tuple(paths)


def groups(path: MergedPath, ranks: Sequence[int]) -> tuple[RankGroup, ...]:
    """The ranks grouped by what they count on a path, the largest group first.

    One group: all ranks agree. A rank that never reached the path has None for both counts.
    """
    return grouped(path, ranks, lambda record: (record.asserted, record.measured, record.visits))


def grouped(
    path: MergedPath,
    ranks: Sequence[int],
    counts: Callable[[PathRecord], tuple[Count | None, Count | None, int]],
) -> tuple[RankGroup, ...]:
    """The ranks grouped by chosen counts of a path: see ``groups``."""
    members: defaultdict[tuple[Count | None, Count | None, int], list[int]] = defaultdict(list)
    for rank in ranks:
        record = path.records.get(rank)
        members[(None, None, 0) if record is None else counts(record)].append(rank)
    return tuple(
        RankGroup(*key, tuple(same))
        for key, same in sorted(members.items(), key=lambda item: (-len(item[1]), item[1]))
    )
