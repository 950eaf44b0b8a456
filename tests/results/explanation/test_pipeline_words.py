"""What an explanation says of blocking in time: by hand, and for a real ranking."""

from dataclasses import replace
from pathlib import Path

import fabricated as made
import pytest
from codegen_build import problem, variant
from typer.testing import CliRunner

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.commands.app import app
from autotune.domain.ranking import Ranking, rank
from autotune.domain.results import Part, Prediction
from autotune.domain.variant import ExecutionLayout, Interchange, Pipeline, StripPlanes
from autotune.files import config
from autotune.results.explanation.pipeline_words import PipelineSizes, saved
from autotune.units import Seconds

JLI = Interchange("lc", ("j", "l", "i"))


def sizes(
    ivp: str, size: int, threads: int, block: int = 1024, rows: int | None = None
) -> PipelineSizes:
    at = problem(ivp, size)
    strips = () if rows is None else (StripPlanes(rows),)
    chosen = variant(JLI, Pipeline("k", block), *strips)
    program = SkeletonPrograms(config.skeleton("pirk")).make(chosen, at)
    assert not isinstance(program, str)
    return PipelineSizes(program, at, ExecutionLayout(threads=threads))


def test_windows_hold_what_the_next_stage_reads() -> None:
    """Heat2D: rows of N components; windows of neighbours: block, distance and lag in pages."""
    at = sizes("heat2d", 1000, 1)
    far = sum(w.rows for w in at.program.windows if w.neighbours)
    near = sum(w.rows for w in at.program.windows if not w.neighbours)
    assert far
    assert near
    assert at.window_bytes(1000) == 8 * (far * 3072 + near * 1024)


def test_more_work_is_that_of_the_borders() -> None:
    correctors = problem("heat2d", 1000).correctors
    share = correctors * 1000 / 1000**2  # a thread between two others, with half of all borders
    assert sizes("heat2d", 1000, 1).redundant(1000) == 0
    assert sizes("heat2d", 1000, 2).redundant(1000) == pytest.approx(share)
    assert sizes("heat2d", 1000, 4).redundant(1000) == pytest.approx(4 * share)


def test_strips_shorten_windows_and_add_work() -> None:
    whole, strips = (sizes("heat3d", 256, 1, rows=rows) for rows in (None, 64))
    correctors = problem("heat3d", 256).correctors
    assert 0.25 < strips.window_bytes(256) / whole.window_bytes(256) < 0.3
    # of 4 strips 2 have rows on both sides, half as many as correctors in the mean
    assert strips.redundant(256) == pytest.approx(6 * correctors / 2 / 256)
    assert "more work at the borders of its block and its strips" in next(
        strips.in_words(made.machine())
    )


def test_the_words_name_the_last_size_that_a_cache_holds() -> None:
    at = sizes("heat2d", 300, 1)
    machine = made.machine()
    words = " ".join(at.in_words(machine))
    last = int(words.split("up to N = ")[1].split(",")[0])
    cache = next(c for c in machine.caches if f" {c.name} holds" in f" {words}")
    assert at.window_bytes(last) <= cache.size < at.window_bytes(last + 1)
    assert "more work" not in words


def test_a_constant_distance_has_no_last_size() -> None:
    words = " ".join(sizes("wave1d", 100_001, 2).in_words(made.machine()))
    assert "at every size" in words


def test_windows_beyond_every_cache_are_named() -> None:
    assert "No cache holds" in " ".join(sizes("heat2d", 1_000_000, 1).in_words(made.machine()))


def predicted(seconds: float, **levels: float) -> Prediction:
    parts = [Part(sweep="s", kind=k, seconds=Seconds(v)) for k, v in levels.items()]
    return replace(made.prediction(seconds), parts=tuple(parts))


def two(first: Prediction, second: Prediction) -> Ranking:
    plain = made.candidate()
    pipeline = replace(
        plain,
        variant=replace(
            plain.variant,
            transformations=(*plain.variant.transformations, Pipeline("k", 512)),
            parameters={**plain.variant.parameters, "block": 512},
        ),
    )
    return rank([pipeline, plain], [first, second])[0]


def test_transfers_are_set_against_the_fastest_that_is_not_blocked() -> None:
    ranking = two(predicted(1e-3, L2=1e-4), predicted(2e-3, L2=1e-4, MEM=1.5e-3))
    words = saved(ranking, ranking.entries[0], made.machine())
    assert words == [
        "Blocked in time: nothing from MEM a step, against 1.5 ms of jli-pad5, the fastest that is"
        " not."
    ]
    assert not saved(ranking, ranking.entries[1], made.machine())


def test_without_others_nothing_is_said() -> None:
    both = two(predicted(1e-3, MEM=1e-4), predicted(2e-3, MEM=1e-3))
    single = replace(both, entries=both.entries[:1])
    assert not saved(single, single.entries[0], made.machine())


def test_rank_says_what_blocking_in_time_saves(tmp_path: Path) -> None:
    """On a machine file, with a compiler and OSACA."""
    (tmp_path / "space.yaml").write_text(
        "schema: autotune.space/1\nskeleton: pirk\ntitle: two variants\n"
        "parameters:\n  block: [none, 512]\nrules:\n"
        "  - {interchange: {kernel: lc, order: jli}}\n"
        "  - {pipeline: {loop: k, block: $block}, when: {block: [512]}}\n"
        "baseline: {block: none}\n",
        encoding="utf-8",
    )
    (tmp_path / "study.yaml").write_text(
        "schema: autotune.config/1\ntitle: pipeline\nmachine: haswell-e5-2630v3\n"
        "skeleton: pirk\nspace: space.yaml\nthreads: [2]\nproblems:\n"
        "  - {ivp: wave1d, method: radau-iia-7, correctors: 6, size: 4000000}\n",
        encoding="utf-8",
    )
    command = ["rank", str(tmp_path / "study.yaml"), "--engine", "reuse", "--why", "block512"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "Blocked in time: " in text
    assert "of windows, and " in text
    assert "holds its windows at every size" in text
