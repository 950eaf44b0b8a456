"""Do candidates that crash, hang, lie, flood, eat memory or fork cost anything but themselves?

    python benchmarks/kill_hostile.py

Two studies: an external program whose parameter says how it behaves, and generated code whose
launcher behaves so in place of some of the programs. Printed: the status of each behaviour; how
many samples of the good candidates were taken, stored, lost, doubled; how many processes are left
over. The goal is 0 lost, 0 doubled, 0 left, each bad candidate a result of its own, and exit code
0.
"""

import os
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from kill_audit import CONFIG, Audit, Scene

MODES = (
    "good", "fine", "crash", "hang", "lie", "garbage", "flood", "write", "eat", "fork", "stray",
    "turn",
)  # fmt: skip
BAD = {
    "crash": {"crashed"},
    "hang": {"timed-out"},
    "lie": {"wrong-result"},
    "garbage": {"crashed"},
    "flood": {"crashed"},
    "write": {"crashed"},
    "eat": {"crashed", "timed-out"},
    "fork": {"timed-out"},
    "stray": {"crashed"},
    "turn": {"wrong-result"},
}
"""The statuses that are right for a behaviour."""
BEHAVIOUR = """\
crash) kill -SEGV $$ ;;
hang) sleep 1000 & sleep 1000 ;;
lie) echo "time 0.001"; echo "check 3.0"; exit 0 ;;
garbage) echo "time soon"; echo "check nan"; exit 0 ;;
flood) yes "time 0.001 check 2.0 and much more" ;;
write) yes "all the same" > "$there/big"; exit 9 ;;
eat) x=aaaaaaaaaaaaaaaa; while :; do x="$x$x$x$x"; done ;;
fork) i=0; while [ $i -lt 100 ]; do sleep 1000 & i=$((i + 1)); done; sleep 1000 ;;
stray) sleep 1000 & echo "time 0.001"; echo "check 2.0"; exit 0 ;;
"""
PROGRAM = """\
schema: autotune.program/1
title: A program of every behaviour
sources: [behave.sh]
run: [sh, "{{source folder}}/behave.sh", "{{mode}}", "{folder}"]
threads: one
parameters:
  mode: [{modes}]
baseline: {{mode: good}}
time: {{pattern: "time ([0-9.]+)"}}
check: {{pattern: "check (\\\\S+)", tolerance: 1e-12}}
"""
BEHAVE = """\
#!/bin/sh
there="$(mktemp -d)"; trap 'rm -rf "$there"' EXIT
case "$1" in
{behaviour}turn)
    mktemp "$2/turns/XXXXXX" > "$there/name"
    echo "time 0.0010"; echo "check 2.$(ls "$2/turns" | wc -l)"; exit 0 ;;
esac
seconds="0.000$(date +%N)1"
echo "$seconds" >> "$2/taken.txt"
echo "time $seconds"; echo "check 2.0"
"""
PROGRAM_CONFIG = """\
schema: autotune.config/1
title: hostile
machine: generic-x86-64
program: ./program.yaml
problems:
  - {arguments: {}}
threads: [1]
selection: {top: 3, random: 3}
search: {warm_start: false}
measuring: {rounds: 3, samples: 2, busy: 0}
limits: {run: 3 s, memory: 512 MiB, output: 100 kB, file: 1 MB}
"""
LAUNCHER = """\
#!/bin/sh
# some of the programs behave badly when timed, by their name; the others are passed on and copied
there="$(mktemp -d)"; trap 'rm -rf "$there"' EXIT
mode=good
[ "$2" = verify ] || case "$(basename "$1" | cut -c1)" in
0) mode=crash ;; 1) mode=hang ;; 2) mode=garbage ;; 3) mode=flood ;; 4) mode=eat ;;
5) mode=fork ;; 6) mode=stray ;;
esac
[ "$2" = verify ] || echo "$(basename "$1") $mode" >> "{folder}/modes.txt"
case "$mode" in
{behaviour}esac
log="$(mktemp "{folder}/taken/XXXXXXXXXX")"
"$@" | tee -a "$log"
"""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="autotune-hostile-") as name:
        bad = _program(Path(name) / "program") + _generated(Path(name) / "generated")
        left = _left_over(name)
    print(f"{bad} faults, {left} processes left over")
    sys.exit(1 if bad or left else 0)


