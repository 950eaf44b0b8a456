"""``autotune comm``: what is printed of samples and curves, and how wrong options are refused."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from planted_curves import RUN, planted
from refusals import faults, usage_error
from tool_texts import OSU_NEW
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.comm import command as comm_command
from autotune.commands.comm import flow, text
from autotune.domain.cost_curve import CostCurve, Segment
from autotune.domain.network import Network
from autotune.files import config
from autotune.measuring.network.benchmark_settings import sizes
from autotune.measuring.network.curve_fit import FittedCurve
from autotune.measuring.network.curve_validation import CurveValidation, ValidationErrors
from autotune.measuring.network.foreign_output import ImportedSamples
from autotune.measuring.network.mpi_benchmark import BenchmarkPlan, BenchmarkResult, operations
from autotune.measuring.network.outliers import Outlier
from autotune.measuring.network.samples import RecordedRun, SampleWriter
from autotune.units import Bytes, BytesPerSecond, Seconds


def curve(operation: str = "allgather", pieces: int = 1, **changed: object) -> CostCurve:
    """1 us and 1 GB/s, from 8 KiB on 4 us and 2 GB/s."""
    values: dict[str, object] = {
        "operation": operation,
        "benchmark": "autotune",
        "nodes": 1,
        "ranks": 2,
        "segments": (
            Segment(lower=Bytes(0), latency=Seconds(1e-6), bandwidth=BytesPerSecond(1e9)),
            Segment(lower=Bytes(8192), latency=Seconds(4e-6), bandwidth=BytesPerSecond(2e9)),
        )[:pieces],
        "measured": (Bytes(8), Bytes(1 << 20)),
        "residual": (0.9, 1.1),
        "source": "s.jsonl",
    }
    return CostCurve(**(values | changed))  # type: ignore[arg-type]


def errors(median: float) -> ValidationErrors:
    return ValidationErrors(median=median, p90=2 * median, count=40)


def fitted(of: CostCurve, outliers: Sequence[Outlier] = (), **changed: object) -> FittedCurve:
    values: dict[str, object] = {
        "curve": of,
        "run": RUN,
        "used": 80,
        "repeats": 4,
        "contended": 3,
        "outliers": tuple(outliers),
        "validated": CurveValidation(
            errors={1: errors(0.05), 2: errors(0.02)},
            disturbed={1: errors(0.06), 2: errors(0.03)},
            floor=errors(0.01),
        ),
        "spread": 0.021,
        "notes": (),
    }
    return FittedCurve(**(values | changed))  # type: ignore[arg-type]


def outlier(ratio: float, repeat: int = 0) -> Outlier:
    return Outlier(
        bytes=Bytes(1024), seconds=Seconds(2e-6 * ratio), ratio=ratio, repeat=repeat, taken=0.0
    )


# --- bench ------------------------------------------------------------------------------------


def benched(**changed: object) -> list[str]:
    values: dict[str, object] = {
        "path": Path("s.jsonl"), "run": replace(RUN, mpi="MPICH 4", priority="normal"),
        "samples": 120, "contended": 2, "launches": 3, "seconds": 12.4, "notes": (),
    }  # fmt: skip
    return text.benched(BenchmarkResult(**(values | changed))).splitlines()  # type: ignore[arg-type]


def test_what_was_measured_and_what_to_do_with_it() -> None:
    assert benched(notes=("2 sizes were left out",)) == [
        "120 samples of 2 ranks on 1 node in 3 launches, 12 s, 2 contended; MPICH 4, c,"
        " priority normal",
        "note: 2 sizes were left out",
        "kept in s.jsonl; now: autotune comm fit s.jsonl --machine host",
    ]


def test_a_single_sample_and_launch_are_singular() -> None:
    run = replace(RUN, nodes=2, ranks=4)
    assert benched(run=run, samples=1, launches=1)[0].startswith(
        "1 sample of 4 ranks on 2 nodes in 1 launch, 12 s"
    )


def test_the_command_that_comes_next_can_be_pasted() -> None:
    assert benched(path=Path("my samples.jsonl"))[-1] == (
        "kept in my samples.jsonl; now: autotune comm fit 'my samples.jsonl' --machine host"
    )


# --- fit --------------------------------------------------------------------------------------


def cells(of: FittedCurve) -> dict[str, str]:
    """The row of a curve by the headings, which are two blanks apart."""
    lines = text.fitted([of], None).splitlines()
    head = [" ".join(word.split()) for word in lines[1].split("  ") if word.strip()]
    row = [" ".join(word.split()) for word in lines[2].split("  ") if word.strip()]
    return dict(zip(head, row, strict=False))


def test_a_curve_says_what_it_rests_on() -> None:
    row = cells(fitted(curve(pieces=2), [outlier(5.0)]))
    assert row == {
        "operation": "allgather", "ranks": "2", "nodes": "1", "samples": "80", "contended": "3",
        "outliers": "1", "repeats": "4", "between repeats": "2.1 %", "pieces": "2",
        "error": "2.0 %, 4.0 %", "with outliers": "3.0 %, 6.0 %", "one line": "5.0 %, 10.0 %",
        "repeats alone": "1.0 %, 2.0 %", "interval": "0.90 to 1.10",
    }  # fmt: skip


def test_without_outliers_their_error_is_the_same() -> None:
    assert cells(fitted(curve(pieces=2)))["with outliers"] == "the same"


def test_what_could_not_be_validated_is_a_dash() -> None:
    row = cells(fitted(curve(pieces=2), validated=CurveValidation(), spread=None))
    assert [row[name] for name in ("between repeats", "error", "one line", "repeats alone")] == [
        "-", "-", "-", "-",
    ]  # fmt: skip


def test_a_single_line_is_not_compared_with_itself() -> None:
    lines = text.fitted([fitted(curve())], None).splitlines()
    assert lines[2].count("5.0 %, 10.0 %") == 1


def test_the_worst_outliers_are_listed_and_the_others_counted() -> None:
    some = [outlier(ratio, repeat) for repeat, ratio in enumerate((2.0, 9.0, 0.1, 3.0, 4.0))]
    lines = text.fitted(
        [fitted(curve(), some, notes=("few sizes",))], Path("net.yaml")
    ).splitlines()
    assert lines[-3:] == [
        "note: allgather of 2 ranks: few sizes",
        "outliers: allgather of 2 ranks: 18 us at 1 KiB (9 times its median, repeat 2), 8 us at"
        " 1 KiB (4 times its median, repeat 5), 6 us at 1 KiB (3 times its median, repeat 4), and"
        " 2 more",
        "written to net.yaml",
    ]


def test_every_piece_has_a_line() -> None:
    assert text.pieces([curve(pieces=2)]).splitlines() == [
        "operation  ranks  nodes   from  intercept  bandwidth  measured      source",
        "allgather      2      1    0 B       1 us     1 GB/s  8 B to 1 MiB  autotune: s.jsonl",
        "                         8 KiB       4 us     2 GB/s",
    ]


def test_a_barrier_has_no_sizes() -> None:
    flat = (Segment(lower=Bytes(0), latency=Seconds(3e-7)),)
    barrier = curve("barrier", segments=flat, measured=(Bytes(0), Bytes(0)))
    assert text.pieces([barrier]).splitlines()[1].split() == [
        "barrier", "2", "1", "300", "ns", "autotune:", "s.jsonl",
    ]  # fmt: skip


def test_a_cost_that_does_not_grow_has_any_bandwidth() -> None:
    flat = curve(segments=(Segment(lower=Bytes(0), latency=Seconds(3e-7)),))
    assert "any" in text.pieces([flat]).splitlines()[1].split()


# --- show and import --------------------------------------------------------------------------


def test_curves_that_were_fed_by_a_table_are_not_scored_on_it() -> None:
    network = Network(curves=(curve(), curve("sparse", fitted_to=("row 1", "row 2"))))
    lines = text.shown("ring", network).splitlines()
    assert lines[0] == "ring"
    assert [line for line in lines if line.startswith("note:")] == [
        "note: sparse of 2 ranks on 1 node was fitted to row 1, row 2: it is not scored on them"
    ]


def imported(count: int = 2, notes: tuple[str, ...] = ()) -> list[str]:
    recorded = planted(lambda size: 1e-6, sizes=(8, 16), repeats=1)
    some = RecordedRun(replace(RUN, program="7.4"), recorded.samples[:count])
    files = [ImportedSamples(tool="osu", recorded=(some,), notes=notes)]
    return text.imported(files, Path("a b.jsonl")).splitlines()


def test_what_another_benchmark_printed_is_counted() -> None:
    assert imported(notes=("osu_bw is left out",)) == [
        "OSU Micro-Benchmarks 7.4: 2 samples of allgather, 2 ranks on 1 node",
        "note: osu_bw is left out",
        "kept in a b.jsonl; now: autotune comm fit 'a b.jsonl' -o network.yaml",
    ]
    assert imported(1)[0].startswith("OSU Micro-Benchmarks 7.4: 1 sample of allgather")


# --- the flow ---------------------------------------------------------------------------------


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Samples of an Allgather of 1 us and 1 GB/s."""
    path = tmp_path / "s.jsonl"
    recorded = planted(lambda size: 1e-6 + size / 1e9, sizes=(8, 512, 8192, 131072, 1 << 20))
    writer = SampleWriter(path)
    writer.begin(replace(recorded.run, machine="another", hosts=("n1", "n2")))
    for sample in recorded.samples:
        writer(sample)
    writer.close()
    return path


