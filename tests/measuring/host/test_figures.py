"""Planted costs are found again among the constants, with intervals that say how well."""

import dataclasses
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.calibration import CONSTANTS
from autotune.measuring.host import calibration_plan, constants
from autotune.measuring.host.constants import ProbeConditions
from autotune.measuring.host.detect import detect
from autotune.measuring.host.host_probe import FUNCTIONS, ProbeItem, ProbeSample, load

CLOCK = 2.0e9
COSTS = {
    "vector_load.32": 0.5, "vector_store.32": 1.0, "vector_add.32": 0.5, "vector_multiply.32": 0.75,
    "vector_fused.32": 0.625, "vector_divide.32": 5.0, "vector_narrow.32": 0.375,
    "vector_unaligned.32": 0.875, "vector_apart.32": 1.25, "vector_mixed.32": 0.25,
    "vector_mixed.16": 0.1875, "load_again": 4.0, "again_loop": 16.0,
    "vector_shuffle.32": 1.25, "vector_window.32": 60.0,
    "line_crossing": 0.75, "store_forward": 7.0, "blocked_forward": 21.0, "loop_entry": 27.0,
    "predicted_exit": 20.0, "set_conflict": 2.5, "stream_start.L2": 1.0, "stream_start.L3": 15.0,
    "stream_start.MEM": 250.0, "core_to_core": 14.0, "barrier@2": 3e-7, "outbound.L2": 0.5,
    "outbound.MEM@2": 2.0, "allocate.MEM": 9.0, "exposed.L3": 0.25, "overlap_ol.MEM": 0.125,
    "exposed.L3@2": 0.5, "stream_start.MEM@2": 400.0, "waiting.MEM@2": 0.0625,
    "crossing_stores.L2": 4.0,
    "library_call.exp": 9.0, "library_call.fmod": 40.0, "crossing_stores.MEM@2": 1.5,
    "crossing_loads.L2": 1.25,
    "stream_resume.L3": 3.0, "stream_resume.MEM": 20.0, "core_cycle": 0.75, "core_cycle@2": 1.125,
}  # fmt: skip


@pytest.fixture
def measured(host):
    return ProbeConditions(
        plan=calibration_plan.make(detect(host("zen3-epyc-guest")), 45.0, None),
        clock=CLOCK,
        width=32,
        line=64,
        beside={
            threads: {
                "update": {"L2": 3, "L3": 6, "MEM": 32},
                "divide": {"L2": 1, "L3": 2, "MEM": 4},
            }
            for threads in (1, 2)
        },
    )


def apart_of(length, window):
    """The additions between the starts of two chains, by bisection: fewer where more can wait."""
    low, high = 1.0, float(length)
    for _ in range(200):
        middle = (low + high) / 2
        waiting = sum(max(0.0, length - k * middle) for k in range(1, length))
        low, high = (middle, high) if waiting > window else (low, middle)
    return low


def cycles(of, threads, item):
    """What an item takes on a machine with exactly these costs."""
    levels = of.plan.levels[threads]
    line = {"L2": 2.0, "L3": 4.0, "MEM": 10.0}
    place = next((level for level, size in levels.items() if size >= item.bytes), "MEM")
    if item.bytes <= calibration_plan.LARGEST_L1:
        place = "L1"
    transfer = line.get(place, 1.0)

    def at(name):
        return COSTS.get(name + (f"@{threads}" if threads > 1 else ""), 0.0)

    match item.kind:
        case "wide":
            return at("core_cycle")
        case "meet":
            return at(f"waiting.{place}") * item.run * transfer
        case "adds" | "multiplies" | "fused" | "divides" | "shuffles":
            names = {
                "adds": "add", "multiplies": "multiply", "divides": "divide", "shuffles": "shuffle"
            }  # fmt: skip
            return COSTS[f"vector_{names.get(item.kind, item.kind)}.32"]
        case "window":
            return 3.0 * apart_of(item.run, COSTS["vector_window.32"])
        case "behind":
            return 1.0 + COSTS["vector_unaligned.32"] * (item.extra > 0)
        case "apart":
            return COSTS["vector_apart.32"]
        case "mixed":
            ports = 1.5 if item.extra == 16 and not item.run else 1.0  # that bound this mix alone
            return (2 + item.run) * ports * COSTS[f"vector_mixed.{min(item.extra, 32)}"]
        case "taps":
            core = 6.0 + 5.0 * item.extra
            again = COSTS["load_again"] * (1 - core / COSTS["again_loop"])
            return core + again * (item.bytes > of.plan.sizes[1][0])
        case "narrow":
            return 30.0 + item.extra * calibration_plan.RELOADED * COSTS["vector_narrow.32"]
        case "load" if item == calibration_plan.vector_operations()[0]:
            return (2 + item.extra) * COSTS["vector_load.32"]
        case "store" if item == calibration_plan.vector_operations()[1]:
            return 2 * COSTS["vector_store.32"]
        case "add":
            return 3.0
        case "forward":
            return 3.0 + COSTS["store_forward"]
        case "blocked":
            return 3.0 + COSTS["blocked_forward"]
        case "offset":
            return 0.5 + COSTS["line_crossing"] / 2 * (item.extra > 0)
        case "entry":
            varied = item.extra > 0
            length = item.run + 3.5 * item.extra
            entry = COSTS["loop_entry"] - (not varied) * COSTS["predicted_exit"]
            return entry + 0.25 * length
        case "runs":
            start = at(f"stream_start.{place}")
            whole = item.run > max(calibration_plan.RUNS)
            return 6.0 * (not whole) + start * (not whole) + item.run * transfer
        case "resume":
            short = item.run <= max(calibration_plan.RUNS)
            return (6.0 + at(f"stream_resume.{place}")) * short + item.run * transfer
        case "clash":
            return 1.0 + COSTS["set_conflict"]
        case "update" if not item.extra:
            return transfer + at(f"outbound.{place}")
        case "store":
            return COSTS["allocate.MEM"]
        case "calls":
            return at(f"library_call.{FUNCTIONS[item.extra]}") or 30.0
        case "across":
            written = calibration_plan.WRITTEN
            loads = (item.streams - written) * at(f"crossing_loads.{place}")
            return (at(f"crossing_stores.{place}") + loads) * written / item.streams
        case "handed":
            return 1.0 + COSTS["core_to_core"]
        case "barrier":
            return COSTS["barrier@2"] * CLOCK
    if item.extra:
        alone = float(item.extra)
        if place == "L1":
            return alone
        name = "exposed" if item.kind == "update" else "overlap_ol"
        share = at(f"{name}.{place}")
        return max(alone, transfer) + share * min(alone, transfer)
    return 1.0 if item.streams > 1 else transfer


