"""The in-core route of a kernel: one rule for all machines.

1. OSACA, by kerncraft, on the loop as it compiles the kernel: where OSACA has tables of the machine
   and a compiler makes its code, that of this host or a cross compiler of Debian.
2. Else, or where kerncraft has no trustworthy result for the compiled loop, a port table on the C
   text of the kernel: that of the machine, or that of a common core. For ppc64, on the loop that
   the cross compiler of Debian makes of that text, where it is installed.

Traffic is kerncraft's own in both cases. Every model says which route gave its in-core time.
"""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

from autotune.domain.machine import Machine
from autotune.files.kerncraft.kerncraft_text import kerncraft_text, with_compilers
from autotune.models.incore.base import InCoreResult
from autotune.models.incore.cost import port_table
from autotune.models.incore.cost.cross_loops import cross_compiler, target_flags
from autotune.models.incore.cost.port_table import ComponentWork
from autotune.models.incore.osaca import osaca_architectures
from autotune.models.kerncraft.cross_counts import compiled_work
from autotune.models.kerncraft.ecm_times import EcmTimes
from autotune.models.kerncraft.kerncraft_analyser import KerncraftAnalyser, StatedCycles
from autotune.models.kerncraft.kerncraft_model import EcmModel
from autotune.models.kerncraft.kerncraft_record import LineTransfers
from autotune.toolchain.cross_compilers import CROSS_COMPILERS, is_host
from autotune.units import Bytes

