"""A first description of a program: it loads as it is written, and can be tuned."""

import json
import re
from pathlib import Path

import own_programs as own
import pytest
from documented import documented
from typer.testing import CliRunner

from autotune import paths
from autotune.commands.app import app
from autotune.commands.init.document import InitDocument
from autotune.commands.init.flow import ConfigRequest, write
from autotune.commands.init.source_scan import scan_source
from autotune.commands.init.trying.first_try import TrySettings
from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow as tune_flow
from autotune.domain.program import Program
from autotune.errors import InputError

EXAMPLES = paths.data_root() / "examples"


def begun(folder: Path, source: str, text: str, *given: str) -> InitDocument:
    (folder / source).write_text(text, encoding="utf-8")
    return write(ConfigRequest(program=folder / source, folder=folder, given=given))


def test_what_is_written_for_a_source_can_be_tuned(tmp_path: Path):
    made = begun(tmp_path, "tiny.c", own.TINY)
    assert made.parameters == {"block": (2, 4, 8, 16, 32)}
    assert made.seen.time == r"time\s*([-+0-9.eEdD]+)\s*s"
    assert made.seen.check == r"sum\s*([-+.\w]+)"
    assert not made.fill_in
    text = made.config.read_text(encoding="utf-8").replace(
        "machine: host", "machine: generic-x86-64"
    )
    text = text.replace("samples: 2}", "samples: 1, busy: 0}").replace("rounds: 4", "rounds: 2")
    made.config.write_text(text.replace("-O3, -march=native", "-O1"), encoding="utf-8")
    workload = load(made.config)
    setup = workload.setup
    assert setup.problems[0].size_text == "n=1000"
    store = str(tmp_path / "store.sqlite")
    options = tune_flow.StudyOptions(budget_evaluations=3)
    (problem,) = tune_flow.tune(workload, options, store, own.quiet).evaluation.problems
    assert {row.status for row in problem.evaluated if row.measurement} == {"ok"}


def test_examples(tmp_path: Path):
    made = write(ConfigRequest(program=EXAMPLES / "openmp" / "mandelbrot.c", folder=tmp_path))
    assert made.seen.openmp
    assert made.parameters == {"schedule": ("static", "dynamic,1", "dynamic,16", "guided")}
    assert [mark.file for mark in made.fill_in] == [str(made.program)] * 2
    workload = load(made.config)
    setup = workload.setup
    assert isinstance(setup.subject, Program)
    assert setup.subject.threads == "openmp"
    text = made.program.read_text(encoding="utf-8").splitlines()
    assert all("FILL IN" in text[mark.line - 1] for mark in made.fill_in)


def test_an_executable_with_its_command_line(tmp_path: Path):
    script = tmp_path / "solve it.sh"
    script.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    with pytest.raises(InputError, match="neither a known kind of source nor executable"):
        write(ConfigRequest(program=script.rename(tmp_path / "solve it"), folder=tmp_path))
    script = tmp_path / "solve it"
    script.chmod(0o755)
    given = ("4096", "--mode={fast}", "; touch x", "0.5")
    made = write(ConfigRequest(program=script, folder=tmp_path / "new", given=given))
    setup, measurer, named = own.opened(made.config)
    ready = measurer.workshop.ready(named["None"], "")
    assert ready is not None
    assert ready.command == (str(script), *given)
    assert setup.problems[0].n == 4096
    assert "-tune" in made.config.name


MACROS = """\
#ifndef LIB_H
#define LIB_H
#endif
#include "part.h"
#ifndef NX
#define NX 100 /* points */
#endif
#ifndef FAST
#define FAST 0
#endif
#if FAST
#endif
#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef WITH_COPY
#elif defined(WITH_SWAP)
#endif
int main(int argc, char **argv) {
    int output = argc >= 2 ? atoi(argv[1]) : 7;
    double eps = atof(argv[2]), x[NX];
    std::cout << "Elapsed (ms): " << t << std::endl;
    std::cout << "Norm = " << norm << "\\n";
}
"""


