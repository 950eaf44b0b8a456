"""Records of assertions made by hand, as the run-time library would write them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autotune.domain.assertion_record import (
    AssertionRecord,
    CallRecord,
    Count,
    DifferenceCount,
    NamedVariable,
    PathKind,
    PathRecord,
    RecordLoss,
    SizeCount,
    UnevaluatedVisits,
    VariableRecord,
    WorstVisit,
)
from autotune.files import codec

Visits = Sequence[tuple[Count, Count]]
"""Asserted and measured of each visit."""


def counted(
    number: int,
    kind: PathKind,
    name: str,
    expression: str,
    visits: Visits,
    *,
    parent: int = -1,
    counter: str = "",
    binding: Mapping[str, Count] | None = None,
    file: str = "",
    lines: tuple[int, int] = (0, 0),
    no_value: Sequence[UnevaluatedVisits] = (),
) -> PathRecord:
    """The record of a loop or counted block whose visits are given one by one."""
    differences: dict[Count, int] = {}
    for asserted, measured in visits:
        differences[asserted - measured] = differences.get(asserted - measured, 0) + 1
    worst = max(visits, key=lambda visit: abs(visit[0] - visit[1]), default=None)
    measures = [measured for _, measured in visits]
    passes = differences.get(0, 0)
    return PathRecord(
        id=number,
        parent=parent,
        kind=kind,
        name=name,
        expression=expression,
        file=file,
        first_line=lines[0],
        last_line=lines[1],
        visits=len(visits) + sum(reason.visits for reason in no_value),
        asserted=sum(asserted for asserted, _ in visits),
        measured=sum(measures),
        counter=counter or ("trips" if kind == "loop" else "program"),
        passes=passes,
        failures=len(visits) - passes,
        unevaluated=tuple(no_value),
        worst=None
        if worst is None or worst[0] == worst[1]
        else WorstVisit(asserted=worst[0], measured=worst[1], binding=binding or {}),
        differences=tuple(DifferenceCount(*item) for item in sorted(differences.items())),
        least=min(measures, default=None),
        most=max(measures, default=None),
        zero=measures.count(0),
    )


def uncounted(
    number: int, kind: PathKind, name: str, expression: str, asserted: Count, visits: int,
    *, parent: int = -1, file: str = "", lines: tuple[int, int] = (0, 0),
) -> PathRecord:  # fmt: skip
    """The record of a block that nobody counted in the run."""
    return PathRecord(
        id=number, parent=parent, kind=kind, name=name, expression=expression, file=file,
        first_line=lines[0], last_line=lines[1], visits=visits, asserted=asserted, measured=None,
        passes=0, failures=0,
    )  # fmt: skip


def message(
    number: int,
    kind: PathKind,
    name: str,
    expression: str,
    sizes: Sequence[tuple[Count, int]],
    *,
    parent: int = -1,
    operation: str = "",
    passes: int | None = None,
    missing: int = 0,
) -> PathRecord:
    """The record of asserted messages: size and number; all pass that are not missing."""
    total = sum(count for _, count in sizes)
    came = total - missing if passes is None else passes
    volume = sum(size * count for size, count in sizes)
    return PathRecord(
        id=number, parent=parent, kind=kind, name=name, expression=expression,
        operation=operation, visits=total, asserted=volume, measured=volume * came // total,
        counter="mpi", passes=came, failures=total - missing - came,
        asserted_sizes=tuple(SizeCount(*size) for size in sizes), missing=missing,
        least=min(size for size, _ in sizes), most=max(size for size, _ in sizes),
    )  # fmt: skip


def region(
    number: int, name: str, visits: int, *, parent: int = -1, kind: PathKind = "sub",
    calls: Sequence[CallRecord] = (),
) -> PathRecord:  # fmt: skip
    """The record of a subroutine or region, with the calls of MPI directly within it."""
    return PathRecord(
        id=number, parent=parent, kind=kind, name=name, visits=visits, asserted=0, measured=None,
        passes=0, failures=0, calls=tuple(calls),
    )  # fmt: skip


def call(
    name: str, kind: PathKind, sizes: Sequence[tuple[Count, int]], *, unasserted: int = 0,
    to_self: int = 0,
) -> CallRecord:  # fmt: skip
    """The record of the calls of a function of MPI: size and number of its messages."""
    return CallRecord(
        call=name, kind=kind, messages=sum(count for _, count in sizes),
        size=int(sum(size * count for size, count in sizes)), to_self=to_self,
        sizes=tuple(SizeCount(*size) for size in sorted(sizes)), other_sizes=0, peers=(),
        other_peers=0, unasserted=unasserted,
    )  # fmt: skip


def variable(name: str, value: Count, **facts: object) -> VariableRecord:
    """The record of a variable that has one value in the run."""
    named = {k: facts.pop(k) for k in ("unit", "domain", "expression") if k in facts}
    record = VariableRecord(
        variable=NamedVariable(name=name, **named),  # type: ignore[arg-type]
        first=value, last=value, changes=0,
    )  # fmt: skip
    return replace(record, **facts)  # type: ignore[arg-type]


def rank_record(
    paths: Sequence[PathRecord],
    *,
    rank: int = 0,
    ranks: int = 1,
    run: str = "r1",
    variables: Sequence[VariableRecord] = (),
    calls: Sequence[CallRecord] = (),
    losses: Sequence[RecordLoss] = (),
    complete: bool = True,
    program: str = "cg",
) -> AssertionRecord:
    """The record of a rank."""
    return AssertionRecord(
        run=run, rank=rank, ranks=ranks, program=program, host="node1", started=1.7e9,
        seconds=0.5, complete=complete, variables=tuple(variables), paths=tuple(paths),
        calls=tuple(calls), losses=tuple(losses),
    )  # fmt: skip


def written(folder: Path, records: Sequence[AssertionRecord]) -> Path:
    """The folder with the files of records, named as the library names them."""
    folder.mkdir(exist_ok=True)
    for record in records:
        text = json.dumps(codec.document(record))
        (folder / f"{record.run}.{record.rank}.json").write_text(text, encoding="utf-8")
    return folder


def figure_8(rank: int = 0, ranks: int = 2) -> AssertionRecord:
    """What Alam and Vetter's figure 8 says of a rank, class W: na = 7000 on 2 processes.

    Two calls of conj_grad of 25 iterations each. ``flopbeta`` asserts 2 n + 2, that is l2npcols
    flops more than it does in 44 of 50 visits; what their Power4 counted for ``flopznx`` is data.
    """
    variables = (
        variable("na", 7000), variable("nprocs", 2),
        variable("cgitmax", 25), variable("npcols", 2, expression="2**ceil(log2(nprocs)/2)"),
        variable("l2npcols", 1, expression="log2(npcols)"), variable("n", 3500),
    )  # fmt: skip
    binding = {"n": 3500, "l2npcols": 1}
    papi = "papi:PAPI_FP_OPS"
    norm_calls = (
        call("MPI_Irecv", "recv", [(8, 50)]),
        call("MPI_Send", "send", [(8, 50)]),
    )
    paths = (
        region(0, "conj_grad", 2),
        counted(1, "loop", "cgmain", "cgitmax", [(25, 25)] * 2, parent=0),
        counted(2, "flop", "floprrhopq", "6*n + 1", [(21001, 21001)] * 50, parent=1, counter=papi),
        replace(
            counted(3, "loop", "cj_rho", "l2npcols", [(1, 1)] * 50, parent=1), calls=norm_calls
        ),
        message(4, "recv", "l5rcv", "8", [(8, 50)], parent=3),
        message(5, "send", "l5snd", "8", [(8, 50)], parent=3),
        counted(
            6, "flop", "flopbeta", "2*n + 1 + l2npcols", [(7002, 7002)] * 6 + [(7002, 7001)] * 44,
            parent=1, counter=papi, binding=binding,
        ),
        counted(
            7, "flop", "flopznx", "n + 3", [(3503, 4347)] * 2, parent=0, counter=papi,
            binding={"n": 3500},
        ),
    )  # fmt: skip
    return rank_record(paths, rank=rank, ranks=ranks, variables=variables)
