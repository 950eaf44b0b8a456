"""The reference is made from the code: every command, option, key, field and variable is in it."""

import importlib
import re
import sys
from pathlib import Path

import typer
import yaml

from autotune.commands.app import app
from autotune.commands.documents import documents
from autotune.commands.environment_variables import VARIABLES
from autotune.files import config
from autotune.files.config.kinds import FILES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("**/*.md")]
sys.path.insert(0, str(ROOT / "docs" / "generate"))
command_pages, environment_page, glossary_page, schema_pages = map(
    importlib.import_module,
    ("command_pages", "environment_page", "glossary_page", "schema_pages"),
)


def test_every_option_of_every_command_is_described() -> None:
    text = "\n".join(command_pages.pages().values())
    commands = [("autotune", typer.main.get_command(app))]
    for name, command in commands:
        commands += [
            (f"{name} {short}", c) for short, c in getattr(command, "commands", {}).items()
        ]
        if name == "autotune":
            continue
        section = text.partition(f"# {name}\n")[2]
        assert section, name
        for parameter in command.params:
            if parameter.opts[-1].startswith("--") and not hasattr(command, "commands"):
                assert parameter.opts[-1] in section.partition("\n# ")[0], (name, parameter.name)
    assert len(commands) > 40


def test_every_key_of_every_kind_of_file_and_document_is_described() -> None:
    pages = schema_pages.pages()
    text = "\n".join(pages.values())
    for key in [*FILES, *documents()]:
        assert f"schema: {key}`" in text, key
    config_page = pages["reference/files/config.md"]
    assert "| `machine` |" in config_page
    assert "## Measuring" in config_page
    assert re.search(r"`min_sample` \| .*A sample repeats time steps", config_page)
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) in (4, 5) or "](" in line for line in rows)


def test_examples_of_commands_are_commands() -> None:
    names = {*typer.main.get_command(app).commands}
    text = "\n".join(command_pages.pages().values())
    examples = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    lines = [line for block in examples for line in block.splitlines()]
    called = [re.search(r"\bautotune (\w+)", line) for line in lines if not line.startswith("#")]
    assert len(called) > 30
    assert {found[1] for found in called if found} <= names


def test_commands_that_the_pages_name_exist() -> None:
    names = {*typer.main.get_command(app).commands}
    for page in PAGES:
        fences = re.findall(r"^ *```sh\n(.*?)^ *```", page.read_text(), re.M | re.S)
        code = "\n".join([*fences, *re.findall(r"`(autotune [^`]+)`", page.read_text())])
        called = set(re.findall(r"(?:^|/|\| |; )autotune (\w[\w-]*)", code, re.M))
        assert called <= names, page


def test_variables_are_those_that_the_code_reads() -> None:
    """Names in quotes in Python, C and templates; those of the preprocessor are no variables."""
    read = set()
    for room in ("autotune", "tests", "benchmarks"):
        for path in (ROOT / room).rglob("*"):
            if path.suffix in {".py", ".c", ".h", ".j2", ".F90", ".sh"}:
                read |= set(re.findall(r'"(AUTOTUNE_[A-Z_]+)"', path.read_text(encoding="utf-8")))
    preprocessor = {"AUTOTUNE_PHASES"}
    listed = {variable.name for variable in VARIABLES}
    assert read - preprocessor == {name for name in listed if name.startswith("AUTOTUNE_")}
    page = environment_page.pages()["reference/environment.md"]
    assert all(f"`{variable.name}`" in page for variable in VARIABLES)


def test_the_glossary_and_the_messages_are_those_of_explain() -> None:
    pages = glossary_page.pages()
    folder = ROOT / "autotune" / "commands" / "explain"
    for file, page in (("glossary.toml", "glossary"), ("messages.toml", "messages")):
        names = re.findall(r'^name = "(.+)"$', (folder / file).read_text(encoding="utf-8"), re.M)
        text = pages[f"reference/{page}.md"]
        assert len(names) > 10
        assert all(f"## {name}\n" in text for name in names)


def test_studies_of_the_pages_are_valid(tmp_path: Path) -> None:
    """Whole studies that stand in the pages and need no file beside them."""
    read = []
    for page in PAGES:
        for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.M | re.S):
            if block.startswith("schema: autotune.config/1"):
                path = tmp_path / f"{page.stem}.yaml"
                path.write_text(block, encoding="utf-8")
                read.append(config.load(path))
            assert yaml.safe_load(block) is not None
    assert len(read) >= 2
