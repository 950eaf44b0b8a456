"""Programs that break every promise: each is a result with its status, and the study goes on."""

from pathlib import Path

import own_programs as own
import pytest

from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow as tune_flow
from autotune.results.evaluate.study_evaluation import StudyEvaluation

NASTY = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#define IS(name) (strcmp(argv[1], name) == 0)
#ifdef BROKEN
#error this cannot be compiled
#endif

static int runs(const char *mode) /* of this mode, this one included */
{
    char name[64];
    snprintf(name, sizeof name, "runs-%s", mode);
    FILE *file = fopen(name, "a+");
    fputc('x', file);
    const int count = (int)ftell(file);
    fclose(file);
    return count;
}

static void child(const char *mode) /* outlives its parent, in a session of its own */
{
    const pid_t pid = fork();
    if (pid == 0) {
        setsid();
        fclose(stdout);
        for (;;) pause();
    }
    char name[64];
    snprintf(name, sizeof name, "child-%s", mode);
    FILE *file = fopen(name, "a");
    fprintf(file, "%d\n", (int)pid);
    fclose(file);
}

int main(int argc, char **argv)
{
    (void)argc;
    const int run = runs(argv[1]);
    double sum = 42;
    if (IS("crash")) abort();
    if (IS("exit3")) return 3;
    if (IS("hang")) { signal(SIGTERM, SIG_IGN); child("hang"); for (;;) pause(); }
    if (IS("fork")) child("fork");
    if (IS("flood")) for (;;) puts("more and more and more and more and more and more");
    if (IS("hungry")) for (size_t size = 1 << 24;; size += 1 << 24) {
        char *much = malloc(size);
        if (!much) { fprintf(stderr, "no memory left\n"); return 1; }
        memset(much, 1, size);
    }
    if (IS("disk")) {
        FILE *file = fopen("big", "w");
        for (;;) fwrite(argv[0], 1, 8, file);
    }
    if (IS("wrong")) sum = 43;
    if (IS("nan")) sum = 0.0 / 0.0;
    if (IS("later") && run > 1) sum = 44;
    if (IS("drift")) sum += run;
    if (IS("garbage")) printf("time soon s\n");
    else if (!IS("silent")) printf("time 0.001 s\n");
    if (!IS("mute")) printf("sum %.17g\n", sum);
    return 0;
}
"""
EXPECTED = {
    "good": ("ok", ""),
    "crash": ("crashed", "ended by SIGABRT"),
    "exit3": ("crashed", "exit code 3"),
    "hang": ("timed-out", "time limit"),
    "fork": ("crashed", "left 1 processes behind"),
    "flood": ("crashed", "printed more than it may"),
    "hungry": ("crashed", "no memory left"),
    "disk": ("crashed", "SIGXFSZ"),
    "wrong": ("wrong-result", "they differ by 0.0238"),
    "nan": ("wrong-result", "the check value is nan"),
    "later": ("wrong-result", "in a timed run: the check value is 44.0"),
    "drift": ("wrong-result", "they differ by"),
    "garbage": ("unreadable", "'soon' where its time should be"),
    "silent": ("unreadable", "printed no time: no line matches the pattern 'time "),
    "mute": ("unreadable", "printed no check value"),
}
PROGRAM = f"""\
schema: autotune.program/1
title: Breaks its promises
sources: [nasty.c]
folder: work
build: ["{{compiler}}", "{{flags}}", "{{broken}}", "{{source folder}}/nasty.c", -o, "{{output}}"]
run: ["{{output}}", "{{mode}}"]
threads: one
parameters: {{mode: [{", ".join(EXPECTED)}], broken: [null, -DBROKEN]}}
constraints: [mode == 'good' or broken == null]
time: {{pattern: "time (\\\\S+) s"}}
check: {{pattern: "sum (\\\\S+)"}}
"""
CONFIG = """\
schema: autotune.config/1
machine: generic-x86-64
program: tiny.yaml
problems: [{arguments: {}}]
builds: [{compiler: gcc, flags: [-O1]}]
measuring: {rounds: 2, samples: 1, busy: 0}
limits: {compile: 20 s, run: 2 s, memory: 256 MiB, output: 64 KiB, file: 1 MiB}
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    (folder / "work").mkdir()
    own.put(folder, PROGRAM, CONFIG, {"nasty.c": NASTY})
    return folder


@pytest.fixture(scope="module")
def result(work: Path) -> StudyEvaluation:
    """All of them in one study."""
    setup = load(work / "study.yaml")
    options = tune_flow.StudyOptions(exhaustive=True)
    return tune_flow.tune(setup, options, str(work / "store.sqlite"), own.quiet).evaluation


@pytest.fixture(scope="module")
def told(result: StudyEvaluation) -> dict[tuple[str, object], tuple[str, str]]:
    """Mode and whether it is broken to status and detail."""
    (problem,) = result.problems
    return {
        (str(values["mode"]), values["broken"]): (made.status, made.detail)
        for each in problem.evaluated
        for values in [each.candidate.parameters]
        if (made := each.measurement) is not None
    }


@pytest.mark.parametrize("mode", EXPECTED)
def test_each_has_its_status_and_says_why(
    told: dict[tuple[str, object], tuple[str, str]], mode: str
):
    status, words = EXPECTED[mode]
    found, detail = told[mode, None]
    assert found == status, detail
    assert words in detail


def test_a_build_that_fails_is_told_in_the_compilers_words(
    told: dict[tuple[str, object], tuple[str, str]],
):
    status, detail = told["good", "-DBROKEN"]
    assert status == "build-failed"
    assert "this cannot be compiled" in detail


def _runs(pid: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for yet has."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def test_nothing_of_them_is_left(result: StudyEvaluation, work: Path):
    for mode in ("hang", "fork"):
        pids = [int(line) for line in (work / "work" / f"child-{mode}").read_text().split()]
        assert pids
        assert [pid for pid in pids if _runs(pid)] == []


def test_files_have_a_limit(result: StudyEvaluation, work: Path):
    assert (work / "work" / "big").stat().st_size <= 1 << 20
