"""SPL Conqueror's variability models and measurements, as its format describes them."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from autotune.domain.tables.table import MeasurementTable, Tables
from autotune.errors import InputError
from autotune.files.tables import read, read_model
from autotune.files.tables.spl import spl_model
from autotune.files.tables.spl.spl_language import Language

MODEL = """\
<vm name="solver">
  <binaryOptions>
    <configurationOption>
      <name>root</name><prefix/><postfix/><parent/>
      <impliedOptions /><excludedOptions /><optional>False</optional>
    </configurationOption>
    <configurationOption>
      <name>smoother</name><parent>root</parent><optional>False</optional>
    </configurationOption>
    <configurationOption>
      <name>Jacobi</name><parent>smoother</parent>
      <excludedOptions><options>GaussSeidel</options></excludedOptions><optional>False</optional>
    </configurationOption>
    <configurationOption>
      <name>GaussSeidel</name><parent>smoother</parent>
      <excludedOptions><options>Jacobi</options></excludedOptions><optional>False</optional>
    </configurationOption>
    <configurationOption>
      <name>red-black</name><parent>GaussSeidel</parent>
      <impliedOptions><options>vector</options></impliedOptions><optional>True</optional>
    </configurationOption>
    <configurationOption>
      <name>vector</name><parent>root</parent><optional>True</optional>
    </configurationOption>
  </binaryOptions>
  <numericOptions>
    <configurationOption>
      <name>pre</name><parent>root</parent>
      <minValue>0</minValue><maxValue>6</maxValue><stepFunction>n + 2</stepFunction>
    </configurationOption>
    <configurationOption>
      <name>omega</name><parent>root</parent>
      <minValue>0,1</minValue><maxValue>0,5</maxValue><stepFunction>omega + 0,1</stepFunction>
    </configurationOption>
    <configurationOption>
      <name>block</name><parent>root</parent><values>8;64;16</values>
    </configurationOption>
  </numericOptions>
  <booleanConstraints>
    <constraint>!red-black | !Jacobi</constraint>
    <constraint>vector =&gt; GaussSeidel</constraint>
  </booleanConstraints>
  <nonBooleanConstraints>
    <constraint>vector * pre &gt;= 2</constraint>
  </nonBooleanConstraints>
  <mixedConstraints>
    <constraint req="all" exprKind="neg">vector * block = 8</constraint>
  </mixedConstraints>
