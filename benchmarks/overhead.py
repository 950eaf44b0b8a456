"""What autotune itself costs: start-up, ranking, and its share of the main job.

    python benchmarks/overhead.py [--repeats 7] [--no-tune]

Prints minimum, median and maximum of the wall time of ``--help`` and of ``rank`` on a space that
was ranked before, with the least CPU time, and the wall time of the quickstart by stage. Own
overhead is the wall time less the stages calibrate, predict, build and run.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

_CONFIG = Path(__file__).parents[1] / "configs" / "quickstart.yaml"


def main() -> None:
    arguments = _arguments()
    _timed([], 1)
    _timed(["rank", str(_CONFIG)], 1)  # analyse, and calibrate where that was never done
    _show("autotune --help", _timed(["--help"], arguments.repeats), 0.3)
    _show("autotune rank quickstart", _timed(["rank", str(_CONFIG)], arguments.repeats), 1.0)
    if arguments.tune:
        _quickstart()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--tune", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def _timed(command: Sequence[str], repeats: int) -> list[tuple[float, float]]:
    """Wall and CPU seconds of each run."""
    times = []
    for _ in range(repeats):
        started, used = time.perf_counter(), _cpu_seconds()
        subprocess.run(
            [sys.executable, "-m", "autotune", *command], capture_output=True, check=False
        )
        times.append((time.perf_counter() - started, _cpu_seconds() - used))
    return times


def _cpu_seconds() -> float:
    """CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _show(what: str, times: Sequence[tuple[float, float]], goal: float) -> None:
    walls = [wall for wall, _ in times]
    print(
        f"{what}: min {min(walls):.2f} s, median {statistics.median(walls):.2f} s,"
        f" max {max(walls):.2f} s (goal {goal:g} s); CPU min {min(cpu for _, cpu in times):.2f} s"
    )


def _quickstart() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "autotune", "tune", str(_CONFIG), "--json"]
        command += ["--store", f"{folder}/store.sqlite", "--report", f"{folder}/page.html"]
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        outside = time.perf_counter() - started
    stages = json.loads(done.stdout)["timings_s"]
    wall = stages.pop("wall")
    own = outside - sum(stages.values())
    parts = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in stages.items())
    print(f"quickstart: {outside:.1f} s from start to exit ({wall:.1f} s in the tuner): {parts}")
    print(f"own overhead: {own:.1f} s, {100 * own / outside:.1f} % (goal 10 %)")


if __name__ == "__main__":
    main()
