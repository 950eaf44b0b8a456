"""The loop finder on assembly that gcc and clang made."""

import pytest
from incore_samples import captured

from autotune.models.incore.assembly import hot_loops
from autotune.models.incore.assembly.aarch64 import AArch64
from autotune.models.incore.assembly.x86 import X86

FOUND = [
    # sample, label, components per pass, doubles per vector, loads and stores of rows per pass
    ("update.gcc-znver3", ".L4", 4, 4, 2, 1),
    ("update.gcc-O2-haswell", ".L3", 1, 1, 2, 1),
    ("update.clang-znver3", ".LBB0_5", 128, 4, 64, 32),
    ("update.gcc-neoverse-n1", ".L4", 2, 2, 2, 1),
    ("update.clang-neoverse-n1", ".LBB0_4", 4, 2, 2, 1),
    ("update.gcc-a64fx", ".L3", 8, 8, 2, 1),
    ("update.clang-a64fx", ".LBB0_3", 32, 8, 8, 4),
    ("lc_jli.gcc-znver3", ".L4", 4, 4, 20, 4),
    ("lc_jil.gcc-znver3", ".L4", 4, 4, None, 4),
    ("lc_jil.gcc-avx512", ".L4", 8, 8, None, 4),
    ("heat2d.gcc-znver3", ".L11", 4, 4, 5, 1),
    ("heat2d.gcc-neoverse-n1", ".L10", 2, 2, 4, 1),
    ("wave1d.gcc-znver3", ".L5", 8, 4, None, 2),
    ("wave1d.gcc-neoverse-n1", ".L5", 6, 2, None, 2),
    ("string_mix.gcc-znver3", ".L4", 8, 4, 6, 2),
    ("string_mix.clang-znver3", ".LBB0_4", 8, 4, None, None),
    ("string_mix.clang-neoverse-n1", ".LBB0_4", 4, 2, 2, 1),
    ("inverter.gcc-znver3", ".L9", 1, 1, 1, 1),
]


@pytest.mark.parametrize(("sample", "label", "iterations", "lanes", "loads", "stores"), FOUND)
def test_the_main_loop_is_found(sample, label, iterations, lanes, loads, stores):
    loop = hot_loops.hot_loop(captured(sample), sample.split(".")[0], vector=64)
    assert (loop.label, loop.iterations, loop.lanes) == (label, iterations, lanes)
    if loads is not None:
        assert loop.row_loads == loads
    if stores is not None:
        assert loop.row_stores == stores


def test_a_peeled_or_remainder_loop_is_not_taken():
    # clang leaves four loops: main, its remainder, and scalar ones
    loop = hot_loops.hot_loop(captured("update.clang-znver3"), "update")
    assert len(loop.instructions) == 99


def test_the_interior_is_preferred_to_the_boundary_rows():
    assert hot_loops.hot_loop(captured("heat2d.gcc-znver3"), "rhs_heat2d").depth == 2


def test_of_branches_inside_the_longest_way_is_taken():
    loop = hot_loops.hot_loop(captured("inverter.gcc-znver3"), "rhs_inverter")
    assert loop.approximate
    assert "branches inside the loop" in loop.notes[0]
    assert sum(i.work == "divide" for i in loop.instructions) == 1


def test_a_library_call_in_the_place_of_the_loop_is_a_copy():
    loop = hot_loops.hot_loop(captured("copy.gcc-znver3"), "copy")
    assert (loop.row_loads, loop.row_stores, loop.iterations) == (1, 1, 4)
    assert loop.approximate
    assert "memcpy" in loop.notes[0]


def test_a_call_inside_is_noted():
    loop = hot_loops.hot_loop(captured("sin.gcc-znver3"), "rhs_sin")
    assert loop.approximate
    assert loop.calls == ("sin",)


