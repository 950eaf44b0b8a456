"""Models of external programs from YAML: what is read, and faults with their places."""

import re
from pathlib import Path

import pytest
from program_samples import DAXPY, HEAD, MARKED, MATMUL, read, written

from autotune.domain.program_model import FormulaModel, KerncraftModel, KernelModel, MarkedModel
from autotune.errors import ConfigError

TOP = HEAD.count("\n")
KERNEL = """\
model:
  kernel: {stencil: star3d-7pt, size: n, space: stencil-blocks, parameters: {bj: block}}
  times: 10
"""
KERNCRAFT = "model: {kerncraft: 'k-{mode}.c', constants: {N: n}, iterations: n}\n"


def faults(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        read(path)
    return str(caught.value)


def test_each_kind_of_model_is_read(tmp_path: Path) -> None:
    sources = {"k-fast.c": DAXPY, "k-safe.c": DAXPY}
    kinds = {
        "model: {formula: n / clock, accuracy: 40 %}\n": FormulaModel,
        KERNCRAFT: KerncraftModel,
        KERNEL: KernelModel,
        MARKED: MarkedModel,
    }
    for text, kind in kinds.items():
        assert isinstance(read(written(tmp_path, text, sources)).model, kind)


def test_the_command_of_marked_loops_is_that_of_the_build(tmp_path: Path) -> None:
    model = read(written(tmp_path, MARKED)).model
    assert isinstance(model, MarkedModel)
    assert model.compile[:3] == ("{compiler}", "{flags}", "-DBLOCK={block}")
    assert model.lines == {"inner": (8, 9)}


def test_an_unknown_name_in_a_formula_has_its_place_and_the_nearest_name(tmp_path: Path) -> None:
    text = 'model:\n  formula:\n    work: 2 * n**3 / flosp\n    wait: "bandwith_L2"\n'
    told = faults(written(tmp_path, text))
    assert f"sample.yaml:{TOP + 3}:11: unknown name 'flosp'" in told
    assert "did you mean flops?" in told
    assert f"sample.yaml:{TOP + 4}:11: unknown name 'bandwith_L2'" in told
    assert "did you mean bandwidth_L2?" in told


@pytest.mark.parametrize(
    ("line", "place", "words"),
    [
        ("formula: 2 * (n", "2:12", "is not a formula"),
        ("formula: [1]", "2:3", "is not a formula"),
        ("formula: eval(n)", "2:12", "the functions are"),
        ("formula: n\n  accuracy: -1", "3:13", "is not a share such as 30 %"),
        ("formula: n\n  loops: []", "3:3", "unknown key 'loops'"),
        ("formla: n", "2:3", "unknown key 'formla'"),
        ("kerncraft: k.c\n  iterations: n", "2:14", "there is no file"),
        ("kerncraft: 'k-{mod}.c'\n  iterations: n", "2:14", "did you mean {mode}?"),
        ("kerncraft: mm.c", "1:1", "the key 'iterations' is missing"),
        ("marked: mn.c\n  loops: [{name: inner, iterations: 1}]", "2:11", "did you mean mm.c?"),
        ("marked: mm.c\n  loops: [{name: iner, iterations: 1}]", "3:18", "did you mean inner?"),
        ("marked: mm.c\n  loops: [{name: inner}]", "3:11", "the key 'iterations' is missing"),
        (
            "marked: mm.c\n  compile: ['{cmpiler}']\n  loops: [{name: inner, iterations: 1}]",
            "3:13",
            "did you mean {compiler}?",
        ),
        ("kerncraft: mm.c\n  constants: {k0: n}\n  iterations: n", "3:15", "names 'k0'"),
        ("marked: mm.f90\n  loops: [{name: inner, iterations: 1}]", "2:11", "C or C++"),
        ("kernel: {stencil: star3d-7pt, size: n, space: pirk}", "2:49", "a space for a stencil"),
        (
            "kernel: {stencil: star3d-7pt, size: [n, n], space: stencil-blocks}",
            "2:33",
            "one, or 3",
        ),
        (
            "kernel: {stencil: star3d-7pt, size: n, space: stencil-blocks, parameters: {bjj: 1}}",
            "2:78",
            "did you mean bj?",
        ),
        ("kernel: {ivp: heat2d, size: n, space: pirk}", "2:3", "the key 'method' is missing"),
        ("kernel: {size: n, space: pirk}", "2:3", "one of stencil and ivp"),
    ],
)
def test_wrong_models_are_told_with_their_place(
    tmp_path: Path, line: str, place: str, words: str
) -> None:
    told = faults(written(tmp_path, f"model:\n  {line}\n"))
    row, column = map(int, place.split(":"))
    assert words in told
    assert re.search(rf"sample\.yaml:{TOP + row}:{column}: ", told), told


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("/* autotune: loop inner */\nint x;\nfor (;;) ;\n", 1, "no loop begins right behind"),
        ("/* autotune: lop inner */\nfor (;;) ;\n", 1, "a mark has the form"),
        (MATMUL + MATMUL, 18, "a second loop is marked as 'inner'"),
    ],
)
def test_wrong_marks_are_told_with_their_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    told = faults(written(tmp_path, MARKED, {"mm.c": text}))
    assert f"mm.c:{line}: {words}" in told


def test_a_build_without_the_compiler_needs_the_key_compile(tmp_path: Path) -> None:
    path = written(tmp_path, MARKED)
    text = path.read_text(encoding="utf-8").replace('"{compiler}", "{flags}"', '"make", "{block}"')
    path.write_text(text, encoding="utf-8")
    assert "a key compile" in faults(path)
    path.write_text(text + '  compile: ["{compiler}", "-DBLOCK={block}"]\n', encoding="utf-8")
    assert isinstance(read(path).model, MarkedModel)
