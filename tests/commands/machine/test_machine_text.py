"""What ``autotune machine`` prints of a machine, and how its commands refuse."""

import json
import re
from dataclasses import replace
from pathlib import Path

import fabricated as made
import pytest
from refusals import bad_parameter, faults, usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.machine import command as machine_command
from autotune.commands.machine.calibration_text import QUIETER, TITLES
from autotune.commands.machine.refine.refine_options import RefinementOptions
from autotune.commands.machine.text import calibrated as calibrated_text
from autotune.commands.machine.text import machine, machine_check, machine_detected, machines
from autotune.commands.rank import host_machine
from autotune.commands.rank.host_machine import write_machine
from autotune.domain.calibration import CONSTANTS, Constant, Refined
from autotune.domain.cost_curve import CostCurve, Segment
from autotune.domain.machine import InCore, Memory, Overlap, StorePath, Streaming
from autotune.domain.network import Network
from autotune.measuring.host.detect import DetectionReason
from autotune.units import Bytes, BytesPerCycle, BytesPerSecond, Seconds

HOST = made.machine(calibrated=False)


def lines(**changed: object) -> list[str]:
    return machine(replace(HOST, **changed)).splitlines()  # type: ignore[arg-type]


def test_a_machine_in_full() -> None:
    assert lines() == [
        "host: AMD EPYC 9R14, 2 cores",
        "  x86_64, 2 cores, 1 socket, clock 3.7 GHz, in-core osaca:ZEN4 (nearest)",
        "  overlap levels: by the exposed share of each level",
        "  L1  32 KiB, 8 ways, shared by 1 core, exposed 1.00",
        "  L2  1 MiB, 8 ways, shared by 1 core, exposed 1.00",
        "  L3  32 MiB, 16 ways, shared by 2 cores, exposed 1.00",
        "  source of caches: sysfs",
        "  source of clock: cpufreq",
    ]


def test_counts_are_singular_and_plural() -> None:
    assert lines(cores=1, sockets=2)[1].startswith("  x86_64, 1 core, 2 sockets, clock")


@pytest.mark.parametrize(
    ("in_core", "words"),
    [
        (InCore(osaca="ZEN4"), "osaca:ZEN4"),
        (InCore(osaca="ZEN4", approximate=True), "osaca:ZEN4 (nearest)"),
        (InCore(), "none"),
    ],
)
def test_how_times_in_the_core_are_found(in_core: InCore, words: str) -> None:
    assert lines(in_core=in_core)[1].endswith(f"in-core {words}")


def test_a_cache_has_its_transfers_and_its_ways_of_writing() -> None:
    inner, middle, outer = HOST.caches
    victim = replace(
        outer, victim=True, inbound=BytesPerCycle(16.0), outbound=BytesPerCycle(8.5), exposed=0.5
    )
    through = replace(middle, write_back=False, write_allocate=False)
    shown = lines(caches=(inner, through, victim))
    assert shown[4].endswith("shared by 1 core, write-through, no write-allocate, exposed 1.00")
    assert shown[5].endswith("16 B/cy inbound, 8.5 B/cy outbound, victim, exposed 0.50")


def test_figures_that_were_never_checked_have_a_question_mark() -> None:
    sources = {
        "clock": "data sheet (unverified)",
        "cores": "data sheet (unverified)",
        "caches.L2.size": "a guess (unverified)",
        "caches.L2.exposed": "a guess (unverified)",
        "memory.single": "a guess (unverified)",
    }
    shown = lines(
        sources=sources,
        memory=Memory(saturated=BytesPerSecond(2e10), single=BytesPerSecond(1.2e10), cores=2),
    )
    assert shown[1].startswith("  x86_64, 2 cores?, 1 socket, clock 3.7 GHz?, in-core")
    assert shown[4] == "  L2  1 MiB?, 8 ways, shared by 1 core, exposed 1.00?"
    assert "  memory, all cores of a domain: 20 GB/s" in shown
    assert "  memory, one core: 12 GB/s?" in shown


def test_bandwidths_of_benchmarks_have_their_names() -> None:
    shown = lines(
        memory=Memory(cores=2, benchmarks={"triad": Streaming(saturated=BytesPerSecond(2.93e10))})
    )
    assert "  memory, triad: 29.3 GB/s" in shown


def test_stores_have_a_path_of_their_own_on_some_machines() -> None:
    shown = lines(overlap=Overlap(store_path=StorePath(throughput=BytesPerCycle(5.3), cores=2)))
    assert "  stores through the innermost cache: 5.3 B/cy, path shared by 2 cores" in shown


def test_cost_curves_are_named_by_operation_ranks_and_nodes() -> None:
    def curve(ranks: int, nodes: int) -> CostCurve:
        return CostCurve(
            operation="allgather",
            benchmark="autotune",
            nodes=nodes,
            ranks=ranks,
            segments=(
                Segment(lower=Bytes(0), latency=Seconds(1e-6), bandwidth=BytesPerSecond(1e9)),
            ),
            measured=(Bytes(8), Bytes(8192)),
        )

    network = Network(title="ring", curves=(curve(2, 1), curve(8, 4)))
    (line,) = [line for line in lines(network=network) if line.startswith("  network")]
    assert line == (
        "  network ring: allgather 2 ranks/1 node (autotune), allgather 8 ranks/4 nodes (autotune)"
    )


