"""Parts and reason of engine kerncraft, from ECM times of kernels that are known."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_nodes import documented

from autotune.codegen.c.kernel_values import KernelText
from autotune.codegen.tree.loop_tree import SweepStretch
from autotune.domain.results import Part, Prediction
from autotune.domain.setup import Saturation
from autotune.files import config
from autotune.language.expression import Num, Sym
from autotune.models.engines.kerncraft import prediction_parts
from autotune.models.engines.kerncraft.node_plan import (
    KernelStretch,
    NodeKernel,
    NodePlan,
)
from autotune.models.engines.kerncraft.node_stretches import StretchRequests, StretchTiming
from autotune.models.kerncraft.ecm_times import EcmTimes
from autotune.units import Seconds

LEVELS = ("L2", "MEM")
Row = tuple[float, float, float, float, float]
"""T_OL, T_nOL, L2, MEM and the seconds of a stretch."""


def plan(*names: str) -> NodePlan:
    """Kernels of one stretch each, ``sweep`` or ``sweep/kernel``."""
    kernels = []
    for name in names:
        sweep, _, kernel = name.partition("/")
        stretch = KernelStretch(
            sweep=sweep,
            kernel=kernel or sweep,
            region=SweepStretch(Num(0), Sym("n"), ()),
            text=KernelText(text=name, constants=()),
        )
        kernels.append(NodeKernel(stretches=(stretch,), executions=1))
    return NodePlan(ivp=config.ivp("wave1d"), kernels=tuple(kernels), barriers=0, granule=8)


def timing(*rows: Row, saturation: Sequence[float] | None = None) -> StretchTiming:
    columns = np.array(rows, dtype=float).T
    T_OL, T_nOL, near, memory, seconds = columns
    return StretchTiming(
        levels=LEVELS,
        seconds=seconds,
        T_OL=T_OL,
        T_nOL=T_nOL,
        transfers=np.stack([near, memory], axis=1),
        full=np.maximum.reduce(columns[:4]),
        serial=np.maximum(T_OL, T_nOL + near + memory),
        saturation=np.array(saturation or [math.inf] * len(rows)),
    )


def parts(names: Sequence[str], *rows: Row, barriers: float = 0.0) -> list[tuple[str, str, float]]:
    made = prediction_parts.parts(plan(*names), timing(*rows), barriers)
    return [(part.sweep, part.kind, float(part.seconds)) for part in made]


# --- parts ------------------------------------------------------------------------------------


def test_parts_are_the_terms_of_each_sweep_then_the_barriers() -> None:
    assert parts(["lc"], (1.0, 2.0, 3.0, 0.0, 5.0), barriers=0.5) == [
        ("lc", "T_OL", 1.0),
        ("lc", "T_nOL", 2.0),
        ("lc", "L2", 3.0),
        ("lc", "sweep", 5.0),
        ("barrier", "barrier", 0.5),
    ]


def test_sweeps_of_equal_name_are_added_up() -> None:
    made = parts(
        ["rhs/rhs", "lc", "rhs/rhs"],
        (1, 0, 0, 1, 2), (1, 1, 0, 0, 1), (0.5, 0, 2, 0, 2.5),
    )  # fmt: skip
    assert made == [
        ("rhs", "T_OL", 1.5),
        ("rhs", "L2", 2.0),
        ("rhs", "MEM", 1.0),
        ("rhs", "sweep", 4.5),
        ("lc", "T_OL", 1.0),
        ("lc", "T_nOL", 1.0),
        ("lc", "sweep", 1.0),
    ]


# --- reasons ----------------------------------------------------------------------------------


def reason(
    names: Sequence[str],
    *rows: Row,
    barriers: float = 0.0,
    saturation: Sequence[float] | None = None,
    cores: int = 8,
) -> str:
    seconds = sum(row[-1] for row in rows) + barriers
    made = timing(*rows, saturation=saturation)
    return prediction_parts.reason(plan(*names), made, barriers, seconds, cores)


@pytest.mark.parametrize(
    ("row", "saturation", "text"),
    [
        ((5, 1, 1, 1, 5), math.inf, "LC bound in core (T_OL): 100 % of the step"),
        ((2, 4, 1, 1, 6), math.inf, "LC bound in core (T_nOL): 100 % of the step"),
        ((1, 1, 3, 1, 5), math.inf, "LC bound by L2: 100 % of the step"),
        ((1, 1, 1, 3, 5), math.inf, "LC bound by MEM: 100 % of the step"),
        (
            (1, 1, 1, 3, 5),
            2.44,
            "LC bound by MEM, saturated from 2.4 of 8 cores: 100 % of the step",
        ),
        ((1, 1, 1, 3, 5), 9.0, "LC bound by MEM: 100 % of the step"),  # more than a domain has
        ((1, 1, 3, 1, 5), 2.0, "LC bound by L2: 100 % of the step"),
    ],
)
def test_the_largest_term_bounds_a_kernel(row: Row, saturation: float, text: str) -> None:
    assert reason(["lc"], row, saturation=[saturation]) == text


def test_overlapping_work_counts_only_where_it_takes_all_of_the_time() -> None:
    """T_OL 4 is the largest term of a stretch that takes 5; it hides behind the others."""
    assert reason(["lc"], (4, 1, 2.5, 1.5, 5)) == "LC bound by L2: 100 % of the step"


def test_two_kernels_are_named_the_longest_first_with_their_sweeps_together() -> None:
    text = reason(
        ["a/lc", "b/rhs", "c/lc", "d/update"],
        (0, 1, 0, 0, 1), (0, 2, 0, 0, 2), (0, 0, 2, 0, 2), (1, 0, 0, 0, 1),
    )  # fmt: skip
    assert text == "LC bound by L2: 50 % of the step; RHS bound in core (T_nOL): 33 %"


def test_a_kernel_is_saturated_from_the_fewest_cores_of_its_stretches() -> None:
    """The third stretch needs more cores than a domain has."""
    text = reason(
        ["a/lc", "b/lc", "c/lc"],
        (1, 1, 1, 3, 5), (1, 1, 1, 4, 6), (1, 1, 1, 2, 4), saturation=[5.0, 2.5, 9.0],
    )  # fmt: skip
    assert text == "LC bound by MEM, saturated from 2.5 of 8 cores: 100 % of the step"


@pytest.mark.parametrize(("barriers", "told"), [(0.2, ""), (1.0, "; barriers: 20 %")])
def test_barriers_are_told_above_a_twentieth(barriers: float, told: str) -> None:
    text = reason(["lc"], (4, 0, 0, 0, 4), barriers=barriers)
    assert text.partition(" of the step")[2] == told


def test_notes_are_added_behind_those_that_are_there() -> None:
    plain = Prediction(
        seconds=Seconds(1.0), interval=None, parts=(), reason="", engine="kerncraft", notes=("a",)
    )
    assert prediction_parts.with_notes(plain, "b", None, "", "c").notes == ("a", "b", "c")
    assert prediction_parts.with_notes(plain, None) is plain


# --- seconds of stretches -------------------------------------------------------------------------


CLOCK = 2e9
"""Hertz of the machine of the tests."""


class Kernel:
    """ECM times that depend on N: ``N / 100`` cycles of L2 and as many lines of memory as told."""

    constants = ("N",)

    def __init__(self, memory: float, T_OL: float = 2.0, bandwidth: float = 40e9) -> None:
        self.memory, self.T_OL, self.bandwidth = memory, T_OL, bandwidth

    def evaluate(
        self, sizes: Mapping[str, npt.NDArray[np.int64]], cores: Sequence[int]
    ) -> EcmTimes:
        """One row per size, one column per number of cores."""
        shape = (len(sizes["N"]), len(cores))
        near = np.broadcast_to(sizes["N"][:, None] / 100, shape)
        memory = np.full(shape, self.memory)
        transfers = np.stack([near, memory], axis=2)
        T_ECM = np.maximum(self.T_OL, 1.0 + transfers.sum(axis=2))
        return EcmTimes(
            levels=LEVELS,
            T_OL=self.T_OL,
            T_nOL=1.0,
            transfers=transfers,
            T_ECM=T_ECM,
            memory=memory,
            memory_lines=memory / 3.2,
            bandwidth=np.full(shape, self.bandwidth),
            saturation=np.full(shape[0], math.inf),
            saturation_at=np.full(shape, 3.0),
            scaling=T_ECM / np.array(cores) * 1.25,
            iterations_per_line=8.0,
        )


def seconds(cycles: float, iterations: float) -> float:
    return cycles * iterations / 8 / CLOCK


def requests(saturation: Saturation = "paper") -> StretchRequests:
    return StretchRequests(documented(), saturation)


def test_one_core_takes_the_cycles_of_its_lines_of_work() -> None:
    """Eq. 8 and 9: max(2, 1 + 4 + 6) = 11 cycles per line of eight iterations at 2 GHz."""
    made = requests()
    assert made.add("k", {"N": 400}, 1, 8000.0) == 0
    out = made.evaluate({"k": Kernel(6.0)})
    assert out.seconds[0] == pytest.approx(seconds(11, 8000))
    assert out.T_OL[0] == pytest.approx(seconds(2, 8000))
    assert out.T_nOL[0] == pytest.approx(seconds(1, 8000))
    assert out.transfers[0] == pytest.approx([seconds(4, 8000), seconds(6, 8000)])
    assert out.full[0] == pytest.approx(seconds(6, 8000))
    assert out.serial[0] == pytest.approx(seconds(11, 8000))
    assert out.saturation[0] == pytest.approx(11 / 6)


@pytest.mark.parametrize(("cores", "cycles"), [(1, 11.0), (2, 6.0), (4, 6.0), (11, 6.0)])
def test_cores_share_the_work_until_memory_is_saturated(cores: int, cycles: float) -> None:
    """T_ECM / tau, never below T_Mem = 6: from two cores on, the memory is all of the time."""
    made = requests()
    made.add("k", {"N": 400}, cores, 8000.0)
    out = made.evaluate({"k": Kernel(6.0)})
    assert out.seconds[0] == pytest.approx(seconds(cycles, 8000))
    near, memory = out.transfers[0]
    assert near == pytest.approx(seconds(4 / cores, 8000))
    expected = cycles if cores > 1 else 6.0
    assert memory == pytest.approx(seconds(expected, 8000))


def test_kerncrafts_own_rule_takes_its_scaling_and_the_wait_is_the_memorys() -> None:
    """11 / 2 * 1.25 cycles: of them 11 / 2 are one core's part, the rest is waiting."""
    made = requests("kerncraft")
    made.add("k", {"N": 400}, 2, 8000.0)
    out = made.evaluate({"k": Kernel(6.0)})
    together = 11 / 2 * 1.25
    assert out.seconds[0] == pytest.approx(seconds(together, 8000))
    assert out.transfers[0, 1] == pytest.approx(seconds(6 / 2 + together - 11 / 2, 8000))
    assert out.saturation[0] == 3.0


