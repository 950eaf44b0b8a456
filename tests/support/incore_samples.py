"""Captured assembly and machines for the in-core tests."""

from pathlib import Path

from autotune.domain.machine import CacheLevel, InCore, Machine, Memory, PortTable
from autotune.units import Bytes, Hertz

ASSEMBLY = Path(__file__).parents[1] / "models" / "incore" / "assembly"

POWER4 = PortTable(
    vector=Bytes(8), loads=2, stores=1, memory_operations=2, adds=2, multiplies=2, fused=2,
    floating=2, divide=28, issue=4,
)  # fmt: skip


def captured(name: str) -> str:
    return (ASSEMBLY / f"{name}.s").read_text(encoding="utf-8")


def machine(
    osaca: str | None = "ZEN3", ports: PortTable | None = None, approximate: bool = False
) -> Machine:
    return Machine(
        name="sample",
        architecture="x86_64",
        clock=Hertz(3e9),
        cores=2,
        caches=(CacheLevel(name="L1", size=Bytes(32768), line=Bytes(64), ways=8, cores=1),),
        memory=Memory(),
        in_core=InCore(osaca=osaca, ports=ports, approximate=approximate),
    )
