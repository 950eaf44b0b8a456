"""Engine kerncraft on stencils: iterations by hand, blocks, notes, refusals, kerncraft itself."""

from pathlib import Path

import pytest
from kerncraft_hand import Hand, HandAnalyser
from sample_nodes import documented

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.problem import StencilProblem
from autotune.domain.results import Prediction
from autotune.domain.variant import (
    Block,
    Candidate,
    ExecutionLayout,
    Pad,
    StreamStores,
    Transformation,
    Unroll,
    Variant,
)
from autotune.files import config
from autotune.models.engines.kerncraft.kerncraft_engine import KerncraftEngine, KernelAnalyser
from autotune.models.kerncraft.kernel_routes import KernelRoutes

MACHINE = documented()
"""4 cores at 2 GHz with 40 GB/s."""


def candidate(
    name: str,
    extents: tuple[int, ...],
    *changes: Transformation,
    threads: int = 1,
    skeleton: str = "jacobi",
) -> Candidate:
    return Candidate(
        variant=Variant(skeleton=skeleton, transformations=changes, parameters={}),
        problem=StencilProblem(stencil=config.stencil(name), extents=extents),
        layout=ExecutionLayout(threads=threads),
    )


def predicted(
    *asked: Candidate, analyser: KernelAnalyser | None = None, skeleton: str = "jacobi"
) -> list[Prediction]:
    programs = SkeletonPrograms(config.skeleton(skeleton))
    return KerncraftEngine(MACHINE, programs, analyser or HandAnalyser()).predict(asked)


def sweep(prediction: Prediction) -> float:
    return sum(part.seconds for part in prediction.parts if part.kind == "sweep")


@pytest.mark.parametrize("threads", [1, 3, 4])
def test_a_sweep_by_hand(threads: int) -> None:
    """Two arrays of points, one written: 3 lines per line; the largest thread has 34 of 100."""
    (made,) = predicted(candidate("star3d-7pt", (100, 64, 64), threads=threads))
    largest = -(-100 // threads)
    lines = threads * largest * 64 * 64 / 8
    text = "double u[M][N];\ndouble v[M][N];\n    v[j][i] = u[j][i];"
    assert Hand(text).lines == 3
    cycles = max((5 + 3 * (1 + 2 + 3.2)) / threads, 3 * 3.2)
    assert sweep(made) == pytest.approx(lines * cycles / 2e9)


def test_unrolling_and_padding_are_the_same_kernel() -> None:
    analyser = HandAnalyser()
    plain, unrolled, padded = predicted(
        candidate("star3d-7pt", (96, 96, 96)),
        candidate("star3d-7pt", (96, 96, 96), Unroll("sweep", "i", 4)),
        candidate("star3d-7pt", (96, 96, 96), Pad(1)),
        analyser=analyser,
    )
    assert len(analyser.asked) == 1
    assert plain.seconds == unrolled.seconds == padded.seconds
    assert any("unrolling does not enter" in note for note in unrolled.notes)


@pytest.mark.parametrize(
    ("skeleton", "name", "changes", "words"),
    [
        ("gauss-seidel", "red-black3d-7pt", (), "it updates every other point"),
        ("jacobi", "star3d-7pt", (StreamStores("sweep"),), "it stores past the caches"),
    ],
)
def test_a_refusal_names_the_construct(
    skeleton: str, name: str, changes: tuple[Transformation, ...], words: str
) -> None:
    (made,) = predicted(
        candidate(name, (40, 40, 40), *changes, skeleton=skeleton), skeleton=skeleton
    )
    assert made.seconds is None
    assert words in made.reason


def test_rows_on_the_same_sets_are_noted() -> None:
    bare, padded = predicted(
        candidate("star2d-5pt", (100, 512 - 2)), candidate("star2d-5pt", (100, 510), Pad(1))
    )
    assert any("no conflicts" in note for note in bare.notes)
    assert not any("no conflicts" in note for note in padded.notes)


def test_blocks_hold_their_planes_in_a_smaller_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kerncraft itself: three planes of 1000 rows fit into no L2, of 16 rows they do."""
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    machine = config.machine("haswell-e5-2630v3")
    programs = SkeletonPrograms(config.skeleton("jacobi"))
    asked = [
        candidate("star3d-7pt", (200, 1000, 1000)),
        candidate("star3d-7pt", (200, 1000, 1000), Block("sweep", "j", 4)),
    ]
    with KernelRoutes(machine) as routes:
        whole, cut = KerncraftEngine(machine, programs, routes).predict(asked)
    levels = [{part.kind: part.seconds for part in made.parts} for made in (whole, cut)]
    assert levels[0]["L3"] == pytest.approx(5 / 3 * levels[1]["L3"])
    assert levels[0]["MEM"] == pytest.approx(levels[1]["MEM"] * 16.1315 / 10.0478, rel=1e-4)
    assert any("blocks stand as" in note for note in cut.notes)