def rounds(of, wanted, count=5, noise=None):
    """``count`` rounds of every item that the figures need."""
    result = []
    for number in range(count):
        factor = noise[number] if noise else 1.0
        items = {pair for figure in wanted for pair in figure.items}
        result.append(
            [
                ProbeSample(
                    item=item,
                    threads=threads,
                    seconds=cycles(of, threads, item) * factor * 1000 / CLOCK,
                    count=1000,
                    busy=1.0,
                )
                for threads, item in items
            ]
        )
    return result


def test_planted_costs_are_found(measured):
    wanted = constants.host_constants(measured)
    found = constants.constants(rounds(measured, wanted), CLOCK, wanted, contended=False)
    assert {name: found[name].value for name in COSTS} == pytest.approx(COSTS, rel=1e-9)
    for name, constant in found.items():
        base = name.partition("@")[0].partition(".")[0]
        assert constant.unit == CONSTANTS[base][0]
        assert constant.samples == 5
        assert constant.low <= constant.value <= constant.high


def test_costs_of_lines_are_of_whole_ones_where_these_are_longer(measured):
    wide = replace(measured, line=128)
    wanted = constants.host_constants(wide)
    values = constants.constants(rounds(wide, wanted), CLOCK, wanted, contended=False)
    for name in ("allocate.MEM", "outbound.L2", "crossing_stores.L2", "crossing_loads.L2"):
        assert values[name].value == pytest.approx(2 * COSTS[name]), name


def test_costs_in_the_core_are_in_its_own_cycles_whatever_its_clock_does(measured):
    """Each block is timed at a clock of its own, which the chain before it has too."""
    wanted = [figure for figure in constants.host_constants(measured) if figure.paced]
    blocks = measured.plan.short(1)
    samples = [
        ProbeSample(
            item=item,
            threads=1,
            seconds=(1.0 if item.kind == "clock" else cycles(measured, 1, item)) / clock,
            count=1,
            busy=1.0,
        )
        for clock, block in zip([2.5e9, 1.5e9, 3.0e9] * len(blocks), blocks, strict=False)
        for item in block
    ]
    found = constants.constants([samples], CLOCK, wanted, contended=False)
    named = {figure.name for figure in wanted} & set(COSTS)
    assert {"vector_load.32", "line_crossing", "store_forward", "loop_entry"} <= named
    assert {name: found[name].value for name in named} == pytest.approx(
        {name: COSTS[name] for name in named}, rel=1e-9
    )


def test_costs_in_the_core_rest_on_the_least_disturbed_samples_of_all_rounds(measured):
    """Two of three rounds ran beside another thread of the core, the third one for one item."""
    (figure,) = (f for f in constants.host_constants(measured) if f.name == "store_forward")
    slow = {ProbeItem(kind="forward"): (1.0, 1.5, 1.5), ProbeItem(kind="add"): (1.5, 1.0, 1.0)}
    samples = [
        [
            ProbeSample(
                item=item, threads=1, count=1000, busy=1.0,
                seconds=cycles(measured, 1, item) * slow[item][number] * 1000 / CLOCK,
            )
            for _, item in figure.items
        ]
        for number in range(3)
    ]  # fmt: skip
    found = constants.constants(samples * 2, CLOCK, [figure], contended=False)[figure.name]
    assert found.value == pytest.approx(COSTS["store_forward"], rel=0.2)
    assert found.low <= found.value <= found.high


