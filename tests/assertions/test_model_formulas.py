"""Totals of models: walked, as formulas, and in other languages, all the same."""

import json
import random
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from formula_readers import Latex, Octave

from autotune.assertions.modelling import count_formula, parsed_model
from autotune.assertions.modelling.binding import ModelBinding, bind
from autotune.assertions.modelling.count_polynomial import simplified
from autotune.assertions.modelling.forms import latex_text, octave_text, python_source
from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.symbolic_totals import symbolic_ratios, symbolic_totals
from autotune.assertions.modelling.tree_walk import METRICS, path_counts, rank_counts
from autotune.domain.assertion_model import AssertionModel, ModelNode
from autotune.domain.assertion_record import NamedVariable
from autotune.errors import InputError
from autotune.language import counts, expression

MODELS = Path(__file__).parents[2] / "examples" / "assertions" / "models"


def variable(name: str, domain: str = "", formula: str = "") -> NamedVariable:
    return NamedVariable(name=name, domain=domain, expression=formula)


def block(kind: str, name: str, formula: str, **more: object) -> ModelNode:
    return ModelNode(kind=kind, name=name, expression=formula, **more)


EVERYTHING = AssertionModel(
    name="all parts",
    variables=(
        variable("n", "whole; [1, ]"), variable("nprocs", "power of two; [1, 64]"),
        variable("l", formula="log2(nprocs)"), variable("half", formula="n/2"),
        variable("root", formula="sqrt(n*n)"), variable("end", formula="rank % 3 + 1"),
    ),
    values={"n": 10, "nprocs": 4},
    nodes=(
        block("loop", "outer", "n // 3 + 1", index="i", inner=(
            block("loop", "inner", "i + 1", index="k", inner=(
                block("flop", "f", "2*i*k + k**2 + half"),
                block("load", "a", "8*(n - i if i < half else i)"),
                block("send", "s", "8*2**k + min(i, k)", repeat="l"),
            )),
            block("store", "b", "abs(n - 2*i)*ceil(half) - floor(half)*0"),
            block("recv", "r", "max(8, i)", repeat="end"),
        )),
        ModelNode(kind="sub", name="end of run", repeat="1/2", inner=(
            block("coll", "norm", "8*n % 7 + 1", operation="allreduce"),
            block("flop", "real", "0.5*n*exp(0) + root"),
            block("flop", "real", "log(n + 1)"),
        )),
    ),
)  # fmt: skip


def loaded(name: str) -> ParsedModel:
    if name == "all":
        return parsed_model.parse(EVERYTHING)
    return parsed_model.load(MODELS / f"{name}.json")


def drawn(model: ParsedModel, chance: random.Random) -> tuple[ModelBinding, int]:
    """Valid values for all inputs, and a rank."""
    large = {"na": 5000, "nonzer": 20, "niter": 50, "problem_size": 60, "n": 25}
    values = {name: chance.randint(1, most) for name, most in large.items() if name in model.inputs}
    if "problem_size" in values:
        values |= {"nprocs": chance.randint(1, 5) ** 2}
        values["problem_size"] += 5
    else:
        values |= {"nprocs": 2 ** chance.randint(0, 6)}
    return bind(model, values), chance.randrange(values["nprocs"])


def close(first: object, second: object) -> bool:
    """Equal, or as near as rounded numbers are."""
    if isinstance(first, float) or isinstance(second, float):
        return first == pytest.approx(float(second), rel=1e-11, abs=1e-9)
    return first == second


@pytest.mark.parametrize("name", ["cg", "sp", "all"])
def test_formulas_in_all_languages_give_what_the_tree_gives(name: str) -> None:
    """On 1,000 random bindings together: walk, formula, Python, Octave and LaTeX."""
    model = loaded(name)
    totals = symbolic_totals(model)
    assert {t.metric for t in totals} >= {"flops", "messages", "volume", "receives"}
    scope: dict = {}
    source = python_source.python_source(model, totals)
    exec(compile(source, "generated", "exec"), scope)
    function = scope[python_source.identifier(model.model.name)]
    evaluate = python_source.python_callable(model, totals)
    octave, latex = octave_text.octave(model, totals), latex_text.latex(model, totals)
    octave_names = octave_text.OCTAVE.names(octave_text.all_names(model, totals))
    chance = random.Random(7)
    for trial in range({"cg": 500, "sp": 60, "all": 440}[name]):
        binding, rank = drawn(model, chance)
        walked = rank_counts(binding, rank)
        values = {**binding.given, "rank": rank}
        results = function(**binding.given, rank=rank)
        called = evaluate(**binding.given, rank=rank) if trial < 50 else None
        in_octave = Octave.totals(octave, {octave_names[n]: v for n, v in values.items()})
        in_latex = Latex.totals(latex, values)
        for total in totals:
            value = walked[total.metric]
            formula = total.formula.at(binding.at_rank(rank))
            assert close(formula, value), (total.metric, binding.given)
            assert close(results[total.metric], value)
            assert close(in_octave[total.metric], value)
            assert close(in_latex[METRICS[total.metric]], value)
            assert called is None or close(called[total.metric], value)


