"""What the front end takes up, and the floating-point unit of Zen 1 in measured loops."""

import pytest

from autotune.models.incore.assembly.hot_loops import hot_loop
from autotune.models.incore.cost import front_end
from autotune.models.incore.osaca import osaca_architectures

ZEN1, ZEN3, SKYLAKE, SAPPHIRE = (
    osaca_architectures.find(name) for name in ("zen1", "zen3", "skx", "spr")
)
LOAD, ADD, MULTIPLY = (
    "vmovupd (%rcx), %{0}mm0",
    "vaddpd %{0}mm1, %{0}mm2, %{0}mm3",
    ("vmulpd %{0}mm4, %{0}mm5, %{0}mm6"),
)
FUSED = "vfmadd231pd %{0}mm1, %{0}mm2, %{0}mm3"


def loop_of(*instructions, vector="x"):
    body = "".join(f"\t{text.format(vector)}\n" for text in instructions)
    end = "\tvmovupd %xmm0, (%rdx,%rax,8)\n\taddq $2, %rax\n\tcmpq %rsi, %rax\n\tjl .L2\n\tret\n"
    return hot_loop(f"f:\n.L2:\n{body}{end}", "f")


@pytest.mark.parametrize(("vector", "cycles"), [("x", 25 / 4), ("y", 49 / 4)])
def test_four_vector_operations_enter_per_cycle_wide_ones_as_two(vector, cycles):
    """Eight loads, additions and multiplications each, and one store of 16 bytes."""
    loop = loop_of(*[LOAD, ADD, MULTIPLY] * 8, vector=vector)
    taken = front_end.taking(loop, ZEN1)
    assert front_end.cycles(loop, taken, ZEN1) == pytest.approx(cycles)


def test_other_units_take_what_the_front_end_issues():
    loop = loop_of(*[ADD] * 8)
    taken = front_end.taking(loop, SKYLAKE)
    assert front_end.cycles(loop, taken, SKYLAKE) == pytest.approx(loop.slots / SKYLAKE.issue)


@pytest.mark.parametrize(
    ("text", "issued"),
    [
        ("vaddpd (%rcx,%rax,8), %{0}mm2, %{0}mm3", 2),
        ("vfmadd231pd (%rcx,%rax,8), %{0}mm2, %{0}mm3", 2),
        ("vaddpd 8(%rcx), %{0}mm2, %{0}mm3", 1),
        ("addpd (%rcx,%rax,8), %xmm2", 1),
        ("vpermpd $27, (%rcx,%rax,8), %{0}mm3", 1),
        ("vextractf128 $1, %ymm0, (%rcx,%rax,8)", 1),
        ("vmovupd (%rcx,%rax,8), %{0}mm3", 1),
        ("vmovupd %{0}mm3, (%rcx,%rax,8)", 1),
    ],
)
def test_arithmetic_of_three_operands_is_issued_apart_from_a_load_with_an_index(text, issued):
    loop, bare = loop_of(*[text] * 8, vector="y"), loop_of()
    for architecture, each in ((SKYLAKE, issued), (SAPPHIRE, 1 + 1.5 * (issued - 1)), (ZEN3, 1)):
        cycles = front_end.cycles(loop, front_end.taking(loop, architecture), architecture)
        assert cycles * architecture.issue == pytest.approx(bare.slots + 8 * each)


@pytest.mark.parametrize(("vector", "work"), [("x", 0.5), ("y", 1.0)])
def test_third_operands_of_two_multiply_adds_come_together(vector, work):
    loop = loop_of(FUSED, FUSED, ADD, vector=vector)
    uops = front_end.third_operands(front_end.taking(loop, ZEN1))
    assert uops == [(work, frozenset("3"))] * 2


def test_micro_operations_on_vectors_are_taken_up_at_a_rate_by_width():
    """A folded load counts beside its arithmetic, a renamed register does not; a pointer that is
    loaded again takes a slot of the front end.
    """
    loop = loop_of(
        LOAD, "movq 16(%rsp), %r9", "vaddpd (%rcx), %{0}mm2, %{0}mm3", "vmovapd %{0}mm1, %{0}mm2",
        "vmovupd %{0}mm1, (%rsi)", "vdivpd %{0}mm1, %{0}mm2, %{0}mm3", "addq $1, %r9", vector="y",
    )  # fmt: skip
    compute, data, divider = (frozenset(p) for p in (("0", "1"), ("2D", "3D"), ("0DV",)))
    work = {
        "vmovupd (%rcx), %ymm0": ((1.0, data),),
        "vaddpd (%rcx), %ymm2, %ymm3": ((1.0, compute), (1.0, data)),
        "vmovapd %ymm1, %ymm2": ((1.0, compute),),
        "vmovupd %ymm1, (%rsi)": ((1.0, frozenset("4")), (1.0, SKYLAKE.address)),
        "vdivpd %ymm1, %ymm2, %ymm3": ((1.0, compute), (8.0, divider)),
        "addq $1, %r9": ((1.0, compute),),
    }
    uops = [work.get(i.text, ()) for i in loop.instructions]
    taken = front_end.vector_cycles(loop, uops, SKYLAKE, lambda width: {32: 1.0, 16: 0.125}[width])
    assert taken == pytest.approx(1 + 1 / 4 + 2 + 1 + 1 + 0.125), "the last: a store of 16 bytes"
