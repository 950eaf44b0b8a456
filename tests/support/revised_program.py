"""A C program in a git repository, whose second revision does twice the work."""

import os
import subprocess
from pathlib import Path

SOURCE = """\
#include <stdio.h>
#include <time.h>
#define PASSES {passes}
int main(void)
{{
    static volatile double a[20000];
    struct timespec t0, t1;
    double sum = 0;
    for (int i = 0; i < 20000; i++) a[i] = i * 1e-3;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    for (int p = 0; p < PASSES; p++)
        for (int i = 0; i < 20000; i += BLOCK)
            for (int j = i; j < i + BLOCK && j < 20000; j++)
                sum += a[j] * (p < 50);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    printf("time %.9f s\\nsum %.17g\\n",
           (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec), sum);
    return 0;
}}
"""
PROGRAM = """\
schema: autotune.program/1
title: A sum in blocks
sources: [sum.c]
build: ["{compiler}", "{flags}", "-DBLOCK={block}", "{source folder}/sum.c", -o, "{output}"]
run: ["{output}"]
threads: one
parameters: {block: [8, 64]}
baseline: {block: 8}
time: {pattern: "time (\\\\S+) s"}
check: {pattern: "sum (\\\\S+)"}
"""
CONFIG = """\
schema: autotune.config/1
name: sum
machine: generic-x86-64
program: sum.yaml
builds: [{compiler: gcc, flags: [-O1]}]
measuring: {rounds: 3, samples: 1, busy: 0}
selection: {top: 2, random: 0}
"""


def git(folder: Path, *words: str) -> str:
    """Run a git command as a user of its own; its output."""
    names = {
        f"GIT_{who}_{what}": "user@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    hidden = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env={**os.environ, **names, **hidden},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def write(folder: Path, passes: int) -> None:
    """Write the source with so many passes of work."""
    (folder / "sum.c").write_text(SOURCE.format(passes=passes), encoding="utf-8")


def repository(folder: Path, name: str = "tuning.yaml") -> Path:
    """The config in a repository of two revisions, ``first`` and ``twice``."""
    git(folder, "init", "-q", "-b", "main", ".")
    (folder / "sum.yaml").write_text(PROGRAM, encoding="utf-8")
    (folder / name).write_text(CONFIG, encoding="utf-8")
    (folder / ".gitignore").write_text("*.sqlite*\n", encoding="utf-8")
    for passes, tag in ((50, "first"), (100, "twice")):
        write(folder, passes)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", f"{passes} passes")
        git(folder, "tag", tag)
    return folder / name
