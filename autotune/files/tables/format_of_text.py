"""Detects the format of a text by its content, never by the name of the file."""

import re
from typing import Literal, get_args

from autotune.files.parsing import strict_json
from autotune.files.parsing.faults import Faults
from autotune.files.tables import extrap_json, extrap_text

Format = Literal[
    "csv", "spl-conqueror", "extra-p", "extra-p-json", "json-lines", "talpas", "recorded"
]
FORMATS: tuple[Format, ...] = get_args(Format)
TITLES: dict[Format, str] = {
    "csv": "CSV",
    "spl-conqueror": "SPL Conqueror XML",
    "extra-p": "Extra-P text",
    "extra-p-json": "Extra-P JSON",
    "json-lines": "JSON Lines",
    "talpas": "TaLPas",
    "recorded": "recorded space",
}
EXPECTED = (
    "CSV, SPL Conqueror XML, Extra-P text, JSON, JSON Lines or TaLPas, T4 or Kernel Tuner results"
)


def detect(text: str, faults: Faults) -> Format:
    """The format of a text; InputError for an empty one."""
    start = text.lstrip("\ufeff \t\r\n")
    if not start:
        raise faults.fail("", "the file is empty", EXPECTED)
    if start[0] == "<":
        return "spl-conqueror"
    if start[0] == "{":
        return _of_lines(start, faults) or _of_object(start, faults)
    if start[0] == "[":
        return "recorded"
    words = (line.split() for line in start.splitlines() if not line.startswith("#"))
    first = next((line for line in words if line), [""])
    fields = first[0] in extrap_text.FIELDS and re.search("[,;]", " ".join(first)) is None
    return "extra-p" if fields else "csv"


def _of_lines(text: str, faults: Faults) -> Format | None:
    """JSON Lines or TaLPas, where every line is an object that names its parameters; else None."""
    first, _, rest = text.partition("\n")
    kinds: tuple[tuple[extrap_json.Lines, str], ...] = (
        ("json-lines", "params"),
        ("talpas", "parameters"),
    )
    for kind, key in kinds:
        parsed = extrap_json.parse_line(first, kind, faults)
        if parsed is not None and "value" in parsed and isinstance(parsed.get(key), dict):
            return kind
    return "json-lines" if rest.lstrip().startswith("{") else None


def _of_object(text: str, faults: Faults) -> Format:
    """The format of a JSON document by its keys; a document that is cut off may be an open Kernel
    Tuner cache.
    """
    try:
        parsed = strict_json.loads(text, faults)
    except (ValueError, RecursionError):
        return "recorded"
    if not isinstance(parsed, dict) or {"results", "cache"} & set(parsed):
        return "recorded"
    return "extra-p-json" if "measurements" in parsed else "recorded"
