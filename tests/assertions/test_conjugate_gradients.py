"""The example of conjugate gradients: the published zeta on every grid of processes."""

import re
from pathlib import Path

import assertion_programs
import pytest

SOURCES = {"c": "cg.c", "fortran": "cg.F90", "python": "cg.py"}
FLAGS = {"c": ("-O2", "-Wextra"), "fortran": ("-O2",), "python": ()}
ZETA = {"S": 8.5971775078648, "W": 10.362595087124, "A": 17.130235054029}


@pytest.fixture(scope="module", params=SOURCES)
def language(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def command(language: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    program = tmp_path_factory.mktemp(language) / "cg"
    source = assertion_programs.EXAMPLES / SOURCES[language]
    return assertion_programs.build(language, source, program, *FLAGS[language])


def zeta(text: str) -> float:
    found = re.search(r"^zeta ([\d.]+),", text, re.M)
    assert found, text
    return float(found.group(1))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_zeta_is_the_published_one(ranks: int, language: str, command: list[str]):
    letter = "S" if language == "python" else "W"
    text = assertion_programs.launch(language, [*command, letter], ranks)
    assert zeta(text) == pytest.approx(ZETA[letter], abs=1e-10)
    grid = {1: "1 x 1", 2: "1 x 2", 4: "2 x 2"}[ranks]
    assert f"class {letter}, {ranks} processes as {grid}" in text


def test_other_grids_and_class_a(tmp_path: Path):
    source = assertion_programs.EXAMPLES / "cg.c"
    command = assertion_programs.build("c", source, tmp_path / "cg", "-O3")
    text = assertion_programs.launch("c", [*command, "A"], 2)
    assert zeta(text) == pytest.approx(ZETA["A"], abs=1e-10)
    for columns, grid in (("0", "2 x 4"), ("2", "4 x 2"), ("1", "8 x 1")):
        text = assertion_programs.launch("c", [*command, "S", "0", columns], 8)
        assert zeta(text) == pytest.approx(ZETA["S"], abs=1e-10)
        assert f"as {grid}" in text


def test_wrong_arguments_are_refused(language: str, command: list[str]):
    text = assertion_programs.launch(language, [*command, "X"], 1, status=2)
    assert "class must be" in text
    text = assertion_programs.launch(language, [*command, "S", "-1"], 1, status=2)
    assert "iterations must not be negative" in text
    if language != "python":  # three interpreters take long to start
        text = assertion_programs.launch(language, [*command, "S"], 3, status=2)
        assert "power of two" in text
