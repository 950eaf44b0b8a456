"""What a parameter of a program can be, in YAML, in command lines and for a search."""

import random

import pytest
from program_samples import HEAD, read

from autotune.domain.parameter_domain import FlagSet
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import filled
from autotune.errors import ConfigError
from autotune.workloads.program.legal_combinations import LegalCombinations


def described(folder, parameters, *, run="", more=""):
    """The sample program with further parameters, which its run names."""
    folder.joinpath("mm.c").write_text("int main(void) { return 0; }\n")
    text = HEAD.replace("parameters: {block: [8, 64, 512], mode: [fast, safe]}\n", "")
    text = text.replace('"{n}", "{mode}"]', f'"{{n}}", "{{mode}}"{run}]')
    path = folder / "sample.yaml"
    path.write_text(
        f"{text}parameters:\n  block: [8, 64, 512]\n  mode: [fast, safe]\n  {parameters}\n{more}"
    )
    return path


def domain(folder, parameter):
    return read(described(folder, f"x: {parameter}", run=', "{x}"')).domains["x"]


def refused(folder, parameters, run="", more=""):
    with pytest.raises(ConfigError) as raised:
        read(described(folder, parameters, run=run, more=more))
    return str(raised.value)


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        ("{from: 1, to: 5, step: 2}", (1, 3, 5)),
        ("{from: 0.0, to: 1.0, values: 5}", (0.0, 0.25, 0.5, 0.75, 1.0)),
        ("{from: 0.01, to: 100.0, log: true, values: 5}", (0.01, 0.1, 1.0, 10.0, 100.0)),
        ("{from: 1, to: 1000, log: true, values: 4}", (1, 10, 100, 1000)),
        ("{from: 1, to: 4, log: true}", (1, 2, 3, 4)),
        ("{ordered: [low, medium, high]}", ("low", "medium", "high")),
        ("{permutation: [i, j]}", ("i,j", "j,i")),
        ("{values: [1, 2], when: block == 8}", (None, 1, 2)),
        ("{values: [null, 2], when: block == 8}", (None, 2)),
        ("{from: 1, to: 2, step: 1, when: mode == 'fast'}", (None, 1, 2)),
    ],
)
def test_the_values_of_a_domain(tmp_path, parameter, values):
    assert domain(tmp_path, parameter) == values


def test_a_range_of_numbers_has_a_hundred_and_one_values(tmp_path):
    assert len(domain(tmp_path, "{from: 0.0, to: 1.0}")) == 101


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("{from: 5, to: 1, step: 1}", "these values never go from 5 to 1"),
        ("{from: 2.0, to: 1.0}", "these values never go from 2.0 to 1.0"),
        ("{from: 0.0, to: 1.0, log: true}", "a logarithmic scale begins above 0, not at 0.0"),
        ("{from: -1, to: 10, log: true}", "a logarithmic scale begins above 0, not at -1"),
        ("{from: 1, to: 9999999, step: 1}", "more than 4096 values: {from: 1, to: 1000000, log"),
        ("{from: 0.0, to: 1.0, values: 1}", "is not a number of values from 2 to 4096"),
        ("{from: 0.0, to: .nan}", "to: text '.nan' is not a number"),
        ("{from: 0.0}", "from is not of the form {from: 8, to: 64, step: 8}"),
        ("{ordered: [low]}", "is not a list of at least two values"),
        ("{ordered: [low, high], step: 2}", "step beside ordered: ordered stands alone"),
        ("{permutation: [a, b, a]}", "names without commas, each once"),
        ("{permutation: [1, 2, 3, 4, 5, 6, 7, 8, 9]}", "9 names; at most 8 have an order"),
        ("{values: [1, 2], when: blok == 8}", "unknown name 'blok'"),
        ("{values: [1, 2], when: x == 8}", "whether x has a value depends on its own value"),
        ("{values: [1, 2]}", "values is not of the form"),
        ("{from: 1, to: 9, logg: true}", "unknown key 'logg': did you mean log?"),
        ("{order: [low, high]}", "unknown key 'order': did you mean ordered?"),
        ("{values: [1], when: }", "when: nothing is not a condition such as"),
        ("{values: [1], when: block =}", "x: when: 'block =' is not a condition"),
        ("{values: [1], when: block == 8 and block == 64}", "' is never true: x would never have"),
        ("{flags: [-fa], when: block > 600}", "'block > 600' is never true: x would never be set"),
        ("{flags: [{flag: -fa, when: block < 8}, -fb]}", "never true: fa would never be set"),
        ("{flags: [{flag: -fa, when: x > 1}, -fb]}", "whether fa has a value depends on its own"),
        ("{flags: [-fa], when: x > 0}", "depends on its own value"),
        ("{flags: [-fa], when: blok == 8}", "unknown name 'blok'"),
        ("{flags: [{flag: -fa, wenn: x}]}", "is not of the form {flag: -fgcse-las, when:"),
        ("{flags: [{-fa=: }]}", "-fa= has no value"),
        ("{flags: [funroll]}", "'funroll' is not a flag such as -funroll-loops"),
        ("{flags: [-fa, -fa]}", "-fa is here twice"),
        ("{flags: []}", "is not a list of flags"),
        ("{flags: [{-fa=: [1, 1]}]}", "-fa=1 has a value twice"),
        ("{flags: [-fblock, -block]}", "the flag -block is called block here: taken, or no name"),
    ],
)
def test_a_wrong_domain_says_what_is_allowed(tmp_path, parameter, words):
    assert words in refused(tmp_path, f"x: {parameter}", run=', "{x}"')


