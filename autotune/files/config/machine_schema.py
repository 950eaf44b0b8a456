"""The sections of a machine file (schema autotune.machine/1), as models."""

from typing import Annotated, Literal

from pydantic import Field

from autotune.domain.machine import Duplex, OverlapRule
from autotune.files.config.calibrations import CalibrationModel
from autotune.files.config.fields import (
    Bandwidth,
    CycleCount,
    Frequency,
    Model,
    Read,
    Size,
    Text,
    Throughput,
    Time,
    quantity,
)
from autotune.files.config.networks import NetworkModel
from autotune.files.config.yaml_document import describe
from autotune.units import Cycles

SCHEMA = "autotune.machine/1"


def _port(value: object) -> str:
    """The name of a port; plain ``0`` is one too."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"{describe(value)} is not the name of a port")
    return str(value)


Port = Annotated[str, Read(_port, "0")]
Share = Annotated[float, Field(ge=0, le=1)]
Penalty = Annotated[Cycles, Read(quantity("cycles", zero=True))]


class CacheModel(Model):
    """One cache."""

    name: Text
    size: Size = Field(description="a size such as 32 KiB: decides which reuse hits this level")
    line: Size = Field(description="a size such as 64 B: the unit of transfers")
    ways: int = Field(ge=1, description="the associativity: decides where padding matters")
    sets: int = Field(ge=1, description="the number of sets; sets x ways x line is the size")
    cores: int = Field(default=1, ge=1)
    inbound: Throughput | None = None
    outbound: Throughput | None = None
    duplex: Duplex | None = None
    write_allocate: bool = True
    write_back: bool = True
    victim: bool = False
    exposed: Share | None = None


class StreamingModel(Model):
    """Raw bandwidth of a streaming kernel."""

    saturated: Bandwidth = Field(description="a bandwidth such as 29.3 GB/s, with all cores")
    single: Bandwidth | None = None


class MemoryModel(Model):
    """The main memory of a NUMA domain."""

    saturated: Bandwidth | None = None
    single: Bandwidth | None = None
    outbound: Bandwidth | None = None
    duplex: Duplex | None = None
    peak: Bandwidth | None = None
    penalty_load: Penalty | None = None
    penalty_store: Penalty | None = None
    benchmarks: dict[str, StreamingModel] = Field(default_factory=dict)
    cores: int = Field(default=1, ge=1)
    exposed: Share | None = None


class PortsModel(Model):
    """Documented in-core throughputs."""

    vector: Size
    loads: float = Field(gt=0)
    stores: float = Field(gt=0)
    memory_operations: float = Field(gt=0)
    adds: float = Field(gt=0)
    multiplies: float = Field(gt=0)
    fused: float = Field(ge=0)
    floating: float = Field(gt=0)
    divide: CycleCount
    issue: float = Field(gt=0)
    latency: Penalty = Cycles(0.0)
    folds: bool = False
    stores_compute: bool = False
    dispatch: int = Field(default=0, ge=0)
    unroll: int = Field(default=1, ge=1)
    shared: list[Literal["floating", "issue"]] = Field(default_factory=list)
    shared_by: int = Field(default=1, ge=1)


class InCoreModel(Model):
    """How the in-core time of a loop is found."""

    osaca: Text | None = None
    approximate: bool = False
    overlapping: list[Port] = Field(default_factory=list)
    non_overlapping: list[Port] = Field(default_factory=list)
    ports: PortsModel | None = None


class StorePathModel(Model):
    """Where the stores of a write-through cache go."""

    throughput: Throughput = Field(description="a throughput such as 5.3 B/cy")
    cores: int = Field(default=1, ge=1)


class OverlapModel(Model):
    """Which parts of a loop's time add up."""

    rule: OverlapRule = "levels"
    store_path: StorePathModel | None = None


class MachineModel(Model):
    """The keys of a machine file."""

    name: Text | None = None
    title: str = ""
    architecture: Literal["x86_64", "aarch64", "ppc64"]
    clock: Frequency = Field(description="a frequency such as 2.3 GHz: turns cycles into seconds")
    cores: int = Field(ge=1, description="how many cores: bounds the number of threads")
    threads_per_core: int = Field(default=1, ge=1)
    sockets: int = Field(default=1, ge=1)
    caches: list[CacheModel] = Field(
        min_length=1, description="the caches from the core outwards: the time of transfers"
    )
    memory: MemoryModel = Field(description="the main memory: the time of transfers from it")
    in_core: InCoreModel = Field(description="osaca or ports: the in-core time of a loop")
    overlap: OverlapModel = OverlapModel()
    compilers: dict[str, Text] = Field(default_factory=dict)
    barrier: Time | None = None
    network: NetworkModel | None = None
    kerncraft: Text | None = None
    calibration: CalibrationModel | None = None