def test_a_network_file_keeps_its_other_curves(measured: Path, tmp_path: Path) -> None:
    output = tmp_path / "new" / "network.yaml"
    output.parent.mkdir()
    output.write_text(config.dump_network(Network(curves=(curve("sparse"),))), encoding="utf-8")
    curves, written = flow.fit([measured], contended=False, output=output, host=False)
    assert written == output
    kept = config.read_network(output)
    assert [c.operation for c in kept.curves] == ["allgather", "sparse"]
    assert kept.curves[0].segments == curves[0].curve.segments
    assert curves[0].curve.segments[0].bandwidth == pytest.approx(1e9, rel=0.1)


def test_without_a_place_nothing_is_written(measured: Path) -> None:
    curves, written = flow.fit([measured], contended=False, output=None, host=False)
    assert (len(curves), written) == (1, None)


def test_samples_of_another_machine_are_not_this_host(measured: Path) -> None:
    told = faults(lambda: flow.fit([measured], contended=False, output=None, host=True))
    assert told.startswith("--machine host: samples of another machine, another (n1, n2); expected")
    assert told.endswith("(write a file of its own with -o)")


def test_samples_are_shown_as_the_curves_that_they_make(measured: Path) -> None:
    shown = flow.show(str(measured))
    assert (shown.title, len(shown.fitted)) == ("s.jsonl", 1)
    assert shown.network.curves == (shown.fitted[0].curve,)


