"""The C reader of wisdom files, driven from Python: one process answers a list of requests."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from autotune.results.export import readers

SOURCE = r"""
#include <stdio.h>
#include <string.h>
#define AUTOTUNE_WISDOM_IMPLEMENTATION
#include "autotune_wisdom.h"

static void hex(const char *text)
{
    for (; *text; text++) printf("%02x", (unsigned char)*text);
}

static void parameter(const autotune_wisdom_choice *choice, const char *name)
{
    long long whole;
    double number;
    int on;
    const char *text;
    if (autotune_wisdom_none(choice, name) == AUTOTUNE_WISDOM_OK) printf("none");
    else if (autotune_wisdom_integer(choice, name, &whole) == AUTOTUNE_WISDOM_OK)
        printf("int %lld", whole);
    else if (autotune_wisdom_number(choice, name, &number) == AUTOTUNE_WISDOM_OK)
        printf("float %.17g", number);
    else if (autotune_wisdom_switch(choice, name, &on) == AUTOTUNE_WISDOM_OK)
        printf("bool %d", on);
    else if (autotune_wisdom_text(choice, name, &text) == AUTOTUNE_WISDOM_OK) {
        printf("str ");
        hex(text);
    } else printf("code %d", autotune_wisdom_text(choice, name, &text));
}

int main(void)
{
    char line[4096];
    autotune_wisdom *wisdom = NULL;
    autotune_wisdom_choice choice;
    while (fgets(line, sizeof line, stdin)) {
        char *rest;
        line[strcspn(line, "\n")] = 0;
        rest = line + 2;
        if (line[0] == 'o') {
            autotune_wisdom_close(wisdom);
            printf("%d\n", autotune_wisdom_open(rest, &wisdom));
        } else if (line[0] == 's') {
            char *machine = strtok(rest, "\t"), *problem = strtok(NULL, "\t");
            long long ranks = 0;
            sscanf(strtok(NULL, "\t"), "%lld", &ranks);
            printf("%d\n", autotune_wisdom_select(
                wisdom, strcmp(machine, "-") ? machine : NULL,
                strcmp(problem, "-") ? problem : NULL, ranks));
        } else if (line[0] == 'l') {
            long long size, threads;
            int code;
            sscanf(rest, "%lld %lld", &size, &threads);
            code = autotune_wisdom_lookup(wisdom, size, threads, &choice);
            printf("%d", code);
            if (code == AUTOTUNE_WISDOM_OK) {
                size_t i;
                printf(" %lld %lld %.17g %.17g %.17g %.17g %d ", choice.size, choice.threads,
                       choice.seconds, choice.low, choice.high, choice.loss_bound,
                       choice.verified);
                hex(choice.candidate);
                for (i = 0; i < choice.flags; i++) {
                    putchar(' ');
                    hex(autotune_wisdom_flag(&choice, i));
                }
                if (autotune_wisdom_flag(&choice, choice.flags)) return 9;
            }
            putchar('\n');
        } else {
            parameter(&choice, rest);
            putchar('\n');
        }
    }
    autotune_wisdom_close(wisdom);
    return 0;
}
"""


def build(folder: Path, flags: Sequence[str]) -> Path:
    """The driver, compiled without a warning."""
    (folder / "driver.c").write_text(SOURCE, encoding="utf-8")
    for name, content in readers.contents().items():
        (folder / name).write_bytes(content)
    program = folder / "driver"
    words = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", *flags]
    subprocess.run([*words, "driver.c", "-o", "driver"], cwd=folder, check=True)
    return program


def ask(program: Path, requests: Sequence[str]) -> list[str]:
    """Its answers, one for each request."""
    text = "".join(f"{request}\n" for request in requests)
    done = subprocess.run(
        [program], input=text.encode(), capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return done.stdout.decode().split("\n")[:-1]
