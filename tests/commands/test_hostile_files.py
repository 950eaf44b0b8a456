"""Files, links and figures that nobody can use: a clear error, no traceback, no wait."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autotune import commands, paths
from autotune.commands.app import app
from autotune.errors import InputError
from autotune.files.config import load as load_config
from autotune.files.store import Store, StudyOrigin
from autotune.results.page import page_file

CONFIG = """\
schema: autotune.config/1
title: heat
machine: {machine}
skeleton: pirk
space: pirk-orders
problems: [{{ivp: heat2d, method: radau-iia-5, correctors: 4, size: {size}}}]
builds: [{{compiler: gcc, flags: [-O2]}}]
threads: [1]
"""
STENCIL = """\
schema: autotune.config/1
title: star
machine: generic-x86-64
skeleton: jacobi
space: stencil-small
problems: [{{stencil: star3d-7pt, {extents}}}]
builds: [{{compiler: gcc, flags: [-O2]}}]
threads: [1]
"""
ONE_PROGRAM = """\
schema: autotune.program/1
title: an application
run: ["./app", "{block}"]
size: n
arguments: {n: 10}
parameters: {block: [1, 2]}
"""
PROGRAM_STUDY = """\
schema: autotune.config/1
title: an application
machine: generic-x86-64
program: app.yaml
problems: [{}]
threads: [1]
"""
TOWER = "(" * 40 + "9" + "**9)" * 40


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(*words: str) -> str:
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, InputError), repr(done.exception)
    return str(done.exception)


def config(machine: str = "generic-x86-64", size: int = 40, more: str = "") -> str:
    text = CONFIG.format(machine=machine, size=size) + more
    Path("study.yaml").write_text(text, encoding="utf-8")
    return "study.yaml"


@pytest.mark.parametrize("words", [("rank",), ("tune",), ("machine", "check"), ("learn", "show")])
def test_a_link_to_itself(words: tuple[str, ...]) -> None:
    Path("loop.yaml").symlink_to("loop.yaml")
    assert "loop.yaml" in said(*words, "loop.yaml")


def test_a_link_to_itself_as_a_folder() -> None:
    Path("loop").symlink_to("loop")
    Path("app.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["init", "app.c", "-o", "loop"])
    assert isinstance(done.exception, OSError), repr(done.exception)
    text = ONE_PROGRAM.replace("run:", "source_folder: loop\nfolder: loop\nsources: [a.c]\nrun:")
    Path("app.yaml").write_text(text, encoding="utf-8")
    Path("study.yaml").write_text(PROGRAM_STUDY, encoding="utf-8")
    assert "app.yaml:3" in said("variants", "study.yaml")


@pytest.mark.parametrize(
    "words",
    [
        ("learn", "show", "pipe"),
        ("tune", "--replay", "pipe"),
        ("import", "pipe", "study.yaml"),
        ("learn", "fit", "pipe"),
        ("compare", "--store", "pipe"),
        ("tune", "study.yaml", "--store", "pipe"),
        ("rank", "pipe.yaml"),
    ],
    ids=" ".join,
)
def test_a_named_pipe_without_a_writer(words: tuple[str, ...]) -> None:
    config()
    os.mkfifo("pipe")
    os.mkfifo("pipe.yaml")
    assert "pipe" in said(*words)


def test_the_pipe_of_a_shell_is_read() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"n,time_s\n1,1\n2,2\n")
    os.close(writer)
    done = CliRunner().invoke(app, ["learn", "show", f"/dev/fd/{reader}"])
    os.close(reader)
    assert done.exit_code == 0, done.exception


@pytest.mark.parametrize("store", ["/dev/zero", "/dev/null", "~no-such-user/x"])
def test_a_store_that_is_no_file(store: str) -> None:
    assert store in said("compare", "--store", store)


@pytest.mark.parametrize("size", [2**31, 2**64, 10**30])
def test_a_size_beyond_every_memory(size: int) -> None:
    assert re.search(r"study.yaml:6:\d+: size", said("rank", config(size=size)))
    for extents in (f"size: {size}", f"grid: {{i: 100, j: {size}, k: 100}}"):
        Path("star.yaml").write_text(STENCIL.format(extents=extents), encoding="utf-8")
        assert re.search(r"star.yaml:6:\d+: .*at most 2147483647", said("rank", "star.yaml"))


def test_too_little_memory_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def exhausted(**_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(commands, "app", exhausted)
    with pytest.raises(SystemExit) as end:
        commands.main()
    assert end.value.code == 1
    assert "not enough memory" in capsys.readouterr().err


def test_an_interruption_that_an_import_turns_into_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def importing(**_: object) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise ImportError("initialization failed") from None

    monkeypatch.setattr(commands, "app", importing)
    monkeypatch.setattr(commands, "_interrupts", [])
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        with pytest.raises(SystemExit) as end:
            commands.main()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert end.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


INTERRUPTED_IN_A_FINALIZER = """
import signal, sys, time
from autotune import commands, paths