def test_a_network_file_is_shown_by_its_title(tmp_path: Path) -> None:
    path = tmp_path / "ring.yaml"
    path.write_text(config.dump_network(Network(title="", curves=(curve(),))), encoding="utf-8")
    assert flow.show(str(path)).title == "ring.yaml"
    titled = Network(title="a ring", curves=(curve(),))
    path.write_text(config.dump_network(titled), encoding="utf-8")
    assert flow.show(str(path)).title == "a ring"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("generic-x86-64", "generic-x86-64: this machine has no network curves (autotune comm"),
        ("no/s.jsonl", "no/s.jsonl: there is no such file"),
        ("./hst", "./hst: there is no such file (did you mean host?)"),
    ],
)
def test_what_has_no_curves_is_told(name: str, words: str) -> None:
    assert faults(lambda: flow.show(name)).startswith(words)


def test_a_file_in_place_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    path = tmp_path / "file" / "x.svg"
    assert faults(lambda: flow.write(path, "")).startswith(f"{path}: cannot be written: ")


def test_nothing_is_kept_where_one_of_the_files_is_faulty(tmp_path: Path) -> None:
    good, bad, output = (tmp_path / name for name in ("good.txt", "bad.txt", "s.jsonl"))
    good.write_text(OSU_NEW, encoding="utf-8")
    bad.write_text("nothing of this kind\n", encoding="utf-8")
    faults(lambda: flow.load([good, bad], None, 2, 1, output))
    assert not output.exists()


