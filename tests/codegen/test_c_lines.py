"""Long lines of C are broken at spaces, and nowhere else."""

import re
import subprocess
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.codegen.c.c_lines import GLUE, INDEPENDENT, SHORT, WIDTH, wrapped

WORDS = st.lists(
    st.text("abcxyz0123456789_*+-/()[]=;,.", min_size=1, max_size=30), min_size=1, max_size=30
)


@settings(max_examples=25, derandomize=True)
@given(words=WORDS, indent=st.sampled_from([0, 4, 12]))
def test_the_words_stay_in_order_on_lines_that_fit(words: list[str], indent: int) -> None:
    """Every line but the first is indented by two steps more, and no line could hold more."""
    line = " " * indent + " ".join(words)
    lines = wrapped(line)
    assert [word for part in lines for word in part.split()] == words
    assert all(len(part) <= WIDTH for part in lines)
    begins = [len(part) - len(part.lstrip()) for part in lines]
    assert begins == [indent] + [indent + 8] * (len(lines) - 1)
    for part, after in pairwise(lines):
        assert len(part) + 1 + len(after.split()[0]) > WIDTH


def test_a_line_of_the_width_is_left_alone() -> None:
    line = "x = " + "a" * (WIDTH - 5) + ";"
    assert len(line) == WIDTH
    assert wrapped(line) == [line]
    assert wrapped(line.replace("=", "=  ")) != [line]


def test_a_word_longer_than_a_line_is_not_broken() -> None:
    word = "f(" + "a" * WIDTH + ");"
    assert wrapped(f"y = {word} z") == ["y =", f"        {word}", "        z"]
    hyphens = "-".join(["ab"] * 60)
    assert wrapped(f"y = {hyphens}")[1].strip() == hyphens, "nor at hyphens"


def test_glued_words_stay_together_and_become_plain() -> None:
    glued = GLUE.join(["u[at", "+", "i]"])
    lines = wrapped("v = " + " + ".join([glued] * 12) + ";")
    assert len(lines) > 1
    assert not any(GLUE in line for line in lines)
    assert all(line.count("u[at + i]") == line.count("u[") for line in lines)
    assert wrapped(f"a{GLUE}b") == ["a b"]


def test_lines_of_the_preprocessor_are_never_broken() -> None:
    line = "#define LONG " + "x + " * 40 + "y"
    assert wrapped(line) == [line]
    assert wrapped("    " + line) == ["    " + line]


def test_an_empty_line_stays_a_line() -> None:
    assert wrapped("") == [""]


@pytest.mark.parametrize(
    ("macro", "flags", "pragma"),
    [
        ("INDEPENDENT", (), "GCC ivdep"),
        ("INDEPENDENT", ("-D__clang__",), None),
        ("SHORT", (), "GCC ivdep"),
        ("SHORT", ("-D__clang__",), "clang loop"),
    ],
)
def test_the_macros_before_loops_are_c_for_every_compiler(
    macro: str, flags: tuple[str, ...], pragma: str | None
) -> None:
    """gcc is told by a pragma; a compiler that calls itself clang needs none but in short loops."""
    loop = f"void f(int n, double *x) {{\n{macro}\nfor (int i = 0; i < n; i++) x[i] = 0;\n}}\n"
    text = "\n".join([*INDEPENDENT, *SHORT]) + loop
    done = subprocess.run(
        ["cc", "-x", "c", "-E", "-P", *flags, "-"],
        input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.findall(r"#pragma\s+(\w+\s+\w+)", done.stdout)
    assert [" ".join(text.split()) for text in found] == ([pragma] if pragma else [])
