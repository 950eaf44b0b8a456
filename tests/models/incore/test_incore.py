"""The analyser: OSACA behind its pipe, its cache, and what happens when it fails."""

import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from incore_samples import POWER4, captured, machine

import autotune
from autotune import paths
from autotune.codegen.c.emit import SweepCode
from autotune.domain.variant import Build
from autotune.errors import Fault, InputError, MissingTool, WorkFailed
from autotune.models.incore import osaca_analyser
from autotune.models.incore.base import InCoreResult
from autotune.models.incore.osaca import osaca_architectures
from autotune.models.incore.osaca.osaca_client import WORKER, OsacaWorker, OsacaWorkerFailed
from autotune.models.incore.osaca_analyser import OsacaAnalyser
from autotune.units import Seconds

UPDATE = "void update(void) { for (long j = first; j < last; j++) y[j] = y[j] + h*dy[j]; }"

FORM = {
    "uops": [[1.0, ["0", "1"]], [2.0, ["11", "12"]], [1.0, ["13"]]],
    "latency": 1.0,
    "load": 0.0,
    "reads": [],
    "writes": [],
    "taken_as": None,
    "known": True,
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))


def code(name: str, text: str = UPDATE) -> SweepCode:
    return SweepCode(name=name, function=name.split(".")[0], text=text)


def from_capture(text: str, build: Build) -> str:
    """Stands in for the compiler: the C text names the captured sample."""
    return captured(text)


def sample(name: str) -> SweepCode:
    return SweepCode(name=name, function=name.split(".")[0], text=name)


def fake(tmp_path: Path, body: str, limit: float = 20.0) -> OsacaWorker:
    script = tmp_path / "worker.py"
    script.write_text(
        "import json, os, sys, time\n"
        f"FORM = {FORM!r}\n"
        "def reply(request, **more):\n"
        "    forms = [FORM for _ in request.get('forms', [])]\n"
        "    answer = {'id': request['id'], 'ok': True, 'forward': 0.0, 'forms': forms, **more}\n"
        "    print(json.dumps(answer), flush=True)\n" + textwrap.dedent(body),
        encoding="utf-8",
    )
    return OsacaWorker([sys.executable, str(script)], limit=Seconds(limit))


ANSWERS = """
for line in sys.stdin:
    reply(json.loads(line))
"""


# --- the real worker ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def osaca():
    worker = OsacaWorker()
    try:
        worker.ask({"arch": "ZEN3", "forms": [["nop", []]]})
    except OsacaWorkerFailed as fault:
        pytest.skip(f"OSACA does not answer here: {fault}")
    yield worker
    worker.close()


EXPECTED = [
    # sample, architecture, T_OL, T_nOL in cycles per 8 components
    ("update.gcc-znver3", "ZEN3", 2.0, 2.0),
    ("lc_jli.gcc-znver3", "ZEN3", 20.0, 23.0),
    ("lc_jil.gcc-znver3", "ZEN3", 20.0, 21.0),
    ("heat2d.gcc-znver3", "ZEN3", 3.0, 5.0),
    ("wave1d.gcc-znver3", "ZEN3", 10.0, 6 + 1 / 3),
    ("update.gcc-O2-haswell", "HSW", 12.0, 8.0),
    ("update.gcc-neoverse-n1", "N1", 7.0, 6.0),
    ("update.gcc-a64fx", "A64FX", 2.0, 2.0),
]


@pytest.mark.parametrize(("name", "arch", "overlapping", "moving"), EXPECTED)
def test_osaca_on_captured_loops(osaca, name, arch, overlapping, moving):
    analyser = OsacaAnalyser(machine(arch), assemble=from_capture, worker=osaca)
    (found,) = analyser.analyse([sample(name)], Build())
    assert pytest.approx(overlapping, rel=0.02) == 8 * found.T_OL
    assert 8 * found.T_nOL == pytest.approx(moving, rel=0.02)
    assert found.route == f"osaca:{arch}"
    assert not found.approximate
    assert osaca.starts == 1


def test_unknown_instructions_are_replaced_by_their_like_and_said(osaca):
    analyser = OsacaAnalyser(machine("N1"), assemble=from_capture, worker=osaca)
    (found,) = analyser.analyse([sample("heat2d.gcc-neoverse-n1")], Build())
    assert found.approximate
    assert any("fmls as fmla" in note for note in found.notes)


