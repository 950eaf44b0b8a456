"""How often ``autotune check`` raises a false alarm, and which slowdowns it detects.

``record`` launches one program against itself in many rounds, on this host as busy as it is, and
keeps the times. ``score`` draws runs of consecutive rounds from such a record (the default one was
taken on two cores that nine other processes used), makes one side slower by a known factor, and
lets the test of ``autotune check`` decide, look by look. Rounds keep their order, so that drift and
bursts stay as they were; which launch of a round is the new program's is drawn.

    python benchmarks/regression_gate.py
    python benchmarks/regression_gate.py record examples/... -o FILE.json.gz --rounds 200
"""

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from autotune.commands.compare.matching_candidates import ListedSpace
from autotune.commands.compare.side_builder import SideBuilder
from autotune.commands.rank.ranked_space import load
from autotune.measuring.conditions import host_load
from autotune.measuring.conditions.host_lock import HostLock
from autotune.statistics.drift import levels
from autotune.statistics.launch_times import LaunchTime
from autotune.statistics.slowdown_test import SlowdownTest
from autotune.tuning.side_by_side import SideLaunches

RECORDED = Path(__file__).parent / "recorded" / "noise" / "sum-busy.json.gz"
SLOWDOWNS = (0.0, 0.03, 0.05, 0.08, 0.10, 0.15, 0.20, 0.30, 0.50, 1.0)
Twins = Mapping[str, Mapping[int, LaunchTime]]


def main() -> None:
    arguments = _arguments()
    if arguments.command == "record":
        _record(arguments.config, arguments.output, arguments.rounds)
    else:
        _score(arguments)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command")
    record = commands.add_parser("record", help="one program against itself, on this host")
    record.add_argument("config", type=Path)
    record.add_argument("-o", "--output", type=Path, required=True)
    record.add_argument("--rounds", type=int, default=200)
    score = commands.add_parser("score", help="false alarms and detected slowdowns (default)")
    for target in (parser, score):
        target.add_argument("--noise", type=Path, default=RECORDED, help="a record")
        target.add_argument("--pairs", type=int, default=200)
        target.add_argument("--limit", type=float, default=0.03)
        target.add_argument("--rounds-each", type=int, default=40)
        target.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _record(config: Path, output: Path, rounds: int) -> None:
    """Launch the baseline of a config against itself and keep the times of all launches."""

    def show(stage: str, done: int, total: int, detail: str = "") -> None:
        if done % 50 == 0:
            print(f"{stage} {done}/{total} {detail}")

    space = ListedSpace.of(load(config))
    candidate = space.baseline(space.workload.setup.problems[0])
    built = SideBuilder(space, show, float("inf")).build(candidate)
    if built.program is None:
        raise SystemExit(built.fault)
    load_before = str(host_load.observe())
    launches = SideLaunches(
        programs={"A": built.program, "B": built.program},
        lock=HostLock(show),
        progress=show,
        words="launch A and B",
    )
    while launches.rounds < rounds and launches.round(rounds):
        pass
    times = {name: [asdict(t) for t in launches.times(name).values()] for name in ("A", "B")}
    output.parent.mkdir(parents=True, exist_ok=True)
    document = {"program": candidate.label, "host": load_before, "launches": times}
    with gzip.open(output, "wt", encoding="utf-8") as file:
        json.dump(document, file)
    print(f"wrote {output}: {launches.rounds} rounds; {load_before}")


def read_twins(path: Path) -> tuple[str, Twins]:
    """The host of a record in words, and its launches by side and round."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        document = json.load(file)
    sides = {
        name: {number: LaunchTime(**launch) for number, launch in enumerate(launches)}
        for name, launches in document["launches"].items()
    }
    return f"{document['program']}; {document['host']}", sides


def drawn_pair(
    twins: Twins, rounds: int, slowdown: float, chance: random.Random
) -> tuple[dict[int, LaunchTime], dict[int, LaunchTime]]:
    """New and old side of so many consecutive rounds of a record; the new one is slower.

    Both sides of a record are one program, launched in an order drawn at random, so that which of
    the two launches of a round is called new is drawn for every round.
    """
    total = len(twins["A"])
    start = chance.randrange(total)
    new: dict[int, LaunchTime] = {}
    old: dict[int, LaunchTime] = {}
    for number in range(rounds):
        first, second = chance.sample(["A", "B"], 2)
        time = twins[first][(start + number) % total]
        new[number] = replace(time, seconds=time.seconds * (1 + slowdown))
        old[number] = twins[second][(start + number) % total]
    return new, old


def outcomes(
    twins: Twins, test: SlowdownTest, slowdown: float, pairs: int, seed: int
) -> tuple[Counter[str], float, float]:
    """How often each outcome came, the mean number of rounds, and the median resolution."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    rounds, resolutions = [], []
    for _ in range(pairs):
        reading = test.decide(*drawn_pair(twins, test.most, slowdown, chance))
        assert reading is not None
        counts[reading.outcome] += 1
        rounds.append(reading.rounds)
        resolutions.append(reading.resolution)
    return counts, float(np.mean(rounds)), float(np.median(resolutions))


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z, share = 1.96, hits / total
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2)) / (1 + z**2 / total)
    return middle - half, middle + half


def _score(arguments: argparse.Namespace) -> None:
    words, twins = read_twins(arguments.noise)
    test = SlowdownTest(limit=arguments.limit, most=arguments.rounds_each)
    noise = levels(twins).noise
    print(f"{words}\n{len(twins['A'])} rounds, {100 * noise:.1f} % between launches of a round")
    print(
        f"limit {100 * test.limit:g} %, at most {test.most} rounds, {100 * test.error:g} % false"
        f" alarms allowed at the limit, {arguments.pairs} pairs\n"
    )
    print("slowdown  regression        95 %   ruled out  open  rounds  would be proven")
    for slowdown in SLOWDOWNS:
        counts, rounds, resolution = outcomes(
            twins, test, slowdown, arguments.pairs, arguments.seed
        )
        print(_row(slowdown, counts, arguments.pairs, rounds, resolution))


def _row(
    slowdown: float, counts: Mapping[str, int], pairs: int, rounds: float, resolution: float
) -> str:
    low, high = wilson(counts.get("slower", 0), pairs)
    shares: Sequence[float] = [100 * counts.get(n, 0) / pairs for n in ("slower", "within", "open")]
    return (
        f"{100 * slowdown:6.1f} %  {shares[0]:8.1f} %  {100 * low:4.1f} to {100 * high:4.1f}"
        f"  {shares[1]:7.1f} %  {shares[2]:4.0f} %  {rounds:5.1f}  {100 * resolution:8.1f} %"
    )


if __name__ == "__main__":
    main()
