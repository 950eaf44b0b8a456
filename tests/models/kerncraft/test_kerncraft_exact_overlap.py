"""kerncraft's doubles where transfers overlap and memory costs a penalty."""

import pytest
from kerncraft_compare import exactly_as_kerncraft
from kerncraft_kernels import STAR_2D, SUM, UPDATE
from kerncraft_machines import machine_file


@pytest.mark.long
def test_zen_2(tmp_path):
    models = exactly_as_kerncraft(tmp_path, machine_file("Zen2_EPYC-7452"), [SUM, STAR_2D, UPDATE])
    for model in models:
        assert model.record.overlapping == (True, True, True, False)
        assert model.record.options[-1].penalty > 0