@pytest.mark.parametrize("name", ["cg", "sp", "all"])
def test_octave_itself_agrees(name: str, tmp_path: Path) -> None:
    program = shutil.which("octave-cli") or shutil.which("octave")
    if program is None:
        pytest.skip("optional: Octave is not installed")
    model = loaded(name)
    totals = symbolic_totals(model)
    function = python_source.identifier(model.model.name)
    (tmp_path / f"{function}.m").write_text(octave_text.octave(model, totals))
    chance = random.Random(3)
    cases = [drawn(model, chance) for _ in range(40)]
    results = ", ".join(f"r{place}" for place in range(len(totals)))
    lines = []
    for binding, rank in cases:
        inputs = ", ".join(str(v) for v in (*binding.given.values(), rank))
        lines.append(f"[{results}] = {function}({inputs}); printf('%.17g ', {results}); disp('')")
    (tmp_path / "script.m").write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [program, "--no-gui", "--norc", "--quiet", "script.m"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    rows = [line.split() for line in done.stdout.splitlines() if line.strip()]
    assert len(rows) == len(cases)
    for (binding, rank), row in zip(cases, rows, strict=True):
        walked = rank_counts(binding, rank)
        numbers = [float(walked[total.metric]) for total in totals]
        assert [float(text) for text in row] == pytest.approx(numbers, rel=1e-12)


def test_simplified_formulas_agree_with_sympy() -> None:
    sympy = pytest.importorskip("sympy", reason="optional: sympy is not installed")
    texts = [
        "2*(l + 1)*v + 3*l - l",
        "(a + b)**3/(2*a)",
        "(n - 1)*n/2 - n**2/2",
        "-(a - b)*(a + b)",
    ]
    for text in texts:
        simple = expression.show(simplified(counts.parse(text)))
        assert sympy.simplify(sympy.sympify(text) - sympy.sympify(simple)) == 0


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("l + l", "2 * l"),
        ("a - a", "0"),
        ("2*(l + 1)*v + 3*l - l", "2 * (l * v + l + v)"),
        ("432*l + 208*v*(l + 1)", "16 * (13 * l * v + 27 * l + 13 * v)"),
        ("log2(2**ceil(x))", "ceil(x)"),
        ("2**3 + sqrt(16)", "12"),
        ("x/2 + x/2", "x"),
        ("a*b/b", "a"),
        ("min(2 + 2, x)", "min(4, x)"),
        ("-x", "-x"),
        ("1 - x", "1 - x"),
    ],
)
def test_formulas_are_simplified(text: str, simple: str) -> None:
    assert expression.show(simplified(counts.parse(text))) == simple


def test_sums_over_an_index_have_a_closed_form_where_they_can() -> None:
    for power in range(5):
        body = counts.parse(f"i**{power} + 3*i")
        total = simplified(count_formula.summed("i", counts.parse("n"), body))
        assert "sum" not in expression.show(total)
        for n in range(6):
            expected = sum(i**power + 3 * i for i in range(n))
            assert count_formula.CountFormula.of(total).at({"n": n}) == expected


def test_totals_of_all_ranks_are_a_sum_over_the_rank() -> None:
    model = loaded("all")
    binding = bind(model, {"n": 7, "nprocs": 8})
    for total in symbolic_totals(model, all_ranks=True, inline=True):
        expected = sum(rank_counts(binding, rank)[total.metric] for rank in range(8))
        assert not total.formula.symbols - {"n", "nprocs"}
        assert close(total.formula.at(binding.given), expected)


def test_totals_and_ratios_of_a_node() -> None:
    model = loaded("cg")
    totals = symbolic_totals(model, model.at("conj_loop/conj_grad/cgmain/d"))
    assert {t.metric: str(t) for t in totals} == {
        "flops": "l", "messages": "l", "volume": "8 * l", "receives": "l", "received": "8 * l",
    }  # fmt: skip
    ratios = {r.name: str(r.formula) for r in symbolic_ratios(totals)}
    assert ratios == {"sent bytes per flop": "8", "bytes per message": "8"}
    everything = loaded("all")
    names = {r.name for r in symbolic_ratios(symbolic_totals(everything))}
    assert "operational intensity" in names
    assert "bytes per flop" in names
    with pytest.raises(InputError, match="did you mean conj_loop/conj_grad"):
        model.at("conj_loop/conj_gradd")


def test_counts_of_paths_add_up() -> None:
    for name in ("cg", "sp", "all"):
        model = loaded(name)
        binding, rank = drawn(model, random.Random(5))
        walked = rank_counts(binding, rank)
        paths = path_counts(binding, rank)
        for metric in METRICS:
            assert close(sum(p.own_counts[metric] for p in paths.values()), walked[metric])


