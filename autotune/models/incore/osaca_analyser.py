"""In-core time of sweeps: compiles them, finds the hot loops, looks up OSACA's tables or a port
table.

There are several routes, the best first: OSACA's tables of the architecture; OSACA's tables with a
port table for instructions that they lack; the port table of the machine on the compiled loop; the
port table on the C text. The result names its route, and its interval is wider for later routes.
For ppc64, the compiled loop is that of Debian's cross compiler, where it is installed.

OSACA's answers about instructions and the results of whole sweeps depend only on the assembly and
on the in-core figures of the machine. They are stored on disk under their hashes.
"""

import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from autotune.codegen.c.emit import SweepCode
from autotune.domain.machine import Machine, PortTable
from autotune.domain.variant import Build
from autotune.errors import Fault, InputError, WorkFailed
from autotune.models.incore import incore_cache, sweep_result
from autotune.models.incore.assembly import hot_loops
from autotune.models.incore.assembly.hot_loops import HotLoops
from autotune.models.incore.assembly.instructions import DOUBLE
from autotune.models.incore.assembly.loop_passes import HotLoop
from autotune.models.incore.base import InCoreResult
from autotune.models.incore.cost import library_calls, loop_cost, port_table
from autotune.models.incore.cost.cross_loops import cross_compiler, loop_work, target_flags
from autotune.models.incore.cost.loop_cost import InstructionTables
from autotune.models.incore.cost.measured_rates import measured_rates
from autotune.models.incore.cost.port_table import ComponentWork
from autotune.models.incore.osaca import osaca_architectures
from autotune.models.incore.osaca.osaca_architectures import OsacaArchitecture
from autotune.models.incore.osaca.osaca_client import OsacaWorker, OsacaWorkerFailed
from autotune.models.incore.osaca.osaca_pool import OsacaPool
from autotune.toolchain import build_cache, compiler
from autotune.toolchain.cross_compilers import CrossCompiler
from autotune.units import Cycles, Seconds

Assemble = Callable[[str, Build], str]
"""C text and build to assembly; raises WorkFailed or InputError."""
Progress = Callable[[int, int], None]
"""Called with the number of finished sweeps and of all sweeps."""

_COMPILE_LIMIT = Seconds(60.0)
_LATE = "the time for predictions was over before its compiled loop was looked at"
_BATCH = 32
"""Sweeps whose instructions are looked up together."""


