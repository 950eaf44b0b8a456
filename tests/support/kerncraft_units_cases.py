"""Kernels with blocks of assembly, and layer conditions, with what is said of each."""

from pathlib import Path

SCRIPT = str(Path(__file__).with_name("kerncraft_units.py"))

AXPY = "double x[N], y[N]; double s;\nfor(int i=0; i<N; ++i) y[i] = y[i] + s*x[i];"
SUM = "double a[N]; double s;\nfor(int i=0; i<N; ++i) s = s + a[i];"
TWO = "double a[N], b[N], c[N];\nfor(int i=0; i<N; ++i) { a[i] = c[i]; b[i] = c[i]; }"
SINGLE = "float x[N], y[N]; float s;\nfor(int i=0; i<N; ++i) y[i] = y[i] + s*x[i];"
QUOTIENT = "double x[N], y[N]; double s;\nfor(int i=0; i<N; ++i) y[i] = x[i]/s;"
INNER = (
    "double a[N][{0}], b[N][{0}];\n"
    "for(int j=0; j<N; ++j) for(int i=0; i<{0}; ++i) a[j][i] = b[j][i];"
)

LOAD, FUSED = "vmovupd (%rcx,%rax), %ymm0", "vfmadd213pd (%rdx,%rax), %ymm1, %ymm0"
STORE, STEP = "vmovupd %ymm0, (%rdx,%rax)", "addq $32, %rax"
VECTOR = (LOAD, FUSED, STORE, STEP)
SPILL = "vmovupd %ymm3, 64(%rsp)"
SCALAR = (
    "vmovsd (%rcx,%rax), %xmm0",
    "vfmadd213sd (%rdx,%rax), %xmm1, %xmm0",
    "vmovsd %xmm0, (%rdx,%rax)",
    "addq $8, %rax",
)
HALVES = (
    LOAD,
    FUSED,
    "vmovups %xmm0, (%rdx,%rax)",
    "vextractf128 $1, %ymm0, 16(%rdx,%rax)",
    STEP,
)
NEON = (
    "ldr q0, [x1, x3]",
    "ldr q1, [x2, x3]",
    "fmla v1.2d, v0.2d, v2.2d",
    "str q1, [x2, x3]",
    "add x3, x3, #16",
)
PAIR = (
    "ldp q0, q3, [x1]",
    "ldp q1, q4, [x2]",
    "fmla v1.2d, v0.2d, v2.2d",
    "fmla v4.2d, v3.2d, v2.2d",
    "stp q1, q4, [x2]",
    "add x2, x2, #32",
)

Case = tuple[dict[str, object], str | None]


def block(
    kernel: str,
    lines: tuple[str, ...],
    increment: int,
    refused: str | None = None,
    isa: str = "x86",
) -> Case:
    text = "".join(f"\t{line}\n" for line in lines)
    return {"kernel": kernel, "isa": isa, "block": text, "increment": increment}, refused


JOINED, OPERATIONS = "the compiler joined or split loops", "joined iterations of an outer loop"

BLOCKS: dict[str, Case] = {
    "a vector of four iterations": block(AXPY, VECTOR, 32),
    "downwards": block(AXPY, VECTOR, -32),
    "one iteration": block(AXPY, SCALAR, 8),
    "two vectors in a pass": block(AXPY, VECTOR[:3] * 2 + VECTOR[3:], 64),
    "halves of a vector stored apart": block(AXPY, HALVES, 32),
    "a spilled register is no store of the kernel": block(AXPY, (SPILL, *VECTOR), 32),
    "two vectors counted as one": block(
        AXPY, VECTOR[:3] * 2 + VECTOR[3:], 32,
        "stores 64 B, but kerncraft takes it for 4 iterations, which store 32 B",
    ),
    "one vector counted as two": block(
        AXPY, VECTOR, 64, "stores 32 B, but kerncraft takes it for 8 iterations"
    ),
    "a sum that is stored nowhere": block(
        SUM, ("vaddpd (%rcx,%rax), %ymm0, %ymm0", STEP), 32
    ),
    "sums of several rows at once": block(
        SUM, ("vaddpd (%rcx,%rax), %ymm0, %ymm0", "vaddpd (%rdx,%rax), %ymm1, %ymm1", STEP), 32,
        "does 8 floating-point operations, but kerncraft takes it for 4 iterations, which have 4",
    ),
    "more arithmetic than the source has": block(
        AXPY, (LOAD, FUSED, FUSED, STORE, STEP), 32, OPERATIONS
    ),
    "less arithmetic than the source has": block(AXPY, (LOAD, STORE, STEP), 32),
    "two rows stored in one loop": block(
        TWO, (LOAD, STORE, "vmovupd %ymm0, (%rsi,%rax)", STEP), 32
    ),
    "one of two rows stored, the other in another loop": block(
        TWO, (LOAD, STORE, STEP), 32, JOINED
    ),
    "a quotient may be many operations": block(
        QUOTIENT,
        ("vmovupd (%rcx,%rax), %ymm0", "vmulpd %ymm1, %ymm0, %ymm0", "vmulpd %ymm1, %ymm0, %ymm2",
         "vaddpd %ymm2, %ymm0, %ymm0", STORE, STEP),
        32,
    ),
    "single precision": block(
        SINGLE,
        ("vmovups (%rcx,%rax), %ymm0", "vfmadd213ps (%rdx,%rax), %ymm1, %ymm0",
         "vmovups %ymm0, (%rdx,%rax)", STEP),
        32,
    ),
    "AArch64": block(AXPY, NEON, 16, isa="aarch64"),
    "AArch64, pairs": block(AXPY, PAIR, 32, isa="aarch64"),
    "AArch64, pairs counted as one": block(AXPY, PAIR, 16, JOINED, isa="aarch64"),
    "an inner loop that may be unrolled": block(
        INNER.format(4), (LOAD, STORE, STEP), 32, "the inner loop has 4 iterations"
    ),
    "an inner loop that is not": block(INNER.format(129), (LOAD, STORE, STEP), 32),
}  # fmt: skip
"""Name to the kernel with its block, and words of the refusal; None: it is accepted."""


def condition(text: str, *symbols: str) -> dict[str, object]:
    return {"polynomial": text, "symbols": list(symbols)}


POLYNOMIALS: dict[str, tuple[dict[str, object], object]] = {
    "terms with their powers": (
        condition("8*N*M + 16*N**2 - 24", "M", "N"),
        [[8, [["M", 1], ["N", 1]]], [16, [["N", 2]]], [-24, []]],
    ),
    "a number": (condition("512"), [[512, []]]),
    "a number where there are sizes": (condition("512", "N"), [[512, []]]),
    "another symbol": (
        condition("8*N*K", "N"),
        "the layer condition 8*K*N depends on more than the sizes",
    ),
    "a fraction": (
        condition("N/3", "N"),
        "the layer condition N/3 is no polynomial of integers",
    ),
}
"""Name to the condition, and its terms or the refusal."""
