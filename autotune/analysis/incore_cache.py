"""What OSACA said of a loop, kept on disk by the hash of all that it depends on."""

import hashlib
import importlib.metadata
import json

from autotune.analysis import answers
from autotune.analysis.answers import Answer
from autotune.analysis.incore_arch import Architecture
from autotune.analysis.loops import HotLoop

VERSION = 1
"""Raised whenever equal loops may get other answers from the worker."""
_KIND = "incore"


def key(loop: HotLoop, architecture: Architecture) -> str:
    """Hash of the loop, the architecture and the versions of what answers."""
    try:
        osaca = importlib.metadata.version("osaca")
    except importlib.metadata.PackageNotFoundError:
        osaca = "none"
    text = json.dumps([VERSION, osaca, architecture.name, loop.text])
    return hashlib.sha256(text.encode()).hexdigest()


def stored(key: str) -> Answer | None:
    """What OSACA said; None where that is not known."""
    return answers.stored(_KIND, key, ("uops", "chain"))


def keep(key: str, answer: Answer) -> None:
    """Keep what OSACA said."""
    answers.keep(_KIND, key, answer)
