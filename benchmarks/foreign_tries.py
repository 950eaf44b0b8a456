"""One try of ``foreign.py``: ``autotune init`` and ``autotune tune`` as a user types them."""

import dataclasses
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import foreign_fetch
import foreign_programs
import yaml

GOAL_S = 180.0
"""Seconds within which the first trusted answer is wanted."""
Verdict = Literal["winner", "gain", "baseline", "undecided", "failed"]
"""``gain``: several may be the fastest, and the chosen one is surely faster than the baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """One command: what it printed, and when."""

    words: tuple[str, ...]
    exit_code: int
    seconds: float
    cpu_s: float
    """Of the command and its children."""
    first_line_s: float | None
    """Seconds until its first line on standard error or output; None: it printed nothing."""
    printed: str
    """Standard output."""
    noted: str
    """Standard error: progress and errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignResult:
    """What came of one program."""

    name: str
    kind: str
    command: str
    """The ``autotune init`` that was typed at last, with its edit."""
    verdict: Verdict
    reason: str = ""
    """Why it failed; empty otherwise."""
    seconds: float
    """Wall seconds of all commands, to the answer or the failure."""
    cpu_s: float
    """CPU seconds of all commands and what they started: wall seconds of a busy host say little."""
    init_s: float
    tune_s: float = 0.0
    first_line_s: float | None = None
    """Seconds until ``tune`` said its first line."""
    edits: int = 0
    tuned: tuple[str, ...] = ()
    """The parameters."""
    combinations: int = 0
    objective: str = ""
    checked: bool = False
    """An answer of the program is compared with the baseline's."""
    best: str = ""
    speedup: float | None = None
    speedup_interval: tuple[float, float] | None = None
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Candidates measured, by status."""

    @property
    def trusted(self) -> bool:
        """A verified winner, or an honest word that none is shown."""
        return self.verdict != "failed"

    @property
    def in_time(self) -> bool:
        """Trusted, within the goal."""
        return self.trusted and self.seconds <= GOAL_S


class Trial:
    """Tries programs in one folder."""

    def __init__(self, sources: foreign_fetch.Sources, folder: Path, budget: float) -> None:
        self._sources, self._folder, self._budget = sources, folder, budget

    def tried(self, program: foreign_programs.ForeignProgram) -> ForeignResult:
        """``init``, at most one edit that it names, ``tune``."""
        options, edits = ("-o", program.name, "--name", program.name), 0
        first = init = self._init(program, options)
        seconds, cpu = first.seconds, first.cpu_s
        edit = program.edit
        if edit is not None and re.search(edit.named_by, first.printed + first.noted):
            init, edits = self._init(program, (*options, "--force", *edit.options)), 1
            seconds, cpu = seconds + init.seconds, cpu + init.cpu_s
        begun = ForeignResult(
            name=program.name,
            kind=program.kind,
            command="autotune " + " ".join(init.words),
            verdict="failed",
            seconds=seconds,
            cpu_s=cpu,
            init_s=seconds,
            edits=edits,
        )
        described = self._folder / program.name / f"{program.name}.yaml"
        if init.exit_code or not described.exists():
            return dataclasses.replace(begun, reason=f"init: {_error(init)}")
        tune = self._tune(program, seconds)
        begun = dataclasses.replace(
            begun,
            seconds=seconds + tune.seconds,
            cpu_s=cpu + tune.cpu_s,
            tune_s=tune.seconds,
            first_line_s=tune.first_line_s,
            **_described(described),
        )
        if tune.exit_code:
            return dataclasses.replace(begun, reason=f"tune: {_error(tune)}")
        return judged(begun, json.loads(tune.printed))

    def _init(self, program: foreign_programs.ForeignProgram, options: Sequence[str]) -> CommandRun:
        places = {
            "{folder}": str(self._sources.folder(program)),
            "{python folder}": str(_packages(self._sources.python)),
        }
        words = []
        for word in program.words:
            for place, path in places.items():
                word = word.replace(place, path)
            words.append(word)
        return self._run(("init", *options, *words))

    def _tune(self, program: foreign_programs.ForeignProgram, spent: float) -> CommandRun:
        config = str(Path(program.name, f"{program.name}-tune.yaml"))
        budget = max(20.0, min(self._budget, GOAL_S - spent))
        return self._run(("tune", config, "--budget-seconds", f"{budget:.0f}", "--json"))

    def _run(self, words: tuple[str, ...]) -> CommandRun:
        begun, cpu = time.monotonic(), _cpu_of_children()
        with subprocess.Popen(
            [sys.executable, "-m", "autotune", *words],
            cwd=self._folder,
            env=_environment(self._sources),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as child:
            noted = list[tuple[float, str]]()
            assert child.stdout is not None
            assert child.stderr is not None
            errors = child.stderr

            def listen() -> None:
                noted.extend((time.monotonic() - begun, line) for line in errors)

            listener = threading.Thread(target=listen)
            listener.start()
            printed = child.stdout.read()
            listener.join()
        return CommandRun(
            words=words,
            exit_code=child.returncode,
            seconds=time.monotonic() - begun,
            cpu_s=_cpu_of_children() - cpu,
            first_line_s=noted[0][0] if noted else None,
            printed=printed,
            noted="".join(line for _, line in noted),
        )


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def judged(begun: ForeignResult, document: Mapping[str, Any]) -> ForeignResult:
    """The result with what the study document says of its first problem."""
    problem = document["problems"][0]
    rows = problem["evaluated"]
    statuses: dict[str, int] = {}
    for row in rows:
        if row["status"] is not None:
            statuses[row["status"]] = statuses.get(row["status"], 0) + 1
    interval = problem["speedup_interval"]
    result = dataclasses.replace(
        begun,
        objective=problem["objective"]["name"],
        combinations=problem["candidates"],
        best=problem["best"] or "",
        speedup=problem["speedup"],
        speedup_interval=tuple(interval) if interval else None,
        statuses=statuses,
    )
    ran = [row for row in rows if row["status"] == "ok"]
    if problem["best"] is None or not ran:
        details = sorted({f"{row['status']}: {row['detail']}" for row in rows if row["status"]})
        return dataclasses.replace(result, reason="tune: " + "; ".join(details)[:300])
    if len(ran) < 2:
        return dataclasses.replace(result, reason="tune: nothing was compared")
    same = problem["best"] == problem["baseline"]
    if len(problem["contenders"]) > 1:
        gain = not same and interval is not None and interval[0] > 1
        return dataclasses.replace(result, verdict="gain" if gain else "undecided")
    return dataclasses.replace(result, verdict="baseline" if same else "winner")


def _described(file: Path) -> dict[str, Any]:
    """What the written description of a program varies and checks."""
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {"tuned": tuple(document.get("parameters", {})), "checked": "check" in document}


def _error(run: CommandRun) -> str:
    lines = [line for line in run.noted.splitlines() if line.strip()]
    starts = [i for i, line in enumerate(lines) if line.startswith(("error", "Traceback"))]
    told = lines[starts[0] :] if starts else lines[-3:]
    if told and told[0].startswith("Traceback"):
        told = ["a traceback", told[-1]]
    return " ".join(told)[:400] or f"exit code {run.exit_code}"


def _packages(environment: Path) -> Path:
    """The folder of packages of a virtual environment; where it would be, if it is not there."""
    there = sorted(environment.glob("lib/python*/site-packages"))
    return there[0] if there else environment / "lib"


def _environment(sources: foreign_fetch.Sources) -> dict[str, str]:
    """Variables of the commands; in a container, Open MPI starts nothing for root without two."""
    environment = {**os.environ, "PATH": sources.path()}
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment.pop("AUTOTUNE_STORE", None)
    return environment