def test_a_round_that_was_cut_off_counts_with_the_others(measured):
    """One item of a second round is faster; the interval reaches as far as the value."""
    (figure,) = (f for f in constants.host_constants(measured) if f.name == "vector_unaligned.32")
    (whole,) = rounds(measured, [figure], count=1)
    for kept in whole:
        faster = dataclasses.replace(kept, seconds=0.8 * kept.seconds)
        found = constants.constants([whole, [faster]], CLOCK, [figure], contended=False)
        constant = found[figure.name]
        assert constant.low <= constant.value <= constant.high


@pytest.mark.parametrize(("width", "named"), [(16, (16,)), (32, (32,)), (64, (32, 64))])
def test_stores_in_turn_are_measured_for_vectors_of_half_and_of_full_width(measured, width, named):
    of = dataclasses.replace(measured, width=width)
    apart = [f for f in constants.host_constants(of) if f.name.startswith("vector_apart")]
    assert [figure.name for figure in apart] == [f"vector_apart.{size}" for size in named]
    planned = {item for block in of.plan.short(1) for item in block}
    assert {item for figure in apart for _, item in figure.items} <= planned


def test_every_constant_that_is_defined_is_measured(measured):
    names = {f.name.partition("@")[0].partition(".")[0] for f in constants.host_constants(measured)}
    assert names == set(CONSTANTS)


def test_a_busy_host_widens_every_interval(measured):
    wanted = constants.host_constants(measured)
    samples = rounds(measured, wanted, noise=[1.0, 1.1, 0.95, 1.05, 1.2])
    quiet = constants.constants(samples, CLOCK, wanted, contended=False)
    busy = constants.constants(samples, CLOCK, wanted, contended=True)
    for name, constant in quiet.items():
        if constant.value > 0:
            assert busy[name].high - busy[name].low >= constant.high - constant.low
            assert busy[name].value == constant.value


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=12), st.booleans())
def test_a_negative_cost_is_none_and_its_interval_says_how_badly_it_is_known(values, contended):
    figure = constants.HostConstant(
        name="line_crossing",
        items=((1, ProbeItem(kind="add")),),
        value=lambda t: t[0] * CLOCK / CLOCK - 100.0,
        source="",
    )
    samples = [
        [
            ProbeSample(
                item=ProbeItem(kind="add"), threads=1, seconds=(100 + v) / CLOCK, count=1, busy=1.0
            )
        ]
        for v in values
    ]
    found = constants.constants(samples, CLOCK, [figure], contended=contended)["line_crossing"]
    assert 0 <= found.low <= found.value <= found.high
    assert all(math.isfinite(number) for number in (found.low, found.value, found.high))
    middle = sorted(values)[len(values) // 2]
    if max(values) < 0:
        assert found.value == 0
        assert found.high >= -max(values) * (1 - 1e-6) - 1e-6, middle


def test_what_was_not_measured_is_absent(measured):
    assert constants.constants([], CLOCK, constants.host_constants(measured), contended=False) == {}
    only = [[ProbeSample(item=load(4096), threads=1, seconds=1.0, count=1, busy=1.0)]]
    assert (
        constants.constants(only, CLOCK, constants.host_constants(measured), contended=True) == {}
    )


def test_rounds_that_lost_their_processors_count_only_where_there_are_no_others():
    figure = constants.HostConstant(
        name="barrier@2", items=((2, ProbeItem(kind="barrier")),), value=lambda t: t[0], source=""
    )

    def taken(busy, cycles):
        return [
            ProbeSample(
                item=ProbeItem(kind="barrier"),
                threads=2,
                seconds=cycles / CLOCK,
                count=1,
                busy=busy,
            )
        ]

    mixed = [taken(1.0, 5.0)] * 3 + [taken(0.5, 50.0)] * 4
    found = constants.constants(mixed, CLOCK, [figure], contended=False)["barrier@2"]
    assert (found.value, found.samples) == (pytest.approx(5.0), 3)
    lost = constants.constants(mixed[3:], CLOCK, [figure], contended=True)["barrier@2"]
    assert lost.value == pytest.approx(50.0)


def test_a_round_in_which_the_processor_was_taken_away_is_no_spread():
    figure = constants.HostConstant(
        name="library_call.asin",
        items=((1, ProbeItem(kind="add")),),
        value=lambda t: t[0],
        source="",
    )

    def measured_from(*cycles):
        samples = [
            [
                ProbeSample(
                    item=ProbeItem(kind="add"), threads=1, seconds=value / CLOCK, count=1, busy=1.0
                )
            ]
            for value in cycles
        ]
        return constants.constants(samples, CLOCK, [figure], contended=False)[figure.name]

    calm = measured_from(56.0, 55.0, 57.0, 56.0)
    broken = measured_from(56.0, 55.0, 2.69e6, 57.0, 56.0)
    assert (broken.value, broken.low, broken.high) == (calm.value, calm.low, calm.high)
    two_clocks = measured_from(50.0, 50.0, 50.0, 80.0, 80.0)
    assert two_clocks.high > 80.0
    mostly_nothing = measured_from(0.0, 0.0, 226.0, 0.0)
    assert mostly_nothing.value == 0.0
    assert mostly_nothing.high > 100.0, "an end between nothing and 226"
