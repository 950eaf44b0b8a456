"""Reads the output of a launch: lines become samples, and the end of the process
becomes a status.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from autotune.domain.results import Sample, Status
from autotune.measuring.candidates import protocol
from autotune.measuring.candidates.base import Launch
from autotune.measuring.conditions import quiet
from autotune.measuring.conditions.resource_use import ResourceUse
from autotune.toolchain.child_process import TAIL


@dataclass(slots=True, kw_only=True)
class LaunchListener:
    """Turns the output lines of one launch into samples and a final status, as they arrive."""

    threads: int
    """Threads of each rank."""
    ranks: int = 1
    busy: float
    launch: int
    round: int
    on_sample: Callable[[Sample], None]
    conditions: Mapping[str, float | int | str]
    samples: list[Sample] = field(default_factory=list)
    start: protocol.ProgramStart | None = None
    check: protocol.StateCheck | None = None
    final: protocol.FinalState | None = None
    ended: bool = False
    wrong: str = ""
    """The first fault in the output; empty if there is none."""
    watch: quiet.QuietWatch = field(default_factory=quiet.QuietWatch)
    resource_use: ResourceUse | None = None
    """Reads memory and energy when a sample is taken."""

    def hear(self, text: str) -> bool:
        """Process one line of output; True if it is a sample, which is stored before returning."""
        try:
            line = protocol.parse(text)
        except ValueError as error:
            self.wrong = self.wrong or str(error)
            return False
        match line:
            case protocol.ProgramStart():
                self.start = line
                if line.threads != self.threads:
                    self.wrong = (
                        self.wrong or f"ran with {line.threads}, not {self.threads} threads"
                    )
                if line.ranks != self.ranks:
                    self.wrong = self.wrong or f"ran with {line.ranks}, not {self.ranks} ranks"
            case protocol.StateCheck():
                self.check = line
            case Sample() if not self.wrong:
                self._take(line)
            case protocol.FinalState():
                self.final = line
            case protocol.ProgramEnd():
                self.ended = True
        return isinstance(line, Sample)

    def _take(self, printed: Sample) -> None:
        start = self.start
        cpus = ",".join(map(str, sorted(set(start.affinity)))) if start else ""
        sample = replace(
            printed,
            undisturbed=printed.undisturbed and printed.busy >= self.busy,
            launch=self.launch,
            round=self.round,
            conditions={
                **self.conditions,
                **self.watch.conditions(),
                **(self.resource_use.of_sample(printed.seconds) if self.resource_use else {}),
                "cpus": cpus,
                "leading": start.leading if start else 0,
                **printed.conditions,
            },
        )
        self.samples.append(sample)
        self.on_sample(sample)

    def finish(self, status: Status, detail: str, printed: str = "") -> Launch:
        """The result of the launch; ``status`` and ``detail`` describe how its process ended."""
        if status == "ok":
            status, detail = self._verdict(printed)
        check = self.check
        return Launch(
            status=status,
            samples=tuple(self.samples),
            detail=detail,
            checksum=(check.sum, check.magnitude) if check and check.finite else None,
        )

    def _verdict(self, printed: str) -> tuple[Status, str]:
        if self.wrong:
            return "crashed", self.wrong
        for state, when in (
            (self.check, "after the check steps"),
            (self.final, "after the last timed step"),
        ):
            if state and (not state.finite or state.denormal):
                what = "denormal numbers" if state.finite else "numbers that are not finite"
                return "wrong-result", f"{what} in the state at the timed size {when}"
        for missing, there in (
            ("start", self.start),
            ("check", self.check),
            ("samples", any(not s.warm_up for s in self.samples)),
            ("end", self.ended),
        ):
            if not there:
                last = printed.strip()[-TAIL:]
                text = f"the program printed no {missing}"
                return "crashed", f"{text}; its last lines:\n{last}" if last else text
        return "ok", ""
