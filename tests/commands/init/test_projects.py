"""Projects, commands and scripts: how they are built, what is tried, what is refused."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from refusals import faults

from autotune.commands.init.building.build_plan import FLAGS, BuildPlan
from autotune.commands.init.building.project import plan_of
from autotune.commands.init.document import InitDocument
from autotune.commands.init.flow import ConfigRequest, first_answer, write
from autotune.commands.init.init_target import target_of
from autotune.commands.init.option_scan import python_options
from autotune.commands.init.source_scan import scan_project, scan_source
from autotune.commands.init.trying.first_try import TrySettings
from autotune.commands.init.work_amount import role_of
from autotune.commands.rank.emit_source import command_lines
from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.commands.rank.ranked_space import load
from autotune.workloads.capacity import candidates_on

GCC = pytest.mark.skipif(shutil.which("gcc") is None, reason="optional: gcc is not installed")
MAKE = pytest.mark.skipif(shutil.which("make") is None, reason="optional: make is not installed")
CMAKE = pytest.mark.skipif(shutil.which("cmake") is None, reason="optional: cmake is not installed")

MAIN = """\
#include <stdio.h>
#include "sum.h"
#ifndef NTIMES
#define NTIMES 3
#endif
#ifndef BLOCK
#define BLOCK 8
#endif
#ifndef ZORK
#define ZORK 1
#endif
int main(void) {
    double s = 0;
    for (int k = 0; k < NTIMES; k++) s += sum(1000, BLOCK);
    printf("time %g s\\nchecksum %.12g\\n", 1e-4 + 1e-9 * s / 1e6, s * ZORK);
    return 0;
}
"""
SUM = """\
#include "sum.h"
double sum(int n, int b) {
    double s = 0;
    for (int i = 0; i < n; i += b)
        for (int j = i; j < n && j < i + b; j++) s += j;
    return s;
}
"""
MAKEFILE = """\
OPT = -O2
CFLAGS = $(OPT) -Wall
all: bench tool
bench: main.o other.o
	$(CC) $(CFLAGS) -o $@ main.o other.o
tool: tool.o
	$(CC) $(CFLAGS) -o $@ tool.o
