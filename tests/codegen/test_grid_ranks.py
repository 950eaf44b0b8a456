"""Grids over ranks, with real MPI: what single ranks give, or a refusal; halos of any depth."""

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import codegen_build
import numpy as np
import pytest
import stated_messages
from codegen_build import Workshop
from stated_messages import launch

from autotune.codegen import communication
from autotune.codegen.tree import loop_tree, variant_program
from autotune.domain.problem import StencilProblem
from autotune.domain.setup import Measuring
from autotune.domain.stencil import Stencil
from autotune.domain.variant import (
    Block,
    Candidate,
    ExecutionLayout,
    OverlappedTiles,
    Pad,
    StreamStores,
    Transformation,
    Unroll,
    Variant,
    Wavefront,
)
from autotune.files import config
from autotune.language.expression import parse
from autotune.measuring.candidates import protocol
from autotune.measuring.verification import grid_reference, verify
from autotune.workloads.stencil.stencil_kind import StencilKind

SKEWED = Stencil(
    name="skewed",
    title="",
    source="",
    dimensions=("j", "i"),
    coefficients={"C": parse("0.1 + 0.01*i - 0.02*j")},
    body=parse("0.2*u[j][i] + C[j-1][i]*u[j-1][i+1] + 0.3*u[j+2][i-2] + 0.1*C[j+2][i]"),
    initial=parse("1.0 + 0.1*i - 0.05*j"),
)
"""A stencil that reads corner ghosts, and coefficients of planes of other ranks."""
Case = tuple[Stencil, tuple[Transformation, ...]]
Start = Callable[[Path, int, int, list[str]], subprocess.CompletedProcess[str]]
"""Runs a program on ranks and threads, with arguments."""
SINGLE: list[Case] = [
    (config.stencil("star3d-7pt"), (Block("sweep", "j", 5), Pad(1))),
    (config.stencil("star3d-r4"), (Unroll("sweep", "i", 2),)),
    (config.stencil("box3d-27pt"), (Block("sweep", "k", 2), StreamStores("sweep"))),
    (config.stencil("star3d-7pt-variable"), ()),
    (config.stencil("box2d-9pt"), (Pad(1),)),
    (config.stencil("red-black3d-7pt"), (Block("sweep", "j", 4),)),
    (SKEWED, ()),
]
SEVERAL: list[Case] = [
    (config.stencil("star3d-7pt"), (Wavefront("sweep", 4), Block("sweep", "j", 5), Pad(1))),
    (config.stencil("box3d-27pt"), (Block("sweep", "i", 7), Wavefront("sweep", 2))),
    (config.stencil("star3d-7pt-variable"), (Block("sweep", "j", 4), Wavefront("sweep", 3))),
    (config.stencil("star2d-5pt"), (Wavefront("sweep", 5),)),
    (SKEWED, (Wavefront("sweep", 3),)),
    (SKEWED, (Block("sweep", "j", 6), OverlappedTiles("sweep", 3))),
    (config.stencil("star3d-7pt"), (Block("sweep", "i", 7), OverlappedTiles("sweep", 4))),
]


def variant(of: Stencil, transformations: tuple[Transformation, ...]) -> Variant:
    skeleton = "gauss-seidel" if of.in_place else "jacobi"
    return Variant(skeleton=skeleton, transformations=transformations, parameters={})


def problem(of: Stencil, extents: tuple[int, ...]) -> StencilProblem:
    return StencilProblem(stencil=of, extents=extents[: len(of.dimensions)])


def program(of: Stencil, transformations: tuple[Transformation, ...]) -> loop_tree.StepProgram:
    chosen = variant(of, transformations)
    skeleton = config.skeleton(chosen.skeleton)
    return variant_program.program(chosen, skeleton, problem(of, (20, 20, 20)))


def build(
    workshop: Workshop, of: Stencil, transformations: tuple[Transformation, ...]
) -> tuple[Path, int]:
    """The program for several ranks, and its sweeps of a pass."""
    made = program(of, transformations)
    assert communication.refusal(made) is None
    units = stated_messages.units(made, problem(of, (20, 20, 20)))
    return workshop.build(units), loop_tree.stages(made.body)


def words(at: StencilProblem, ranks: int, threads: int, steps: int, out: Path) -> list[str]:
    return [
        "verify", "--size", at.size_text, "--n", str(at.n), "--threads", str(threads),
        "--ranks", str(ranks), "--communication", "neighbour", "--steps", str(steps),
        "--out", str(out),
    ]  # fmt: skip


def deviation(
    built: Path, at: StencilProblem, ranks: int, threads: int, steps: int, start: Start = launch
) -> float:
    """The largest difference from the NumPy reference after so many steps; NaN where a plane was
    read that nobody fetched.
    """
    out = built.with_suffix(".bin")
    done = start(built, ranks, threads, words(at, ranks, threads, steps, out))
    assert done.returncode == 0, done.stderr
    return float(np.max(np.abs(np.fromfile(out) - grid_reference.sweeps(at, steps))))


