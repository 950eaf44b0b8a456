"""Predicted and measured times of kernels: shares of the phases, kernels of one function as one."""

from types import SimpleNamespace

import pytest

from autotune.codegen.tree import loop_tree
from autotune.commands.measure.kernel_times import kernel_times
from autotune.domain.results import Part
from autotune.units import Seconds

SWEEPS = [
    SimpleNamespace(name="f_0", kernel="rhs_first"),
    SimpleNamespace(name="lc_jli", kernel="lc"),
    SimpleNamespace(name="f_0", kernel="rhs"),
]
PARTS = [
    Part(sweep="f_0", kind="sweep", seconds=Seconds(2.0)),
    Part(sweep="f_0", kind="T_OL", seconds=Seconds(1.5)),
    Part(sweep="lc_jli", kind="sweep", seconds=Seconds(1.0)),
    Part(sweep="barrier", kind="barrier", seconds=Seconds(0.5)),
]


@pytest.fixture(autouse=True)
def sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_tree, "every_sweep", lambda body: iter(body))


def test_kernels_of_one_function_are_listed_as_one() -> None:
    phases = {"rhs_first": 1.0, "lc": 2.0, "rhs": 4.0, "barrier": 1.0}
    found = {k.kernel: k for k in kernel_times(SimpleNamespace(body=SWEEPS), PARTS, phases, None)}
    assert list(found) == ["rhs_first + rhs", "lc", "barrier"]
    assert (found["rhs_first + rhs"].predicted, found["rhs_first + rhs"].measured) == (2.0, 5.0)
    assert (found["barrier"].predicted, found["barrier"].measured) == (0.5, 1.0)


def test_phases_count_by_their_shares_of_the_step() -> None:
    phases = {"rhs_first": 1.0, "lc": 2.0, "rhs": 4.0, "barrier": 1.0}
    found = kernel_times(SimpleNamespace(body=SWEEPS), PARTS, phases, 4.0)
    assert [kernel.measured for kernel in found] == [2.5, 1.0, 0.5]


def test_without_phases_nothing_is_measured() -> None:
    found = kernel_times(SimpleNamespace(body=SWEEPS), PARTS, {}, 4.0)
    assert [kernel.measured for kernel in found] == [None, None, None]