# --- calibration --------------------------------------------------------------------------------


def calibrated(**changed: object) -> list[str]:
    calibration = replace(made.calibration(), **changed)  # type: ignore[arg-type]
    return machine(replace(HOST, calibration=calibration)).splitlines()


def test_a_calibration_says_when_how_long_and_how_steady() -> None:
    shown = calibrated()
    assert "calibrated 2026-11-21T02:00:00+00:00 in 42 s, priority autogroup" in shown
    assert "  clock 3.65 GHz (spread 0.6%)" in shown


def test_a_disturbed_calibration_warns() -> None:
    assert calibrated(contended=True)[6].endswith(
        "priority autogroup, CONTENDED: other processes ran; calibrate again"
    )
    assert calibrated(usual_load=True)[6].endswith("priority autogroup, beside the usual load")
    assert calibrated(probe="")[6].endswith("by another version of autotune: calibrate again")


def constant(value: float, half: float, samples: int = 4) -> Constant:
    return Constant(
        value=value, low=value - half, high=value + half, unit="cy", source="x", samples=samples
    )


BEFORE = {
    "loop_entry": constant(50.0, 1.0),
    "outbound.L3": constant(4.0, 0.5),
    "vector_add.64": constant(0.5, 0.1),
}
AFTER = {
    "loop_entry": constant(50.5, 1.0, 7),
    "outbound.L3": constant(6.0, 1.0),
    "vector_add.64": constant(0.5, 0.1, 3),
    "stream_start.MEM@2": constant(200.0, 100.0),
}


@pytest.mark.parametrize("contended", [False, True])
def test_a_new_calibration_has_a_summary(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, contended: bool
) -> None:
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path))
    old = replace(made.calibration(), constants=BEFORE, clock=3.5e9)
    new = replace(made.calibration(), taken="2026-11-22", constants=AFTER, contended=contended)
    monkeypatch.setattr(host_machine, "stored_calibration", lambda: old)
    monkeypatch.setattr(
        host_machine, "calibrate_host", lambda *_, **__: replace(HOST, calibration=new)
    )
    folder = tmp_path / "calibrations"
    kept, stored = folder / "abc123.undisturbed.yaml", folder / "abc123.yaml"
    said = f"CONTENDED: other processes ran, so intervals are wider; {QUIETER}"
    assert CliRunner().invoke(app, ["machine", "calibrate"]).stdout.splitlines() == [
        "host: AMD EPYC 9R14, 2 cores",
        "calibrated 2026-11-22 in 42 s: clock 3.65 GHz (spread 0.6%), 2 bandwidth curves,"
        " 4 constants of 3 to 7 samples each",
        said if contended else "no other process disturbed what counts",
        "widest intervals:",
        "  start of a stream, MEM, 2 threads: 200 cy  [100 cy, 300 cy], 4 samples",
        "  dirty line out, L3: 6 cy  [5 cy, 7 cy], 4 samples",
        "  vector addition, 64 B: 0.5 cy  [0.4 cy, 0.6 cy], 3 samples",
        "since the calibration of 2026-11-21T02:00:00+00:00: clock 3.5 GHz -> 3.65 GHz,"
        " 1 of 3 constants outside both intervals:",
        "  dirty line out, L3: 4 cy -> 6 cy",
        *(
            [f"the calibration before was undisturbed; this brings it back: mv {kept} {stored}"]
            * contended
        ),
        "every figure: autotune machine show",
    ]


def test_a_first_calibration_is_compared_with_none() -> None:
    lines = calibrated_text(replace(HOST, calibration=made.calibration()), None).splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["host:", "calibrated", "no", "every"]


@pytest.mark.parametrize("before", [{"contended": True}, {"probe": "0123456789ab"}])
def test_an_earlier_calibration_that_is_no_better_is_not_offered(
    before: dict[str, object],
) -> None:
    new = replace(made.calibration(), contended=True)
    old = replace(made.calibration(), **before)  # type: ignore[arg-type]
    assert "brings it back" not in calibrated_text(replace(HOST, calibration=new), old)


def test_a_calibration_beside_the_usual_load_says_so() -> None:
    usual = replace(made.calibration(), usual_load=True)
    lines = calibrated_text(replace(HOST, calibration=usual), None).splitlines()
    assert lines[2] == "taken beside the usual load of this host, as was said"


def test_every_constant_has_a_title_that_stands_alone() -> None:
    assert set(TITLES) == set(CONSTANTS)
    assert len(set(TITLES.values())) == len(TITLES)
    unclear = re.compile(r"[,:]|\b(its|of it|the same|that clock)\b")
    assert not [title for title in TITLES.values() if unclear.search(title)]


