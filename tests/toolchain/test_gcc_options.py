"""Options of gcc that optimise: listed, tried, and named where a compiler lacks them."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from autotune.errors import InputError, MissingTool
from autotune.toolchain.gcc_options import gcc_of, listed_options
from autotune.toolchain.refused_flags import named_refusals, refused, trial

LISTED = """\
The following options control optimizations:
  -O<number>
  -faggressive-loop-optimizations 	[enabled]
  -falign-loops               		[enabled]
  -falign-loops=              		16:11:8
  -ffast-math
  -ffold-simple-inlines       		[available in C++, ObjC++]
  -fhandle-exceptions         		-fexceptions
  -fprefetch-loop-arrays
  -fira-region=[one|all|mixed] 		one
  -flifetime-dse=<0,2>        		2
  -fsched-stalled-insns=<number>
  -ftree-parallelize-loops=<number> 	1
  -fvpt                       		[disabled]
  -fweb                       		[disabled]
  -fwarned                    		[disabled]
  -fbad                       		[disabled]
"""
SCRIPT = """\
#!/bin/sh
for word; do
  case $word in
    --version) echo 'gcc (Test) 1.0'; echo 'Free Software Foundation, Inc.'; exit 0;;
    --help=optimizers) cat "$0.txt"; exit 0;;
    -fbad) echo "gcc: error: unrecognized command-line option '-fbad'" >&2; exit 1;;
    -fwarned) echo "cc1: warning: -fwarned is ignored" >&2;;
  esac
done
"""


@pytest.fixture
def compiler(tmp_path: Path) -> Path:
    """A script that lists options as gcc does, refuses one of them and warns of another."""
    path = tmp_path / "gcc-test"
    path.write_text(SCRIPT, encoding="utf-8")
    path.with_name("gcc-test.txt").write_text(LISTED, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_form_that_changes_the_state_of_an_option_is_listed(compiler: Path) -> None:
    listed = listed_options(gcc_of(str(compiler), ["-O3"]))
    assert listed.spellings[:9] == (
        ("-fno-aggressive-loop-optimizations",),
        ("-falign-loops=8", "-falign-loops=32", "-falign-loops=64", "-fno-align-loops"),
        ("-fprefetch-loop-arrays", "-fno-prefetch-loop-arrays"),
        ("-fweb",),
        ("-fwarned",),
        ("-fbad",),
        ("-fira-region=all", "-fira-region=mixed"),
        ("-flifetime-dse=0", "-flifetime-dse=1"),
        ("-fsched-stalled-insns=1", "-fsched-stalled-insns=4", "-fsched-stalled-insns=16"),
    )
    assert listed.left_out == {
        "results may change": ("-ffast-math",),
        "needs a profile": ("-fvpt",),
        "starts threads": ("-ftree-parallelize-loops=4",),
    }


def test_what_a_compiler_refuses_or_ignores_is_found_by_few_trials(compiler: Path) -> None:
    said = trial(gcc_of(str(compiler), ["-O3"]), "C")
    trials: list[Sequence[str]] = []

    def counted(flags: Sequence[str]) -> str:
        trials.append(flags)
        return said(flags)

    options = [(f"-fgood-{k}",) for k in range(60)] + [("-fbad",), ("-fwarned", "-fwarned=2")]
    assert refused(options, counted) == {
        "-fbad": "unrecognized command-line option '-fbad'",
        "-fwarned": "-fwarned is ignored",
    }
    assert len(trials) < 20
    assert refused([("-fgood",)], counted) == {}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_the_installed_gcc_has_many_options_that_change_no_result() -> None:
    listed = listed_options(gcc_of("gcc", ["-O2"]))
    spellings = [spelling for option in listed.spellings for spelling in option]
    assert len(listed.spellings) >= 60
    assert "-funroll-loops" in spellings
    assert not [s for s in spellings if "fast-math" in s or "profile" in s or "sanitize" in s]
    assert "-ffast-math" in listed.left_out["results may change"]


def test_another_compiler_is_refused_with_one_that_is_not(tmp_path: Path) -> None:
    path = tmp_path / "icx"
    path.write_text("#!/bin/sh\necho 'Other 1.0'\n", encoding="utf-8")
    path.chmod(0o755)
    with pytest.raises(InputError, match=r"does not list its options as gcc does; expected gcc"):
        gcc_of(str(path), [])
    with pytest.raises(MissingTool, match="'gcc-no-such' is not installed"):
        gcc_of("gcc-no-such", [])


def test_a_compiler_without_a_list_is_refused(compiler: Path) -> None:
    compiler.with_name("gcc-test.txt").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="prints no options"):
        listed_options(gcc_of(str(compiler), []))


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "gcc: error: unrecognized command-line option '-fgcsee'; did you mean '-fgcse'?",
            "the compiler has no flag -fgcsee (did you mean -fgcse?)",
        ),
        ("clang: error: unknown argument: '-fzz'", "the compiler has no flag -fzz"),
        (
            "gcc: error: unrecognized command line option '-fa'\n"
            "gcc: error: unrecognized command line option '-fb'",
            "the compiler has no flags -fa, -fb",
        ),
        (
            "gcc: error: unknown IRA region 'foo'\n"
            "gcc: note: valid arguments to '-fira-region=' are: all mixed one",
            "-fira-region= takes one of all, mixed, one",
        ),
        ("a.c:1:1: error: expected ';'", ""),
        ("", ""),
    ],
)
def test_a_message_names_the_flags_that_the_compiler_lacks(message: str, words: str) -> None:
    assert named_refusals(message) == words


def test_the_nearest_flag_is_looked_for_where_the_compiler_names_none() -> None:
    words = named_refusals("error: unknown argument: '-fgcsx'", lambda: ["-fgcse", "-fweb"])
    assert words == "the compiler has no flag -fgcsx (did you mean -fgcse?)"