def test_compiled_formulas_are_exact() -> None:
    texts = [
        "2**ceil(log2(p)/2)", "p/3", "p//3 - p % 5", "sqrt(p) + log(p)", "1 if p > 3 else 1/p",
        "max(p, 3)/min(p, 3)", "abs(3 - p)**2", "exp(p/10)", "(p - 4)/(p + 1)",
    ]  # fmt: skip
    for text in texts:
        formula = count_formula.parse(text)
        for p in (1, 2, 3, 4, 7, 8, 16):
            exact = counts.exact(counts.parse(text), {"p": p})
            assert formula.at({"p": p}) == exact
            assert type(formula.at({"p": p})) is type(exact)


# --- wrong input ----------------------------------------------------------------------------


def fault(model: AssertionModel) -> str:
    with pytest.raises(InputError) as error:
        parsed_model.parse(model, "m.json")
    return str(error.value)


def test_every_mistake_of_a_model_is_named_with_its_path() -> None:
    text = fault(
        AssertionModel(
            name="m",
            variables=(
                variable("na"), variable("a", formula="b + 1"), variable("b", formula="na"),
                variable("c", "prime"),
            ),
            nodes=(
                block("loop", "outer", "naa", inner=(
                    block("send", "s", "8 +"), block("coll", "c", "8", operation="alreduce"),
                    block("loop", "x", "", index="na"),
                )),
                block("flopp", "f", "1"),
            ),
        )
    )  # fmt: skip
    for part in (
        "variable a: variable 'b' in 'b + 1' is defined after its use",
        "variable c: 'prime' is no domain; allowed: power of two, square",
        "outer: unknown variable 'naa' in 'naa' (did you mean na?)",
        "outer/s: '8 +' is not an expression",
        "outer/c: unknown collective 'alreduce'",
        "did you mean allreduce?",
        "outer/x: a loop without an expression",
        "outer/x: the index 'na' is the name of a variable",
        "unknown kind 'flopp'",
    ):
        assert part in text, part


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nb": 4}, "'nb'; expected one of na, nonzer, niter, nprocs (did you mean na?)"),
        ({"nprocs": 12}, "nprocs = 12 is not valid; expected power of two (nearest valid"),
        ({"l": 2}, "l is derived: log2(npcols)"),
        ({"na": Fraction(1, 2)}, "na = 1/2 is not valid"),
        ({"na": 10**30}, "na is too large; expected at most 9223372036854775807"),
    ],
)  # fmt: skip
def test_values_outside_of_domains_are_refused(values: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        bind(loaded("cg"), values)
    assert message in str(error.value)


def test_a_derived_variable_outside_its_domain_names_what_to_change() -> None:
    model = parsed_model.parse(
        AssertionModel(
            name="m",
            variables=(variable("na"), variable("nprocs"), variable("n", "whole", "na/nprocs")),
        )
    )
    with pytest.raises(
        InputError, match=r"n = na / nprocs = 5/2 is not valid.*nearest valid na: 8, 12"
    ):
        bind(model, {"na": 10, "nprocs": 4})
    with pytest.raises(InputError, match="na, nprocs: no value in the model"):
        bind(model, {})


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (block("loop", "x", "n - 20"), "x: trips n - 20 is negative: -10 (with n = 10)"),
        (block("loop", "x", "n/4"), "x: trips n / 4 is no whole number: 5/2"),
        (block("send", "x", "-8"), "x: bytes -8 is negative: -8"),
        (block("flop", "x", "1/(n - 10)"), "x: count: division by zero in 1 / (n - 10)"),
        (block("flop", "x", "1", repeat="5 % (n - 10)"), "x: repeat: division by zero in 5 %"),
        (block("send", "x", "1e308*n"), "1e+308 * n is too large"),
        (block("loop", "x", "10**9", index="i", inner=(block("flop", "f", "i"),)), "at most"),
    ],
)  # fmt: skip
def test_counts_without_a_value_name_their_node(node: ModelNode, message: str) -> None:
    model = parsed_model.parse(AssertionModel(name="m", variables=(variable("n"),), nodes=(node,)))
    with pytest.raises(InputError) as error:
        rank_counts(bind(model, {"n": 10, "nprocs": 1}))
    assert message in str(error.value)


def test_a_damaged_file_of_a_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    text = (MODELS / "cg.json").read_text()
    path.write_text(text[:2000])
    with pytest.raises(InputError, match=r"model\.json"):
        parsed_model.load(path)
    path.write_text(json.dumps({**json.loads(text), "schema": "autotune.assertion-model/9"}))
    with pytest.raises(InputError, match=r"autotune\.assertion-model/1"):
        parsed_model.load(path)


def test_a_model_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    head = '{"schema": "autotune.assertion-model/1", "name": "m", "nodes": ['
    for deep, message in ((101, "101 deep; expected 64"), (2000, "model.json"), (90000, "model")):
        inner = '{"kind": "region", "name": "r", "inner": ['
        path.write_text(head + inner * deep + "]}" * deep + "]}")
        with pytest.raises(InputError) as error:
            parsed_model.load(path)
        assert message in str(error.value)
