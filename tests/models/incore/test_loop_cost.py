"""Cycles of loops from the ports of their instructions, and the result of a sweep, by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pytest
from incore_samples import POWER4

from autotune.files import config
from autotune.measuring.host.host_probe import FUNCTIONS
from autotune.models.incore.annotate import AnnotatedLoop, annotated
from autotune.models.incore.assembly.hot_loops import HotLoops, hot_loop, hot_loops
from autotune.models.incore.assembly.loop_passes import HotLoop
from autotune.models.incore.cost.library_calls import (
    PRICED,
    SPREAD,
    LibraryCalls,
    notes,
    price,
)
from autotune.models.incore.cost.loop_cost import (
    InstructionTables,
    LoopCost,
    cost_of_loop,
    needed_forms,
)
from autotune.models.incore.cost.measured_rates import VectorRate, VectorRates, measured_rates
from autotune.models.incore.cost.port_pressure import Uop
from autotune.models.incore.osaca.instruction_forms import FormProperties
from autotune.models.incore.osaca.osaca_architectures import OsacaArchitecture
from autotune.models.incore.sweep_result import CLOSE, DOUBTFUL, EXACT, from_ports, result

ADDERS, LOADERS, STORER = frozenset({"2", "3"}), frozenset({"11", "12"}), frozenset({"13"})
MADE_UP = OsacaArchitecture("MADE", "x86_64", LOADERS | STORER, issue=4.0)

AXPY = """\
\tvmovupd (%rcx,%rax,8), %ymm0
\tvaddpd (%rdx,%rax,8), %ymm0, %ymm1
\tvmovupd %ymm1, (%rdx,%rax,8)
\taddq $4, %rax
"""
SUM = """\
\tvaddsd (%rcx,%rax,8), %xmm0, %xmm0
\tvmovsd %xmm0, (%rdx,%rax,8)
\tincq %rax
"""


def loop(body: str) -> HotLoops:
    """The loops of a function f(first, last, x, y) over %rax components."""
    text = f"f:\n\tmovq %rdi, %rax\n.L2:\n{body}\tcmpq %rsi, %rax\n\tjl .L2\n\tret\n"
    if "call" in body:  # in registers that the callee preserves
        for register, other in (("rax", "rbx"), ("rcx", "r12"), ("rdx", "r13"), ("rsi", "r14")):
            text = text.replace(register, other)
    return hot_loops(text, "f")


def ports(*uops: Uop, latency: float = 0.0, load: float = 0.0, **more: object) -> FormProperties:
    facts: dict[str, object] = {"reads": (), "writes": (), "taken_as": None, "in_tables": True}
    return FormProperties(uops=uops, latency=latency, load=load, **(facts | more))  # type: ignore[arg-type]


ADD = (1.0, ADDERS)
LOAD, STORE = (0.5, LOADERS), (1.0, STORER)
VECTOR = {
    "vmovupd (%r8,%r9,8), %ymm0": ports((1.0, LOADERS), load=5.0, writes=("v0",)),
    "vaddpd (%r8,%r9,8), %ymm0, %ymm1": ports(
        ADD, (1.0, LOADERS), latency=3.0, load=5.0, reads=("v0",), writes=("v1",)
    ),
    "vmovupd %ymm0, (%r8,%r9,8)": ports((2.0, STORER), reads=("v0",)),
    "addq $4, %r8": ports((1.0, frozenset("0123")), latency=1.0, reads=("r8",), writes=("r8",)),
    "cmpq %r8, %r9": ports((1.0, frozenset("0123")), latency=1.0, reads=("r8", "r9")),
    "jl .L0": ports((1.0, frozenset("0"))),
}
SCALAR = VECTOR | {
    "vaddsd (%r8,%r9,8), %xmm0, %xmm0": ports(
        ADD, LOAD, latency=3.0, load=5.0, reads=("v0",), writes=("v0",)
    ),
    "vmovsd %xmm0, (%r8,%r9,8)": ports(STORE, reads=("v0",)),
    "incq %r8": ports((1.0, frozenset("0123")), latency=1.0, reads=("r8",), writes=("r8",)),
}


def tables(facts: Mapping[str, FormProperties], **more: object) -> InstructionTables:
    rest: dict[str, object] = {"architecture": MADE_UP, "forward": None, "ports": POWER4}
    return InstructionTables(facts=facts, **(rest | more))  # type: ignore[arg-type]


def cost(body: str, facts: Mapping[str, FormProperties], **more: object) -> LoopCost:
    return cost_of_loop(loop(body).main[0], tables(facts, **more))


# --- one loop ---------------------------------------------------------------------------------


def test_forms_of_all_instructions_are_looked_up_once_without_calls() -> None:
    names = [form.text for form, _ in needed_forms(loop(AXPY))]
    assert sorted(names) == sorted(VECTOR)
    with_call = loop("\tcall exp\n" + SUM)
    assert not any(form.text.startswith("call") for form, _ in needed_forms(with_call))


def test_cycles_of_a_pass_by_hand() -> None:
    """Two cycles of loads on two ports, two of stores on one, three instructions on 0 to 3.

    The addition takes 2 or 3, the branch 0, so four cycles of work lie on four ports. Compare and
    branch are one of five instructions; the counter waits for itself a cycle.
    """
    made = cost(AXPY, VECTOR)
    assert made.moving == pytest.approx(2.0)
    assert made.limits["data port 13"] == pytest.approx(2.0)
    assert made.limits["front end"] == pytest.approx(5 / 4)
    assert made.chain.cycles == pytest.approx(1.0)
    assert made.overlapping == pytest.approx(5 / 4)
    assert (made.unknown, made.replaced, made.calls.count) == ((), {}, 0)
    assert len(made.work) == 6


def test_a_sum_waits_for_itself() -> None:
    """Three cycles per component, whatever the ports could do."""
    made = cost(SUM, SCALAR)
    assert made.chain.cycles == pytest.approx(3.0)
    assert made.overlapping == pytest.approx(3.0)
    assert made.chain.lines == {0}


def test_forwarding_through_memory_is_on_the_chain_with_its_cycles() -> None:
    """y[j+1] = y[j] + x[j] without a register: store, forward, load, add."""
    body = """\
