"""The in-core route of kernels: kerncraft's OSACA, a cross compiler, or a port table."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kerncraft_kernels import DAXPY, STAR_2D
from kerncraft_machines import folder

from autotune.domain.machine import Machine
from autotune.files import config
from autotune.models.kerncraft import kernel_routes
from autotune.models.kerncraft.kernel_routes import (
    KernelRoutes,
    RoutedModel,
    compiler_route,
    counted_times,
)
from autotune.toolchain.cross_compilers import CROSS_COMPILERS

AXPY = (
    "double x[N];\ndouble y[N];\ndouble s;\n\n"
    "for (long i = 0; i < N; ++i) {\n    y[i] += s * x[i];\n}\n"
)
SEVEN = """\
double u[M][N][P];
double v[M][N][P];
double a;
double b;

for (long k = 1; k < M - 1; ++k)
    for (long j = 1; j < N - 1; ++j)
        for (long i = 1; i < P - 1; ++i) {
            v[k][j][i] = a * u[k][j][i] + b * (u[k][j][i-1] + u[k][j][i+1] + u[k][j-1][i]
                         + u[k][j+1][i] + u[k-1][j][i] + u[k+1][j][i]);
        }
"""
RECURRENT = "double u[N];\n\nfor (long i = 1; i < N - 1; ++i)\n    u[i] = u[i-1] + u[i+1];\n"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))


def theirs(name: str) -> Machine:
    return config.machine(str(folder() / f"{name}.yml"))


def model(machine: Machine, text: str) -> RoutedModel:
    with KernelRoutes(machine) as routes:
        (made,) = routes.analyse([text])
    assert isinstance(made, RoutedModel), made
    return made


@pytest.mark.parametrize("name", ["interlagos-6276", "power4-1.3"])
def test_a_machine_without_tables_has_its_port_table_and_kerncrafts_traffic(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    machine = config.machine(name)
    made = model(machine, DAXPY)
    missing = ", as powerpc64-linux-gnu-gcc is not installed (Debian: apt-get install"
    assert made.in_core.startswith(f"in-core by the port table of {name} on the C text")
    assert made.in_core.endswith(f"(OSACA has no tables of {name})")
    assert (missing in made.in_core) == (name == "power4-1.3")
    counted = counted_times(DAXPY, machine)
    times = made.evaluate({"N": np.array([10**8])}, [1])
    assert (times.T_OL, times.T_nOL) == counted.alone
    assert times.transfers[0, 0].min() > 0
    assert times.T_ECM[0, 0] >= times.T_nOL + times.transfers[0, 0, -1]


def test_cores_that_share_units_are_slower_together() -> None:
    made = model(config.machine("interlagos-6276"), DAXPY)
    alone, together = (made.evaluate({"N": np.array([100])}, [c]).T_OL for c in (1, 8))
    assert together == 2 * alone


def test_axpy_on_bulldozer_is_two_memory_operations_a_cycle() -> None:
    """machines: (8 loads + 4 stores of 128 bit) / 2 per line of 64 B, both cores decode 12."""
    times = counted_times(DAXPY, config.machine("interlagos-6276"))
    assert (times.alone.T_nOL, times.crowded.T_OL) == pytest.approx((6, 12))


def test_rows_of_an_array_are_loaded_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four points in three rows: one of the two in the middle row has been loaded before."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    times = counted_times(STAR_2D, config.machine("power4-1.3"))
    assert times.alone.T_nOL == pytest.approx(16 * (3 + 1) / 2)


def test_a_recurrence_stays_scalar() -> None:
    """Two loads and a store of 8 B, two a cycle: not a load and a store of 16 B."""
    machine = config.machine("interlagos-6276")
    plain = counted_times(RECURRENT.replace("u[i] =", "v[i] ="), machine)
    carried = counted_times(RECURRENT, machine)
    assert "one element at a time" in carried.route
    assert (plain.alone.T_nOL, carried.alone.T_nOL) == pytest.approx((4, 12))


@pytest.mark.parametrize("name", ["A64FX_qpace4", "ARMv8_ThunderX2-CN9980"])
def test_without_a_cross_compiler_the_c_text_is_counted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    machine = theirs(name)
    route = compiler_route(machine)
    assert route.missing.startswith("aarch64-linux-gnu-gcc is not installed (Debian: apt-get")
    made = model(machine, DAXPY)
    assert "a port table of a common core on the C text" in made.in_core
    assert route.missing in made.in_core


def test_thunderx2_through_the_cross_compiler_of_debian() -> None:
    if not CROSS_COMPILERS["aarch64"].installed:
        pytest.skip("optional: aarch64-linux-gnu-gcc is not installed")
    made = model(theirs("ARMv8_ThunderX2-CN9980"), DAXPY)
    assert made.in_core.startswith("in-core by OSACA (TX2) on the loop as kerncraft compiles it")
    assert "(aarch64-linux-gnu-gcc -Ofast" in made.in_core


@pytest.mark.parametrize(("text", "expected"), [(AXPY, (24, 24)), (SEVEN, (64, 48))])
def test_power4_through_the_cross_compiler_of_debian(
    text: str, expected: tuple[float, float]
) -> None:
    """Cycles per line of 128 B: dispatch groups, and two loads or stores a cycle, by hand."""
    if not CROSS_COMPILERS["ppc64"].installed:
        pytest.skip("optional: powerpc64-linux-gnu-gcc is not installed")
    counted = counted_times(text, config.machine("power4-1.3"))
    assert tuple(counted.alone) == pytest.approx(expected)
    assert "on the loop that powerpc64-linux-gnu-gcc makes of the C text" in counted.route


def test_a_text_that_does_not_compile_is_counted_as_it_stands() -> None:
    if not CROSS_COMPILERS["ppc64"].installed:
        pytest.skip("optional: powerpc64-linux-gnu-gcc is not installed")
    wrong = AXPY.replace("double s;", "")
    assert counted_times(wrong, config.machine("power4-1.3")).route.endswith("on the C text")


def test_a_loop_that_kerncraft_does_not_trust_is_counted_in_its_text() -> None:
    joined = (
        "double a[M][4];\ndouble b[M][4];\n\n"
        "for (long i = 0; i < M; ++i)\n"
        "    for (long j = 0; j < 4; ++j)\n"
        "        a[i][j] = b[i][j];\n"
    )
    made = model(config.machine("haswell-e5-2630v3"), joined)
    assert "port table of haswell-e5-2630v3 on the C text" in made.in_core
    assert "the inner loop has 4 iterations" in made.in_core


def test_what_kerncraft_cannot_express_has_its_reason() -> None:
    with KernelRoutes(config.machine("power4-1.3")) as routes:
        (reason,) = routes.analyse([DAXPY.replace("++i", "i += 2")])
    assert isinstance(reason, str)
    assert "not all loops are of step length 1" in reason


def test_a_listed_compiler_that_is_missing_is_named() -> None:
    machine = replace(config.machine("haswell-e5-2630v3"), compilers={"icc": "-O3"})
    assert compiler_route(machine).missing == "no compiler is installed of icc"
    assert kernel_routes.compiler_route(replace(machine, compilers={})).missing == ""
