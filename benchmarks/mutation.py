"""Do the tests notice when the arithmetic is changed?

    python benchmarks/mutation.py [AREA ...] [--mutants 50] [--seed 1] [--journal FILE]

Draws mutants of four areas (prediction, traffic, statistics, search) with Cosmic Ray, at places
that the seed fixes, and runs for each the tests that name the changed module by import, or its
nearest users where none does: six files at most, which share ``--seconds`` of CPU time. A mutant
that fails a test is killed, and so is one that takes longer than three times what its tests take
otherwise; of those that survive the place and the change are printed. All of it happens in a copy
of the tree.

The share of killed mutants has Wilson's 95 % interval. It is of tests in reach of a module only: a
survivor may still fail a test of a whole command.

With ``--journal`` an interrupted run goes on. Mutants that a person has judged to change no answer
are named, with the reason, in ``mutation_equivalent.txt``; they are counted apart.

Needs ``pip install -e '.[dev,mutation]'``.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from mutation_draw import AREAS, Mutant, drawn
from mutation_tests import Outcome, TestChoice, fork, warm
from replay_score import wilson

TREE = Path(__file__).parent.parent


def main() -> None:
    arguments = _arguments()
    journal = Journal(arguments.journal)
    with _copied(TREE) as root:
        warm()
        choice = TestChoice(root, arguments.seconds, arguments.slowest)
        for area in arguments.areas or AREAS:
            mutants = drawn(root, area, arguments.mutants, arguments.seed)
            _print(
                root, area, {mutant: _outcome(root, mutant, choice, journal) for mutant in mutants}
            )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("areas", nargs="*", choices=[*AREAS, []], metavar="AREA")
    parser.add_argument("--mutants", type=int, default=50, help="of each area")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=6.0, help="of tests of a module, CPU")
    parser.add_argument("--slowest", type=float, default=2.0, help="seconds of one test, CPU")
    parser.add_argument("--journal", type=Path, help="file of outcomes, read and appended to")
    return parser.parse_args()


class Journal:
    """Outcomes of an earlier run that was interrupted, and of this one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.outcomes: dict[str, Outcome] = {}
        for line in path.read_text().splitlines() if path and path.exists() else ():
            entry = json.loads(line)
            self.outcomes[entry["mutant"]] = entry["outcome"]

    def note(self, mutant: Mutant, outcome: Outcome, tests: int) -> None:
        self.outcomes[mutant.name] = outcome
        if self.path:
            entry = {"mutant": mutant.name, "outcome": outcome, "tests": tests, **asdict(mutant)}
            with self.path.open("a") as lines:
                lines.write(json.dumps(entry) + "\n")


@contextmanager
def _copied(tree: Path) -> Iterator[Path]:
    """A copy of the files that git does not ignore; the package is imported from there."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=tree, check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory(prefix="autotune-mutation-") as folder:
        for name in filter(None, names.split("\0")):
            if (tree / name).is_file():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(tree / name, Path(folder) / name)
        os.environ["PYTHONPATH"] = folder
        sys.path.insert(0, folder)
        yield Path(folder)


def _outcome(root: Path, mutant: Mutant, choice: TestChoice, journal: Journal) -> Outcome:
    if mutant.name in journal.outcomes:
        return journal.outcomes[mutant.name]
    tests = choice.of(mutant.path)
    path = root / mutant.path
    source = path.read_text()
    try:
        _write(path, mutant.text(source))
        outcome = fork(root, list(tests), 10 + 3 * sum(tests.values())) if tests else "passed"
    finally:
        _write(path, source)
    journal.note(mutant, outcome, len(tests))
    print(f"{outcome:9} {len(tests):3} tests  {mutant.path}:{mutant.line}", file=sys.stderr)
    return outcome


def _write(path: Path, text: str) -> None:
    """Write a module and forget what Python compiled of it."""
    path.write_text(text)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()


def _print(root: Path, area: str, outcomes: Mapping[Mutant, Outcome]) -> None:
    equivalent = _equivalent()
    counted = {m: outcome for m, outcome in outcomes.items() if m.name not in equivalent}
    numbers = Counter(counted.values())
    killed = numbers["failed"] + numbers["timed out"]
    low, high = wilson(killed, len(counted))
    print(
        f"{area}: {killed} of {len(counted)} mutants killed, {killed / max(1, len(counted)):.0%}"
        f" ({low:.0%} to {high:.0%}); {numbers['passed']} survived,"
        f" {numbers['timed out']} of the killed timed out; {len(outcomes) - len(counted)} that"
        " change no answer left out",
        flush=True,
    )
    for mutant, outcome in counted.items():
        if outcome == "passed":
            print(f"\n{mutant.path}:{mutant.line}: {mutant.operator}, {mutant.name}")
            print(mutant.diff((root / mutant.path).read_text()), flush=True)


def _equivalent() -> set[str]:
    """Names of mutants that change no answer, as the file beside this one has them."""
    path = Path(__file__).with_name("mutation_equivalent.txt")
    return {line.split(" # ")[0] for line in path.read_text().splitlines()}


if __name__ == "__main__":
    main()
