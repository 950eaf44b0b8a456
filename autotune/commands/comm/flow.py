"""MPI cost curves, from the measurement to the network model of a machine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autotune import paths
from autotune.domain.cost_curve import Operation
from autotune.domain.machine import Machine
from autotune.domain.network import Network
from autotune.errors import Fault, InputError, nearest
from autotune.files import config
from autotune.measuring.host import detect, stored_calibrations
from autotune.measuring.network import curve_fit, foreign_output, mpi_benchmark, samples
from autotune.measuring.network.curve_fit import FittedCurve
from autotune.measuring.network.foreign_output import ImportedSamples, Tool
from autotune.measuring.network.mpi_benchmark import BenchmarkPlan, BenchmarkResult
from autotune.measuring.network.samples import BenchmarkRun, RecordedRun, SampleWriter
from autotune.progress import Progress
from autotune.units import counted

HOST = "host"


def bench(plan: BenchmarkPlan, path: Path, progress: Progress) -> BenchmarkResult:
    """Measure on this host and append the samples to the file ``path``."""
    return mpi_benchmark.bench(plan, path, stored_calibrations.identity(detect.detect()), progress)


def measure_host(machine: Machine, plan: BenchmarkPlan, progress: Progress) -> Network:
    """Measure what a plan says on this host, fit it, and keep the curves beside its calibration.

    The samples stay in the user's data folder; earlier samples of the same points under the same
    conditions are used too. Other curves of the host stay as they are. If all samples of an
    operation were contended, no curve can be fitted; the progress reports that, and the operation
    gets no curve.
    """
    identity = stored_calibrations.identity(machine)
    path = stored_calibrations.network_location(identity).with_suffix(".jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    benched = mpi_benchmark.bench(plan, path, identity, progress)
    recorded = samples.read([path])
    network = stored_calibrations.stored_network(machine) or Network(
        title=f"measured on {machine.title}"
    )
    for operation in plan.operations:
        try:
            fitted = curve_fit.fit(_alike(recorded, benched.run, operation))
        except InputError as error:
            progress("measure MPI on this host", 1, 1, f"no curve: {error}")
            continue
        network = network.updated(tuple(curve.curve for curve in fitted))
        stored_calibrations.save_network(machine, network)
    return network


def _alike(
    recorded: Sequence[RecordedRun], run: BenchmarkRun, operation: Operation
) -> list[RecordedRun]:
    """The samples of an operation in runs of the same ranks under the same conditions."""
    ours = (run.nodes, run.ranks, run.conditions)
    return [
        RecordedRun(
            recording.run, [sample for sample in recording.samples if sample.operation == operation]
        )
        for recording in recorded
        if (recording.run.nodes, recording.run.ranks, recording.run.conditions) == ours
    ]


def fit(
    files: Sequence[Path], *, contended: bool, output: Path | None, host: bool
) -> tuple[list[FittedCurve], Path | None]:
    """The curves fitted to files of samples, and the network file that they were written to, or
    None.

    Curves of other operations, nodes and ranks stay in that file. Raises InputError if samples of
    another machine would become curves of this host.
    """
    recorded = samples.read(files)
    fitted = curve_fit.fit(recorded, contended=contended)
    curves = tuple(fitted_curve.curve for fitted_curve in fitted)
    if output is not None:
        before = config.read_network(output) if output.exists() else Network()
        write(output, config.dump_network(before.updated(curves)))
        return fitted, output
    if not host:
        return fitted, None
    machine = detect.detect()
    ours = stored_calibrations.identity(machine)
    for fitted_curve in recorded:
        if fitted_curve.run.machine not in ("", ours):
            fault = Fault(
                where="--machine host",
                found=f"samples of another machine, {fitted_curve.run.machine}"
                f" ({', '.join(fitted_curve.run.hosts) or 'unknown'})",
                expected=f"samples of this host, {ours}",
                hint="write a file of its own with -o",
            )
            raise InputError(fault)
    before = stored_calibrations.stored_network(machine) or Network(
        title=f"measured on {machine.title}"
    )
    return fitted, stored_calibrations.save_network(machine, before.updated(curves))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCurves:
    """The curves to show, with the fits they come from if they are fitted here from samples."""

    title: str
    network: Network
    fitted: tuple[FittedCurve, ...] = ()


def show(name: str) -> ShownCurves:
    """Curves by name: of a machine, of ``host``, of a machine or network file, or fitted to
    samples.

    Raises InputError if there are no curves.
    """
    path = Path(name)
    if path.is_file() and not name.endswith((".yaml", ".yml")):
        fitted = tuple(curve_fit.fit(samples.read([path])))
        network = Network().updated(tuple(curve.curve for curve in fitted))
        return ShownCurves(title=path.name, network=network, fitted=fitted)
    if path.is_file() and _is_network(path):
        network = config.read_network(path)
        return ShownCurves(title=network.title or path.name, network=network)
    shown = _of_machine(name)
    if shown is None or not shown.curves:
        fault = Fault(
            where=name,
            found="this machine has no network curves",
            hint="autotune comm bench -o FILE; autotune comm fit FILE --machine host",
        )
        raise InputError(fault)
    return ShownCurves(title=shown.title or name, network=shown)


def _of_machine(name: str) -> Network | None:
    if name == HOST:
        return stored_calibrations.stored_network(detect.detect())
    if "/" in name or name.endswith(".jsonl"):
        names = [HOST, *paths.names("machines")]
        if not Path(name).exists():
            fault = Fault(
                where=name, found="there is no such file", hint=nearest(Path(name).name, names)
            )
            raise InputError(fault)
    return config.machine(name, complete=False).network


def _is_network(path: Path) -> bool:
    try:
        head = path.read_text(encoding="utf-8-sig", errors="replace")[:4096]
    except OSError:
        return False
    return "autotune.network/" in head


def load(
    files: Sequence[Path], name: Tool | None, ranks: int | None, nodes: int, output: Path
) -> list[ImportedSamples]:
    """Read the output of other benchmarks and append its samples to ``output``.

    A text that ``output`` has already, or that is named twice, is not appended again, and a note
    says so. If one file is faulty, nothing is appended.
    """
    loaded = [foreign_output.load(path, name, ranks, nodes) for path in files]
    writer = SampleWriter(output)
    try:
        before = samples.read([output]) if output.stat().st_size else []
        imports = _without_repeated(loaded, files, output, before)
        for recorded in (run for imported in imports for run in imported.recorded):
            writer.begin(recorded.run)
            for sample in recorded.samples:
                writer(sample)
    finally:
        writer.close()
    return imports


def _without_repeated(
    loaded: Sequence[ImportedSamples],
    files: Sequence[Path],
    output: Path,
    before: Sequence[RecordedRun],
) -> list[ImportedSamples]:
    """What was loaded, without the tables that are in ``before`` or were loaded already."""
    held = {recorded.run.imported_from for recorded in before}
    imports = []
    for path, imported in zip(files, loaded, strict=True):
        fresh = tuple(r for r in imported.recorded if r.run.imported_from not in held)
        repeated = len(imported.recorded) - len(fresh)
        held |= {recorded.run.imported_from for recorded in fresh}
        note = f"{path} was imported into {output} already: its samples are not added again"
        notes = (*imported.notes, note) if repeated else imported.notes
        imports.append(replace(imported, recorded=fresh, notes=notes))
    return imports


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedNetwork:
    """The network made of several, and which curves of which file others replaced."""

    network: Network
    notes: tuple[str, ...]
    """A line for every curve that was replaced."""


def merge(names: Sequence[str], output: Path, *, last_wins: bool) -> MergedNetwork:
    """The curves of several machines, network files or files of samples in one network file.

    Raises InputError for two different curves of one operation, ranks and nodes, unless
    ``last_wins``: then that of the network named last is kept.
    """
    merged = Network(title="")
    faults: list[Fault] = []
    notes: list[str] = []
    origin: dict[tuple[Operation, int, int], str] = {}
    for name in names:
        shown = show(name)
        for curve in shown.network.curves:
            other = merged.exactly(curve.key)
            if other is not None and other != curve:
                ranks = f"{curve.ranks} ranks on {counted(curve.nodes, 'node')}"
                first = origin[curve.key]
                problem = f"{curve.operation} of {ranks}: {first} has another curve"
                hint = "fit their samples together: autotune comm fit FILES; or --last-wins"
                faults.append(Fault(where=name, found=problem, hint=hint))
                notes.append(
                    f"{curve.operation} of {ranks}: that of {name} replaces that of {first}"
                )
            origin[curve.key] = name
        title = ", ".join(dict.fromkeys(filter(None, (merged.title, shown.network.title))))
        merged = replace(merged.updated(shown.network.curves), title=title)
    if faults and not last_wins:
        raise InputError(*faults)
    write(output, config.dump_network(merged))
    return MergedNetwork(network=merged, notes=tuple(notes))


def write(path: Path, text: str) -> None:
    """Write a file, replacing an earlier one atomically; InputError if that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stored_calibrations.replace_file(path, text)
        path.chmod(0o644)
    except OSError as error:
        fault = Fault(where=str(path), found=f"cannot be written: {error.strerror}")
        raise InputError(fault) from error