def test_a_rotated_loop_entered_in_the_middle():
    text = """
f:
\tvmovsd (%rsi), %xmm0
\txorl %eax, %eax
\tjmp .L3
.L2:
\tvmovsd %xmm1, %xmm1, %xmm0
.L3:
\tvmovsd 8(%rsi,%rax,8), %xmm1
\tvaddsd %xmm0, %xmm1, %xmm2
\tvmovsd %xmm2, (%rdi,%rax,8)
\taddq $1, %rax
\tcmpq %rdx, %rax
\tjne .L2
\tret
"""
    loop = hot_loops.hot_loop(text, "f")
    assert len(loop.instructions) == 7
    assert loop.iterations == 1
    assert not loop.approximate


def test_scalar_lines_before_a_remainder_in_wider_vectors():
    # a strip of four components, one per pass, left in the middle of the pass; then pairs
    text = """
f:
\txorl %eax, %eax
.L5:
\tleaq (%rsi,%rax,8), %r8
\tleaq (%rdi,%rax,8), %r9
\txorl %ecx, %ecx
\tvmovsd (%r8), %xmm0
\tjmp .L3
.L2:
\tvmovsd %xmm1, %xmm1, %xmm0
.L3:
\tvmovsd 8(%r8,%rcx), %xmm1
\tvaddsd %xmm0, %xmm1, %xmm2
\tvmovsd %xmm2, (%r9,%rcx)
\taddq $8, %rcx
\tcmpq $32, %rcx
\tjne .L2
\taddq $4, %rax
\tcmpq %rdx, %rax
\tjl .L5
.L7:
\tvmovupd (%rsi,%rax,8), %xmm0
\tvaddpd 8(%rsi,%rax,8), %xmm0, %xmm0
\tvmovupd %xmm0, (%rdi,%rax,8)
\taddq $2, %rax
\tcmpq %r10, %rax
\tjl .L7
\tret
"""
    loops = hot_loops.hot_loops(text, "f")
    assert [loop.label for loop in loops.main] == [".L5"]
    assert loops.main[0].iterations == 4
    assert sum(i.text.startswith("vaddsd") for i in loops.main[0].instructions) == 4
    assert [loop.iterations for loop in loops.rest] == [2]


def test_single_operations_of_a_remainder_that_stores_whole_vectors_count_once():
    """Four multiply-adds on vectors for eight components are as much as eight single for four."""
    single = "".join(f"\tvfmadd213sd %xmm6, %xmm5, %xmm{n % 4}\n" for n in range(8))
    text = f"""
f:
\txorl %eax, %eax
.L4:
\tvmovupd (%rsi,%rax,8), %ymm0
\tvmovupd 32(%rsi,%rax,8), %ymm1
\tvfmadd213pd %ymm6, %ymm5, %ymm0
\tvfmadd213pd %ymm6, %ymm5, %ymm1
\tvfmadd213pd %ymm6, %ymm5, %ymm0
\tvfmadd213pd %ymm6, %ymm5, %ymm1
\tvmovupd %ymm0, (%rdi,%rax,8)
\tvmovupd %ymm1, 32(%rdi,%rax,8)
\taddq $8, %rax
\tcmpq %r10, %rax
\tjne .L4
\tcmpq %rdx, %rax
\tje .L9
.L8:
\tvmovsd (%rsi,%rax,8), %xmm0
\tvmovsd 8(%rsi,%rax,8), %xmm1
\tvmovsd 16(%rsi,%rax,8), %xmm2
\tvmovsd 24(%rsi,%rax,8), %xmm3
{single}\tvunpcklpd %xmm1, %xmm0, %xmm0
\tvunpcklpd %xmm3, %xmm2, %xmm2
\tvinsertf128 $1, %xmm2, %ymm0, %ymm0
\tvmovupd %ymm0, (%rdi,%rax,8)
\taddq $4, %rax
\tcmpq %rdx, %rax
\tjl .L8
.L9:
\tret
"""
    loops = hot_loops.hot_loops(text, "f")
    assert [(loop.label, loop.iterations) for loop in loops.main] == [(".L4", 8)]
    assert [loop.iterations for loop in loops.rest] == [4]


