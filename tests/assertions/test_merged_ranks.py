"""The paths of all ranks as one tree, and where ranks differ."""

from assertion_records import counted, rank_record, region

from autotune.assertions.records.merged_paths import groups, merged


def ranks():
    """Rank 1 turns a loop once more, rank 2 goes into a branch that the others never see."""
    records = []
    for rank in range(3):
        paths = [region(0, "main", 1), counted(1, "loop", "it", "25", [(25, 25 + (rank == 1))])]
        paths[1] = counted(1, "loop", "it", "25", [(25, 25 + (rank == 1))], parent=0)
        if rank == 2:
            paths.append(region(2, "output", 1, parent=1))
        paths.append(counted(3, "flop", "norm", "2*n", [(8, 8)], parent=0))
        records.append(rank_record(paths, rank=rank, ranks=3))
    return records


def test_paths_are_the_same_where_their_chains_are():
    tree = merged(ranks())
    assert [(p.words, p.depth, sorted(p.records)) for p in tree] == [
        ("main", 0, [0, 1, 2]),
        ("main > it", 1, [0, 1, 2]),
        ("main > it > output", 2, [2]),
        ("main > norm", 1, [0, 1, 2]),
    ]
    assert [p.parent for p in tree] == [-1, 0, 1, 0]


def test_ranks_that_differ_are_grouped():
    _, loop, output, _ = merged(ranks())
    assert [(g.measured, g.ranks) for g in groups(loop, range(3))] == [(25, (0, 2)), (26, (1,))]
    assert [(g.visits, g.ranks) for g in groups(output, range(3))] == [(0, (0, 1)), (1, (2,))]


def test_one_name_at_two_points_stays_two_paths():
    record = rank_record(
        [counted(0, "flop", "f", "n", [(1, 1)]), counted(1, "flop", "f", "2*n", [(2, 2)])]
    )
    assert [path.first.expression for path in merged([record, record])] == ["n", "2*n"]


def test_deep_recursion_is_no_deep_recursion_here():
    paths = [region(k, "f", 1, parent=k - 1) for k in range(4096)]
    tree = merged([rank_record(paths)])
    assert tree[-1].depth == 4095
    assert tree[-1].words.count(">") == 11
