"""The lines that are counted, beside a simulation of the caches under the generated program."""

import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "traffic.py"


def test_far_from_the_borders_of_a_cache_counted_lines_are_those_of_the_simulation() -> None:
    family = "IVP, loop orders"
    options = ["--parts", "lines", "--quick", "--scale", "8", "--seed", "1", "--only", family]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if "away from borders" in line]
    assert rows
    for row in rows:
        median = row.partition("away from borders")[2].partition("median")[2].split(",")[0]
        assert float(median) < 0.5, row
