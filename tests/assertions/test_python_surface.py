"""Assertions of Python programs, over the library that is loaded or that they load."""

import json
import shutil
import subprocess
import sys

import pytest
from assertion_runs import losses, path, python, run, variable

EVERYTHING = """
import sys
ma.var("n", 7)
ma.var("p", 4, unit="processes", domain="power of two")
ma.var("x", 0.5)
ma.derive("c", "2**ceil(log2(p)/2)", 2)
ma.derive("d", "n*2")
with ma.region("setup"):
    for i in ma.loop("norm", "n", range(7)):
        pass
    with ma.loop("while", "n") as loop:
        while loop.trips < 7:
            loop.trips += 1
    with ma.flop("f", "2*n") as block:
        block.count(10)
        block.count(4)
    with ma.flop("g", "2*n"):
        pass
    with ma.load("l", "8*n") as block:
        block.count(56.0)
    with ma.store("s", 8):
        pass
    ma.send("a", "16", repeat="n")
    ma.recv("b", 16)
    ma.coll("e", "allreduce", "8")

@ma.sub
def factorial(n):
    "The product."
    return 1 if n < 2 else n * factorial(n - 1)

@ma.sub("named")
def other(a, *, b):
    return a + b

assert factorial(5) == 120 and factorial.__name__ == "factorial" and factorial.__doc__
assert other(1, b=2) == 3
with ma.sub("third"):
    pass
"""


@pytest.mark.parametrize("preload", [False, True])
def test_every_kind_of_point(tmp_path, preload):
    rank = python(tmp_path, EVERYTHING, preload=preload)
    assert losses(rank) == {}
    assert rank.program == "program.py"
    assert variable(rank, "c").passes == 1
    assert variable(rank, "p").variable.unit == "processes"
    loop = path(rank, "setup", "norm")
    assert (loop.passes, loop.measured, loop.counter) == (1, 7, "trips")
    assert loop.file.endswith("program.py")
    assert (
        loop.first_line
        == EVERYTHING.splitlines().index('    for i in ma.loop("norm", "n", range(7)):') + 2
    )
    assert path(rank, "setup", "while").passes == 1
    assert (path(rank, "setup", "f").measured, path(rank, "setup", "g").measured) == (14, None)
    assert path(rank, "setup", "l").passes == 1
    assert path(rank, "setup", "s").asserted == 8
    assert path(rank, "setup", "a").asserted_sizes == ((16, 7),)
    assert path(rank, "setup", "e").operation == "allreduce"
    assert (path(rank, "factorial").visits, path(rank, "factorial").deepest) == (5, 5)
    assert path(rank, "named").visits == path(rank, "third").visits == 1


def test_nothing_happens_where_assertions_are_off(tmp_path):
    text = "import autotune.assertions as ma\n" + EVERYTHING + "print('done')\n"
    text += "assert not {'numpy', 'typer', 'subprocess', 'autotune.toolchain'} & {*sys.modules}\n"
    text += "assert ma.loop('k', '1', items := [1]) is items\n"
    text += "def plain(): pass\nassert ma.sub(plain) is plain and ma.sub('x')(plain) is plain\n"
    source = tmp_path / "program.py"
    source.write_text(text)
    outcome = run(
        [sys.executable, str(source)], tmp_path / "records", preload=False, AUTOTUNE_ASSERT=""
    )
    assert (outcome.returncode, outcome.stdout) == (0, "done\n"), outcome.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["program.py"]


def test_a_loop_that_is_left_early(tmp_path):
    rank = python(
        tmp_path,
        """
def search():
    for i in ma.loop("return", "10", range(10)):
        if i == 2:
            return
for i in ma.loop("break", "10", range(10)):
    if i == 4:
        break
search()
for i in ma.loop("none", "0", ()):
    pass
""",
    )
    assert [(p.measured, p.passes, p.zero) for p in rank.paths] == [(5, 0, 0), (3, 0, 0), (0, 1, 1)]
    assert losses(rank) == {}


def test_an_exception_ends_blocks(tmp_path):
    rank = python(
        tmp_path,
        """
try:
    with ma.region("a"), ma.flop("f", "1"), ma.loop("k", "2") as loop:
        loop.trips = 1
        raise KeyError
except KeyError:
    pass
with ma.region("b"):
    pass
""",
    )
    assert [(p.name, p.parent) for p in rank.paths] == [("a", -1), ("f", 0), ("k", 1), ("b", -1)]
    assert path(rank, "a", "f", "k").failures == 1
    assert losses(rank) == {}


def test_numbers_of_numpy_and_numbers_too_large(tmp_path):
    rank = python(
        tmp_path,
        """
import numpy as np
ma.var("n", np.int32(7)); ma.var("x", np.float32(0.5)); ma.var("flag", np.int64(2) > 1)
ma.var("big", 2**63); ma.derive("c", "n", np.int64(7)); ma.derive("d", "n", 2**70)
with ma.flop("f", "n") as block:
    block.count(np.int64(3)); block.count(np.int64(4))
with ma.flop("g", "n") as block:
    block.count(2**70)
""",
    )
    assert (variable(rank, "n").first, variable(rank, "x").first) == (7, 0.5)
    assert variable(rank, "c").passes == variable(rank, "d").failures == 1
    assert path(rank, "f").passes == 1
    assert path(rank, "g").unevaluated == (("the count is no finite number", 1),)
    assert losses(rank) == {
        "variable 'big' never had a value: the program gave no finite number": 1
    }


def test_points_that_are_made_without_end(tmp_path):
    rank = python(
        tmp_path,
        """
for i in range(5_000):
    with ma.region(f"r{i}"):
        pass
for i in range(101_000):
    ma.send("a", f"8*{i}")
""",
    )
    assert len(rank.paths) == 4096
    assert losses(rank) == {"visits of paths beyond the first 4,096": 106_000 - 4096}


def test_other_threads_and_forked_children_are_losses(tmp_path):
    rank = python(
        tmp_path,
        """
import os, threading
def work():
    with ma.region("other"):
        pass
thread = threading.Thread(target=work)
thread.start(); thread.join()
if os.fork() == 0:
    work()
    os._exit(0)
os.wait()
with ma.region("main"):
    pass
""",
    )
    assert [p.name for p in rank.paths] == ["main"]
    assert losses(rank) == {
        "points that other threads than the main one reached": 2,
        "child processes, which record nothing": 1,
    }


def test_python_and_c_share_one_tree(tmp_path):
    library = tmp_path / "part.so"
    header = str(tmp_path / "part.c")
    (tmp_path / "part.c").write_text(
        '#include "modeling_assertions.h"\nvoid part(void);\n'
        'void part(void) { ma_loop_begin("inner", "n"); ma_loop_end("inner", 3); }\n'
    )
    from assertion_runs import FOLDER

    command = ["gcc", "-fPIC", "-shared", f"-I{FOLDER}", header, "-o", str(library)]
    subprocess.run(command, check=True)
    text = f"""
import ctypes
ma.var("n", 3)
with ma.region("outer"):
    ctypes.CDLL({str(library)!r}).part()
"""
    for preload in (True, False):
        rank = python(tmp_path, text, preload=preload)
        assert path(rank, "outer", "inner").passes == 1
        shutil.rmtree(tmp_path / "records")


def test_a_record_is_json(tmp_path):
    python(tmp_path, EVERYTHING)
    document = json.loads((tmp_path / "records" / "r.0.json").read_text())
    assert document["schema"] == "autotune.assertion-record/1"
