"""Engine program: formulas, kernels in kerncraft's C, kernel files, and what all have in common."""

import math
from pathlib import Path

import pytest
from program_samples import DAXPY, candidates, predicted, read, written
from sample_nodes import calibrated, documented

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.calibration import Z80
from autotune.domain.machine import Machine
from autotune.domain.problem import StencilProblem
from autotune.domain.program_model import NAMES
from autotune.domain.ranking import odds, rank
from autotune.domain.results import Prediction
from autotune.domain.variant import Build, Candidate, Variant
from autotune.files import config
from autotune.workloads.program.engine.formula_facts import FormulaValues


def predictions(
    tmp_path: Path,
    model: str,
    machine: Machine | None = None,
    threads: int = 1,
    sources: dict[str, str] | None = None,
) -> dict[tuple[object, ...], Prediction]:
    """By the values of the parameters."""
    asked = candidates(read(written(tmp_path, model, sources)), threads)
    found = predicted(asked, machine or documented())
    return {tuple(c.variant.parameters.values()): p for c, p in zip(asked, found, strict=True)}


# --- formulas ---------------------------------------------------------------------------------


def test_a_formula_is_the_sum_of_its_terms(tmp_path: Path) -> None:
    model = """\
model:
  formula:
    work: n**3 / (clock * threads)
    wait: "1e-3 * ceil(log2(n / block)) if mode == 'safe' else 0"
"""
    found = predictions(tmp_path, model, threads=2)
    work = 512**3 / (2e9 * 2)
    assert found[64, "fast"].seconds == pytest.approx(work)
    assert found[64, "safe"].seconds == pytest.approx(work + 3e-3)
    assert [p.sweep for p in found[64, "safe"].parts] == ["work", "wait"]
    assert sum(p.seconds for p in found[64, "safe"].parts) == pytest.approx(work + 3e-3)
    assert found[64, "safe"].reason == "by formulas: work 92 %; wait 8 %"
    assert {p.engine for p in found.values()} == {"program"}


def test_the_interval_is_as_wide_as_stated_and_partly_common(tmp_path: Path) -> None:
    found = predictions(tmp_path, "model: {formula: 1e-3 * block, accuracy: 50 %}\n")
    first, second = found[8, "fast"], found[64, "fast"]
    assert first.interval == pytest.approx((8e-3 / 1.5, 8e-3 * 1.5))
    assert first.uncertainty is not None
    assert first.uncertainty.sigma == pytest.approx(math.log(1.5) / Z80)
    likely = odds(first, second)
    assert likely is not None
    assert likely > 0.999
    (ranking,) = rank(candidates(read(tmp_path / "sample.yaml")), list(found.values()))
    assert ranking.entries[0].prediction.seconds == pytest.approx(8e-3)


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("n / (block - block)", "the formula gives no time: "),
        ("n - 512", "the formula gives 0 s, which is no time"),
        ("-1", "the formula gives no time: formula = -1 is -1, below 0"),
        ("mode", "'mode' is 'fast', not a number"),
        ("n / bandwidth_L4", "the machine documented has no figure for bandwidth_L4"),
    ],
)
def test_a_formula_without_a_time_says_why(tmp_path: Path, formula: str, reason: str) -> None:
    for prediction in predictions(tmp_path, f"model: {{formula: {formula}}}\n").values():
        assert prediction.seconds is None
        if "mode" not in formula or "fast" in prediction.reason:
            assert reason in prediction.reason


def test_figures_of_the_machine_are_those_of_one_thread(tmp_path: Path) -> None:
    program = read(written(tmp_path, "model: {formula: 1}\n"))
    (one, *_), (four, *_) = (candidates(program, threads) for threads in (1, 4))
    facts = FormulaValues(calibrated())
    alone, shared = facts.of(one), facts.of(four)
    assert alone["clock"] == 3e9
    assert (alone["cache_L1"], alone["cache_L3"]) == (32 * 1024, 8 << 20)
    assert shared["cache_L3"] == 2 << 20
    assert alone["bandwidth_MEM"] == pytest.approx(4 * 3e9)
    assert shared["bandwidth_MEM"] == pytest.approx(2 * 3e9)
    assert alone["flops"] == pytest.approx(16 * 3e9)
    assert (alone["barrier"], shared["barrier"]) == (0.0, 1e-6)
    assert {"n", "block", "mode"} <= set(alone)
    own = {"n", "block", "mode"}
    assert set(alone) - own <= set(NAMES)


