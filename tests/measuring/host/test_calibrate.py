"""A calibration really runs: its structure and physics, never its times."""

import dataclasses
import itertools
import math
import re
import shutil
from dataclasses import replace

import pytest

from autotune.commands.machine import calibration_text
from autotune.domain.calibration import CONSTANTS, BandwidthCurve, Constant
from autotune.errors import InputError, MissingTool, WorkFailed
from autotune.measuring.host import calibrate, calibration_plan, host_probe
from autotune.measuring.host.detect import detect
from autotune.measuring.host.host_probe import ProbeItem, ProbeRun, ProbeSample
from autotune.toolchain import build_cache, compiler

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
        machine, budget_seconds=3.0, progress=lambda text, share: seen.append((text, share))
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
    assert {curve.streams for curve in done.curves} <= {1, *host_probe.STREAMS}
    assert done.priority in ("autogroup", "nice", "none")
    assert done.compiler


@needs_gcc
def test_constants_are_physical_whatever_else_ran(quick):
    done, _ = quick
    assert {"line_crossing", "store_forward", "loop_entry"} <= set(done.constants)
    assert {name.partition("@")[0].partition(".")[0] for name in done.constants} <= set(CONSTANTS)
    for constant in done.constants.values():
        assert 0 <= constant.low <= constant.value <= constant.high < 1e9
        assert constant.unit in ("cy", "s", "1", "operations")
    assert done.barriers == {
        int(name.removeprefix("barrier@")): constant.value
        for name, constant in done.constants.items()
        if constant.unit == "s"
    }


@needs_gcc
def test_a_person_reads_every_constant_and_curve(quick):
    done, _ = quick
    lines = calibration_text.constants(done)
    assert len(lines) == len(done.constants)
    assert all("[" in line and "samples" in line for line in lines)
    tables = calibration_text.bandwidths(done)
    shown = sum(cell.endswith("B/cy") for _, rows in tables for row in rows for cell in row[1:])
    assert shown == sum(len(curve.working_set) for curve in done.curves)


@needs_gcc
def test_progress_ascends_to_one(quick):
    _, seen = quick
    shares = [share for _, share in seen]
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert shares == sorted(shares)