@pytest.mark.parametrize(("of", "transformations"), SINGLE + SEVERAL)
def test_ranks_and_threads_agree_with_numpy(
    of: Stencil, transformations: tuple[Transformation, ...], mpi_workshop: Workshop
) -> None:
    built, sweeps = build(mpi_workshop, of, transformations)
    chance = random.Random(f"{of.name} {transformations}")
    for ranks, threads in ((1, 2), (2, 1), (3, 2), (4, 1)):
        least = ranks * of.radius * sweeps
        for planes in (least, least + chance.randint(1, 9)):
            at = problem(of, (planes, chance.randint(4, 24), chance.randint(4, 24)))
            if ranks > 1:
                assert communication.grid_legal(at, ranks, "neighbour", sweeps) is None
            steps = chance.randint(2, 9)
            found = deviation(built, at, ranks, threads, steps)
            assert found <= 1e-12, (at.extents, ranks, threads, steps)


@pytest.mark.parametrize(("of", "transformations"), [SINGLE[0], SEVERAL[0]])
def test_a_forgotten_communication_is_noticed(
    of: Stencil, transformations: tuple[Transformation, ...], mpi_workshop: Workshop
) -> None:
    at = problem(of, (17, 9, 9))
    units = stated_messages.units(program(of, transformations), at)
    call = "communicate(me, ARRAY_u);"
    assert call in units["step.c"]
    broken = mpi_workshop.build(units | {"step.c": units["step.c"].replace(call, ";")})
    assert np.isnan(deviation(broken, at, 2, 1, 3, codegen_build.launch))


@pytest.mark.parametrize(("of", "transformations"), [SINGLE[1], SINGLE[5], SEVERAL[0]])
def test_messages_and_bytes_are_those_that_are_derived(
    of: Stencil, transformations: tuple[Transformation, ...], mpi_workshop: Workshop
) -> None:
    at = problem(of, (24, 9, 11))
    built, sweeps = build(mpi_workshop, of, transformations)
    layout = ExecutionLayout(threads=1, ranks=3, communication="neighbour")
    several = Candidate(variant=variant(of, transformations), problem=at, layout=layout)
    quick = Measuring(samples=1, min_sample=1e-4, busy=0.0, attempts=1, verify_steps=4 * sweeps)  # type: ignore[arg-type]
    done = launch(built, 3, 1, protocol.time_arguments(several, quick))
    assert done.returncode == 0, done.stderr
    end = protocol.parse(done.stdout.splitlines()[-1])
    assert isinstance(end, protocol.ProgramEnd)
    (phase,) = communication.phases(program(of, transformations), at, several)
    colours = 2 if of.order == "red-black" else 1
    assert phase.times == colours / sweeps == pytest.approx(end.exchanges, rel=1e-12)
    for rank, (messages, size) in enumerate(phase.sent):
        assert phase.times * messages == pytest.approx(end.messages[rank])
        assert phase.times * size == pytest.approx(end.bytes[rank])


def test_deeper_halos_send_as_much_in_fewer_messages() -> None:
    of = config.stencil("star3d-7pt")
    at = problem(of, (64, 30, 30))
    layout = ExecutionLayout(threads=1, ranks=4, communication="neighbour")

    def sent(*transformations: Transformation) -> tuple[float, float]:
        chosen = Candidate(variant=variant(of, transformations), problem=at, layout=layout)
        (phase,) = communication.phases(program(of, transformations), at, chosen)
        return phase.times * phase.messages, phase.times * phase.bytes

    assert sent() == (2, 8 * 32 * 32)
    assert sent(Wavefront("sweep", 4)) == (0.5, 8 * 32 * 32)


def test_what_ranks_of_a_grid_cannot_do_is_said(mpi_workshop: Workshop) -> None:
    kind, of = StencilKind(), config.stencil("star3d-r4")

    def reason(
        planes: int, ranks: int, sweeps: int = 1, way: str = "neighbour", stencil: Stencil = of
    ) -> str | None:
        layout = ExecutionLayout(threads=1, ranks=ranks, communication=way)  # type: ignore[arg-type]
        return kind.misfit(problem(stencil, (planes, 9, 9)), layout, sweeps)

    assert reason(12, 3) is None
    assert reason(4, 5) == "5 ranks are more than the 4 planes along k"
    assert reason(11, 3) == (
        "a rank has 3 planes along k, fewer than the 4 that a sweep of radius 4 reads of each"
        " neighbour"
    )
    assert "fewer than the 8 that 2 sweeps of radius 4" in str(reason(23, 3, 2))
    assert reason(24, 3, 2) is None
    assert "neighbour is" in str(reason(24, 3, way="allgather"))
    ordered = config.stencil("gauss-seidel3d-7pt")
    assert "lexicographic order" in str(reason(24, 3, stencil=ordered))
    built, _ = build(mpi_workshop, of, ())
    thin, out = problem(of, (9, 9, 9)), built.with_suffix(".bin")
    done = launch(built, 4, 1, words(thin, 4, 1, 2, out))
    assert done.returncode == 2
    assert "reaches beyond the neighbours" in done.stderr
    enough = words(problem(of, (40, 9, 9)), 2, 1, 2, out)
    enough[enough.index("neighbour")] = "sparse"
    done = launch(built, 2, 1, enough)
    assert done.returncode == 2
    assert "exchange whole planes" in done.stderr


def test_candidates_are_verified_on_slabs_with_room_for_halos() -> None:
    of = config.stencil("star3d-r4")
    layout = ExecutionLayout(threads=1, ranks=4, communication="neighbour")
    chosen = Candidate(
        variant=variant(of, (Wavefront("sweep", 3),)),
        problem=problem(of, (200, 40, 40)),
        layout=layout,
    )
    small = verify.verification_problem(chosen)
    assert isinstance(small, StencilProblem)
    assert communication.grid_legal(small, 4, "neighbour", 3) is None
