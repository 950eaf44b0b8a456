"""The Fortran module, compiled with a program."""

import shutil
import subprocess

import pytest
from assertion_runs import losses, path, record, run, variable

from autotune.assertions.library import library_build

PROGRAM = """
program test
  use modeling_assertions
  implicit none
  integer :: n = 7, turns, i
  integer(8) :: big = 9
  character(len=20) :: padded = 'padded'
  call ma_var('n', n)
  call ma_var('big', big, unit='points', domain='square')
  call ma_var('x', 0.5d0)
  call ma_derive('m', 'n*2')
  call ma_derive('c', '2**ceil(log2(4)/2)', 2)
  call ma_derive('d', 'x', 0.5d0)
  call ma_region_begin(padded)
  call ma_sub_begin('solve')
  do i = 1, 3
    call ma_loop_begin('norm', 'n', file=__FILE__, line=__LINE__)
    turns = n
    call ma_loop_end('norm', turns)
  end do
  call ma_loop_begin('eight', 'big'); call ma_loop_end('eight', big)
  call ma_flop_begin('f', '2*n'); call ma_flop_end('f')
  call ma_flop_count('g', '2*n', 14.0d0); call ma_flop_count('h', '2*n', 14)
  call ma_load_begin('l', '8*n'); call ma_load_end('l'); call ma_load_count('lc', '8*n', 56)
  call ma_store_begin('s', '8*n'); call ma_store_end('s'); call ma_store_count('sc', '8*n', big)
  call ma_send('a', '16'); call ma_send_n('b', '16', 'n'); call ma_recv('c', '16', repeat='n')
  call ma_recv_n('d', '16', '2'); call ma_coll('e', 'allreduce', '8')
  call ma_coll_n('k', 'bcast', '8', 'n')
  call ma_sub_end('solve')
  call ma_region_end('padded')
end program
"""


@pytest.mark.skipif(not shutil.which("gfortran"), reason="optional: gfortran is not installed")
def test_every_kind_of_point(tmp_path):
    (tmp_path / "test.f90").write_text(PROGRAM)
    module = library_build.fortran_source()
    flags = ["-cpp", "-std=f2008", "-Wall", "-Wextra", "-Werror", "-fcheck=all", "-O1"]
    command = ["gfortran", *flags, str(module), "test.f90", "-o", "test"]
    subprocess.run(command, check=True, cwd=tmp_path)
    program = tmp_path / "test"
    assert run(program, tmp_path / "without", preload=False).returncode == 0
    assert not (tmp_path / "without").exists()
    outcome = run(program, tmp_path / "records")
    assert outcome.returncode == 0, outcome.stderr
    rank = record(tmp_path / "records")
    assert losses(rank) == {}
    assert [variable(rank, name).first for name in ("n", "big", "x", "m")] == [7, 9, 0.5, 14]
    assert [variable(rank, name).passes for name in "cd"] == [1, 1]
    assert variable(rank, "big").variable.domain == "square"
    loop = path(rank, "padded", "solve", "norm")
    assert (loop.passes, loop.visits, loop.file) == (3, 3, "test.f90")
    assert loop.first_line > 0
    inner = {p.name: p for p in rank.paths if p.parent == loop.parent}
    assert [name for name in inner if inner[name].passes] == ["norm", "eight", "g", "h", "lc"]
    assert inner["sc"].failures == 1
    assert inner["b"].asserted_sizes == ((16, 7),)
    assert (inner["k"].operation, inner["k"].repeat) == ("bcast", "n")
