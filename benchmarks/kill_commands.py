"""What is lost, doubled or left over when any command that measures is ended at random moments?

    python benchmarks/kill_commands.py [--kills 200] [--seed 1] [--only tune,map]

A program of a user with a slow build, a candidate with a child and one with a daemon that leaves
its session is tuned and mapped; MPI is timed; the host is calibrated; models are compared and
fitted. At a random moment the command gets SIGKILL, SIGTERM, SIGINT or SIGHUP; with ``both`` its
guards are killed with it. After a few kills the command runs to its end.

Lost: timed runs of the program that are not in the store, beyond those that only verify a candidate
and the one under way at the kill; files of samples, pages and tables that cannot be read. Doubled:
samples that are stored more than once. Left: processes that a command started and that run on;
files in scratch folders after a run that was not disturbed. The goal is 0 everywhere.
"""

import argparse
import csv
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

TOY = """\
#!/bin/sh
# toy.sh N BLOCK KIND: prints a time that no other run prints, and logs it
cd "{folder}"
case $3 in
  child) sleep {sleep} & child=$! ;;
  daemon) setsid env -i sleep {sleep} >/dev/null 2>&1 & ;;
esac
sleep 0.02
time=0.010$(date +%N)
echo "$KILL_ROUND $1-$2-$3 $time" >> log
[ -z "$child" ] || kill $child
echo "time $time s"
echo "sum 1"
"""
BUILD = """\
sleep {sleep} & child=$!
sleep 0.4
cp "{folder}/toy.sh" "$1"
chmod +x "$1"
kill $child
"""
PROGRAM = """\
schema: autotune.program/1
title: a program with children and a slow build
sources: [toy.sh, build.sh]
build: [sh, "{source folder}/build.sh", "{output}", "-DBLOCK={block}"]
run: ["{output}", "{n}", "{block}", "{kind}"]
arguments: {n: 10}
size: n
threads: one
parameters: {block: [1, 2], kind: [plain, child, daemon]}
baseline: {block: 1, kind: plain}
time: {pattern: "time (\\\\S+) s"}
check: {pattern: "sum (\\\\S+)", tolerance: 1e-12}
"""
STUDY = """\
schema: autotune.config/1
title: killed
machine: generic-x86-64
program: toy.yaml
problems: [{arguments: {n: 10}}, {arguments: {n: 20}}]
threads: [1]
selection: {top: 2, random: 2, baseline: true, seed: 1}
search: {budget: 5, warm_start: false}
measuring: {rounds: 3, samples: 1, busy: 0}
limits: {compile: 20 s, run: 10 s}
"""
COMMANDS = {
    "tune": ("tune", "study.yaml"),
    "map": ("map", "study.yaml", "--sizes", "10,20,40", "--budget-evaluations", "4"),
    "comm": ("comm", "bench", "--operations", "barrier,pingpong", "--sizes", "8 B,1 KiB",
             "--repeats", "2", "--budget-seconds", "4", "-o", "samples.jsonl"),
    "calibrate": ("machine", "calibrate", "--budget-seconds", "5"),
    "compare": ("learn", "compare", "runs.csv", "--models", "ridge", "-o", "page.html"),
    "fit": ("learn", "fit", "runs.csv", "--models", "pool", "--predict", "runs.csv",
            "-o", "predicted.csv"),
}  # fmt: skip
SIGNALS = ("SIGKILL", "SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "both")
LONGEST_END = 15.0
"""Seconds within which all that a command started ends with it."""
IN_A_ROW = 6


@dataclass
class Tally:
    """What was lost, doubled and left over, with a line for each."""

    kills: Counter[str] = field(default_factory=Counter)
    samples: int = 0
    stored: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def fault(self, kind: str, text: str) -> None:
        self.faults[kind] += 1
        print(f"  {kind}: {text}", flush=True)


class Scene:
    """A folder with the program, the studies and the tables, and the process that runs in it."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        self.folder, self.tally = folder, tally
        self.sleep = f"9{os.getpid()}.25"
        (folder / "tmp").mkdir(parents=True)
        text = {"toy.sh": TOY, "build.sh": BUILD}
        for name, content in text.items():
            filled = content.replace("{folder}", str(folder)).replace("{sleep}", self.sleep)
            (folder / name).write_text(filled, encoding="utf-8")
        (folder / "toy.yaml").write_text(PROGRAM, encoding="utf-8")
        (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
        rows = [f"{n},{p},{n * n / p + 0.1 * n}" for n in range(16, 40) for p in (1, 2, 4, 8)]
        (folder / "runs.csv").write_text("\n".join(["n,p,time_s", *rows, ""]), encoding="utf-8")
        (folder / "log").touch()
        self.round = 0
        self.orphans: set[int] = set()
        """What runs with its guards killed left, for the next run to its end to remove."""
        self._kept: dict[tuple[object, ...], float] = {}

    def start(self, words: tuple[str, ...]) -> subprocess.Popen[str]:
        """A command at work."""
        self.round += 1
        environment = {
            **os.environ,
            "AUTOTUNE_CACHE": str(self.folder / "cache"),
            "AUTOTUNE_DATA": str(self.folder / "data"),
            "AUTOTUNE_STORE": "store.sqlite",
            "TMPDIR": str(self.folder / "tmp"),
            "KILL_ROUND": str(self.round),
            "LC_ALL": "C.UTF-8",
        }
        return subprocess.Popen(
            [sys.executable, "-m", "autotune", *words],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def left(self) -> dict[int, str]:
        """Processes that run in the folder or carry its mark, with their command lines."""
        marks = (str(self.folder), self.sleep)
        running = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                line = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                )
                texts = (
                    line,
                    str((entry / "cwd").readlink()),
                    (entry / "environ").read_text("latin-1"),
                )
            except OSError:
                continue
            if any(mark in text for mark in marks for text in texts):
                running[int(entry.name)] = line[:120]
        return running

    def scratch(self) -> list[str]:
        """Files that only a run at work needs."""
        cache = self.folder / "cache"
        found = [*(self.folder / "tmp").iterdir(), *(cache / "run").glob("*")]
        found += [*cache.rglob(".new-*"), *cache.rglob("tmp*"), *self.folder.glob(".*")]
        return sorted({str(path.relative_to(self.folder)) for path in found})

    def audit_store(self, *, running: int) -> None:
        """Compare the log of the program with the store; ``running``: runs under way at a kill."""
        stored = self._samples()
        for key, seconds in self._kept.items():
            if stored.get(key) != seconds:
                self.tally.fault("lost", f"{key} was stored and is no more")
        counts = Counter(stored.values())
        for seconds, times in counts.items():
            if times > 1:
                self.tally.fault("doubled", f"{seconds} is stored {times} times")
        runs: dict[tuple[str, str], list[float]] = defaultdict(list)
        lines = [line.split() for line in (self.folder / "log").read_text().splitlines()]
        for number, candidate, seconds in lines:
            runs[number, candidate].append(float(seconds))
        # the first run may verify a candidate; the second of the baseline repeats its answer
        lost = [
            f"{candidate} {seconds}"
            for (number, candidate), times in runs.items()
            if number == str(self.round) and "daemon" not in candidate
            for seconds in times[1 + candidate.endswith("1-plain") :]
            if seconds not in counts
        ]
        for text in lost[running:]:
            self.tally.fault("lost", text)
        logged = {float(seconds) for _, _, seconds in lines}
        for seconds in counts:
            if seconds not in logged:
                self.tally.fault("doubled", f"{seconds} is stored and was never taken")
        self.tally.samples, self.tally.stored = len(lines), len(stored)
        self._kept = stored

    def _samples(self) -> dict[tuple[object, ...], float]:
        if not (self.folder / "store.sqlite").exists():
            return {}
        connection = sqlite3.connect(self.folder / "store.sqlite", timeout=60)
        try:
            if connection.execute("pragma integrity_check").fetchone()[0] != "ok":
                self.tally.fault("lost", "the store is damaged")
            tables = {row[0] for row in connection.execute("select name from sqlite_master")}
            if "samples" not in tables:
                return {}
            rows = connection.execute("select run, candidate, launch, number, seconds from samples")
            return {tuple(row[:4]): float(row[4]) for row in rows}
        finally:
            connection.close()

    def audit_files(self) -> None:
        """Files that commands wrote are whole."""
        samples = self.folder / "samples.jsonl"
        if samples.exists():
            lines = samples.read_bytes().split(b"\n")
            for number, line in enumerate(lines[:-1], 1):  # the last may be cut off by the kill
                try:
                    json.loads(line)
                except ValueError:
                    self.tally.fault("lost", f"samples.jsonl:{number} is torn: {line[:60]!r}")
        page = self.folder / "page.html"
        if page.exists() and "</html>" not in page.read_text(encoding="utf-8"):
            self.tally.fault("lost", "page.html is torn")
        table = self.folder / "predicted.csv"
        if table.exists():
            with table.open(newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
            if len(rows) != 97 or len({len(row) for row in rows}) != 1:
                self.tally.fault("lost", f"predicted.csv is torn: {len(rows)} rows")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(COMMANDS), help="commands between commas")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    names = arguments.only.split(",")
    tally = Tally()
    longest = dict.fromkeys(names, 8.0)
    with tempfile.TemporaryDirectory(prefix="autotune-kills-") as folder:
        scene = Scene(Path(folder) / "scene", tally)
        while tally.kills.total() < arguments.kills:
            name = chance.choice(names)
            for _ in range(chance.randint(1, IN_A_ROW)):
                if tally.kills.total() < arguments.kills:
                    _kill(scene, name, longest[name], chance)
            longest[name] = _undisturbed(scene, name)
        while left := scene.left():
            _end(left)
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(tally.kills.items()))
    print(f"{tally.kills.total()} kills ({kinds})")
    print(f"{tally.samples} runs of the program, {tally.stored} samples stored")
    print(
        ", ".join(f"{kind} {tally.faults[kind]}" for kind in ("lost", "doubled", "left", "words"))
    )
    sys.exit(1 if tally.faults else 0)


def _words(scene: Scene, name: str) -> tuple[str, ...]:
    words = COMMANDS[name]
    begun = name == "tune" and (scene.folder / "begun").exists()
    return (*words, "--resume") if begun else words


def _kill(scene: Scene, name: str, longest: float, chance: random.Random) -> None:
    """Start a command, end it at a random moment, and look at what it leaves."""
    kind = chance.choice(SIGNALS[:-1] if name in ("compare", "fit") else SIGNALS)
    child = scene.start(_words(scene, name))
    try:
        child.wait(chance.uniform(0.1, 1.1 * longest))
    except subprocess.TimeoutExpired:
        guards = _guards(child.pid) if kind == "both" else []
        child.send_signal(signal.SIGKILL if kind == "both" else signal.Signals[kind])
        for guard in guards:
            os.kill(guard, signal.SIGKILL)
        scene.tally.kills[f"{name} {kind}"] += 1
    _, err = child.communicate()
    _judge(scene.tally, f"{name} {kind}", child.returncode, err)
    until = time.monotonic() + LONGEST_END
    if kind == "both":
        scene.orphans |= set(scene.left())
    while (left := scene.left()).keys() - scene.orphans and time.monotonic() < until:
        time.sleep(0.1)
    left = {process: line for process, line in left.items() if process not in scene.orphans}
    if left:
        scene.tally.fault("left", f"{name} {kind}: {left}")
        _end(left)
    scene.audit_store(running=1)
    scene.audit_files()
    if name == "tune":
        (scene.folder / "begun").touch() if scene._kept else None
    print(f"{scene.tally.kills.total()}: {name} {kind}, exit code {child.returncode}", flush=True)


def _judge(tally: Tally, title: str, code: int, err: str) -> None:
    ended = (-signal.SIGINT, -signal.SIGHUP, -signal.SIGTERM)  # before it begins, after its end
    if code not in (0, 130, -signal.SIGKILL, *ended) or "Traceback" in err:
        tally.fault("words", f"{title}: exit code {code}: {err[-400:]}")


def _guards(parent: int) -> list[int]:
    path = Path(f"/proc/{parent}/task")
    children = [pid for task in path.glob("*/children") for pid in task.read_text().split()]
    return [
        int(pid)
        for pid in children
        if b"guard_process" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def _undisturbed(scene: Scene, name: str) -> float:
    """Run a command to its end; all that earlier runs left must be gone. The seconds it took."""
    begun = time.monotonic()
    child = scene.start(_words(scene, name))
    scene.orphans.clear()
    _, err = child.communicate()
    seconds = time.monotonic() - begun
    if child.returncode != 0:
        scene.tally.fault("words", f"{name}: exit code {child.returncode}: {err[-400:]}")
    if left := scene.left():
        scene.tally.fault("left", f"after {name}: {left}")
        _end(left)
    if scratch := scene.scratch():
        scene.tally.fault("left", f"after {name}: {scratch}")
    scene.audit_store(running=0)
    scene.audit_files()
    if name == "tune":
        (scene.folder / "begun").unlink(missing_ok=True)
    print(f"{name} ended after {seconds:.1f} s, {scene.tally.stored} samples stored", flush=True)
    return seconds


def _end(processes: dict[int, str]) -> None:
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    if sys.platform != "linux":
        sys.exit("needs Linux: it looks for processes in /proc")
    main()
