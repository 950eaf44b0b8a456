"""Building and verifying candidates in parallel, while nothing is being timed.

One compiler beside the launches makes them 5 to 15 % longer on two cores
(``benchmarks/builder_beside.py``).
"""

import errno
import math
import os
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import NamedTuple

from autotune import paths
from autotune.domain.results import Prepared
from autotune.domain.variant import Candidate
from autotune.measuring.conditions import quiet
from autotune.tuning.base import Bench

_SOON = 0.02
"""Seconds between two looks at whether interrupted work has ended."""
_ROOM = 1 << 20
"""Bytes: with less a build or a state that is to be verified fails for want of room."""


class _Spent(NamedTuple):
    """Wall time of the preparation of a candidate and, as a part of it, of its verification."""

    whole: float
    verifying: float


def prepare(candidates: Sequence[Candidate], bench: Bench, deadline: float) -> list[Prepared]:
    """Build and verify candidates in parallel; none is begun after the deadline.

    Candidates not begun, or not finished by then, are missing in the result, but for those that ran
    for too long already: neither the deadline nor an interrupt waits for a compiler, running
    processes are ended. Raises OSError if a disk is full, since that is not a fault of the
    candidate whose build then fails.
    """
    began = time.monotonic()
    done: dict[str, Prepared] = {}
    spent: list[_Spent] = []

    def enter(prepared: Prepared) -> None:
        check_space(prepared)
        bench.journal.prepared(prepared)
        done[prepared.candidate.identity] = prepared

    def show(number: int) -> None:
        built = next((c.label for c in candidates if c.identity not in done), "")
        bench.progress("build and verify", number, len(candidates), built)

    if not candidates:
        return []
    with bench.lock.building(), ThreadPoolExecutor(max_workers=quiet.cpus()) as pool:
        bench.clock.timed("wait", began)
        started = time.monotonic()
        futures = [pool.submit(_begin, c, bench, deadline, spent) for c in candidates]
        show(0)
        try:
            finished = as_completed(futures, timeout=_left(deadline))
            for number, future in enumerate(finished, start=1):
                prepared = future.result()
                if prepared is not None:
                    enter(prepared)
                    show(number)
        except BaseException as reason:
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(future.done() for future in futures):
                bench.measurer.interrupt()
                time.sleep(_SOON)
            if not isinstance(reason, TimeoutError) or time.monotonic() < deadline:
                raise
            for prepared in _timed_out(futures):
                enter(prepared)
    bench.clock.divided(_shares(spent), started)
    return [done[c.identity] for c in candidates if c.identity in done]


def _begin(
    candidate: Candidate, bench: Bench, deadline: float, spent: list[_Spent]
) -> Prepared | None:
    """Build and verify a candidate before the deadline; enters what time it took."""
    begun = time.monotonic()
    if begun >= deadline:
        return None
    prepared = bench.measurer.prepare(candidate)
    spent.append(_Spent(time.monotonic() - begun, prepared.verifying))
    return prepared


def _timed_out(futures: Sequence[Future[Prepared | None]]) -> list[Prepared]:
    """Of candidates that were interrupted, those that are known to take too long."""
    ended = [f for f in futures if not f.cancelled() and f.exception() is None]
    results = [future.result() for future in ended]
    return [prepared for prepared in results if prepared and prepared.status == "timed-out"]


def _shares(spent: Sequence[_Spent]) -> dict[str, float]:
    """The shares of building and verifying in the time of some candidates."""
    whole = sum(seconds.whole for seconds in spent)
    share = sum(seconds.verifying for seconds in spent) / whole if whole > 0 else 0.0
    return {"build": 1 - share, "verify": share}


def _left(deadline: float) -> float | None:
    """Seconds until the deadline; None if there is none."""
    return None if math.isinf(deadline) else max(0.0, deadline - time.monotonic())


def check_space(prepared: Prepared) -> None:
    """Raise OSError (ENOSPC) if a candidate failed because a disk was full."""
    if prepared.status not in ("build-failed", "crashed", "unreadable"):
        return
    folder = paths.cache_dir()
    disk_full = prepared.status == "build-failed" and os.strerror(errno.ENOSPC) in prepared.detail
    if disk_full or (folder.exists() and shutil.disk_usage(folder).free < _ROOM):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
