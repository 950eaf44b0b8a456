"""Damaged and hostile files: an error that says where, or a stated treatment; never a traceback."""

from pathlib import Path

import pytest

from autotune.errors import InputError
from autotune.files.parsing.faults import Faults, printable
from autotune.files.parsing.xml_tree import parse
from autotune.files.tables import read, read_model, read_one

NEW = (
    '{"parameters":%s,"measurements":{"m":{"t":'
    '[{"point":%s,"values":[2]},{"point":[2],"values":[3]}]}}}'
)
OLD = (
    '{"parameters":[%s],"callpaths":[{"id":1,"name":"c"}],"metrics":[{"id":1,"name":"t"}],'
    '"coordinates":[{"id":1,"parameter_value_pairs":[{"parameter_id":%s,"parameter_value":"3"}]}],'
    '"measurements":[{"coordinate_id":1,"callpath_id":1,"metric_id":1,"value":2}]}'
)
ROW = (
    '<results><row><data columname="%s">%s</data><data columname="Performance">3</data></row>'
    "</results>"
)
CACHE = '{"tune_params_keys":["b"],"cache":{"1":{"b":1,"time":%s}}}'
DIGITS = "9" * 5000


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (",,\n", "lines without a value"),
        ("," * 10_001 + "\n1\n", "more than 10000 columns"),
        ("a,t\n1,2\n".encode("utf-16"), "iconv -f UTF-16"),
        ("a\x1b[31m,t\n1,2\n2,3\n", r"a name with control characters: a\\x1b\[31m"),
        ("a,t\n\x1b]0;x,2\ny,3\n", "a value of a with control characters"),
        ("a,b,t\n1,1,2\n2,1,0\n", "line 3 .0.; the same in every row.*a = 1"),
        (NEW % ('["\\ud800"]', "[1]"), r"control characters: \\ud800"),
        (NEW % ('["p","p"]', "[1]"), "a list of names, each once"),
        (NEW % ("[1]", "[1]"), "a list of names"),
        (NEW % ('["p"]', f"[{DIGITS}]"), "missing value left out"),
        ('{"parameters":["p"],"measurements":{"m":{},"m":{}}}', "the key 'm' twice"),
        (OLD % ('{"id":[1],"name":"p"}', "{}"), "an unknown parameter_id"),
        (OLD % ('{"id":1,"name":"p"},{"id":1,"name":"q"}', "1"), "the id 1 again"),
        (
            OLD % ('{"id":1,"name":"p"},{"id":2,"name":"p"}', "1"),
            "the name 'p'; expected text",
        ),
        ('{"params":{"p":1},"value":2}\nnonsense\n', ":2: 'nonsense'; expected a JSON object"),
        (CACHE % DIGITS, "a positive number"),
        ("PARAMETER p\nPARAMETER p\nPOINTS (1 2)\nDATA 1\n", "PARAMETER p again"),
        ("PARAMETER p\nPOINTS 1 1e999\nDATA 1\nDATA 2\n", "the point .1e999."),
        ("PARAMETER p\nPOINTS true 2\nDATA 1\nDATA 2\n", "the point .true."),
        ("PARAMETER a b\nPOINTS (1 2) (3 4\nDATA 1\n", "between its own parentheses"),
        (ROW % ("Performance", "2"), "Performance twice in a row"),
        (ROW % ("NumericOptions", "x;3,x;4,"), "each name once"),
        ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>', "document type"),
        ("<a>" * 100, "nested more than 64"),
    ],
)
def test_what_is_damaged_or_said_twice_is_an_error(
    tmp_path: Path, content: str | bytes, match: str
) -> None:
    with pytest.raises(InputError, match=match) as caught:
        read(written(tmp_path, content))
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_numbers_that_no_float_holds_are_missing_values(tmp_path: Path) -> None:
    text = f"a,t\n1e999,1\n{DIGITS},1\n-inf,1\n1,2\n3,4\n5,1e999\n7,\x1b[31m\n9,1_0\n"
    table = read_one(written(tmp_path, text))
    assert table.inputs.rows == ((1,), (3,))
    assert table.parameters[0].numeric
    said = "\n".join(table.treated)
    assert "3 rows with a missing value left out" in said
    assert "line 7 (1e999), line 8 (\\x1b[31m), line 9 (1_0)" in said