@needs_gcc
def test_what_no_whole_round_fits_into_goes_to_what_takes_little_time(machine, monkeypatch):
    """Samples of large working sets last long: those of small ones come more often."""
    clock, large = [0.0], 1 << 20

    def slow(_program, threads, items, *, sample, until):
        samples = tuple(
            ProbeSample(
                item=item, threads=threads, seconds=sample * (9 if item.bytes > large else 1),
                count=10**5, busy=1.0,
            )
            for item in items
        )  # fmt: skip
        clock[0] += sum(s.seconds for s in samples)
        return ProbeRun(samples=samples, priority="none", detail="", cpu=0.0)

    monkeypatch.setattr(calibrate.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(host_probe, "run", slow)
    done = calibrate.calibrate(machine, budget_seconds=20.0)
    assert done.constants["line_crossing"].samples > done.constants["outbound.MEM"].samples


@needs_gcc
@pytest.mark.parametrize(
    ("disturbed", "usual_load", "contended"),
    [({2}, False, False), (set(range(20)), False, True), (set(range(20)), True, False)],
)
def test_undisturbed_rounds_count_alone_where_there_are_enough(
    machine, monkeypatch, disturbed, usual_load, contended
):
    clock, rounds, timed = [0.0], [0], set()

    def tell(text, _share):
        if number := re.search(r"round (\d+)", text):
            rounds[0] = int(number[1])

    def steady(_program, threads, items, *, sample, until):
        others = rounds[0] in disturbed
        if any(item.kind == "offset" for item in items):
            timed.add(rounds[0])
        samples = tuple(
            ProbeSample(
                item=item, threads=threads, seconds=sample * (2 if others else 1),
                count=10**5, busy=0.5 if others else 1.0,
            )
            for item in items
        )  # fmt: skip
        clock[0] += sum(s.seconds for s in samples)
        return ProbeRun(samples=samples, priority="none", detail="", cpu=0.0)

    monkeypatch.setattr(calibrate.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(host_probe, "run", steady)
    done = calibrate.calibrate(machine, budget_seconds=60.0, usual_load=usual_load, progress=tell)
    assert (done.contended, done.usual_load) == (contended, usual_load)
    counted = timed - disturbed or timed  # the budget may end within the last round
    assert done.constants["line_crossing"].samples == len(counted)


@needs_gcc
def test_recheck_compares_with_what_is_stored(machine, quick):
    done, _ = quick
    calibrate.save(done)
    check = calibrate.recheck(machine)
    assert check.clock_ratio > 0
    assert check.clock_spread >= done.clock_spread
    assert check.bandwidth_ratio > 0
    assert check.threads == done.loads[-1].threads
    if check.line_of_another_core is not None:  # beside other work it may not be measured
        assert check.threads > 1
        assert check.line_of_another_core > 0
    assert ("the clock was" in str(check)) == check.drifted


@needs_gcc
def test_a_recheck_beside_other_work_takes_what_was_least_disturbed(machine, quick, monkeypatch):
    """Two of three launches are slowed down by others, on top of what this host does."""
    done, _ = quick
    calibrate.save(done)
    curve, launches = done.loads[-1], []

    def disturbed(_program, threads, items, *, sample, until):
        launches.append(items[0].kind)
        slow = 1.0 if launches.count(items[0].kind) == 2 else 3.0
        rate = done.clock
        if items[0].kind == "load":
            rate *= curve.at(items[0].bytes) / host_probe.GROUP
        samples = [
            host_probe.ProbeSample(
                item=item,
                threads=threads,
                seconds=slow * sample,
                count=round(sample * rate),
                busy=1,
            )
            for item in items
        ]
        return host_probe.ProbeRun(samples=tuple(samples), priority="none", detail="", cpu=0.0)

    monkeypatch.setattr(host_probe, "run", disturbed)
    check = calibrate.recheck(machine)
    assert len(launches) > 2
    assert check.line_of_another_core is None  # both threads took as long for lines of their own
    assert check.clock_ratio == pytest.approx(1.0, rel=1e-3)
    assert not check.drifted
    assert check.bandwidth_ratio == pytest.approx(1.0, rel=1e-3)


@needs_gcc
def test_a_host_too_slow_to_measure_its_memory_again_tells_its_clock(machine, quick, monkeypatch):
    done, _ = quick
    calibrate.save(done)

    def no_streams(_program, threads, items, *, sample, until):
        samples = tuple(
            ProbeSample(
                item=item, threads=threads, seconds=sample, count=round(sample * done.clock),
                busy=1.0,
            )
            for item in items
            if item.kind == "clock"
        )  # fmt: skip
        return ProbeRun(samples=samples, priority="none", detail="", cpu=0.0)

    monkeypatch.setattr(host_probe, "run", no_streams)
    check = calibrate.recheck(machine)
    assert check.clock_ratio == pytest.approx(1.0, rel=1e-3)
    assert (check.bandwidth, check.bandwidth_ratio) == (None, None)
    assert check.changes == ()


def test_a_recheck_reads_the_smallest_working_set_in_memory():
    curve = BandwidthCurve(
        threads=1, working_set=(4096, 8192, 16384, 32768), bandwidth=(40.0, 9.0, 4.1, 4.0),
        spread=(0.1,) * 4,
    )  # fmt: skip
    assert calibrate._least_in_memory(curve) == 16384


@needs_gcc
def test_what_the_measuring_program_takes_is_no_other_process(folders, machine):
    """Its processor time is known although another process starts and awaits it."""
    program = host_probe.build()
    load = calibrate._Load()
    item = host_probe.ProbeItem(kind="clock")
    ran = host_probe.run(program, machine.cores, [item] * 8, sample=0.05, until=5.0)
    taken = sum(s.threads * s.seconds * min(1.0, s.busy) for s in ran.samples)
    assert ran.cpu >= 0.9 * taken
    idle = [replace(sample, busy=1.0) for sample in ran.samples]
    assert load.contended(idle, 0.0), "the cores were busy, and nobody said with what"


SAME = calibrate.Recheck(
    clock=3.771e9, clock_ratio=1.0, clock_spread=0.037, threads=2, bandwidth=1e10,
    bandwidth_ratio=0.9, contended=False, line_of_another_core=10.0, line_ratio=1.5,
)  # fmt: skip


def test_a_calibration_holds_until_bandwidth_or_shared_caches_change():
    assert SAME.changes == ()
    assert str(SAME) == "the calibration still describes the host"
    slower = dataclasses.replace(SAME, bandwidth_ratio=0.7)
    assert slower.changes == ("memory bandwidth was 0.70 of the calibrated one",)
    apart = dataclasses.replace(slower, line_ratio=3.0)
    assert apart.changes[1:] == (
        "a line of another core took 3.0 times the calibrated cycles: the cores shared other"
        " caches",
    )
    assert str(apart) == "; ".join((*apart.changes, "autotune machine calibrate measures again"))


@pytest.mark.parametrize(
    ("ratio", "spread", "told"),
    [(0.7, 0.1, True), (0.7, 0.35, False), (1.5, 0.35, True), (0.85, 0.05, False)],
)
def test_a_change_of_the_bandwidth_within_its_spreads_is_not_told(ratio, spread, told):
    check = dataclasses.replace(SAME, bandwidth_ratio=ratio, bandwidth_spread=spread)
    assert bool(check.changes) is told


@pytest.mark.parametrize(
    ("ratio", "between", "told"),
    [(3.0, (1.2, 9.0), True), (3.0, (0.9, 9.0), False), (0.3, (0.1, 0.8), True),
     (0.3, (0.1, math.inf), False), (1.5, (1.4, 1.6), False)],
)  # fmt: skip
def test_a_change_of_lines_of_other_cores_within_its_spreads_is_not_told(ratio, between, told):
    check = dataclasses.replace(SAME, line_ratio=ratio, line_between=between)
    assert check.moved is told
    assert bool(check.changes) is told


@needs_gcc
def test_the_spreads_of_a_recheck_are_those_of_both_measurements(machine, quick, monkeypatch):
    """A probe that reads memory as fast as calibrated, a third slower, and so on in turns."""
    done, _ = quick
    curve, turns = done.loads[-1], itertools.cycle((1.0, 1.0, 1.0, 1.5, 1.5))
    wide = tuple(0.25 for _ in curve.spread)
    curves = tuple(replace(c, spread=wide) if c is curve else c for c in done.curves)
    line = Constant(value=100.0, low=20.0, high=180.0, unit="cy", source="made", samples=9)
    constants = {f"core_to_core{at}": line for at in ("", f"@{curve.threads}")}
    costs = itertools.cycle((1.0, 5.0, 9.0))

    def noisy(_program, threads, items, *, sample, until):
        samples = []
        for item in items:
            rate = done.clock
            if item.kind == "load":
                rate *= curve.at(item.bytes) / host_probe.GROUP / next(turns)
            if item.kind == "handed":
                rate /= 50.0 * next(costs)
            samples.append(
                ProbeSample(
                    item=item, threads=threads, seconds=100.0, busy=1.0, count=round(100 * rate)
                )
            )  # fmt: skip
        return ProbeRun(samples=tuple(samples), priority="none", detail="", cpu=0.0)

    monkeypatch.setattr(host_probe, "run", noisy)
    stated = replace(machine, calibration=replace(done, curves=curves, constants=constants))
    check = calibrate.recheck(stated)
    assert check.bandwidth_spread == pytest.approx(0.25 + 1 / 3, abs=0.02)
    if curve.threads > 1:
        low, high = check.line_between
        assert low < check.line_ratio < high
        assert low < 250 / 180 < 250 / 20 < high


def test_a_clock_that_differs_by_more_than_both_spreads_is_told_with_what_follows():
    slower = dataclasses.replace(SAME, clock_ratio=3.771 / 4.119)
    assert str(slower) == (
        "the clock was 3.77 GHz, 4.12 GHz when the host was calibrated: what is bound by the core"
        " would take 9 % longer than predicted; autotune machine calibrate measures again"
    )
    faster = dataclasses.replace(SAME, clock_ratio=1.25, contended=True)
    assert str(faster) == (
        "the clock was 3.77 GHz, 3.02 GHz when the host was calibrated: what is bound by the core"
        " would take 20 % less than predicted (contended: other processes were running)"
    )


@pytest.mark.parametrize(
    ("ratio", "spread", "told"),
    [
        (0.97, 0.037, False),
        (1.03, 0.037, False),
        (0.95, 0.037, True),
        (1.05, 0.037, True),
        (0.995, 0.001, False),
        (0.75, 0.4, True),
    ],
)
def test_a_change_of_the_clock_within_its_spreads_is_not_told(ratio, spread, told):
    check = dataclasses.replace(SAME, clock_ratio=ratio, clock_spread=spread)
    assert check.drifted is told
    assert bool(check.changes) is told


@needs_gcc
def test_a_slower_clock_with_memory_as_before_is_told(machine, quick, monkeypatch):
    """A probe whose chains take a tenth longer, and whose memory is as before."""
    done, _ = quick
    calibrate.save(done)
    curve = done.loads[-1]

    def rate(item):
        if item.kind == "clock":
            return done.clock / 1.1
        return curve.at(item.bytes or curve.working_set[-1]) * done.clock / host_probe.GROUP

    def slower(_program, threads, items, *, sample, until):
        samples = tuple(
            ProbeSample(
                item=item, threads=threads, seconds=sample, busy=1.0,
                count=round(sample * rate(item)),
            )
            for item in items
        )  # fmt: skip
        return ProbeRun(samples=samples, priority="none", detail="", cpu=0.0)

    monkeypatch.setattr(host_probe, "run", slower)
    stated = dataclasses.replace(machine, calibration=replace(done, clock_spread=0.02))
    check = calibrate.recheck(stated)
    assert check.clock_ratio == pytest.approx(1 / 1.1, rel=1e-3)
    assert check.bandwidth_ratio == pytest.approx(1.0, rel=1e-3)
    assert check.drifted
    assert "would take 10 % longer than predicted" in str(check)


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
def test_the_program_knows_every_item(folders, machine):
    program = host_probe.build()
    made = calibration_plan.make(machine, 0.0, 64 << 20)
    for threads in made.threads:
        blocks = made.short(threads) + [b for b in made.long(threads) if b[0].bytes <= 1 << 20]
        items = [item for block in blocks for item in block]
        if threads == 1:
            items += [
                *calibration_plan.overlap_candidates("load"),
                *calibration_plan.overlap_candidates("divide"),
            ]
            items += [host_probe.load(host_probe.PAGE * 16, streams=n) for n in host_probe.STREAMS]
        ran = host_probe.run(program, threads, items, sample=1e-4, until=20.0)
        assert [sample.item for sample in ran.samples] == items, ran.detail


@needs_gcc
@pytest.mark.parametrize(
    "wrong",
    [
        ProbeItem(kind="load", bytes=4096, streams=1, extra=5),
        ProbeItem(kind="load", bytes=100, streams=1),
        ProbeItem(kind="load", bytes=4096, streams=5),
        ProbeItem(kind="runs", bytes=4096 * 3, run=16),
        ProbeItem(kind="resume", bytes=4096, streams=8, run=16),
        ProbeItem(kind="entry", bytes=4096, run=4096),
        ProbeItem(kind="clash", bytes=4096, streams=16, extra=64),
        ProbeItem(kind="across", bytes=100, streams=8),
        ProbeItem(kind="across", bytes=1 << 20, streams=6),
        ProbeItem(kind="calls", extra=99),
        ProbeItem(kind="wrong", bytes=4096),
    ],
    ids=str,
)
def test_an_item_that_cannot_be_is_refused(folders, wrong):
    program = host_probe.build()
    with pytest.raises(InputError, match="KIND:BYTES:STREAMS:EXTRA:RUN"):
        host_probe.run(program, 1, [wrong], sample=1e-4, until=5.0)


@needs_gcc
def test_streams_use_the_vectors_that_loops_get(folders):
    found = compiler.find(host_probe.BUILD)
    width = host_probe.width(found)
    text = build_cache.assembly(f"#define WIDTH {width}\n{host_probe.source()}", found)
    body = re.search(r"^sweep_32:(.*?)^\s*ret", text, re.MULTILINE | re.DOTALL)[1]
    register = f"%{ {16: 'x', 32: 'y', 64: 'z'}[width] }mm"
    # per pass: 4 groups of 64 bytes and 4 x 32 loads of the buffer in L1; which instruction loads
    # is the compiler's choice: a move, or an operation on an operand in memory
    vectors = {
        "x86_64": rf"^\s*\w+\s.*\(%r(?!sp|bp).*{register}\d+$",
        "aarch64": r"^\s*(ldr\s+q|ldp\s+q|ld1)",
    }
    architecture = detect().architecture
    if architecture not in vectors:
        pytest.skip(f"optional: no vector loads are known for {architecture}")
    loads = len(re.findall(vectors[architecture], body, re.MULTILINE))
    assert loads >= (4 * 64 // width + 4 * 32) / 2


def test_lines_cut_short_are_left_out():
    good = '{"item": "clock:0:0:0:0", "threads": 1, "seconds": 0.002, "count": 64, "busy": 1.0}'
    (sample,) = host_probe.parse([good, good[:-20]], [ProbeItem(kind="clock")])
    assert sample.per_operation == pytest.approx(0.002 / 64)
