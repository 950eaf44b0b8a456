"""In-core time of sweeps: compile, find the hot loop, ask OSACA or a port table.

T_OL is the largest of: the busiest port that is no data port, the front end, the loop-carried
chain. T_nOL is the busiest data port (loads and stores of L1; Scherg et al. 2019, Eq. 6). Both
are in cycles per component of the long dimension.

What OSACA says of a loop depends on the loop and the architecture only, and is kept on disk under
their hash. OSACA runs in a process of its own; where that fails, a port table takes its place and
the result says so.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

from autotune.analysis import incore_arch, incore_cache, incore_pressure, loops, ports
from autotune.analysis.base import InCoreResult
from autotune.analysis.incore_alike import alike
from autotune.analysis.incore_arch import Architecture
from autotune.analysis.incore_client import Reply, Worker, WorkerFailed
from autotune.analysis.incore_isa import DOUBLE
from autotune.analysis.incore_pressure import Uop
from autotune.analysis.loops import HotLoop
from autotune.codegen.emit import SweepCode
from autotune.errors import Fault, InputError, WorkFailed
from autotune.machine import Machine, PortTable
from autotune.toolchain import cache, compiler
from autotune.units import Cycles, Seconds
from autotune.variant import Build

Assemble = Callable[[str, Build], str]
"""C text and build to assembly; raises WorkFailed or InputError."""
Progress = Callable[[int, int], None]
"""Called with the number of sweeps done and of all sweeps."""

_COMPILE_LIMIT = Seconds(60.0)


def assemble(text: str, build: Build, where: str = "builds") -> str:
    """The assembly that the compiler of a build makes of a C text, from the build cache.

    ``where``: the place in the config that asked for the build, for errors.
    """
    return cache.assembly(text, compiler.find(build, where), limit=_COMPILE_LIMIT)


class OsacaAnalyser:
    """In-core times on one machine; a context manager that ends its worker process.

    The worker starts at the first loop that is not known, and ends with the thread that started it.
    Raises InputError, from the constructor, for a machine without any in-core figures.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        assemble: Assemble = assemble,
        worker: Worker | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.machine = machine
        self._assemble = assemble
        self._worker = worker or Worker()
        self._progress = progress
        self._replies: dict[str, Reply | WorkerFailed] = {}
        self._architecture = incore_arch.find(machine.in_core.osaca)
        if self._architecture is None and machine.in_core.ports is None:
            raise InputError(_missing(machine))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker process."""
        self._worker.close()

    def analyse(self, codes: Sequence[SweepCode], build: Build) -> list[InCoreResult]:
        """One result per sweep, in order; the sweeps are compiled several at once."""
        results = []
        with ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as pool:
            texts = [pool.submit(self._compiled, code.text, build) for code in codes]
            for code, text in zip(codes, texts, strict=True):
                results.append(self._analysed(code, text.result()))
                if self._progress:
                    self._progress(len(results), len(codes))
        return results

    def _compiled(self, text: str, build: Build) -> str | WorkFailed:
        try:
            return self._assemble(text, build)
        except WorkFailed as failure:
            return failure
        except InputError as fault:
            if self._architecture is not None:
                raise
            return WorkFailed(str(fault))  # a port table needs no compiler

    def _analysed(self, code: SweepCode, assembly: str | WorkFailed) -> InCoreResult:
        architecture = self._architecture
        try:
            if isinstance(assembly, WorkFailed):
                return self._from_source(code, f"not compiled: {assembly}")
            vector = architecture.vector if architecture else 16
            loop = loops.hot_loop(assembly, code.function, vector)
        except loops.NoLoop as fault:
            return self._from_source(code, str(fault))
        if architecture is None and loop.isa.name != self.machine.architecture:
            return self._from_source(code, f"{loop.isa.name} code is no code of the machine")
        if architecture is None:
            return self._from_ports(loop, ())
        if loop.isa.name != architecture.isa:
            if self.machine.in_core.ports is None:
                raise InputError(_foreign(self.machine, architecture, loop))
            return self._from_ports(loop, (f"counted in {loop.isa.name} code",))
        try:
            return _result(loop, self._asked(loop, architecture), architecture, self.machine)
        except WorkerFailed as fault:
            return self._from_ports(loop, (f"OSACA gave no answer ({fault}): port table used",))

    def _asked(self, loop: HotLoop, architecture: Architecture) -> Reply:
        """OSACA's answer, from memory, disk or the worker, in this order."""
        key = incore_cache.key(loop, architecture)
        if key not in self._replies:
            self._replies[key] = incore_cache.stored(key) or self._fresh(key, loop, architecture)
        reply = self._replies[key]
        if isinstance(reply, WorkerFailed):
            raise reply
        return reply

    def _fresh(self, key: str, loop: HotLoop, architecture: Architecture) -> Reply | WorkerFailed:
        request = {
            "arch": architecture.name,
            "text": loop.text,
            "alike": {
                i.mnemonic: names
                for i in loop.instructions
                if (names := alike(i.mnemonic, loop.isa.name))
            },
        }
        try:
            reply = self._worker.ask(request)
        except WorkerFailed as failure:
            return failure
        incore_cache.keep(key, reply)
        return reply

    def _from_ports(self, loop: HotLoop, notes: Sequence[str]) -> InCoreResult:
        table = self._table(max(loop.lanes * 8, 16))
        found = ports.estimate(ports.count_loop(loop), table)
        return InCoreResult(
            T_OL=found.T_OL,
            T_nOL=found.T_nOL,
            crowded=found.crowded,
            chain=Cycles(0.0),
            bottleneck=found.bottleneck,
            iterations=loop.iterations,
            route="ports",
            approximate=True,
            notes=(*loop.notes, *notes, *self._generic()),
            assembly=loop.text,
            vector=8 * loop.lanes,
            loads=loop.row_loads / loop.iterations,
            stores=loop.row_stores / loop.iterations,
        )

    def _from_source(self, code: SweepCode, reason: str) -> InCoreResult:
        table = self._table(16)
        counts = ports.count_source(code.text, table.vector // DOUBLE, table.unroll)
        found = ports.estimate(counts, table)
        return InCoreResult(
            T_OL=found.T_OL,
            T_nOL=found.T_nOL,
            crowded=found.crowded,
            chain=Cycles(0.0),
            bottleneck=found.bottleneck,
            iterations=1.0,
            route="ports",
            approximate=True,
            notes=(f"counted in the C text: {reason}", *self._generic()),
        )

    def _table(self, vector: int) -> PortTable:
        return self.machine.in_core.ports or ports.generic(vector)

    def _generic(self) -> tuple[str, ...]:
        if self.machine.in_core.ports is not None:
            return ()
        return ("port table of a common core: 2 loads, 1 store, 2 fused multiply-adds per cycle",)


# --- OSACA's answer as a result ----------------------------------------------------------------


def _result(
    loop: HotLoop, reply: Reply, architecture: Architecture, machine: Machine
) -> InCoreResult:
    uops = _uops(reply)
    chain = _number(reply, "chain") if loop.depth else 0.0  # without a loop nothing is carried
    data, other = incore_pressure.split(uops, architecture.data)
    moving, computing = incore_pressure.least(data), incore_pressure.least(other)
    limits = {
        f"port {' '.join(computing.ports)}": computing.cycles,
        f"data port {' '.join(moving.ports)}": moving.cycles,
        "front end": loop.slots / architecture.issue,
        "chain": chain,
    }
    overlapping = max(computing.cycles, limits["front end"], chain)
    gaps = _gaps(loop, reply)
    suffix = " (nearest)" if machine.in_core.approximate else ""
    return InCoreResult(
        T_OL=Cycles(overlapping / loop.iterations),
        T_nOL=Cycles(moving.cycles / loop.iterations),
        chain=Cycles(chain / loop.iterations),
        bottleneck=max(limits, key=lambda name: limits[name]),
        iterations=loop.iterations,
        route=f"osaca:{architecture.name}{suffix}",
        approximate=loop.approximate or machine.in_core.approximate or bool(gaps),
        notes=(*loop.notes, *gaps),
        assembly=loop.text,
        vector=8 * loop.lanes,
        loads=loop.row_loads / loop.iterations,
        stores=loop.row_stores / loop.iterations,
    )


def _gaps(loop: HotLoop, reply: Reply) -> list[str]:
    """Instructions that do work and that OSACA has no figures for."""
    working = {i.mnemonic for i in loop.instructions if i.work != "none" or i.loads or i.stores}
    notes = []
    replaced = reply.get("replaced")
    if isinstance(replaced, dict) and replaced:
        pairs = ", ".join(f"{a} as {b}" for a, b in sorted(replaced.items()))
        notes.append(f"not in OSACA's tables, taken as alike: {pairs}")
    for kind, words in (("unknown", "unknown to OSACA"), ("unbound", "without a port in OSACA")):
        lines = reply.get(kind)
        names = {str(line).split()[0] for line in lines} if isinstance(lines, list) else set()
        if names & working:
            notes.append(f"{words}, counted as nothing: {', '.join(sorted(names & working))}")
    return notes


def _uops(reply: Reply) -> list[Uop]:
    given = reply.get("uops")
    if not isinstance(given, list):
        raise WorkerFailed("an answer without ports")
    return [(float(cycles), frozenset(names)) for cycles, names in given]


def _number(reply: Reply, name: str) -> float:
    value = reply.get(name)
    if not isinstance(value, int | float):
        raise WorkerFailed(f"an answer without {name}")
    return float(value)


# --- faults ------------------------------------------------------------------------------------


def _missing(machine: Machine) -> Fault:
    known = ", ".join(incore_arch.ARCHITECTURES)
    name = machine.in_core.osaca
    found = (
        f"in_core.osaca is {name!r}, which OSACA does not know" if name else "no in-core figures"
    )
    return Fault(
        where=machine.sources.get("in_core", f"machine {machine.name}"),
        found=f"{found}, and there is no port table",
        expected=f"in_core.osaca (one of {known}) or in_core.ports",
    )


def _foreign(machine: Machine, architecture: Architecture, loop: HotLoop) -> Fault:
    return Fault(
        where=f"machine {machine.name}",
        found=f"the compiler makes {loop.isa.name} code, the machine is {architecture.isa}",
        expected="a compiler for the machine (builds), or in_core.ports in the machine file",
    )
