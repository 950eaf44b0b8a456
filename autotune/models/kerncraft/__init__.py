"""kerncraft 0.8.18's ECM model of a kernel, for any number of sizes and cores at once.

kerncraft itself runs in a process of its own, once per kernel and machine. Its answer is kept by
content hash, and sizes are then evaluated by array arithmetic that gives exactly its doubles.
"""

from autotune.models.kerncraft.ecm_times import EcmTimes
from autotune.models.kerncraft.kerncraft_analyser import KerncraftAnalyser
from autotune.models.kerncraft.kerncraft_model import EcmModel

__all__ = ["EcmModel", "EcmTimes", "KerncraftAnalyser"]
