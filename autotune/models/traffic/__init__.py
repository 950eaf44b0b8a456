"""The data traffic of a program: every stream of cache lines with its reuse distance."""

from autotune.models.traffic.reuse_distance import POSITIONS, Floats, ThreadStreams, Whole
from autotune.models.traffic.schedule import Schedule
from autotune.models.traffic.set_conflicts import SetConflict
from autotune.models.traffic.stream_records import StepTraffic, StreamRecord, SweepTraffic
from autotune.models.traffic.traffic_analyser import TrafficAnalyser, analyse

__all__ = [
    "POSITIONS",
    "Floats",
    "Schedule",
    "SetConflict",
    "StepTraffic",
    "StreamRecord",
    "SweepTraffic",
    "ThreadStreams",
    "TrafficAnalyser",
    "Whole",
    "analyse",
]