def test_the_baseline_may_lie_between_the_values_of_a_range(tmp_path):
    text = "x: {from: 0.01, to: 10.0, log: true, values: 4}"
    path = described(tmp_path, text, run=', "{x}"')
    path.write_text(path.read_text().replace("baseline: {block: 64}", "baseline: {x: 0.5}"))
    program = read(path)
    assert program.domains["x"] == (0.01, 0.1, 0.5, 1.0, 10.0)
    assert program.baseline["x"] == 0.5


def test_the_nearest_number_is_named(tmp_path):
    path = described(tmp_path, "x: {from: 4, to: 400, step: 4}", run=', "{x}"')
    path.write_text(path.read_text().replace("baseline: {block: 64}", "baseline: {x: 33}"))
    with pytest.raises(
        ConfigError, match=r"one of 100 values, 4, 8, 12, ... 400 \(did you mean 32"
    ):
        read(path)


def test_parameters_that_hang_on_one_another(tmp_path):
    pair = "x: {values: [1], when: y == 1}\n  y: {values: [1], when: x == 1}"
    assert "depends on its own value" in refused(tmp_path, pair, run=', "{x}", "{y}"')


def test_arguments_that_belong_together_are_left_out_together(tmp_path):
    pair = "deep: [false, true]\n  x: {values: [1, 2], when: deep}"
    program = read(described(tmp_path, pair, run=', "{deep}", ["--depth", "{x}"], "-v"'))
    places = {**program.baseline, "output": "a.out", "n": 512}
    with_depth = filled(program.run, {**places, "deep": True, "x": 2})
    assert with_depth[-3:] == ["--depth", "2", "-v"]
    without = filled(program.run, {**places, "deep": False, "x": None})
    assert without[-1] == "-v"
    assert "--depth" not in without


@pytest.mark.parametrize(
    ("run", "words"),
    [(", []", "a group of arguments is empty"), (', [["a"]]', "a list is not an argument")],
)
def test_groups_of_arguments_hold_arguments(tmp_path, run, words):
    assert words in refused(tmp_path, "x: [1, 2]", run=f'{run}, "{{x}}"')


FLAGS = "x: {flags: [-funroll-loops, [-fa, -fno-a], {-falign-loops=: [16, 32]}]}"


def test_a_set_of_flags_is_a_parameter_for_each_flag(tmp_path):
    program = read(described(tmp_path, FLAGS, run=', "{x}"', more='constraints: ["x <= 2"]\n'))
    assert isinstance(program.parameters["x"], FlagSet)
    assert program.domains["falign_loops"] == (None, "-falign-loops=16", "-falign-loops=32")
    assert program.domains["fa"] == (None, "-fa", "-fno-a")
    space = LegalCombinations(program, {"n": 512})
    assert space.count.value == 6 * (2 * 3 * 3 - 1 * 2 * 2)
    values = {
        **program.baseline,
        "funroll_loops": "-funroll-loops",
        "falign_loops": "-falign-loops=16",
    }
    places = {**values, **program.present(values), "output": "a.out", "n": 512}
    assert filled(program.run, places) == [
        "a.out", "512", "fast", "-funroll-loops", "-falign-loops=16"
    ]  # fmt: skip
    assert program.sizes_of_sets(values) == {"x": 2}
    none = {**program.baseline, **program.present(program.baseline), "output": "a.out", "n": 512}
    assert filled(program.run, none) == ["a.out", "512", "fast"]


WRONG = {
    "mode == 'fats'": "'fats' is not one of its values; expected one of fast, safe (did you",
    "'saf' != mode": "text 'saf' is not one of its values",
    "mode in ('fast', 'sfe')": "(..., 'sfe', ...): text 'sfe' is not one of its values",
    "mode == 3": "mode == 3: the number 3 is not one of its values",
    "mode == true": "true is not one of its values",
    "mode < 3": "mode < 3: mode is text; expected a number on both sides",
    "block <= '8'": "'8' is no number",
    "block == '8'": "text '8' is not one of its values; expected one of 8, 64, 512 (did you mean 8",
    "8 <= block <= mode": "block is a number, mode is text",
    "mode != block": "mode is text, block is a number; expected two of the same type",
    "fa == '-fb'": "text '-fb' is not one of its values; expected one of -fa",
    "x == 'all'": "x == 'all': text 'all' is not one of its values; expected one of 0, 1, 2, 3",
}