def test_instructions_without_any_port_are_said(osaca):
    analyser = OsacaAnalyser(machine("N1"), assemble=from_capture, worker=osaca)
    (found,) = analyser.analyse([sample("string_mix.clang-neoverse-n1")], Build())
    assert found.approximate
    assert any("ld2" in note and "bounded from below" in note for note in found.notes)


def test_the_divider_is_seen(osaca):
    analyser = OsacaAnalyser(machine("ZEN3"), assemble=from_capture, worker=osaca)
    (found,) = analyser.analyse([sample("inverter.gcc-znver3")], Build())
    assert "DV" in found.bottleneck
    assert found.approximate  # it branches


def test_scalars_move_between_registers_on_the_ports_of_vectors(osaca):
    """Twelve beside three additions: fifteen operations on three ports."""
    moves = "".join(f"\tvmovsd %xmm{k}, %xmm{k}, %xmm{k + 1}\n" for k in range(1, 13))
    additions = "\tvaddsd %xmm14, %xmm14, %xmm15\n" * 3
    text = (
        f"update:\n.L2:\n\tvmovsd (%rdx,%rax,8), %xmm0\n{moves}{additions}"
        "\tvmovsd %xmm15, (%rcx,%rax,8)\n\tincq %rax\n\tcmpq %rax, %rsi\n\tjne .L2\n\tret\n"
    )
    analyser = OsacaAnalyser(machine("SPR"), assemble=lambda *_: text, worker=osaca)
    (found,) = analyser.analyse([code("update")], Build())
    assert pytest.approx(5.0) == found.T_OL
    assert found.bottleneck == "port 0 1 5"


def test_data_ports_exist_in_osacas_tables(osaca):
    large = {"BDW", "CSX", "SKX", "IVB", "ICL"}  # seconds to load, ports like HSW's or ICX's
    for arch in osaca_architectures.ARCHITECTURES.values():
        if arch.name in large:
            continue
        reply = osaca.ask({"arch": arch.name, "forms": []})
        known = reply["ports"]
        assert isinstance(known, list)
        assert arch.data <= set(known), arch.name


def test_a_refusal_keeps_the_worker(osaca):
    before = osaca.starts
    with pytest.raises(OsacaWorkerFailed, match="Error"):
        osaca.ask({"arch": "NOSUCH", "forms": [["nop", []]]})
    assert osaca.starts == max(before, 1)


def test_the_worker_ends_with_its_pipe(osaca):
    done = subprocess.run(
        [*WORKER, str(os.getpid())], input=b"", capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0


# --- the cache ---------------------------------------------------------------------------------


def test_what_is_known_does_not_start_a_worker(tmp_path):
    worker = fake(tmp_path, ANSWERS)
    with OsacaAnalyser(machine(), assemble=from_capture, worker=worker) as analyser:
        first = analyser.analyse([sample("update.gcc-znver3")], Build())
    assert worker.starts == 1
    again = fake(tmp_path, "sys.exit(1)")
    with OsacaAnalyser(machine(), assemble=from_capture, worker=again) as analyser:
        assert analyser.analyse([sample("update.gcc-znver3")], Build()) == first
    assert again.starts == 0


def test_another_architecture_is_asked_anew(tmp_path):
    for arch in ("ZEN3", "ZEN4"):
        worker = fake(tmp_path, ANSWERS)
        with OsacaAnalyser(machine(arch), assemble=from_capture, worker=worker) as analyser:
            analyser.analyse([sample("update.gcc-znver3")], Build())
        assert worker.starts == 1


BROKEN = [b"", b"{", b"\xff\x00", b"[]", b'{"uops": 3}', b'{"T_OL": "x"}']


@pytest.mark.parametrize("content", BROKEN)
@pytest.mark.parametrize("folder", ["incore", "incore-result"])
def test_a_broken_entry_is_made_again(tmp_path, content, folder):
    def once() -> InCoreResult:
        with OsacaAnalyser(
            machine(), assemble=from_capture, worker=fake(tmp_path, ANSWERS)
        ) as analyser:
            return analyser.analyse([sample("update.gcc-znver3")], Build())[0]

    first = once()
    entries = list((paths.cache_dir() / folder).rglob("*.json"))
    kept = [entry.read_bytes() for entry in entries]
    for entry in entries:
        entry.write_bytes(content)
    if folder == "incore":
        for entry in (paths.cache_dir() / "incore-result").rglob("*.json"):
            entry.unlink()
    assert once() == first
    assert [entry.read_bytes() for entry in entries] == kept


# --- failures ----------------------------------------------------------------------------------


def test_a_worker_that_dies_once_is_started_again(tmp_path):
    flag = tmp_path / "died"
    worker = fake(
        tmp_path,
        f"""
        for line in sys.stdin:
            if not os.path.exists({str(flag)!r}):
                open({str(flag)!r}, "w").close()
                os._exit(3)
            reply(json.loads(line))
        """,
    )
    with OsacaAnalyser(machine(), assemble=from_capture, worker=worker) as analyser:
        (found,) = analyser.analyse([sample("update.gcc-znver3")], Build())
    assert worker.starts == 2
    assert found.route == "osaca:ZEN3"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("sys.exit('no such module')", "no such module"),
        ("time.sleep(60)", "no answer within"),
        ("print('not JSON', flush=True); time.sleep(60)", "port table"),
        ("print(json.dumps({'id': 1, 'ok': False, 'error': 'KeyError: 7'}), flush=True)", "KeyErr"),
    ],
)
def test_a_port_table_takes_the_place_of_a_worker_that_fails(tmp_path, body, reason):
    with OsacaAnalyser(
        machine(), assemble=from_capture, worker=fake(tmp_path, body, limit=1.0)
    ) as analyser:
        (found,) = analyser.analyse([sample("update.gcc-znver3")], Build())
    assert found.route == "ports"
    assert found.approximate
    assert any(reason in note for note in found.notes)
    assert found.T_OL > 0


