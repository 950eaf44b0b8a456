"""An exhaustive study as a recorded space: T4, packed, with the predictions of the engine.

    autotune tune CONFIG --exhaustive --store all.sqlite
    python benchmarks/record_space.py all.sqlite [STUDY] [--problem LABEL] -o NAME.json.gz

Left out are the single samples, unless --samples is given, and what all candidates have in common
but for the problem. The file is written without a time of day in it, so that the same study gives
the same bytes. `benchmarks/replay.py NAME.json.gz` and `autotune tune --replay NAME.json.gz` search
it, with the predictions.
"""

import argparse
import gzip
import json
import sys
from pathlib import Path
from typing import Any

from autotune.commands.tune.flow import study
from autotune.errors import AutotuneError
from autotune.files.recorded.read_recorded import read
from autotune.results.evaluate.study_evaluation import ProblemEvaluation
from autotune.results.export import t4_export

_DIGITS = 7


def main() -> None:
    arguments = _arguments()
    try:
        result = study(arguments.study, arguments.store).evaluation
        problems = [p for p in result.problems if arguments.problem in ("", p.label)]
        if len(problems) != 1:
            labels = ", ".join(problem.label for problem in result.problems)
            sys.exit(f"the study has {labels}: name one with --problem")
        missing = _unmeasured(problems[0])
        if missing:
            print(f"{missing} candidates were not measured: not exhaustive", file=sys.stderr)
        text, notes = t4_export.write(result, problems)
        for note in notes:
            print(note, file=sys.stderr)
        packed = packed_rows(json.loads(text), samples=arguments.samples)
        arguments.output.write_bytes(packed)
        space = read(arguments.output)
    except AutotuneError as error:
        sys.exit(str(error))
    print(f"{arguments.output}: {len(space)} candidates, {space.failures} failed, best", end=" ")
    print(f"{space.best:.4g} s, within 5 % {space.within(0.05).sum()}, {len(packed)} bytes")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("store", help="the results file")
    parser.add_argument("study", nargs="?", default="", help="the latest if left out")
    parser.add_argument("--problem", default="", help="label of the problem")
    parser.add_argument("--samples", action="store_true", help="keep the single samples")
    parser.add_argument("-o", "--output", type=Path, required=True)
    return parser.parse_args()


def _unmeasured(problem: ProblemEvaluation) -> int:
    return problem.space.candidates - len(problem.evaluated)


def packed_rows(document: dict[str, Any], *, samples: bool) -> bytes:
    """A T4 document as packed text without times of day, and without single samples if not asked.

    The document is changed.
    """
    for row in document["results"]:
        del row["timestamp"]
        if not samples:
            row["times"] = {}
        for measurement in row["measurements"]:
            if isinstance(measurement["value"], float):
                measurement["value"] = float(f"{measurement['value']:.{_DIGITS}g}")
    lines = json.dumps(document, separators=(",", ":"))
    return gzip.compress(lines.encode(), mtime=0)


if __name__ == "__main__":
    main()
