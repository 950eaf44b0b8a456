"""A hardware counter counts operations only where one of its events really starts."""

import subprocess

import pytest
from assertion_runs import losses, path, recorded

PAPI = """
static long long value;
int PAPI_library_init(int version) { return version == (7 << 24) ? version : -1; }
int PAPI_create_eventset(int *set) { *set = 3; return 0; }
int PAPI_add_named_event(int set, const char *name) { return STARTS && name[5] == EVENT ? 0 : -7; }
int PAPI_start(int set) { return 0; }
int PAPI_read(int set, long long *values) { values[0] = value; value += 14; return 0; }
"""
PROGRAM = 'ma_var("n", 7); ma_flop_begin("f", "2*n"); ma_flop_end("f");' + (
    'ma_load_begin("l", "8"); ma_load_end("l"); ma_flop_count("g", "3", 3);'
)


def _made_library(tmp_path, starts, event):
    source = tmp_path / "papi.c"
    source.write_text(PAPI)
    defined = [f"-DSTARTS={starts}", f"-DEVENT='{event}'", "-w"]
    command = ["gcc", "-shared", "-fPIC", *defined, str(source), "-o", str(tmp_path / "libpapi.so")]
    subprocess.run(command, check=True)


@pytest.mark.parametrize(
    ("starts", "event", "counter"),
    [(1, "F", "papi:PAPI_FP_OPS"), (1, "D", "papi:PAPI_DP_OPS"), (0, "F", "")],
)
def test_the_counter_is_named(tmp_path, starts, event, counter):
    _made_library(tmp_path, starts, event)
    rank = recorded(tmp_path, PROGRAM, LD_LIBRARY_PATH=str(tmp_path), AUTOTUNE_ASSERT_PAPI="1")
    flop = path(rank, "f")
    assert (flop.counter, flop.measured) == (counter, 14 if counter else None)
    assert (path(rank, "l").counter, path(rank, "l").measured) == ("", None)
    assert (path(rank, "g").counter, path(rank, "g").measured) == ("program", 3)
    assert losses(rank) == {}


def test_counts_of_two_counters_are_not_added(tmp_path):
    _made_library(tmp_path, 1, "F")
    block = """for (int i = 0; i < 3; i++) {
        ma_flop_begin("f", "14");
        if (i == 1) { MA_NUMBER_(end_whole, end_real, MA_POINT_FLOP_, "f", "", "", "", 14); }
        else ma_flop_end("f");
    }"""
    rank = recorded(tmp_path, block, LD_LIBRARY_PATH=str(tmp_path), AUTOTUNE_ASSERT_PAPI="1")
    flop = path(rank, "f")
    assert (flop.counter, flop.passes, flop.measured) == ("papi:PAPI_FP_OPS", 2, 28)
    assert flop.unevaluated == (("another counter counted this visit", 1),)
