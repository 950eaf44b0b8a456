"""What ``@at.tuned`` costs a call, and what its choice on line loses on real functions.

    python benchmarks/tuned_call.py [--calls 20000] [--repeats 9]

The cost is the least of the repeats, of a function that returns at once. The loss is measured on
functions that compute, beside as many calls of the fastest alone, in turn.
"""

import argparse
import json
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path

import autotune as at

ENTRY = {
    "size": 256, "threads": 1, "candidate": "c", "parameters": {"block": 16}, "compiler": "gcc",
    "flags": [], "seconds": 1e-3, "interval_s": None, "loss_bound": None, "verified": True,
}  # fmt: skip
SECTION = {"machine": {"identity": "m"}, "problem": {"id": "s"}, "ranks": 1, "entries": [ENTRY]}
WISDOM = {"schema": "autotune.wisdom/1", "sections": [SECTION]}
SLOWER = (1.0, 1.1, 1.5, 3.0)
"""Work of the variants, in units of the least."""


def cost(function: Callable[[int], object], calls: int, repeats: int) -> float:
    """Microseconds of a call, the least of the repeats."""
    function(256)
    return min(timeit.repeat(lambda: function(256), number=calls, repeat=repeats)) / calls * 1e6


def costs(calls: int, repeats: int) -> None:
    """Print what a call costs, plain and decorated."""

    def plain(n: int, *, block: int) -> int:
        return n + block

    with tempfile.TemporaryDirectory() as folder:
        wisdom = Path(folder) / "a.wisdom.json"
        wisdom.write_text(json.dumps(WISDOM), encoding="utf-8")
        ways: dict[str, Callable[[int], object]] = {
            "plain": lambda n: plain(n, block=16),
            "size by name": at.tuned(wisdom, size="n")(plain),
            "size by function": at.tuned(wisdom, size=lambda n: n)(plain),
            "size a number": at.tuned(wisdom, size=256)(plain),
        }
        times = {name: cost(way, calls, repeats) for name, way in ways.items()}
        base = times["plain"]
        for name, took in times.items():
            print(f"{name:18}{took:8.2f} us{took / base:8.1f} plain calls")


def loss(order: tuple[float, ...]) -> float:
    """Calls of the best variant that a race lost, against as many of the best alone in turn."""

    def work(units: float) -> None:
        end = time.process_time() + 2e-4 * units
        while time.process_time() < end:
            pass

    variants = [{"units": units} for units in order]
    raced = at.tuned(online=at.OnlineChoice(10.0, variants))(work)
    lost = 0.0
    for _ in range(80):
        began = time.process_time()
        raced()
        middle = time.process_time()
        work(min(order))
        lost += (middle - began) - (time.process_time() - middle)
    return lost / (2e-4 * min(order))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    costs(options.calls, options.repeats)
    print("\nfirst variant   calls of the best lost in 80 calls (bound 10)")
    for first in range(len(SLOWER)):
        order = (SLOWER[first], *(s for k, s in enumerate(SLOWER) if k != first))
        losses = sorted(loss(order) for _ in range(options.repeats))
        print(f"{order[0]:13.1f}{losses[len(losses) // 2]:8.1f} (to {losses[-1]:.1f})")


if __name__ == "__main__":
    main()