\tvmovsd (%rdx,%rax,8), %xmm0
\tvaddsd (%rcx,%rax,8), %xmm0, %xmm1
\tvmovsd %xmm1, 8(%rdx,%rax,8)
\tincq %rax
"""
    facts = SCALAR | {
        "vmovsd (%r8,%r9,8), %xmm0": ports(LOAD, load=5.0, writes=("v0",)),
        "vaddsd (%r8,%r9,8), %xmm0, %xmm1": ports(
            ADD, LOAD, latency=3.0, load=5.0, reads=("v0",), writes=("v1",)
        ),
        "vmovsd %xmm0, 8(%r8,%r9,8)": ports(STORE, reads=("v0",)),
    }
    made = cost(body, facts, forward=4.0)
    assert [(f.store, f.load, f.passes, f.blocked) for f in made.forwards] == [(2, 0, 1, False)]
    assert made.chain.cycles == pytest.approx(5 + 3 + 4)
    assert made.chain.forwards == 1
    assert cost(body, facts).chain.cycles == pytest.approx(5 + 3), "no figure, no cycles"
    measured = replace(rates(), forward=12.0)
    assert cost(body, facts, forward=4.0, rates=measured).chain.cycles == pytest.approx(12 + 3)


def test_instructions_that_tables_lack_are_bounded_by_the_port_table() -> None:
    """One scalar add and one double loaded per pass, on a core that loads and adds two a cycle."""
    facts = SCALAR | {
        "vaddsd (%r8,%r9,8), %xmm0, %xmm0": ports(reads=("v0",), writes=("v0",), in_tables=False)
    }
    bare = cost(SUM, SCALAR | {"vaddsd (%r8,%r9,8), %xmm0, %xmm0": ports(ADD, LOAD)})
    made = cost(SUM, facts)
    assert made.unknown == ("vaddsd",)
    assert made.moving == pytest.approx(1.0 + 0.5), "the store, then the load of the port table"
    assert bare.unknown == ()


def test_an_instruction_taken_as_alike_is_named() -> None:
    facts = VECTOR | {
        "vaddpd (%r8,%r9,8), %ymm0, %ymm1": ports(ADD, (1.0, LOADERS), taken_as="vmaxpd")
    }
    assert cost(AXPY, facts).replaced == {"vaddpd": "vmaxpd"}


def test_address_arithmetic_that_a_table_counts_as_a_load_is_none() -> None:
    body = AXPY.replace("\taddq $4, %rax\n", "\tleaq 4(%rax), %rax\n")
    facts = VECTOR | {
        "leaq 8(%r8), %r8": ports((1.0, LOADERS), latency=0.0, load=4.0,
                                  reads=("r8",), writes=("r8",)),
    }  # fmt: skip
    made = cost(body, facts)
    assert made.moving == pytest.approx(2.0), "no data port is taken"
    assert made.chain.cycles == pytest.approx(1.0), "a cycle, not a load"


def test_known_mistakes_of_a_table_are_corrected() -> None:
    wrong = OsacaArchitecture(
        "MADE", "x86_64", LOADERS | STORER, 4.0, 16,
        ((r"vaddpd .*", ((6.0, frozenset({"2"})),)),),
    )  # fmt: skip
    made = cost(AXPY, VECTOR, architecture=wrong)
    assert made.limits["port 2"] == pytest.approx(6.0)
    assert made.moving == pytest.approx(2.0), "its load stays"


# --- calls --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], LibraryCalls(0, 0.0, 0.0, ())),
        (["exp"], LibraryCalls(1, 22.0, 11.0, ())),
        (["exp", "exp", "pow"], LibraryCalls(3, 22 + 22 + 55, 49.5, ())),
        (["_ZGVdN4v_sin"], LibraryCalls(1, 1.5 * 40, 30.0, ())),
        (["_ZGVbN2vv_pow"], LibraryCalls(1, 1.5 * 55, 41.25, ())),
        (["__exp_finite"], LibraryCalls(1, 22.0, 11.0, ())),
        (["g", "exp", "f", "g"], LibraryCalls(4, 22.0, 11.0, ("f", "g"))),
    ],
)
def test_calls_are_priced_by_name(names: Sequence[str], expected: LibraryCalls) -> None:
    assert price(names) == expected


def test_measured_calls_take_the_place_of_common_figures() -> None:
    measured = {"exp": 10.0, "j0": 30.0}
    assert price(["exp", "log", "j0"], measured) == LibraryCalls(3, 65.0, 20.5, ())
    assert price(["_ZGVdN4v_exp"], measured) == LibraryCalls(1, 15.0, 7.5, ())
    known = "calls {}: priced as measured, with other arguments +- 20 %"
    common = "calls {}: priced by common figures, +- 50 %"
    assert notes(["exp"], measured) == (known.format("exp"),)
    assert notes(["log", "exp"], measured) == (known.format("exp"), common.format("log"))
    assert notes(["__exp_finite", "_ZGVdN4v_exp"], measured) == (
        known.format("__exp_finite"),
        common.format("_ZGVdN4v_exp"),
    )
    assert notes(["f"], measured) == ()


def test_every_function_of_the_probe_has_a_common_figure() -> None:
    assert set(FUNCTIONS) <= PRICED


def test_every_priced_function_has_a_vector_form_at_half_again_its_cycles() -> None:
    for name in PRICED:
        assert price([f"_ZGVeN8v_{name}"]).cycles == pytest.approx(1.5 * price([name]).cycles)


def test_calls_add_their_cycles_and_cut_the_chain() -> None:
    """The sum waits in a register that the callee may change: nothing is carried past it."""
    made = cost("\tcall exp\n" + SUM, SCALAR)
    assert made.calls == LibraryCalls(1, 22.0, 11.0, ())
    assert made.chain.cycles == pytest.approx(1.0), "the counter alone, in a preserved register"
    assert made.overlapping == pytest.approx(22 + 5 / 4)
    assert made.limits["calls"] == made.overlapping


# --- a sweep ------------------------------------------------------------------------------------


def test_a_result_is_cycles_per_source_iteration() -> None:
    made = result(loop(AXPY), tables(VECTOR))
    assert (made.iterations, made.vector, made.route) == (4, 32, "osaca:MADE")
    assert float(made.T_OL) == pytest.approx(5 / 4 / 4)
    assert made.T_nOL == pytest.approx(2 / 4)
    assert made.chain == pytest.approx(1 / 4)
    assert made.bottleneck == "data port 13"
    assert (made.loads, made.stores) == (0.5, 0.25)
    assert not made.approximate
    assert made.hot_loops == 1
    assert [rung.iterations for rung in made.ladder] == [4]
    assert made.ladder[0].T_nOL == made.T_nOL


@pytest.mark.parametrize(
    ("uops", "more", "width"),
    [
        ((6.0, STORER), {}, EXACT),  # one limit above the others
        ((2.0, STORER), {}, EXACT),
        ((1.3, STORER), {}, CLOSE),  # stores and front end about alike
        ((6.0, STORER), {"approximate": True}, DOUBTFUL),
    ],
)
def test_the_width_says_how_clear_the_limit_is(
    uops: Uop, more: dict[str, object], width: float
) -> None:
    facts = VECTOR | {
        "vmovupd %ymm0, (%r8,%r9,8)": ports(uops, reads=("v0",)),
        "vmovupd (%r8,%r9,8), %ymm0": ports((0.1, LOADERS), writes=("v0",)),
        "vaddpd (%r8,%r9,8), %ymm0, %ymm1": ports((0.1, LOADERS), reads=("v0",), writes=("v1",)),
    }
    made = result(loop(AXPY), tables(facts, **more))
    assert made.width == pytest.approx(width)
    assert made.approximate == bool(more)


@pytest.mark.parametrize(
    ("width", "mixed", "half"),
    [
        (32, {32: 0.3}, EXACT),
        (16, {16: 0.3}, DOUBTFUL),  # the loop's vectors are wider than those measured
        (32, {}, DOUBTFUL),
    ],
)
def test_measured_rates_make_up_for_the_tables_of_a_nearest_core(
    width: int, mixed: Mapping[int, float], half: float
) -> None:
    made = result(loop(AXPY), tables(VECTOR, approximate=True, rates=rates(width, mixed)))
    assert (made.width, made.approximate) == (pytest.approx(half), half == DOUBTFUL)


def test_measured_rates_do_not_make_up_for_a_loop_that_is_not_understood() -> None:
    """Calls are still priced by common figures."""
    measured = rates(32, {32: 0.3})
    made = result(loop("\tcall exp\n" + SUM), tables(SCALAR, approximate=True, rates=measured))
    assert made.approximate
    assert made.width > DOUBTFUL


def test_calls_widen_by_their_share_and_unpriced_ones_to_the_widest() -> None:
    priced = result(loop("\tcall exp\n" + SUM), tables(SCALAR))
    least = priced.width - SPREAD * 22.0 / float(priced.T_OL)
    assert least == pytest.approx(DOUBTFUL)
    assert priced.notes[-1] == "calls exp: priced by common figures, +- 50 %"
    unpriced = result(loop("\tcall g\n" + SUM), tables(SCALAR))
    assert unpriced.width == 0.8
    assert unpriced.notes[-1] == "calls g: the time of these calls is not counted"


def test_a_port_table_alone_gives_work_over_rates() -> None:
    """Two loads and a store of doubles, one add per component; one double a vector on POWER4."""
    made = from_ports(loop(AXPY), POWER4, ["no compiler"])
    assert made.T_nOL == pytest.approx(max(2 / 2, 1 / 1, 3 / 2))
    assert made.route == "ports"
    assert (made.approximate, made.width, made.notes) == (True, DOUBTFUL, ("no compiler",))
    assert made.crowded == made.T_OL, "nothing is shared"
    called = from_ports(loop("\tcall exp\n" + SUM), POWER4, [])
    plain = from_ports(loop(SUM), POWER4, [])
    measured = from_ports(loop("\tcall exp\n" + SUM), POWER4, [], {"exp": 10.0})
    assert float(measured.T_OL) == pytest.approx(float(called.T_OL) - 12)
    assert measured.notes[-1].startswith("calls exp: priced as measured")
    assert float(called.T_OL) == pytest.approx(float(plain.T_OL) + 22, abs=1)
    assert called.calls == 1


# --- as text ------------------------------------------------------------------------------------


def test_instructions_stand_beside_the_ports_that_they_use() -> None:
    made: HotLoop = hot_loop("f:\n.L2:\n\tvaddpd %ymm0, %ymm1, %ymm1\n\tvmovupd %ymm1, (%rdi)\n"
                             "\taddq $32, %rdi\n\tjne .L2\n\tret\n", "f")  # fmt: skip
    work = [[(1.0, frozenset({"0", "1"}))], [(1.0, frozenset({"13"}))], [], []]
    sheet = AnnotatedLoop(loop=made, work=work, marks={"c": {0}, "x": {1}, "k": set()})
    assert annotated([sheet], ["a loop by hand"]).splitlines() == [
        "a loop by hand",
        "",
        ".L2: 4 source iterations per pass; cycles per pass on each port",
        "    0    1   13 |",
        " 0.50 0.50      | c    vaddpd %ymm0, %ymm1, %ymm1",
        "           1.00 | x    vmovupd %ymm1, (%rdi)",
        "                |      addq $32, %rdi",
        "                |      jne .L2",
        " 0.50 0.50 1.00 |      per pass",
        "",
        "x  crosses a line in some passes",
        "c  on the loop-carried dependency",
    ]


def test_a_loop_without_marks_has_no_legend_and_none_is_a_summary_alone() -> None:
    assert annotated([], ["nothing"]) == "nothing\n"
    made = loop(SUM).main[0]
    text = annotated([AnnotatedLoop(made, [()] * len(made.instructions), {})], [])
    assert text.endswith("per pass\n")


# --- measured rates -----------------------------------------------------------------------------


def rates(
    width: int = 32,
    mixed: Mapping[int, float] = MappingProxyType({}),
    apart: Mapping[int, float] = MappingProxyType({}),
    **cycles: float,
) -> VectorRates:
    measured = {
        f"vector_{name}": VectorRate(cycles=c, low=0.9 * c, high=1.1 * c)
        for name, c in cycles.items()
    }
    return VectorRates(width=width, rates=measured, mixed=mixed, apart=apart)


def test_a_measured_rate_takes_the_place_of_the_tables() -> None:
    measured = rates(load=0.25, store=1.0, add=2.0)
    plain, scaled = cost(AXPY, VECTOR), cost(AXPY, VECTOR, rates=measured)
    assert plain.moving == pytest.approx(2.0), "the store"
    assert scaled.moving == pytest.approx(1.0)
    assert scaled.limits["port 2 3"] == pytest.approx(2.0), "the addition, half a cycle before"


def test_a_rate_says_nothing_of_wider_vectors() -> None:
    """Units of 16 bytes take vectors of 32 twice; the tables know that, the rate of 16 does not."""
    assert cost(AXPY, VECTOR, rates=rates(16, store=0.5, add=0.1)).limits == pytest.approx(
        cost(AXPY, VECTOR).limits
    )


def test_stores_at_no_multiple_of_their_width_take_the_store_port_longer() -> None:
    """An unaligned store takes half as long again as an aligned one."""
    measured = cost(AXPY, VECTOR, rates=rates(store=2.0, unaligned=1.0))
    assert measured.stored == pytest.approx((2.0, 3.0, 3.0, 3.0) * 2)
    assert measured.moving == pytest.approx(2.0)
    halves = cost(AXPY, VECTOR, rates=rates(16, store=2.0, unaligned=1.0))
    assert halves.stored == pytest.approx((2.0, 3.0) * 4), "16 bytes are whole there"
    assert cost(AXPY, VECTOR, rates=rates(store=2.0)).stored == ()
    assert result(loop(AXPY), tables(VECTOR, rates=rates(store=2.0, unaligned=1.0))).stored == (
        pytest.approx((0.5, 0.75, 0.75, 0.75) * 2)
    )


SECOND_ROW = AXPY.replace("\taddq", "\tvmovupd %ymm1, (%rdi,%rax,8)\n\taddq", 1)
NEXT_VECTOR = AXPY.replace("\taddq", "\tvmovupd %ymm1, 32(%rdx,%rax,8)\n\taddq", 1).replace(
    "$4", "$8"
)
STORES = VECTOR | {
    "vmovupd %ymm0, 8(%r8,%r9,8)": VECTOR["vmovupd %ymm0, (%r8,%r9,8)"],
    "addq $8, %r8": VECTOR["addq $4, %r8"],
}


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        (AXPY, 2.0),  # a row: every second store goes to the line of the one before
        (SECOND_ROW, 2 * 3.0),
        (NEXT_VECTOR, 2 * 2.0),
    ],
)
def test_a_store_to_another_line_than_the_one_before_takes_longer(text, cycles) -> None:
    """Two in a cycle go to one line only: half as long again, as in rows in turn."""
    measured = cost(text, STORES, rates=rates(store=2.0, apart={32: 3.0}, unaligned=1.0))
    assert measured.stored[0] == pytest.approx(cycles)
    assert measured.stored[1] == pytest.approx(3.0 * (2 if text != AXPY else 1)), "none aligned"


@pytest.mark.parametrize(("text", "cycles"), [(AXPY, 2.0), (SECOND_ROW, 2 * 3.0)])
def test_narrow_stores_to_lines_in_turn_take_what_was_measured_of_them(text, cycles) -> None:
    """Where vectors are twice as wide, a store of those may take as long in a row as in turn."""
    alike = {64: 4.0, 32: 3.0}
    measured = cost(text, STORES, rates=rates(64, store=4.0, apart=alike, unaligned=1.0))
    assert measured.stored[0] == pytest.approx(cycles)


def test_a_store_takes_no_less_alone_than_in_a_row() -> None:
    measured = rates(64, store=4.0, apart={64: 3.0, 32: 1.0})
    assert [measured.lone(size, 2.0) for size in (8, 32, 64)] == [2.0, 2.0, 2.0]
    assert [measured.lone(size, 0.5) for size in (8, 32)] == [1.0, 1.0]
    assert rates(64, store=4.0).lone(8, 2.0) == 2.0


def test_vector_operations_take_up_a_measured_share_of_the_core() -> None:
    """Two loads, an addition and a store; the pointer takes no part."""
    measured = cost(AXPY, VECTOR, rates=rates(mixed={32: 1.5}))
    assert measured.limits["vector operations"] == pytest.approx(4 * 1.5)
    assert measured.moving == pytest.approx(4 * 1.5)
    swept = result(loop(AXPY), tables(VECTOR, rates=rates(mixed={32: 1.5})))
    assert swept.bottleneck == "vector operations"
    few = cost(AXPY, VECTOR, rates=rates(mixed={32: 0.01}))
    assert few.moving == cost(AXPY, VECTOR).moving
    assert "vector operations" not in cost(AXPY, VECTOR, rates=rates(store=2.0)).limits


def test_narrow_operations_have_a_rate_of_their_own() -> None:
    """Scalars count as the narrowest vectors, and wider ones than were measured as the widest."""
    measured = rates(32, mixed={16: 0.2, 32: 0.3})
    assert [measured.taken(width) for width in (8, 16, 32, 64)] == [0.2, 0.2, 0.3, 0.3]
    assert rates(32).taken(16) == 0.0


def test_work_that_the_tables_lack_is_added() -> None:
    stored = ((r"vmovupd %ymm0, \(.*", ((6.0, frozenset("2")),)),)
    made = replace(MADE_UP, additions=stored)
    assert cost(AXPY, VECTOR, architecture=made).limits["port 2"] == pytest.approx(6.0)


def test_narrow_loads_beside_vector_loads_take_what_was_measured() -> None:
    spilled = AXPY.replace("\taddq", "\tmovq 8(%rsp), %r8\n\taddq", 1)
    facts = VECTOR | {"movq 8(%rsp), %r8": ports((1.0, LOADERS), load=4.0, writes=("r8",))}
    plain, measured = cost(spilled, facts), cost(spilled, facts, rates=rates(narrow=1.5))
    assert measured.moving == pytest.approx(max(plain.moving, cost(AXPY, VECTOR).moving + 1.5))
    assert cost(AXPY, VECTOR, rates=rates(narrow=1.5)).moving == cost(AXPY, VECTOR).moving


def test_an_instruction_that_loads_and_stores_is_not_taken_for_a_load() -> None:
    """A pointer in memory that moves on; its store would shrink with the measured rate of loads."""
    moved = AXPY.replace("\taddq", "\taddq $32, 8(%rsp)\n\taddq", 1)
    both = (1.0, LOADERS), (1.0, STORER)
    facts = VECTOR | {"addq $32, 8(%rsp)": ports(*both, load=4.0), "addq $32, 8(%r8)": ports(*both)}
    plain, measured = cost(moved, facts), cost(moved, facts, rates=rates(load=0.25))
    store = 1.0
    assert plain.moving == pytest.approx(cost(AXPY, VECTOR).moving + store)
    assert measured.moving == pytest.approx(
        cost(AXPY, VECTOR, rates=rates(load=0.25)).moving + store
    )


def test_a_table_within_the_interval_of_the_measurement_stays() -> None:
    measured = rates(load=0.52, store=1.9, add=0.53)
    assert cost(AXPY, VECTOR, rates=measured).limits == cost(AXPY, VECTOR).limits


def test_rates_of_another_width_leave_a_loop_as_it_is() -> None:
    measured = rates(64, load=9.0, store=9.0, add=9.0)
    assert cost(AXPY, VECTOR, rates=measured).limits == cost(AXPY, VECTOR).limits
    measured = rates(32, load=9.0, store=9.0, add=9.0)
    assert cost(SUM, SCALAR, rates=measured).limits == cost(SUM, SCALAR).limits


def test_narrower_vectors_take_no_longer_than_whole_ones() -> None:
    slow = VECTOR | {
        "vaddpd (%r8,%r9,8), %ymm0, %ymm1": ports((8.0, ADDERS), reads=("v0",), writes=("v1",))
    }
    made = cost(AXPY, slow, rates=rates(64, add=2.0))
    assert cost(AXPY, slow).limits["port 2 3"] == pytest.approx(4.0)
    assert made.limits["port 2 3"] == pytest.approx(2.0)


FIRST, REST = AXPY.split("\n", 1)
CHAIN = f"{FIRST}\n" + 40 * "\tvmulpd %ymm0, %ymm2, %ymm0\n" + REST
MULTIPLY = VECTOR | {
    "vmulpd %ymm0, %ymm1, %ymm0": ports(ADD, latency=4.0, reads=("v0", "v1"), writes=("v0",))
}


def test_a_long_chain_in_a_small_window_takes_longer_than_its_ports() -> None:
    plain = cost(CHAIN, MULTIPLY)
    wide = cost(CHAIN, MULTIPLY, rates=rates(window=10000.0))
    small = cost(CHAIN, MULTIPLY, rates=rates(window=40.0))
    smallest = cost(CHAIN, MULTIPLY, rates=rates(window=1.0))
    assert wide.overlapping == pytest.approx(plain.overlapping, rel=0.1)
    assert small.overlapping > 2 * plain.overlapping
    assert small.limits["window"] == small.overlapping
    assert smallest.window.cycles == pytest.approx(40 * 4 + 3 + 5, rel=0.1), "one after the other"


def test_loads_across_lines_make_the_wait_longer() -> None:
    crossing = replace(rates(window=16.0), crossing=2.0)
    made = cost(AXPY, VECTOR, rates=crossing)
    assert made.window.across > 0
    assert cost(AXPY, VECTOR, rates=rates(window=16.0)).window.across == 0


def test_what_is_stored_and_loaded_again_in_a_pass_waits_for_the_store() -> None:
    spilled = """\