_DOUBLE = 8
_ELEMENT = re.compile(r"(\w+)((?:\[[^\]]*\])*)\[([^\]]*)\]")
_TARGET = re.compile(r"^\s*(\w+)\[([^\]]*)\] \+?= ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RoutedModel:
    """The ECM model of a kernel, with the route that gave its in-core time."""

    alone: EcmModel
    in_core: str
    crowded: EcmModel | None = None
    """With the cores that share units with this one running too; None: as ``alone``."""
    counted: bool = False
    """Whether the in-core time is that of a port table."""

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the sizes that ``evaluate`` needs, sorted."""
        return self.alone.constants

    def evaluate(
        self, sizes: Mapping[str, npt.NDArray[np.int64]], cores: Sequence[int]
    ) -> EcmTimes:
        """The times of S sizes on each number of cores; see ``EcmModel.evaluate``."""
        if self.crowded is not None and min(cores) > 1:
            return self.crowded.evaluate(sizes, cores)
        return self.alone.evaluate(sizes, cores)


@dataclass(frozen=True, slots=True)
class CompilerRoute:
    """Whether kerncraft can analyse compiled loops of a machine."""

    compilers: Mapping[str, str]
    """Compilers on PATH that make code of the machine, with their flags."""
    missing: str = ""
    """Why it cannot; empty where it can."""


def compiler_route(machine: Machine) -> CompilerRoute:
    """The compilers by which kerncraft can analyse loops of a machine, or what is missing."""
    if machine.in_core.osaca is None:
        return CompilerRoute({}, f"OSACA has no tables of {machine.name}")
    listed = machine.compilers
    if is_host(machine.architecture):
        present = {name: flags for name, flags in listed.items() if shutil.which(name)}
        if present or not listed:
            return CompilerRoute(present)
        return CompilerRoute({}, f"no compiler is installed of {', '.join(listed)}")
    cross = CROSS_COMPILERS.get(machine.architecture)
    if cross is None:
        return CompilerRoute({}, f"no compiler for {machine.architecture} is known")
    if not cross.installed:
        return CompilerRoute({}, cross.missing)
    return CompilerRoute({cross.program: listed.get("gcc", "-O3")})


class KernelRoutes:
    """Makes ECM models of kernels on one machine by the rule above; a context manager.

    ``progress`` is called with the numbers of finished kernels and of all kernels to be analysed.
    """

    def __init__(
        self, machine: Machine, *, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self._machine = machine
        self._route = compiler_route(machine)
        self._kerncraft = KerncraftAnalyser(_machine_text(machine, self._route), progress=progress)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._kerncraft.close()

    def analyse(self, sources: Sequence[str]) -> list[RoutedModel | str]:
        """One model per kernel in kerncraft's C, in order, or the reason why there is none."""
        first: list[EcmModel | str] = [self._route.missing] * len(sources)
        if not self._route.missing:
            first = [*self._kerncraft.analyse(sources)]
        reasons = {
            text: model
            for text, model in zip(sources, first, strict=True)
            if isinstance(model, str)
        }
        counted = self._counted(reasons)
        return [
            counted[text] if isinstance(model, str) else RoutedModel(model, _compiled(self, model))
            for text, model in zip(sources, first, strict=True)
        ]

    def transfers(self, lines: Sequence[tuple[float, float]]) -> LineTransfers | str:
        """The transfers of lines loaded and stored in a line of work, or why there are none."""
        return self._kerncraft.transfers(lines)

    @property
    def osaca(self) -> str | None:
        """OSACA's name of the architecture of the machine."""
        return self._machine.in_core.osaca

    def _counted(self, reasons: Mapping[str, str]) -> dict[str, RoutedModel | str]:
        """The models of kernels whose work in the core is counted in their text; ``reasons``: why,
        by text.
        """
        figures = {text: counted_times(text, self._machine) for text in reasons}
        texts = [*reasons, *reasons]
        stated = [f.alone for f in figures.values()] + [f.crowded for f in figures.values()]
        models = self._kerncraft.analyse(texts, stated) if texts else []
        alone, crowded = models[: len(reasons)], models[len(reasons) :]
        result: dict[str, RoutedModel | str] = {}
        for (text, reason), free, both in zip(reasons.items(), alone, crowded, strict=True):
            if isinstance(free, str) or isinstance(both, str):
                why = free if isinstance(free, str) else str(both)
                result[text] = why if self._route.missing else reason
            else:
                why = reason.removeprefix("kerncraft: ")
                route = f"{figures[text].route} ({why})"
                result[text] = RoutedModel(
                    free, route, None if both == free else both, counted=True
                )
        return result


def _compiled(routes: KernelRoutes, model: EcmModel) -> str:
    return (
        f"in-core by OSACA ({routes.osaca}) on the loop as kerncraft compiles it"
        f" ({model.record.compiler}), whatever the build of the candidate"
    )


def _machine_text(machine: Machine, route: CompilerRoute) -> str:
    """The machine file for kerncraft: with the compilers of the route, or without in-core part."""
    if route.missing:
        return kerncraft_text(machine, in_core=False)
    if is_host(machine.architecture):
        return kerncraft_text(machine)
    return with_compilers(kerncraft_text(machine), route.compilers)


# --- counted in the text ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CountedTimes:
    """In-core times of a kernel counted in its C text, in cycles per line of work."""

    alone: StatedCycles
    crowded: StatedCycles
    """While the cores that share units with this one are running too."""
    route: str


def counted_times(text: str, machine: Machine) -> CountedTimes:
    """The in-core times of a kernel by a port table on its C text.

    A kernel that reads elements which it has written just before stays scalar.
    """
    rows = _rows(text)
    table, whose = machine.in_core.ports, f"the port table of {machine.name}"
    if table is None:
        architecture = osaca_architectures.find(machine.in_core.osaca)
        vector = architecture.vector if architecture else 2 * _DOUBLE
        table, whose = port_table.generic(vector), "a port table of a common core"
    scalar = ""
    if _recurs(rows):
        table = replace(table, vector=Bytes(_DOUBLE))
        scalar = ", one element at a time, without the wait of each for the one before"
    counts = port_table.count_source(rows, table.vector // _DOUBLE, table.unroll)
    where, cross = "on the C text", cross_compiler(machine)
    if cross is not None and cross.installed:
        compiled = compiled_work(text, counts.stores, cross, target_flags(machine, cross))
        if isinstance(compiled, ComponentWork):
            counts, where = compiled, f"on the loop that {cross.program} makes of the C text"
    elif cross is not None:
        where = f"on the C text, as {cross.missing}"
    figures = port_table.estimate(counts, table)
    line = int(machine.line) // _DOUBLE
    return CountedTimes(
        alone=_per_line(figures, float(figures.T_OL), line),
        crowded=_per_line(figures, float(figures.crowded or figures.T_OL), line),
        route=f"in-core by {whose} {where}{scalar}",
    )


def _per_line(figures: InCoreResult, T_OL: float, line: int) -> StatedCycles:
    return StatedCycles(line * max(T_OL, float(figures.T_OL)), line * float(figures.T_nOL))


def _rows(text: str) -> str:
    """The text with every row of an array as an array of its own: ``u[k-1][j][i]`` is
    ``u_km1_j[i]``.
    """

    def row(match: re.Match[str]) -> str:
        outer = match[2].replace("-", "m").replace("+", "p")
        return f"{match[1]}{re.sub(r'[^0-9A-Za-z]+', '_', outer).rstrip('_')}[{match[3]}]"

    declared, _, loops = text.partition("for")
    return declared + "for" + _ELEMENT.sub(row, loops)


def _recurs(rows: str) -> bool:
    """Whether a text reads other elements of a row that it writes."""
    written = {(name, index) for name, index in _TARGET.findall(rows)}
    read = {(name, index) for name, _, index in _ELEMENT.findall(rows.partition("for")[2])}
    return any(name == other and index != place for name, index in written for other, place in read)
