"""Functions, blocks and natural loops of assembly, against paths that are walked one by one."""

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autotune.models.incore.assembly.aarch64 import AArch64
from autotune.models.incore.assembly.control_flow import (
    BasicBlock,
    block_successors,
    functions,
    longest_way,
    natural_loops,
    split,
)
from autotune.models.incore.assembly.instructions import Instruction, number, words
from autotune.models.incore.assembly.x86 import X86

ROTATED = """\
\t.text
first:
\tpushq %rbx          # a comment
\tcall g
\tret
\t.globl second
second:
\ttestq %rdi, %rdi
\tje .L1
.L3:
\taddq $8, %rax
\tcmpq %rdx, %rax
\tjne .L3
.L1:
\tret
"""


def texts(block: BasicBlock) -> list[str]:
    return [instruction.mnemonic for instruction in block.instructions]


# --- functions and blocks -------------------------------------------------------------------------


def test_a_text_is_cut_at_the_labels_of_its_functions() -> None:
    parts = dict(functions(ROTATED, X86()))
    assert list(parts) == ["first", "second"]
    assert [item if isinstance(item, str) else item.mnemonic for item in parts["second"]] == [
        *("testq", "je", ".L3", "addq", "cmpq", "jne", ".L1", "ret"),
    ]
    assert [item.text for item in parts["first"] if isinstance(item, Instruction)] == [
        *("pushq %rbx", "call g", "ret"),
    ], "comments and directives are none of it"


def test_instructions_without_a_label_are_a_function_without_a_name() -> None:
    assert [name for name, _ in functions("\tret\nf: ret\n", X86())] == ["", "f"]
    assert list(functions("\t.text\nempty:\n", X86())) == []


def test_other_instruction_sets_have_other_comments() -> None:
    ((_, items),) = functions("f:\n\tadd x0, x1, #8 // # next\n\tret\n", AArch64(16))
    assert [item.text for item in items if isinstance(item, Instruction)] == [
        "add x0, x1, #8",
        "ret",
    ]


def test_blocks_begin_at_labels_and_end_at_jumps() -> None:
    items = dict(functions(ROTATED, X86()))["second"]
    blocks = split(items, X86())
    assert [block.label for block in blocks] == ["", ".L3", ".L1"]
    assert [texts(block) for block in blocks] == [
        ["testq", "je"],
        ["addq", "cmpq", "jne"],
        ["ret"],
    ]
    assert block_successors(blocks, X86()) == [{1, 2}, {1, 2}, set()]


def test_two_labels_at_one_place_are_two_blocks_one_of_them_empty() -> None:
    blocks = split([".La", ".Lb", X86().parse("ret")], X86())
    assert [(block.label, texts(block)) for block in blocks] == [(".La", []), (".Lb", ["ret"])]
    assert block_successors(blocks, X86()) == [{1}, set()]
    assert split([], X86()) == []
    assert [block.label for block in split([".Lend"], X86())] == [".Lend"]


def test_a_jump_goes_to_its_label_only_and_a_jump_elsewhere_nowhere() -> None:
    lines = ["jmp .L9", ".L1", "jne memcpy", ".L9", "addq $1, %rax", "jmp .L1"]
    items = [line if line.startswith(".") else X86().parse(line) for line in lines]
    blocks = split(items, X86())
    assert block_successors(blocks, X86()) == [{2}, {2}, {1}]


# --- loops ----------------------------------------------------------------------------------------


def reachable(successors: list[set[int]], start: int, without: int | None = None) -> set[int]:
    seen: set[int] = set()
    waiting = [start] if start != without else []
    while waiting:
        block = waiting.pop()
        if block not in seen:
            seen.add(block)
            waiting += [after for after in successors[block] if after != without]
    return seen


def by_definition(successors: list[set[int]]) -> dict[int, set[int]]:
    """Loops: edges to a block that no way from the start can avoid, and all that leads back."""
    loops: dict[int, set[int]] = {}
    everything = range(len(successors))
    backwards = [{p for p in everything if n in successors[p]} for n in everything]
    for tail in everything:
        for head in successors[tail]:
            if tail in reachable(successors, 0, without=head) and tail != head:
                continue  # a way around the head
            body = {head}
            if tail != head:
                body |= reachable(backwards, tail, without=head)
            loops[head] = loops.get(head, set()) | body
    return loops


