"""Predicting runs no program but compilers on PATH, with flags that run, load and name nothing."""

import shlex
from dataclasses import replace
from pathlib import Path

import fabricated as made
import pytest
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.machine.refine import repredict
from autotune.errors import AutotuneError, InputError
from autotune.files.store import Store
from autotune.models.incore.marked import marked_build
from autotune.toolchain import known_flags

CONFIG = """\
schema: autotune.config/1
title: heat
machine: {machine}
skeleton: pirk
space: pirk-orders
problems: [{{ivp: heat2d, method: radau-iia-5, correctors: 4, size: 40}}]
builds: [{{compiler: {compiler}, flags: {flags}}}]
threads: [1]
"""
PREDICTING = (
    ("rank", "study.yaml"),
    ("predict", "study.yaml", "--json"),
    ("variants", "study.yaml", "--emit", "ijl"),
    ("compare", "study.yaml"),
    ("rank", "study.yaml", "--engine", "kerncraft"),
)


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that says of every run of its own in the file ``ran`` beside it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "cc.sh"
    path.write_text(f'#!/bin/sh\ntouch {tmp_path}/ran\nexec gcc "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def config(compiler: str = "gcc", *flags: str, machine: str = "generic-x86-64") -> None:
    listed = "[" + ", ".join(f'"{flag}"' for flag in flags) + "]"
    text = CONFIG.format(compiler=compiler, flags=listed, machine=machine)
    Path("study.yaml").write_text(text, encoding="utf-8")


def said(*words: str) -> str:
    """The refusal of a command; whatever it is, the canary must not have run."""
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, InputError), done.output
    assert not Path("ran").exists()
    return str(done.exception)


@pytest.mark.parametrize("words", PREDICTING, ids=" ".join)
@pytest.mark.parametrize("compiler", ["CANARY", "/bin/rm", "rm", "./gcc"])
def test_a_compiler_that_is_a_path_or_another_program(
    canary: Path, words: tuple[str, ...], compiler: str
) -> None:
    config(compiler.replace("CANARY", str(canary)), "-O2")
    text = said(*words)
    assert "study.yaml:7:" in text
    assert "would be run" in text
    assert "--trust" in text


@pytest.mark.usefixtures("canary")
def test_a_misspelt_compiler_names_the_nearest() -> None:
    config("gccc", "-O2")
    assert "did you mean gcc? Else --trust" in said("rank", "study.yaml")


