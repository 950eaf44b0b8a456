"""``autotune schema``: the kinds, their schemas, and what there is no schema of."""

import json

import pytest
from assertion_records import figure_8
from json_schema_check import faults

from autotune import paths
from autotune.commands.documents import documents
from autotune.commands.machine.document import MachineListDocument
from autotune.commands.schema.flow import kinds, schema_of
from autotune.errors import InputError
from autotune.files import codec, config


def references(schema):
    """Every definition that a schema points to."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref":
                yield value.removeprefix("#/$defs/")
            else:
                yield from references(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from references(item)


def test_every_kind_has_a_name_of_its_own():
    names = [kind.name for kind in kinds()]
    assert len(set(names)) == len(names)
    assert {"machine", "config", "design", "rank", "learn.fit"} <= set(names)
    assert all(kind.about for kind in kinds())


@pytest.mark.parametrize("kind", [kind.name for kind in kinds()])
def test_a_schema_defines_all_that_it_points_to(kind):
    schema = json.loads(json.dumps(schema_of(kind), allow_nan=False))
    assert set(references(schema)) <= set(schema.get("$defs", {}))
    assert schema["properties"]["schema"]["const"] == schema["title"]
    assert schema["additionalProperties"] is False


def test_a_kind_goes_by_its_key_too():
    assert schema_of("machine") == schema_of("autotune.machine/1")


def test_the_record_of_a_rank_keeps_to_its_schema():
    schema = schema_of("assertion-record")
    value = json.loads(json.dumps(codec.document(figure_8())))
    assert faults(schema, value) == []
    del value["paths"][0]["seconds"]  # it has a default
    assert faults(schema, value) == []
    del value["paths"][0]["visits"]
    assert faults(schema, value) == [".paths.0: no key 'visits'"]
    assert schema_of("assertion-model")["properties"]["nodes"]["items"] == {
        "$ref": "#/$defs/ModelNode"
    }


def test_an_unknown_kind_names_the_nearest():
    with pytest.raises(InputError, match=r"unknown kind 'machne'.*did you mean machine\?"):
        schema_of("machne")


def test_a_document_keeps_to_its_schema():
    machines = tuple(config.machine(name) for name in paths.names("machines"))
    value = json.loads(json.dumps(codec.document(MachineListDocument(machines=machines))))
    schema = schema_of("machine.list")
    assert "autotune.machine.list/1" in documents()
    assert faults(schema, value) == []
    del value["machines"][0]["clock"]
    assert faults(schema, value) == [".machines.0: no key 'clock'"]
