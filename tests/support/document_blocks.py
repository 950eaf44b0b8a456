"""The code blocks of the documents, and a folder in which their commands run as a reader runs them.

A block that the tests do not run has, right before it, a line in italics that says why:
``*Not run by the tests: needs two nodes.*``
"""

import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"^\*Not run by the tests: (?P<reason>[^*]+)\*$")
_FENCE = re.compile(r'^(?P<indent> *)```(?P<language>\w*)(?: title="(?P<file>[^"]+)")? *$')

BUDGETS = {
    "autotune.commands.rank.host_machine.DEFAULT_BUDGET": 3.0,
    "autotune.commands.rank.host_machine.NETWORK_BUDGET": 10.0,
}
"""Seconds of shorter calibrations of a host and an MPI that have none."""
LESS = {
    r"top: \d+, random: \d+": "top: 1, random: 1",
    r"budget: \d+": "budget: 2",
    r"rounds: \d+": "rounds: 3",
    r"samples: \d+": "samples: 2",
    r"min_sample: \d+ ms": "min_sample: 1 ms",
    r"size: 1024\b": "size: 64",
    r"size: (256|5984)\b": "size: 32",
    r"size: 96\b": "size: 24",
    r"i: 800, j: 800, k: 24": "i: 40, j: 40, k: 24",
    r"size: 100000\b": "size: 2000",
    r"pirk-time-small": "pirk-orders",
}
"""What a study of seconds has in place of the words of a shipped one."""

_SETTINGS = {
    "MPLBACKEND": "Agg",
    **{f"{tool}_ALLOW_RUN_AS_ROOT": "1" for tool in ("OMPI", "PRTE")},
    **{f"{tool}_ALLOW_RUN_AS_ROOT_CONFIRM": "1" for tool in ("OMPI", "PRTE")},
}
"""No window opens, and Open MPI starts in a container too."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    ``file`` is its title, the file that the reader writes it to; ``reason``: why no test runs it.
    """

    page: Path
    line: int
    language: str
    text: str
    file: str
    reason: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """All documents with commands: the README, how to contribute, and the pages of the site."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page in their order."""
    found, start, lines = [], None, page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if start is None and fence:
            start, head = number, fence
        elif start is not None and line.strip() == "```":
            text = textwrap.dedent("\n".join(lines[start + 1 : number])) + "\n"
            before = [words.strip() for words in lines[:start] if words.strip()]
            mark = MARK.match(before[-1]) if before else None
            found.append(
                Block(
                    page=page,
                    line=start + 1,
                    language=head["language"],
                    text=text,
                    file=head["file"] or "",
                    reason=mark["reason"] if mark else "",
                )
            )
            start = None
    return found


def indented_commands(page: Path) -> list[str]:
    """Lines of commands in blocks without a fence, which no test would find."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.findall(r"^ {4,}(?:\.venv/bin/)?(?:autotune|python3?|pip|mpi\w+) .*$", text, re.M)


def prepare(folder: Path) -> Path:
    """Lay out what a checkout has: shorter studies, everything else as it is; the result is the
    place of the command.
    """
    for name in ("examples", "kernels", "machines", "variants", "benchmarks", "docs", "autotune"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "configs").mkdir()
    for config in (ROOT / "configs").glob("*.yaml"):
        text = shorter(config.read_text(encoding="utf-8"))
        (folder / "configs" / config.name).write_text(text, encoding="utf-8")
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "activate").write_text("", encoding="utf-8")
    return programs / "autotune"


def shorter(text: str) -> str:
    """A study with fewer candidates and shorter samples; with a published table as it is."""
    if "\nreference: " in text:
        return text
    for words, less in LESS.items():
        text = re.sub(words, less, text)
    return text


def run(block: Block, folder: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run a block of ``sh`` or ``python``; ``before``: the Python blocks of the page up to it."""
    own = f"{folder / '.venv' / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    commands = block.text.replace("--budget-seconds 60", "--budget-seconds 15")
    words = (
        ["bash", "-e", "-o", "pipefail", "-c", commands]
        if block.language == "sh"
        else [sys.executable, "-c", before + block.text]
    )
    environment = {**os.environ, **_SETTINGS, "PATH": own, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
