"""Methods and initial value problems: what their files must hold."""

import re

import pytest

from autotune import paths
from autotune.errors import ConfigError
from autotune.files import config
from autotune.language.expression import parse

METHOD = """\
schema: autotune.method/1
title: Radau IIA, order 3
order: 3
source: a book
A:
  - ["5/12", "-1/12"]
  - ["3/4", "1/4"]
b: ["3/4", "1/4"]
c: ["1/3", 1]
"""

IVP = """\
schema: autotune.ivp/1
title: a chain
source: a book
dimension: N
constants: {k: "N - 1", k2: "k**2"}
locals: {s: "sin(t)*j"}
access_distance: 1
limited: true
minimum: 3
stability: 4*k2
regions:
  - {range: "[0, 1)", body: "k2*(y[j+1] - 2*y[j]) + s"}
  - {range: "[1, n - 1)", body: "k2*(y[j-1] - 2*y[j] + y[j+1])"}
  - {range: "[n - 1, n)", body: "k2*(y[j-1] - 2*y[j])"}
initial:
  - {range: "[0, n)", body: "j/k"}
"""


def write(tmp_path, text):
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(tmp_path, read, text):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read(path)
    return [str(fault).replace(str(path), "x.yaml") for fault in caught.value.faults]


def test_a_method_is_read(tmp_path):
    method = config.method(write(tmp_path, METHOD))
    assert method.name == "x"
    assert method.stages == 2
    assert method.A[0] == (5 / 12, -1 / 12)
    assert method.c == (1 / 3, 1.0)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"5/12"', '"6/12"', "x.yaml:6:5: row 1 of A sums to 0.4166"),
        ('"5/12"', "[1]", "A: a list is not an expression"),
        ('"5/12"', '"5/N"', "A: unknown symbol 'N'"),
        ('"5/12"', '"5/0"', "A: division by zero"),
        ('"5/12"', '"5 //"', "'5 //' is not an expression"),
        ('["5/12", "-1/12"]', '["1/3"]', "row 1 of A has 1 elements; expected 2, as b has"),
        ('c: ["1/3", 1]', 'c: ["1/3"]', "c has 1 elements; expected 2, as b has"),
        ("order: 3", "order: 4", "x.yaml:3:8: order 4 is stated, the coefficients give 3"),
        ("order: 3", "order: 0", "order: the number 0; expected at least 1"),
        ("order: 3", "order: 3.0", "order: the number 3.0; expected a whole number"),
        ("order: 3\n", "", "x.yaml:1:1: the key 'order' is missing"),
        ("order:", "ordr:", None),
        ("b:", "B:", None),
        ("source: a book", "source: ''", "expected text that is not empty"),
        ("method/1", "method/2", "version '2' of autotune.method is not known"),
        (
            "method/1",
            "ivp/1",
            "the schema is text 'autotune.ivp/1'; expected autotune.method/1"
            " (a problem names it, `{ivp: FILE, method: NAME, ...}`)",
        ),
        ("schema: autotune.method/1\n", "", "the key 'schema' is missing"),
    ],
)
def test_a_wrong_method(tmp_path, old, new, expected):
    assert old in METHOD
    found = faults(tmp_path, config.method, METHOD.replace(old, new, 1))
    if expected is None:  # a misspelt key is unknown, and the right one missing
        assert "is missing" in found[0]
        assert "unknown key" in found[1]
        assert len(found) == 2
    else:
        assert len(found) == 1, found
        assert expected in found[0]


def test_every_wrong_row_sum_is_named(tmp_path):
    text = METHOD.replace("5/12", "6/12").replace('  - ["3/4"', '  - ["2/4"')
    found = faults(tmp_path, config.method, text)
    assert [fault.split(": ")[0] for fault in found] == ["x.yaml:6:5", "x.yaml:7:5"]


