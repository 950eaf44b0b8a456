"""The texts of a first description of a program: what is written for what was seen."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import faults

from autotune.commands.init.first_draft import Draft, around
from autotune.commands.init.flow import ConfigRequest, write
from autotune.commands.init.source_scan import (
    Argument,
    PrintedRate,
    SourceScan,
    scan_source,
    scan_text,
)
from autotune.commands.init.time_units import TIME_UNITS, unit_of
from autotune.commands.init.trying.trial import trial_of
from autotune.units import parse


def draft(
    *given_words: str, path: str = "matmul.c", folder: str = "tuning", **seen: object
) -> Draft:
    fields: dict[str, object] = {"language": "C", "files": (path,)}
    scan = SourceScan(**(fields | seen))  # type: ignore[arg-type]
    return Draft(Path(path), Path(folder), given_words, scan)


def described(of: Draft) -> dict[str, object]:
    """The description as YAML reads it."""
    content = yaml.safe_load(of.program("matmul"))
    assert isinstance(content, dict)
    return content


def lines(of: Draft, start: str) -> list[str]:
    return [line for line in of.program("matmul").splitlines() if line.strip().startswith(start)]


@pytest.mark.parametrize(
    ("value", "values"),
    [
        (64, (16, 32, 64, 128, 256)),
        (1, (1, 2, 4)),
        (2, (1, 2, 4, 8)),
        (3, (1, 3, 6, 12)),
        (0, (0, 1)),
        (-1, (-1,)),
    ],
)
def test_values_to_try_are_halves_and_doubles_from_one_on(
    value: int, values: tuple[int, ...]
) -> None:
    assert around(value) == values


@given(st.integers(min_value=1, max_value=2**40))
@settings(max_examples=30)
def test_a_default_is_among_the_values_to_try(value: int) -> None:
    values = around(value)
    assert value in values
    assert list(values) == sorted(set(values))
    assert min(values) >= 1


def test_a_macro_becomes_a_parameter_with_its_default_as_baseline() -> None:
    of = draft(macros=(("BI", 64),))
    assert of.parameters == {"bi": (16, 32, 64, 128, 256)}
    assert of.baseline == {"bi": 64}
    assert "-DBI={bi}" in described(of)["build"]  # type: ignore[operator]
    assert lines(of, "bi:") == ["  bi: [16, 32, 64, 128, 256]  # LOOK AT: values of BI"]


def test_a_default_may_stand_in_parentheses() -> None:
    text = "#ifndef CHUNK\n#define CHUNK (64) /* rows */\n#endif\nint rows = CHUNK;\n"
    seen = scan_text("C", text, text)
    assert (seen.macros, seen.unvaried) == ((("CHUNK", 64),), {})


def test_a_macro_that_nothing_reads_is_not_varied() -> None:
    text = "#ifndef TILE\n#define TILE 8 /* TILE: 8 or 16 */\n#endif\nint tiles;\n"
    seen = scan_text("C", text, text)
    assert (seen.macros, seen.unvaried) == ((), {"TILE": "nothing reads it"})


def test_a_macro_that_is_only_on_or_off_has_two_values() -> None:
    of = draft(macros=(("FAST", 1),), flags=frozenset({"FAST"}))
    assert (of.parameters, of.baseline) == ({"fast": (0, 1)}, {"fast": 1})


@pytest.mark.parametrize(
    ("chain", "name"),
    [
        (("ORDER_IJK", "ORDER_KIJ"), "order"),
        (("USE_BLAS",), "use_blas"),
        (("A_ONE", "B_TWO"), "a_one"),
        (("X1", "X2"), "x1"),
    ],
)
def test_macros_of_which_one_is_chosen_are_named_by_what_they_share(
    chain: tuple[str, ...], name: str
) -> None:
    of = draft(switches=(chain,))
    assert of.parameters == {name: (None, *(f"-D{macro}" for macro in chain))}
    assert of.baseline == {name: None}
    assert described(of)["build"][2] == f"{{{name}}}"  # type: ignore[index]


def test_a_schedule_that_is_chosen_when_it_runs_is_varied_in_the_environment() -> None:
    of = draft(openmp=True, schedule=True)
    assert of.parameters == {"schedule": ("static", "dynamic,1", "dynamic,16", "guided")}
    assert described(of)["environment"] == {"OMP_SCHEDULE": "{schedule}"}


def test_mpi_programs_are_launched_with_a_number_of_ranks() -> None:
    of = draft(mpi=True)
    assert of.compiler == "mpicc"
    assert of.parameters == {"ranks": (1, 2)}
    assert described(of)["run"] == ["mpirun", "-n", "{ranks}", "{output}"]
    assert described(of)["threads"] == "own"


@pytest.mark.parametrize(
    ("language", "compiler"), [("C", "mpicc"), ("C++", "mpicxx"), ("Fortran", "mpifort")]
)
def test_the_compiler_of_mpi_is_that_of_the_language(language: str, compiler: str) -> None:
    assert draft(language=language, mpi=True).compiler == compiler


def test_a_source_without_macros_varies_a_flag() -> None:
    of = draft()
    assert of.parameters == {"unroll": (None, "-funroll-loops")}
    assert "The source shows no macro that may vary" in lines(of, "unroll:")[0]


def test_a_source_whose_only_macro_is_an_amount_of_work_varies_a_flag(tmp_path: Path) -> None:
    source = tmp_path / "w.c"
    source.write_text("#ifndef STEP\n#define STEP 4\n#endif\nint main(void) { return STEP - 4; }\n")
    made = write(ConfigRequest(program=source, folder=tmp_path))
    assert made.parameters == {"unroll": (None, "-funroll-loops")}
    assert made.kept == {"STEP": "repeat count"}
    assert "may vary: --flags" in " ".join(made.remarks)


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("clock_t a = std::clock ( );", "clock()"),
        ("CALL CPU_TIME(t0)", "CPU_TIME"),
        ("t = time.process_time()", "process_time"),
        ("clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);", "CLOCK_PROCESS_CPUTIME_ID"),
        ("t = u.ru_utime.tv_sec;", "ru_utime"),
        ("t = my_clock(); // clock()", ""),
        ("Clock c = Clock();", ""),
        ("a = clock(); clock_gettime(CLOCK_MONOTONIC, &t);", ""),
        ("call cpu_time(t0); call system_clock(c)", ""),
        ("getrusage(RUSAGE_SELF, &u); m = u.ru_maxrss;", ""),
    ],
)
def test_a_source_that_reads_its_cpu_time_alone_is_told(text: str, clock: str) -> None:
    assert scan_text("C", text, text).cpu_clock == clock


def test_cpu_time_that_is_optimised_is_named(tmp_path: Path) -> None:
    source = tmp_path / "w.c"
    body = 'printf("time %f s\\n", clock() / 1e6);'
    source.write_text(
        f"#include <stdio.h>\n#include <time.h>\nint main(void) {{ {body} return 0; }}\n"
    )
    told = "looks like CPU time (clock() in the source): what it waits is not in it"
    made = write(ConfigRequest(program=source, folder=tmp_path))
    assert told in " ".join(made.remarks)
    source.write_text(f"/* clock() */ int main(void) {{ {body.replace('clock()', '1')} }}\n")
    made = write(ConfigRequest(program=source, folder=tmp_path, force=True))
    assert "CPU time" not in " ".join(made.remarks)


def test_a_draft_that_is_refused_is_told_without_the_file_that_it_was_in(tmp_path: Path) -> None:
    source = tmp_path / "w.c"
    source.write_text("int main(void) { return 0; }\n")
    of = Draft(source, tmp_path, (), scan_source(source))
    of.parameters.clear()
    words = faults(lambda: trial_of(of))
    assert words.startswith(f"{source}: autotune's own draft of its description is refused: ")
    assert "nothing; expected keys and values" in words
    assert "trial" not in words.replace(str(tmp_path), "")


def test_a_script_is_not_built_and_varies_how_it_takes_memory() -> None:
    of = draft(path="solve.py", language="Python")
    content = described(of)
    assert of.compiler == ""
    assert "build" not in content
    assert content["run"] == ["{python}", "{source folder}/solve.py"]
    assert content["environment"] == {"GLIBC_TUNABLES": "{allocator}"}
    assert of.parameters["allocator"][0] is None


def test_an_executable_is_started_as_it_is() -> None:
    of = draft("4096", path="solver", language="executable")
    content = described(of)
    assert content["run"] == ["{source folder}/solver", "{argument1}"]
    assert content["title"] == "matmul, an executable program"


# --- the command line ---------------------------------------------------------------------------

N = Argument(name="n", position=1, default="512")


def test_an_argument_has_the_default_of_the_source() -> None:
    of = draft(arguments=(N,))
    assert (of.arguments, of.words, of.size) == ({"n": 512}, ["{n}"], "n")
    assert described(of)["size"] == "n"


def test_the_command_line_that_is_told_goes_before_the_defaults() -> None:
    assert draft("4096", arguments=(N,)).arguments == {"n": 4096}


def test_words_that_are_no_numbers_stay_as_they_are() -> None:
    of = draft("--file={x}", "10", "-v")
    assert of.words == ["--file={{x}}", "{argument2}", "-v"]
    assert of.arguments == {"argument2": 10}


def test_an_argument_without_a_default_is_to_be_filled_in() -> None:
    of = draft(arguments=(Argument(name="steps", position=1, default=""),))
    assert of.arguments == {"steps": 1}
    assert lines(of, "steps:") == ["  steps: 1  # FILL IN: a value; the source tells no default"]


def test_arguments_between_those_that_were_seen_have_a_number_as_name() -> None:
    of = draft("1", "2", "3", arguments=(Argument(name="n", position=3, default=""),))
    assert of.arguments == {"argument1": 1, "argument2": 2, "n": 3}


@pytest.mark.parametrize("word", ["nan", "inf", "1e400", "9" * 30, "0x10", ""])
def test_what_is_no_usable_number_is_no_argument(word: str) -> None:
    of = draft("-o", word)
    assert 1e18 not in of.arguments.values()
    assert all(value == 1 for value in of.arguments.values())


def test_a_size_is_preferred_by_its_name() -> None:
    named = (
        Argument(name="steps", position=1, default="10"),
        Argument(name="N", position=2, default="64"),
    )
    assert draft(arguments=named).size == "N"
    assert draft("7", "8").size == "argument1"
    assert draft("0", "0.5").size == ""


def test_a_parameter_never_takes_the_name_of_something_else() -> None:
    """``threads`` and ``output`` have a meaning in a run, ``n`` is an argument."""
    of = draft(macros=(("N", 8), ("THREADS", 4), ("FLAGS", 2)), arguments=(N,))
    assert list(of.parameters) == ["p_threads", "p_flags"]
    assert list(of.arguments) == ["n", "p_n"]
    assert "-DTHREADS={p_threads}" in of.flags


def test_a_name_is_made_of_plain_letters() -> None:
    of = draft(macros=(("GRÖSSE", 8),), switches=(("É",),))
    assert list(of.parameters) == ["gr_sse", "_"]


def test_a_first_config_has_at_most_ten_thousand_combinations() -> None:
    of = draft(macros=tuple((f"B{k}", 64) for k in range(8)))
    count = 1
    for values in of.parameters.values():
        count *= len(values)
    assert 5_000 < count <= 10_000
    assert all(of.baseline[name] in values for name, values in of.parameters.items())


# --- the texts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "threads"),
    [
        ({"openmp": True}, "openmp"),
        ({}, "one"),
        ({"threads": True}, "own"),
        ({"mpi": True}, "own"),
        ({"language": "Python"}, "own"),
        ({"openmp": True, "mpi": True}, "openmp"),
    ],
)
def test_who_starts_threads(seen: dict[str, object], threads: str) -> None:
    assert described(draft(**seen))["threads"] == threads  # type: ignore[arg-type]


def test_headers_are_sources_that_are_not_compiled() -> None:
    of = draft(files=("main.c", "kernel.h", "kernel.c"), threads=True)
    content = described(of)
    assert content["sources"] == ["main.c", "kernel.h", "kernel.c"]
    assert content["build"][2:] == [  # type: ignore[index]
        "{unroll}", "-pthread", "{source folder}/main.c", "{source folder}/kernel.c",
        "-o", "{output}", "-lm",
    ]  # fmt: skip


def test_mathematics_is_linked_to_c_only() -> None:
    assert "-lm" not in described(draft(language="C++", path="a.cpp"))["build"]  # type: ignore[operator]


def test_the_source_folder_is_seen_from_the_description() -> None:
    assert described(draft(path="source/matmul.c"))["source_folder"] == "../source"
    assert described(draft(path="matmul.c", folder="."))["source_folder"] == "."


def test_patterns_of_files_are_taken_word_for_word() -> None:
    content = described(draft(path="a[1].c"))
    assert content["sources"] == ["a[[]1].c"]
    assert "{source folder}/a[1].c" in content["build"]  # type: ignore[operator]


def test_braces_of_a_file_are_no_template() -> None:
    content = described(draft(path="a{n}.c"))
    assert "{source folder}/a{{n}}.c" in content["build"]  # type: ignore[operator]


def test_a_time_that_is_printed_is_read_in_its_unit() -> None:
    of = draft(time=r"took\s*([-+0-9.eEdD]+)", unit="ms")
    assert described(of)["time"] == {"pattern": r"took\s*([-+0-9.eEdD]+)", "unit": "ms"}
    assert "unit" not in lines(draft(time="t ([0-9]+)"), "time:")[0]


SPELLINGS = (*TIME_UNITS, *(name.capitalize() for name in TIME_UNITS if len(name) > 3))


@pytest.mark.parametrize("line", ['f"took {t:.2f} UNIT"', '"time (UNIT): %g" % t'])
@pytest.mark.parametrize("unit", SPELLINGS)
def test_any_spelling_of_a_unit_is_written_as_descriptions_have_it(unit: str, line: str) -> None:
    seen = scan_text("Python", text := f"print({line.replace('UNIT', unit)})", text)
    assert seen.unit == unit_of(unit)
    assert parse(f"1 {seen.unit}", "time") > 0


def test_a_draft_with_a_unit_that_is_spelled_out_is_loaded(tmp_path: Path) -> None:
    source = tmp_path / "blur.py"
    source.write_text('print(f"Time: {t:.2f} milliseconds")')
    assert "unit: ms" in write(ConfigRequest(program=source, folder=tmp_path)).program.read_text()


def test_without_a_printed_time_the_whole_process_is_timed() -> None:
    assert described(draft())["time"] == "wall"


@pytest.mark.parametrize(("single", "tolerance"), [(True, "1e-5"), (False, "1e-9")])
def test_a_check_value_is_compared_as_the_precision_allows(single: bool, tolerance: str) -> None:
    of = draft(check=r"sum\s*([-+.\w]+)", single=single)
    (line,) = lines(of, "check:")
    assert f"tolerance: {tolerance}" in line
    assert lines(draft(single=single), "# check:") == [
        f'# check: {{pattern: "sum (\\\\S+)", tolerance: {tolerance}}}'
    ]


def test_the_config_tunes_the_size_that_is_known() -> None:
    content = yaml.safe_load(draft("4096", openmp=True, arguments=(N,)).config("matmul"))
    assert content["program"] == "matmul.yaml"
    assert content["problems"] == [{"arguments": {"n": 4096}}]
    assert content["threads"] == [1, "all"]
    assert [build["flags"] for build in content["builds"]] == [["-O3", "-march=native"]]


def test_the_config_leaves_out_what_is_not_known() -> None:
    script = draft(path="solve.py", language="Python")
    content = yaml.safe_load(script.config("solve"))
    assert "problems" not in content
    assert "builds" not in content
    assert "threads" not in content


@pytest.mark.parametrize(
    "text", ["on", "no", "null", "true", "12", "1e6", "a: b", "- x", "#", "~", "'", '"', "", "\\"]
)
def test_words_that_mean_something_to_yaml_are_quoted(text: str) -> None:
    assert yaml.safe_load(draft().config(text))["title"] == f"A first look at {text}"
    assert described(draft(f"x{text}"))["run"] == ["{output}", f"x{text}"]


@given(st.text(st.characters(codec="utf-8"), max_size=8))
@settings(max_examples=40)
def test_any_word_of_a_command_line_comes_back_from_yaml(word: str) -> None:
    of = draft(f"x{word}")
    doubled = f"x{word}".replace("{", "{{").replace("}", "}}")
    assert described(of)["run"] == ["{output}", doubled]


@pytest.mark.parametrize("name", ["\U0001f600.c", "naïve.c", "a b'c\".c", "# no.c"])
def test_a_source_of_any_name_has_a_description_that_loads(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    written = write(ConfigRequest(program=source, folder=tmp_path))
    assert written.combinations == 2


# --- rates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "rate"),
    [
        (r'printf("rate %.1f MB/s\n", r);', ("rate", "MB/s", "rate 12.5 MB/s")),
        (r'printf("%.2f GFLOP/s\n", r);', ("rate", "GFLOP/s", "12.5 GFLOP/s")),
        (r'printf("speed: %g items/second\n", r);', ("speed", "items/second", "speed: 12.5 ")),
        (r'printf("Bandwidth [GB/s]: %f\n", r);', ("bandwidth", "GB/s", "Bandwidth [GB/s]: 12.5")),
        (r'printf("time %f s\n", r);', None),
        (r'printf("memory %d MB\n", r);', None),
    ],
)
def test_a_rate_that_is_printed_is_a_metric_with_its_unit(
    tmp_path: Path, statement: str, rate: tuple[str, str, str] | None
) -> None:
    path = tmp_path / "rate.c"
    path.write_text(f"#include <stdio.h>\nint main(void) {{ double r = 1; {statement} }}\n")
    seen = scan_source(path).rate
    if rate is None or seen is None:
        assert seen is rate
        return
    name, unit, line = rate
    assert (seen.name, seen.unit) == (name, unit)
    match = re.search(seen.pattern, line if unit in line else line + unit)
    assert match is not None
    assert match.group(1) == "12.5"


def test_a_rate_is_the_objective_where_no_time_is_printed() -> None:
    rate = PrintedRate(name="rate", unit="MB/s", pattern=r"rate\s*([-+0-9.eE]+)\s*MB/s")
    content = described(draft(rate=rate))
    metric = {"pattern": rate.pattern, "unit": "MB/s", "better": "more"}
    assert (content["metrics"], content["objective"]) == ({"rate": metric}, "rate")
    assert "time" not in content
    beside = described(draft(rate=rate, time="t ([0-9]+)"))
    assert (beside["metrics"], "objective" in beside) == ({"rate": metric}, False)
    taken = described(draft(rate=replace(rate, name="time")))
    assert taken["objective"] == "p_time"
