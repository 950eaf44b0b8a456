"""``autotune export`` as a user runs it; what it writes goes into a program that is run."""

import json
import subprocess
import typing
from collections.abc import Callable
from pathlib import Path

import fabricated
from documented import documented
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.export.document import ExportDocument
from autotune.commands.importing.document import ImportDocument
from autotune.commands.options import DEFAULT_STORE
from autotune.files.store import Store

Cli = Callable[..., typing.Any]

PROGRAM = """\
schema: autotune.config/1
title: matmul
machine: generic-x86-64
program: matmul
problems: [{arguments: {n: 128}}]
builds: [{compiler: gcc, flags: [-O2]}]
"""

APPLICATION = r"""
#include <stdio.h>
#include "quick.h"
#define AUTOTUNE_WISDOM_IMPLEMENTATION
#include "autotune_wisdom.h"
int main(void)
{
    autotune_wisdom *wisdom;
    autotune_wisdom_choice choice;
    const char *order = "";
    int code = autotune_wisdom_open("quick.wisdom.json", &wisdom);
    if (code == AUTOTUNE_WISDOM_OK) code = autotune_wisdom_lookup(wisdom, 70000, 8, &choice);
    if (code == AUTOTUNE_WISDOM_OK) code = autotune_wisdom_text(&choice, "order", &order);
    printf("%s %s %d\n", order, autotune_heat2d_choose(70000, 8)->order, choice.verified);
    autotune_wisdom_close(wisdom);
    return code;
}
"""


def test_a_study_goes_into_an_application(autotune: Cli, tmp_path: Path) -> None:
    with Store.open(tmp_path / DEFAULT_STORE) as store:
        fabricated.fill(store, rounds=3)
    done = autotune("export", "--format", "header", "--json").json()
    documented(done, ExportDocument, "export")
    assert next(iter(done.items())) == ("schema", "autotune.export/1")
    (section,) = done["choices"]["sections"]
    choice, larger = section["entries"]
    assert (choice["size"], larger["size"], choice["layout"]["threads"]) == (256**2, 2048**2, 2)
    assert choice["verified"] is True
    assert done["file"] == "quick.h"

    shown = autotune("export", "quick", "--format", "wisdom", "--with-reader", ".")
    assert choice["candidate"].partition(":")[0] in shown.out
    assert "autotune variants CONFIG --emit CANDIDATE" in shown.out
    assert "wrote autotune_wisdom.h" in shown.err
    (tmp_path / "main.c").write_text(APPLICATION, encoding="utf-8")
    strict = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run(["gcc", *strict, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    run = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    order = choice["parameters"]["order"]
    assert run.stdout.split() == [order, order, "1"]

    top = autotune("export", "--format", "header", "--top", "2", check=2)
    assert "goes with --format library" in top.err
    wrong = autotune("export", "--format", "csv", "--with-reader", ".", check=2)
    assert "goes with --format wisdom" in wrong.err


def test_help_has_an_example() -> None:
    done = CliRunner().invoke(app, ["export", "--help"])
    assert "Example: autotune export" in done.output


def test_a_recorded_file_is_imported(tmp_path: Path) -> None:
    config = tmp_path / "mm.yaml"
    config.write_text(PROGRAM, encoding="utf-8")
    table = tmp_path / "mm.csv"
    rows = ["8,32,8,IKJ,1,none,2.5", "16,32,8,IKJ,1,none,2", "7,32,8,IKJ,1,none,1"]
    table.write_text("\n".join(["bi,bj,bk,order,unroll,fast_math,time_ms", *rows]) + "\n")
    store = ["--store", str(tmp_path / "r.sqlite")]
    done = CliRunner().invoke(app, ["import", str(table), str(config), *store, "--json"])
    document = json.loads(done.stdout)
    documented(document, ImportDocument, "import")
    assert next(iter(document.items())) == ("schema", "autotune.import/1")
    assert (document["entered"], document["rows"], document["already"]) == (2, 3, False)
    (best,) = document["best"]
    assert best["candidate"].startswith("bi16-")
    shown = CliRunner().invoke(app, ["import", str(table), str(config), *store])
    assert "2 of 3 rows are candidates of the config" in shown.stdout
    assert "1 row is no legal candidate: bi=7" in shown.stdout
    assert "imported-mm was in the store already" in shown.stdout


def test_the_commands_of_a_program_are_written_and_run(tmp_path: Path) -> None:
    config = tmp_path / "mm.yaml"
    config.write_text(PROGRAM, encoding="utf-8")
    wanted = ["variants", str(config), "--emit", "bi8-bj32-bk8-IKJ-unroll1@matmul-n128-T1"]
    done = CliRunner().invoke(app, [*wanted, "-o", str(tmp_path / "it's here")])
    assert done.exit_code == 0, done.output
    script = tmp_path / "it's here" / "build-and-run.sh"
    run = subprocess.run(["sh", str(script)], capture_output=True, text=True, check=True)
    assert "time" in run.stdout
    assert (script.parent / "matmul").exists()
