"""Times of a 7-point stencil on this host over grids, blocks and threads, for `reproduce.py`.

    python benchmarks/record_stencils.py [-o benchmarks/recorded/stencils/NAME.json.gz] [--step 16]

The three spaces of Ibeid et al. (2019, section VII.A) in kind, all in one file:

    grids    I, J, K from 128 to 256 by 16, one thread
    blocks   I = 128, J and K from 16 to 128 by 16, blocks bj, bk of powers of two and whole
    threads  I, J from 128 to 368 by 16, one interior plane, threads from 1 to the cores here

and what the analytical model needs: sizes of the caches and seconds per line from each level, by a
sum over an array of half their size. Configurations run in random order in one process; a sample is
the mean of enough sweeps for 2 ms. Samples in which the process did not have its cores all the time
are taken again, up to five times; the share that it had is recorded. Three minutes on an idle host.
"""

import argparse
import gzip
import itertools
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autotune.measuring.host.detect import detect  # the product's own view of the caches

FOLDER = Path(__file__).resolve().parent / "recorded" / "stencils"
_SAMPLES = 5
_BUSY = 0.97
"""Share of the cores' time below which a sample was disturbed."""
_LINE = 64
_FLAGS = ("-O3", "-march=native", "-fopenmp")
_C = r"""
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double busy(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static double now(void) { return omp_get_wtime(); }
static long least(long a, long b) { return a < b ? a : b; }

static void sweep(long I, long J, long K, long bj, long bk, const double *restrict x,
                  double *restrict y) {
  long row = I + 2, plane = row * (J + 2);
  if (omp_get_max_threads() == 1) {
    for (long kk = 1; kk <= K; kk += bk)
      for (long jj = 1; jj <= J; jj += bj)
        for (long k = kk; k < least(kk + bk, K + 1); k++)
          for (long j = jj; j < least(jj + bj, J + 1); j++) {
            const double *c = x + k * plane + j * row;
            double *o = y + k * plane + j * row;
            for (long i = 1; i <= I; i++)
              o[i] = 0.4 * c[i] + 0.1 * (c[i - 1] + c[i + 1] + c[i - row] + c[i + row] +
                                         c[i - plane] + c[i + plane]);
          }
    return;
  }
#pragma omp parallel for collapse(2) schedule(static)
  for (long k = 1; k <= K; k++)
    for (long j = 1; j <= J; j++) {
      const double *c = x + k * plane + j * row;
      double *o = y + k * plane + j * row;
      for (long i = 1; i <= I; i++)
        o[i] = 0.4 * c[i] + 0.1 * (c[i - 1] + c[i + 1] + c[i - row] + c[i + row] + c[i - plane] +
                                   c[i + plane]);
    }
}

static double stream(const double *x, long n) {
  long times = (long)(2e6 / n) + 1;
  double best = 1e9, a[32] = {0};
  for (int s = 0; s < 60; s++) {
    double start = now();
    for (long r = 0; r < times; r++) {
      for (long i = 0; i + 32 <= n; i += 32)
        for (int k = 0; k < 32; k++) a[k] += x[i + k];
      __asm__ volatile("" ::: "memory");
    }
    double took = (now() - start) / times;
    if (took < best) best = took;
  }
  for (int k = 1; k < 32; k++) a[0] += a[k];
  if (a[0] == 0.123) puts("");
  return best;
}

int main(int argc, char **argv) {
  long I, J, K, bj, bk, t, most = atol(argv[1]), samples = atol(argv[2]);
  double *x = aligned_alloc(4096, most * 8), *y = aligned_alloc(4096, most * 8);
  for (long i = 0; i < most; i++) x[i] = 1 + 1e-6 * (i % 1000), y[i] = 0;
  for (int a = 3; a < argc; a++) {
    long n = atol(argv[a]) / 8;
    printf("%.6e\n", stream(x, n) * 8 / n);
  }
  while (scanf("%ld %ld %ld %ld %ld %ld", &I, &J, &K, &bj, &bk, &t) == 6) {
    omp_set_num_threads(t);
    double start = now();
    sweep(I, J, K, bj, bk, x, y);
    long sweeps = (long)(2e-3 / (now() - start)) + 1;
    for (long s = 0, kept = 0; kept < samples && s < 6 * samples; s++) {
      double used = busy();
      start = now();
      for (long r = 0; r < sweeps; r++) {
        double *from = r % 2 ? y : x, *to = r % 2 ? x : y;
        sweep(I, J, K, bj, bk, from, to);
      }
      double took = now() - start, share = (busy() - used) / (t * took);
      if (share > 0.97 || s >= 5 * samples) {
        printf("%.4e %.3f ", took / sweeps, share);
        kept++;
      }
    }
    puts("");
    fflush(stdout);
  }
}
"""
Row = tuple[int, int, int, int, int, int]


