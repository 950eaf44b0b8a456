# mypy: disable-error-code="import-untyped"
"""Checks that an assembly block's cycles and kerncraft's transfers count the same iterations."""

import re
from collections.abc import Sequence

import sympy
from kerncraft.kernel import KernelCode, find_node_type, symbol_pos_int
from osaca.parser import InstructionForm
from osaca.parser.memory import MemoryOperand
from osaca.parser.register import RegisterOperand
from pycparser import c_ast

from autotune.models.kerncraft_child.kernel_subject import KernelRefused

_VECTORS = {"xmm": 16, "ymm": 32, "zmm": 64}
_ARITHMETIC = re.compile(
    r"v?(?:add|sub|mul|div|(?P<fused>fn?m(?:add|sub)\d{3}))(?:s|(?P<packed>p))[sd]$"
    r"|f(?:add|sub|mul|n?(?P<a64>m)(?:la|ls|add|sub))$"
)
_SHORT = 128
"""Largest number of iterations of an inner loop that a compiler may unroll completely."""


def check_units(kernel: KernelCode, block: Sequence[InstructionForm], increment: int) -> None:
    """Raise ``KernelRefused`` unless the block does as many iterations as kerncraft assumes.

    kerncraft divides the block's cycles by the elements that a pointer moves, and transfers by the
    iterations of the innermost loop. Both agree unless the compiler unrolled the innermost loop
    completely, worked on several outer iterations at once, or split the loop. In these cases the
    number of stores or of operations in the block does not match the number of iterations.
    """
    loops = list(kernel.get_loop_stack())
    length = loops[-1]["stop"] - loops[-1]["start"]
    if len(loops) > 1 and length.is_Integer and length <= _SHORT:
        raise KernelRefused(
            f"the inner loop has {length} iterations: the compiler may unroll it, and kerncraft"
            " would mix its iterations with those of the loop around it"
        )
    element = kernel.datatypes_size[kernel.datatype]
    iterations = abs(increment // element)
    statements = kernel._find_inner_most_loop(kernel.get_kernel_loop_nest()).stmt
    least = iterations * element * _running(kernel, symbol_pos_int(loops[-1]["index"]))
    most = iterations * element * len(find_node_type(statements, c_ast.Assignment))
    stored = _stored(block)
    if stored is not None and least and not least <= stored <= most:
        raise KernelRefused(
            f"one pass of the assembly block stores {stored} B, but kerncraft takes it for"
            f" {iterations} iterations, which store {least} B: the compiler joined or split loops"
        )
    done, written = _operations(block, element), iterations * sum(kernel._flops.values())
    if done is not None and "/" not in kernel._flops and done > written:  # a quotient may be many
        raise KernelRefused(
            f"one pass of the assembly block does {done} floating-point operations, but kerncraft"
            f" takes it for {iterations} iterations, which have {written}: the compiler joined"
            " iterations of an outer loop"
        )


def _running(kernel: KernelCode, inner: sympy.Symbol) -> int:
    """The number of distinct destinations that move with the innermost loop."""
    return sum(
        access is not None and any(inner in index.free_symbols for index in access)
        for destinations in kernel.destinations.values()
        for access in destinations
    )


def _stored(block: Sequence[InstructionForm]) -> int | None:
    """The bytes that the block's instructions store; None where the width of one is unknown."""
    total = 0
    for form in block:
        if form.mnemonic is None:
            continue
        written = [*form.semantic_operands["destination"], *form.semantic_operands["src_dst"]]
        if any(isinstance(o, MemoryOperand) and not _on_stack(o) for o in written):
            width = _width(form)
            if width is None:
                return None
            total += width
    return total


def _operations(block: Sequence[InstructionForm], element: int) -> int | None:
    """The floating-point operations of the block; None for vectors of unknown length."""
    total = 0
    for form in block:
        kind = _ARITHMETIC.match(str(form.mnemonic))
        if kind is None:
            continue
        registers = [o for o in form.operands if isinstance(o, RegisterOperand)]
        lanes = 1
        if any(register.prefix in ("v", "z", "p") for register in registers):  # AArch64
            if any(register.lanes is None for register in registers):
                return None
            lanes = int(registers[0].lanes)
        elif kind.group("packed"):
            lanes = max(_VECTORS.get(r.name[:3].lower(), 0) for r in registers) // element
        total += lanes * (2 if kind.group("fused") or kind.group("a64") else 1)
    return total


def _on_stack(operand: MemoryOperand) -> bool:
    """Whether an operand is a spilled register; kernels address arrays by other registers than the
    stack pointer.
    """
    return operand.base is not None and operand.base.name in ("rsp", "sp")


def _width(form: InstructionForm) -> int | None:
    """The bytes that a store moves, on x86 in AT&T syntax and on AArch64 without SVE; else None."""
    name = str(form.mnemonic)
    registers = [o for o in form.operands if isinstance(o, RegisterOperand)]
    if not registers:
        return {"q": 8, "l": 4, "d": 8, "s": 4}.get(name[-1])
    if registers[0].prefix is not None:  # AArch64
        bytes_each = {"q": 16, "v": 16, "d": 8, "x": 8, "s": 4, "w": 4}.get(registers[0].prefix)
        pair = 2 if name in ("stp", "stnp") else 1
        return bytes_each * pair if bytes_each is not None else None
    kinds = [register.name[:3].lower() for register in registers]
    full = max(_VECTORS.get(kind, 0) for kind in kinds)
    if "extract" in name:
        part = re.search(r"(?:128|64x2|32x4)$|(256|64x4|32x8)$", name)
        return None if part is None else 32 if part.group(1) else 16
    if full and re.search(r"s[ds]$|[lh]p[ds]$|mov[dq]$", name):  # scalars and halves
        return 4 if name.endswith(("ss", "d")) and not name.endswith(("sd", "pd")) else 8
    return full or {"r": 8, "e": 4}.get(kinds[0][0])
