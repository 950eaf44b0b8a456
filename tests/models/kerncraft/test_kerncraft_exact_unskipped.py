"""kerncraft's doubles where it is left to do all that the worker skips."""

import pytest
from kerncraft_compare import Reference, compare
from kerncraft_kernels import TRIAD
from kerncraft_machines import machine_file

from autotune.models.kerncraft import KerncraftAnalyser


@pytest.mark.long
def test_nothing_that_is_skipped_changes_a_result(tmp_path):
    """Least of all the grammar of Intel syntax and the list of all dependencies."""
    machine = machine_file("HaswellEP_E5-2695v3")
    asked = {TRIAD: [{"sizes": {"N": n}, "cores": 3} for n in (100, 10_000, 10**8)]}
    reference = Reference(tmp_path / "reference", machine, asked, quick=False)
    with KerncraftAnalyser(machine) as analyser:
        (model,) = analyser.analyse([TRIAD])
    compare(model, asked[TRIAD], reference.answers()[0])
