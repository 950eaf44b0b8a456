"""kerncraft behind the analyser: kernels that it cannot express, compilers that misbehave."""

import os

import pytest
from kerncraft_kernels import COPY, DAXPY
from kerncraft_machines import machine_file

from autotune.analysis.kerncraft import EcmModel, KerncraftAnalyser

COMPILER = """#!/bin/sh
case "$1" in *.c) source="$1";; esac
if grep -qs zdeath "$source"; then kill -9 $PPID; fi
if grep -qs zsleep "$source"; then sleep 600; fi
if grep -qs zerror "$source"; then echo "kernel.c:1: error: I do not like it" >&2; exit 1; fi
if grep -qs zalone "$source"; then sed -i 's/double \\*/double *restrict /g' "$source"; fi
exec gcc "$@"
"""
"""A compiler that does what the name of an array asks for."""

JOINED = """double zalone[M][N], F[N], y[N];
for(int j=0; j<M; ++j)
  for(int i=0; i<N; ++i)
    F[i] = F[i] + zalone[j][i]*y[i];"""

FLAT = """double a[M*N], b[M*N];
for(int j=1; j<M; ++j)
  for(int i=0; i<N; ++i)
    a[j*N+i] = b[(j-1)*N+i];"""

UNFIT = {
    "double a[N], b[N];\nfor(int i=0; i<N; i+=2) a[i] = b[i];": "step length 1",
    "double a[N], b[N];\nfor(int i=0; i<N; ++i) a[i] = sin(b[i]);": "only references to arrays",
    "double a[N], b[N];\nfor(int i=0; i<N; ++i) if (b[i]) a[i] = b[i];": "inner loop may contain",
    "double a[N];\nfor(int i=0; i<N; ++i) a[i] = a[N-i];": "loop counter|increment",
    "double a[N], b[N];\nfor(int i=0; i<=N; ++i) a[i] = b[i];": "lt",
    "double a[N], b[N];\nfor(int i=0; i<N; ++i) a[i] = b[i;": "Error parsing kernel code",
    "double a[N]; float b[N];\nfor(int i=0; i<N; ++i) a[i] = b[i];": "mixing of datatypes",
    FLAT: "Unable to split expression",
    "double a[N][4], b[N][4];\nfor(int j=0; j<N; ++j) for(int i=0; i<4; ++i) a[j][i] = b[j][i];": (
        "the inner loop has 4 iterations"
    ),
}


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOTUNE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("scratch")))
        yield


def test_what_kerncraft_cannot_express_has_its_words():
    with KerncraftAnalyser(machine_file("HaswellEP_E5-2695v3")) as analyser:
        *found, good = analyser.analyse([*UNFIT, DAXPY])
    for reason, words in zip(found, UNFIT.values(), strict=True):
        assert isinstance(reason, str)
        assert any(word in reason for word in words.split("|")), reason
        assert reason.startswith("kerncraft: ")
        assert "\n" not in reason
    assert isinstance(good, EcmModel)


def test_compilers_that_kill_hang_fail_or_join_loops(tmp_path, monkeypatch):
    compiler = tmp_path / "odd-cc"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    machine = machine_file("HaswellEP_E5-2695v3", "odd-cc")
    kernels = [COPY.replace("a[", f"{name}[") for name in ("zdeath", "zsleep", "zerror")]
    with KerncraftAnalyser(machine, limit=25) as analyser:
        death, sleep, error, joined, good = analyser.analyse([*kernels, JOINED, COPY])
    assert death == "kerncraft: the process of this kernel was ended by SIGKILL"
    assert sleep == "kerncraft: no answer within 25 s"
    assert "error: I do not like it" in error
    assert "joined iterations of an outer loop" in joined
    assert isinstance(good, EcmModel)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("0.8.11.dev0", "0.9.7"), "incompatible with this version"),
        (("0.8.11.dev0", "0.6.6"), "incompatible with this version"),
        (("gcc:", "no-such-compiler:"), "No compiler"),
        (("- OSACA: HSW", ""), "no OSACA under 'in-core model'"),
        (("cores per socket: 14", ""), "no entry 'cores per socket'"),
        (("- OSACA: HSW", "- OSACA: XYZ"), "XYZ|xyz"),
        (("isa: x86", "isa: !!python/object/apply:os.getcwd []"), "tags of Python objects"),
    ],
)
def test_machine_files_that_are_not_enough_are_a_reason(change, words):
    text = machine_file("HaswellEP_E5-2695v3")
    assert change[0] in text
    with KerncraftAnalyser(text.replace(*change)) as analyser:
        (reason,) = analyser.analyse([COPY])
    assert isinstance(reason, str)
    assert any(word in reason for word in words.split("|")), reason
