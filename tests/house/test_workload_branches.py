"""Few places ask which kind of problem they have before them; the kinds answer for themselves."""

from pathlib import Path

import pytest
from workload_branches import branches

import autotune

MOST = 14
"""May only fall."""
PACKAGE = Path(autotune.__file__).parent


def test_the_kinds_answer_for_themselves() -> None:
    places = branches(PACKAGE)
    print(f"{len(places)} branches, {MOST} at most", *places, sep="\n")  # noqa: T201 - pytest -s
    assert len(places) <= MOST, "\n".join(places)


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(problem, StencilProblem)",
        "isinstance(problem, Problem | StencilProblem)",
        "problem.family == 'ivp'",
        "family in ('ivp', 'stencil')",
        "setup.program is None",
        "1 if self.setup.program else 2",
        "not setup.program",
        "type(problem) is StencilProblem",
        "type(problem) == pr.StencilProblem",
        "hasattr(problem, 'stencil')",
        "isinstance(problem, pr.StencilProblem)",
        "kernel.ivp is None",
        "kernel.stencil is not None",
        "skeleton.family != wanted",
        "problem.family in families",
        "family != wanted",
        "WHOLE[problem.family]",
        "FAMILIES[family]",
        "[k for k in kernels if k.on_grid]",
        "not kernel.on_grid",
        "kernel.on_grid != wanted",
    ],
)
def test_branches_are_seen(tmp_path: Path, line: str) -> None:
    (tmp_path / "commands").mkdir()
    (tmp_path / "workloads").mkdir()
    (tmp_path / "commands" / "flow.py").write_text(f"x = {line}\n")
    (tmp_path / "workloads" / "ivp.py").write_text(f"x = {line}\n")
    (place,) = branches(tmp_path)
    assert "flow.py:1" in place


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(node, loop_tree.Tiles) or kind == 'level'",
        "isinstance(node, loop_tree.Program)",
        "family == 6 and _AMD.get(family)",
        "document.ivp",
        "hasattr(kind, '_fields')",
        "type(value) is tuple",
    ],
)
def test_other_tests_are_none(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(f"x = {line}\n")
    assert branches(tmp_path) == []
