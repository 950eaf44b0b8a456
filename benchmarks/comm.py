"""How well do fitted MPI cost curves predict what they have not seen?

    python benchmarks/comm.py [--ranks 2] [--budget-seconds 60] [--repeats 5] [--full 3]
    python benchmarks/comm.py FILE.jsonl...
    python benchmarks/comm.py --intervals [FILE.jsonl...]

``--intervals``: instead, whether intervals cover ranks that are hidden (``comm_intervals.py``).
Without files, ``autotune comm bench`` is run ``--full`` times, apart in time. For each operation:
the cross-validated relative error of the fit (each fold leaves out one launch and one octave of
sizes; then one full repeat and one octave), median and 90th percentile, beside one line weighted by
1/y^2 and one plain least squares line, on the samples that are no outliers; the same for the chosen
fit with outliers scored; the spread of the launches; and that of the full repeats, each fitted by
itself. The folds also choose the number of pieces. Messages take turns with several buffers, as the
rows that a program exchanges (``autotune.measuring.network.mpi_benchmark``).
"""

import argparse
import dataclasses
import itertools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import comm_intervals
import numpy as np

from autotune.domain.cost_curve import CostCurve
from autotune.measuring.conditions import quiet
from autotune.measuring.host import detect, stored_calibrations
from autotune.measuring.network import curve_fit, mpi_benchmark, samples
from autotune.measuring.network.benchmark_settings import BUDGET, REPEATS
from autotune.measuring.network.curve_fit import FittedCurve
from autotune.measuring.network.curve_validation import ValidationErrors
from autotune.measuring.network.samples import RecordedRun
from autotune.results.report.text_table import columns


def main() -> None:
    arguments = _arguments()
    if arguments.intervals:
        comm_intervals.print_scores([Path(name) for name in arguments.files])
        return
    if others := quiet.other_processes(1.0).note:
        print(others)
    files = [Path(name) for name in arguments.files] or _measured(arguments)
    recorded = samples.read(files)
    print("a fold leaves out one launch and one octave of sizes, and is scored on that launch")
    _print_fits(curve_fit.fit(recorded))
    if len(recorded) > 1:
        print("a fold leaves out one full repeat and one octave, and is scored on that repeat")
        _print_fits(curve_fit.fit([_one_launch(each) for each in recorded]))
        _print_repeats(recorded)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="*")
    parser.add_argument("--intervals", action="store_true")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--budget-seconds", type=float, default=BUDGET)
    parser.add_argument("--full", type=int, default=3)
    parser.add_argument("--apart", type=float, default=20.0, help="seconds between full repeats")
    return parser.parse_args()


def _measured(arguments: argparse.Namespace) -> list[Path]:
    path = Path(tempfile.mkdtemp(prefix="autotune-comm-")) / "samples.jsonl"
    plan = mpi_benchmark.BenchmarkPlan(
        ranks=arguments.ranks, repeats=arguments.repeats, budget_seconds=arguments.budget_seconds
    )
    machine = stored_calibrations.identity(detect.detect())
    for number in range(arguments.full):
        if number:
            time.sleep(arguments.apart)
        found = mpi_benchmark.bench(plan, path, machine, lambda *_: None)
        print(
            f"full repeat {number + 1}: {found.samples} samples, {found.contended} contended,"
            f" {found.launches} launches, {found.seconds:.0f} s"
        )
    print(f"samples in {path}")
    return [path]


def _one_launch(recorded: RecordedRun) -> RecordedRun:
    """The launches of a full repeat as one: their medians are what is scored."""
    return RecordedRun(
        recorded.run, [dataclasses.replace(sample, launch=0) for sample in recorded.samples]
    )


def _print_fits(found: Sequence[FittedCurve]) -> None:
    rows = [
        (
            "operation", "pieces", "error", "with outliers", "weighted line", "plain line",
            "other repeats, same size",
            "between repeats", "samples", "outliers", "contended",
        )
    ]  # fmt: skip
    for one in found:
        pieces = len(one.curve.segments)
        rows.append(
            (
                one.curve.operation,
                str(pieces),
                _both(one.chosen),
                _both(one.disturbed),
                _both(one.validated.errors.get(1)),
                _both(one.validated.plain),
                _both(one.validated.floor),
                "-" if one.spread is None else f"{100 * one.spread:.1f} %",
                str(one.used),
                str(len(one.outliers)),
                str(one.contended),
            )
        )
    print("cross-validated relative error, median / 90th percentile, in per cent")
    print(columns(rows, right=range(1, 11)))


def _print_repeats(recorded: Sequence[RecordedRun]) -> None:
    """Medians of each full repeat, and the fit of one scored on another."""
    runs = [{one.curve.key: one for one in curve_fit.fit([each])} for each in recorded]
    rows = [("operation", "CV of medians: median", "90 %", "worst", "fit of one on another")]
    for key in runs[0]:
        curves = [run[key].curve for run in runs if key in run]
        if len(curves) < 2:
            continue
        times = [dict(curve.points) for curve in curves]
        common = sorted(set.intersection(*map(set, times)))
        values = np.array([[each[size] for size in common] for each in times])
        spread = np.std(values, axis=0, ddof=1) / np.mean(values, axis=0)
        crossed = np.concatenate([_scored(a, b) for a, b in itertools.permutations(curves, 2)])
        rows.append(
            (
                key[0],
                *(f"{100 * np.quantile(spread, q):.1f} %" for q in (0.5, 0.9, 1.0)),
                _both(
                    ValidationErrors(
                        median=float(np.median(crossed)),
                        p90=float(np.quantile(crossed, 0.9)),
                        count=len(crossed),
                    )
                ),
            )
        )
    print(f"{len(recorded)} full repeats")
    print(columns(rows, right=range(1, 5)))


def _scored(curve: CostCurve, other: CostCurve) -> np.ndarray:
    return np.array([abs(curve.at(size) / seconds - 1) for size, seconds in other.points])


def _both(errors: ValidationErrors | None) -> str:
    return "-" if errors is None else f"{100 * errors.median:.1f} / {100 * errors.p90:.1f}"


if __name__ == "__main__":
    main()