def test_an_ivp_is_read(tmp_path):
    ivp = config.ivp(write(tmp_path, IVP))
    assert ivp.name == "x"
    assert ivp.values(8) == {"N": 8, "n": 8, "k": 7, "k2": 49}
    assert ivp.distance(8) == 1
    assert ivp.locals == {"s": parse("sin(t)*j")}
    assert [str(region) for region in ivp.regions] == ["[0, 1)", "[1, n - 1)", "[n - 1, n)"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"k2*(y[j+1] - 2*y[j]) + s"', '"y[j"', r"12:29: body: 'y\[j' is not an expression"),
        (") + s", ") + q", "12:29: unknown name 'q'; expected one of N, j, k, k2, n, s, t"),
        (") + s", ") + k22", r"unknown name 'k22'; .*\(did you mean k2\?\)"),
        (") + s", ") + z[j]", r"12:29: z\[j\] is not known; expected elements of y"),
        (") + s", ") + y[j][j]", r"y\[j\]\[j\] is not known"),
        (") + s", ") + y[j-1]", r"12:29: region \[0, 1\): y\[j - 1\] leaves y\[0\] .. y\[2\]"),
        (") + s", ") + y[j+2]", r"12:29: .* reaches 2, farther than the access distance 1"),
        (") + s", ") + y[2*j]", r"y\[2 \* j\] is not y\[j \+ a number that does not depend"),
        (") + s", ") + foo(j)", "unknown function 'foo'"),
        ('"[1, n - 1)"', '"[0, n - 1)"', "13:5: regions overlap"),
        ('"[1, n - 1)"', '"[2, n - 1)"', "11:1: regions: no region covers component 1"),
        ('"[n - 1, n)"', '"[n - 1, n + 1)"', "14:5: regions: .* leaves"),
        ('"[n - 1, n)"', '"[n - 1, n]"', r"14:13: range: text '\[n - 1, n\]' is not a range"),
        ('"[n - 1, n)"', '"[n - 1)"', "is not a range"),
        ('"[n - 1, n)"', "5", "is not a range"),
        ('"[n - 1, n)"', '"[n - 1, M)"', "14:13: unknown name 'M'"),
        ('"[n - 1, n)"', '"[n/2, n)"', "14:13: at N = 3: n / 2 = 1.5 is not a whole number"),
        ('range: "[0, n)"', 'range: "[0, n)", columns: "[0, 1)"', "columns without a row length"),
        ('"j/k"', '"y[j]"', r"16:29: y\[j\] is an array element"),
        ("dimension: N", "dimension: M", "4:12: unknown name 'M'; expected one of N"),
        ("dimension: N", "dimension: (N*N)**8", "not in 1 .. 1000000"),
        ("dimension: N", "dimension: N/2", "4:12: at N = 3: N / 2 = 1.5 is not a whole number"),
        ("dimension: N", "dimension: 0", "n = 0, not in 1 .. 1000000"),
        ('k2: "k**2"', 'k2: "k3"', "unknown name 'k3'"),
        ('k2: "k**2"', 'k2: "1/(N - 3)"', "5:29: at N = 3: division by zero"),
        ('k: "N - 1", ', 'n: "N - 1", k: 1, ', "5:13: the name 'n' is taken by the number of comp"),
        ('k: "N - 1", ', 'a-b: "N - 1", k: 1, ', "'a-b' is not a name"),
        ('s: "sin(t)*j"', 's: "z[j]"', r"z\[j\] is not known"),
        ("access_distance: 1", "access_distance: -1", r"-1 = -1 is too small"),
        ("access_distance: 1", "access_distance: j", "unknown name 'j'"),
        ("limited: true", "limited: yes", "8:10: limited: text 'yes'; expected true or false"),
        ("minimum: 3", "minimum: 1", "minimum: the number 1; expected at least 2"),
        ("minimum: 3", "minimum: 100000", "expected at most 64"),
        ("stability: 4*k2", "stability: -k2", "10:12: at N = 3: -k2 is not positive"),
        ("stability: 4*k2\n", "", "1:1: the key 'stability' is missing"),
        ('body: "j/k"', 'boy: "j/k"', None),
    ],
)
def test_a_wrong_ivp(tmp_path, old, new, expected):
    assert old in IVP
    found = faults(tmp_path, config.ivp, IVP.replace(old, new, 1))
    if expected is None:
        assert len(found) == 2
        assert found[1].endswith("(did you mean body?)")
    else:
        assert len(found) == 1, found
        assert re.search(expected, found[0]), found[0]


