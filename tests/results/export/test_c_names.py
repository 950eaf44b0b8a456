"""Names, texts and values as C has them, and the entries that a decision map gives."""

import re
import shutil
import subprocess
from dataclasses import replace

import fabricated as fake
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.decision_map import Choice, Contender, DecisionMap, MapCell, Summary
from autotune.domain.results import Measurement
from autotune.domain.variant import Build
from autotune.files.store.records import RunRecord, StudyRecord
from autotune.files.store.store_rows import candidate_record
from autotune.results.export import c_names
from autotune.results.export.map_entries import of_map

# --- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Heat2D", "heat2d"), ("3d star (7pt)", "n3d_star_7pt"), ("", "n"), ("--", "n"),
        ("a-b__c", "a_b_c"), ("_x_", "x"), ("größe", "gr_e"), ("π", "n"),
    ],
)  # fmt: skip
def test_a_text_becomes_part_of_an_identifier(text, name):
    assert c_names.lower(text) == name
    assert c_names.upper(text) == name.upper()


@given(st.text(max_size=20))
def test_any_text_becomes_an_identifier_of_c(text):
    assert re.fullmatch(r"[a-z][a-z0-9_]*", c_names.lower(text))


def test_no_name_is_given_out_twice_whatever_the_case():
    names = c_names.UniqueNames(frozenset({"For"}))
    assert [names.new(name) for name in ("for", "FOR", "x", "X", "x_2", "x")] == [
        "for_2", "FOR_3", "x", "X_2", "x_2_2", "x_3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("a b", '"a b"'), ('"', '"\\""'), ("\\", '"\\\\"'), ("??/", '"\\?\\?/"'),
        ("\n1", '"\\0121"'), ("é", '"\\303\\251"'), ("\0" + "7", '"\\0007"'),
    ],
)  # fmt: skip
def test_a_text_becomes_a_literal_of_c(text, literal):
    assert c_names.literal(text) == literal


@given(st.text(max_size=30))
def test_a_comment_neither_ends_nor_begins_one_and_has_one_line(text):
    said = c_names.comment(text)
    assert "*/" not in said
    assert "/*" not in said
    assert "??/" not in said
    assert said.isprintable()


def test_the_comment_of_a_hostile_text_stays_readable():
    assert c_names.comment("/*/ a */\nb ??/") == "/ * / a * / b ?? /"


def test_a_compiler_reads_back_what_a_literal_says(tmp_path):
    gcc = shutil.which("gcc")
    assert gcc is not None, "the tests need gcc"
    texts = ["plain", 'q"\\?', "??/??=", "tab\tnew\nline", "é√", "%s %n", "\x01" + "7"]
    lines = [f"    puts({c_names.literal(text)}); /* {c_names.comment(text)} */" for text in texts]
    source = "#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n    return 0;\n}\n"
    (tmp_path / "a.c").write_text(source, encoding="utf-8")
    command = [gcc, "-std=c99", "-Wall", "-Werror", "a.c", "-o", "a"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "a"], capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"{text}\n" for text in texts)


# --- fields -----------------------------------------------------------------------------------


def only(values, parameter="p"):
    (field,) = c_names.fields("K", {parameter: values})
    return field


@pytest.mark.parametrize(
    ("values", "kind", "optional"),
    [
        ([True, False], "flag", False), ([True, None], "flag", True), ([1, 2], "whole", False),
        ([1, None], "whole", True), ([1, "none"], "whole", True), ([1, 0.5], "number", False),
        ([2**63], "number", False), ([2**63 - 1], "whole", False), (["a", 1], "text", False),
        (["a", "none"], "text", False), (["a", None], "text", True), ([None], "text", True),
        ([True, 1], "text", False),
    ],
)  # fmt: skip
def test_the_kind_of_a_field_is_that_of_its_values(values, kind, optional):
    field = only(values)
    assert (field.kind, field.optional) == (kind, optional)


@pytest.mark.parametrize(
    ("values", "members"),
    [
        ([True], ["int p; /* p */"]),
        ([1], ["long long p; /* p */"]),
        ([0.5, None], ["double p; /* p */", "int p_set; /* 0: not applied */"]),
        (["a"], ["const char *p; /* p */", "int p_id; /* K_P_* */"]),
    ],
)
def test_the_members_of_a_struct(values, members):
    assert list(only(values).members()) == members


@pytest.mark.parametrize(
    ("values", "value", "macros"),
    [
        ([True, False], True, [("P", "1")]),
        ([1, None], None, [("P", "0"), ("P_SET", "0")]),
        ([1, "none"], "none", [("P", "0"), ("P_SET", "0")]),
        ([1, None], 1, [("P", "1"), ("P_SET", "1")]),
        ([2**31, 1], 2**31, [("P", "2147483648LL")]),
        ([-(2**31) - 1, 1], -(2**31) - 1, [("P", "-2147483649LL")]),
        ([2**31 - 1], 2**31 - 1, [("P", "2147483647")]),
        ([0.1, 1], 1, [("P", "1.0")]),
        ([0.1, None], None, [("P", "0.0"), ("P_SET", "0")]),
        (["a", "b"], "b", [("P", '"b"'), ("P_ID", "2")]),
        (["a", None], None, [("P", '""'), ("P_ID", "0"), ("P_SET", "0")]),
        (["a", "none"], "none", [("P", '"none"'), ("P_ID", "K_P_NONE")]),
        ([True, "x"], True, [("P", '"true"'), ("P_ID", "K_P_TRUE")]),
    ],
)
def test_the_macros_of_a_value(values, value, macros):
    field = only(values)
    made = list(field.macros(value))
    named = [(name, text) for name, text in made if not name.endswith("_ID")]
    assert named == [(name, text) for name, text in macros if not name.endswith("_ID")]
    numbers = dict(line.split()[1:] for line in field.numbers())
    ids = [numbers.get(text, text) for name, text in made if name.endswith("_ID")]
    assert ids == [numbers.get(text, text) for name, text in macros if name.endswith("_ID")]
    assert list(field.initialisers(value)) == [text for _, text in made]


