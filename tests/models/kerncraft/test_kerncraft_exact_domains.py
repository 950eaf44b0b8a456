"""kerncraft's doubles where a socket has several memory domains and the L3 takes victims."""

import shutil

import numpy as np
import pytest
from kerncraft_compare import exactly_as_kerncraft
from kerncraft_kernels import STAR_3D, TRIAD
from kerncraft_machines import machine_file


@pytest.mark.long
def test_skylake_with_two_domains_and_a_full_duplex_victim_cache(tmp_path):
    machine = machine_file("SkylakeSP_Gold-6148_SNC")
    triad, _ = exactly_as_kerncraft(tmp_path, machine, [TRIAD, STAR_3D])
    times = triad.evaluate({"N": np.array([10**8])}, [10, 20])
    both = times.scaling[0, 0] / 2  # the second domain has a memory too
    assert times.scaling[0, 1] == pytest.approx(both, rel=1e-15)


def test_another_architecture(tmp_path):
    if shutil.which("aarch64-linux-gnu-gcc") is None:
        pytest.skip("optional: no compiler for AArch64")
    machine = machine_file("ARMv8_ThunderX2-CN9980", "aarch64-linux-gnu-gcc")
    exactly_as_kerncraft(tmp_path, machine, [TRIAD])
