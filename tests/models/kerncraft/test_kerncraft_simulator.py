"""Layer conditions against kerncraft's cache simulator."""

import numpy as np
import pytest
from kerncraft_compare import Reference
from kerncraft_kernels import DAXPY, PIRK, STAR_2D, TRIAD
from kerncraft_machines import machine_file

from autotune.models.kerncraft import KerncraftAnalyser

POINTS = {
    DAXPY: [{"N": 1000}, {"N": 9001}, {"N": 60_001}],  # in L1, L2 and L3
    TRIAD: [{"N": 500}, {"N": 5003}],
    STAR_2D: [{"M": 12, "N": 40_001}],  # three rows fit into L3 only
}
"""Away from where a condition begins to hold, with rows long enough that their ends do not count:
each row of b begins and ends within a line, which the simulator sees and layer conditions do not.
"""


@pytest.mark.long
def test_small_sizes_agree_with_the_simulator(tmp_path):
    machine = machine_file("HaswellEP_E5-2695v3")
    asked = {text: [{"sizes": s, "cores": 1} for s in sizes] for text, sizes in POINTS.items()}
    reference = Reference(tmp_path / "reference", machine, asked, predictor="SIM")
    with KerncraftAnalyser(machine) as analyser:
        models = analyser.analyse(list(POINTS))
    for model, points, answers in zip(models, asked.values(), reference.answers(), strict=True):
        for point, answer in zip(points, answers, strict=True):
            times = model.evaluate({n: np.array([s]) for n, s in point["sizes"].items()}, [1])
            assert times.transfers[0, 0] == pytest.approx(
                answer["transfers"], rel=1e-3, abs=1e-3
            ), point


def test_layer_conditions_do_not_see_conflicts(tmp_path):
    """Nine rows, a power of two apart, fall into the same sets of an L1 with eight ways."""
    machine = machine_file("HaswellEP_E5-2695v3")
    asked = {PIRK: [{"sizes": {"N": n}, "cores": 1} for n in (8192, 8192 + 8 * 9)]}
    reference = Reference(tmp_path / "reference", machine, asked, predictor="SIM")
    with KerncraftAnalyser(machine) as analyser:
        (model,) = analyser.analyse([PIRK])
    times = model.evaluate({"N": np.array([8192, 8192 + 8 * 9])}, [1])
    ((conflicting, free),) = reference.answers()
    assert times.transfers[0].tolist() == times.transfers[1].tolist()
    assert times.transfers[1, 0, 0] == pytest.approx(free["transfers"][0], rel=1e-3)
    assert conflicting["transfers"][0] > 3 * times.transfers[0, 0, 0]
