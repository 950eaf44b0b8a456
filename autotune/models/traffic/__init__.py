"""Data traffic of a program: every stream of cache lines with its reuse distance."""

from autotune.models.traffic.reuse_distance import POSITIONS, Floats, Streams
from autotune.models.traffic.schedule import Schedule
from autotune.models.traffic.set_conflicts import Conflict
from autotune.models.traffic.stream_records import Stream, SweepTraffic, Traffic
from autotune.models.traffic.traffic_analyser import TrafficAnalyser, analyse

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