def test_a_worker_that_keeps_failing_is_left_alone(tmp_path):
    worker = fake(tmp_path, "sys.exit(1)")
    for _ in range(5):
        with pytest.raises(OsacaWorkerFailed):
            worker.ask({})
    assert worker.starts == 6


def test_answers_to_older_requests_are_dropped(tmp_path):
    worker = fake(
        tmp_path,
        """
        for line in sys.stdin:
            request = json.loads(line)
            reply({"id": request["id"] - 1}, forward=99.0)
            reply(request)
        """,
    )
    assert worker.ask({})["forward"] == 0.0
    worker.close()


def test_a_machine_that_osaca_does_not_know_takes_its_port_table():
    with OsacaAnalyser(machine(None, POWER4), assemble=from_capture) as analyser:
        (found,) = analyser.analyse([sample("update.gcc-znver3")], Build())
    assert found.route == "ports"
    assert found.T_nOL == pytest.approx(1.5)
    assert found.iterations == 4


def test_code_of_another_instruction_set_is_counted():
    with OsacaAnalyser(machine("N1", POWER4), assemble=from_capture) as analyser:
        (found,) = analyser.analyse([sample("update.gcc-znver3")], Build())
    assert found.route == "ports"
    assert any("x86_64" in note for note in found.notes)


def test_code_of_another_instruction_set_without_port_table():
    with (
        OsacaAnalyser(machine("N1"), assemble=from_capture) as analyser,
        pytest.raises(InputError, match=r"in_core\.ports"),
    ):
        analyser.analyse([sample("update.gcc-znver3")], Build())


@pytest.mark.parametrize("osaca", [None, "BULLDOZER"])
def test_a_machine_with_neither_is_refused(osaca):
    with pytest.raises(InputError, match=r"in_core\.osaca .* or in_core\.ports"):
        OsacaAnalyser(machine(osaca))


def no_compiler(text: str, build: Build) -> str:
    raise MissingTool(Fault(where="builds", found="powerpc64-gcc is not installed"))


def test_a_port_table_needs_no_compiler():
    with OsacaAnalyser(machine(None, POWER4), assemble=no_compiler) as analyser:
        (found,) = analyser.analyse([code("update")], Build())
    assert found.T_nOL == pytest.approx(1.5)
    assert any("counted in the C text" in note for note in found.notes)


def test_osaca_needs_a_compiler():
    with (
        OsacaAnalyser(machine(), assemble=no_compiler) as analyser,
        pytest.raises(MissingTool, match="not installed"),
    ):
        analyser.analyse([code("update")], Build())


