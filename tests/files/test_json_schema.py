"""The JSON Schemas of YAML files: shipped as they are made, and every shipped file keeps to one."""

import dataclasses
import importlib
import json
from pathlib import Path

import pytest
from json_schema_check import faults
from typer.testing import CliRunner

from autotune import paths
from autotune.commands.app import app
from autotune.files import config
from autotune.files.config.kinds import FILES, SOURCED
from autotune.files.json_schema import file_schema
from autotune.files.parsing import yaml_document

ROOT = paths.data_root()
COLLECTIONS = [
    "machines", "configs", "kernels/method", "kernels/ivp", "kernels/stencil",
    "variants/skeleton", "variants/space", "variants/program", "benchmarks/published",
]  # fmt: skip
SHIPPED = [
    path for collection in COLLECTIONS for path in sorted((ROOT / collection).glob("*.yaml"))
]


def made(name):
    return file_schema(name, FILES[name], sourced=name in SOURCED)


def plain(path):
    document = yaml_document.read(path, [])
    assert document is not None
    return document.root


@pytest.mark.parametrize("name", list(FILES))
def test_schemas_are_shipped_as_they_are_made(name):
    short = name.removeprefix("autotune.").partition("/")[0]
    path = ROOT / "schemas" / f"{short}.json"
    text = json.dumps(made(name), indent=1) + "\n"
    cure = f"autotune schema {short} > schemas/{short}.json"
    assert path.read_text(encoding="utf-8") == text, cure


KEPT_BY_HAND = ("published", "published-table")
"""Schemas of files that only ``benchmarks/`` reads, so that no class of the package makes them."""


def test_only_schemas_of_files_of_benchmarks_are_kept_by_hand():
    shipped = {path.stem for path in (ROOT / "schemas").glob("*.json")}
    kinds = {name.removeprefix("autotune.").partition("/")[0] for name in FILES}
    assert shipped - kinds == set(KEPT_BY_HAND)
    assert kinds <= shipped
    help_text = "".join(CliRunner().invoke(app, ["schema", "--help"]).stdout.split())
    room = (Path(config.__file__).parents[2] / "commands" / "schema" / "README.md").read_text()
    for name in KEPT_BY_HAND:
        assert f"{name}.json" in help_text
        assert f"`{name}.json`" in room


def test_schemas_that_are_kept_by_hand_have_the_keys_that_benchmarks_read(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tables = importlib.import_module("garren_tables")
    rows = importlib.import_module("reproduce_rows")
    numbers, table = (
        json.loads((ROOT / "schemas" / f"{name}.json").read_text()) for name in KEPT_BY_HAND
    )
    assert set(table["properties"]) == tables._KEYS
    fields = {field.name for field in dataclasses.fields(rows.Number)}
    assert set(numbers["$defs"]["Number"]["properties"]) == fields


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_file_names_its_schema_and_keeps_to_it(path):
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    mark, _, named = first.partition("$schema=")
    assert mark == "# yaml-language-server: "
    schema = json.loads((path.parent / named).read_text(encoding="utf-8"))
    assert schema["title"] == plain(path)["schema"]
    assert faults(schema, plain(path)) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("machine: host", "machine: 5", ".machine: 5 is not"),
        ("machine: host\n", "", "no key 'machine'"),
        ("skeleton:", "skeletn:", "unknown key 'skeletn'"),
        ("top: 5", "top: 0", ".selection.top: below 1"),
        ("threads: [all]", "threads: [al]", ".threads.0"),
        ("min_sample: 20 ms", "min_sample: 20", "min_sample: 20 is not string"),
    ],
)
def test_a_schema_refuses_what_the_reader_refuses(tmp_path, old, new, fault):
    text = (ROOT / "configs" / "quickstart.yaml").read_text(encoding="utf-8")
    path = tmp_path / "x.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    found = faults(made("autotune.config/1"), plain(path))
    assert len(found) == 1
    assert fault in found[0]


@pytest.mark.parametrize("name", paths.names("machines"))
def test_what_is_written_keeps_to_the_schema(tmp_path, name):
    path = tmp_path / "m.yaml"
    path.write_text(config.dump_machine(config.machine(name)), encoding="utf-8")
    assert faults(made("autotune.machine/1"), plain(path)) == []


def test_every_key_of_a_file_that_is_required_is_one_without_a_default():
    schema = made("autotune.machine/1")
    needed = ["schema", "architecture", "clock", "cores", "caches", "memory", "in_core"]
    assert schema["required"] == needed
    cache = schema["$defs"]["CacheLevel"]
    assert {"name", "size", "line", "ways", "sets"} == set(cache["required"])
    assert "32 KiB" in str(cache["properties"]["size"])


def test_an_editor_has_words_for_every_key_of_a_config_and_for_the_main_keys_of_other_files():
    shipped = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in (ROOT / "schemas").glob("*.json")
    }

    def silent(name, record):
        """Keys that say nothing, neither here nor where they point to."""
        definitions = shipped[name].get("$defs", {})
        for key, value in record.get("properties", {}).items():
            target = definitions.get(value.get("$ref", "").rpartition("/")[2], {})
            if key != "schema" and not (value.get("description") or target.get("description")):
                yield key

    config = shipped["config"]
    places = {"config": config, **config["$defs"]}
    for place, record in places.items():
        assert [*silent("config", record)] == [], place
    for name in ("skeleton", "space", "program", "stencil"):
        assert [*silent(name, shipped[name])] == [], name
