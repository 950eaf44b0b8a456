"""What follows from the addresses of a loop, and chains of dependencies, on assembly by hand."""

import pytest

from autotune.models.incore.assembly import hot_loops
from autotune.models.incore.assembly.loop_passes import HotLoop
from autotune.models.incore.cost import memory_corrections
from autotune.models.incore.cost.dependency_chain import ChainInstruction, chain
from autotune.models.incore.cost.memory_corrections import ForwardedLoad


def loop(body: str, before: str = "", after: str = "") -> HotLoop:
    """The loop of a function f(first, last, F, y) over %rax components."""
    lines = "\n".join(f"\t{line.strip()}" for line in body.strip().splitlines())
    text = (
        f"f:\n\tmovq %rdi, %rax\n{before}.L2:\n{lines}\n\tcmpq %rsi, %rax\n\tjl .L2\n{after}\tret\n"
    )
    return hot_loops.hot_loop(text, "f")


THREE_POINT = """
    vmovupd -8(%rcx,%rax,8), %ymm0
    vaddpd 8(%rcx,%rax,8), %ymm0, %ymm0
    vaddpd (%rcx,%rax,8), %ymm0, %ymm0
    vmovupd %ymm0, (%rdx,%rax,8)
    addq $4, %rax
"""


def test_aligned_loads_cross_no_line_and_neighbours_half_of_the_time():
    found = loop(THREE_POINT)
    assert found.iterations == 4
    # y[j] lies as F[j], on a line's start; y[j-1] and y[j+1] cross in every second pass
    assert memory_corrections.crossing(found) == pytest.approx(1.0)
    assert memory_corrections.crossing(found, stored=True) == 0.0


def test_crossing_follows_where_the_rows_begin():
    found = loop(THREE_POINT)
    # one double further, y[j-1] is the aligned one
    assert memory_corrections.crossing(found, shift=8) == pytest.approx(1.0)
    assert memory_corrections.crossing(found, stored=True, shift=8) == pytest.approx(0.5)
    # two further, none is aligned
    assert memory_corrections.crossing(found, shift=16) == pytest.approx(1.5)


def test_vectors_as_wide_as_a_line_always_cross():
    found = loop(THREE_POINT.replace("ymm", "zmm").replace("$4", "$8"))
    assert memory_corrections.crossing(found) == pytest.approx(2.0)


def test_scalar_loads_never_cross():
    body = "vmovsd 8(%rcx,%rax,8), %xmm0\nvmovsd %xmm0, (%rdx,%rax,8)\nincq %rax"
    assert memory_corrections.crossing(loop(body)) == 0.0


def test_a_clamped_start_is_seen():
    # if (first < 1) first = 1, before a copy of whole vectors
    clamp = "\tmovl $1, %r8d\n\tcmpq %r8, %rax\n\tcmovl %r8, %rax\n"
    body = "vmovupd (%rcx,%rax,8), %ymm0\nvmovupd %ymm0, (%rdx,%rax,8)\naddq $4, %rax"
    found = loop(body, clamp)
    assert memory_corrections.start(found) == 8
    assert memory_corrections.crossing(found) == pytest.approx(0.5)
    assert memory_corrections.crossing(found, shift=-8) == 0.0


def test_what_was_stored_one_pass_before_is_forwarded():
    # F[j] = F[j-1] + y[j], through memory
    body = """
        vmovsd -8(%rdx,%rax,8), %xmm0
        vaddsd (%rcx,%rax,8), %xmm0, %xmm0
        vmovsd %xmm0, (%rdx,%rax,8)
        incq %rax
    """
    assert memory_corrections.forwards(loop(body)) == [ForwardedLoad(2, 0, 1, blocked=False)]


def test_a_load_wider_than_the_store_is_blocked():
    body = """
        vmovsd %xmm1, (%rdx,%rax,8)
        vmovsd %xmm2, 8(%rdx,%rax,8)
        vmovupd (%rdx,%rax,8), %xmm0
        vmovupd %xmm0, (%rcx,%rax,8)
        addq $2, %rax
    """
    (found,) = memory_corrections.forwards(loop(body))
    assert (found.load, found.passes, found.blocked) == (2, 0, True)


def test_other_rows_are_not_forwarded():
    assert memory_corrections.forwards(loop(THREE_POINT)) == []


def test_spilled_registers_are_forwarded_within_the_pass():
    body = """
        vmovupd %ymm1, -40(%rsp)
        vmovupd (%rcx,%rax,8), %ymm0
        vaddpd -40(%rsp), %ymm0, %ymm1
        vmovupd %ymm1, (%rdx,%rax,8)
        addq $4, %rax
    """
    assert memory_corrections.forwards(loop(body)) == [ForwardedLoad(0, 2, 0, blocked=False)]


def test_gathers_are_counted():
    gather = """
        vgatherdpd %ymm3, (%rcx,%xmm2,8), %ymm0
        vmovupd %ymm0, (%rdx,%rax,8)
        addq $4, %rax
    """
    assert memory_corrections.gathers(loop(gather)) == 1
    indirect = """
        movq (%r8,%rax,8), %r9
        vmovsd (%rcx,%r9,8), %xmm0
        vmovsd %xmm0, (%rdx,%rax,8)
        incq %rax
    """
    assert memory_corrections.gathers(loop(indirect)) == 1
    assert memory_corrections.gathers(loop(THREE_POINT)) == 0


# --- loop-carried dependencies -----------------------------------------------------------------


def step(
    reads: str = "", writes: str = "", latency: float = 1.0, load: float = 0.0, address: str = ""
) -> ChainInstruction:
    return ChainInstruction(
        reads=frozenset(reads.split()), addressing=frozenset(address.split()),
        writes=frozenset(writes.split()), latency=latency, load=load, loads=load > 0,
    )  # fmt: skip


def test_a_sum_waits_for_itself():
    steps = [step("x", "v1", latency=0, load=4, address="a"), step("s v1", "s", latency=3)]
    found = chain([*steps, step("a", "a")], [], 0.0)
    assert found.cycles == 3
    assert found.lines == {1}


def test_a_loaded_value_waits_for_its_address_only():
    # the counter is the only thing that is carried
    steps = [step("s", "v1", latency=3, load=4, address="a"), step("a", "a")]
    assert chain(steps, [], 0.0).cycles == 1


def test_values_that_rotate_through_registers_take_both_passes():
    # p, q = q + x, p: one addition per pass, each waits for the one two passes before
    steps = [step("p", "t", latency=0), step("q", "p", latency=4), step("t", "q", latency=0)]
    assert chain(steps, [], 0.0).cycles == pytest.approx(2.0)


def test_a_chain_through_memory_counts_its_forwards():
    # load F[j-1], add, store F[j]
    steps = [
        step("", "v0", latency=0, load=4, address="a"),
        step("v0", "v0", latency=3),
        step("v0", "", latency=0),
        step("a", "a"),
    ]
    found = chain(steps, [ForwardedLoad(2, 0, 1, blocked=False)], forward=5.0)
    assert found.cycles == pytest.approx(12)
    assert found.forwards == 1
    older = chain(steps, [ForwardedLoad(2, 0, 3, blocked=False)], forward=5.0)
    assert older.cycles == pytest.approx(4)  # three passes share the way


def test_nothing_carried_is_no_chain():
    assert chain([step("x", "v0", latency=3)], [], 0.0).cycles == 0
