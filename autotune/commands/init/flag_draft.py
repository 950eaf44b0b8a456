"""The options of a compiler as a set of flags in a first description of a program."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.progress import Progress
from autotune.toolchain.gcc_options import gcc_of, listed_options
from autotune.toolchain.refused_flags import refused, trial

_WIDTH = 100
_PLAIN = re.compile(r"-[\w+=.-]+")
"""Texts that YAML reads as they stand, also within brackets."""

_VALUE = re.compile(r"(?!(?:on|off|yes|no|true|false|null|y|n)$)[a-z][\w-]*|[1-9]\d*|0")
"""Values that YAML reads as the text or the number that they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagDraft:
    """Options of a compiler that it accepts, and why others are left out."""

    compiler: str
    """As it is named in a config."""
    version: str
    base: tuple[str, ...]
    """The flags that the options are tried beside."""
    options: tuple[tuple[str, ...], ...]
    """The spellings of each."""
    left_out: Mapping[str, tuple[str, ...]]
    """Reason to spellings."""
    name: str = "options"
    """What the set is called, unless that is taken."""

    def lines(self, name: str) -> list[str]:
        """The set as lines of a YAML file, under ``parameters``."""
        head = [
            f"{len(self.options)} options of {self.version} beside {' '.join(self.base)}: of what"
            " these switch on, the form that switches it off; of the rest, the form that switches"
            " it on."
        ]
        left = [f"Left out, {why}: {', '.join(flags)}." for why, flags in self.left_out.items()]
        items = [f"      - {_item(spellings)}" for spellings in self.options]
        return [*_remark(head), f"  {name}:", "    flags:", *items, *_remark(left)]


def tried_options(
    compiler: str, language: str, base: Sequence[str], progress: Progress
) -> FlagDraft:
    """The options of a compiler of the GNU collection that optimise, each tried on a small program.

    Those that it refuses or warns of are left out. InputError or MissingTool for a compiler that
    does not list its options, cannot build a program of the language, or is not installed.
    """
    stage = f"try the options of {compiler}"
    progress(stage, 0, 1)
    gcc = gcc_of(compiler, base)
    listed = listed_options(gcc)
    said = trial(gcc, language)
    refusals = refused(listed.spellings, said)
    left_out = {why: list(flags) for why, flags in listed.left_out.items()}
    for flag, words in refusals.items():
        left_out.setdefault(f"{compiler} says: {words}", []).append(flag)
    kept = (
        tuple(flag for flag in spellings if flag not in refusals) for spellings in listed.spellings
    )
    progress(stage, 1, 1)
    return FlagDraft(
        compiler=compiler,
        version=gcc.version,
        base=tuple(base),
        options=tuple(filter(None, kept)),
        left_out={why: tuple(flags) for why, flags in left_out.items()},
    )


def _item(spellings: Sequence[str]) -> str:
    """An option as an item of a YAML list: values in braces, other alternatives in brackets."""
    heads = {spelling.partition("=")[0] for spelling in spellings}
    values = [spelling.partition("=")[2] for spelling in spellings]
    if len(heads) == 1 and all(_VALUE.fullmatch(value) for value in values):
        return f"{{{heads.pop()}=: [{', '.join(values)}]}}"
    if len(spellings) == 1:
        return _text(spellings[0])
    return f"[{', '.join(map(_text, spellings))}]"


def _text(spelling: str) -> str:
    return spelling if _PLAIN.fullmatch(spelling) else f'"{spelling}"'


def _remark(paragraphs: Sequence[str]) -> list[str]:
    """Paragraphs as comments."""
    return [
        f"  # {line}"
        for paragraph in paragraphs
        for line in textwrap.wrap(
            paragraph, _WIDTH - 4, break_long_words=False, break_on_hyphens=False
        )
    ]
