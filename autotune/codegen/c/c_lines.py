"""Formats C text: wraps long lines, and puts a macro before every function."""

import textwrap

WIDTH = 100
GLUE = "\xa0"
"""A space at which no line is broken."""
INDEPENDENT = [
    "#ifdef __clang__",
    "#define INDEPENDENT",
    "#else",
    '#define INDEPENDENT _Pragma("GCC ivdep")',
    "#endif",
    "",
]
"""Lines that define the macro ``INDEPENDENT``: the iterations of the next loop are independent.
clang concludes that from ``restrict`` alone."""
SHORT = [
    "#ifdef __clang__",
    '#define SHORT _Pragma("clang loop unroll(disable)")',
    "#else",
    "#define SHORT INDEPENDENT",
    "#endif",
    "",
]
"""Lines that define the macro ``SHORT``: as ``INDEPENDENT``, of a loop whose few passes are known.
clang would write them out before it looks for vectors, and make vectors of what lies lines apart.
"""
SCALAR = ['#define SCALAR __asm__ volatile ("")', ""]
"""Lines that define the macro ``SCALAR``: a statement that does nothing; compilers do not vectorise
a loop that has it."""

PREFETCH = """\
#include <stdint.h>
#define PREFETCH(row, at) \\
    __builtin_prefetch((const void *)((uintptr_t)(row) + sizeof(double)*(uintptr_t)(at)))
""".splitlines()
"""Lines that define the macro ``PREFETCH(row, at)``: fetch the line of an element, which need not
exist: addresses are whole numbers."""
STREAMING = """\
#include <stdint.h>
#if defined(__AVX__)
#include <immintrin.h>
#define STREAM(k) _mm256_stream_pd(to + 4*(k), _mm256_load_pd(from + 4*(k)))
#define STREAM_LINE STREAM(0), STREAM(1)
#define STREAMED() _mm_sfence()
#elif defined(__SSE2__)
#include <emmintrin.h>
#define STREAM(k) _mm_stream_pd(to + 2*(k), _mm_load_pd(from + 2*(k)))
#define STREAM_LINE STREAM(0), STREAM(1), STREAM(2), STREAM(3)
#define STREAMED() _mm_sfence()
#else
#define STREAM_LINE __builtin_memcpy(to, from, 64)
#define STREAMED() ((void)0)
#endif

static inline void stream_line(double *restrict to, const double *restrict from)
{
    STREAM_LINE;
}

static inline long to_line(const double *at, long most)
{
    const long ahead = (long)(-((uintptr_t)at / sizeof(double)) % 8);
    return ahead < most ? ahead : most;
}
""".splitlines()
"""Lines that define how eight doubles are stored past the caches, and how many doubles, at most so
many, lie before the next cache line. Targets without such stores have plain ones."""


def independent(lanes: int | None) -> list[str]:
    """Lines that define the macro ``INDEPENDENT``, with the number of doubles in a vector."""
    if lanes is None:
        return INDEPENDENT
    return [f'#define INDEPENDENT _Pragma("omp simd simdlen({lanes})")', ""]


def short(lanes: int | None) -> list[str]:
    """Lines that define the macro ``SHORT``, with the number of doubles in a vector: one pragma
    of OpenMP cannot stand beside one of clang.
    """
    return SHORT if lanes is None else ["#define SHORT INDEPENDENT", ""]


def summed(lanes: int | None) -> list[str]:
    """Lines that define the macro ``SUM(name)``: the terms that the next loop adds to ``name`` may
    be added in any order.
    """
    length = "" if lanes is None else f" simdlen({lanes})"
    return [
        "#define PRAGMA(text) _Pragma(#text)",
        f"#define SUM(name) PRAGMA(omp simd reduction(+ : name){length})",
        "",
    ]


def wrapped(line: str) -> list[str]:
    """A line of C, divided into several lines where it is longer than ``WIDTH``."""
    if len(line) <= WIDTH or line.lstrip().startswith("#"):
        return [line.replace(GLUE, " ")]
    indent = line[: len(line) - len(line.lstrip())]
    lines = textwrap.wrap(
        line,
        WIDTH,
        subsequent_indent=indent + "        ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [part.replace(GLUE, " ") for part in lines]
