"""Compares what measuring programs printed with what is in the store; for ``kill.py``."""

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

SPACE = """\
schema: autotune.space/1
skeleton: pirk
title: Few variants
parameters:
  order: [ijl, ilj, jil, jli, lij, lji]
  au: [false]
  tile: [none]
  rhslc: [false]
  pad: [5, 13]
rules:
  - {interchange: {kernel: lc, order: $order}}
  - {pad: {lines: $pad}}
baseline: {order: jli, au: false, tile: none, rhslc: false, pad: 5}
"""
CONFIG = """\
schema: autotune.config/1
title: killed at random
machine: generic-x86-64
skeleton: pirk
space: few.yaml
problems:
  - {ivp: heat2d, method: radau-iia-5, correctors: 2, size: 20}
  - {ivp: wave1d, method: radau-iia-5, correctors: 2, size: 500}
builds: [{compiler: gcc, flags: [-O0]}]
threads: [1]
launcher: "./launch.sh {command}"
selection: {top: 2, random: 1}
search: {budget: 7, warm_start: false}
measuring: {rounds: 3, samples: 2, min_sample: 1 ms, busy: 0, verify_steps: 1}
"""
LAUNCHER = """\
#!/bin/sh
# passes the program's lines on, and keeps a copy: the program writes to both through tee
log="$(mktemp "{folder}/taken/XXXXXXXXXX")"
"$@" | tee -a "$log"
"""


@dataclass(frozen=True, slots=True)
class Tally:
    """Samples and results that were taken, are stored, are lost, are doubled."""

    taken: int = 0
    stored: int = 0
    lost: int = 0
    doubled: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.taken + other.taken,
            self.stored + other.stored,
            self.lost + other.lost,
            self.doubled + other.doubled,
        )

    def __str__(self) -> str:
        return (
            f"{self.taken} samples taken, {self.stored} stored, lost {self.lost},"
            f" doubled {self.doubled}"
        )


@dataclass(frozen=True, slots=True)
class Scene:
    """A folder with a study, its store and its cache."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Self:
        """With everything in it."""
        (folder / "taken").mkdir(parents=True)
        (folder / "few.yaml").write_text(SPACE, encoding="utf-8")
        (folder / "killed.yaml").write_text(CONFIG, encoding="utf-8")
        launcher = folder / "launch.sh"
        launcher.write_text(LAUNCHER.format(folder=folder), encoding="utf-8")
        launcher.chmod(0o755)
        return cls(folder)

    @property
    def store(self) -> Path:
        return self.folder / "store.sqlite"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def tuner(self, *options: str) -> subprocess.Popen[str]:
        """A tuner at work on the study."""
        command = [sys.executable, "-m", "autotune", "tune", "killed.yaml", *options]
        return subprocess.Popen(
            [*command, "--store", str(self.store)],
            cwd=self.folder,
            env={**os.environ, "AUTOTUNE_CACHE": str(self.cache)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )


Sample = tuple[float, int]
"""Seconds and steps: that two samples share both does not happen to a double's last digit."""


@dataclass(slots=True)
class Audit:
    """Looks at a store again and again: what is new in it, what is missing."""

    scene: Scene
    _keys: dict[tuple[object, ...], Sample] = field(default_factory=dict)
    _outcomes: set[tuple[object, ...]] = field(default_factory=set)
    _again: int = 0

    def look(self, *, allowed: int, alone: bool) -> Tally:
        """What came about since the last look; ``allowed`` samples may be lost.

        ``alone``: one tuner worked after the other.
        """
        taken = self._taken()
        keys = {
            (run, candidate, launch, number): (float(seconds), int(steps))
            for run, candidate, launch, number, seconds, steps in self._rows(
                "select run, candidate, launch, number, seconds, steps from samples"
            )
        }
        outcomes = set(self._rows("select run, candidate from outcomes"))
        gone = len(self._outcomes - outcomes) + sum(
            keys.get(key) != sample for key, sample in self._keys.items()
        )
        new = Counter(sample for key, sample in keys.items() if key not in self._keys)
        again = self._searched_again() if alone else self._again
        tally = Tally(
            taken=taken.total(),
            stored=new.total(),
            lost=gone + max(0, (taken - new).total() - allowed),
            doubled=(new - taken).total() + again - self._again,
        )
        self._keys, self._outcomes, self._again = keys, outcomes, again
        return tally

    def studies(self) -> int:
        """That are in the store."""
        return len(self._rows("select name from studies"))

    def finished(self) -> int:
        """Studies whose last run is done, or ended by its budget."""
        query = "select study, state from runs order by started"
        states = {str(study): state for study, state in self._rows(query)}
        return sum(state in ("done", "budget") for state in states.values())

    def _searched_again(self) -> int:
        """Steps of a search that took a candidate whose result its study had before the run."""
        query = """
            select count(*) from choices c join runs r on c.run = r.id
            where c.reason like 'step %' and exists (
                select * from outcomes o join runs b on o.run = b.id
                where o.candidate = c.candidate and b.study = r.study
                and b.started < r.started and o.status != 'contended')
        """
        rows = self._rows(query)
        return int(str(rows[0][0])) if rows else 0

    def _taken(self) -> Counter[Sample]:
        """The samples in the logs, which are then removed."""
        found: Counter[Sample] = Counter()
        for path in (self.scene.folder / "taken").iterdir():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    row = json.loads(line)
                except ValueError:
                    continue  # cut off by the kill, or no line of the protocol
                if isinstance(row, dict) and row.get("kind") == "sample":
                    found[row["seconds"], row["steps"]] += 1
            path.unlink()
        return found

    def _rows(self, query: str) -> list[tuple[object, ...]]:
        if not self.scene.store.exists():
            return []
        connection = sqlite3.connect(self.scene.store, timeout=60)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()