@settings(max_examples=50, derandomize=True)
@given(
    edges=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14),
    count=st.integers(1, 7),
)
def test_natural_loops_are_those_of_the_definition(
    edges: list[tuple[int, int]], count: int
) -> None:
    successors: list[set[int]] = [set() for _ in range(count)]
    for first, second in [*pairwise(range(count)), *edges]:
        if first < count and second < count:
            successors[first].add(second)
    assume(reachable(successors, 0) == set(range(count)))
    loops = {head: set(body) for head, body in natural_loops(successors).items()}
    assert loops == by_definition(successors)


def test_loops_with_one_head_are_one_and_nested_ones_are_two() -> None:
    assert natural_loops([{1}, {2}, {1, 3}, {1, 4}, set()]) == {1: {1, 2, 3}}
    assert natural_loops([{1}, {2}, {2, 3}, {1, 4}, set()]) == {1: {1, 2, 3}, 2: {2}}


def test_a_cycle_with_two_entries_is_no_natural_loop() -> None:
    assert natural_loops([{1, 2}, {2}, {1}]) == {}


def blocks_of(lengths: list[int]) -> list[BasicBlock]:
    nothing = X86().parse("nop")
    return [BasicBlock(f".L{n}", (nothing,) * length) for n, length in enumerate(lengths)]


def test_the_longest_way_of_a_pass_takes_the_branch_with_most_instructions() -> None:
    """Head 0, then 1 or 2, then 3, and back; from 2 one may also leave."""
    successors = [{1, 2}, {3}, {3, 4}, {0, 4}, set()]
    body = frozenset({0, 1, 2, 3})
    assert longest_way(0, body, blocks_of([1, 5, 2, 1, 9]), successors) == [0, 1, 3]
    assert longest_way(0, body, blocks_of([1, 2, 5, 1, 9]), successors) == [0, 2, 3]


@settings(max_examples=40, derandomize=True)
@given(
    lengths=st.lists(st.integers(1, 5), min_size=2, max_size=7),
    edges=st.sets(st.tuples(st.integers(0, 5), st.integers(1, 6)), max_size=12),
    tails=st.sets(st.integers(1, 6), max_size=2),
)
def test_the_longest_way_is_the_longest_of_all_ways(
    lengths: list[int], edges: set[tuple[int, int]], tails: set[int]
) -> None:
    """Forward branches at will; the last block and some others lead back to the head."""
    last = len(lengths) - 1
    successors: list[set[int]] = [{n + 1} if n < last else {0} for n in range(len(lengths))]
    for first, second in edges:
        if first < second <= last:
            successors[first].add(second)
    for tail in tails:
        if tail <= last:
            successors[tail].add(0)

    def ways(block: int) -> list[list[int]]:
        rest = [way for after in successors[block] if after for way in ways(after)]
        return [[block, *way] for way in rest] + ([[block]] if 0 in successors[block] else [])

    chosen = longest_way(0, frozenset(range(last + 1)), blocks_of(lengths), successors)
    assert chosen in ways(0)
    assert sum(lengths[n] for n in chosen) == max(sum(lengths[n] for n in w) for w in ways(0))


# --- reading a line -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "mnemonic", "operands"),
    [
        ("ret", "ret", ()),
        ("addq $8, %rax", "addq", ("$8", "%rax")),
        ("vmovupd 8(%rsi,%rax,8), %ymm0", "vmovupd", ("8(%rsi,%rax,8)", "%ymm0")),
        ("ldr\tq0, [x1, #16]!", "ldr", ("q0", "[x1, #16]!")),
        ("ld1d { z0.d, z1.d }, p0/z, [x1, x2, lsl #3]", "ld1d",
         ("{ z0.d, z1.d }", "p0/z", "[x1, x2, lsl #3]")),
        ("rep stosq", "rep", ("stosq",)),
    ],
)  # fmt: skip
def test_operands_are_split_at_commas_outside_of_brackets(
    line: str, mnemonic: str, operands: tuple[str, ...]
) -> None:
    assert words(line) == (mnemonic, operands)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("$8", 8), ("#16", 16), ("-24", -24), ("$-0x20", -32), (" 0xFF ", 255), ("# 4", 4)),
        *(("", None), ("%rax", None), (".LC0", None), ("1.5", None), ("8(%rsi)", None)),
    ],
)
def test_literal_numbers_are_read_in_both_notations(text: str, value: int | None) -> None:
    assert number(text) == value
