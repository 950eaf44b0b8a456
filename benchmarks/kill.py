"""Is anything lost or doubled when tuners are killed, share a store, or run hostile candidates?

    python benchmarks/kill.py [--points 200] [--together 4] [--seed 1]

Killed: a small study is begun and its process killed with SIGKILL at a random moment of a random
stage, then resumed, and killed again, until it is done; then the next is begun. Together: several
tuners work on one store at once, first on one study, then on one each. Candidates that crash, hang,
lie, flood, eat memory and fork are the matter of ``kill_hostile.py``.

The launcher of the study copies what the measuring programs print to a log, so that what was taken
can be compared with what is stored. Lost: samples that were taken and are not stored, beyond the
one that may be under way when a kill comes; samples, outcomes and studies that were stored and no
longer are; studies that cannot be resumed. Doubled: samples that are stored more often than they
were taken; candidates that are searched again though the study has their result. The goal is 0 and
0.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from kill_audit import Audit, Scene, Tally

STAGES = ("", "build", "measure", "step", "finalists")
"""A kill comes while the tuner starts, or after one of these words was first read."""
FRESH = 0.3
"""This share of the studies begin without anything built."""


def main() -> None:
    arguments = _arguments()
    chance = random.Random(arguments.seed)
    total = Tally()
    with tempfile.TemporaryDirectory(prefix="autotune-kill-") as name:
        if arguments.points:
            total += _killed(Scene.made(Path(name) / "killed"), chance, arguments)
        if arguments.together:
            total += _together(Scene.made(Path(name) / "together"), arguments.together)
    sys.exit(1 if total.lost or total.doubled else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--points", type=int, default=200, help="kills; 0: none")
    parser.add_argument("--together", type=int, default=4, help="tuners at once; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--longest", type=float, default=1.5, help="seconds from a stage to a kill, at most"
    )
    return parser.parse_args()


# --- kill -9 ----------------------------------------------------------------------------------


def _killed(scene: Scene, chance: random.Random, arguments: argparse.Namespace) -> Tally:
    tally, audit = Tally(), Audit(scene)
    stages: dict[str, int] = {}
    finished, kills = True, 0
    while kills < arguments.points:
        if finished and chance.random() < FRESH:
            shutil.rmtree(scene.cache / "build", ignore_errors=True)
        resume = not finished and audit.studies() > 0
        stage, error = _one(scene, chance, arguments.longest, resume=resume)
        finished = stage == ""
        if error:
            print(f"the tuner failed: {error}", flush=True)
            tally += Tally(lost=1)
            finished = True
        kills += not finished
        if stage:
            stages[stage] = stages.get(stage, 0) + 1
        time.sleep(0.2)  # the measuring program ends with its parent
        tally += audit.look(allowed=0 if finished else 1, alone=True)
        print(f"kill {kills}: {stage or 'finished'}; {tally}", flush=True)
    done = audit.finished()
    print(f"killed in: {', '.join(f'{k} {n}' for k, n in sorted(stages.items()))}")
    print(f"{kills} kills, {done} studies finished between them: {tally}", flush=True)
    return tally


def _one(scene: Scene, chance: random.Random, longest: float, *, resume: bool) -> tuple[str, str]:
    """Run the tuner and kill it; the stage it was in, empty where it was done before, and why."""
    target = chance.choice(STAGES)
    wait = chance.uniform(0.0, longest if target else 2 * longest)
    child = scene.tuner("--resume") if resume else scene.tuner()
    heard = ["start"]
    reached = threading.Event()

    def listen() -> None:
        for line in child.stderr or ():
            heard.append(line.strip())
            if target and target in line:
                reached.set()
        reached.set()

    listener = threading.Thread(target=listen)
    listener.start()
    if target:
        reached.wait()
    try:
        child.wait(wait)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
    code = child.wait()
    listener.join(10)
    if code == -signal.SIGKILL:
        return _stage(heard[-1]), ""
    return "", "" if code == 0 else " / ".join(heard[-3:])


def _stage(line: str) -> str:
    return next((word for word in reversed(STAGES) if word and word in line), "start")


# --- several at once --------------------------------------------------------------------------


def _together(scene: Scene, count: int) -> Tally:
    """One begins a study, the others continue it meanwhile; then as many begin one each."""
    audit = Audit(scene)
    first = scene.tuner()
    while audit.studies() == 0 and first.poll() is None:
        time.sleep(0.05)
    failed = _wait([first, *(scene.tuner("--resume") for _ in range(count - 1))])
    tally = audit.look(allowed=0, alone=False) + Tally(lost=failed)
    print(f"{count} tuners on one study: {failed} failed; {tally}", flush=True)
    before = audit.studies()
    failed = _wait([scene.tuner() for _ in range(count)])
    lacking = before + count - audit.studies()
    tally += audit.look(allowed=0, alone=False) + Tally(lost=failed + lacking)
    print(f"{count} tuners on one store: {failed} failed, {lacking} studies lack; {tally}")
    return tally


def _wait(children: list[subprocess.Popen[str]]) -> int:
    """How many failed."""
    failed = 0
    for child in children:
        error = child.communicate()[1]
        if child.returncode != 0:
            failed += 1
            print(error[-2000:], flush=True)
    return failed


if __name__ == "__main__":
    if os.name != "posix":
        sys.exit("needs a POSIX system")
    main()
