"""A program that prints its CPU time, on a core that it shares with busy processes."""

import math
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import own_programs as own
import pytest

from autotune.domain.results import Sample
from autotune.statistics.launch_times import by_launch, candidate_time, interval
from autotune.statistics.waiting import SPREAD, holds_waiting, least_disturbed

SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
    volatile double sum = 0;
    clock_t begun = clock();
    for (int i = 0; i < 100000 * BLOCK; i++) sum += 1.0 / (i + 1);
    printf("time %.6f s\\n", (double)(clock() - begun) / CLOCKS_PER_SEC);
    printf("sum %d\\n", argc > 1 ? atoi(argv[1]) : 0);
    return 0;
}
"""
LAUNCHES, BUSY = 8, 3


@pytest.fixture
def shared_core() -> Iterator[None]:
    """One core for the test, and processes that are busy on it, in groups of their own."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    command = ["sh", "-c", "while :; do :; done"]
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(BUSY)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
        os.sched_setaffinity(0, cores)


@pytest.mark.usefixtures("shared_core")
def test_cpu_time_is_reported_within_its_samples(tmp_path: Path) -> None:
    """All that its runs waited is not in them: nothing is taken off."""
    settings = own.CONFIG.replace("samples: 1, busy: 0", "samples: 3, busy: 0.95")
    _, measurer, named = own.opened(
        own.put(tmp_path, settings=settings, sources={"tiny.c": SOURCE})
    )
    prepared = measurer.prepare(named["8"])
    assert (prepared.status, prepared.detail) == ("ok", "")
    samples: list[Sample] = []
    for launch in range(LAUNCHES):
        measurer.launch(
            prepared, round_number=launch, launch=launch, expected=None, on_sample=samples.append
        )
    seconds = [sample.seconds for sample in samples]
    holds = holds_waiting([samples])
    launches = list(by_launch(samples).values())
    time, span = candidate_time(launches), interval(launches)
    assert span is not None
    if 2 * sum(sample.undisturbed for sample in samples) < len(samples):
        assert holds != "yes"
    if holds == "unsure":
        low, _ = least_disturbed(samples) or (0.0, 0.0)
        assert time >= low * math.exp(-SPREAD)
        assert span[1] >= min(seconds)
    else:
        assert min(seconds) <= time <= max(seconds)
