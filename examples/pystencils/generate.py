"""Writes a C program with a stencil kernel that pystencils generates.

    python generate.py --blocks 0,16,0 --vector avx --size 128 --output program.c

The kernel is a Jacobi sweep over seven points of a cube. The program takes the number of sweeps and
prints the time of one, and the sum of the result.
"""

import argparse
import sys
from pathlib import Path

try:
    import pystencils
except ImportError:
    sys.exit("pystencils is not installed: pip install 'pystencils>=2'")

PREAMBLE = """\
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
{vector}
#define RESTRICT restrict
"""

MAIN = """
int main(int argc, char **argv)
{{
    const int64_t n = {size} + 2, points = n * n * n;
    const int sweeps = argc > 1 ? atoi(argv[1]) : 1;
    double *f = aligned_alloc(64, (size_t)(points * 8 + 63) / 64 * 64);
    double *g = aligned_alloc(64, (size_t)(points * 8 + 63) / 64 * 64);
    if (!f || !g)
        return 1;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = k * n * n; i < (k + 1) * n * n; i++)
            f[i] = g[i] = (double)(i % 101) / 101;
    for (int batch = 0; batch < 4; batch++) {{
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (int sweep = 0; sweep < sweeps; sweep++) {{
            {call};
            double *other = f;
            f = g;
            g = other;
        }}
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double seconds = (double)(end.tv_sec - start.tv_sec)
                               + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
        printf("sweep %.9e s\\n", seconds / sweeps);
    }}
    double sum = 0;
    for (int64_t i = 0; i < points; i++)
        sum += f[i] * (1 + (double)(i % 7) / 8);
    printf("sum %.17g\\n", sum);
    return 0;
}}
"""


def kernel(options: argparse.Namespace) -> pystencils.codegen.Kernel:
    """The generated kernel."""
    edge = options.size + 2
    shape = f"{edge},{edge},{edge}" if options.shape == "fixed" else "3D"
    f, g = pystencils.fields(f"f, g: double[{shape}]")
    sides = f[1, 0, 0] + f[-1, 0, 0] + f[0, 1, 0] + f[0, -1, 0] + f[0, 0, 1] + f[0, 0, -1]
    config = pystencils.CreateKernelConfig()
    config.cpu.openmp.enable = True
    blocks = [int(size) for size in options.blocks.split(",")]
    if any(blocks):
        config.cpu.loop_blocking = tuple(size or options.size for size in blocks)
    if options.vector != "none":
        config.target = {"sse": pystencils.Target.X86_SSE, "avx": pystencils.Target.X86_AVX}[
            options.vector
        ]
        config.cpu.vectorize.enable = True
        config.cpu.vectorize.assume_inner_stride_one = True
    sweep = pystencils.Assignment(g.center(), 0.4 * f.center() + 0.1 * sides)
    return pystencils.create_kernel(sweep, config)


def argument(name: str) -> str:
    """What the main program passes for a parameter of the kernel."""
    kind, _, rest = name.strip("_").partition("_")
    if kind == "data":
        return rest
    if kind == "size":
        return "n"
    return {"0": "n * n", "1": "n", "2": "1"}[rest[-1]]  # a stride


def main() -> None:
    """Write the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--blocks", default="0,0,0", help="points of a block, slowest first; 0: all"
    )
    parser.add_argument("--vector", default="none", choices=["none", "sse", "avx"])
    parser.add_argument("--shape", default="any", choices=["any", "fixed"])
    parser.add_argument("--size", type=int, required=True, help="points of an edge")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    made = kernel(options)
    vector = "" if options.vector == "none" else "#include <immintrin.h>"
    arguments = ", ".join(argument(parameter.name) for parameter in made.parameters)
    text = PREAMBLE.format(vector=vector) + made.get_c_code()
    text += MAIN.format(size=options.size, call=f"{made.name}({arguments})")
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