</vm>
"""


def row(binary: str, numeric: str, performance: str, column: str = "columname") -> str:
    return f"""
  <row>
    <data {column}="Configuration">
      {binary}
    </data>
    <data {column}="Variable Features">{numeric}</data>
    <data {column}="Performance">{performance}</data>
    <data {column}="Footprint">17</data>
  </row>"""


RESULTS = "<results>" + "".join(
    [
        row("root,smoother,Jacobi,", "pre;0,omega;0.1,block;8,", "10,5"),
        row("root,smoother,GaussSeidel,vector,", "pre;2,omega;0.3,block;16,", "7.25"),
        row("root,smoother,GaussSeidel,vector,red-black,", "pre;4,omega;0.5,block;64,", "6"),
    ]
)
RESULTS = f'<?xml version="1.0" encoding="UTF-8"?>\n{RESULTS}\n</results>\n'


def write(tmp_path: Path, text: str, name: str = "results.xml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def one(path: Path, **options: object) -> MeasurementTable:
    found = read(path, **options)
    assert isinstance(found, MeasurementTable)
    return found


# --- variability models ---------------------------------------------------------------------


def test_options_become_parameters_with_domains(tmp_path: Path) -> None:
    model = read_model(write(tmp_path, MODEL, "vm.xml"))
    domains = {parameter.name: parameter.values for parameter in model.parameters}
    assert model.name == "solver"
    assert domains == {
        "root": (1,),
        "smoother": (1,),
        "Jacobi": (0, 1),
        "GaussSeidel": (0, 1),
        "red-black": (0, 1),
        "vector": (0, 1),
        "pre": (0, 2, 4, 6),
        "omega": (0.1, 0.2, 0.3, 0.4, 0.5),
        "block": (8, 16, 64),
    }


def test_constraints_allow_exactly_the_configurations_that_the_model_does(tmp_path: Path) -> None:
    model = read_model(write(tmp_path, MODEL, "vm.xml"))
    names = ["Jacobi", "GaussSeidel", "red-black", "vector"]
    allowed = []
    for flags in itertools.product((0, 1), repeat=4):
        for pre, block in itertools.product((0, 2, 4, 6), (8, 16, 64)):
            values = {"root": 1, "smoother": 1, "pre": pre, "omega": 0.1, "block": block}
            values |= dict(zip(names, flags, strict=True))
            if all(constraint.holds(values) for constraint in model.constraints):
                allowed.append((*flags, pre, block))
    expected = [(1, 0, 0, 0, pre, block) for pre in (0, 2, 4, 6) for block in (8, 16, 64)]
    expected += [(0, 1, 0, 0, pre, block) for pre in (0, 2, 4, 6) for block in (8, 16, 64)]
    for red in (0, 1):  # vector: pre at least 2, block not 8; red-black implies vector
        expected += [(0, 1, red, 1, pre, block) for pre in (2, 4, 6) for block in (16, 64)]
    assert sorted(allowed) == sorted(expected)


def test_one_of_the_options_asks_for_all_of_them(tmp_path: Path) -> None:
    text = MODEL.replace('req="all" exprKind="neg"', 'req="one" exprKind="pos"').replace(
        "vector * block = 8", "vector + red-black = 2"
    )
    rule = read_model(write(tmp_path, text, "vm.xml")).constraints[-1]
    assert rule.holds({"vector": 0, "red-black": 0})
    assert not rule.holds({"vector": 1, "red-black": 0})
    assert rule.holds({"vector": 1, "red-black": 1})


@pytest.mark.parametrize(
    ("step", "values"),
    [("n * 2", (1, 2, 4)), ("block + 1", (1, 2, 3, 4, 5, 6)), ("2 * n + 1", (1, 3))],
)
def test_step_functions(tmp_path: Path, step: str, values: tuple[int, ...]) -> None:
    text = MODEL.replace(
        "<values>8;64;16</values>",
        f"<minValue>1</minValue><maxValue>6</maxValue><stepFunction>{step}</stepFunction>",
    )
    model = read_model(write(tmp_path, text, "vm.xml"))
    assert model.parameters[-1].values == values


def test_too_many_values_are_an_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spl_model, "_MOST_VALUES", 1000)
    text = MODEL.replace("<maxValue>6</maxValue>", "<maxValue>1e9</maxValue>")
    model = read_model(write(tmp_path, text, "vm.xml"))
    pre = next(parameter for parameter in model.parameters if parameter.name == "pre")
    assert pre.continuous
    assert pre.high == 1e9
    assert any("more than 1000 values" in note for note in model.notes)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("n + 2", "n - 2", "pre: 'n - 2' is -2 after 0: it does not grow"),
        ("n + 2", "n + m", "not a function of the value before it"),
        ("n + 2", "__import__('os')", "step function such as"),
        ("<maxValue>6", "<maxValue>-6", "pre: no range"),
        ("8;64;16", "8;x", "block: values '8;x'.*numbers between semicolons"),
        ("<options>vector</options>", "<options>vectro</options>", "vectro.*did you mean vector"),
        ("!red-black | !Jacobi", "!red-black | !Jacoby", "no option 'Jacoby'.*mean Jacobi"),
        ("!red-black | !Jacobi", "!red-black |", "constraint: "),
        ("vector * pre &gt;= 2", "vector * pre", "compares nothing"),
        ('req="all"', 'req="some"', "req='some', neither all nor one"),
        ("<name>vector</name>", "<name>Jacobi</name>", "two options named 'Jacobi'"),
        ("<name>pre</name>", "<name></name>", "an option without a name"),
        ('<vm name="solver">', "<wm>", "mismatched tag"),
    ],
)
def test_a_wrong_model_says_where_and_what(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in MODEL
    with pytest.raises(InputError, match=said) as caught:
        read_model(write(tmp_path, MODEL.replace(old, new), "vm.xml"))
    assert "vm.xml" in str(caught.value)


def test_the_step_function_of_a_model_is_never_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    text = MODEL.replace("n + 2", f"open('{marker}', 'w')")
    with pytest.raises(InputError):
        read_model(write(tmp_path, text, "vm.xml"))
    assert not marker.exists()


# --- measurements ---------------------------------------------------------------------------


def test_measurements_with_their_model(tmp_path: Path) -> None:
    model = write(tmp_path, MODEL, "vm.xml")
    table = one(write(tmp_path, RESULTS), model=model, response="Performance")
    assert table.inputs.names == (
        "Jacobi", "GaussSeidel", "red-black", "vector", "pre", "omega", "block"
    )  # fmt: skip
    assert table.inputs.rows[0] == (1, 0, 0, 0, 0, 0.1, 8)
    assert table.inputs.rows[2] == (0, 1, 1, 1, 4, 0.5, 64)
    np.testing.assert_allclose(table.response, [10.5, 7.25, 6.0])
    assert table.inputs.parameter("pre").values == (0, 2, 4, 6)
    assert table.quantity == "Performance"
    assert dict(table.constants) == {"root": 1, "smoother": 1}
    assert table.treated == ("the same in every row, so no parameter: root = 1, smoother = 1",)
    assert table.constraints
    assert all(rule.holds(table.inputs.values(0)) for rule in table.constraints)


def test_measurements_alone_have_the_options_that_occur(tmp_path: Path) -> None:
    found = read(write(tmp_path, RESULTS))
    assert isinstance(found, Tables)
    assert found.names == ("Performance", "Footprint")
    table = found.table("Performance")
    assert set(table.inputs.names) == {
        "Jacobi", "GaussSeidel", "vector", "red-black", "pre", "omega", "block"
    }  # fmt: skip
    assert table.inputs.parameter("pre").values == (0, 2, 4)


@pytest.mark.parametrize("column", ["columname", "columnname", "column"])
def test_the_misspelt_attribute_is_the_format_and_others_are_read_too(
    tmp_path: Path, column: str
) -> None:
    text = RESULTS.replace("columname", column)
    assert len(one(write(tmp_path, text), response="Performance")) == 3


def test_the_newer_names_of_the_columns(tmp_path: Path) -> None:
    text = RESULTS.replace('"Configuration"', '"BinaryOptions"').replace(
        '"Variable Features"', '"NumericOptions"'
    )
    assert one(write(tmp_path, text), response="Performance").inputs.rows[0][-1] == 8


def test_several_measurements_of_a_row_and_failed_ones(tmp_path: Path) -> None:
    text = RESULTS.replace("<results>", '<results separator="|" decimalDelimiter=",">')
    text = text.replace("<row>", '<row many="true">').replace("10,5", "10,5|11,5|-1")
    text = text.replace(">6<", ">-1|-1<")
    table = one(write(tmp_path, text), response="Performance")
    assert table.repetitions[0] == (10.5, 11.5)
    assert len(table) == 2
    said = "\n".join(table.treated)
    assert "1 row without a positive, finite time left out" in said
    assert "(-1, -1)" in said


def test_csv_between_semicolons_with_a_model(tmp_path: Path) -> None:
    model = write(tmp_path, MODEL, "vm.xml")
    text = (
        "Jacobi;GaussSeidel;red-black;vector;pre;omega;block;Performance;Footprint\n"
        "true;false;0;0;0;0,1;8;10,5;1\nfalse;true;0;1;2;0,3;16;7,25;2\n"
    )
    found = read(write(tmp_path, text, "results.csv"), model=model)
    assert isinstance(found, Tables)
    assert found.names == ("Performance", "Footprint")
    table = found.table("Performance")
    assert table.inputs.rows[1] == (0, 1, 0, 1, 2, 0.3, 16)
    np.testing.assert_allclose(table.response, [10.5, 7.25])


def test_csv_without_a_header_lists_the_chosen_options(tmp_path: Path) -> None:
    start = MODEL.index("<numericOptions>")
    end = MODEL.index("</numericOptions>") + len("</numericOptions>")
    only = MODEL[:start] + MODEL[end:]
    only = only[: only.index("<nonBooleanConstraints>")] + "</vm>"
    model = write(tmp_path, only, "vm.xml")
    text = "root;smoother;Jacobi;12,5\nroot;smoother;GaussSeidel;vector;7\n"
    table = one(write(tmp_path, text, "results.csv"), model=model)
    np.testing.assert_allclose(table.response, [12.5, 7.0])
    assert table.inputs.values(1) == {"Jacobi": 0, "GaussSeidel": 1, "red-black": 0, "vector": 1}
    assert any("red-black is 0 in every row" in note for note in table.treated)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("</results>", "", r"results.xml:\d+:\d+: not well-formed XML: no element found"),
        ("<row>", "<row>&unknown;", "not well-formed XML: undefined entity"),
        ("pre;0", "pre;fast", "numeric option 'pre;fast'; expected name;value"),
        ('columname="Configuration"', 'name="Configuration"', "without a column"),
        ("<results>", "<vm>", "mismatched tag"),
        ("Jacobi", "Jacoby", "options Jacoby"),
    ],
)
def test_wrong_measurements_say_where_and_what(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    model = write(tmp_path, MODEL, "vm.xml")
    with pytest.raises(InputError, match=said):
        read(write(tmp_path, RESULTS.replace(old, new)), model=model)


def test_a_model_is_no_table_of_measurements(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"<vm>.*a variability model goes beside"):
        read(write(tmp_path, MODEL))


LAUGHS = "".join(f'<!ENTITY a{i + 1} "&a{i};&a{i};">' for i in range(30))
BOMB = f'<!DOCTYPE results [<!ENTITY a0 "ha">{LAUGHS}]>'


@pytest.mark.parametrize(
    "doctype",
    [
        BOMB,
        '<!DOCTYPE results [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE results SYSTEM "http://127.0.0.1:9/none.dtd">',
        '<!DOCTYPE results [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
    ],
)
def test_entities_are_never_expanded_or_fetched(tmp_path: Path, doctype: str) -> None:
    text = RESULTS.replace("<results>", f"{doctype}\n<results>").replace("10,5", "&x;")
    with pytest.raises(InputError, match=r"a document type declaration.*never expanded"):
        read(write(tmp_path, text))
    model = MODEL.replace("<vm", f"{doctype}<vm", 1)
    with pytest.raises(InputError, match="a document type declaration"):
        read_model(write(tmp_path, model, "vm.xml"))


def test_elements_nested_without_end_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nested more than"):
        read(write(tmp_path, "<results>" + "<row>" * 500))


def test_a_long_chain_of_implications_is_refused_as_a_condition() -> None:
    language = Language.of(["a", "b", "c"], [])
    assert language.logic("a => b => c") == "not (a == 1) or (not (b == 1) or (c == 1))"
    with pytest.raises(ValueError, match="at most 50000 characters"):
        language.constraint(language.logic("a=>" * 5000 + "b"))
