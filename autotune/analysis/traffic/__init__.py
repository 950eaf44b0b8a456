"""Data traffic of a program: every stream of cache lines with its reuse distance."""

from autotune.analysis.traffic.analyser import TrafficAnalyser, analyse
from autotune.analysis.traffic.conflict import Conflict
from autotune.analysis.traffic.distance import POSITIONS, Floats, Streams
from autotune.analysis.traffic.records import Stream, SweepTraffic, Traffic
from autotune.analysis.traffic.schedule import Schedule

__all__ = [
    "POSITIONS",
    "Conflict",
    "Floats",
    "Schedule",
    "Stream",
    "Streams",
    "SweepTraffic",
    "Traffic",
    "TrafficAnalyser",
    "analyse",
]
