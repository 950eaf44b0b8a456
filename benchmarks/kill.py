"""Is anything lost or doubled when the tuner is killed at a random moment?

    python benchmarks/kill.py [--points 50] [--seed 1]

A small study is begun and its process killed with SIGKILL after a random time, then resumed, and
killed again. The measuring programs write what they print to a log of their own, so that what was
taken can be compared with what is stored. Printed: samples taken, stored, lost (beyond the one
sample that may be under way when the kill comes) and doubled. The goal is 0 and 0.
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

CONFIG = """\
schema: autotune.config/1
title: killed at random
machine: generic-x86-64
skeleton: pirk
space: pirk-orders
problems:
  - {{ivp: heat2d, method: radau-iia-5, correctors: 4, size: 40}}
  - {{ivp: wave1d, method: radau-iia-5, correctors: 4, size: 3000}}
threads: [1]
launcher: "{launcher} {{command}}"
selection: {{top: 3, random: 1}}
measuring: {{rounds: 8, samples: 4, min_sample: 4 ms, busy: 0, verify_steps: 2}}
"""

LAUNCHER = """\
#!/bin/sh
# passes the program's lines on, and keeps a copy: the program writes to both through tee
"$@" | tee -a "{log}"
"""


def main() -> None:
    arguments = _arguments()
    generator = random.Random(arguments.seed)
    lost = doubled = taken = stored = killed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "taken.jsonl"
        launcher = folder / "launch.sh"
        launcher.write_text(LAUNCHER.format(log=log), encoding="utf-8")
        launcher.chmod(0o755)
        config = folder / "killed.yaml"
        config.write_text(CONFIG.format(launcher=launcher), encoding="utf-8")
        finished = True
        for point in range(arguments.points):
            command = [sys.executable, "-m", "autotune", "tune", str(config)]
            command += ["--store", str(folder / "store.sqlite")]
            if not finished and (folder / "store.sqlite").exists() and _studies(folder):
                command.append("--resume")
            child = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            time.sleep(generator.uniform(0.2, arguments.longest))
            finished = child.poll() is not None
            child.send_signal(signal.SIGKILL)
            error = child.communicate()[1]
            if finished and child.returncode != 0:
                sys.exit(f"the tuner failed: {error}")
            killed += not finished
            time.sleep(0.3)  # the measuring program dies with its parent
            print(f"point {point + 1}: {'finished' if finished else 'killed'}", flush=True)
            a, b, c, d = _compare(log, folder / "store.sqlite", 0 if finished else 1)
            taken, stored, lost, doubled = taken + a, stored + b, lost + c, doubled + d
            log.unlink(missing_ok=True)
    print(f"{killed} kills: {taken} samples taken, {stored} stored, lost {lost}, doubled {doubled}")
    sys.exit(1 if lost or doubled else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=12.0, help="seconds until a kill")
    return parser.parse_args()


def _studies(folder: Path) -> int:
    with sqlite3.connect(folder / "store.sqlite") as connection:
        return int(connection.execute("select count(*) from studies").fetchone()[0])


_seen: Counter[tuple[float, int]] = Counter()


def _compare(log: Path, store: Path, allowed: int) -> tuple[int, int, int, int]:
    """Samples taken and stored since the last call, how many are lost, how many doubled."""
    taken: Counter[tuple[float, int]] = Counter()
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue  # cut off by the kill
        if row.get("kind") == "sample":
            taken[(row["seconds"], row["steps"])] += 1
    stored: Counter[tuple[float, int]] = Counter()
    if store.exists():
        with sqlite3.connect(store) as connection:
            query = "select seconds, steps from samples"
            stored = Counter((float(s), int(n)) for s, n in connection.execute(query))
    new = stored - _seen
    _seen.update(new)
    missing = (taken - new).total()
    extra = (new - taken).total()
    return taken.total(), new.total(), max(0, missing - allowed), extra


if __name__ == "__main__":
    if os.name != "posix":
        sys.exit("needs a POSIX system")
    main()
