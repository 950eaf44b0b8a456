"""Analytical against learned against hybrid, on recorded exhaustive studies of one host.

    python benchmarks/analytical_learned.py [FILE ...] [--sizes 8,16,32,64,128,256] [--repeats 10]
                                            [--results analytical_learned.jsonl] [--questions-only]

Files are recorded spaces with the predictions of an engine, by default those of recorded/ that have
them. All candidates of a space were measured, so that any draw of them is random. Printed for each
study:

    the error (mean and median relative), and the loss of the best of the one, three, ten first, of
    the engine, of learned models and of hybrids that have seen so many random candidates, scored on
    all that they have not seen; beside them what one half of the rounds scores on the other
    from how many candidates on learning pays against the engine: paired over the splits
    the same with each value of one parameter left out in turn
and the research questions RQ1 to RQ5 of Kaltenecker (2016), answered for these studies by figures.

Every fit is appended to --results when it is done and left out when it is there already, as long as
the code of the models is the same. One core; about 20 minutes.
"""

import argparse
import hashlib
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import analytical_learned_questions as questions
import analytical_learned_tables as tables
import analytical_learned_tasks as tasks
import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import autotune.learning
from autotune.files.recorded.read_recorded import read as read_recorded

_RECORDED = Path(__file__).with_name("recorded")
_SIZES = "8,16,32,64,128,256"
_APART = "16,64"
"""Training sizes where a value is left out."""


def main() -> None:
    given = _arguments()
    paths = sorted(Path(text) for text in given.files) or _predicted(_RECORDED)
    sizes = _numbers(given.sizes)
    wanted: dict[str, tasks.Task] = {}
    for task in _tasks(paths, sizes, given.repeats, questions_only=given.questions_only):
        wanted[_key(task)] = task
    results = Path(given.results)
    done = _done(results, wanted, stale=given.stale)
    print(f"{len(wanted)} fits, {len(done)} of them done before", flush=True)
    _run({k: t for k, t in wanted.items() if k not in done}, results)
    done = _done(results, wanted, stale=given.stale)
    scored = [(task, done[key]) for key, task in wanted.items() if key in done]
    print("\n".join(tables.lines([(t, r) for t, r in scored if isinstance(t, tasks.Curve)])))
    print("\n".join(questions.lines(scored)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="*", help="recorded spaces with predictions")
    parser.add_argument("--sizes", default=_SIZES, help=f"default {_SIZES}")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--results", default="analytical_learned.jsonl", help="where fits are kept")
    parser.add_argument("--questions-only", action="store_true", help="only RQ1 to RQ5")
    parser.add_argument("--stale", action="store_true", help="count fits of other code, too")
    return parser.parse_args()


def _predicted(folder: Path) -> list[Path]:
    """The recorded spaces of a folder that hold predictions."""
    paths = sorted(folder.glob("*.json.gz"))
    return [path for path in paths if np.isfinite(read_recorded(path).predicted).any()]


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        sys.exit(f"--sizes {text}: expected whole numbers between commas, such as {_SIZES}")


def _tasks(
    paths: Sequence[Path], sizes: tuple[int, ...], repeats: int, *, questions_only: bool
) -> Iterator[tasks.Task]:
    """All fits: repeat by repeat, so that an interrupted benchmark has all cells."""
    for repeat in range(repeats):
        for path in paths:
            if not questions_only:
                yield from tasks.curves(path, sizes, repeat, repeats)
                yield from tasks.apart(path, _numbers(_APART), repeat)
            yield from tasks.designs(path, repeat)


def _key(task: tasks.Task) -> str:
    size = Path(task.path).stat().st_size
    return f"{type(task).__name__}|{Path(task.path).name}|{size}|{task.told}"


_CODE: list[str] = []


def _code() -> str:
    """A digest of the code of the models and designs, and of what is scored."""
    if not _CODE:
        folder = Path(autotune.learning.__path__[0])
        own = [p for p in folder.glob("*.py") if p.name not in ("payoff.py", "pace.py")]
        inner = [p for name in ("influence", "designs") for p in (folder / name).glob("*.py")]
        files = sorted([*own, *inner, Path(tasks.__file__)])
        _CODE.append(hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()[:12])
    return _CODE[0]


def _done(
    results: Path, wanted: Mapping[str, tasks.Task], *, stale: bool
) -> dict[str, tasks.Outcome]:
    found: dict[str, tasks.Outcome] = {}
    for line in results.read_text(encoding="utf-8").splitlines() if results.exists() else []:
        try:
            row = json.loads(line)
            key, code = row.pop("key"), row.pop("code")
            if key in wanted and (stale or code == _code()):
                found[key] = tasks.outcome(wanted[key], row)
        except (ValueError, KeyError, TypeError):
            continue  # cut off when the benchmark was killed
    return found


def _run(left: Mapping[str, tasks.Task], results: Path) -> None:
    """Make the fits, each written down when it is done; Ctrl-C keeps those that are."""
    started, code = time.monotonic(), _code()
    with results.open("a", encoding="utf-8") as file, threadpool_limits(limits=1):
        if file.tell() and not results.read_bytes().endswith(b"\n"):
            file.write("\n")  # a line that was cut off
        try:
            for number, (key, task) in enumerate(left.items(), 1):
                file.write(json.dumps({"key": key, "code": code, **tasks.perform(task)}) + "\n")
                file.flush()
                if number % 200 == 0 or number == len(left):
                    rate = (time.monotonic() - started) / number
                    rest = math.ceil(rate * (len(left) - number) / 60)
                    print(f"  {number}/{len(left)}, {rest} min left", flush=True)
        except KeyboardInterrupt:
            sys.exit(f"interrupted: the same command goes on from {results}")


if __name__ == "__main__":
    main()