def assemble(text: str, build: Build, where: str = "builds") -> str:
    """The assembly that the compiler of a build makes of a C text, from the build cache if
    possible.

    ``where``: the place in the config that requested the build, for error messages.
    """
    return build_cache.assembly(text, compiler.find(build, where), limit=_COMPILE_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyRegion:
    """A part of an assembly text in which loops are searched."""

    assembly: str
    about: str
    """Everything besides the text that the loops depend on."""
    find: Callable[[str, int], HotLoops]
    """Finds the loops, given the text and the bytes of a scalable vector; raises NoLoop."""


@dataclass(frozen=True, slots=True)
class _PreparedSweep:
    """A compiled sweep: its stored result, else its hot loops, else the reason why it has none."""

    code: SweepCode | None
    state: InCoreResult | HotLoops | str
    key: str = ""


class OsacaAnalyser:
    """In-core times on one machine; a context manager that ends its worker processes.

    Workers start at the first unknown instruction, and end with the thread that started them. The
    constructor raises InputError for a machine without any in-core figures. ``until``: the
    time.monotonic() from which sweeps without a stored result are counted in their C text.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        assemble: Assemble = assemble,
        worker: OsacaWorker | None = None,
        progress: Progress | None = None,
        until: float = math.inf,
    ) -> None:
        self.machine = machine
        self.lasting = True
        """Whether all results so far are in the cache: others may come out better next time."""
        self._until = until
        self._assemble = assemble
        self._progress = progress
        self._architecture = osaca_architectures.find(machine.in_core.osaca)
        self._rates = measured_rates(machine)
        self._calls = self._rates.calls if self._rates else {}
        self._cross = cross_compiler(machine)
        if self._architecture is None and machine.in_core.ports is None:
            raise InputError(_missing(machine))
        workers = [worker] if worker else [OsacaWorker() for _ in range(os.cpu_count() or 1)]
        self._pool = OsacaPool(workers, self._architecture) if self._architecture else None

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
        """End the worker processes."""
        if self._pool:
            self._pool.close()

    def analyse(self, codes: Sequence[SweepCode], build: Build) -> list[InCoreResult]:
        """One result per sweep, in order; several sweeps are compiled at once, and those that are
        compiled are looked up and analysed, some in one batch, while compilers make the next.
        """
        results: list[InCoreResult] = []
        waiting: list[_PreparedSweep] = []
        with ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as pool:
            prepared = pool.map(lambda code: self._prepared(code, build), codes)
            for number, item in enumerate(prepared, start=1):
                waiting.append(item)
                if len(waiting) == _BATCH or number == len(codes):
                    results += self._batch(waiting)
                    waiting = []
                if self._progress:
                    self._progress(number, len(codes))
        return results

    def _batch(self, prepared: Sequence[_PreparedSweep]) -> list[InCoreResult]:
        """The results of some sweeps, whose instructions are looked up together."""
        self.lasting &= all(item.key for item in prepared)
        loops_ = [s.state for s in prepared if isinstance(s.state, HotLoops)]
        looked_up = [loops for loops in loops_ if self._uses_pool(loops.main[0])]
        failed = self._look_up(looked_up)
        return [self._analysed(item, failed, alone=len(looked_up) == 1) for item in prepared]

    def analyse_regions(self, regions: Sequence[AssemblyRegion]) -> list[InCoreResult | str]:
        """One result per region, in order, or the reason why there is none."""
        prepared = []
        for region in regions:
            prepared.append(self._region(region))
            if self._progress:
                self._progress(len(prepared), len(regions))
        hot = [s.state for s in prepared if isinstance(s.state, HotLoops)]
        looked_up = [loops for loops in hot if self._uses_pool(loops.main[0])]
        failed = self._look_up(looked_up)
        return [
            item.state
            if isinstance(item.state, str)
            else self._of_region(item, failed, alone=len(looked_up) == 1)
            for item in prepared
        ]

    def _region(self, region: AssemblyRegion) -> _PreparedSweep:
        key, stored = self._stored(region.assembly, region.about)
        if stored is not None:
            return _PreparedSweep(None, stored, key)
        vector = self._architecture.vector if self._architecture else 16
        try:
            return _PreparedSweep(None, region.find(region.assembly, vector), key)
        except hot_loops.NoLoop as fault:
            return _PreparedSweep(None, str(fault))

    def _of_region(
        self, prepared: _PreparedSweep, failed: OsacaWorkerFailed | None, alone: bool
    ) -> InCoreResult | str:
        try:
            return self._analysed(prepared, failed, alone)
        except InputError as fault:
            return str(fault)

    def _stored(self, assembly: str, what: str) -> tuple[str, InCoreResult | None]:
        """The key of a result in the cache, and the stored result or None."""
        if self._architecture is None:
            return "", None
        ports = self.machine.in_core
        tables = {
            "architecture": repr(self._architecture.name),
            "approximate": ports.approximate,
            "ports": repr(ports.ports),
            **({"rates": repr(self._rates)} if self._rates else {}),
        }
        key = incore_cache.result_key(assembly, what, tables)
        return key, incore_cache.stored_result(key)

    def _prepared(self, code: SweepCode, build: Build) -> _PreparedSweep:
        if self._late():
            return _PreparedSweep(code, _LATE)
        if self._cross is not None:
            return _PreparedSweep(code, self._crossed(code, build, self._cross))
        try:
            assembly = self._assemble(code.text, build)
        except WorkFailed as failure:
            return _PreparedSweep(code, f"not compiled: {failure}")
        except InputError as fault:
            if self._architecture is not None:
                raise
            return _PreparedSweep(code, f"not compiled: {fault}")  # a port table needs no compiler
        key, stored = self._stored(assembly, code.function)
        if stored is not None:
            return _PreparedSweep(code, stored, key)
        try:
            vector = self._architecture.vector if self._architecture else 16
            return _PreparedSweep(code, hot_loops.hot_loops(assembly, code.function, vector), key)
        except hot_loops.NoLoop as fault:
            return _PreparedSweep(code, str(fault))

    def _late(self) -> bool:
        return time.monotonic() >= self._until

    def _uses_pool(self, loop: HotLoop) -> bool:
        """Whether a loop is code of the architecture whose OSACA tables are used."""
        return self._architecture is not None and loop.isa.name == self._architecture.isa

    def _look_up(self, hot: Sequence[HotLoops]) -> OsacaWorkerFailed | None:
        """Look up all instructions of all loops at once; returns the failure of the
        worker, if any.
        """
        if self._pool is None or not hot:
            return None
        try:
            self._pool.facts([item for loops in hot for item in loop_cost.needed_forms(loops)])
        except OsacaWorkerFailed as failure:
            return failure
        return None

    def _analysed(
        self, prepared: _PreparedSweep, failed: OsacaWorkerFailed | None, alone: bool
    ) -> InCoreResult:
        loops, architecture = prepared.state, self._architecture
        if isinstance(loops, InCoreResult):
            return loops
        if isinstance(loops, str):
            assert prepared.code is not None, "what has no loops and no text is not analysed"
            return self._from_source(prepared.code, loops)
        if prepared.code and self._late():
            return self._from_source(prepared.code, _LATE)
        loop = loops.main[0]
        if architecture is None and loop.isa.name != self.machine.architecture and prepared.code:
            reason = f"{loop.isa.name} code is no code of the machine"
            return self._from_source(prepared.code, reason)
        if architecture is None or self._pool is None:
            return self._from_ports(loops, ())
        if loop.isa.name != architecture.isa:
            if self.machine.in_core.ports is None:
                raise InputError(_foreign(self.machine, architecture, loop))
            return self._from_ports(loops, (f"counted in {loop.isa.name} code",))
        try:
            if failed and alone:
                raise failed
            # of a batch that failed, each sweep is asked for by itself: one may be the reason
            facts = self._pool.facts(loop_cost.needed_forms(loops) if failed else ())
        except OsacaWorkerFailed as fault:
            why = failed or fault
            return self._from_ports(loops, (f"OSACA gave no answer ({why}): port table used",))
        tables = InstructionTables(
            architecture=architecture,
            facts=facts,
            forward=self._pool.forward,
            ports=self._table(max(loop.lanes * DOUBLE, 16)),
            suffix=" (nearest)" if self.machine.in_core.approximate else "",
            approximate=self.machine.in_core.approximate,
            rates=self._rates,
        )
        result = sweep_result.result(loops, tables)
        incore_cache.keep_result(prepared.key, result)
        return result

    # --- without OSACA --------------------------------------------------------------------

    def _from_ports(self, loops: HotLoops, notes: Sequence[str]) -> InCoreResult:
        self.lasting = False
        table = self._table(max(loops.main[0].lanes * DOUBLE, 16))
        loop_notes = tuple(note for loop in loops.main for note in loop.notes)
        notes = (*loop_notes, *notes, *self._generic())
        return sweep_result.from_ports(loops, table, notes, self._calls)

    def _crossed(self, code: SweepCode, build: Build, cross: CrossCompiler) -> InCoreResult:
        """By the port table on the loop that a cross compiler makes with the flags of a build, but
        for its own processor; on the C text where there is no such loop.
        """
        if not cross.installed:
            return self._from_source(code, cross.missing)
        if build.compiler != cross.program:
            flags = [flag for flag in build.flags if not flag.startswith("-m")]
            target = [f for f in target_flags(self.machine, cross) if f.startswith("-m")]
            build = Build(compiler=cross.program, flags=(*flags, *target))
        try:
            assembly = self._assemble(code.text, build)
        except (InputError, WorkFailed) as fault:
            return self._from_source(code, f"not compiled: {fault}")
        counted = self._counted(code)
        work = loop_work(assembly, counted.stores, cross.program)
        if isinstance(work, str):
            return self._from_source(code, work)
        how = f"counted in the loop that {cross.program} makes"
        return self._of_work(code, replace(work, chain=counted.chain), how)

    def _counted(self, code: SweepCode) -> ComponentWork:
        """The work of a component by the C text of a sweep."""
        table = self._table(16)
        return port_table.count_source(code.text, table.vector // DOUBLE, table.unroll)

    def _from_source(self, code: SweepCode, reason: str) -> InCoreResult:
        return self._of_work(code, self._counted(code), f"counted in the C text: {reason}")

    def _of_work(self, code: SweepCode, counts: ComponentWork, how: str) -> InCoreResult:
        """The port table's time of the counted work of a sweep, with the functions it calls."""
        table = self._table(16)
        estimate = port_table.estimate(counts, table)
        names = port_table.called_in_source(code.text)
        calls = library_calls.price(names, self._calls)
        return replace(
            estimate,
            T_OL=Cycles(estimate.T_OL + calls.cycles),
            crowded=Cycles((estimate.crowded or 0.0) + calls.cycles),
            vector=int(table.vector),
            calls=float(calls.count),
            notes=(how, *library_calls.notes(names, self._calls), *self._generic()),
        )

    def _table(self, vector: int) -> PortTable:
        return self.machine.in_core.ports or port_table.generic(vector)

    def _generic(self) -> tuple[str, ...]:
        if self.machine.in_core.ports is not None:
            return ()
        return ("port table of a common core: 2 loads, 1 store, 2 fused multiply-adds per cycle",)


# --- faults ------------------------------------------------------------------------------------


def _missing(machine: Machine) -> Fault:
    names = ", ".join(osaca_architectures.ARCHITECTURES)
    name = machine.in_core.osaca
    problem = (
        f"in_core.osaca is {name!r}, which OSACA does not know" if name else "no in-core figures"
    )
    return Fault(
        where=machine.sources.get("in_core", f"machine {machine.name}"),
        found=f"{problem}, and there is no port table",
        expected=f"in_core.osaca (one of {names}) or in_core.ports",
    )


def _foreign(machine: Machine, architecture: OsacaArchitecture, loop: HotLoop) -> Fault:
    return Fault(
        where=f"machine {machine.name}",
        found=f"the compiler makes {loop.isa.name} code, the machine is {architecture.isa}",
        expected="a compiler for the machine (builds), or in_core.ports in the machine file",
    )
