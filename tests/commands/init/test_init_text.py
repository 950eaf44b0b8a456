"""``autotune init``: its options, and what it prints for a description."""

import json
import shutil
from pathlib import Path

import pytest
from refusals import faults, usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.init.command import EXAMPLE
from autotune.commands.init.document import InitDocument, ReviewNote
from autotune.commands.init.flow import ConfigRequest, write
from autotune.commands.init.source_scan import SourceScan
from autotune.commands.init.text import text
from autotune.commands.init.trying.observed_run import ObservedRun


def written(**changed: object) -> InitDocument:
    values: dict[str, object] = {
        "program": Path("tuning/matmul.yaml"),
        "config": Path("tuning/matmul-tune.yaml"),
        "seen": SourceScan(language="C"),
        "compiler": "gcc",
        "parameters": {"bi": (16, 32), "bj": (8, 16, 32)},
        "combinations": 6,
        "fill_in": (),
        "look_at": (),
    }
    return InitDocument(**(values | changed))  # type: ignore[arg-type]


def test_what_was_written_seen_and_comes_next() -> None:
    assert text(written()).splitlines() == [
        "wrote tuning/matmul.yaml and tuning/matmul-tune.yaml",
        "  a C program, built by gcc, timed from start to end, no check value",
        "  6 combinations of bi, bj",
        "then: autotune tune tuning/matmul-tune.yaml",
    ]


def test_all_that_was_seen_is_told() -> None:
    seen = SourceScan(language="Fortran", openmp=True, mpi=True, time="t (.*)", check="c (.*)")
    assert text(written(seen=seen, compiler="mpifort")).splitlines()[1] == (
        "  a Fortran program, built by mpifort, OpenMP, MPI, prints its time, prints a check value"
    )


def test_what_is_not_compiled_says_so() -> None:
    seen = SourceScan(language="Python")
    line = text(written(seen=seen, compiler="")).splitlines()[1]
    assert line == "  Python, not compiled, timed from start to end, no check value"


def test_a_single_parameter_has_values_and_one_is_singular() -> None:
    line = text(written(parameters={"option": (None,)}, combinations=1)).splitlines()[2]
    assert line == "  1 value of option"


def test_options_of_the_compiler_are_counted_and_those_left_out_are_named() -> None:
    options = tuple((f"-fa{k}",) for k in range(70))
    left_out = {"results may change": ("-ffast-math",)}
    made = written(parameters={}, combinations=2**70, options=options, left_out=left_out)
    assert text(made).splitlines()[2:4] == [
        "  1.2e+21 combinations of 70 options of gcc",
        "  left out, results may change: -ffast-math",
    ]


def test_a_run_that_takes_long_is_told_with_the_budget_that_it_needs() -> None:
    assert ObservedRun(build_seconds=0, walls=(0.5, 0.5)).slowness(30, 30) == ""
    assert ObservedRun(build_seconds=0, walls=(10.0, 9.0)).slowness(1, 1) == ""
    assert ObservedRun(build_seconds=1.0, walls=(9.0, 10.0)).slowness(4, 15) == (
        "a run takes 10 s, a candidate about 42 s in all its runs: 60 s cover 1 of 4 candidates"
        " (search: budget; there are 15), --budget-seconds 210 all 4"
    )


def test_places_to_review_are_listed_below_what_they_need() -> None:
    shown = text(
        written(
            fill_in=(ReviewNote("matmul.yaml", 12, "a value"),),
            look_at=(
                ReviewNote("matmul.yaml", 20, "values of BI"),
                ReviewNote("matmul-tune.yaml", 17, "a run that takes longer is ended"),
            ),
        )
    )
    assert shown.splitlines()[3:-1] == [
        "to fill in:",
        "  matmul.yaml:12  a value",
        "to look at:",
        "  matmul.yaml:20  values of BI",
        "  matmul-tune.yaml:17  a run that takes longer is ended",
    ]


def test_the_command_that_comes_next_can_be_pasted() -> None:
    last = text(written(config=Path("my files/it's.yaml"))).splitlines()[-1]
    assert last == "then: autotune tune 'my files/it'\"'\"'s.yaml'"


@pytest.mark.parametrize("name", ["", ".x", "-x", "a b", "a/b", "ä", "a\n"])
def test_a_name_is_letters_digits_and_a_few_signs(tmp_path: Path, name: str) -> None:
    told = usage_error("init", "matmul.c", "--name", name)
    assert "--name" in told
    assert "is not a name: letters, digits and . _ -, a letter or digit first" in told


def test_a_program_is_needed() -> None:
    assert "PATH|COMMAND" in usage_error("init")


def test_the_command_writes_and_prints_one_document(tmp_path: Path) -> None:
    source = tmp_path / "matmul.c"
    macro = "#ifndef BI\n#define BI 4\n#endif\nint block = BI;\n"
    source.write_text(f"{macro}int main(void) {{ return 0; }}\n")
    words = ["init", str(source), "-o", str(tmp_path / "tuning"), "--name", "mm"]
    done = CliRunner().invoke(app, [*words, "--json"])
    document = json.loads(done.stdout)
    assert document["schema"] == "autotune.init/1"
    assert document["program"] == str(tmp_path / "tuning" / "mm.yaml")
    assert document["parameters"] == {"bi": [1, 2, 4, 8, 16]}
    again = CliRunner().invoke(app, [*words, "--force"])
    assert "5 values of bi" in again.stdout
    assert EXAMPLE in " ".join(CliRunner().invoke(app, ["init", "--help"]).output.split())


def test_both_files_that_are_there_are_named(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    write(ConfigRequest(program=source, folder=tmp_path))
    said = "it is there already (-o FOLDER writes elsewhere, --force replaces it)"
    assert faults(lambda: write(ConfigRequest(program=source, folder=tmp_path))).splitlines() == [
        f"{tmp_path / 'a.yaml'}: {said}",
        f"{tmp_path / 'a-tune.yaml'}: {said}",
    ]


def test_a_missing_compiler_is_named_beside_files_that_are_there(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    write(ConfigRequest(program=source, folder=tmp_path))
    again = ConfigRequest(program=source, folder=tmp_path, flags="icx")
    if shutil.which("icx") is None:
        said = faults(lambda: write(again))
        assert said.count("it is there already") == 2
        assert "icx" in said.splitlines()[-1]
        assert "apt install" not in said


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "matmull.c",
            "it does not exist; expected a source file, a folder, an executable, or a command on",
        ),
        ("folder", "it has no program; expected a Makefile, CMakeLists.txt, compile_commands.json"),
        ("notes.txt", "it is neither a known kind of source nor executable; expected a .c, .cpp,"),
    ],
)
def test_what_is_no_program_is_refused(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "matmul.c").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("text")
    request = ConfigRequest(program=tmp_path / name, folder=tmp_path)
    assert faults(lambda: write(request)).startswith(f"{tmp_path / name}: {words}")
