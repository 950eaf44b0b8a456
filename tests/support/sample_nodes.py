"""Machines that tests predict for: one calibrated, one from documents only."""

from dataclasses import replace

from autotune.domain.calibration import BandwidthCurve, Calibration
from autotune.domain.machine import CacheLevel, InCore, Machine, Memory

KIB, MIB = 1024, 1024 * 1024


def documented(exposed: float = 1.0, **memory: float) -> Machine:
    """Three caches and memory, figures from documents; 64 B/cy, 32 B/cy, 40 GB/s, 10 GB/s."""
    shared = {"saturated": 40e9, "single": 10e9} | memory
    return Machine(
        name="documented",
        architecture="x86_64",
        clock=2e9,
        cores=4,
        caches=(
            CacheLevel(name="L1", size=32 * KIB, line=64, ways=8, cores=1),
            CacheLevel(
                name="L2", size=256 * KIB, line=64, ways=8, cores=1, inbound=64, exposed=exposed
            ),
            CacheLevel(
                name="L3", size=8 * MIB, line=64, ways=16, cores=4, inbound=32, exposed=exposed
            ),
        ),
        memory=Memory(cores=4, exposed=exposed, **shared),
        in_core=InCore(osaca="HSW"),
        barrier=1e-6,
    )


def calibrated(exposed: float = 0.0) -> Machine:
    """The same, measured at 1, 2 and 4 threads: 32, 16, 8 B/cy, then 4 / threads from memory."""
    sizes = (16 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, 2 * MIB, 8 * MIB, 64 * MIB, 256 * MIB)
    curves = tuple(
        BandwidthCurve(
            threads=threads,
            working_set=sizes,
            bandwidth=(64, 32, 32, 16, 16, 16, memory, memory),
            spread=(0.02,) * len(sizes),
        )
        for threads, memory in ((1, 4.0), (2, 3.0), (4, 2.0))
    )
    return replace(
        documented(),
        calibration=Calibration(
            identity="x",
            taken="2025-01-01T00:00:00Z",
            seconds=30,
            clock=3e9,
            clock_spread=0.01,
            curves=curves,
            barriers={2: 5e-7, 4: 1e-6},
            exposed={"L2": exposed, "L3": exposed, "MEM": exposed},
            contended=False,
            priority="nice",
            compiler="gcc",
        ),
    )