@pytest.mark.parametrize(("condition", "words"), WRONG.items())
def test_a_comparison_that_can_never_hold_is_refused_where_it_stands(tmp_path, condition, words):
    flags = FLAGS.replace("[-fa, -fno-a]", "-fa")
    rule = refused(tmp_path, flags, run=', "{x}"', more=f'constraints: ["{condition}"]\n')
    assert words in rule
    assert "sample.yaml:15:15: " in rule
    other = refused(
        tmp_path,
        f'{flags}\n  y: {{values: [1], when: "{condition}"}}',
        run=', "{x}", "{y}"',
    )
    assert words in other
    assert "sample.yaml:15:3: " in other
    assert "never true" not in other


def test_comparisons_that_may_hold_are_left_alone(tmp_path):
    rules = [
        "block != 9",
        "mode != null",
        "n == 'x' or n > 1",
        "x != 7",
        "threads == 1",
        "fa == null",
    ]
    flags = FLAGS.replace("[-fa, -fno-a]", "-fa")
    more = f"constraints: {rules}\n".replace('"', "'").replace("'n == 'x' or n > 1'", "n > 1")
    assert read(described(tmp_path, flags, run=', "{x}"', more=more)).constraints


def test_a_wrong_domain_has_no_other_mistakes(tmp_path):
    found = refused(
        tmp_path,
        "x: {from: 9, to: 3}",
        run=', "{x}"',
        more="constraints: [x == 5, mode == 'safe' or x != 'none']\n",
    )
    assert "from 9 to 3" in found
    assert "mistakes" not in found
    assert found.count("sample.yaml") == 1


CONDITIONAL = """\
opts: {flags: [-fa, {flag: {-fb=: [1, 2]}, when: fa != null}], when: mode == 'safe'}"""


def test_flags_and_sets_with_conditions(tmp_path):
    program = read(described(tmp_path, CONDITIONAL, run=', "{opts}"'))
    space = LegalCombinations(program, {"n": 512})
    seen = {(v["mode"], v["fa"], v["fb"]) for v in space.listed}
    assert seen == {
        ("fast", None, None),
        ("safe", None, None),
        ("safe", "-fa", None),
        ("safe", "-fa", "-fb=1"),
        ("safe", "-fa", "-fb=2"),
    }
    assert space.count.value == 3 * 5
    full = {"block": 8, "mode": "safe", "fa": "-fa", "fb": "-fb=2"}
    near = {(v["mode"], v["fa"], v["fb"]) for v in space.neighbours(full, random.Random(1))}
    assert ("fast", None, None) in near
    assert ("safe", None, None) in near


def test_a_condition_on_how_many_flags_of_a_set_are_present(tmp_path):
    parameters = f"{FLAGS}\n  y: {{values: [1, 2], when: x >= 2}}"
    program = read(described(tmp_path, parameters, run=', "{x}", "{y}"'))
    space = LegalCombinations(program, {"n": 512})
    two = {**program.baseline, "funroll_loops": "-funroll-loops"}
    near = list(space.neighbours(two, random.Random(1)))
    assert any(v["fa"] is not None and v["y"] in (1, 2) for v in near)


def test_a_set_that_no_command_names(tmp_path):
    assert "x is used by neither build nor run" in refused(tmp_path, FLAGS)


def test_the_baseline_has_no_value_where_a_condition_is_false(tmp_path):
    conditional = "x: {values: [7, 9], when: mode == 'safe'}"
    program = read(described(tmp_path, conditional, run=', "{x}"'))
    assert program.baseline["x"] is None
    flag = read(described(tmp_path, FLAGS, run=', "{x}"'))
    assert flag.baseline["funroll_loops"] is None


def test_what_a_search_sees_of_orders_and_permutations(tmp_path):
    both = "x: {ordered: [low, medium, high]}\n  y: {permutation: [i, j, k]}"
    program = read(described(tmp_path, both, run=', "{x}", "{y}"'))
    seen = program.coordinates({"block": 8, "x": "high", "y": "j,i,k"})
    assert seen == {"block": 8, "x": 2, "y i<j": False, "y i<k": True, "y j<k": True}


def test_the_name_of_a_problem_tells_a_number_from_a_name_that_ends_in_one(tmp_path):
    path = described(tmp_path, "x: [1]", run=', "{x}", "{argument1}", "{level2}"')
    stated = "arguments: {argument1: 1500, level2: fast, "
    path.write_text(path.read_text().replace("arguments: {", stated))
    program = read(path)
    problem = ProgramProblem(program=program, arguments=dict(program.arguments))
    assert problem.label.startswith(f"{program.name}-argument1_1500-level2fast-n")