"""
SCRIPT = "#!/bin/sh\necho time 0.001 s\necho sum 5\n"


def project(folder: Path, makefile: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "include").mkdir()
    (folder / "include" / "sum.h").write_text("double sum(int, int);\n")
    (folder / "main.c").write_text(MAIN)
    (folder / "other.c").write_text(SUM)
    if makefile:
        (folder / "include" / "sum.h").rename(folder / "sum.h")
        (folder / "tool.c").write_text("int main(void) { return 0; }\n")
        (folder / "Makefile").write_text(makefile)
    return folder


def tried(folder: Path, program: Path | str, *given: str, **settings: object) -> InitDocument:
    settings_of_try = TrySettings(**settings)  # type: ignore[arg-type]
    request = ConfigRequest(
        program=program, given=given, folder=folder / "out", tried=settings_of_try
    )
    return write(request)


def script(folder: Path, text: str = SCRIPT, name: str = "solve") -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


@GCC
def test_a_source_is_built_with_what_it_needs_and_work_is_not_varied(tmp_path: Path) -> None:
    made = tried(tmp_path, project(tmp_path / "p") / "main.c")
    assert made.seen.files == ("main.c", "include/sum.h", "other.c")
    assert made.seen.includes == ("include",)
    assert made.observed is not None
    assert made.observed.chosen is not None
    assert made.observed.answer is not None
    assert made.parameters["block"] == (2, 4, 8, 16, 32)
    assert made.kept["NTIMES"] == "repeat count"
    assert made.kept["zork"].startswith("with 4 in place of 1 its answer is another")
    assert made.parameters["zork"] == (1,)


@MAKE
def test_make_says_what_is_built_and_which_variables_count(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", MAKEFILE)
    plan = plan_of(folder, "", first_answer)
    assert isinstance(plan, BuildPlan)
    assert (plan.program, plan.base, plan.language) == ("bench", ("-O2",), "C")
    assert "CFLAGS=$(OPT) -Wall @FLAGS@" in plan.commands[1]
    assert "CC={compiler}" in plan.commands[1]
    assert plan.patterns == ("Makefile", "*.c", "*.h")
    assert [file.name for file in plan.files] == ["main.c", "other.c"]
    other = plan_of(folder, "tool", first_answer)
    assert isinstance(other, BuildPlan)
    assert other.program == "tool"


@GCC
@MAKE
def test_a_project_is_built_apart_from_its_sources(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", MAKEFILE)
    before = sorted(folder.iterdir())
    made = tried(tmp_path, folder)
    assert sorted(folder.iterdir()) == before
    assert made.built_by == "make"
    assert made.options[0] == ("-O3",)
    assert made.observed is not None


KERNEL = """\
#ifndef KERN_H
#define KERN_H 1
#ifndef TILE_I
#define TILE_I 16
#endif
#ifndef TILE_J
#define TILE_J 32
#endif
#ifndef REAL
#define REAL double
#endif
REAL tile[TILE_I][TILE_J];
#endif
"""


@GCC
@MAKE
@pytest.mark.parametrize("include", ['"kern.h"', "<kern.h>"])
def test_macros_of_the_headers_of_a_project_are_varied_through_its_flags(
    tmp_path: Path, include: str
) -> None:
    folder = tmp_path / "p"
    (folder / "headers").mkdir(parents=True)
    (folder / "headers" / "kern.h").write_text(KERNEL)
    text = f"#include {include}\n#include <stdio.h>\nint main(void) {{ return 0; }}\n"
    (folder / "mm.c").write_text(text)
    (folder / "Makefile").write_text("mm: mm.c\n\t$(CC) $(CFLAGS) -I headers -o $@ mm.c\n")
    made = write(ConfigRequest(program=folder, folder=tmp_path / "out"))
    assert list(made.parameters) == ["tile_i", "tile_j"]
    assert "-DTILE_I={tile_i}" in made.program.read_text()
    assert made.kept == {"REAL": "the default is no whole number"}


def test_macros_of_a_large_project_that_are_not_varied_are_listed(tmp_path: Path) -> None:
    texts = ["#ifndef ZORK\n#define ZORK 1\n#endif\n#ifndef TILE\n#define TILE 8\n#endif\n"] * 4
    texts[0] += "int sizes = ZORK + TILE;\n"
    files = [tmp_path / f"{i}.c" for i in range(4)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    seen = scan_project("C", files)
    assert seen.macros == (("TILE", 8),)
    assert seen.unvaried == {"ZORK": "the name does not say how work is done"}


@GCC
@MAKE
def test_the_lines_of_a_made_program_work_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(tmp_path / "p", MAKEFILE.replace("$(OPT) -Wall", "-O2 -Wall"))
    tried(tmp_path, folder)
    (path,) = (tmp_path / "out").glob("*-tune.yaml")
    workload = load(path)
    enumerated = candidates_on(workload, uncalibrated_machine(workload.setup))
    candidate = next(c for c in enumerated.legal if "-O3" in c.variant.parameters.values())
    monkeypatch.chdir(folder)
    before = {entry.name for entry in folder.iterdir()}
    lines = command_lines(workload, candidate)
    assert "CFLAGS=-Wall -O2" in lines[0]
    assert lines[0].count("-O2") == 1
    for line in lines:
        outcome = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
        assert outcome.returncode == 0, outcome.stderr
    assert "checksum" in outcome.stdout
    assert {entry.name for entry in folder.iterdir()} - before == {"bench"}


@MAKE
def test_targets_that_build_no_program_are_named(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "all:\n\t@echo hi\nclean:\n\trm -f x\n")
    words = faults(lambda: plan_of(folder, "", first_answer))
    assert words == (
        f"{folder}: make builds no program (--target NAME selects another: all, clean)"
    )
    assert "did you mean clean?" in faults(lambda: plan_of(folder, "claen", first_answer))


@CMAKE
def test_cmake_says_what_is_built(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(demo C)\n"
        "add_executable(demo main.c other.c)\ntarget_include_directories(demo PRIVATE include)\n"
    )
    plan = plan_of(folder, "", first_answer)
    assert isinstance(plan, BuildPlan)
    assert plan.commands[-1] == ("cp", "made/demo", "{output}")
    assert "-DCMAKE_C_FLAGS_RELEASE=-DNDEBUG @FLAGS@" in plan.commands[0]
    assert "has no program 'x'" in faults(lambda: plan_of(folder, "x", first_answer))


@CMAKE
def test_libraries_that_a_program_of_cmake_links_vary_with_it(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    (folder / "main.cpp").write_text('extern "C" int f(); int main() { return f(); }\n')
    (folder / "f.c").write_text("int g(void);\nint f(void) { return g(); }\n")
    (folder / "g.c").write_text("#ifndef TILE\n#define TILE 8\n#endif\nint g(void) { return 0; }\n")
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(demo C CXX)\n"
        "add_library(g STATIC g.c)\nadd_library(f STATIC f.c)\ntarget_link_libraries(f g)\n"
        "add_executable(demo main.cpp)\ntarget_link_libraries(demo f)\n"
    )
    plan = plan_of(folder, "", first_answer)
    assert isinstance(plan, BuildPlan)
    assert plan.language == "C++"
    assert sorted(file.name for file in plan.files) == ["f.c", "g.c", "main.cpp"]
    flags = [word for word in plan.commands[0] if FLAGS in word]
    assert [flag.partition("_FLAGS")[0] for flag in flags] == ["-DCMAKE_C", "-DCMAKE_CXX"]


@CMAKE
def test_a_cmake_project_with_sources_outside_its_folder_is_built_as_asked(tmp_path: Path) -> None:
    """The level of optimisation that is tried is the last one on the line of the compiler."""
    below = project(tmp_path / "p") / "cmake"
    below.mkdir()
    (below / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(demo C)\nset(CMAKE_VERBOSE_MAKEFILE ON)\n"
        "add_executable(demo ../main.c ../other.c)\n"
        "target_include_directories(demo PRIVATE ../include)\n"
    )
    plan = plan_of(below, "", first_answer)
    assert isinstance(plan, BuildPlan)
    assert {"../main.c", "../other.c"} <= set(plan.patterns)
    assert any(pattern.endswith(".h") for pattern in plan.patterns)
    made = tried(tmp_path, below)
    assert made.built_by == "cmake"
    for command in plan.commands[:2]:
        line = (
            "\n".join(command).replace("{source folder}", str(below)).replace("{compiler}", "gcc")
        )
        words = line.replace(FLAGS, "-O3 -O2").split("\n")
        printed = subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
    levels = [re.findall(r"-O\w", line) for line in printed.splitlines() if " -c " in line]
    assert levels
    assert all(found[-1] == "-O2" for found in levels)


@GCC
def test_a_compilation_database_is_built_in_one_call(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    entries = ", ".join(
        f'{{"directory": "{folder}", "file": "{name}", "command": "cc -Iinclude -O1 -c {name}"}}'
        for name in ("main.c", "other.c")
    )
    (folder / "compile_commands.json").write_text(f"[{entries}]")
    made = tried(tmp_path, folder)
    assert made.built_by == "compile_commands.json"
    assert "flags: [-O1]" in made.config.read_text()


@GCC
def test_folders_of_a_compilation_database_begin_where_it_lies(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    (folder / "build").mkdir()
    entries = ", ".join(
        f'{{"directory": "build", "file": "../{name}", "arguments": ["cc", "-I../include",'
        f' "-c", "../{name}"]}}'
        for name in ("main.c", "other.c")
    )
    (folder / "compile_commands.json").write_text(f"[{entries}]")
    plan = plan_of(folder, "", first_answer)
    assert isinstance(plan, BuildPlan)
    assert sorted(file.name for file in plan.files) == ["main.c", "other.c"]
    (folder / "main.c").unlink()
    (folder / "other.c").unlink()
    words = faults(lambda: plan_of(folder / "compile_commands.json", "", first_answer))
    assert "none of the sources that it lists is there" in words


# --- what is meant ------------------------------------------------------------------------------


def test_a_command_on_path_and_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, name="solver-of-mine")
    (tmp_path / "mesh.dat").write_text("1\n")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    target = target_of("./solver-of-mine --in=mesh.dat mesh.dat 5", ())
    assert target.words == (f"--in={tmp_path}/mesh.dat", f"{tmp_path}/mesh.dat", "5")
    assert target.files == ("mesh.dat", "mesh.dat")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert target_of("solver-of-mine", ()).path == tmp_path / "solver-of-mine"
    assert "did you mean solver-of-mine?" in faults(lambda: target_of("solver-of-min", ()))


def test_a_launcher_tells_the_ranks(tmp_path: Path) -> None:
    path = script(tmp_path)
    target = target_of("mpirun", ("-n", "4", "--oversubscribe", str(path), "7"))
    assert (target.path, target.ranks, target.words) == (path, 4, ("7",))
    assert "it starts no program" in faults(lambda: target_of("mpirun", ("-n", "2")))


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("BLOCK_SIZE", "tuning"), ("ARRAY_SIZE", "work"), ("NTIMES", "work"), ("maxIter", "work"),
        ("chunkSize", "tuning"), ("seed", "quality"), ("verbose", "report"), ("zork", "unclear"),
        ("FIXED_POINT", "quality"), ("HAVE_BLAS", "report"), ("LIB_SHARED", "report"),
        ("INNER_ITERS", "work"), ("BLOCK_REPEATS", "work"), ("ITER_BLOCK", "tuning"),
        ("MINI_DATASET", "work"), ("megabytes", "work"), ("USE_SIMD", "tuning"),
    ],
)  # fmt: skip
def test_a_name_says_whether_it_is_work(name: str, role: str) -> None:
    assert role_of(name)[0] == role


def test_options_with_defaults() -> None:
    text = (
        'p.add_argument("--block", type=int, default=64)\np.add_argument("-v", "--fast",'
        ' action="store_true")\np.add_argument("--m", choices=["a", "b"], default="a")\n'
        'p.add_argument("file")\nos.environ.get("TILE", "8")\n'
    )
    options = {option.name: option for option in python_options(text)}
    assert list(options) == ["block", "fast", "m", "TILE"]
    assert options["fast"].choices == (None, "--fast")
    assert options["TILE"].words == ()


# --- what is tried ------------------------------------------------------------------------------


def test_what_was_printed_is_what_is_read(tmp_path: Path) -> None:
    made = tried(tmp_path, script(tmp_path))
    assert made.observed is not None
    assert "# it printed: time 0.001 s" in made.program.read_text()
    wall = tried(tmp_path / "w", script(tmp_path), metric="wall")
    assert "time: wall" in wall.program.read_text()
    silent = tried(tmp_path / "s", script(tmp_path, "#!/bin/sh\nsleep 0.01\n", "quiet"))
    assert "it printed no time and no rate" in silent.program.read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exit 3", "it fails: exit code 3"),
        ("echo usage: solve N; exit 1", "give its command line: autotune init"),
        ("sleep 60", "it did not end within 1 s (give it less work"),
    ],
)
def test_a_program_that_cannot_be_tried_is_refused_and_nothing_is_written(
    tmp_path: Path, text: str, words: str
) -> None:
    path = script(tmp_path, f"#!/bin/sh\n{text}\n")
    assert words in faults(lambda: tried(tmp_path, path, limit=1.0))
    assert not (tmp_path / "out").exists()


def test_a_metric_that_is_not_printed_is_refused(tmp_path: Path) -> None:
    words = faults(lambda: tried(tmp_path, script(tmp_path), metric="tme"))
    assert words.startswith("--metric: no line with a time or a rate has 'tme'")
    assert "did you mean time?" in words


SPLIT = {
    "params.h": "#ifndef BLOCK\n#define BLOCK 8\n#endif\n#ifndef TILE\n#define TILE 4\n#endif\n",
    "main.c": """\
