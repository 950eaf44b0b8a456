"""kerncraft's doubles where transfers overlap and memory costs a penalty; nothing is skipped."""

from kerncraft_compare import Reference, compare, exactly_as_kerncraft
from kerncraft_kernels import STAR_2D, SUM, TRIAD, UPDATE
from kerncraft_machines import machine_file

from autotune.analysis.kerncraft import KerncraftAnalyser


def test_zen_2(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    models = exactly_as_kerncraft(tmp_path, machine_file("Zen2_EPYC-7452"), [SUM, STAR_2D, UPDATE])
    for model in models:
        assert model.record.overlapping == (True, True, True, False)
        assert model.record.options[-1].penalty > 0


def test_nothing_that_is_skipped_changes_a_result(tmp_path, monkeypatch):
    """Least of all the grammar of Intel syntax and the list of all dependencies."""
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    machine = machine_file("HaswellEP_E5-2695v3")
    asked = {TRIAD: [{"sizes": {"N": n}, "cores": 3} for n in (100, 10_000, 10**8)]}
    reference = Reference(tmp_path / "reference", machine, asked, quick=False)
    with KerncraftAnalyser(machine) as analyser:
        (model,) = analyser.analyse([TRIAD])
    compare(model, asked[TRIAD], reference.answers()[0])
