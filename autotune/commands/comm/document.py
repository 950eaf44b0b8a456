"""The documents of ``autotune comm``; times in seconds, sizes in bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autotune.domain.cost_curve import CostCurve
from autotune.measuring.network.curve_fit import FittedCurve
from autotune.measuring.network.foreign_output import ImportedSamples
from autotune.measuring.network.mpi_benchmark import BenchmarkResult
from autotune.measuring.network.samples import BenchmarkRun


@dataclass(frozen=True, slots=True, kw_only=True)
class CommBenchDocument:
    """``autotune comm bench --json``: what was measured."""

    schema: Literal["autotune.comm.bench/1"] = "autotune.comm.bench/1"
    result: BenchmarkResult


@dataclass(frozen=True, slots=True, kw_only=True)
class CommFitDocument:
    """``autotune comm fit --json``: the curves fitted to files of samples."""

    schema: Literal["autotune.comm.fit/1"] = "autotune.comm.fit/1"
    curves: tuple[FittedCurve, ...]
    written: Path | None
    """The network file that holds them now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommShowDocument:
    """``autotune comm show --json``: the curves of a machine."""

    schema: Literal["autotune.comm.show/1"] = "autotune.comm.show/1"
    title: str
    curves: tuple[CostCurve, ...]
    figure: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommMergeDocument:
    """``autotune comm merge --json``: the network of several."""

    schema: Literal["autotune.comm.merge/1"] = "autotune.comm.merge/1"
    title: str
    curves: tuple[CostCurve, ...]
    written: Path
    notes: tuple[str, ...]
    """Which curve of which network was replaced by that of another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """One file of another benchmark with one layout of ranks."""

    tool: str
    run: BenchmarkRun
    operations: tuple[str, ...]
    samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommImportDocument:
    """``autotune comm import --json``: what was read from the output of other benchmarks."""

    schema: Literal["autotune.comm.import/1"] = "autotune.comm.import/1"
    file: Path
    imported: tuple[ImportedRun, ...]
    notes: tuple[str, ...]


def imported(files: Sequence[ImportedSamples], output: Path) -> CommImportDocument:
    """What was read from the output of other benchmarks, and the file that holds it now."""
    return CommImportDocument(
        file=output,
        imported=tuple(
            ImportedRun(
                tool=file.tool,
                run=recorded.run,
                operations=tuple(dict.fromkeys(s.operation for s in recorded.samples)),
                samples=len(recorded.samples),
            )
            for file in files
            for recorded in file.recorded
        ),
        notes=tuple(note for file in files for note in file.notes),
    )
