"""The tables of the Intel MPI Benchmarks, line by line."""

import pytest

from autotune.measuring.network.imb import read
from autotune.measuring.network.text_block import BenchmarkRow, MalformedLine

TIMES = "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]"


def block(name: str, *rows: str, processes: int = 4, columns: str = TIMES) -> list[str]:
    """A benchmark with its head."""
    return [f"# Benchmarking {name}", f"# #processes = {processes}", columns, *rows]


def test_a_collective_takes_the_time_of_the_slowest_rank() -> None:
    (table,) = read(block("Allgather", "8  1000  1.30  1.34  1.32"))
    assert (table.title, table.operation, table.ranks) == ("IMB Allgather", "allgather", 4)
    assert table.rows == [BenchmarkRow(line=4, bytes=8, seconds=1.34 * 1e-6, count=1000)]


@pytest.mark.parametrize(
    ("columns", "row", "seconds"),
    [
        ("#bytes #repetitions t[usec] Mbytes/sec", "8 1000 0.26 30.77", 0.26e-6),
        ("#bytes #repetitions t_avg[usec]", "8 1000 0.50", 0.5e-6),
    ],
)
def test_other_columns_of_times_are_taken_where_there_is_no_slowest(
    columns: str, row: str, seconds: float
) -> None:
    (table,) = read(block("PingPong", row, columns=columns))
    assert [r.seconds for r in table.rows] == [pytest.approx(seconds)]


def test_a_barrier_has_no_bytes_and_other_messages_of_none_are_left_out() -> None:
    (barrier,) = read(
        block("Barrier", "1000 1.5 1.7 1.6", columns="#repetitions t_min[usec] t_max[usec] x")
    )
    assert barrier.rows == [BenchmarkRow(line=4, bytes=0, seconds=1.7 * 1e-6, count=1000)]
    (table,) = read(block("Allgather", "0 1000 0.1 0.1 0.1", "8 1000 1.3 1.4 1.3"))
    assert [r.bytes for r in table.rows] == [8]


def test_an_exchange_is_on_a_ring_and_says_so() -> None:
    (table,) = read(block("Exchange", "8 1000 1.3 1.4 1.3"))
    assert table.operation == "neighbour"
    assert table.notes == ["on a ring: two messages from each rank, also of two ranks"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Uniband", "a rate of many messages in flight, not the time of one"),
        ("PingPing", "messages that meet under way"),
        ("Bcast", "not an operation of ours"),
    ],
)
def test_what_times_no_operation_is_kept_with_the_reason(name: str, why: str) -> None:
    (table,) = read(block(name, "8 1000 1.3 1.4 1.3"))
    assert (table.operation, table.why, table.rows) == (None, why, [])


def test_a_row_that_was_given_up_is_noted_and_the_rest_is_read() -> None:
    (table,) = read(block("Allgather", "8 1000 1.3 1.4 1.3", "16 time-out.; Time limit 10 s"))
    assert [r.bytes for r in table.rows] == [8]
    assert table.notes == ["line 5 has no time: 16 time-out.; Time limit 10 s"]


def test_a_table_of_nothing_but_given_up_rows_is_whole() -> None:
    (table,) = read(block("Exchange", "8 out-of-mem.; Use -mem 1"))
    assert table.rows == []
    assert len(table.notes) == 2


def test_the_version_of_the_banner_is_that_of_all_tables() -> None:
    banner = "#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part"
    tables = read(
        [
            banner,
            *block("Allgather", "8 1 1 1 1"),
            *block("Exchange", "8 1 1 1 1"),
            "# All processes entering MPI_Finalize",
        ]
    )
    assert [table.version for table in tables] == ["2021.3", "2021.3"]


@pytest.mark.parametrize(
    ("banner", "version"),
    [
        ("#    Intel (R) MPI Benchmark Suite V3.2, MPI-1 part", "3.2"),
        ("#    Intel (R) MPI Benchmark Suite V2.3, MPI-1 part    ", "2.3"),
    ],
)
def test_versions_before_4_state_it_in_other_words_and_need_not_say_that_they_end(
    banner: str, version: str
) -> None:
    (table,) = read([banner, *block("Allgather", "8 1 1 1 1")])
    assert table.version == version


@pytest.mark.parametrize(
    ("banner", "version"),
    [
        ("#    Intel (R) MPI Benchmarks 2018 Update 1, MPI-1 part", "2018"),
        ("#    Intel(R) MPI Benchmarks, Version 2019.6", "2019.6"),
    ],
)
def test_versions_of_several_words_are_read(banner: str, version: str) -> None:
    end = "# All processes entering MPI_Finalize"
    (table,) = read([banner, *block("Allgather", "8 1 1 1 1"), end])
    assert table.version == version


def test_tables_of_several_numbers_of_ranks_follow_one_another() -> None:
    tables = read(block("Allgather", "8 1 1 1 1", processes=2) + block("Allgather", "8 1 1 2 1"))
    assert [(t.line, t.ranks) for t in tables] == [(1, 2), (5, 4)]


@pytest.mark.parametrize(
    ("lines", "line", "why"),
    [
        (
            block("Allgather", "8 1000 1.30"),
            4,
            "3 values for 5 columns: the text is cut off",
        ),
        (block("Allgather"), 1, "IMB Allgather has no rows: the text is cut off"),
        (
            ["# Benchmarking PingPong", "8 1000 1.3"],
            2,
            "a row of IMB PingPong without its head above it",
        ),
        (
            block("PingPong", "8 1000", columns="#bytes #repetitions"),
            4,
            "no column of times in microseconds",
        ),
        (block("Allgather", "8 1000 1 -2.0 1"), 4, "a time of -2.0 us is not positive"),
        (
            ["# Intel(R) MPI Benchmarks 2021.3, MPI-1 part", *block("Allgather", "8 1 1 1 1")],
            5,
            "the text ends without 'All processes entering MPI_Finalize': it is cut off",
        ),
    ],
)
def test_wrong_lines_are_refused_with_their_number(lines: list[str], line: int, why: str) -> None:
    with pytest.raises(MalformedLine) as error:
        read(lines)
    assert (error.value.line, str(error.value)) == (line, why)
