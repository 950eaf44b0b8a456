"""The array evaluation gives the very doubles of kerncraft, run apart from it."""

import json
import math
import random
import shutil
import subprocess
import sys

import kerncraft_compare
import numpy as np
import pytest
from kerncraft_compare import Reference, exactly_as_kerncraft
from kerncraft_kernels import DAXPY, PIRK, STAR_2D, STAR_3D, SUM, TRIAD, UPDATE
from kerncraft_machines import machine_file

from autotune.models.kerncraft import KerncraftAnalyser, kerncraft_analyser
from autotune.models.kerncraft.ecm_point import reduced

HASWELL = "HaswellEP_E5-2695v3"


@pytest.fixture(scope="module", autouse=True)
def _one_worker():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kerncraft_analyser, "KerncraftPool", kerncraft_compare.one_worker)
        yield


@pytest.fixture(scope="module")
def reference():
    made = Reference()
    yield made
    made.close()


@pytest.fixture(scope="module")
def haswell():
    with KerncraftAnalyser(machine_file(HASWELL)) as analyser:
        yield analyser


@pytest.mark.long
def test_haswell(tmp_path, reference, haswell):
    exactly_as_kerncraft(
        reference, tmp_path, haswell, machine_file(HASWELL), [DAXPY, STAR_2D, PIRK]
    )


@pytest.mark.long
def test_skylake_with_two_domains_and_a_full_duplex_victim_cache(tmp_path, reference):
    """A socket has several memory domains, and the L3 takes victims."""
    machine = machine_file("SkylakeSP_Gold-6148_SNC")
    with KerncraftAnalyser(machine) as analyser:
        triad, _ = exactly_as_kerncraft(reference, tmp_path, analyser, machine, [TRIAD, STAR_3D])
    times = triad.evaluate({"N": np.array([10**8])}, [10, 20])
    both = times.scaling[0, 0] / 2  # the second domain has a memory too
    assert times.scaling[0, 1] == pytest.approx(both, rel=1e-15)


@pytest.mark.long
def test_zen_2(tmp_path, reference):
    """Transfers overlap, and memory costs a penalty."""
    machine = machine_file("Zen2_EPYC-7452")
    kernels = [SUM, STAR_2D, UPDATE]
    with KerncraftAnalyser(machine) as analyser:
        models = exactly_as_kerncraft(reference, tmp_path, analyser, machine, kernels)
    for model in models:
        assert model.record.overlapping == (True, True, True, False)
        assert model.record.options[-1].penalty > 0


@pytest.mark.long
def test_nothing_that_is_skipped_changes_a_result(tmp_path, reference, haswell):
    """kerncraft is left to do all that the worker skips: least of all the grammar of Intel syntax
    and the list of all dependencies.
    """
    asked = {TRIAD: [{"sizes": {"N": n}, "cores": 3} for n in (100, 10_000, 10**8)]}
    reference.begin(tmp_path / "reference", machine_file(HASWELL), asked, quick=False)
    (model,) = haswell.analyse([TRIAD])
    kerncraft_compare.compare(model, asked[TRIAD], reference.answers()[0])


def test_another_architecture(tmp_path, reference):
    if shutil.which("aarch64-linux-gnu-gcc") is None:
        pytest.skip("optional: no compiler for AArch64")
    machine = machine_file("ARMv8_ThunderX2-CN9980", "aarch64-linux-gnu-gcc")
    with KerncraftAnalyser(machine) as analyser:
        exactly_as_kerncraft(reference, tmp_path, analyser, machine, [TRIAD])


def test_quantities_lose_the_same_bits_as_kerncraft_s():
    chance = random.Random(7)
    values = [chance.uniform(1, 10) * 10 ** chance.randint(0, 7) for _ in range(3000)]
    values += [round(value, chance.randint(0, 3)) for value in values] + [0.0, math.inf]
    program = (
        "import json, sys; from kerncraft.prefixedunit import PrefixedUnit as P\n"
        "print(json.dumps([float(P(v, 'cy/CL').reduced()) for v in json.load(sys.stdin)]))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        input=json.dumps(values), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [reduced(value) for value in values] == json.loads(done.stdout)


# --- layer conditions against the cache simulator -------------------------------------------------

POINTS = {
    DAXPY: [{"N": 1000}, {"N": 9001}, {"N": 60_001}],  # in L1, L2 and L3
    TRIAD: [{"N": 500}, {"N": 5003}],
    STAR_2D: [{"M": 12, "N": 40_001}],  # three rows fit into L3 only
}
"""Away from where a condition begins to hold, with rows long enough that their ends do not count:
each row of b begins and ends within a line, which the simulator sees and layer conditions do not.
"""


@pytest.mark.long
def test_small_sizes_agree_with_the_simulator(tmp_path, reference, haswell):
    asked = {text: [{"sizes": s, "cores": 1} for s in sizes] for text, sizes in POINTS.items()}
    reference.begin(tmp_path / "reference", machine_file(HASWELL), asked, predictor="SIM")
    models = haswell.analyse(list(POINTS))
    for model, points, answers in zip(models, asked.values(), reference.answers(), strict=True):
        for point, answer in zip(points, answers, strict=True):
            times = model.evaluate({n: np.array([s]) for n, s in point["sizes"].items()}, [1])
            assert times.transfers[0, 0] == pytest.approx(
                answer["transfers"], rel=1e-3, abs=1e-3
            ), point


def test_layer_conditions_do_not_see_conflicts(tmp_path, reference, haswell):
    """Nine rows, a power of two apart, fall into the same sets of an L1 with eight ways."""
    asked = {PIRK: [{"sizes": {"N": n}, "cores": 1} for n in (8192, 8192 + 8 * 9)]}
    reference.begin(tmp_path / "reference", machine_file(HASWELL), asked, predictor="SIM")
    (model,) = haswell.analyse([PIRK])
    times = model.evaluate({"N": np.array([8192, 8192 + 8 * 9])}, [1])
    ((conflicting, free),) = reference.answers()
    assert times.transfers[0].tolist() == times.transfers[1].tolist()
    assert times.transfers[1, 0, 0] == pytest.approx(free["transfers"][0], rel=1e-3)
    assert conflicting["transfers"][0] > 3 * times.transfers[0, 0, 0]
