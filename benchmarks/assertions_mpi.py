"""What counting messages costs: nanoseconds a call of MPI, and the share of conjugate gradients.

    python benchmarks/assertions_mpi.py [--parts calls,cg] [--rounds 41] [--runs 9] [--letter W]

Part calls: one process times MPI_X, which is wrapped, and PMPI_X, which is not, in turn, on small
messages to itself, the fastest that MPI has: an upper bound of the relative cost. Part cg: class W
on two ranks, the program without assertions, in turn without the library, with it off, and on; and
with assertions; beside it what the messages of a rank cost by part calls, for two ranks that wait
for one another are timed well on an idle host only. Costs are medians of the differences of a
round, with their 10 % and 90 % quantiles; noise is what two bare ones differ by.
"""

import argparse
import os
import re
import statistics
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from autotune.assertions.library import library_build
from autotune.assertions.library.mpi import mpi_library
from autotune.domain.assertion_record import AssertionRecord
from autotune.files import codec
from autotune.toolchain import launcher, mpi

SOURCE = Path(__file__).parents[1] / "examples" / "assertions" / "cg.c"
RANKS = 2
RECORDS = "cg_records"
SHARE = 1.0
"""Per cent of the time of conjugate gradients that counting may take."""

CALLS = {
    "Isend, Recv, Wait": (
        "{p}MPI_Isend(a, 8, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &r[0]);"
        "{p}MPI_Recv(b, 8, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);"
        "{p}MPI_Wait(&r[0], MPI_STATUS_IGNORE);"
    ),
    "Irecv, Send, Wait": (
        "{p}MPI_Irecv(b, 8, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &r[0]);"
        "{p}MPI_Send(a, 8, MPI_DOUBLE, 0, 0, MPI_COMM_SELF);"
        "{p}MPI_Wait(&r[0], MPI_STATUS_IGNORE);"
    ),
    "16 Irecv, 16 Isend, Waitall": (
        "for (int k = 0; k < 16; k++)"
        " {p}MPI_Irecv(b, 8, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &r[k]);"
        "for (int k = 0; k < 16; k++)"
        " {p}MPI_Isend(a, 8, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &r[16 + k]);"
        "{p}MPI_Waitall(32, r, MPI_STATUSES_IGNORE);"
    ),
    "Allreduce": "{p}MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);",
    "Barrier": "{p}MPI_Barrier(MPI_COMM_SELF);",
}
"""Calls by name; ``{p}`` is P for those that are not wrapped."""