TWO_PASSES = """
sweep:
	xorl	%ebx, %ebx
	jmp	.L3
.L14:
	addq	$64, %rbx
	addq	$64, %r13
	addq	$64, %r14
	cmpq	%rbx, %rdx
	je	.L10
.L3:
	vmovupd	-8(%r14), %ymm1
	xorl	%eax, %eax
.L4:
	vmovupd	(%r14,%rax), %ymm18
	vaddpd	%ymm18, %ymm1, %ymm4
	vmovupd	%ymm4, (%r13,%rax)
	cmpq	$32, %rax
	je	.L14
	vmovapd	%ymm18, %ymm1
	movl	$32, %eax
	jmp	.L4
.L10:
	ret
"""
"""A line per pass of the outer loop: gcc sets the counter of the inner one to a number."""


def test_a_loop_of_two_passes_told_by_numbers_is_written_out():
    (main,) = hot_loops.hot_loops(TWO_PASSES, "sweep").main
    assert (main.label, main.iterations, main.lanes) == (".L3", 8, 4)
    assert (main.row_loads, main.row_stores) == (3, 2)


def test_a_counter_that_never_ends_the_loop_is_not_followed():
    endless = TWO_PASSES.replace("movl	$32, %eax", "movl	$16, %eax")
    assert hot_loops.hot_loops(endless, "sweep").main[0].label == ".L4"


def test_a_loop_told_by_numbers_that_may_go_on_at_zero_is_not_followed():
    """From one, not zero: the comparison is equal in the first of two passes."""
    upwards = TWO_PASSES.replace("xorl	%eax, %eax", "movl	$1, %eax")
    upwards = upwards.replace("cmpq	$32, %rax", "cmpq	$1, %rax").replace(
        "je	.L14", "jne	.L14"
    )
    assert hot_loops.hot_loops(upwards, "sweep").main[0].label == ".L4"


FLAG = """
sweep:
	xorl	%r9d, %r9d
.L9:
	movsd	(%rsi,%r9,8), %xmm1
	movb	$1, %al
	xorl	%ecx, %ecx
.L10:
	imulq	%rdx, %rcx
	addq	%r9, %rcx
	movsd	(%rdi,%rcx,8), %xmm2
	mulsd	%xmm0, %xmm2
	addsd	%xmm2, %xmm1
	movl	$1, %ecx
	testb	$1, %al
	movl	$0, %eax
	jne	.L10
	movsd	%xmm1, (%rsi,%r9,8)
	incq	%r9
	cmpq	%rdx, %r9
	jne	.L9
	ret
"""
"""Two passes told by a flag, as clang makes them: between test and jump, the flag is cleared."""


def test_a_number_set_between_test_and_jump_is_not_what_ends_a_loop():
    assert hot_loops.hot_loops(FLAG, "sweep").main[0].label == ".L10"


def test_an_address_computed_anew_in_each_pass():
    text = """
f:
.L2:
\tleaq 0(,%rax,8), %rdi
\tvmovupd (%rdx,%rdi), %ymm0
\taddq $4, %rax
\tvmovupd %ymm0, (%r8,%rdi)
\tcmpq %rax, %r9
\tjg .L2
\tret
"""
    assert hot_loops.hot_loop(text, "f").iterations == 4


def test_rows_of_two_written_in_one_component_only():
    # f[j] = y[j] for even j: 16 bytes further per pass, 8 of them stored
    text = """
f:
.L2:
\tvmovsd (%rsi,%rax,8), %xmm0
\tvmovsd %xmm0, (%rdi,%rax,8)
\taddq $2, %rax
\tcmpq %rax, %rdx
\tjg .L2
\tret
"""
    loop = hot_loops.hot_loop(text, "f")
    assert loop.iterations == 2
    assert not loop.approximate