def test_a_sweep_that_does_not_compile_is_counted_in_its_text():
    def failing(text: str, build: Build) -> str:
        raise WorkFailed("error: expected ';'")

    with OsacaAnalyser(machine(), assemble=failing) as analyser:
        (found,) = analyser.analyse([code("update")], Build())
    assert found.route == "ports"
    assert found.vector == 16, "as wide as those of the table"
    assert found.approximate


def test_sweeps_are_counted_in_their_text_when_the_time_is_over():
    """What would be compiled and looked up after that is neither."""
    with OsacaAnalyser(machine(), assemble=no_compiler, until=time.monotonic()) as analyser:
        (late,) = analyser.analyse([code("update")], Build())
    assert late.route == "ports"
    assert any("the time for predictions was over" in note for note in late.notes)


def test_the_nearest_architecture_is_named_as_such(tmp_path):
    with OsacaAnalyser(
        machine(approximate=True), assemble=from_capture, worker=fake(tmp_path, ANSWERS)
    ) as analyser:
        (found,) = analyser.analyse([sample("update.gcc-znver3")], Build())
    assert found.route == "osaca:ZEN3 (nearest)"
    assert found.approximate


def test_progress_and_order(tmp_path):
    seen = []
    names = ["update.gcc-znver3", "lc_jli.gcc-znver3", "update.gcc-znver3"]
    with OsacaAnalyser(
        machine(),
        assemble=from_capture,
        worker=fake(tmp_path, ANSWERS),
        progress=lambda done, total: seen.append((done, total)),
    ) as analyser:
        found = analyser.analyse([sample(name) for name in names], Build())
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert found[0] == found[2] != found[1]


def test_sweeps_that_are_looked_up_in_several_batches_keep_their_order(tmp_path):
    names = ["update.gcc-znver3", "lc_jli.gcc-znver3"] * (osaca_analyser._BATCH + 1)
    with OsacaAnalyser(
        machine(), assemble=from_capture, worker=fake(tmp_path, ANSWERS)
    ) as analyser:
        update, lc, *others = analyser.analyse([sample(name) for name in names], Build())
    assert update != lc
    assert others == [update, lc] * osaca_analyser._BATCH


def test_only_the_workers_import_osaca_and_kerncraft():
    package = Path(autotune.__file__).parent
    child = package / "models" / "kerncraft_child"
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    imported = re.compile(r"^\s*(?:from|import) (?:osaca|kerncraft|cachesim)\b", re.MULTILINE)
    users = {path for path, text in texts.items() if imported.search(text)}
    assert {path.name for path in users if path.parent != child} == {"osaca_worker.py"}
    asked = re.compile(r"^\s*(?:from|import) .*\b(?:osaca_worker|kerncraft_child)\b", re.MULTILINE)
    assert [p for p, text in texts.items() if p.parent != child and asked.search(text)] == []


# --- work that must not get lost ---------------------------------------------------------------

TWO = """
void two(long first, long last, double *restrict a, double *restrict b, const double *restrict c)
{
    for (long j = first; j < last; ++j) a[j] = 2.0*c[j];
    for (long j = first; j < last; ++j) b[j] = 3.0/c[j];
}
"""


def test_every_rung_holds_the_loops_that_run_beside_the_hot_one():
    with OsacaAnalyser(machine(osaca="HSW")) as analyser:
        build = Build(compiler="gcc", flags=("-O3", "-march=haswell"))
        (found,) = analyser.analyse([code("two", TWO)], build)
    assert found.hot_loops == 2
    assert pytest.approx(found.T_OL) == found.ladder[0].T_OL
    assert found.ladder[0].T_nOL == pytest.approx(found.T_nOL)
    assert found.ladder[-1].T_OL > 1


def test_calls_are_priced_where_only_the_c_text_is_counted():
    def unable(text: str, build: Build) -> str:
        raise WorkFailed("no compiler")

    text = "void update(void) {{ for (long j = first; j < last; j++) y[j] = {}; }}"
    codes = [code("update", text.format(body)) for body in ("2.0*x[j]", "sin(x[j])")]
    with OsacaAnalyser(machine(osaca=None, ports=POWER4), assemble=unable) as analyser:
        plain, calling = analyser.analyse(codes, Build())
    assert calling.T_OL > plain.T_OL + 10
    assert [calling.calls, plain.calls] == [1.0, 0.0]
    assert any("calls sin" in note for note in calling.notes)