def test_underscores_make_text_not_numbers(tmp_path: Path) -> None:
    table = read_one(written(tmp_path, "size,t\n1_0,2\n2_0,3\n"))
    assert table.parameters[0].values == ("1_0", "2_0")


def test_all_columns_without_a_name_are_left_out_by_their_place(tmp_path: Path) -> None:
    table = read_one(written(tmp_path, "a,,b,,t\n1,9,2,8,3\n2,9,3,8,4\n"))
    assert table.inputs.rows == ((1, 2), (2, 3))
    assert [note[:8] for note in table.treated] == ["column 2", "column 4"]


def test_a_pipe_or_device_is_read_no_further_than_the_limit(tmp_path: Path) -> None:
    from autotune.files.parsing import text_content as content

    with pytest.raises(InputError, match="too large"):
        content.text(Path("/dev/zero"), Faults("zero"), "CSV", 1 << 16)


def test_elements_are_counted_and_text_of_many_pieces_is_put_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = parse("<a>x<b/>y&amp;z</a>", Faults("f"))
    assert root.text == "xy&z"
    monkeypatch.setattr("autotune.files.parsing.xml_tree._MOST", 3)
    with pytest.raises(InputError, match="more than 3 elements"):
        parse("<a><b/><b/><b/></a>", Faults("f"))


def test_a_long_chain_of_parents_is_no_recursion(tmp_path: Path) -> None:
    options = "".join(
        f"<configurationOption><name>o{i}</name><parent>{f'o{i - 1}' if i else ''}</parent>"
        "</configurationOption>"
        for i in range(2000)
    )
    text = f'<vm name="deep"><binaryOptions>{options}</binaryOptions></vm>'
    model = read_model(written(tmp_path, text))
    assert {parameter.values for parameter in model.parameters} == {(1,)}


def test_names_that_are_no_identifiers_get_one_that_no_option_has(tmp_path: Path) -> None:
    names = ("a b", "option_0", "or")
    options = "".join(
        f"<configurationOption><name>{name}</name><optional>True</optional></configurationOption>"
        for name in names
    )
    text = (
        f'<vm name="odd"><binaryOptions>{options}</binaryOptions><booleanConstraints>'
        "<constraint>!a b | option_0</constraint></booleanConstraints></vm>"
    )
    (rule,) = read_model(written(tmp_path, text)).constraints
    assert not rule.holds({"a b": 1, "option_0": 0})
    assert rule.holds({"a b": 0, "option_0": 0})
    assert set(rule.names) == {"a b", "option_0"}


def test_an_option_implies_one_of_several(tmp_path: Path) -> None:
    def option(name: str, implied: str = "") -> str:
        more = f"<impliedOptions><options>{implied}</options></impliedOptions>" * bool(implied)
        return (
            f"<configurationOption><name>{name}</name><optional>True</optional>{more}"
            "</configurationOption>"
        )

    options = option("a", "b | c") + option("b") + option("c")
    text = f'<vm name="one"><binaryOptions>{options}</binaryOptions></vm>'
    (rule,) = read_model(written(tmp_path, text)).constraints
    assert rule.holds({"a": 1, "b": 0, "c": 1})
    assert not rule.holds({"a": 1, "b": 0, "c": 0})


def test_text_for_a_terminal_has_no_control_characters() -> None:
    assert printable("a\x1b[31m\ud800\tb") == "a\\x1b[31m\\ud800\\tb"
    assert printable("\u00e9\u00a0") == "\u00e9\u00a0"
    assert len(printable("x" * 999)) < 210
