"""How many threads wait for one another: all at barriers, those within reach at flags."""

import math

import pytest

from autotune.codegen.tree import variant_program
from autotune.domain.problem import Problem
from autotune.domain.variant import Fuse, Interchange, NeighbourSync, Pipeline, Variant
from autotune.files import config
from autotune.models.traffic.traffic_analyser import analyse

JLI = Interchange("lc", ("j", "l", "i"))
FLAGS = NeighbourSync("neighbours")


@pytest.mark.parametrize(
    ("changes", "threads", "expected"),
    [
        ((JLI,), 16, math.inf),
        ((JLI, FLAGS), 16, 3.0),  # 64 rows in 16 blocks of four: the rows beside a block are near
        ((JLI, FLAGS), 64, 3.0),
        ((JLI, Fuse("approx", "update"), Pipeline("k", 64), FLAGS), 16, 5.0),  # seven rows
        ((JLI, Fuse("approx", "update"), Pipeline("k", 64), FLAGS), 4, 3.0),
    ],
)
def test_threads_within_reach(changes, threads, expected) -> None:
    method = config.method("radau-iia-7")
    at = Problem(ivp=config.ivp("heat2d"), method=method, correctors=6, size=64)
    made = Variant(skeleton="pirk", transformations=changes, parameters={})
    program = variant_program.program(made, config.skeleton("pirk"), at)
    traffic = analyse(program, at, threads, config.machine("haswell-e5-2630v3"))
    assert traffic.meeting == expected
