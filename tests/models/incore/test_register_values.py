"""Values of registers as linear forms, against a machine that runs the instructions."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.models.incore.assembly.control_flow import (
    block_successors,
    functions,
    natural_loops,
    split,
)
from autotune.models.incore.assembly.instructions import Instruction
from autotune.models.incore.assembly.register_values import (
    LinearForm,
    RegisterValues,
    State,
    register_values_of,
    symbol,
)
from autotune.models.incore.assembly.x86 import X86

REGISTERS = ("%rax", "%rbx", "%rcx", "%rdx")
START = dict(zip(REGISTERS, (1000, 37, -5, 8), strict=True))


def instructions(*lines: str) -> list[Instruction]:
    return [X86().parse(line) for line in lines]


def after(*lines: str) -> State:
    return RegisterValues(X86()).run({}, instructions(*lines), "t")


def form(constant: int = 0, **counts: int) -> LinearForm:
    terms = sorted((f"%{name}", count) for name, count in counts.items())
    return LinearForm(tuple(terms), constant)


# --- linear forms ---------------------------------------------------------------------------------


FORMS = st.builds(
    lambda counts, constant: LinearForm(
        tuple(sorted((name, count) for name, count in counts.items() if count)), constant
    ),
    st.dictionaries(st.sampled_from("abc"), st.integers(-9, 9)),
    st.integers(-99, 99),
)


def value(item: LinearForm, **symbols: int) -> int:
    return item.constant + sum(count * symbols[name] for name, count in item.terms)


@settings(max_examples=30, derandomize=True)
@given(first=FORMS, second=FORMS, factor=st.integers(-4, 4))
def test_forms_add_up_as_their_values_do(
    first: LinearForm, second: LinearForm, factor: int
) -> None:
    at = {"a": 7, "b": -3, "c": 100}
    total = first.plus(second, factor)
    assert value(total, **at) == value(first, **at) + factor * value(second, **at)
    assert first.plus(first, -1) == LinearForm()
    assert list(total.terms) == sorted(total.terms)
    assert all(count for _, count in total.terms)


@settings(max_examples=30, derandomize=True)
@given(outer=FORMS, inner=FORMS)
def test_a_symbol_is_replaced_by_its_form(outer: LinearForm, inner: LinearForm) -> None:
    at = {"a": 7, "b": -3, "c": 100}
    replaced = outer.replaced({"a": inner})
    assert value(replaced, **at) == value(outer, **(at | {"a": value(inner, **at)}))
    assert outer.replaced({}) == outer


# --- straight code --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "register", "expected"),
    [
        (["addq $8, %rax"], "%rax", form(8, rax=1)),
        (["subq %rbx, %rax", "incq %rax"], "%rax", form(1, rax=1, rbx=-1)),
        (["leaq 16(%rax,%rbx,8), %rcx"], "%rcx", form(16, rax=1, rbx=8)),
        (["movl $5, %eax"], "%rax", form(5)),
        (["xorl %eax, %eax"], "%rax", form(0)),
        (["movq %rbx, %rax", "salq $3, %rax"], "%rax", form(0, rbx=8)),
        (["negq %rax"], "%rax", form(0, rax=-1)),
        (["notq %rax"], "%rax", form(-1, rax=-1)),  # two's complement
        (["imulq $24, %rbx, %rax"], "%rax", form(0, rbx=24)),
        (["movq %rax, -8(%rsp)", "movq -8(%rsp), %rbx"], "%rbx", form(0, rax=1)),
        (["movq %rax, 8(%rsp)", "addq $4, 8(%rsp)", "movq 8(%rsp), %rbx"], "%rbx", form(4, rax=1)),
        (["addq $8, %rax", "vmovq %rax, %xmm2", "vmovq %xmm2, %rdi"], "%rdi", form(8, rax=1)),
        (["movq %rax, %xmm2", "movq %xmm2, %xmm3", "movq %xmm3, %rdi"], "%rdi", form(0, rax=1)),
        (["subq $16, %rsp", "movq %rax, 8(%rsp)", "movq 8(%rsp), %rcx"], "%rcx", form(0, rax=1)),
    ],
)
def test_registers_and_stack_slots_are_sums_of_arguments(
    lines: list[str], register: str, expected: LinearForm
) -> None:
    assert after(*lines)[register] == expected


@pytest.mark.parametrize(
    "line", ["imulq %rbx, %rax", "andq $-32, %rax", "movq (%rbx), %rax", "movq (%rbx,%rcx), %rax"]
)
def test_what_is_no_sum_is_a_symbol_of_its_own(line: str) -> None:
    state = after(line, line)
    ((name, count),) = state["%rax"].terms
    assert (name, count, state["%rax"].constant) == ("%rax#t.1", 1, 0)


@pytest.mark.parametrize(
    ("byte", "register"),
    [("%al", "%rax"), ("%bh", "%rbx"), ("%sil", "%rsi"), ("%bpl", "%rbp"), ("%r10b", "%r10")],
)
def test_a_register_of_which_a_byte_is_written_has_another_value(byte: str, register: str) -> None:
    """``xorl, setg``: 0 or 1, which a sum of arguments does not tell."""
    state = after(f"movq %rdi, {register}", f"setg {byte}")
    assert state[register] == symbol(f"{register}#t.1")
    assert list(after(f"movb $1, {byte}")) == [register]
    assert after(f"testb $1, {byte}") == {}


def test_a_call_leaves_nothing_in_the_registers_of_the_callee() -> None:
    state = after("movl $1, %eax", "movl $2, %ebx", "call g")
    assert state["%rax"] == symbol("%rax#t.2")
    assert state["%rbx"] == form(2), "preserved by the System V ABI"


@pytest.mark.parametrize(
    "line",
    ["vaddpd %ymm0, %ymm1, %ymm2", "vmovq 8(%rsi), %xmm2", "call g", "vmovupd (%rsi), %zmm2"],
)
def test_a_vector_register_loses_the_pointer_that_it_keeps(line: str) -> None:
    state = after("vmovq %rax, %xmm2", line, "vmovq %xmm2, %rdi")
    assert state["%rdi"] == symbol("%xmm2#t.1")


def test_a_conditional_move_may_have_either_value() -> None:
    registers = RegisterValues(X86())
    state = registers.run({}, instructions("movl $8, %ebx", "cmovgq %rbx, %rax"), "t")
    ((name, _),) = state["%rax"].terms
    assert registers.choices[name] == (symbol("%rax"), form(8))


def test_the_input_of_a_run_stays_as_it_was() -> None:
    state: State = {"%rax": form(1)}
    RegisterValues(X86()).run(state, instructions("addq $8, %rax"), "t")
    assert state == {"%rax": form(1)}


def test_a_very_long_sum_becomes_a_symbol() -> None:
    state: State = {"%rax": LinearForm(tuple((f"s{n:02}", 1) for n in range(24)))}
    state = RegisterValues(X86()).run(state, instructions("addq %rbx, %rax"), "t")
    assert state["%rax"] == symbol("%rax#t.0")


def test_addresses_are_base_plus_scaled_index_plus_offset() -> None:
    registers, state = RegisterValues(X86()), {"%rax": form(8, rdi=1)}
    (load,) = instructions("vmovupd 16(%rsi,%rax,8), %ymm0")
    assert load.address is not None
    assert registers.address(state, load.address) == form(16 + 64, rsi=1, rdi=8)
    (table,) = instructions("vmovsd .LC0(%rip), %xmm0")
    assert table.address is not None
    assert dict(registers.address({}, table.address).terms)[".LC0"] == 1


# --- against a machine --------------------------------------------------------------------------


def run(lines: Sequence[str], start: dict[str, int]) -> dict[str, int]:
    """The registers after straight code, instruction by instruction."""
    state = dict(start)
    for line in lines:
        name, rest = line.split(None, 1)
        parts = re.split(r",\s*(?![^(]*\))", rest)
        target = parts[-1]
        literal = int(parts[0][1:]) if parts[0].startswith("$") else None
        operand = state.get(parts[0], 0) if literal is None else literal
        if name == "leaq":
            match = re.fullmatch(r"(-?\d+)\((%\w+),(%\w+),(\d)\)", parts[0])
            assert match is not None
            state[target] = int(match[1]) + state[match[2]] + int(match[4]) * state[match[3]]
        elif name == "negq":
            state[target] = -state[target]
        elif name in ("incq", "decq"):
            state[target] += 1 if name == "incq" else -1
        else:
            before = state[target]
            state[target] = {
                "movq": operand,
                "addq": before + operand,
                "subq": before - operand,
                "salq": before * 2 ** abs(operand),
            }[name]
    return state


NAMES = st.sampled_from(REGISTERS)
LINES = st.one_of(
    st.builds("{} {}, {}".format, st.sampled_from(["addq", "subq", "movq"]), NAMES, NAMES),
    st.builds("{} ${}, {}".format, st.sampled_from(["addq", "subq", "movq"]),
              st.integers(-64, 64), NAMES),
    st.builds("{} {}".format, st.sampled_from(["incq", "decq", "negq"]), NAMES),
    st.builds("salq ${}, {}".format, st.integers(0, 3), NAMES),
    st.builds("leaq {}({},{},{}), {}".format, st.integers(-64, 64), NAMES, NAMES,
              st.sampled_from([1, 2, 4, 8]), NAMES),
)  # fmt: skip


@settings(max_examples=40, derandomize=True)
@given(lines=st.lists(LINES, max_size=10))
def test_straight_code_gives_what_a_machine_computes(lines: list[str]) -> None:
    state = after(*lines)
    expected = run(lines, START)
    for name in REGISTERS:
        made = state.get(name, symbol(name))
        assert made.constant + sum(c * START[n] for n, c in made.terms) == expected[name]


# --- control flow -------------------------------------------------------------------------------


def values_of(text: str) -> RegisterValues:
    ((_, items),) = functions(text, X86())
    blocks = split(items, X86())
    successors = block_successors(blocks, X86())
    return register_values_of(blocks, successors, natural_loops(successors), X86())


def test_registers_that_a_loop_writes_have_a_symbol_and_an_entry() -> None:
    registers = values_of(
        "f:\n\tmovl $16, %eax\n\tmovq %rdi, %rcx\n.L1:\n\taddq $32, %rax\n\tjne .L1\n\tret\n"
    )
    inside = registers.at[1]
    assert inside["%rax"] == symbol("%rax@1")
    assert inside["%rcx"] == form(0, rdi=1), "a register that the loop leaves alone"
    assert registers.entry == {"%rax@1": form(16)}
    assert registers.at[2]["%rax"] == LinearForm((("%rax@1", 1),), 32)


def test_where_ways_meet_a_register_is_either_of_its_values() -> None:
    registers = values_of(
        "f:\n\tmovl $1, %ebx\n\tmovl $8, %eax\n\tje .L1\n\tmovl $16, %eax\n.L1:\n\tret\n"
    )
    met = registers.at[2]
    assert met["%rax"] == symbol("%rax@2")
    assert set(registers.choices["%rax@2"]) == {form(8), form(16)}
    assert met["%rbx"] == form(1), "the same on both ways"


def test_rows_are_followed_through_loops_and_choices_to_the_arguments() -> None:
    registers = RegisterValues(X86())
    registers.entry["%rax@1"] = form(8, rdi=1, rcx=8)
    registers.choices["%rsi@2"] = (symbol("%rsi"), LinearForm((("%rax@1", 1),), 64))
    assert registers.roots(symbol("%rax@1")) == {"%rdi"}
    assert registers.roots(symbol("%rsi@2")) == {"%rsi", "%rdi"}
    assert registers.roots(form(0, rdi=8)) == frozenset(), "a count of doubles is no pointer"
    registers.choices["%rdi"] = (symbol("%rsi@2"),)
    assert registers.roots(symbol("%rdi")) == {"%rsi"}, "a circle of choices ends"


def test_a_spilled_loop_variable_is_followed_through_the_stack() -> None:
    registers = values_of(
        "f:\n\tmovq %rdi, 8(%rsp)\n.L1:\n\tmovq 8(%rsp), %rax\n\taddq $64, %rax\n"
        "\tmovq %rax, 8(%rsp)\n\tjne .L1\n\tret\n"
    )
    slot = "[%rsp+8]"
    assert registers.entry[f"{slot}@1"] == form(0, rdi=1)
    assert registers.at[2][slot] == LinearForm(((f"{slot}@1", 1),), 64)