class Finalized:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
        for _ in range(10):
            pass

def app(**_):
    Finalized()
    time.sleep(60)

commands.app = app
commands.main()
"""


def test_an_interruption_where_python_ignores_exceptions_is_not_lost() -> None:
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IN_A_FINALIZER], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert time.monotonic() - begun < 40


def test_merge_keys_and_repeated_keys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "study.yaml:9:1: unknown key '<<'" in said("rank", config(more="<<: {title: x}\n"))
    config(more="".join("title: x\n" for _ in range(200)))
    monkeypatch.setattr("sys.argv", ["autotune", "rank", "study.yaml"])
    with pytest.raises(SystemExit) as end:
        commands.main()
    assert end.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) < 60


@pytest.mark.parametrize("key", ["dimension", "A"])
def test_a_tower_of_powers(key: str) -> None:
    root = Path(__file__).parents[2] / "kernels"
    kind, name = ("ivp", "heat2d") if key == "dimension" else ("method", "radau-iia-5")
    text = (root / kind / f"{name}.yaml").read_text(encoding="utf-8")
    value = TOWER if key == "dimension" else f'[["{TOWER}", 0, 0], [0, 0, 0], [0, 0, 0]]'
    changed = re.sub(rf"^{key}:.*?(?=^\w)", f"{key}: {value}\n", text, flags=re.M | re.S)
    assert changed != text
    Path("tower.yaml").write_text(changed, encoding="utf-8")
    study = Path(config()).read_text(encoding="utf-8")
    Path("study.yaml").write_text(study.replace(name, "tower.yaml"), encoding="utf-8")
    assert re.search(rf"tower.yaml:\d+:\d+: {key}", said("rank", "study.yaml"))


@pytest.mark.parametrize(
    ("key", "value"),
    [("clock", "2.3 Hz"), ("clock", "1e30 GHz"), ("cores", "1000000000")],
)
def test_rank_refuses_what_machine_check_refuses(key: str, value: str) -> None:
    shipped = Path(__file__).parents[2] / "machines" / "generic-x86-64.yaml"
    text = shipped.read_text(encoding="utf-8")
    changed, count = re.subn(rf"^{key}:.*(?:\n  .*)*", f"{key}: {value}", text, flags=re.M)
    assert count == 1
    Path("mine.yaml").write_text(changed, encoding="utf-8")
    checked = said("machine", "check", "mine.yaml")
    assert re.search(r"mine.yaml:\d+:\d+", checked)
    assert checked.splitlines()[0] in said("rank", config("mine.yaml"))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("limits: {memory: 1 B}\n", "at least 1048576 B"),
        ("measuring: {rounds: 1000000000}\n", "at most 10000"),
    ],
)
def test_limits_with_which_nothing_can_run(more: str, expected: str) -> None:
    text = said("rank", config(more=more))
    assert expected in text
    assert "study.yaml:9:" in text


def test_a_nul_character_in_a_value() -> None:
    text = said("rank", config(more='environment: {A: "x\\0y"}\n'))
    assert "study.yaml:9:18: a NUL character" in text


OUTPUTS = [
    ("learn", "show", "runs.csv", "-o"),
    ("learn", "compare", "runs.csv", "--models", "ridge", "--repeats", "1", "-o"),
    ("machine", "detect", "-o"),
    ("tune", "study.yaml", "--report"),
    ("tune", "study.yaml", "--mirror"),
    ("comm", "import", "osu.txt", "--ranks", "16", "-o"),
]


@pytest.mark.parametrize("words", OUTPUTS, ids=" ".join)
def test_a_named_pipe_without_a_reader(words: tuple[str, ...]) -> None:
    config()
    rows = "".join(f"{n},{n}\n" for n in range(1, 9))
    Path("runs.csv").write_text(f"n,time_s\n{rows}", encoding="utf-8")
    osu = "# OSU MPI Allgather Latency Test v7.4\n# Size       Avg Latency(us)\n1     2.81\n"
    Path("osu.txt").write_text(osu, encoding="utf-8")
    os.mkfifo("pipe")
    assert said(*words, "pipe").startswith("pipe: a device, a named pipe or a socket")


def test_a_page_never_replaces_a_device() -> None:
    with pytest.raises(InputError, match="a device, a named pipe or a socket"):
        page_file.check(Path("/dev/null"))
    with pytest.raises(InputError, match="a device, a named pipe or a socket"):
        page_file.write("", Path("/dev/null"))


def test_text_is_written_to_the_streams_that_a_shell_passes_on() -> None:
    Path("runs.csv").write_text("n,time_s\n1,1\n2,2\n", encoding="utf-8")
    reader, writer = os.pipe()
    done = CliRunner().invoke(app, ["learn", "show", "runs.csv", "-o", f"/dev/fd/{writer}"])
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as stream:
        assert stream.read().startswith("n,")
    assert done.exit_code == 0, done.exception


@pytest.mark.parametrize("name", ["../..", "/etc/passwd", '"HSW\\nX"', "A" * 5000, "--help", "H S"])
def test_an_architecture_of_osaca_is_a_name(name: str) -> None:
    text = paths.folder("machines").joinpath("haswell-e5-2630v3.yaml").read_text(encoding="utf-8")
    Path("haswell.yaml").write_text(text.replace("osaca: HSW", f"osaca: {name}"), encoding="utf-8")
    for words in (("machine", "check", "haswell.yaml"), ("rank", config("haswell.yaml"))):
        assert re.search(r"haswell.yaml:\d+:10: .*is no name of an architecture", said(*words))


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ("log(0-1)", "log(0 - 1) has no value"),
        ("u[j][i]*sqrt(c0 - 1)", "sqrt(c0 - 1) has no value"),
        ("1.0/(2 - 2)", "division by zero"),
        ("1e308*10", "too large"),
    ],
)
def test_a_constant_that_is_no_number_in_a_body(part: str, reason: str) -> None:
    stencil = paths.folder("kernels/stencil").joinpath("star2d-5pt.yaml").read_text("utf-8")
    Path("star.yaml").write_text(stencil.replace("body: ", f"body: {part} + "), encoding="utf-8")
    text = STENCIL.format(extents="size: 64").replace("star3d-7pt", "star.yaml")
    Path("study.yaml").write_text(text, encoding="utf-8")
    found = said("rank", "study.yaml")
    assert reason in found
    assert "star.yaml:10:7: " in found
    ivp = paths.folder("kernels/ivp").joinpath("heat2d.yaml").read_text("utf-8")
    part = part.replace("u[j][i]", "N12").replace("c0", "pi").replace("- 1)", "- 4)")
    for old, line in (("1.0 + sin", 30), ("N12*(y", 26)):
        Path("heat.yaml").write_text(ivp.replace(old, f"{part} + {old}"), encoding="utf-8")
        Path("study.yaml").write_text(
            CONFIG.format(machine="generic-x86-64", size=40).replace("heat2d", "heat.yaml"),
            encoding="utf-8",
        )
        assert f"heat.yaml:{line}:" in said("rank", "study.yaml")


def test_a_name_that_is_too_long() -> None:
    found = said("rank", config(more="name: " + "n" * 201))
    assert "study.yaml:9:7: name: nnnnnnnnnnnnnnnnnnnn... has 201 characters" in found
    assert "at most 200" in found
    parameter = "p" * 65
    Path("app.yaml").write_text(
        ONE_PROGRAM.replace("{block}", f"{{{parameter}}}").replace("block:", f"{parameter}:")
        + "sources: [app.yaml]\n",
        encoding="utf-8",
    )
    Path("study.yaml").write_text(PROGRAM_STUDY, encoding="utf-8")
    assert "has 65 characters; expected at most 64" in said("variants", "study.yaml")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("n" * 245, "n" * 200),
        ("a\nb\x1b[2J", "a-b-[2J"),
        (os.fsdecode(b"by\xfft'\""), "by-t'\""),
    ],
)
def test_the_name_of_a_file_becomes_a_name_of_one_short_line(name: str, shown: str) -> None:
    path = Path(f"{name}.yaml")
    path.write_bytes(Path(config()).read_bytes())
    setup = load_config(path)
    assert setup.name == shown
    with Store.open("x.sqlite") as store:
        store.begin_study(setup.name, StudyOrigin(config="c", setup_text=""))
        assert store.latest_study() == shown
