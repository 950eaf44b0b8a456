"""Minutes to the first trusted answer for ten programs that were not written for autotune.

    python benchmarks/foreign.py [--only NAME ...] [--list] [--cache FOLDER] [-o FILE.json]

Fetches ten programs from Debian and PyPI (lz4, zstd, Eigen's bench_gemm, STREAM, a Fortran code, a
numba script, a Makefile project, a CMake project, an MPI program, a Python command), then types for
each what a user would: ``autotune init``, at most one edit that init itself names, and ``autotune
tune --budget-seconds``. Printed for each: wall and CPU seconds to the answer, edits, what was
tuned, the best against the baseline with its 90 % interval, and the verdict: a winner, a gain (the
chosen one is surely faster than the baseline, and others may be as fast), the baseline or honestly
undecided are trusted answers; of what failed it says why. Goal: a trusted answer within
180 s on two cores, with one edit at most. Nothing is installed but into the cache folder; it needs
apt, dpkg-deb and pip, a few minutes and 300 MB for the first fetch.
"""

import argparse
import dataclasses
import json
import os
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

import foreign_fetch
import foreign_programs
import foreign_tries

from autotune.errors import InputError
from autotune.measuring.conditions import host_load

EXAMPLE = "Example: python benchmarks/foreign.py --only lz4 --only stream -o foreign.json"


def main() -> None:
    """Fetch and try the programs; exit code 1 if one has no trusted answer in time."""
    arguments = _arguments()
    if arguments.list:
        for program in foreign_programs.PROGRAMS:
            print(f"{program.name:11} {program.kind:22} autotune init {' '.join(program.words)}")
        return
    try:
        results = _results(arguments)
    except InputError as error:
        sys.exit(f"error: {error}")
    print("\n".join(table(results)))
    if not all(result.in_time for result in results):
        sys.exit(1)


def _results(arguments: argparse.Namespace) -> list[foreign_tries.ForeignResult]:
    programs = foreign_programs.chosen(arguments.only)
    sources = foreign_fetch.Sources(arguments.cache, _say)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep.absolute() if arguments.keep else Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        sources.inputs(folder)
        for program in programs:
            sources.fetch(program)
        trial = foreign_tries.Trial(sources, folder, arguments.budget_seconds)
        results = []
        for number, program in enumerate(programs, 1):
            _say(f"{program.name} ({number} of {len(programs)}): {host_load.observe()}")
            results.append(trial.tried(program))
            _say(f"{program.name}: {results[-1].verdict} after {results[-1].seconds:.0f} s")
            _write(arguments.output, results)
    return results


def table(results: Sequence[foreign_tries.ForeignResult]) -> list[str]:
    """The table of the results, and the number that met the goal."""
    lines = [
        f"{'program':11} {'kind':22} {'init':>6} {'total':>6} {'CPU':>6} {'edits':>5}"
        f" {'combin.':>8} {'against the baseline':>24} {'checked':>7}  verdict"
    ]
    for result in results:
        gain = "-"
        if result.speedup is not None:
            gain = f"{result.speedup:.2f}x"
            if result.speedup_interval is not None:
                low, high = result.speedup_interval
                gain += f" ({low:.2f} to {high:.2f})"
        lines.append(
            f"{result.name:11} {result.kind:22} {result.init_s:4.0f} s {result.seconds:4.0f} s"
            f" {result.cpu_s:4.0f} s {result.edits:5} {result.combinations:8} {gain:>24}"
            f" {'yes' if result.checked else 'no':>7}  {result.verdict}"
        )
        tuned = ", ".join(result.tuned) or "nothing"
        lines += [f"    {result.command}", *_folded(f"tuned: {tuned}; best: {result.best or '-'}")]
        lines += _folded(result.reason) if result.reason else []
    met = sum(result.in_time for result in results)
    lines.append(
        f"{met} of {len(results)} programs: a trusted answer within {foreign_tries.GOAL_S:.0f} s"
    )
    return lines


def _folded(text: str) -> list[str]:
    return textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="      ")


def _write(output: Path | None, results: Sequence[foreign_tries.ForeignResult]) -> None:
    if output is None:
        return
    rows = [{**dataclasses.asdict(result), "in_time": result.in_time} for result in results]
    output.write_text(json.dumps({"goal_s": foreign_tries.GOAL_S, "programs": rows}, indent=1))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    default = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "autotune-foreign"
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLE, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="the programs; nothing is fetched")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="this one; may be repeated"
    )
    parser.add_argument(
        "--cache", type=Path, default=default, metavar="FOLDER", help=f"default: {default}"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="the folder of the written configs, kept"
    )
    parser.add_argument(
        "--budget-seconds", type=float, default=120.0, metavar="S", help="of tune; default: 120"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="results as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