def _program(folder: Path) -> int:
    """The external program: every behaviour is a value of a parameter."""
    folder.mkdir()
    (folder / "turns").mkdir()
    (folder / "behave.sh").write_text(BEHAVE.format(behaviour=BEHAVIOUR), encoding="utf-8")
    text = PROGRAM.format(folder=folder, modes=", ".join(MODES))
    (folder / "program.yaml").write_text(text, encoding="utf-8")
    (folder / "killed.yaml").write_text(PROGRAM_CONFIG, encoding="utf-8")
    scene = Scene(folder)
    code, error, spent = _tuned(scene)
    rows = _rows(
        scene,
        "select json_extract(c.record, '$.label'), p.status, o.status from prepared p"
        " join candidates c on p.candidate = c.identity"
        " left join outcomes o on o.candidate = p.candidate and o.run = p.run",
    )
    faults = code
    good = 0
    for label, built, ended in sorted(rows):
        mode = str(label).split("@")[0]
        status = ended or built
        right = status in BAD.get(mode, {"ok"})
        good += built == "ok" and mode not in BAD
        faults += not right
        print(f"  {mode}: {status}{'' if right else ' (not as expected)'}")
    faults += len(rows) != len(MODES)
    stored = Counter(f"{float(str(s)):.12f}" for (s,) in _good(scene))
    lines = (folder / "taken.txt").read_text(encoding="utf-8").split()
    taken = Counter(f"{float(line):.12f}" for line in lines)
    # neither the runs that verify the good ones are kept, nor the reference run
    lost = max(0, (taken - stored).total() - good - 1)
    doubled = (stored - taken).total()
    print(
        f"external program: exit code {code}, {len(rows)} of {len(MODES)} behaviours,"
        f" {taken.total()} runs, {stored.total()} samples of good ones stored, lost {lost}, doubled"
        f" {doubled}, {spent:.0f} s{error}"
    )
    return faults + lost + doubled


def _good(scene: Scene) -> list[tuple[object, ...]]:
    return _rows(
        scene,
        "select s.seconds from samples s join candidates c on s.candidate = c.identity"
        " where json_extract(c.record, '$.label') like 'good@%'"
        " or json_extract(c.record, '$.label') like 'fine@%'",
    )


def _generated(folder: Path) -> int:
    """Generated code: the launcher behaves badly in place of the programs."""
    scene = Scene.made(folder)
    config = (CONFIG + "limits: {run: 3 s, memory: 512 MiB, output: 100 kB}\n").replace(
        "budget: 7", "budget: 12"
    )
    (folder / "killed.yaml").write_text(config, encoding="utf-8")
    text = LAUNCHER.format(folder=folder, behaviour=BEHAVIOUR)
    (folder / "launch.sh").write_text(text, encoding="utf-8")
    code, error, spent = _tuned(scene)
    modes = dict(
        line.split() for line in (folder / "modes.txt").read_text(encoding="utf-8").splitlines()
    )
    statuses: dict[str, Counter[str]] = {}
    query = "select p.build, o.status from prepared p, outcomes o where o.candidate = p.candidate"
    for build, status in _rows(scene, query):
        statuses.setdefault(modes.get(str(build), "not launched"), Counter())[str(status)] += 1
    faults = code
    for mode, found in sorted(statuses.items()):
        right = set(found) <= (BAD.get(mode, {"ok"}))
        faults += not right
        told = ", ".join(f"{status} {count}" for status, count in found.items())
        print(f"  {mode}: {told}{'' if right else ' (not as expected)'}")
    tally = Audit(scene).look(allowed=0, alone=True)
    print(f"generated code: exit code {code}, {tally}, {spent:.0f} s{error}")
    return faults + tally.lost + tally.doubled


def _tuned(scene: Scene) -> tuple[int, str, float]:
    """Exit code, last words where it is not 0, seconds."""
    started = time.monotonic()
    child = scene.tuner()
    said = child.communicate()[1]
    words = f"\n{said[-1500:]}" if child.returncode else ""
    return child.returncode, words, time.monotonic() - started


def _rows(scene: Scene, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(scene.store) as connection:
        return connection.execute(query).fetchall()


def _left_over(mark: str) -> int:
    """Processes whose command line or environment mentions the folder."""
    count = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        count += mark.encode() in text
    return count


if __name__ == "__main__":
    main()
