"""A tiny problem, and a C program that honours the protocol, or breaks it on demand.

The program's numbers are y_j = 1 + j/1024, whatever the steps; its behaviour is the macro ``MODE``,
which comes from the parameter ``mode`` of the variant.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from autotune.domain.problem import ButcherTableau, Ivp, Problem, Region
from autotune.domain.setup import Limits, Measuring
from autotune.domain.variant import Candidate, ExecutionLayout, Tile, Variant
from autotune.language.expression import parse
from autotune.measuring.candidates.host_measurer import HostMeasurer, ReferenceStates
from autotune.units import Seconds

MIDPOINT = ButcherTableau(
    name="gauss-2", title="Gauss, 1 stage", order=2, A=((0.5,),), b=(1.0,), c=(0.5,), source="Gauss"
)
DECAY = Ivp(
    name="decay",
    title="y' = -y",
    source="-",
    dimension=parse("N"),
    constants={},
    access_distance=parse("0"),
    limited=True,
    regions=(Region(lower=parse("0"), upper=parse("n"), body=parse("-y[j]")),),
    initial=(Region(lower=parse("0"), upper=parse("n"), body=parse("1.0")),),
    stability=parse("1"),
)
PROBLEM = Problem(ivp=DECAY, method=MIDPOINT, correctors=1, size=1000)

MODES = (
    "good", "wrong", "nan", "denormal", "short", "no_state", "crash_verify", "hang_verify",
    "crash", "hang", "flood", "garbage", "banner", "no_samples", "no_end", "silent", "lie_threads",
    "lie_negative", "lie_nan", "contended", "not_finite", "final_nan", "final_denormal",
    "no_final", "orphan", "exit3",
)  # fmt: skip

_PROGRAM = r"""
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define IS(mode) (strcmp(MODE, mode) == 0)

static const char *option(int argc, char **argv, const char *name) {
    for (int i = 2; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0) return argv[i + 1];
    fprintf(stderr, "no %s\n", name);
    exit(2);
}

static int verify(int argc, char **argv) {
    long n = atol(option(argc, argv, "--n"));
    if (IS("crash_verify")) abort();
    if (IS("hang_verify")) for (;;) pause();
    if (IS("no_state")) return 0;
    if (IS("short")) n -= 3;
    FILE *out = fopen(option(argc, argv, "--out"), "wb");
    for (long j = 0; j < n; j++) {
        double y = 1.0 + j / 1024.0;
        if (j == n / 2) {
            if (IS("wrong")) y += 1e-9;
            if (IS("nan")) y = NAN;
            if (IS("denormal")) y = 1e-310;
        }
        fwrite(&y, sizeof y, 1, out);
    }
    fclose(out);
    return 0;
}

static void sample(int warm, const char *seconds, const char *busy) {
    printf("{\"kind\":\"sample\",\"warm_up\":%s,\"seconds\":%s,\"steps\":7,\"busy\":%s,"
           "\"taken\":%.3f,\"voluntary\":1,\"involuntary\":2,\"undisturbed\":true}\n",
           warm ? "true" : "false", seconds, busy, (double)time(0));
}

int main(int argc, char **argv) {
    setvbuf(stdout, 0, _IOLBF, 0);
    option(argc, argv, "--h");
    if (strcmp(argv[1], "verify") == 0) return verify(argc, argv);
    int threads = atoi(option(argc, argv, "--threads"));
    int samples = atoi(option(argc, argv, "--samples"));
    if (IS("silent")) return 0;
    if (IS("banner")) printf("Welcome to the cluster\n");
    if (IS("orphan") && fork() == 0) { setsid(); for (;;) pause(); }
    printf("{\"kind\":\"start\",\"threads\":%d,\"affinity\":[0],\"ld\":1000,\"pid\":%d}\n",
           IS("lie_threads") ? threads + 1 : threads, (int)getpid());
    printf("{\"kind\":\"check\",\"steps\":3,\"sum\":%s,\"magnitude\":2.5,\"max\":1.0,"
           "\"finite\":%s,\"denormal\":false}\n",
           IS("not_finite") ? "null" : "1.25", IS("not_finite") ? "false" : "true");
#ifdef AUTOTUNE_PHASES
    printf("{\"kind\":\"phase\",\"name\":\"rhs\",\"seconds\":0.5}\n");
    printf("{\"kind\":\"phase\",\"name\":\"barrier\",\"seconds\":0.25}\n");
#endif
    if (IS("flood")) for (;;) puts("and again and again and again");
    if (IS("garbage")) puts("{\"kind\":\"sam");
    if (!IS("no_samples")) {
        sample(1, "0.5", "1.0");
        for (int s = 0; s < samples; s++)
            sample(0, IS("lie_negative") ? "-1.0" : IS("lie_nan") ? "NaN" : "0.125",
                   IS("contended") ? "0.5" : "0.99");
    }
    if (IS("crash")) { fprintf(stderr, "last words\n"); raise(SIGSEGV); }
    if (IS("hang")) for (;;) pause();
    if (IS("exit3")) return 3;
    if (!IS("no_final") && !IS("no_end"))
        printf("{\"kind\":\"final\",\"finite\":%s,\"denormal\":%s}\n",
               IS("final_nan") ? "false" : "true", IS("final_denormal") ? "true" : "false");
    if (!IS("no_end")) printf("{\"kind\":\"end\"}\n");
    return 0;
}
"""


def make_candidate(mode: str = "good", threads: int = 1, tile: int | None = None) -> Candidate:
    """A candidate whose program behaves in one of ``MODES``."""
    variant = Variant(
        skeleton="fake",
        transformations=(Tile("lc", tile),) if tile else (),
        parameters={"mode": mode},
    )
    return Candidate(variant=variant, problem=PROBLEM, layout=ExecutionLayout(threads=threads))


def sources(candidate: Candidate) -> Mapping[str, str]:
    """The program of a candidate; mode ``build`` does not compile."""
    mode = candidate.variant.parameters["mode"]
    text = "this is not C" if mode == "build" else _PROGRAM
    return {"main.c": f'#define _GNU_SOURCE\n#define MODE "{mode}"\n{text}'}


def fake_reference(problem: Problem, steps: int) -> NDArray[np.float64]:
    """What a good program writes."""
    values: NDArray[np.float64] = 1.0 + np.arange(problem.n) / 1024.0
    return values


def make_measurer(run: float = 20.0, **changes) -> HostMeasurer:
    """A measurer of these programs; ``run`` is the time limit of a launch in seconds."""
    settings = {
        "measuring": Measuring(samples=3, verify_steps=2),
        "limits": Limits(run=Seconds(run), factor=1.0),
        "sources": sources,
        "references": ReferenceStates(fake_reference),
    }
    return HostMeasurer(**(settings | changes))
