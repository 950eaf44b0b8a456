"""The tables of the OSU Micro-Benchmarks, line by line."""

import pytest

from autotune.measuring.network.osu import read
from autotune.measuring.network.text_block import BenchmarkRow, MalformedLine

HEAD = "# OSU MPI Allgather Latency Test v7.4"
COLUMNS = "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"


def test_a_table_with_all_columns_gives_the_time_of_the_slowest_rank() -> None:
    (table,) = read([HEAD, "# Datatype: MPI_CHAR.", COLUMNS, "8   2.81   1.89   3.73   1000"])
    assert (table.title, table.operation, table.version, table.line) == (
        "OSU MPI Allgather Latency Test", "allgather", "7.4", 1,
    )  # fmt: skip
    assert table.ranks is None, "the text does not say"
    assert table.rows == [BenchmarkRow(line=4, bytes=8, seconds=3.73e-6, count=1000)]


def test_without_the_slowest_rank_the_mean_is_taken_and_the_count_is_one() -> None:
    (table,) = read([HEAD, "# Size       Avg Latency(us)", "8   2.81"])
    assert table.rows == [BenchmarkRow(line=3, bytes=8, seconds=2.81 * 1e-6, count=1)]


def test_messages_of_no_bytes_are_left_out_and_barriers_have_none() -> None:
    (latency,) = read(
        ["# OSU MPI Latency Test v5.6.2", "# Size  Latency (us)", "0  0.20", "1  0.21"]
    )
    assert [row.bytes for row in latency.rows] == [1]
    (barrier,) = read(["# OSU MPI Barrier Latency Test v7.3", "# Avg Latency(us)", "   1.41"])
    assert barrier.rows == [BenchmarkRow(line=3, bytes=0, seconds=1.41 * 1e-6, count=1)]


@pytest.mark.parametrize(
    ("title", "why"),
    [
        ("MPI Bandwidth Test v7.4", "a rate of many messages in flight, not the time of one"),
        ("MPI Multiple Bandwidth / Message Rate Test v7", "a rate of many messages in flight, not"
         " the time of one"),
        ("MPI Non-blocking Allgather Latency Test v7", "its time includes computation"),
        ("MPI Bcast Latency Test v7", "not an operation of ours"),
        ("MPI_Put Latency Test v7", "one-sided: no rank receives a message"),
        ("SHMEM Latency Test v7", "messages of SHMEM, not of MPI"),
    ],
)  # fmt: skip
def test_what_times_no_operation_is_kept_with_the_reason_and_without_rows(
    title: str, why: str
) -> None:
    (table,) = read([f"# OSU {title}", "# Size  Latency (us)", "8  1.0"])
    assert (table.operation, table.why, table.rows) == (None, why, [])


def test_a_build_for_accelerators_is_named_in_version_and_notes() -> None:
    (table,) = read(["# OSU MPI-CUDA Latency Test v5.6", "# Size  Latency (us)", "8  1.0"])
    assert table.version == "5.6 MPI-CUDA"
    assert table.notes == ["a build for CUDA: its buffers may be an accelerator's"]


def test_the_columns_of_one_test_are_not_those_of_the_next() -> None:
    with pytest.raises(MalformedLine, match="without the names of its columns") as error:
        read([HEAD, COLUMNS, "8 2 1 3 10", "# OSU MPI Latency Test v7", "8  1.0"])
    assert error.value.line == 5


def test_what_stands_before_the_first_title_is_a_banner() -> None:
    assert read(["8 2 3", "# Size  Latency (us)", "hello", ""]) == []


@pytest.mark.parametrize(
    ("lines", "line", "why"),
    [
        ([HEAD, COLUMNS, "8 2.81 1.89"], 3, "3 values for 5 columns: the text is cut off"),
        (
            [HEAD, COLUMNS],
            1,
            "OSU MPI Allgather Latency Test has no rows: the text is cut off",
        ),
        (
            [HEAD, COLUMNS, "# OSU MPI Latency Test v7", "# Size  Latency (us)", "8 1.0"],
            1,
            "OSU MPI Allgather Latency Test has no rows: the text is cut off",
        ),
        ([HEAD, "# Size  Iterations", "8 10"], 3, "no column of times in microseconds"),
        ([HEAD, "# Size  Latency (us)", "8k 1.0"], 3, "'8k' is not a whole number"),
        ([HEAD, "# Size  Latency (us)", "8 0.00"], 3, "a time of 0.00 us is not positive"),
    ],
)
def test_wrong_lines_are_refused_with_their_number(lines: list[str], line: int, why: str) -> None:
    with pytest.raises(MalformedLine) as error:
        read(lines)
    assert (error.value.line, str(error.value)) == (line, why)
