"""kerncraft 0.8.18's ECM model of a kernel, for any number of sizes and cores at once.

kerncraft itself runs in a separate process, once per kernel and machine. Its answer is stored by
content hash. Sizes are then evaluated by array arithmetic that gives exactly kerncraft's doubles.
"""

from autotune.models.kerncraft.ecm_times import EcmTimes
from autotune.models.kerncraft.kerncraft_analyser import KerncraftAnalyser, StatedCycles
from autotune.models.kerncraft.kerncraft_model import EcmModel

__all__ = ["EcmModel", "EcmTimes", "KerncraftAnalyser", "StatedCycles"]
