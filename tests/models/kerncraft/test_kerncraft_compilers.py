"""Compilers that kill, hang, fail or join loops cost their kernel a reason, and no other."""

import os

import pytest
from kerncraft_kernels import COPY
from kerncraft_machines import machine_file

from autotune.models.kerncraft import EcmModel, KerncraftAnalyser

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


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOTUNE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("scratch")))
        yield


@pytest.mark.long
def test_compilers_that_kill_hang_fail_or_join_loops(tmp_path, monkeypatch):
    compiler = tmp_path / "odd-cc"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    machine = machine_file("HaswellEP_E5-2695v3", "odd-cc")
    killing, hanging, failing = (
        COPY.replace("a[", f"{name}[") for name in ("zdeath", "zsleep", "zerror")
    )
    with KerncraftAnalyser(machine) as analyser:
        death, error, joined, good = analyser.analyse([killing, failing, JOINED, COPY])
    assert death == "kerncraft: the process of this kernel was ended by SIGKILL"
    assert "error: I do not like it" in error
    assert "joined iterations of an outer loop" in joined
    assert isinstance(good, EcmModel)
    with KerncraftAnalyser(machine, limit=4) as analyser:
        assert analyser.analyse([hanging, COPY]) == ["kerncraft: no answer within 4 s", good]