def test_what_is_seen_of_a_source(tmp_path: Path):
    (tmp_path / "part.h").write_text("#ifndef TILE\n#define TILE 4\n#endif\n", encoding="utf-8")
    (tmp_path / "part.cpp").write_text("int tile = TILE;\n", encoding="utf-8")
    made = begun(tmp_path, "lib.cpp", MACROS)
    assert made.compiler
    assert made.seen.files == ("lib.cpp", "part.h", "part.cpp")
    assert made.parameters == {
        "fast": (0, 1),
        "tile": (1, 2, 4, 8, 16),
        "with": (None, "-DWITH_COPY", "-DWITH_SWAP"),
    }
    assert made.seen.unit == "ms"
    workload = load(made.config)
    setup = workload.setup
    assert isinstance(setup.subject, Program)
    assert dict(setup.subject.arguments) == {"p_output": 7, "eps": 1, "nx": 100}
    assert setup.subject.time.unit == pytest.approx(1e-3)
    assert len(made.fill_in) == 1
    sources = [t.text for t in setup.subject.build[0] if "source folder" in t.text]
    assert sources == ["{source folder}/lib.cpp", "{source folder}/part.cpp"]


def test_mpi_programs_are_launched(tmp_path: Path):
    made = begun(tmp_path, "p.c", "#include <mpi.h>\nint main() { MPI_Init(0, 0); }\n")
    workload = load(made.config)
    setup = workload.setup
    assert made.compiler == "mpicc"
    assert isinstance(setup.subject, Program)
    assert [t.text for t in setup.subject.run[:4]] == ["mpirun", "-n", "{ranks}", "{output}"]


def test_any_file_gives_something_that_loads(tmp_path: Path):
    texts = ["", "\0\xff", '"', "#if\n#elif\n#endif\n#endif", 'printf("time %f %s {x} \\\\");',
             "argv[99999999999]", "#ifndef null\n#define null 99999999999\n#endif"]  # fmt: skip
    for number, text in enumerate(texts):
        for ending in ("c", "f90", "py"):
            begun(tmp_path, f"{number} {{x}}[y].{ending}", text)
            for path in tmp_path.glob("*.yaml"):
                path.unlink()


def test_nothing_is_overwritten(tmp_path: Path):
    first = begun(tmp_path, "tiny.c", own.TINY)
    first.program.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        begun(tmp_path, "tiny.c", own.TINY)
    assert len(caught.value.faults) == 2
    assert "--force" in str(caught.value)
    assert first.program.read_text(encoding="utf-8") == "mine"
    write(ConfigRequest(program=tmp_path / "tiny.c", folder=tmp_path, force=True))
    assert first.program.read_text(encoding="utf-8") != "mine"