def test_bandwidth_is_a_table_over_threads() -> None:
    shown = calibrated()
    at = shown.index("  load bandwidth per thread over working set per thread:")
    assert shown[at + 1 : at + 3] == [
        "    working set   1 thread  2 threads",
        "          8 KiB  60.0 B/cy  60.0 B/cy",
    ]


def test_bandwidth_of_several_streams_is_a_table_of_its_own() -> None:
    curves = made.calibration().curves
    several = replace(curves[0], streams=4)
    shown = calibrated(curves=(*curves, several))
    at = shown.index("  the same of several streams at once, 1 thread:")
    assert shown[at + 1].split() == ["working", "set", "4", "streams"]


def test_constants_have_their_interval_and_their_unit() -> None:
    constants = {
        "barrier@2": Constant(
            value=3e-7, low=2e-7, high=4e-7, unit="s", source="timed", samples=20
        ),
        "line_crossing": Constant(value=1.5, low=1, high=2, unit="cy", source="timed", samples=9),
    }
    shown = calibrated(constants=constants)
    assert "  load across lines: 1.5 cy  [1 cy, 2 cy], 9 samples" in shown
    assert "  barrier, 2 threads: 300 ns  [200 ns, 400 ns], 20 samples" in shown


def test_what_a_study_changed_is_told() -> None:
    change = Refined(
        study="quick", before=0.4, after=0.55, low=0.5, high=0.6, before_low=0.3, before_high=0.5
    )
    shown = calibrated(refined={"exposed.L2": change})
    assert "  refined by quick: exposed.L2 0.4 -> 0.55 [0.5, 0.6]" in shown


# --- lists, checks, this host -------------------------------------------------------------------


def test_machine_files_are_a_line_each() -> None:
    other = replace(HOST, name="a-longer-name", cores=1, in_core=InCore())
    assert machines([HOST, other]).splitlines() == [
        "host           2 cores  3.7 GHz  osaca:ZEN4 (nearest)  AMD EPYC 9R14, 2 cores",
        "a-longer-name  1 core   3.7 GHz  none                  AMD EPYC 9R14, 2 cores",
    ]
    assert machines([]) == ""


def test_a_check_lists_what_is_missing() -> None:
    assert machine_check(HOST, []) == "host: valid, complete for every use"
    assert machine_check(HOST, ["a", "b"]).splitlines() == ["host: valid; missing:", "  a", "  b"]


def test_what_was_detected_comes_with_its_reasons() -> None:
    reason = DetectionReason(key="clock", decided="3.7 GHz", because="cpufreq says so")
    shown = machine_detected(HOST, [reason]).splitlines()
    assert shown[:8] == lines()
    assert shown[8:] == ["decided:", "  clock: 3.7 GHz (cpufreq says so)"]


# --- the commands -------------------------------------------------------------------------------


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["machine", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_shipped_machine_is_shown_and_checked_by_its_name() -> None:
    assert run("show", "generic-x86-64").startswith("generic-x86-64: ")
    assert run("check", "generic-x86-64").startswith("generic-x86-64: valid")


def test_a_machine_of_a_name_is_one_document() -> None:
    document = json.loads(run("show", "haswell-e5-2630v3", "--json"))
    assert (document["schema"], document["machine"]["cores"]) == ("autotune.machine.show/1", 8)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("lst",), ("'lst'", "list")),
        (("show", "a", "b"), ("b",)),
        (("check",), ("FILE",)),
        (("calibrate", "--budget-seconds", "4"), ("--budget-seconds", "5")),
        (("calibrate", "--budget-seconds", "601"), ("--budget-seconds", "600")),
        (("refine", "--force"), ("--force", "needs --apply")),
        (("refine", "quick", "--undo"), ("--undo", "goes with no other option")),
        (("refine", "--undo", "--score", "x"), ("--undo", "goes with no other option")),
        (("refine", "--undo", "--apply"), ("--undo", "goes with no other option")),
    ],
)
def test_wrong_words_end_with_code_2(words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    told = usage_error("machine", *words)
    assert [part for part in parts if part not in told] == []


def test_a_calibration_is_forced_only_where_it_is_applied() -> None:
    assert bad_parameter(lambda: RefinementOptions(force=True)) == "--force: needs --apply"
    options = RefinementOptions(force=True, apply=True)
    assert (options.force, options.study, options.config) == (True, "", None)


def test_the_group_has_all_its_commands() -> None:
    names = [command.name for command in machine_command.app.registered_commands]
    assert names == ["list", "show", "check", "detect", "calibrate", "refine"]


def test_a_machine_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = tmp_path / "none" / "host.yaml"
    told = faults(lambda: write_machine(HOST, path))
    assert told == f"{path}: cannot be written: No such file or directory"


def test_a_machine_replaces_machines_only(tmp_path: Path) -> None:
    path = tmp_path / "notes.yaml"
    path.write_text("title: mine\n", encoding="utf-8")
    assert "a file that is not a machine" in faults(lambda: write_machine(HOST, path))
    path.write_text("schema: autotune.machine/1\n", encoding="utf-8")
    write_machine(HOST, path)
    assert "title: AMD EPYC 9R14, 2 cores" in path.read_text(encoding="utf-8")
