"""What ``solver.py`` prints and draws of the runs of its solvers."""

import csv
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

OURS = "ours"
"""How the names of our solvers begin."""
_MICRO = 1e6
COLUMNS = (
    "problem", "solver", "tolerance", "error", "evaluations", "seconds", "spread", "seconds_in_f",
)  # fmt: skip
"""Of the file of all runs."""


@dataclass(slots=True)
class SolverRuns:
    """What one solver did with one tolerance."""

    seconds: list[float] = field(default_factory=list)
    inside: list[float] = field(default_factory=list)
    """Seconds in the right-hand side; empty where it is not a function of its own."""
    error: float = math.nan
    evaluations: int = 0

    @property
    def median(self) -> float:
        """Of the seconds."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Half of the range over the median."""
        return (max(self.seconds) - min(self.seconds)) / 2 / self.median

    @property
    def step_time(self) -> float:
        """Seconds of all work over evaluations."""
        return self.median / self.evaluations

    @property
    def side_time(self) -> float | None:
        """Seconds of the right-hand side in an evaluation."""
        return statistics.median(self.inside) / self.evaluations if self.inside else None


Results = Mapping[str, Mapping[float, SolverRuns]]
"""By solver and tolerance."""


def show(results: Results) -> None:
    """Print the runs, then the times at equal error."""
    print(
        f"{'solver':22} {'tolerance':>9} {'seconds':>10} {'':>6} {'error':>8} {'evaluations':>11}"
        f" {'us each':>8} {'in f':>6}"
    )
    for name, by_tolerance in results.items():
        for tolerance, runs in by_tolerance.items():
            side = "" if runs.side_time is None else f"{runs.side_time * _MICRO:6.1f}"
            print(
                f"{name:22} {tolerance:9.0e} {runs.median:10.4f} {runs.spread:6.1%}"
                f" {runs.error:8.1e} {runs.evaluations:11d} {runs.step_time * _MICRO:8.1f} {side}"
            )
    for name in results:
        if not name.startswith(OURS):
            _at_equal_error(name, results)


def _at_equal_error(name: str, results: Results) -> None:
    """Print the time of a peer over that of the fastest of ours, at errors of ours that both
    reach, and of the smallest of these why.
    """
    mine = [by_tolerance for other, by_tolerance in results.items() if other.startswith(OURS)]
    peer, ratios, reason = results[name], [], ""
    for error in sorted(runs.error for ours in mine for runs in ours.values() if runs.error > 0):
        seconds = needed(peer, error, _seconds)
        reached = [(s, ours) for ours in mine if (s := needed(ours, error, _seconds))]
        if seconds and reached:
            least, ours = min(reached, key=lambda item: item[0])
            ratios.append(f"{seconds / least:.2f} at {error:.0e}")
            reason = reason or _reason(peer, ours, error, seconds / least)
    print(f"{name} over ours at equal error: {', '.join(ratios) or 'no common error'}{reason}")


def _reason(
    peer: Mapping[float, SolverRuns], ours: Mapping[float, SolverRuns], error: float, ratio: float
) -> str:
    evaluations, least = needed(peer, error, _evaluations), needed(ours, error, _evaluations)
    assert evaluations
    assert least
    more = evaluations / least
    sides = [runs.side_time / runs.step_time for runs in peer.values() if runs.side_time]
    share = f", of which f is {statistics.median(sides):.0%}" if sides else ""
    return (
        f"\n    at {error:.0e}: {ratio:.2f} = {more:.2f} times the evaluations"
        f" x {ratio / more:.2f} times the time of one{share}"
    )


def _seconds(runs: SolverRuns) -> float:
    return runs.median


def _evaluations(runs: SolverRuns) -> float:
    return float(runs.evaluations)


def needed(
    by_tolerance: Mapping[float, SolverRuns], error: float, amount: Callable[[SolverRuns], float]
) -> float | None:
    """Seconds or evaluations for an error, between tolerances; None outside what was measured."""
    points = sorted(
        (math.log(r.error), math.log(amount(r))) for r in by_tolerance.values() if r.error
    )
    wanted = math.log(error)
    if not points or not points[0][0] <= wanted <= points[-1][0]:
        return None
    return math.exp(float(np.interp(wanted, *zip(*points, strict=True))))


def write_csv(path: Path, problems: Mapping[str, Results]) -> None:
    """Write all runs of all problems, a line each."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for problem, results in problems.items():
            for name, by_tolerance in results.items():
                for tolerance, r in by_tolerance.items():
                    inside = statistics.median(r.inside) if r.inside else ""
                    times = (r.median, r.spread, inside)
                    writer.writerow((problem, name, tolerance, r.error, r.evaluations, *times))


def draw(path: Path, problems: Mapping[str, Results]) -> None:
    """Draw error against seconds, a diagram for each problem."""
    from matplotlib.figure import Figure  # heavy, and needed for pictures alone

    figure = Figure(figsize=(6.0, 4.5 * len(problems)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(problems)))  # type: ignore[call-overload]
    for place, (problem, results) in zip(axes, problems.items(), strict=True):
        for name, by_tolerance in results.items():
            style = "o-" if name.startswith(OURS) else "s--"
            _line(place, name, style, list(by_tolerance.values()))
        place.set(title=problem, xlabel="seconds", ylabel="error", xscale="log", yscale="log")
        place.grid(visible=True, alpha=0.3)
        place.legend(fontsize="x-small")
    figure.savefig(path)


def _line(place: object, name: str, style: str, runs: Sequence[SolverRuns]) -> None:
    seconds, errors = [r.median for r in runs], [r.error for r in runs]
    place.plot(seconds, errors, style, label=name)  # type: ignore[attr-defined]
