"""Does every command answer wrong values with words, an exit code of 0, 1 or 2, and in time?

    python benchmarks/fuzz.py [--cases 1000] [--seed 1] [--only NUMBER] [--accepted]

Every case is one command in a folder of its own, in a child with limits of memory, CPU time and
file sizes: YAML and other data files that are well-formed and say something wrong (values, units,
names, formulas, keys, references), options with absurd values, and files in the place of others
(pipes, folders, devices, links to themselves, bombs). A seed and a number name a case: a failure
that is printed can be run again alone. The goal is that nothing is printed.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from fuzz_cases import draw
from fuzz_run import Fuzzer, Judgement


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run this case alone and show all of it")
    parser.add_argument("--accepted", action="store_true", help="list what ended with exit code 0")
    arguments = parser.parse_args()
    numbers = range(arguments.cases) if arguments.only is None else [arguments.only]
    ends: Counter[str] = Counter()
    commands: Counter[str] = Counter()
    bad = 0
    begun = time.monotonic()
    slowest: list[tuple[float, str]] = []
    with Fuzzer.open() as fuzzer:
        for number in numbers:
            judged = fuzzer.run(draw(number, arguments.seed))
            ends[f"exit code {judged.finished.code}"] += 1
            commands[_command(judged)] += 1
            slowest = sorted([*slowest, (judged.seconds, judged.case.title)])[-5:]
            if judged.faults or arguments.only is not None:
                bad += bool(judged.faults)
                _show(judged, whole=arguments.only is not None)
            elif arguments.accepted and judged.finished.code == 0:
                print(f"{number} {' '.join(judged.case.words)[:100]} | {judged.case.title[:200]!r}")
    seconds = time.monotonic() - begun
    print(
        f"{sum(ends.values())} cases of {len(commands)} commands with seed {arguments.seed}", end=""
    )
    print(f" in {seconds:.0f} s: {bad} with a fault")
    print(", ".join(f"{end} {count}" for end, count in sorted(ends.items())))
    print("slowest: " + "; ".join(f"{s:.0f} s {title[:80]!r}" for s, title in slowest[::-1]))
    sys.exit(1 if bad else 0)


def _command(judged: Judgement) -> str:
    words = judged.case.words
    return " ".join(words[:2] if words[0] in ("machine", "comm", "learn") else words[:1])


def _show(judged: Judgement, *, whole: bool) -> None:
    case = judged.case
    print(f"--- {case.number}: {', '.join(judged.faults)} ({judged.seconds:.1f} s)")
    print(f"    {case.title[:300]!r}")
    print("    autotune " + " ".join(word[:100] or "''" for word in case.words))
    text = judged.finished.err if whole else judged.finished.err[-700:]
    print("    " + repr(text)[1:-1].replace("\\n", "\n    "), flush=True)
    if whole:
        print(judged.finished.out)
        for name, data in case.files.items():
            print(f"== {name}\n{data.decode(errors='replace')}")


if __name__ == "__main__":
    main()