def test_stores_that_do_not_fit_the_step_are_noted():
    text = """
f:
.L2:
\tvmovupd %ymm0, (%rdi,%rax,8)
\tvmovsd %xmm0, 32(%rdi,%rax,8)
\taddq $3, %rax
\tcmpq %rax, %rdx
\tjg .L2
\tret
"""
    loop = hot_loops.hot_loop(text, "f")
    assert loop.approximate
    assert "do not fit" in loop.notes[0]


def test_a_function_without_loop_is_one_pass():
    loop = hot_loops.hot_loop("f:\n\tvmovsd %xmm0, (%rdi)\n\tvmovsd %xmm0, 8(%rdi)\n\tret\n", "f")
    assert (loop.iterations, loop.depth) == (2, 0)
    assert loop.approximate


def test_nothing_to_analyse():
    with pytest.raises(hot_loops.NoLoop, match="no store"):
        hot_loops.hot_loop("f:\n\txorl %eax, %eax\n\tret\n", "f")
    with pytest.raises(hot_loops.NoLoop, match="neither"):
        hot_loops.hot_loop("f:\n\tlfd 0,0(3)\n\tblr\n", "f")


X86_FORMS = [
    ("vfmadd231pd .LC22(%rip), %ymm4, %ymm3", 32, 0, "fused", 4),
    ("vmovupd %ymm2, (%rdx,%rax)", 0, 32, "none", 4),
    ("vmovsd -8(%rcx,%rdi,8), %xmm0", 8, 0, "none", 0),
    ("vbroadcastsd .LC1(%rip), %ymm15", 8, 0, "none", 0),
    ("vmulpd (%rax){1to8}, %zmm1, %zmm2", 8, 0, "multiply", 8),
    ("vdivsd %xmm5, %xmm1, %xmm1", 0, 0, "divide", 1),
    ("vpermpd $216, %ymm3, %ymm3", 0, 0, "other", 4),
    ("addq $64, -24(%rsp)", 8, 8, "none", 0),
    ("cmpq %rdx, -32(%rsp)", 8, 0, "none", 0),
    ("leaq 8(%rdx,%rax,8), %rsi", 0, 0, "none", 0),
    ("vextractf128 $1, %ymm0, 16(%rdi)", 0, 16, "other", 4),
    ("mulsd %xmm1, %xmm0", 0, 0, "multiply", 1),
    ("movsd %xmm0, (%rdi)", 0, 8, "none", 1),
]


@pytest.mark.parametrize(("text", "loads", "stores", "work", "lanes"), X86_FORMS)
def test_x86_instructions(text, loads, stores, work, lanes):
    found = X86().parse(text)
    assert (found.loads, found.stores, found.work) == (loads, stores, work)
    if lanes and work != "none":
        assert found.lanes == lanes


ARM_FORMS = [
    ("ldr q1, [x5, x4]", 16, 0, "none", 2),
    ("ldp q2, q3, [x11, #-16]", 32, 0, "none", 2),
    ("str d1, [x10], #8", 0, 8, "none", 1),
    ("fmla v1.2d, v2.2d, v3.2d", 0, 0, "fused", 2),
    ("fmadd d1, d2, d0, d1", 0, 0, "fused", 1),
    ("ld2 {v6.2d - v7.2d}, [x9]", 32, 0, "none", 2),
    ("ld1d { z2.d }, p0/z, [x10, x9, lsl #3]", 64, 0, "none", 8),
    ("st1d z1.d, p0, [x0]", 0, 64, "none", 8),
    ("fdiv z3.d, p0/m, z3.d, z0.d", 0, 0, "divide", 8),
    ("add x4, x4, 16", 0, 0, "none", 0),
]


@pytest.mark.parametrize(("text", "loads", "stores", "work", "lanes"), ARM_FORMS)
def test_aarch64_instructions(text, loads, stores, work, lanes):
    found = AArch64(64).parse(text)
    assert (found.loads, found.stores, found.work, found.lanes) == (loads, stores, work, lanes)
