"""Instructions of equal cost, which replace an instruction that a table lacks.

On these cores subtraction, minimum and maximum run on the adders, fused multiply-adds of all signs
on the same units, and both halves of an interleave on the same shuffle units.
"""

import re
from collections.abc import Sequence

from autotune.models.incore.assembly.instructions import Isa

_RULES: dict[Isa, tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]] = {
    "x86_64": (
        (re.compile(r"(v?)(?:sub|max|min|addsub)([ps]d)"), (r"\1add\2", r"\1max\2")),
        (re.compile(r"vfn?m(?:add|sub)(132|213|231)([ps]d)"), (r"vfmadd\1\2", r"vfmadd231\2")),
        (re.compile(r"(v?)u?comisd"), (r"\1ucomisd", r"\1comisd", r"\1addsd")),
        (re.compile(r"(v?)unpck[lh]pd"), (r"\1unpcklpd", r"\1unpckhpd", r"\1shufpd")),
        (re.compile(r"(v?)shufpd"), (r"\1unpcklpd",)),
        (re.compile(r"(v?)mov[lh]pd"), (r"\1movlpd", r"\1movhpd", r"\1unpcklpd")),
        (re.compile(r"(v?)mov(?:lhps|hlps|ddup)"), (r"\1movlhps", r"\1unpcklpd")),
        (re.compile(r"(v?)punpck[lh]qdq"), (r"\1unpcklpd", r"\1shufpd")),
        (re.compile(r"(v?)p(?:shufd|ermil\w+)"), (r"\1permilpd", r"\1shufpd")),
        (re.compile(r"vperm(?:pd|2f128|[it]2pd)"), ("vpermpd", "vperm2f128", "vpermilpd")),
        (re.compile(r"(v?)(?:and|andn|or|xor)pd"), (r"\1andpd", r"\1andps", r"\1xorps")),
    ),
    "aarch64": (
        (re.compile(r"f(?:sub|max|min|maxnm|minnm|abd)"), ("fadd",)),
        (re.compile(r"fml[as]|fnml[as]"), ("fmla",)),
        (re.compile(r"fn?m(?:add|sub)"), ("fmadd", "fmla")),
        (re.compile(r"fmad|fmsb|fnmad|fnmsb"), ("fmad", "fmla")),
        (re.compile(r"f(?:neg|abs)"), ("fadd",)),
        (re.compile(r"(?:adds|subs?)"), ("add", "sub")),
        (re.compile(r"(?:zip|uzp|trn)[12]|ext"), ("zip1", "ext", "trn1")),
    ),
}


def equivalents_of(mnemonic: str, isa: Isa) -> Sequence[str]:
    """The names of instructions of equal cost to look up instead, best first.

    >>> equivalents_of("vsubpd", "x86_64")
    ['vaddpd', 'vmaxpd']
    """
    for pattern, names in _RULES[isa]:
        match = pattern.fullmatch(mnemonic)
        if match:
            expanded = [match.expand(name) for name in names]
            return [name for name in expanded if name != mnemonic]
    return []
