"""The commands and the Python of README, CONTRIBUTING and the pages run as they stand there."""

import re
from collections.abc import Iterator
from pathlib import Path

import document_blocks
import pytest
from command_line import CommandLine
from document_blocks import Block

LANGUAGES = {"sh", "python", "console"}
MOST_NOT_RUN = 14
"""May only fall."""
PAGES = [page for page in document_blocks.pages() if page.name != "README.md"]


def run_blocks(page: Path) -> Iterator[Block]:
    for block in document_blocks.blocks(page):
        if block.file or (block.language in LANGUAGES and not block.reason):
            yield block


@pytest.mark.long
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(run_blocks(page))],
    ids=lambda page: str(page.relative_to(document_blocks.ROOT)),
)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path, command_line: CommandLine) -> None:
    """In a folder with shorter studies, in their order; blocks with a title are files."""
    program = document_blocks.prepare(tmp_path)
    with command_line.script(program, document_blocks.BUDGETS):
        run_page(page, tmp_path)


def run_page(page: Path, folder: Path) -> None:
    """Write and run the blocks of a page in a folder."""
    python = ""
    listed = list(run_blocks(page))
    for block, following in zip(listed, [*listed[1:], None], strict=True):
        if block.file:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            text = document_blocks.shorter(block.text)
            (folder / block.file).write_text(text, encoding="utf-8")
        elif block.language == "console":
            check_session(block, folder)
        elif following is not None and block.language == following.language == "python":
            python += block.text  # run with what follows, once
        else:
            done = document_blocks.run(block, folder, python)
            assert done.returncode == 0, f"{block}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
            python += block.text if block.language == "python" else ""


def check_session(block: Block, folder: Path) -> None:
    """Each command of a session prints the lines below it, whatever its exit code; ``...`` in
    them stands for anything."""
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        line = Block(block.page, block.line, "sh", command + "\n", "", "")
        done = document_blocks.run(line, folder)
        printed = " ".join((done.stdout + done.stderr).split())
        wanted = ".*".join(map(re.escape, " ".join(expected.split()).split("...")))
        assert re.search(wanted, printed, re.S), f"{block}: {command}\nprinted: {printed}"


def test_commands_stand_in_fenced_blocks() -> None:
    loose = {
        str(page): lines
        for page in document_blocks.pages()
        if (lines := document_blocks.indented_commands(page))
    }
    assert not loose


def test_blocks_that_no_test_runs_are_few_and_say_why() -> None:
    every = [block for page in document_blocks.pages() for block in document_blocks.blocks(page)]
    runnable = [block for block in every if block.language in LANGUAGES]
    marked = [block for block in runnable if block.reason]
    assert len(marked) <= MOST_NOT_RUN, "\n".join(f"{b}: {b.reason}" for b in marked)
    assert all(len(block.reason) > 15 for block in marked)
    assert len(marked) < len(runnable) / 3