def main() -> None:
    arguments = _arguments()
    spaces = {name: list(make(arguments.step)) for name, make in SPACES.items()}
    order = [(name, i) for name, rows in spaces.items() for i in range(len(rows))]
    random.Random(0).shuffle(order)
    machine = detect()
    caches = [int(cache.size) for cache in machine.caches]
    sizes = [size // 2 for size in caches] + [8 * caches[-1]]
    rows = [spaces[name][i] for name, i in order]
    with tempfile.TemporaryDirectory() as folder:
        lines = _run(Path(folder), rows, sizes)
    costs = [float(line) for line in lines[: len(sizes)]]
    samples = [[float(word) for word in line.split()] for line in lines[len(sizes) :]]
    disturbed = sum(min(each[1::2]) < _BUSY for each in samples)
    if len(samples) != len(rows):
        sys.exit(f"{len(samples)} of {len(rows)} configurations were timed")
    times: dict[tuple[str, int], list[float]] = dict(zip(order, samples, strict=True))
    document = {
        "schema": "autotune.stencils/1",
        "columns": ["I", "J", "K", "bj", "bk", "threads"],
        "unit": "s per sweep",
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "system": platform.platform(),
            "compiler": _compiler(),
            "flags": " ".join(_FLAGS),
            "caches_bytes": caches,
            "line_bytes": _LINE,
            "seconds_per_line": costs,
        },
        "spaces": {
            name: {
                "rows": rows,
                "times": [times[name, i][::2] for i in range(len(rows))],
                "busy": [min(times[name, i][1::2]) for i in range(len(rows))],
            }
            for name, rows in spaces.items()
        },
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, separators=(",", ":"))
    arguments.output.write_bytes(gzip.compress(text.encode(), mtime=0))
    counts = ", ".join(f"{len(rows)} {name}" for name, rows in spaces.items())
    print(f"{arguments.output}: {counts}; {disturbed} of {len(samples)} were disturbed")


def _grids(step: int) -> Iterator[Row]:
    sides = range(128, 257, step)
    for I, J, K in itertools.product(sides, repeat=3):  # noqa: E741
        yield I, J, K, J, K, 1


def _blocks(step: int) -> Iterator[Row]:
    sides = range(16, 129, step)
    for J, K in itertools.product(sides, repeat=2):
        for bj, bk in itertools.product(_cuts(J), _cuts(K)):
            yield 128, J, K, bj, bk, 1


def _threads(step: int) -> Iterator[Row]:
    sides = range(128, 369, step)
    for I, J in itertools.product(sides, repeat=2):  # noqa: E741
        for threads in range(1, (os.cpu_count() or 1) + 1):
            yield I, J, 1, J, 1, threads


SPACES = {"grids": _grids, "blocks": _blocks, "threads": _threads}


def _cuts(extent: int) -> Sequence[int]:
    """Powers of two up to the extent, and the extent."""
    return sorted({extent, *(2**i for i in range(extent.bit_length()) if 2**i <= extent)})


def _run(folder: Path, rows: Sequence[Row], sizes: Sequence[int]) -> list[str]:
    source, program = folder / "stencil.c", folder / "stencil"
    source.write_text(_C, encoding="utf-8")
    subprocess.run(["gcc", *_FLAGS, str(source), "-o", str(program), "-lm"], check=True)
    most = max((i + 2) * (j + 2) * (k + 2) for i, j, k, *_ in rows)
    most = max(most, max(sizes) // 8) + 512
    given = "\n".join(" ".join(map(str, row)) for row in rows)
    done = subprocess.run(
        [str(program), str(most), str(_SAMPLES), *map(str, sizes)],
        input=given, capture_output=True, text=True, check=True, env=_environment(),
    )  # fmt: skip
    return done.stdout.splitlines()


def _environment() -> Mapping[str, str]:
    return {**os.environ, "OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}


def _compiler() -> str:
    done = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((x.split(": ", 1)[1] for x in lines if x.startswith("model name")), "unknown")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=FOLDER / "stencil7.json.gz")
    parser.add_argument("--step", type=int, default=16, help="between the sides of the grids")
    return parser.parse_args()


if __name__ == "__main__":
    main()
