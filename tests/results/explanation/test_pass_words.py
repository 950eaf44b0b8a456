"""What an explanation says of several sweeps in one pass: by hand, and for a real ranking."""

from pathlib import Path

import fabricated as made
import pytest
from typer.testing import CliRunner

from autotune.codegen.tree import variant_program
from autotune.commands.app import app
from autotune.domain.problem import StencilProblem
from autotune.domain.variant import (
    Block,
    ExecutionLayout,
    OverlappedTiles,
    Transformation,
    Variant,
    Wavefront,
)
from autotune.files import config
from autotune.results.explanation.pass_words import PassSizes
from autotune.units import Bytes

TILES = *(Block("sweep", d, 16) for d in "kji"), OverlappedTiles("sweep", 4)


def sizes(size: int, *transformations: Transformation, threads: int = 1) -> PassSizes:
    at = StencilProblem(stencil=config.stencil("star3d-7pt"), extents=(size,) * 3)
    variant = Variant(skeleton="jacobi", transformations=transformations, parameters={})
    program = variant_program.program(variant, config.skeleton("jacobi"), at)
    return PassSizes(program, at, ExecutionLayout(threads=threads))


def test_two_buffers_have_room_for_what_the_first_sweep_computes() -> None:
    """A tile of 16 points on a side and 3 around it: 22 planes and rows of 29/8 lines."""
    shape = sizes(64, *TILES).shape((64,) * 3, Bytes(64))
    assert shape.kept == 2 * 22 * 22 * 29 / 8 * 64


def test_rings_have_three_planes_for_each_sweep_but_the_last() -> None:
    """Whole planes of 62 rows; 62 points begin at the second element of a line: 8 lines."""
    shape = sizes(62, Wavefront("sweep", 4)).shape((62,) * 3, Bytes(64))
    assert shape.kept == 3 * 3 * 62 * 8 * 64
    assert shape.redundant == 0


def test_more_points_are_those_around_tiles_and_threads() -> None:
    """Four tiles a side have six inner borders, a thread between two others two."""
    shape = sizes(64, *TILES).shape((64,) * 3, Bytes(64))
    points = sum((64 + 6 * around) ** 3 for around in (3, 2, 1, 0))
    assert shape.redundant == pytest.approx(points / (4 * 64**3) - 1)
    shape = sizes(64, Wavefront("sweep", 4), threads=4).shape((64,) * 3, Bytes(64))
    assert shape.redundant == pytest.approx((22 + 20 + 18 + 16) / (4 * 16) - 1)


def test_the_words_name_the_last_size_that_a_cache_holds() -> None:
    machine = made.machine()
    at = sizes(64, Wavefront("sweep", 2))
    words = " ".join(at.in_words(machine))
    last = int(words.split("up to N = ")[1].split(".")[0])
    cache = next(c for c in machine.caches if f" {c.name} holds" in words)
    kept = [at.shape((size,) * 3, machine.line).kept for size in (last, last + 1)]
    assert kept[0] <= cache.size < kept[1]
    assert "more points" not in words
    assert "holds that at every size" in " ".join(sizes(64, *TILES).in_words(machine))


def test_rank_says_what_a_pass_keeps(tmp_path: Path) -> None:
    """On a machine file, with a compiler and OSACA."""
    (tmp_path / "space.yaml").write_text(
        "schema: autotune.space/1\nskeleton: jacobi\ntitle: two variants\n"
        "parameters:\n  t: [1, 4]\nrules:\n"
        "  - {block: {kernel: sweep, dimension: k, size: 16}}\n"
        "  - {overlap: {kernel: sweep, sweeps: $t}, when: {t: [4]}}\n"
        "baseline: {t: 1}\n",
        encoding="utf-8",
    )
    (tmp_path / "study.yaml").write_text(
        "schema: autotune.config/1\ntitle: tiles\nmachine: haswell-e5-2630v3\n"
        "skeleton: jacobi\nspace: space.yaml\nthreads: [2]\nproblems:\n"
        "  - {stencil: star3d-7pt, size: 288}\n",
        encoding="utf-8",
    )
    command = ["rank", str(tmp_path / "study.yaml"), "--engine", "reuse", "--why", "t4"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "Blocked in time: " in text
    assert "between the sweeps, and computes 18 % more points" in text
