"""``autotune init --flags``: the options of a compiler in a first description of a program."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import own_programs as own
import pytest
import yaml
from command_line import Finished
from documented import documented
from refusals import faults

from autotune.commands.init.document import InitDocument
from autotune.commands.init.first_draft import Draft
from autotune.commands.init.flag_draft import FlagDraft
from autotune.commands.init.flow import ConfigRequest, write
from autotune.commands.init.source_scan import SourceScan
from autotune.commands.rank.ranked_space import load
from autotune.domain.parameter_domain import FlagSet
from autotune.domain.program import Program

GCC = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
OPTIONS = FlagDraft(
    compiler="gcc",
    version="gcc 1.0",
    base=("-O3",),
    options=(
        ("-fweb",),
        ("-fira-region=all", "-fira-region=mixed"),
        ("-fa=off", "-fa=on"),
        ("-falign-loops=8", "-fno-align-loops"),
    ),
    left_out={"results may change": ("-ffast-math",)},
)


def test_the_lines_are_a_flag_set_with_remarks() -> None:
    lines = OPTIONS.lines("options")
    assert yaml.safe_load("\n".join(lines)) == {
        "options": {
            "flags": [
                "-fweb",
                {"-fira-region=": ["all", "mixed"]},
                ["-fa=off", "-fa=on"],
                ["-falign-loops=8", "-fno-align-loops"],
            ]
        }
    }
    assert lines[0].startswith("  # 4 options of gcc 1.0 beside -O3: of what these switch on")
    assert "  # Left out, results may change: -ffast-math." in lines
    assert max(map(len, lines)) <= 100


@GCC
def test_what_is_written_is_a_study_of_many_options(
    tmp_path: Path, autotune: Callable[..., Finished]
) -> None:
    (tmp_path / "tiny.c").write_text(own.TINY, encoding="utf-8")
    document = json.loads(autotune("init", "tiny.c", "--flags", "gcc", "--json").out)
    documented(document, InitDocument, "init")
    assert len(document["options"]) >= 60
    assert document["combinations"] > 2**60
    assert document["parameters"] == {"block": [2, 4, 8, 16, 32]}
    program = load(tmp_path / "tiny-tune.yaml").setup.subject
    assert isinstance(program, Program)
    flags = program.parameters["options"]
    assert isinstance(flags, FlagSet)
    assert len(flags.flags) == len(document["options"])
    assert all(program.baseline[name] is None for name in flags.flags)


def test_the_name_of_the_set_is_free_and_its_place_is_in_the_build(tmp_path: Path) -> None:
    scan = SourceScan(language="C", files=("a.c",), macros=(("OPTIONS", 4),))
    draft = Draft(tmp_path / "a.c", tmp_path, (), scan, OPTIONS)
    made = yaml.safe_load(draft.program("a"))
    assert made["build"][:4] == ["{compiler}", "{flags}", "-DOPTIONS={options}", "{p_options}"]
    assert made["parameters"].keys() == {"options", "p_options"}
    assert draft.compiler == "gcc"
    assert "random: 12" in draft.config("a")


def test_a_program_that_is_not_compiled_has_no_options(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print(1)\n", encoding="utf-8")
    request = ConfigRequest(program=tmp_path / "a.py", folder=tmp_path, flags="gcc")
    assert faults(lambda: write(request)) == (
        "--flags: the program is Python: nothing is compiled; expected a source file of one of"
        " C, C++, Fortran"
    )


@GCC
def test_a_build_that_fails_names_the_flag(tmp_path: Path) -> None:
    text = own.PROGRAM.replace("-DBLOCK={block}", "{block}").replace(
        "[1, 2, 4, 8]", "[-DBLOCK=8, -fgcsee]"
    )
    text = text.replace("baseline: {block: 8}", "baseline: {block: -DBLOCK=8}")
    text = text.replace("constraints:\n  - require: block < n\n    reason: a block is larger", "")
    text = text.replace(" than all\n", "")
    _, measurer, named = own.opened(own.put(tmp_path, text))
    prepared = measurer.prepare(named["-fgcsee"])
    assert prepared.status == "build-failed"
    first, *rest = prepared.detail.splitlines()
    assert first == "the compiler has no flag -fgcsee (did you mean -fgcse?)"
    assert any("unrecognized command-line option" in line for line in rest)
