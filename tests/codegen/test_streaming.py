"""Results stored past the caches: the same numbers bit for bit, or a reason why not."""

from pathlib import Path

import numpy as np
import pytest
from codegen_build import Workshop, run

from autotune.codegen.c import harness
from autotune.codegen.tree import variant_program
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import StencilProblem
from autotune.domain.variant import (
    Block,
    Candidate,
    Pad,
    StreamStores,
    Transformation,
    Unroll,
    Variant,
    Wavefront,
)
from autotune.files import config
from autotune.workloads.stencil.stencil_kind import modelling_vector

SKELETON = config.skeleton("jacobi")
STREAM = StreamStores("sweep")
BLOCKS = (Block("sweep", "j", 4), Block("sweep", "i", 11))


def variant(*transformations: Transformation) -> Variant:
    return Variant(skeleton="jacobi", transformations=transformations, parameters={})


def sources(name: str, *transformations: Transformation) -> dict[str, str]:
    stencil = config.stencil(name)
    at = StencilProblem(stencil=stencil, extents=(20,) * len(stencil.dimensions))
    return harness.units(variant_program.program(variant(*transformations), SKELETON, at), at)


def state(built: Path, at: StencilProblem, threads: int) -> np.ndarray:
    out = built.with_suffix(f".{threads}.bin")
    arguments = ["--size", at.size_text, "--n", str(at.n), "--threads", str(threads)]
    done = run(built, "verify", *arguments, "--steps", "3", "--out", str(out))
    assert done.returncode == 0, done.stderr
    return np.fromfile(out, dtype="<f8")


@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-mno-avx"), ("-O3", "-march=native")])
@pytest.mark.parametrize(
    ("name", "around"),
    [("star3d-7pt", ()), ("star3d-7pt-variable", BLOCKS), ("star2d-5pt", (Pad(1),))],
)
def test_the_result_is_that_of_plain_stores_bit_for_bit(
    name: str, around: tuple[Transformation, ...], flags: tuple[str, ...], workshop: Workshop
) -> None:
    flags = (*flags, "-ffp-contract=off")  # compilers fuse operations as each loop allows
    plain = workshop.build(sources(name, *around), *flags)
    streamed = workshop.build(sources(name, *around, STREAM), *flags)
    stencil = config.stencil(name)
    for extents in ((7, 9, 37), (5, 4, 6), (4, 6, 64)):
        at = StencilProblem(stencil=stencil, extents=extents[-len(stencil.dimensions) :])
        expected = state(plain, at, 1)
        for threads in (1, 3):
            assert np.array_equal(state(streamed, at, threads), expected), (extents, threads)


def test_the_program_stores_past_the_caches_and_waits_for_its_stores() -> None:
    text = sources("star3d-7pt", STREAM)["sweep_star3d_7pt_nt.c"]
    assert "stream_line(v + at + i, lanes);" in text
    assert text.index("    STREAMED();") > text.index("stream_line(v")
    assert "stream_line" not in sources("star3d-7pt")["sweep_star3d_7pt.c"]


@pytest.mark.parametrize(
    ("transformations", "reason"),
    [
        ((STREAM, Wavefront("sweep", 2)), "what the next sweep of the same pass reads"),
        ((Unroll("sweep", "i", 2), STREAM), "its loop is written out already"),
        ((STREAM, STREAM), "past the caches twice"),
        ((StreamStores("lc"),), "there is no kernel lc"),
    ],
)
def test_refused(transformations: tuple[Transformation, ...], reason: str) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        sources("star3d-7pt", *transformations)


def test_the_modelling_vector_says_that_stores_are_streamed() -> None:
    at = StencilProblem(stencil=config.stencil("star2d-5pt"), extents=(20, 20))
    assert modelling_vector(Candidate(variant=variant(STREAM), problem=at))["nt"] == 1
    assert "nt" not in modelling_vector(Candidate(variant=variant(), problem=at))
