"""The counts of a rank node by node: which part of a program computes, moves and sends how much."""

from collections.abc import Iterator
from dataclasses import replace

from autotune.assertions.modelling.binding import ModelBinding
from autotune.assertions.modelling.parsed_model import ParsedNode
from autotune.assertions.modelling.tree_walk import RankCounts, rank_counts
from autotune.domain.assertion_record import COUNTED, MESSAGES, PathKind


def node_counts(binding: ModelBinding, rank: int) -> dict[str, RankCounts]:
    """The counts of one rank by the name of the block or message; added up, all of its counts.

    Nodes of one kind and name are one, as where a subroutine is called from two places. InputError
    as of ``rank_counts``.
    """
    counts: dict[str, RankCounts] = {}
    for top in binding.model.nodes:
        for name, alone in _alone(top):
            counts.setdefault(name, RankCounts()).add(rank_counts(binding, rank, (alone,)))
    return counts


def _alone(node: ParsedNode) -> Iterator[tuple[str, ParsedNode]]:
    """The name of every block and message in a tree, with the tree that counts nothing else."""
    for part in node.inner:
        for name, alone in _alone(part):
            yield name, replace(node, node=replace(node.node, kind=_around(node)), inner=(alone,))
    if node.node.kind in COUNTED or node.node.kind in MESSAGES:
        yield node.node.name, replace(node, inner=())


def _around(node: ParsedNode) -> PathKind:
    return "loop" if node.node.kind == "loop" else "region"