def test_the_values_of_a_text_are_numbered_by_macros_of_their_own():
    first, second = c_names.fields("K", {"p": ["a-b", "a b"], "q": ["a"]})
    assert list(first.numbers()) == ["#define K_P_A_B 1", "#define K_P_A_B_2 2"]
    assert list(second.numbers()) == ["#define K_Q_A 1"]


def test_parameters_with_the_names_of_keywords_and_fixed_fields_get_others():
    fields = c_names.fields("K", {"int": [1], "size": [2], "a": ["x"], "a_id": [1], "A": [2]})
    assert [field.name for field in fields] == ["int_2", "size_2", "a", "a_id_2", "a_2"]


@given(st.lists(st.text(max_size=6), min_size=1, max_size=5, unique=True))
def test_the_names_of_fields_differ_whatever_the_parameters(parameters):
    fields = c_names.fields("K", {name: ["x", None] for name in parameters})
    members = [m.split(";")[0].split()[-1].strip("*") for f in fields for m in f.members()]
    assert len({name.lower() for name in members}) == len(members)


# --- entries of a decision map ----------------------------------------------------------------

SMALL, LARGE = fake.candidate("jli", 128), fake.candidate("ijl", 2048)


def chart(*cells):
    contender = Contender(label="jli", variant="jli", parameters={}, build=Build())
    nothing = Summary(**dict.fromkeys(Summary.__dataclass_fields__, 0))
    return DecisionMap(
        label="heat2d", title="t", size_name="N", engine="", level=0.9, tolerance=0.0,
        contenders=(contender,), left_out=0, sizes=tuple(cell.size for cell in cells),
        threads=(2,), cells=cells, whole=nothing, merged=nothing, price=(0.0, 0.0),
        evaluations=0, pairs=0, stopped="",
    )  # fmt: skip


def cell(candidate, seconds, bound, between=0.0):
    choice = Choice(
        contender=0, candidate=candidate.identity, seconds=seconds, loss=0.0, bound=bound,
        between=between,
    )  # fmt: skip
    return MapCell(
        size=candidate.problem.size, n=candidate.problem.n, threads=2,
        problem=candidate.problem.label, winner=choice, probability=1.0, second=None,
        merged=choice, measured={}, failed={},
    )  # fmt: skip


def run(name, *measured):
    facts = fake.facts()
    return RunRecord(
        id=name, study="s", machine=facts.machine, machine_identity=facts.machine_identity,
        versions={}, conditions={}, started=f"2026-01-0{name}", ended=None, state="done",
        timings={}, choices=(), builds=(), checksums={}, finished=frozenset(),
        measurements=tuple(
            Measurement(candidate=c.identity, run=name, status="ok", samples=(fake.sample(),))
            for c in measured
        ),
    )  # fmt: skip


def study(*runs):
    return StudyRecord(
        name="s", config="c", setup_text="", created="", versions={}, candidates=(),
        predictions=(), runs=runs,
    )  # fmt: skip


RECORDS = {c.identity: candidate_record(c) for c in (SMALL, LARGE)}


def test_a_cell_gives_what_is_run_there_and_what_that_may_cost():
    made = chart(cell(SMALL, 1e-3, 0.02, 0.05), cell(LARGE, 4e-3, 0.03))
    entries = of_map(study(run("1", SMALL, LARGE)), made, RECORDS)
    assert [(e.size, e.threads, e.seconds, e.loss_bound, e.source) for _, e in entries] == [
        (SMALL.problem.n, 2, 1e-3, 0.05, "map"), (LARGE.problem.n, 2, 4e-3, 0.03, "map"),
    ]  # fmt: skip
    assert [e.problem for _, e in entries] == [SMALL.problem.label, LARGE.problem.label]


def test_an_entry_names_the_last_run_that_measured_its_candidate():
    made = chart(cell(SMALL, 1e-3, 0.0), cell(LARGE, 1e-3, 0.0))
    entries = of_map(study(run("1", SMALL), run("2", SMALL), run("3")), made, RECORDS)
    assert [e.origin.run for _, e in entries] == ["2", "3"]
    assert [e.samples for _, e in entries] == [1, 0]


def test_what_is_not_known_gives_no_entry():
    made = chart(cell(SMALL, 1e-3, 0.0), cell(LARGE, 1e-3, 0.0))
    known = {LARGE.identity: RECORDS[LARGE.identity]}
    (only_entry,) = of_map(study(run("1")), made, known)
    assert only_entry[1].candidate == RECORDS[LARGE.identity].id
    assert of_map(study(), made, RECORDS) == []
    assert replace(made, cells=made.cells) == made
