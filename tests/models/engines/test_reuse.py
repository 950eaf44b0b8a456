"""The engine: predictions of hand-made programs with an in-core analyser that makes numbers up."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_programs import STEP, Broken, MadeUp, candidate, code, engine, predict, program, sweep
from sample_nodes import calibrated, documented

from autotune.codegen.tree.loop_tree import NodeBlock, Sync, Tiles
from autotune.domain.calibration import Constant
from autotune.domain.machine import Machine, Memory
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate, ExecutionLayout
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.traffic import analyse

MACHINES = [documented(), documented(exposed=0), calibrated(), calibrated(exposed=1)]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("n", [1000, 100_000, 4_000_000])
def test_parts_add_up_and_lie_between_maximum_and_sum(
    machine: Machine, threads: int, n: int
) -> None:
    found = predict(machine, program(*STEP), n, threads)
    assert found.seconds is not None
    whole = sum(p.seconds for p in found.parts if p.kind in ("sweep", "barrier"))
    assert whole == pytest.approx(found.seconds)
    assert found.interval is not None
    assert found.interval[0] <= found.seconds <= found.interval[1]
    for name in ("lc", "rh", "up"):
        parts = {p.kind: p.seconds for p in found.parts if p.sweep == name}
        combined = parts.pop("sweep")
        assert max(parts.values()) * (1 - 1e-9) <= combined <= sum(parts.values()) * (1 + 1e-9)


def test_one_sweep_in_memory_by_hand() -> None:
    """Serial machine: 3 rows, 15.8 cy per line, 0.3 cy per component in the core, 2 GHz."""
    made = program(sweep("lc", "0", "1", "2"))
    n = 4_000_000
    found = predict(documented(), made, n)
    assert found.seconds == pytest.approx(n * (0.3 + 3 * 15.8 / 8) / 2e9)
    assert found.reason.startswith("LC, 100 % of the step: 3 rows from MEM take")


def test_in_the_innermost_cache_the_core_decides() -> None:
    found = predict(calibrated(), program(sweep("lc", "0", "1")), 1000)
    assert found.seconds == pytest.approx(1000 * 0.5 / 3e9)
    assert found.reason.startswith("LC, 100 % of the step: work in core (port 0) takes")


def test_barriers_are_counted_by_thread_count() -> None:
    made = program(*STEP)
    slow = predict(calibrated(), made, 2000, 4)
    assert sum(p.seconds for p in slow.parts if p.kind == "barrier") == pytest.approx(7e-6)
    assert not [p for p in predict(calibrated(), made, 2000, 1).parts if p.kind == "barrier"]
    bare = predict(replace(documented(), barrier=None), made, 2000, 2)
    assert "barriers are not counted: the machine has no figure" in bare.notes


@pytest.mark.parametrize(("n", "level"), [(2000, "L2"), (40_000_000, "MEM")])
def test_threads_are_late_at_barriers_by_the_share_of_the_level(n: int, level: str) -> None:
    """A share of the time before, of the level of the lines; in the core that of the innermost."""
    made, plain = program(*STEP), calibrated()
    assert plain.calibration is not None
    shares = {"L2": 0.01, "L3": 0.01, "MEM": 0.05}
    constants = {
        f"waiting.{name}@2": Constant(
            value=share, low=share, high=share, unit="1", source="probe", samples=3
        )
        for name, share in shares.items()
    }
    late = replace(plain, calibration=replace(plain.calibration, constants=constants))

    def waits(machine: Machine, threads: int) -> tuple[float, float]:
        found = predict(machine, made, n, threads)
        assert found.seconds is not None
        barriers = sum(p.seconds for p in found.parts if p.kind == "barrier")
        return found.seconds - barriers, barriers

    work, barriers = waits(plain, 2)
    assert waits(late, 2)[0] == pytest.approx(work)
    share = (waits(late, 2)[1] - barriers) / work
    assert share == pytest.approx(shares[level], rel=0.15)
    assert waits(late, 1) == waits(plain, 1)


def test_between_barriers_the_slowest_thread_counts() -> None:
    """Work on the first half only takes as long on two threads as on one."""
    half = program(sweep("lc", "0", "1", upper="n/2"), Sync())
    both = program(sweep("lc", "0", "1"), Sync())
    machine = replace(calibrated(), calibration=None, barrier=0.0)
    alone = predict(machine, half, 2048, 1).seconds
    assert predict(machine, half, 2048, 2).seconds == pytest.approx(alone)
    assert predict(machine, both, 2048, 2).seconds == pytest.approx(alone)


@settings(max_examples=30, deadline=None)
@given(
    reads=st.lists(st.integers(1, 9), min_size=1, max_size=6, unique=True),
    n=st.sampled_from([20_000, 400_000, 3_000_000]),
    threads=st.sampled_from([1, 2, 4]),
    machine=st.sampled_from(MACHINES),
)
def test_more_traffic_never_takes_less_time(
    reads: list[int], n: int, threads: int, machine: Machine
) -> None:
    times = []
    for count in range(1, len(reads) + 1):
        made = program(sweep("lc", "0", *map(str, reads[:count])))
        times.append(predict(machine, made, n, threads).seconds)
    assert all(a <= b * (1 + 1e-9) for a, b in pairwise(times))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_no_prediction_is_below_bytes_over_bandwidth(machine: Machine, threads: int) -> None:
    n = 200_000_000
    made = program(*STEP)
    found = engine(machine, made, MadeUp(0.0, 0.0)).predict([candidate(n, threads)])[0]
    traffic = analyse(made, candidate(n).problem, threads, machine)
    moved = sum(
        record.executions * record.iterations * stream.lines * 64
        for record in traffic.records()
        for stream in record.streams
        if stream.level == "MEM"
    ) * (threads / len(traffic.threads))
    if machine.calibration:
        bandwidth = machine.calibration.curve(threads).bandwidth[-1] * 3e9 * threads
    else:
        bandwidth = min(10e9 * threads, 40e9)
    assert found.seconds is not None
    assert found.seconds >= moved / bandwidth * (1 - 1e-9)


def test_order_and_company_do_not_matter() -> None:
    programs = {
        "a": program(*STEP),
        "b": program(sweep("lc", "0", "1")),
        "c": program(Tiles(256, NodeBlock((sweep("lc", "0", "1"), sweep("up", "2", "0"))))),
    }
    mixed = [candidate(n, t, k) for k in programs for n in (3000, 300_000) for t in (1, 2)]

    def fresh(candidates: list[Candidate]) -> list[Prediction]:
        made = ReuseEngine(
            calibrated(), lambda c: programs[str(c.variant.parameters["name"])], MadeUp(), code
        )
        return made.predict(candidates)

    together = fresh(mixed)
    assert [fresh([one])[0] for one in mixed] == together
    order = list(range(len(mixed)))
    random.Random(1).shuffle(order)
    assert fresh([mixed[k] for k in order]) == [together[k] for k in order]


def test_equal_sweeps_are_analysed_once() -> None:
    analyser = MadeUp()
    made = engine(calibrated(), program(*STEP), analyser)
    made.predict([candidate(n, t) for n in (1000, 2000) for t in (1, 2)])
    made.predict([candidate(5000)])
    assert sorted(analyser.seen) == sorted(
        code(s).text for s in (STEP[1], *STEP[0].body.nodes[::2])
    )


def test_twice_the_clock_takes_half_the_time_in_cache() -> None:
    slow = replace(calibrated(), calibration=None, barrier=0.0)
    made = program(*STEP)
    fast = replace(slow, clock=slow.clock * 2, memory=Memory(single=20e9, saturated=80e9, cores=4))
    a, b = predict(slow, made, 3_000_000, 2), predict(fast, made, 3_000_000, 2)
    assert b.seconds == pytest.approx(a.seconds / 2)
    assert [p.seconds for p in b.parts] == pytest.approx([p.seconds / 2 for p in a.parts])


def test_crowded_sets_cost_time_and_are_told() -> None:
    made = sweep("lc", "0", *(str(k) for k in range(1, 9)))
    bare, padded = program(made, pad_lines=0), program(made, pad_lines=5)
    slow, fast = predict(calibrated(), bare, 65536), predict(calibrated(), padded, 65536)
    assert slow.seconds > fast.seconds
    assert "LC: 9 rows in one set of L1, which has 8 ways" in slow.notes
    assert not [note for note in fast.notes if "one set" in note]
    assert slow.interval[0] <= fast.seconds


def test_ranks_share_a_node_like_threads_but_wait_at_no_common_barrier() -> None:
    made = program(*STEP)

    def seconds(**spread: int) -> tuple[float, float]:
        way = "allgather" if spread.get("ranks", 1) > 1 else "none"
        asked = replace(candidate(), layout=ExecutionLayout(communication=way, **spread))
        found = engine(calibrated(), made).predict([asked])[0]
        barriers = sum(part.seconds for part in found.parts if part.kind == "barrier")
        return found.seconds - barriers, barriers

    threads, ranks, nodes = (
        seconds(threads=4),
        seconds(ranks=4),
        seconds(ranks=4, nodes=4),
    )
    assert ranks[0] == pytest.approx(threads[0])
    assert (threads[1] > 0, ranks[1]) == (True, 0)
    assert seconds(ranks=2, threads=2)[1] > 0
    assert nodes[0] <= ranks[0], "a node of its own shares no memory"


def test_where_it_cannot_say_it_says_why() -> None:
    made = program(*STEP)
    unknown = engine(calibrated(), made, Broken()).predict([candidate()])[0]
    assert unknown.seconds is None
    assert "not installed" in unknown.reason
    bare = predict(replace(documented(), memory=Memory()), made, 8_000_000)
    assert (bare.seconds, bare.interval) == (None, None)
    assert "no bandwidth of MEM" in bare.reason
    odd = engine(calibrated(), program(Tiles(64, NodeBlock((Sync(),))))).predict([candidate()])[0]
    assert "tile loop" in odd.reason


def test_a_machine_file_has_a_wider_interval_than_a_calibration() -> None:
    def width(machine: Machine) -> float:
        found = predict(machine, program(*STEP), 100_000)
        low, high = found.interval
        return (high - low) / found.seconds

    assert width(documented()) > width(calibrated())
    assert np.isfinite(width(documented()))
