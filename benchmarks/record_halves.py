"""How well the times of an exhaustive study repeat, beside its recorded space.

    python benchmarks/record_halves.py all.sqlite STUDY benchmarks/recorded/NAME.json.gz

Each candidate was measured in several rounds, minutes apart. Written next to the recorded space, as
halves/NAME.json.gz, are the times of the earlier and of the later half of the rounds, a pair for
each row of the space that ran, in its order, in seconds (null where a half has none).
"""

import argparse
import gzip
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import learned_data as data

from autotune.commands.learn.study_tables import read_study
from autotune.domain.tables.parameter import Value
from autotune.errors import AutotuneError

_DIGITS = 7
FOLDER = "halves"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("store", help="the results file")
    parser.add_argument("study")
    parser.add_argument("recorded", type=Path, help="the recorded space of the study")
    given = parser.parse_args()
    try:
        pairs = _pairs(given.study, given.store, given.recorded)
    except AutotuneError as error:
        sys.exit(str(error))
    path = written(given.recorded, pairs)
    known = sum(None not in pair for pair in pairs)
    print(f"{path}: {known} of {len(pairs)} rows in both halves, {path.stat().st_size} bytes")


def written(recorded: Path, pairs: Sequence[Sequence[float | None]]) -> Path:
    """The file beside a recorded space into which the pairs of its rows (seconds) were written."""
    path = recorded.parent / FOLDER / recorded.name
    path.parent.mkdir(exist_ok=True)
    text = json.dumps({"unit": "seconds", "halves": pairs}, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


def _pairs(study: str, store: str, recorded: Path) -> list[list[float | None]]:
    found = read_study(study, store)
    table = data.read(recorded).table
    names = [name for name in table.inputs.names if name in found.table.inputs.names]
    ours = [found.table.inputs.place(name) for name in names]
    theirs = [table.inputs.place(name) for name in names]
    places = {_key(row, ours): i for i, row in enumerate(found.table.inputs.rows)}
    if len(places) != len(found.table):
        sys.exit("the recorded space does not tell all candidates of the study apart")
    pairs = []
    for row in table.inputs.rows:
        i = places[_key(row, theirs)]
        pairs.append([_rounded(found.halves.early[i]), _rounded(found.halves.late[i])])
    return pairs


def _key(row: tuple[Value, ...], places: list[int]) -> tuple[str, ...]:
    return tuple(_text(row[place]) for place in places)


def _text(value: Value) -> str:
    """Truth values are 0 and 1 in one of them and words in the other."""
    if isinstance(value, str):
        return {"True": "1", "False": "0"}.get(value, value)
    return f"{value:g}"


def _rounded(seconds: float) -> float | None:
    return float(f"{seconds:.{_DIGITS}g}") if math.isfinite(seconds) else None


if __name__ == "__main__":
    main()