def test_all_faults_of_an_ivp_at_once(tmp_path):
    text = (
        IVP.replace(") + s", ") + q").replace('"j/k"', '"j/"').replace("title:", "tilte: 1\ntitle:")
    )
    text = text.replace("[1, n - 1)", "[1; n - 1)").replace("stability: 4*k2", "stability: 4*k3")
    found = faults(tmp_path, config.ivp, text)
    assert [fault.split(": ")[0] for fault in found] == [
        "x.yaml:2:1",
        "x.yaml:11:12",
        "x.yaml:13:29",
        "x.yaml:14:13",
        "x.yaml:17:29",
    ]


def test_all_faults_of_regions_at_once(tmp_path):
    """Regions that overlap, leave y or miss components; an element too far away."""
    text = (
        IVP.replace('"[1, n - 1)"', '"[0, n - 1)"')
        .replace('"[n - 1, n)"', '"[n - 1, n + 1)"')
        .replace(") + s", ") + y[j+2]")
        .replace('"[0, n)"', '"[1, n)"')
    )
    found = faults(tmp_path, config.ivp, text)
    places = ["x.yaml:12:29", "x.yaml:13:5", "x.yaml:14:5", "x.yaml:15:1"]
    assert [fault.split(": ")[0] for fault in found] == places
    halves = IVP.replace('"[1, n - 1)"', '"[1, n/2)"').replace('"[n - 1, n)"', '"[n/2, n)"')
    found = faults(tmp_path, config.ivp, halves)
    assert [fault.split(": ")[0] for fault in found] == ["x.yaml:13:13", "x.yaml:14:13"]


@pytest.mark.parametrize("name", paths.names("kernels/method"))
def test_shipped_methods_are_right(name):
    assert config.method(name).name == name


@pytest.mark.parametrize("name", paths.names("kernels/ivp"))
def test_shipped_ivps_are_right(name):
    assert config.ivp(name).name == name


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown ivp 'heat2'.*did you mean heat2d\?"):
        config.ivp("heat2")
    with pytest.raises(ConfigError, match=r"unknown method 'RADAU-IIA7'.*did you mean radau-iia-7"):
        config.method("RADAU-IIA7")
    with pytest.raises(ConfigError, match="there is no file 'nowhere/heat2d\\.yaml'"):
        config.ivp("nowhere/heat2d.yaml")


def test_sums_of_a_right_hand_side_are_read_with_their_places(tmp_path):
    text = IVP.replace("access_distance: 1\nlimited: true", "access_distance: n\nlimited: false")
    text = text.replace(
        "locals:", 'sums: {all: {index: i, range: "[0, n)", body: "s*y[i]"}}\nlocals:'
    )
    text = text.replace('- 2*y[j])"}\ninitial', '- 2*y[j]) + all"}\ninitial')
    total = config.ivp(write(tmp_path, text)).sums["all"]
    assert (total.index, total.body) == ("i", parse("s*y[i]"))
    for change, message in (
        (("s*y[i]", "s*y[l]"), "x.yaml:6:47: unknown name 'l'"),
        (
            ('[0, n)", body', '[0, n + 1)", body'),
            "y[i] is y[0] .. y[3]",
        ),
        (("index: i", "index: s"), "x.yaml:6:21: the name 's' is taken by a local"),
        (('[0, n)", body', '[3, 3)", body'), "is empty"),
        (("index: i, ", ""), "index"),
    ):
        (fault, *_) = faults(tmp_path, config.ivp, text.replace(*change, 1))
        assert message in fault
