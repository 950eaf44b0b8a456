"""Counts and the arithmetic of port tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from incore_samples import POWER4, captured

from autotune.models.incore.assembly import hot_loops
from autotune.models.incore.cost import port_pressure
from autotune.models.incore.cost import port_table as ports
from autotune.models.incore.cost.port_table import ComponentWork


def test_the_work_of_a_loop_is_counted_per_component():
    loop = hot_loops.hot_loop(captured("update.gcc-znver3"), "update")
    counts = ports.count_loop(loop)
    assert (counts.loads, counts.stores, counts.fused) == (2, 1, 1)
    assert (counts.adds, counts.multiplies, counts.divides) == (0, 0, 0)


@pytest.mark.parametrize(
    "sample", ["gcc-znver3", "gcc-O2-haswell", "clang-znver3", "gcc-neoverse-n1", "clang-a64fx"]
)
def test_counts_do_not_depend_on_compiler_or_machine(sample):
    counts = ports.count_loop(hot_loops.hot_loop(captured(f"update.{sample}"), "update", vector=64))
    assert (counts.loads, counts.stores, counts.fused) == (2, 1, 1)


def test_axpy_on_power4():
    # 4 loads, 2 fused multiply-adds and 2 stores per 2 components: (loads + stores)/2
    found = ports.estimate(ComponentWork(loads=2, stores=1, fused=1), POWER4)
    assert found.T_nOL == pytest.approx(1.5)
    assert pytest.approx(1.0) == found.T_OL
    assert found.bottleneck == "loads and stores"


def test_without_fused_units_both_halves_count():
    table = ports.generic(16)
    plain = ports.PortTable(
        **{name: getattr(table, name) for name in table.__dataclass_fields__} | {"fused": 0}
    )
    counts = ComponentWork(loads=0, stores=1, fused=8)
    assert ports.estimate(counts, plain).T_OL > ports.estimate(counts, table).T_OL


def test_the_c_text_is_counted_without_compiler():
    text = """
    void f(long first, long last, double h, double *restrict Y, const double *restrict F_0,
           const double *restrict F_1, const double *restrict y)
    {
        for (long j = first; j < last; j++) {  /* one pass */
            double sum = 0.25*F_0[j];
            sum += -1.5e-3*F_1[j - 1];
            Y[j] = h*sum + y[j]/2.0;
        }
    }
    """
    counts = ports.count_source(text)
    assert (counts.loads, counts.stores) == (3, 1)
    assert (counts.fused, counts.multiplies, counts.divides) == (2, 1, 1)


def test_an_element_updated_in_the_c_text_is_loaded_once():
    counts = ports.count_source(
        "void f(void) { for (long j = 0; j < n; j++) { Y[j] += a*F[j]; Y[j] += b*G[j]; } }"
    )
    assert (counts.loads, counts.stores, counts.fused) == (3, 1, 2)


def test_what_is_the_same_in_every_pass_is_computed_before_the_loop():
    """Quotients of numbers and of scalars that no statement assigns, as in an upwind difference."""
    counts = ports.count_source(
        "for (long j = 4; j < n - 4; ++j) { double d = y[j-1] - y[j+1];"
        " f[j] = -1.0/delta*(-4.0/5.0*d + a*b*(y[j-2] - y[j+2])); }"
    )
    assert (counts.divides, counts.multiplies, counts.fused, counts.adds) == (0, 2, 1, 2)
    counts = ports.count_source("for (long j = 0; j < n; ++j) { double d = y[j]; f[j] = 1.0/d; }")
    assert counts.divides == 1


def test_a_step_of_two_covers_two_components():
    counts = ports.count_source("void f(void) { for (j = 0; j < n; j += 2) f[j] = y[j + 1]; }")
    assert (counts.loads, counts.stores) == (0.5, 0.5)


def test_a_text_without_loop_is_one_pass():
    counts = ports.count_source("void f(void) { f[first] = 2.0*y[first] + 1.0; }")
    assert (counts.loads, counts.stores, counts.fused) == (1, 1, 1)


PORTS = st.sets(st.sampled_from("abcd"), min_size=1).map(frozenset)
UOPS = st.lists(st.tuples(st.floats(0, 8), PORTS), max_size=8)


@given(UOPS)
def test_pressure_lies_between_its_bounds(uops):
    found = port_pressure.least(uops).cycles
    total = sum(cycles for cycles, _ in uops)
    assert total / 4 - 1e-6 <= found <= total + 1e-6
    alone = max((cycles / len(ports) for cycles, ports in uops), default=0.0)
    assert found >= alone - 1e-6


@given(UOPS, st.tuples(st.floats(0, 8), PORTS))
def test_more_work_never_takes_less_time(uops, more):
    assert port_pressure.least([*uops, more]).cycles >= port_pressure.least(uops).cycles - 1e-6
