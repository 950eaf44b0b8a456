"""Loops of a cross compiler for ppc64: what is counted in them, and when the C text is instead."""

import shutil

import pytest

from autotune.codegen.c.emit import SweepCode
from autotune.domain.variant import Build
from autotune.errors import WorkFailed
from autotune.files import config
from autotune.models.incore.base import InCoreResult
from autotune.models.incore.cost.cross_loops import loop_work
from autotune.models.incore.cost.port_table import ComponentWork
from autotune.models.incore.osaca_analyser import Assemble, OsacaAnalyser

GCC = "powerpc64-linux-gnu-gcc"
TEXT = """void scaled(long first, long last, double *restrict Y, const double *restrict y)
{
    for (long j = first; j < last; j++) { Y[j] = 2.0 * y[j] + y[j - 8]; }
}
"""
ASSEMBLY = """scaled:
\tmtctr 10
.L3:
\tlfd 12,0(9)
\tlfd 11,8(9)
\tlfd 10,-64(9)
\tlfd 9,-56(9)
\tfmadd 12,12,0,10
\tfmadd 11,11,0,9
\tstfd 12,0(8)
\tstfdu 11,16(8)
\taddi 9,9,16
\tbdnz .L3
\tblr
"""


def analysed(assemble: Assemble, build: Build) -> InCoreResult:
    code = SweepCode(name="scaled", function="scaled", text=TEXT)
    with OsacaAnalyser(config.machine("power4-1.3"), assemble=assemble) as analyser:
        return analyser.analyse([code], build)[0]


def test_the_hottest_loop_is_counted_per_stored_element() -> None:
    assert loop_work(ASSEMBLY, 1.0, GCC) == ComponentWork(
        loads=2.0, stores=1.0, fused=1.0, overhead=1.0, body=2.0
    )
    assert loop_work("nothing:\n\tblr\n", 1.0, GCC) == (
        f"{GCC} made no loop that stores what the text stores"
    )


@pytest.mark.parametrize(
    ("build", "flags"),
    [
        (Build(compiler="gcc", flags=("-O2", "-march=native")), ("-O2", "-mcpu=power4")),
        (Build(compiler=GCC, flags=("-O2", "-mcpu=power5")), ("-O2", "-mcpu=power5")),
    ],
)
def test_the_cross_compiler_makes_the_loop_whatever_compiler_builds(
    monkeypatch: pytest.MonkeyPatch, build: Build, flags: tuple[str, ...]
) -> None:
    asked: list[Build] = []

    def assemble(_: str, build: Build) -> str:
        asked.append(build)
        return ASSEMBLY

    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    result = analysed(assemble, build)
    assert asked == [Build(compiler=GCC, flags=flags)]
    assert f"counted in the loop that {GCC} makes" in result.notes
    assert result.T_nOL == pytest.approx(1.5)


def test_without_it_the_text_is_counted_and_the_note_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> str:
        raise WorkFailed("no header")

    monkeypatch.setattr(shutil, "which", lambda _: None)
    (note,) = analysed(fail, Build()).notes
    assert note.startswith(f"counted in the C text: {GCC} is not installed")
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert analysed(fail, Build()).notes == ("counted in the C text: not compiled: no header",)
