"""The measuring program: its command line, its lines, and how it fails."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from codegen_build import Workshop, common, problem, run, sources, variant

from autotune.domain.results import Sample
from autotune.domain.setup import Measuring
from autotune.domain.variant import Candidate, ExecutionLayout, Interchange, Pad
from autotune.measuring.candidates import protocol
from autotune.measuring.verification import ivp_reference

AT = problem("heat2d", 33)
CHOSEN = variant(Interchange("lc", ("j", "l", "i")), Pad(5))
QUICK = Measuring(samples=2, min_sample=0.002, busy=0.0, attempts=3, verify_steps=2)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def program(workshop: Workshop) -> Path:
    return workshop.build(sources(CHOSEN, AT))


@pytest.fixture(scope="module")
def instrumented(workshop: Workshop) -> Path:
    return workshop.build(sources(CHOSEN, AT), "-DAUTOTUNE_PHASES")


def candidate(threads: int) -> Candidate:
    return Candidate(variant=CHOSEN, problem=AT, layout=ExecutionLayout(threads=threads))


def lines(program: Path, command: str, threads: int = 2) -> list[protocol.Line]:
    done = run(program, *protocol.time_arguments(candidate(threads), QUICK, command))
    assert done.returncode == 0, done.stderr
    parsed = [protocol.parse(line) for line in done.stdout.splitlines()]
    assert all(line is not None for line in parsed)
    return [line for line in parsed if line is not None]


def test_time_prints_start_check_samples_end(program: Path) -> None:
    found = lines(program, "time")
    kinds = [type(line) for line in found]
    assert kinds[:2] == [protocol.ProgramStart, protocol.StateCheck]
    assert kinds[-1] is protocol.ProgramEnd
    samples = [line for line in found if isinstance(line, Sample)]
    assert [s.warm_up for s in samples] == [True, False, False]
    assert all(s.seconds > 0 and s.steps >= 1 for s in samples)
    start = found[0]
    assert isinstance(start, protocol.ProgramStart)
    assert start.threads == 2
    assert len(start.affinity) == 2
    assert start.leading == 1536 + 40  # 1089 rounded up to 512, and 5 lines


def test_check_is_the_weighted_sum_of_the_state(program: Path) -> None:
    (check,) = [line for line in lines(program, "time") if isinstance(line, protocol.StateCheck)]
    y = ivp_reference.integrate(AT, QUICK.verify_steps)
    assert check.sum == pytest.approx(sum(v * (1 + (j % 7) / 8) for j, v in enumerate(y)))
    assert check.magnitude == pytest.approx(abs(y).sum())
    assert check.finite
    assert not check.denormal


def test_samples_end_at_the_number_of_attempts_or_when_short_ones_took_as_long(
    program: Path,
) -> None:
    """No sample has the whole of its core, so that all count as disturbed and become shorter."""
    arguments = protocol.time_arguments(candidate(1), QUICK)
    arguments[arguments.index("--busy") + 1] = "1"
    done = run(program, *arguments)
    samples = [json.loads(line) for line in done.stdout.splitlines()]
    counted = [s for s in samples if s["kind"] == "sample" and not s["warm_up"]]
    most = QUICK.attempts * QUICK.samples
    assert QUICK.samples <= len(counted) <= 16 * QUICK.samples
    if len(counted) > most:
        spent = sum(s["seconds"] * s["steps"] for s in counted[:-1])
        assert spent < most * QUICK.min_sample
        assert counted[-1]["steps"] < counted[0]["steps"]


def test_phases_are_named_by_kernel(instrumented: Path) -> None:
    phases = [
        line for line in lines(instrumented, "phases") if isinstance(line, protocol.PhaseTime)
    ]
    assert [p.name for p in phases] == ["rhs_first", "lc", "rhs", "approx", "update", "barrier"]
    assert all(p.seconds >= 0 for p in phases)
    assert sum(p.seconds for p in phases) > 0


def test_phases_need_the_instrumented_program(program: Path) -> None:
    done = run(program, *protocol.time_arguments(candidate(1), QUICK, "phases"))
    assert done.returncode == 2
    assert "AUTOTUNE_PHASES" in done.stderr


VERIFY = ["verify", *common(AT, 1), "--steps", "1", "--out", "/dev/null"]


def changed(option: str, value: str) -> list[str]:
    arguments = list(VERIFY)
    arguments[arguments.index(option) + 1] = value
    return arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "needs a mode"),
        (["run"], "unknown mode 'run'"),
        (["verify"], "needs --size, --n, --h and --threads"),
        (["verify", "--size"], "--size needs a value"),
        ([*VERIFY, "--color", "red"], "unknown option '--color'"),
        (changed("--size", "big"), "--size must be a whole number"),
        (changed("--size", "-3"), "--size must be a whole number"),
        (changed("--n", "1088"), "--n is 1088, but size 33 has 1089 components"),
        (changed("--threads", "0"), "--threads must be a whole number"),
        (changed("--threads", "99999999999999999999"), "--threads must be a whole number"),
        (changed("--h", "nan"), "--h must be a number"),
        (changed("--h", "-1"), "--h must be a number"),
        (changed("--out", "/nowhere/state.bin"), "cannot write /nowhere/state.bin"),
        (VERIFY[:-4], "verify needs --steps and --out"),
        (["time", *common(AT, 1)], "time needs --samples"),
    ],
)
def test_wrong_arguments_end_with_2_and_a_message(
    program: Path, arguments: list[str], message: str
) -> None:
    done = run(program, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not done.stdout


def test_more_memory_than_there_is_ends_with_2(program: Path) -> None:
    size = 46_000  # 16 GB a row
    at = ["--size", str(size), "--n", str(size * size), "--h", "1e-3", "--threads", "1"]
    command = ["sh", "-c", 'ulimit -v 4000000; exec "$@"', "sh", str(program)]
    done = subprocess.run(
        [*command, "verify", *at, "--steps", "1", "--out", "/dev/null"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert re.search(r"needs \d+ bytes|cannot allocate \d+ bytes", done.stderr)


def test_fewer_threads_than_asked_for_are_an_error(program: Path) -> None:
    done = run(program, *VERIFY[:7], "--threads", "2", *VERIFY[9:], OMP_THREAD_LIMIT="1")
    assert done.returncode == 2
    assert "asked for 2 threads, got 1" in done.stderr