MESSAGES = {name: 32 if "16" in name else 2 if "Wait" in name else 1 for name in CALLS}
"""How many of them are counted."""

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
static double a[8], b[8];
static MPI_Request r[32];
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    for (int round = -1; round < {rounds}; round++) {{
{blocks}
    }}
    MPI_Finalize();
    return 0;
}}
"""
BLOCK = r"""        {{
            double begun = MPI_Wtime();
            for (int i = 0; i < {turns}; i++) {{ {text} }}
            if (round >= 0) printf("{name}|{state}|%.17g\n", (MPI_Wtime() - begun) / {turns} * 1e9);
        }}"""
STATES = (("bare", "P"), ("counted", ""), ("bare again", "P"))


def main() -> None:
    arguments = _arguments()
    measure(arguments.parts, arguments.rounds, arguments.runs, arguments.letter)


def measure(parts: Sequence[str], rounds: int = 41, runs: int = 9, letter: str = "W") -> None:
    """Measure and print the parts ``calls`` and ``cg``."""
    installation = mpi.find()
    library = mpi_library.mpi_library(installation)
    print(f"{installation.title}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        cost = 0.0
        if "calls" in parts:
            cost = _calls(installation, library, Path(folder), rounds)
        if "cg" in parts:
            best = _gradients(installation, library, Path(folder), runs, letter)
            if cost:
                messages = _messages(Path(folder) / RECORDS)
                share = 100 * messages * cost / best
                print(
                    f"    {messages} messages of a rank at {1e9 * cost:.0f} ns: {share:.3f} %"
                    f" (goal {SHARE:g} %)"
                )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--parts", type=lambda text: text.split(","), default=["calls", "cg"])
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--letter", default="W", choices=list("SWA"))
    return parser.parse_args()


# --- calls --------------------------------------------------------------------------------------


def _calls(installation: mpi.Mpi, library: Path, folder: Path, rounds: int) -> float:
    """Seconds that counting a send or receive takes, the dearest of the calls."""
    dearest = 0.0
    blocks = [
        BLOCK.format(name=name, state=state, turns=2000, text=text.format(p=prefix))
        for name, text in CALLS.items()
        for state, prefix in STATES
    ]
    source = folder / "calls.c"
    source.write_text(PROGRAM.format(rounds=rounds, blocks="\n".join(blocks)))
    command = _built(installation, source, folder / "calls", "-O2")
    for title, variables in (
        ("off", {"LD_PRELOAD": str(library)}),
        ("on", {"LD_PRELOAD": str(library), "AUTOTUNE_ASSERT": str(folder / "records")}),
    ):
        text = _run(installation, command, 1, variables)
        for name in CALLS:
            times = {state: _times(text, name, state) for state, _ in STATES}
            cost = [c - b for c, b in zip(times["counted"], times["bare"], strict=True)]
            noise = [c - b for c, b in zip(times["bare again"], times["bare"], strict=True)]
            bare = statistics.median(times["bare"])
            if title == "on":
                dearest = max(dearest, 1e-9 * statistics.median(cost) / MESSAGES[name])
            print(
                f"{title:3} {name:28} {bare:8.0f} ns, counted {_spread(cost, 'ns')},"
                f" {100 * statistics.median(cost) / bare:.1f} %; noise {_spread(noise, 'ns')}"
            )

    return dearest


def _times(text: str, name: str, state: str) -> list[float]:
    return [float(t) for t in re.findall(rf"^{name}\|{state}\|(.+)$", text, re.MULTILINE)]


# --- conjugate gradients ------------------------------------------------------------------------


def _gradients(installation: mpi.Mpi, library: Path, folder: Path, runs: int, letter: str) -> float:
    """Seconds of the program without the library, at best."""
    bare = _built(installation, SOURCE, folder / "cg", "-O2", "-DMODELING_ASSERTIONS_OFF", "-lm")
    asserting = _built(installation, SOURCE, folder / "cg_ma", "-O2", "-lm")
    loaded = {"LD_PRELOAD": str(library)}
    on = {**loaded, "AUTOTUNE_ASSERT": str(folder / RECORDS)}
    states: list[tuple[str, list[str], Mapping[str, str]]] = [
        ("bare", bare, {}),
        ("noise: bare again", bare, {}),
        ("library off", bare, loaded),
        ("messages counted", bare, on),
        ("assertions and messages", asserting, on),
    ]
    times: dict[str, list[float]] = {name: [] for name, _, _ in states}
    for turn in range(runs):
        for name, command, variables in states if turn % 2 else reversed(states):
            text = _run(installation, [*command, letter], RANKS, variables)
            times[name].append(_seconds(text))
    least = min(times["bare"])
    print(f"conjugate gradients, class {letter}, {RANKS} ranks: {least:.3f} s bare at best")
    for name in list(times)[1:]:
        shares = [100 * (t - b) / b for t, b in zip(times[name], times["bare"], strict=True)]
        best = 100 * (min(times[name]) - least) / least
        goal = f" (goal {SHARE:g} %)" if name == "messages counted" else ""
        print(f"    {name:26} {_spread(shares, '%')}, of the minima {best:.2f} %{goal}")
    return least


def _messages(folder: Path) -> int:
    """The messages of rank 0 in its last run."""
    path = max(folder.glob("*.0.json"), key=lambda path: path.stat().st_mtime)
    record = codec.load(AssertionRecord, path.read_text())
    calls = [*record.calls, *(call for path in record.paths for call in path.calls)]
    return sum(call.messages for call in calls)


def _seconds(text: str) -> float:
    match = re.search(r"^seconds ([\d.]+)", text, re.MULTILINE)
    if match is None:
        raise SystemExit(f"conjugate gradients print no time: {text}")
    return float(match.group(1))


# --- both ---------------------------------------------------------------------------------------


def _spread(values: Sequence[float], unit: str) -> str:
    low, high = statistics.quantiles(values, n=10)[0], statistics.quantiles(values, n=10)[-1]
    return f"{statistics.median(values):.2f} [{low:.2f}, {high:.2f}] {unit}"


def _built(installation: mpi.Mpi, source: Path, program: Path, *flags: str) -> list[str]:
    command = [installation.mpicc or "mpicc", f"-I{library_build.header_folder()}", str(source)]
    subprocess.run([*command, *flags, "-o", str(program)], check=True)
    return [str(program)]


def _run(
    installation: mpi.Mpi, command: Sequence[str], ranks: int, variables: Mapping[str, str]
) -> str:
    settings = [f"{name}={value}" for name, value in variables.items()]
    line = launcher.expand(mpi.launch_template(installation, ranks), ["env", *settings, *command])
    with mpi.scratch(installation) as places:
        done = subprocess.run(
            line,
            env=os.environ | mpi.environment(installation, ranks) | places,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(done.stderr + done.stdout)
    return done.stdout


if __name__ == "__main__":
    main()