#include <stdio.h>
#include "params.h"
double work(int);
int main(void) {
    printf("time %g s\\n", 1e-4 + 1e-12 * work(1000));
    return 0;
}
""",
    "work.c": """\
#include "params.h"
double work(int n) {
    double s = 0;
    for (int i = 0; i < n; i += BLOCK) s += i;
    return s;
}
""",
}


@GCC
def test_macros_are_called_unread_where_all_sources_are_scanned(tmp_path: Path) -> None:
    for name, text in SPLIT.items():
        (tmp_path / name).write_text(text)
    alone = scan_source(tmp_path / "main.c")
    assert (alone.macros, alone.unvaried) == ((), {})
    made = tried(tmp_path, tmp_path / "main.c")
    assert 8 in made.parameters["block"]
    assert made.kept == {"TILE": "nothing reads it"}
    (tmp_path / "work.c").unlink()
    assert set(scan_source(tmp_path / "main.c").unvaried) == {"BLOCK", "TILE"}
    (tmp_path / "main.c").write_text(SPLIT["main.c"] + '#include "made.h"\n')
    assert scan_source(tmp_path / "main.c").unvaried == {}


def test_a_project_whose_headers_are_not_there_calls_no_macro_unread(tmp_path: Path) -> None:
    main = tmp_path / "main.c"
    for more, unread in (
        ("", {"TILE"}),
        ('#include "made.h"\n', set()),
        ("#include MADE\n", set()),
    ):
        main.write_text("#ifndef TILE\n#define TILE 4\n#endif\nint main(void) {}\n" + more)
        assert set(scan_project("C", [main]).unvaried) == unread


def test_a_run_that_needs_files_beside_it_gets_its_folder(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("time 0.001 s\n")
    made = tried(tmp_path, script(tmp_path, "#!/bin/sh\ncat data.txt\n"))
    assert 'folder: ".."' in made.program.read_text()


def test_a_command_that_needs_files_of_the_working_directory_runs_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data.txt").write_text("time 0.001 s\n")
    (tmp_path / "bin").mkdir()
    path = script(tmp_path / "bin", "#!/bin/sh\ncat data.txt\n")
    monkeypatch.chdir(tmp_path)
    assert 'folder: ".."' in tried(tmp_path, path).program.read_text()
    made = tried(tmp_path / "on", "sh", "-c", "cat < data.txt")
    assert 'folder: "../.."' in made.program.read_text()


def test_a_time_on_standard_error_is_seen_beside_numbers_on_standard_output(
    tmp_path: Path,
) -> None:
    path = tmp_path / "solve.py"
    path.write_text(
        "import os, sys\nos.environ.get('BLOCK', '8')\nprint('step 3')\n"
        "print('time 0.001 s', file=sys.stderr)\n"
    )
    made = tried(tmp_path, path)
    assert "# it printed: time 0.001 s" in made.program.read_text()
    assert len(made.parameters["BLOCK"]) > 1


def test_a_level_varies_with_the_ratio_beside_the_rate(tmp_path: Path) -> None:
    cases = "case $1 in -h) echo ' -b# level #';; *) echo \"${1#-b}# (x2.5), 30 MB/s\";; esac"
    path = script(tmp_path, f"#!/bin/sh\n{cases}\n")
    request = ConfigRequest(
        program=path, given=("-b3",), folder=tmp_path / "out", tried=TrySettings()
    )
    made = write(request)
    assert made.parameters == {"b": (1, 3, 6, 12)}
    assert "objectives: [time, ratio]" in made.config.read_text()