def test_no_such_program(tmp_path: Path):
    (tmp_path / "tiny.c").write_text(own.TINY, encoding="utf-8")
    with pytest.raises(InputError, match=r"did you mean tiny\.c"):
        write(ConfigRequest(program=tmp_path / "tinny.c", folder=tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="it has no program; expected a Makefile"):
        write(ConfigRequest(program=tmp_path / "empty", folder=tmp_path))


def test_the_command(tmp_path: Path):
    (tmp_path / "tiny.c").write_text(own.TINY, encoding="utf-8")
    run = CliRunner().invoke
    command = ["init", str(tmp_path / "tiny.c"), "-o", str(tmp_path)]
    done = run(app, [*command, "--json", "--name", "mine", "--", "64", "fast"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    documented(document, InitDocument, "init")
    assert document["schema"] == "autotune.init/1"
    assert document["config"] == str(tmp_path / "mine-tune.yaml")
    done = run(app, command)
    assert f"then: autotune tune {tmp_path / 'tiny-tune.yaml'}" in done.stdout
    assert run(app, [*command, "--name", "../x"]).exit_code == 2
    assert "Example: autotune init" in run(app, ["init", "--help"]).stdout


def test_what_is_printed_by_other_languages(tmp_path: Path):
    for name, text, time in (
        ("a.py", 'print(f"took {t:.3f} s")', r"took\s*([-+0-9.eEdD]+)\s*s"),
        ("b.f90", "print *, 'Elapsed time', t", r"Elapsed\s*time\s*([-+0-9.eEdD]+)"),
        ("c.c", 'puts("time"); printf("{\\"time\\": %g}\\n", t);', r'\{"time":\s*([-+0-9.eEdD]+)'),
        ("d.c", 'printf("%d times\\n", n);', ""),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert scan_source(tmp_path / name).time == time


def test_the_time_is_the_number_with_its_name_before_and_its_unit_behind(tmp_path: Path) -> None:
    source = tmp_path / "conv.c"
    source.write_text(
        'float a[9]; int main(void) { printf("iteration %d: elapsed %.3f ms\\n", 1, 2.5); }',
        encoding="utf-8",
    )
    seen = scan_source(source)
    assert re.search(seen.time, "iteration 3: elapsed 2.500 ms").group(1) == "2.500"
    assert seen.unit == "ms"
    assert seen.single


@pytest.mark.parametrize(
    ("statement", "arguments"),
    [
        ("const int n = argc > 1 ? atoi(argv[1]) : 1 << 10;", {"n": 1024}),
        ("const int n = (argc > 1 ? (int)strtol(argv[1], NULL, 10) : 4 * 500);", {"n": 2000}),
        ("const int n = argc < 2 ? 3000 : atoi(argv[1]);", {"n": 3000}),
        ("const int n = argc > 1 ? atoi(argv[1]) : LENGTH;", {}),
        ("int n = 5000; if (argc > 1) n = atoi(argv[1]);", {}),
        ("int n = 1; if (argc > 1) n = atoi(argv[1]); else n = 5000;", {}),
    ],
)
def test_a_program_is_run_as_it_runs_without_arguments(
    tmp_path: Path, statement: str, arguments: dict[str, int]
) -> None:
    """A default that is no plain number is not passed, nor one that does other work."""
    old = "    const int n = argc > 1 ? atoi(argv[1]) : 1000;"
    assert old in own.TINY
    text = f"#define LENGTH (4 << 10)\n{own.TINY.replace(old, f'    {statement}')}"
    (tmp_path / "tiny.c").write_text(text, encoding="utf-8")
    request = ConfigRequest(program=tmp_path / "tiny.c", folder=tmp_path, tried=TrySettings())
    made = write(request)
    program = load(made.config).setup.subject
    assert isinstance(program, Program)
    assert dict(program.arguments) == arguments
    size = arguments.get("n", 4096 if "LENGTH" in statement else 5000)
    assert made.observed is not None
    assert made.observed.answer is not None
    assert float(made.observed.answer.text) == size * (size - 1) / 2
    assert ("n" in made.kept) == (not arguments)
    assert not made.fill_in


WORKING = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#ifndef LOAD
#define LOAD 2
#endif
#ifndef BLOCK
#define BLOCK 8
#endif
int main(int argc, char **argv)
{
    int nr = argc > 1 ? atoi(argv[1]) : 40;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    usleep(1000 * (30 + nr));
    if (LOAD == 1)
        sleep(50);
    printf("sum %ld, block %d\\ntime %.6f s\\n", SUM, BLOCK, 1e-3 * (1 + 1e-9 * now.tv_nsec));
    return 0;
}
"""


def test_amounts_of_work_do_not_vary_where_no_answer_shows_them(tmp_path: Path) -> None:
    """The shorter problem would be the winner; a value that takes too long is left out, too."""
    (tmp_path / "join.c").write_text(WORKING.replace("SUM", "now.tv_nsec"), encoding="utf-8")
    request = ConfigRequest(
        program=tmp_path / "join.c", folder=tmp_path, given=("40",), tried=TrySettings()
    )
    made = write(request)
    assert made.observed is not None
    assert made.observed.answer is None
    assert made.parameters["nr"] == (40,)
    assert "no answer is checked" in made.kept["nr"]
    assert made.parameters["block"] == (2, 4, 8, 16, 32)
    assert made.parameters["load"] == (2, 4, 8)
    assert any("load 1, whose run takes over 20 times" in remark for remark in made.remarks)