def test_no_stretch_is_faster_than_its_bytes_over_the_bandwidth() -> None:
    """6 / 3.2 lines of 64 bytes at 5 GB/s and 2 GHz are 48 cycles per line of work."""
    made = requests()
    made.add("k", {"N": 400}, 4, 8000.0)
    out = made.evaluate({"k": Kernel(6.0, bandwidth=5e9)})
    assert out.seconds[0] == pytest.approx(seconds(6 / 3.2 * 64 / 5e9 * CLOCK, 8000))
    assert out.transfers[0, 1] == pytest.approx(out.seconds[0])
    assert out.full[0] == pytest.approx(out.seconds[0])


@settings(max_examples=12, derandomize=True)
@given(
    order=st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.integers(100, 900),
            st.sampled_from([1, 2, 4]),
            st.floats(1, 1e6),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_requests_of_all_texts_and_cores_come_back_in_their_order(
    order: list[tuple[str, int, int, float]],
) -> None:
    kernels = {"a": Kernel(6.0), "b": Kernel(0.5, T_OL=20.0)}
    together = requests()
    for place, (text, size, cores, iterations) in enumerate(order):
        assert together.add(text, {"N": size}, cores, iterations) == place
    out = together.evaluate(kernels)
    for place, (text, size, cores, iterations) in enumerate(order):
        alone = requests()
        alone.add(text, {"N": size}, cores, iterations)
        expected = alone.evaluate(kernels)
        assert out.seconds[place] == expected.seconds[0]
        assert out.transfers[place].tolist() == expected.transfers[0].tolist()
        assert out.full[place] <= out.seconds[place] * (1 + 1e-12)
        assert out.seconds[place] <= out.serial[place] * (1 + 1e-12)


def test_no_requests_take_no_time() -> None:
    out = requests().evaluate({})
    assert (len(out.seconds), out.levels, out.transfers.shape) == (0, (), (0, 0))


def test_a_part_has_the_seconds_of_its_kind() -> None:
    (part, *_) = prediction_parts.parts(plan("lc"), timing((1, 2, 3, 4, 9)), 0.0)
    assert part == Part(sweep="lc", kind="T_OL", seconds=Seconds(1.0))
