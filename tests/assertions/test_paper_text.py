"""The text form of a model (figure 6 of Alam and Vetter 2006) and its control flow (figure 11)."""

from pathlib import Path

import pytest

from autotune.assertions.modelling import parsed_model
from autotune.assertions.modelling.binding import bind
from autotune.assertions.modelling.forms import flow_text, paper_text
from autotune.assertions.modelling.symbolic_totals import symbolic_totals
from autotune.errors import InputError

MODELS = Path(__file__).parents[2] / "examples" / "assertions" / "models"
FIGURE_6 = """\
1:num_proc_cols:2^ceil(log(nprocs)/(2*log(2)))
2:loop:niter
3:loop:l2npcols
4:mpi_irecv:dp*2
4:mpi_send:dp*2
4:mpi_wait:
4:loop:cgitmax
5:loop:l2npcols
6:mpi_irecv:dp*na/num_proc_cols
.....
"""


def test_the_published_text_is_read() -> None:
    model = paper_text.read(FIGURE_6, "cg", "cg.txt")
    derived = {v.name: v.expression for v in model.variables if v.expression}
    assert derived == {"num_proc_cols": "2**ceil(log2(nprocs) / 2)"}
    assert {v.name for v in model.variables} - set(derived) == {
        "nprocs", "niter", "l2npcols", "dp", "cgitmax", "na",
    }  # fmt: skip
    (outer,) = model.nodes
    (reduction,) = outer.inner
    assert [node.kind for node in reduction.inner] == ["recv", "send", "loop"]
    assert [node.nonblocking for node in reduction.inner] == [True, False, False]
    totals = {t.metric: str(t) for t in symbolic_totals(parsed_model.parse(model))}
    assert totals["volume"] == "2 * dp * l2npcols * niter"
    assert totals["receives"] == "l2npcols * niter * (cgitmax * l2npcols + 1)"


def test_logarithms_of_the_published_text_are_exact() -> None:
    """log(2^29)/log(2) is not 29 in double precision."""
    model = parsed_model.parse(paper_text.read(FIGURE_6, "cg", "cg.txt"))
    values = dict.fromkeys(model.inputs, 1)
    for power in (29, 31, 39, 47):
        bound = bind(model, {**values, "nprocs": 2**power}).at_rank(0)
        assert bound["num_proc_cols"] == 2 ** -(-power // 2)


@pytest.mark.parametrize("name", ["cg", "sp"])
def test_a_model_survives_its_text(name: str) -> None:
    model = parsed_model.load(MODELS / f"{name}.json")
    text = paper_text.write(model.model)
    again = paper_text.read(text, model.model.name, "text")
    assert paper_text.write(again) == text
    assert len(list(parsed_model.parse(again).walk())) == len(list(model.walk()))
    first = [(t.metric, str(t)) for t in symbolic_totals(model)]
    second = [(t.metric, str(t)) for t in symbolic_totals(parsed_model.parse(again))]
    assert second == first
    assert [v.domain for v in again.variables if v.domain]


def test_every_wrong_line_is_named() -> None:
    text = (
        "2:loop:niter\n3:mpi_sned:8\n3:loop:a^b^c\nno line\n2:flop:2*n\n3:flop:3\n2:loop:1+\n"
        "2:loop:\n1:x:2\n1:x:3\n2:mpi_allreduce:f(8)\n2:lo-op:3\n"
    )
    with pytest.raises(InputError) as error:
        paper_text.read(text, "m", "m.txt")
    faults = [str(fault) for fault in error.value.faults]
    for line, part in (
        (2, "did you mean mpi_send?"), (3, "may mean two things"), (4, "depth:type:expression"),
        (6, "inside of the flop"), (7, "is not an expression"), (8, "no expression"),
        (10, "x = 3 was 2 before"), (11, "unknown function 'f'"), (12, "neither a type nor a name"),
    ):  # fmt: skip
        assert any(f.startswith(f"m.txt:{line}: ") and part in f for f in faults), (line, faults)
    assert len(faults) == 9
    with pytest.raises(InputError, match="no line with a depth"):
        paper_text.read("\n....\n", "m", "m.txt")


def test_powers_of_matlab() -> None:
    read = paper_text.read(
        "1:a:2^(b^2)\n1:c:mod(b, 3)^2\n1:d:log(b)/log(2)*5\n1:e:log(b)/2\n", "m", "m"
    )
    assert {v.name: v.expression for v in read.variables if v.expression} == {
        "a": "2**b**2", "c": "(b % 3)**2", "d": "log2(b) * 5", "e": "log(b) / 2",
    }  # fmt: skip
    assert "1:a:2^(b^2)" in paper_text.write(read)


def test_the_control_flow_is_that_of_figure_11() -> None:
    model = parsed_model.load(MODELS / "cg.json").model
    text = flow_text.control_flow(model)
    assert text.startswith("loop (NAME=conj_loop) (COUNT=niter + 1)\n{\n  conj_grad()\n  {\n")
    assert "      mpi_irecv (NAME=rho0_recv) (SIZE=8)" in text
    assert text.count("{") == text.count("}")


def test_a_text_that_is_too_deep_is_refused() -> None:
    text = "".join(f"{depth}:loop:2\n" for depth in range(1, 2000))
    with pytest.raises(InputError, match="too deep"):
        paper_text.read(text, "m", "m.txt")
