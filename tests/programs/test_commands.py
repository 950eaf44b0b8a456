"""Commands of programs: what a config says reaches a program as it stands, and no shell."""

import shlex
import sys
from pathlib import Path

import own_programs as own
import pytest
import yaml

from autotune.workloads.program.measuring.command_line import openmp

MAKE = """\
import sys
open(sys.argv[2], "w").write(sys.argv[1].encode().hex())
"""
RUN = """\
import os, sys
text = sys.argv[2].encode().hex()
built = open(sys.argv[1]).read()
print("time 0.001 s")
print("check", int(text == built == os.environ["TEXT"].encode().hex() and len(sys.argv) == 3), text)
"""
TEXTS = ["plain", "; touch x", "$(touch x)", "`touch x`", "a  b", "it's \"q\"", "a\nb", "*", "-x",
         "${HOME}", "\\", "é | > x", "{n}"]  # fmt: skip
PROGRAM = {
    "schema": "autotune.program/1",
    "title": "Says what it was given",
    "sources": ["*.py"],
    "folder": "work",
    "build": ["{python}", "{source folder}/make.py", "{text}", "{output}"],
    "run": ["{python}", "{source folder}/run.py", "{output}", "{text}"],
    "environment": {"TEXT": "{text}"},
    "parameters": {"text": TEXTS},
    "time": {"pattern": "time (.*) s"},
    "check": {"pattern": "check (.) .*"},
}
CONFIG = own.CONFIG.replace("{n: 500}", "{}").replace(
    "builds: [{compiler: gcc, flags: [-O1]}]\n", ""
)


def put(folder: Path, settings: str = CONFIG) -> Path:
    (folder / "work").mkdir()
    text = yaml.safe_dump(PROGRAM, allow_unicode=True)
    return own.put(folder, text, settings, {"make.py": MAKE, "run.py": RUN})


def test_values_are_one_argument_whatever_they_hold(tmp_path: Path):
    _, measurer, named = own.opened(put(tmp_path))
    assert list(named) == TEXTS
    for text, candidate in named.items():
        prepared = measurer.prepare(candidate)
        assert (prepared.status, prepared.detail) == ("ok", ""), text
        command = measurer.workshop.ready(candidate, prepared.build)
        assert command is not None
        assert command.command[3] == text
        assert command.variables == {"TEXT": text}
    # every answer was 1 like that of the first: argument, build and environment agree
    assert list((tmp_path / "work").iterdir()) == []


def test_a_launcher_that_is_a_shell_gets_them_quoted(tmp_path: Path):
    launcher = "launcher: sh -c 'exec {command}'\n"
    _, measurer, named = own.opened(put(tmp_path, CONFIG + launcher))
    for text in ("plain", "; touch x", 'it\'s "q"'):
        assert measurer.prepare(named[text]).status == "ok", text
    assert list((tmp_path / "work").iterdir()) == []


def test_null_leaves_out_arguments_and_variables(tmp_path: Path):
    program = own.PROGRAM.replace(
        'run: ["{output}", "{n}"]',
        'run: ["{output}", "{n}", "--{way}"]\nenvironment: {WAY: "{way}"}',
    ).replace("block: [1, 2, 4, 8]", "block: [8], way: [null, fast]")
    _, measurer, named = own.opened(own.put(tmp_path, program))
    for name, tail, variables in (
        ("8 None", [], {"WAY": None}),
        ("8 fast", ["--fast"], {"WAY": "fast"}),
    ):
        key = measurer.workshop.build(named[name]).key
        ready = measurer.workshop.ready(named[name], key)
        assert ready is not None
        assert list(ready.command[1:]) == ["500", *tail]
        assert ready.variables == variables
        assert ("WAY" in ready.environment({"WAY": "outer"})) == (variables["WAY"] is not None)


@pytest.mark.parametrize(
    ("threads", "lines", "expected"),
    [
        ("one", "", {1: "1"}),
        ("own", "", {1: None}),
        ("openmp", "threads: [1, 2]\n", {1: "1", 2: "2"}),
    ],
)
def test_threads(tmp_path: Path, threads: str, lines: str, expected: dict[int, str | None]):
    path = own.put(tmp_path, own.PROGRAM.replace("threads: one", f"threads: {threads}"),
                   own.CONFIG + lines)  # fmt: skip
    setup, _, _ = own.opened(path)
    found = {each.threads: openmp(each).get("OMP_NUM_THREADS") for each in own.candidates(setup)}
    assert found == expected


def test_threads_as_an_argument(tmp_path: Path):
    program = own.PROGRAM.replace("threads: one", "threads: own").replace(
        '["{output}", "{n}"]', '["{output}", "{n}", "-t", "{threads}"]'
    )
    setup, measurer, _ = own.opened(own.put(tmp_path, program, own.CONFIG + "threads: [1, 2]\n"))
    two = next(each for each in own.candidates(setup) if each.threads == 2)
    ready = measurer.workshop.ready(two, measurer.workshop.build(two).key)
    assert ready is not None
    assert ready.command[-2:] == ("-t", "2")


def test_what_a_build_needs_and_a_host_lacks_is_told_at_once(tmp_path: Path):
    from autotune.commands.map import flow as maps
    from autotune.commands.map.map_request import MapRequest
    from autotune.commands.rank.ranked_space import load
    from autotune.errors import MissingTool
    from autotune.workloads.program.program_needs import check_program
    from autotune.workloads.program.program_workload import ProgramWorkload

    program = own.PROGRAM.replace('["{compiler}", ', '["no-such-tool", "{compiler}", ').replace(
        '["{output}", "{n}"]', '["no-such-launcher", "{output}", "{n}"]'
    )
    path = own.put(tmp_path, program + "packages: {no-such-package: pip install it}\n")
    with pytest.raises(MissingTool) as caught:
        check_program(ProgramWorkload(load(path).setup).program)
    told = "\n".join(str(fault) for fault in caught.value.faults)
    for words in ("no-such-tool", "no-such-launcher", "no-such-package", "pip install it"):
        assert words in told
    assert f"{shlex.quote('tiny.yaml')}:5" in told
    assert sys.executable not in told
    with pytest.raises(MissingTool, match="no-such-package"):
        maps.make(load(path), MapRequest(sizes="9,99"), str(tmp_path / "s"), own.quiet)