@pytest.mark.parametrize(
    "flags",
    [
        ["-wrapper", "CANARY"], ["-B", "DIR"], ["-BDIR"], ["-specs=x"], ["--specs=x"], ["@secret"],
        ["-fplugin=CANARY"], ["-fplugin=x"], ["-fpass-plugin=x"], ["-Xclang", "-load"],
        ["-include", "/etc/passwd"], ["-imacros", "x"], ["-o", "victim"], ["-ovictim"],
        ["-fdump-tree-all=x"], ["-fopt-info-vec=victim"], ["-Wl,-plugin,x"], ["-Wp,-MD,victim"],
        ["-Wa,-al=x"], ["-mllvm", "-load=x"], ["-mllvm=-load=x"], ["-I@secret"], ["-D", "@secret"],
        ["-D", "-wrapper"], ["/etc/passwd"], ["-MF", "x"], ["-MD"], ["-save-temps=x"], ["-x", "c"],
        ["-fprofile-use=x"], ["--config", "x"], ["--gcc-toolchain=x"], ["-ftime-trace=x"], ["-"],
        ["-aux-info", "x"], ["-dumpdir", "x"], ["-T", "x"], ["-fuse-ld=x"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_flag_that_runs_or_names_a_file(canary: Path, flags: list[str]) -> None:
    filled = [flag.replace("CANARY", str(canary)) for flag in flags]
    config("gcc", "-O2", *filled)
    text = said("rank", "study.yaml")
    assert "-O*, -m*, -f*" in text
    assert "--trust" in text


def test_usual_flags_are_of_known_kinds() -> None:
    usual = """-O3 -Ofast -march=native -mavx2 -mno-avx512f -mprefer-vector-width=512 -msse4.2
        -fno-prefetch-loop-arrays -ffast-math -fopenmp -funroll-loops -ftree-vectorize -flto
        -fno-math-errno -ffp-contract=off -falign-loops=32 -std=gnu11 -std=c++20 -DN=8 -DX -D N=3
        -UFOO -Wall -Wno-unused -Werror=vla -Iinclude -I../x -I . -lm -L/opt/lib -g -g1 -pthread
        -static -ffreestanding -nolib-inline -xCORE-AVX2 -xHost -qopenmp -D_POSIX_C_SOURCE=200809L
        --param=max-unroll-times=4 -mcpu=power4 -mtune=znver3 -fno-alias -w
        -fvect-cost-model=cheap -fmodulo-sched -fmodulo-sched-allow-regmoves -fcaller-saves
        -findirect-inlining -ftracer"""
    assert known_flags.unknown_flags(shlex.split(usual)) == ()
    assert known_flags.unknown_flags(["-O2\0", "-DX=\0"]) == ("-O2\0", "-DX=\0")
    for name in ("gcc", "gcc-12", "clang-19", "x86_64-linux-gnu-gcc-13.2", "g++", "icx", "nvc"):
        assert known_flags.is_known_compiler(name)


@pytest.mark.parametrize(
    "flag",
    [
        "-save-temps", "-fdump-dir=x", "-fmodules-cache-path=x", "-fmodules", "-fmodule-file=x",
        "-fsave-optimization-record", "-fprofile-dir=x", "-fdebug-compilation-dir=x",
        "-fsanitize-ignorelist=x", "-ftest-coverage", "-fstack-usage", "-fplugin-arg-x-y",
    ],
)  # fmt: skip
def test_flags_of_files_are_known_by_their_words(flag: str) -> None:
    assert known_flags.unknown_flags([flag]) == (flag,)


def test_trust_runs_what_a_config_names(canary: Path) -> None:
    config(str(canary), "-O2")
    done = CliRunner().invoke(app, ["rank", "study.yaml", "--trust"])
    assert done.exit_code == 0, done.output
    assert Path("ran").exists()


def test_compilers_of_a_machine_file(canary: Path) -> None:
    shipped = Path(__file__).parents[3] / "machines" / "generic-x86-64.yaml"
    text = shipped.read_text(encoding="utf-8").split("\ncompilers:")[0]
    for compilers in (f"{{{canary}: -O2}}", "{gcc: -O2 -wrapper x}", "{gcc: -O2 '-wrapper}"):
        machine = f"{text}\ncompilers: {compilers}\n"
        Path("mine.yaml").write_text(machine, encoding="utf-8")
        config("gcc", "-O2", machine="mine.yaml")
        assert "study.yaml:3:" in said("rank", "study.yaml", "--engine", "kerncraft")


@pytest.mark.parametrize(
    ("compiler", "flag"),
    [("CANARY", "-O2"), ("gcc", "-wrapper=x"), ("gcc", "@secret"), ("gcc", "-fplugin=CANARY")],
)
def test_the_compile_command_of_marked_loops(canary: Path, compiler: str, flag: str) -> None:
    with pytest.raises(InputError, match="--trust"):
        known_flags.require(
            compiler.replace("CANARY", str(canary)), [flag.replace("CANARY", str(canary))], "here"
        )
    Path("mine.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    command = [word.replace("CANARY", str(canary)) for word in (compiler, flag, "mine.c")]
    if flag != "@secret":  # no flag in a command line of sources, so not passed on
        with pytest.raises(InputError, match="--trust"):
            marked_build.assembly(command, str(Path("mine.c").resolve()), trusted=False)
    assert not Path("ran").exists()


def test_a_stored_config_is_not_trusted(canary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``machine refine`` predicts from the text of a store, which may be somebody else's."""
    config(str(canary), "-O2")
    monkeypatch.setattr(repredict.stored_calibrations, "identity", lambda _: "abc123")
    with Store.open("x.sqlite") as results:
        made.fill(results, sizes=(256,), rounds=3)
        record = results.load_study("quick")
    hostile = replace(record, setup_text=Path("study.yaml").read_text(encoding="utf-8"))
    with pytest.raises(InputError, match="would be run"):
        repredict.source(hostile, made.machine(), None, trusted=False)


def test_a_design_of_the_candidates_runs_no_compiler(canary: Path) -> None:
    config(str(canary), "-wrapper", str(canary))
    done = CliRunner().invoke(app, ["learn", "design", "study.yaml", "-n", "3"])
    assert done.exit_code == 0, done.exception
    assert not Path("ran").exists()


def test_the_environment_of_a_config_reaches_no_compiler(canary: Path) -> None:
    Path("bin").mkdir()
    for name in ("gcc", "cc1", "as", "collect2", "ld"):
        Path("bin", name).symlink_to(canary)
    names = ("PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "CPATH", "LIBRARY_PATH", "LD_LIBRARY_PATH")
    folder = Path("bin").resolve()
    values = [f"{name}: {folder}/" for name in (*names, "HOME", "TMPDIR")]
    values += [f"{name}: {canary}" for name in ("LD_PRELOAD", "CC", "OMPI_CC")]
    config("gcc", "-O2")
    text = Path("study.yaml").read_text(encoding="utf-8")
    more = f"environment: {{{', '.join(values)}}}\n"
    Path("study.yaml").write_text(text + more, encoding="utf-8")
    done = CliRunner().invoke(app, ["rank", "study.yaml"])
    assert done.exit_code == 0, done.exception
    assert not Path("ran").exists()


PROGRAM = """\
schema: autotune.program/1
title: everything that a program may name
sources: [cc.sh]
build: ["{canary}", "{{block}}", "{{output}}"]
run: ["{canary}", "{{output}}"]
environment: {{PATH: "{folder}", LD_PRELOAD: "{canary}"}}
parameters: {{block: [1, 2, 4, 8]}}
time: {{pattern: 'time ([0-9.]+)', unit: s}}
check: {{command: ["{canary}"]}}
"""
PROGRAM_STUDY = """\
schema: autotune.config/1
title: a program
machine: generic-x86-64
program: program.yaml
problems: [{{}}]
threads: [1]
launcher: "{canary} {{command}}"
"""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("variants", "study.yaml"), 0),
        (("variants", "study.yaml", "--emit", "block1", "-o", "out"), None),
        (("rank", "study.yaml"), None),
        (("predict", "study.yaml"), None),
        (("compare", "study.yaml"), None),
        (("learn", "design", "study.yaml", "-n", "3"), 0),
        (("learn", "show", "study.yaml"), None),
        (("learn", "compare", "rows.csv", "--models", "ridge", "--repeats", "1"), 0),
        (("learn", "fit", "rows.csv", "--models", "ridge"), 0),
        (("import", "rows.csv", "study.yaml"), None),
        (("init", "cc.sh", "-o", "new", "--no-run"), None),
        (("machine", "check", "study.yaml"), None),
        (("schema", "config"), None),
        (("tune", "study.yaml", "--emit-job", "job"), None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_a_program_names_is_not_run(
    canary: Path, words: tuple[str, ...], code: int | None
) -> None:
    names = {"canary": canary, "folder": canary.parent}
    Path("program.yaml").write_text(PROGRAM.format(**names), encoding="utf-8")
    Path("study.yaml").write_text(PROGRAM_STUDY.format(**names), encoding="utf-8")
    rows = "".join(f"{n},{n}\n" for n in (1, 2, 4, 8))
    Path("rows.csv").write_text(f"block,time_s\n{rows}", encoding="utf-8")
    done = CliRunner().invoke(app, words)
    assert done.exception is None or isinstance(done.exception, (AutotuneError, SystemExit))
    assert code is None or done.exit_code == code, done.exception
    assert not Path("ran").exists()
