"""The measuring program, C or mpi4py: how it is made, what it is told, what it prints."""

import importlib.util
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from autotune.domain.network import OPERATIONS, Operation
from autotune.domain.variant import Build
from autotune.errors import Fault, MissingTool, WorkFailed
from autotune.toolchain import build_cache, compiler, mpi
from autotune.toolchain.mpi import Mpi
from autotune.units import Bytes

BUILD = Build(compiler="gcc", flags=("-O2",))
_COMPILE_LIMIT = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkProgram:
    """What every rank runs."""

    kind: Literal["c", "mpi4py"]
    command: tuple[str, ...]
    note: str = ""
    """Why it is not the compiled one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkStart:
    """The ranks are there."""

    ranks: int
    cores: int
    library: str
    priority: str
    hosts: tuple[str, ...]
    """Of each rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedSample:
    """One sample as the program prints it."""

    operation: Operation
    bytes: Bytes
    seconds: float
    count: int
    busy: tuple[float, ...]
    taken: float


def provide(found: Mpi) -> BenchmarkProgram:
    """Build the C program, or take mpi4py's where there is no mpicc.

    Raises MissingTool without either, WorkFailed when the compiler refuses.
    """
    if found.mpicc is None:
        return _python(found)
    flags, link = mpi.compile_flags(found, "comm bench")
    built = build_cache.build(
        {"bench.c": _text("bench.c")},
        compiler.find(BUILD, "comm bench"),
        extra_flags=flags,
        link=(*link, "-lm"),
        limit=_COMPILE_LIMIT,
    )
    if built.executable is None:
        raise WorkFailed(f"the benchmark cannot be built with {found.mpicc}: {built.detail}")
    return BenchmarkProgram(kind="c", command=(str(built.executable),))


def _python(found: Mpi) -> BenchmarkProgram:
    if importlib.util.find_spec("mpi4py") is None:
        fault = Fault(
            where="comm bench",
            found=f"{found.title} has no mpicc, and mpi4py is not installed",
            expected="one of them",
            hint=f"{sys.executable} -m pip install mpi4py, or {mpi.INSTALL}",
        )
        raise MissingTool(fault)
    script = resources.files("autotune.measuring.network") / "runtime" / "bench_mpi4py.py"
    return BenchmarkProgram(
        kind="mpi4py",
        command=(sys.executable, str(script)),
        note=f"{found.title} has no mpicc: measured through mpi4py",
    )


def _text(name: str) -> str:
    return (resources.files("autotune.measuring.network") / "runtime" / name).read_text(
        encoding="utf-8"
    )


def arguments(
    points: Sequence[tuple[Operation, int]],
    *,
    least: float,
    until: float,
    tries: int,
    busy: float,
    buffers: int,
) -> list[str]:
    """The arguments for these samples, in this order; see bench.c."""
    limits = [f"{least:.6g}", f"{until:.6g}", str(tries), f"{busy:.4g}", str(buffers)]
    return [*limits, *(f"{operation}:{size}" for operation, size in points)]


def parse(line: str) -> BenchmarkStart | PrintedSample | Literal["end"] | None:
    """What a printed line says; None for a line of something else, such as a launcher's banner."""
    if not line.lstrip().startswith('{"kind"'):
        return None
    try:
        row = json.loads(line)
        return _parsed(row)
    except (ValueError, KeyError, TypeError):
        return None


def _parsed(row: Mapping[str, object]) -> BenchmarkStart | PrintedSample | Literal["end"] | None:
    if row["kind"] == "end":
        return "end"
    if row["kind"] == "start":
        return BenchmarkStart(
            ranks=int(str(row["ranks"])),
            cores=int(str(row["cores"])),
            library=str(row["library"]),
            priority=str(row["priority"]),
            hosts=tuple(map(str, _list(row["hosts"]))),
        )
    operation = next((name for name in OPERATIONS if name == row["operation"]), None)
    if operation is None:
        return None
    return PrintedSample(
        operation=operation,
        bytes=Bytes(int(str(row["bytes"]))),
        seconds=float(str(row["seconds"])),
        count=int(str(row["count"])),
        busy=tuple(float(str(share)) for share in _list(row["busy"])),
        taken=float(str(row["taken"])),
    )


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError
    return value