def test_ranks_that_do_not_fill_the_nodes_are_refused(tmp_path: Path) -> None:
    good = tmp_path / "good.txt"
    good.write_text(OSU_NEW, encoding="utf-8")
    told = faults(lambda: flow.load([good], "osu", 3, 2, tmp_path / "s.jsonl"))
    assert "3 ranks" in told
    assert "2 nodes" in told


# --- the commands -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("bench", "--nodes", "0"), ("--nodes", "1")),
        (("bench", "--repeats", "0"), ("--repeats", "1")),
        (("bench", "--budget-seconds", "0.5"), ("--budget-seconds", "1")),
        (("fit",), ("FILE",)),
        (("fit", "s.jsonl", "--machine", "hots"), ("--machine", "'hots'", "'host'")),
        (("fit", "s.jsonl", "--machine", "host", "-o", "n.yaml"), ("-o", "not go with --machine")),
        (("show", "host", "-o", "a.png"), ("-o", "a.png does not end in .svg or .html")),
        (("import", "x.txt", "--tool", "ous"), ("--tool", "'ous'", "'osu'")),
        (("import", "x.txt", "--ranks", "1"), ("--ranks", "2")),
        (("benhc",), ("benhc", "bench")),
    ],
)
def test_wrong_words_end_with_code_2(words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    told = usage_error("comm", *words)
    assert [part for part in parts if part not in told] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--operations", "alltoall"), "--operations: unknown operation 'alltoall'; expected one"),
        (("--sizes", "8"), "--sizes: '8' is not a number with a unit of size"),
        (("--sizes", "8 KiB:8 B"), "--sizes: '8 KiB:8 B' does not ascend"),
        (("--sizes", "8 B"), "--sizes: 1 size; expected at least two: a curve has a slope"),
        (("--ranks", "1"), "--ranks: 1 ranks; expected at least 2: one has no peer"),
        (("--ranks", "3", "--nodes", "2"), "--nodes: 3 ranks on 2 nodes; expected equal shares"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(words: tuple[str, ...], told: str) -> None:
    done = CliRunner().invoke(app, ["comm", "bench", *words])
    assert str(done.exception).startswith(told.replace("1 ranks", "1 rank"))


def test_a_fit_is_one_document_or_a_text(measured: Path) -> None:
    done = CliRunner().invoke(app, ["comm", "fit", str(measured), "--json"])
    document = json.loads(done.stdout)
    assert (document["schema"], document["written"]) == ("autotune.comm.fit/1", None)
    shown = CliRunner().invoke(app, ["comm", "show", str(measured)])
    assert shown.stdout.splitlines()[0] == "s.jsonl"
    assert [command.name for command in comm_command.app.registered_commands] == [
        "bench", "fit", "show", "import", "merge",
    ]  # fmt: skip


def test_the_options_of_a_benchmark_have_the_defaults_of_its_plan() -> None:
    options, plan = comm_command.BenchOptions(), BenchmarkPlan()
    assert operations(options.operations) == plan.operations
    assert sizes(options.sizes) == plan.sizes
    for name in ("ranks", "nodes", "repeats", "budget_seconds", "launcher"):
        assert getattr(options, name) == getattr(plan, name)