\tvmovupd %ymm1, 32(%rsp)
\tvmovupd 32(%rsp), %ymm0
\tvaddpd %ymm0, %ymm0, %ymm0
\tvmovupd %ymm0, (%rdx,%rax,8)
\taddq $4, %rax
"""
    facts = VECTOR | {
        "vmovupd %ymm0, 8(%rsp)": ports((1.0, STORER), reads=("v0",)),
        "vmovupd 8(%rsp), %ymm0": ports((1.0, LOADERS), load=5.0, writes=("v0",)),
        "vaddpd %ymm0, %ymm0, %ymm0": ports(ADD, latency=3.0, reads=("v0",), writes=("v0",)),
    }
    soon = cost(spilled, facts, rates=rates(window=2.0))
    late = cost(spilled, facts, rates=replace(rates(window=2.0), forward=20.0))
    assert late.window.cycles > soon.window.cycles + 5


def test_address_generation_goes_with_the_data() -> None:
    made = OsacaArchitecture("MADE", "x86_64", LOADERS | STORER, 4.0, address=frozenset({"7"}))
    facts = VECTOR | {
        "vmovupd (%r8,%r9,8), %ymm0": ports((1.0, LOADERS), (6.0, frozenset({"7"})), load=5.0)
    }
    plain = cost(AXPY, facts, architecture=made)
    assert plain.limits["port 7"] == pytest.approx(6.0)
    halved = cost(AXPY, facts, architecture=made, rates=rates(load=0.25, add=0.5))
    assert halved.limits["port 7"] == pytest.approx(3.0)


def test_a_machine_without_calibrated_rates_has_none() -> None:
    assert measured_rates(config.machine("haswell-e5-2630v3")) is None
