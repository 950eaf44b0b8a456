"""``autotune schema``: the list of kinds, and one kind as a JSON Schema."""

import json

import pytest
from refusals import faults
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.schema.command import EPILOG
from autotune.commands.schema.document import SchemaDocument, SchemaKind
from autotune.commands.schema.flow import kinds, schema_of


def printed(*words: str) -> str:
    done = CliRunner().invoke(app, ["schema", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_files_are_listed_before_documents_with_what_they_are() -> None:
    lines = printed().splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "YAML files:", "JSON files:", "documents (--json):",
    ]  # fmt: skip
    listed = [line.split()[0] for line in lines if line.startswith(" ")]
    assert listed == [kind.name for kind in kinds()]
    starts = {len(line) - len(line[2:].split(maxsplit=1)[1]) for line in lines if line[0] == " "}
    assert len(starts) == 1, "what they are stands in one column"


def test_the_list_as_a_document_names_form_and_key() -> None:
    document = json.loads(printed("--json"))
    assert document["schema"] == "autotune.schema/1" == SchemaDocument(kinds=()).schema
    forms = {kind["key"]: kind["form"] for kind in document["kinds"]}
    assert forms["autotune.machine/1"] == "file"
    assert forms["autotune.rank/1"] == "document"
    assert forms["autotune.schema/1"] == "document"


def test_a_kind_is_its_name_its_key_and_what_it_is() -> None:
    (machine,) = [kind for kind in kinds() if kind.name == "machine"]
    assert machine == SchemaKind(
        name="machine", key="autotune.machine/1", form="file", about=machine.about
    )
    assert "\n" not in machine.about


@pytest.mark.parametrize("kind", ["machine", "learn.fit"])
def test_one_kind_is_printed_as_its_schema(kind: str) -> None:
    assert json.loads(printed(kind)) == schema_of(kind)


def test_an_unknown_kind_is_told_with_the_nearest() -> None:
    told = faults(lambda: schema_of("rnak"))
    assert told.startswith("KIND: unknown kind 'rnak'; expected one of ")
    assert told.endswith("(did you mean rank?)")


def test_the_help_has_the_example() -> None:
    assert EPILOG in " ".join(printed("--help").split())
