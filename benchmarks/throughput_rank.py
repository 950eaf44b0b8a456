"""How long the whole command ``autotune rank configs/quickstart.yaml`` takes, as a user calls it.

rank    seconds of a process of its own, with the start of Python and all imports, when every
        compiled loop is in the cache; wall time and CPU time with that of its children; goal 1 s

The first call fills the caches and the folders of compiled modules; it is not counted.
"""

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

CONFIG = Path("configs") / "quickstart.yaml"
CALLS = 5
GOAL = 1.0


def measure() -> None:
    """Print the figures."""
    seconds()
    walls, processors = zip(*(seconds() for _ in range(CALLS)), strict=True)
    print(
        f"rank {CONFIG}: wall {spread(walls)} s, CPU {spread(processors)} s,"
        f" second call, {CALLS} processes (goal {GOAL:.0f} s)"
    )


def seconds() -> tuple[float, float]:
    """Wall and CPU seconds of one call."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before, begin = _processor(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "autotune", "rank", str(CONFIG)],
        cwd=Path(__file__).parents[1],
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - begin, _processor() - before


def _processor() -> float:
    """CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spread(values: Sequence[float]) -> str:
    """The median with the range."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} .. {max(values):.2f})"


if __name__ == "__main__":
    measure()
