"""Functions that tests tune from Python; worker processes import this module, so it is light."""

import ctypes
import os
import random
import sys
import time

SCALE = 3


def seconds(n: float) -> float:
    """A time that no two runs repeat."""
    return 1e-3 * n * (1 + 1e-3 * random.random())


def slow_seconds(n: float) -> float:
    """The same, after a while."""
    time.sleep(0.05)
    return seconds(n)


def work(n: int, fast: bool) -> float:
    """Takes a time that depends on n, and half as long with a switch."""
    time.sleep(0.002 * n * (1 if fast else 2))
    return float(n * 0 + SCALE)


def hard(case: str) -> object:
    """Ends in the way that is asked for."""
    sys.stdout.write(f"told {case}\n")
    if case == "exit":
        os._exit(3)
    if case == "segfault":
        ctypes.string_at(0)
    if case == "hang":
        time.sleep(60)
    if case == "raise":
        raise ValueError("no luck")
    if case == "nonsense":
        return "fast"
    if case == "nan":
        return float("nan")
    return seconds(1)
