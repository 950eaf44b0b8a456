"""The shipped examples with programs of the system: a compressor, a compiler, NumPy."""

import shutil
from dataclasses import replace
from pathlib import Path

import own_programs as own
import pytest

from autotune import paths
from autotune.domain.program import Program
from autotune.domain.results import Prepared
from autotune.domain.variant import Candidate
from autotune.measuring.candidates.base import Launch
from autotune.workloads.program.measuring.program_measurer import ProgramMeasurer


def opened(
    folder: Path, name: str, arguments: str, **changes: str
) -> tuple[ProgramMeasurer, dict[str, Candidate]]:
    """The measurer and the candidates of a shipped program at other arguments."""
    text = (paths.folder("variants/program") / f"{name}.yaml").read_text(encoding="utf-8")
    text = text.replace("../../examples", str(paths.data_root() / "examples"))
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    settings = own.CONFIG.replace("{n: 500}", arguments)
    if "{compiler}" not in text:
        settings = settings.replace("builds: [{compiler: gcc, flags: [-O1]}]\n", "")
    _, measurer, named = own.opened(own.put(folder, text, settings, {}))
    return measurer, named


def launched(measurer: ProgramMeasurer, prepared: Prepared) -> Launch:
    assert (prepared.status, prepared.detail) == ("ok", "")
    return measurer.launch(
        prepared, round_number=0, launch=0, expected=None, on_sample=lambda sample: None
    )


@pytest.mark.parametrize("name", ["zstd", "nbody", "distances", "flags"])
def test_the_shipped_study_is_right(name: str) -> None:
    assert own.faults(paths.folder("configs") / f"{name}.yaml") == []


@pytest.mark.skipif(shutil.which("zstd") is None, reason="optional: zstd is not installed")
def test_levels_of_zstd_have_a_rate_and_a_ratio(tmp_path: Path) -> None:
    measurer, named = opened(tmp_path, "zstd", "{least_ratio: 3.8}", **{"-i1": "-i0"})
    good = launched(measurer, measurer.prepare(named["4 None"]))
    assert (good.status, good.detail) == ("ok", "")
    (sample,) = good.samples
    assert sample.metrics["ratio"] > 3.8
    assert sample.seconds == 1 / sample.metrics["speed"]
    assert sample.metrics["decompression"] > 0
    quick = launched(measurer, measurer.prepare(named["1 None"]))
    assert quick.status == "out-of-bounds"
    assert "ratio >= least_ratio does not hold: ratio = 3." in quick.detail


def test_flags_of_a_compiler_must_not_change_the_energy(tmp_path: Path) -> None:
    measurer, named = opened(tmp_path, "nbody", "{n: 64, steps: 50}")
    good = launched(measurer, measurer.prepare(named["-O3 None -ffast-math None double"]))
    assert (good.status, good.detail) == ("ok", "")
    assert [sample.warm_up for sample in good.samples] == [True, False, False]
    assert all(sample.metrics["drift"] < 1e-10 for sample in good.samples)
    single = launched(measurer, measurer.prepare(named["-O2 None None None float"]))
    assert single.status == "out-of-bounds"
    assert "(the total energy must not change)" in single.detail


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_many_options_of_gcc_are_accepted_and_change_no_result(tmp_path: Path) -> None:
    """All at once, which says of each that it is accepted."""
    setup, measurer, _ = own.opened(paths.folder("configs") / "flags.yaml")
    baseline = own.baseline(setup)
    subject = setup.subject
    assert isinstance(subject, Program)
    values = {name: domain[-1] for name, domain in subject.domains.items()}
    assert len(values) >= 60
    everything = replace(baseline, variant=replace(baseline.variant, parameters=values))
    built = measurer.prepare(everything)
    assert (built.status, built.detail) == ("ok", "")
    assert built.error is not None
    assert built.error < 1e-9
    assert built.executes != measurer.prepare(baseline).executes


def test_a_script_with_numpy_keeps_its_error(tmp_path: Path) -> None:
    measurer, named = opened(tmp_path, "distances", "{n: 400, largest_error: 1e-9}")
    good = launched(measurer, measurer.prepare(named["128 float64 product"]))
    assert (good.status, good.detail) == ("ok", "")
    assert 0 < good.samples[-1].seconds < good.samples[-1].conditions["wall_s"]
    single = launched(measurer, measurer.prepare(named["128 float32 difference"]))
    assert single.status == "out-of-bounds"
    assert "error <= largest_error does not hold" in single.detail
