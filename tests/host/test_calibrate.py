"""A calibration really runs: its structure and physics, never its times."""

import dataclasses
import re
import shutil

import pytest

from autotune.errors import InputError, MissingTool, WorkFailed
from autotune.host import calibrate, probe
from autotune.host.detect import detect
from autotune.toolchain import cache, compiler

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("autotune")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOTUNE_DATA", str(base / "data"))
        patch.setenv("AUTOTUNE_CACHE", str(base / "cache"))
        yield base


@pytest.fixture(scope="module")
def machine(folders):
    found = detect()
    return dataclasses.replace(found, cores=min(found.cores, 2))


@pytest.fixture(scope="module")
def quick(machine):
    seen = []
    done = calibrate.calibrate(
        machine, budget_seconds=6.0, progress=lambda text, share: seen.append((text, share))
    )
    return done, seen


@needs_gcc
def test_quick_calibration_has_every_part(machine, quick):
    done, _ = quick
    assert done.identity == calibrate.identity(machine)
    assert done.clock > 1e8
    assert {1} <= {curve.threads for curve in done.curves} <= {1, machine.cores}
    for curve in done.curves:
        assert all(0 < b < 1000 for b in curve.bandwidth)
        assert all(s >= 0 for s in curve.spread)
    assert set(done.barriers) <= {machine.cores}
    assert all(seconds > 0 for seconds in done.barriers.values())
    assert all(0 <= share <= 1 for share in done.exposed.values())
    assert set(done.exposed) <= {c.name for c in machine.caches[1:]} | {"MEM"}
    assert done.priority in ("autogroup", "nice", "none")
    assert done.compiler


@needs_gcc
def test_progress_ascends_to_one(quick):
    _, seen = quick
    shares = [share for _, share in seen]
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert all(0 <= share <= 1 for share in shares)


@needs_gcc
def test_recheck_compares_with_what_is_stored(machine, quick):
    done, _ = quick
    calibrate.save(done)
    check = calibrate.recheck(machine)
    assert check.clock_ratio > 0
    assert check.bandwidth_ratio > 0
    assert check.threads == done.curves[-1].threads
    assert "clock" in str(check)


def test_recheck_without_a_calibration_says_what_to_do(machine):
    other = dataclasses.replace(machine, title="another processor")
    with pytest.raises(InputError, match="autotune machine calibrate"):
        calibrate.recheck(other)


@needs_gcc
def test_no_budget_is_an_error_in_words(machine):
    with pytest.raises(WorkFailed, match="budget is too short"):
        calibrate.calibrate(machine, budget_seconds=0.0)


def test_without_a_compiler_the_tool_is_named(machine, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingTool, match="gcc"):
        calibrate.calibrate(machine, budget_seconds=1.0)


@needs_gcc
def test_the_program_knows_the_same_extra_loads(folders):
    program = probe.build()
    streams = [(extra, probe.PAGE) for extra in probe.EXTRAS]
    ran = probe.run(program, "stream", 1, sample=1e-4, until=5.0, streams=streams)
    assert [sample.extra for sample in ran.samples] == list(probe.EXTRAS)
    with pytest.raises(InputError, match="EXTRA:BYTES"):
        probe.run(program, "stream", 1, sample=1e-4, until=5.0, streams=[(5, probe.PAGE)])
    with pytest.raises(InputError, match="whole pages"):
        probe.run(program, "stream", 1, sample=1e-4, until=5.0, streams=[(0, 100)])


@needs_gcc
def test_streams_use_vector_loads(folders):
    text = cache.assembly(probe.source(), compiler.find(probe.BUILD))
    body = re.search(r"^sweep_32:(.*?)^\s*ret", text, re.MULTILINE | re.DOTALL)[1]
    # per pass: 4 groups of 64 bytes and 4 x 32 loads of the buffer in L1
    vectors = {
        "x86_64": r"^\s*v?pxor[dq]?\s.*\(%r",
        "aarch64": r"^\s*(ldr\s+q|ldp\s+q|ld1)",
    }
    architecture = detect().architecture
    if architecture not in vectors:
        pytest.skip(f"optional: no vector loads are known for {architecture}")
    assert len(re.findall(vectors[architecture], body, re.MULTILINE)) >= (4 + 4 * 32) / 2


def test_lines_cut_short_are_left_out():
    good = (
        '{"kind": "clock", "threads": 1, "extra": 0, "bytes": 0, "seconds": 0.002,'
        ' "count": 64, "busy": 1.0}'
    )
    (sample,) = probe.parse([good, good[:-20]])
    assert sample.each == pytest.approx(0.002 / 64)