def test_own_names_come_before_figures_of_the_machine(tmp_path: Path) -> None:
    path = written(tmp_path, "model: {formula: line}\n")
    text = path.read_text(encoding="utf-8").replace("mode", "line").replace("[fast, safe]", "[3]")
    text = text.replace("linel", "model")
    path.write_text(text, encoding="utf-8")
    (found, *_) = predicted(candidates(read(path)), documented())
    assert found.seconds == 3.0


def test_a_program_without_a_model_has_no_predicted_time(tmp_path: Path) -> None:
    for prediction in predictions(tmp_path, "").values():
        assert (prediction.seconds, prediction.reason) == (None, "the program has no model")


# --- kernels ----------------------------------------------------------------------------------


def test_a_kernel_in_kerncrafts_c_counts_its_iterations(tmp_path: Path) -> None:
    model = """\
model:
  kerncraft: "k-{mode}.c"
  constants: {N: n * block}
  iterations: 1e6 * (1 if mode == 'fast' else 2)
  extra: 1e-6
"""
    machine = config.machine("haswell-e5-2630v3")
    sources = {"k-fast.c": DAXPY, "k-safe.c": DAXPY}
    found = predictions(tmp_path, model, machine, sources=sources)
    small, large, twice = found[8, "fast"], found[512, "fast"], found[8, "safe"]
    assert small.seconds is not None
    assert large.seconds is not None
    assert large.seconds > small.seconds > 1e6 / 8 * 3 * 64 / 100 / machine.frequency
    assert twice.seconds == pytest.approx(2 * (small.seconds - 1e-6) + 1e-6)
    assert "bound" in small.reason
    assert any("kerncraft 0.8.18" in note for note in small.notes)
    assert sum(p.seconds for p in small.parts if p.kind == "sweep") == pytest.approx(small.seconds)
    low, high = small.interval or (0, 0)
    assert low < small.seconds < high


def test_a_kernel_that_kerncraft_refuses_has_its_reason(tmp_path: Path) -> None:
    model = "model: {kerncraft: k.c, iterations: n}\n"
    machine = config.machine("haswell-e5-2630v3")
    for prediction in predictions(tmp_path, model, machine, sources={"k.c": DAXPY}).values():
        assert prediction.seconds is None
        assert prediction.reason == "the kernel k.c has no value of N"


# --- kernel files -----------------------------------------------------------------------------


def test_a_stencil_counts_its_sweeps_and_takes_the_parameters(tmp_path: Path) -> None:
    model = """\
model:
  kernel:
    stencil: star3d-7pt
    size: n / 8
    space: stencil-blocks
    parameters: {bj: "block if block <= 128 else 'none'"}
  times: 10
"""
    machine = documented()
    found = predictions(tmp_path, model, machine)
    space, skeleton = config.generated("stencil-blocks").space, config.skeleton("jacobi")
    values = {**space.baseline, "bj": 64}
    same = Candidate(
        variant=Variant(
            skeleton="jacobi",
            definition=skeleton.definition,
            transformations=space.transformations(values),
            parameters=values,
        ),
        problem=StencilProblem(stencil=config.stencil("star3d-7pt"), extents=(64, 64, 64)),
        build=Build(),
    )
    assert SkeletonPrograms(skeleton)(same)
    assert found[64, "fast"].seconds is not None
    assert found[64, "fast"].seconds == found[64, "safe"].seconds
    assert any("in-core by osaca:HSW" in note for note in found[64, "fast"].notes)
    fewer = predictions(tmp_path, model.replace("times: 10", "times: 5"), machine)
    assert found[64, "fast"].seconds == pytest.approx(2 * (fewer[64, "fast"].seconds or 0))


def test_values_that_the_space_does_not_have_are_told(tmp_path: Path) -> None:
    model = """\
model:
  kernel: {stencil: star3d-7pt, size: 64, space: stencil-blocks, parameters: {bj: block + 1}}
"""
    found = predictions(tmp_path, model)
    assert found[8, "fast"].reason == "bj = 9 is no value of the space stencil-blocks"
