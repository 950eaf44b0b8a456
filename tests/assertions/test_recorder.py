"""What the library records of programs in C and C++."""

import shutil

import pytest
from assertion_runs import compiled, losses, main, path, record, recorded, run, variable

EVERYTHING = """
    int n = 7, c = 2, turns = 0;
    unsigned long big = 9;
    double real = 0.5;
    ma_var("n", n); ma_var_in("big", big, "points", "square; [1, 100]"); ma_var("x", real);
    ma_derive("m", "n*2"); ma_derive_check("c", "2**ceil(log2(4)/2)", c);
    ma_region_begin("setup");
    ma_sub_begin("solve");
    ma_loop_begin("norm", "n"); for (; turns < n; turns++) { } ma_loop_end("norm", turns);
    ma_flop_begin("f", "2*n"); ma_flop_end("f"); ma_flop_count("g", "2*n", 14.0);
    ma_load_begin("l", "8*n"); ma_load_end("l"); ma_load_count("lc", "8*n", 8 * n);
    ma_store_begin("s", "8*n"); ma_store_end("s"); ma_store_count("sc", "8*n", 8 * n);
    ma_send("a", "16"); ma_send_n("b", "16", "n"); ma_recv("c", "16"); ma_recv_n("d", "16", "n");
    ma_coll("e", "allreduce", "8"); ma_coll_n("h", "bcast", "8", "n");
    ma_sub_end("solve");
    ma_region_end("setup");
"""
FLAGS = [
    (compiler, language, level, kind)
    for compiler in ("gcc", "clang")
    for language in ("c99", "c11", "c++11", "c++20")
    for level, kind in (("-O0", "-no-pie"), ("-O1", "-pie"), ("-O2", "-no-pie"), ("-O3", "-pie"))
]


@pytest.mark.parametrize(("compiler", "language", "level", "kind"), FLAGS)
def test_the_header_works_in_every_language(tmp_path, compiler, language, level, kind):
    if not shutil.which(compiler):
        pytest.skip("optional: clang is not installed")
    is_c = not language.startswith("c++")
    wrapper = compiler if is_c else {"gcc": "g++", "clang": "clang++"}[compiler]
    if not shutil.which(wrapper):
        pytest.skip("optional: no C++ compiler is installed")
    position = "-fno-pie" if kind == "-no-pie" else "-fPIE"
    program = compiled(
        tmp_path, main(EVERYTHING), f"-std={language}", level, position,
        driver=wrapper, suffix=".c" if is_c else ".cpp", link=(kind,),
    )  # fmt: skip
    assert run(program, tmp_path / "without", preload=False).returncode == 0
    assert not (tmp_path / "without").exists()
    assert run(program, tmp_path / "records").returncode == 0
    assert path(record(tmp_path / "records"), "setup", "solve", "norm").passes == 1


def test_the_header_is_compiled_away(tmp_path):
    program = compiled(tmp_path, main(EVERYTHING), "-DMODELING_ASSERTIONS_OFF", "-O0")
    assert run(program, tmp_path / "records").returncode == 0
    assert not (tmp_path / "records").exists()
    assert b"ma_functions" not in program.read_bytes()


def test_the_library_is_off_without_its_variable(tmp_path):
    program = compiled(tmp_path, main(EVERYTHING))
    for value in ("", None):
        assert run(program, tmp_path, AUTOTUNE_ASSERT=value or "").returncode == 0
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".json"] == []


def test_every_kind_of_point(tmp_path):
    rank = recorded(tmp_path, EVERYTHING)
    assert rank.complete
    assert losses(rank) == {}
    assert variable(rank, "x").first == 0.5
    assert variable(rank, "m").last == 14
    assert (variable(rank, "c").passes, variable(rank, "c").failures) == (1, 0)
    big = variable(rank, "big")
    assert (big.variable.unit, big.variable.domain) == ("points", "square; [1, 100]")
    loop = path(rank, "setup", "solve", "norm")
    assert (loop.asserted, loop.measured, loop.counter) == (7, 7, "trips")
    flop = path(rank, "setup", "solve", "f")
    assert (flop.asserted, flop.measured, flop.counter) == (14, None, "")
    counted = path(rank, "setup", "solve", "g")
    assert (counted.asserted, counted.measured, counted.counter) == (14, 14.0, "program")
    assert path(rank, "setup", "solve", "lc").passes == 1
    assert path(rank, "setup", "solve", "b").asserted_sizes == ((16, 7),)
    coll = path(rank, "setup", "solve", "h")
    assert (coll.operation, coll.repeat, coll.measured, coll.counter) == ("bcast", "n", None, "")


def test_trips_and_their_differences(tmp_path):
    rank = recorded(
        tmp_path,
        """int n = 5, trips[] = {5, 5, 0, 3, 9};
           ma_var("n", n);
           for (int i = 0; i < 5; i++) { ma_loop_begin("k", "n"); ma_loop_end("k", trips[i]); }""",
    )
    loop = path(rank, "k")
    assert (loop.visits, loop.passes, loop.failures, loop.zero) == (5, 2, 3, 1)
    assert (loop.asserted, loop.measured, loop.least, loop.most) == (25, 22, 0, 9)
    assert loop.differences == ((-4, 1), (0, 2), (2, 1), (5, 1))
    assert loop.worst is not None
    assert (loop.worst.asserted, loop.worst.measured, loop.worst.binding) == (5, 0, {"n": 5})


def test_a_point_knows_its_lines(tmp_path):
    rank = recorded(tmp_path, 'ma_flop_begin("f", "1");\n\n\nma_flop_end("f");')
    flop = path(rank, "f")
    assert flop.file.endswith("program.c")
    assert flop.last_line - flop.first_line == 3


def test_paths_are_told_apart_by_what_leads_to_them(tmp_path):
    rank = recorded(
        tmp_path,
        """for (int i = 0; i < 4; i++) {
               const char *outer = i % 2 ? "odd" : "even"; (void)outer;
               if (i % 2) { ma_region_begin("odd"); } else { ma_region_begin("even"); }
               ma_loop_begin("k", "1"); ma_loop_end("k", 1);
               if (i % 2) { ma_region_end("odd"); } else { ma_region_end("even"); }
           }""",
    )
    assert path(rank, "odd", "k").visits == path(rank, "even", "k").visits == 2


def test_expressions_follow_their_variables(tmp_path):
    rank = recorded(
        tmp_path,
        """for (int i = 1; i <= 100; i++) {
               ma_var("i", i); ma_derive("square", "i*i");
               ma_loop_begin("k", "square + 1"); ma_loop_end("k", i * i + 1);
           }""",
    )
    assert path(rank, "k").passes == 100
    assert (variable(rank, "i").first, variable(rank, "i").last) == (1, 100)
    assert variable(rank, "square").changes == 99


def test_recursion_is_one_path(tmp_path):
    text = main(
        "walk(9);",
        """static void walk(int depth) {
               ma_sub_begin("walk"); ma_region_begin("inner");
               if (depth > 0) walk(depth - 1);
               ma_region_end("inner"); ma_sub_end("walk"); }""",
    )
    assert run(compiled(tmp_path, text), tmp_path / "records").returncode == 0
    rank = record(tmp_path / "records")
    assert [(p.name, p.parent, p.visits, p.deepest) for p in rank.paths] == [
        ("walk", -1, 10, 10),
        ("inner", 0, 10, 10),
    ]
    assert rank.paths[1].seconds <= rank.paths[0].seconds <= rank.seconds
    assert losses(rank) == {}


def test_fractions_and_real_numbers_are_told(tmp_path):
    rank = recorded(
        tmp_path,
        """ma_var("n", 7);
           ma_flop_count("half", "n/2", 3); ma_flop_count("exact", "n/2", 3.5);
           ma_flop_count("root", "sqrt(n)", 2.6457513110645907);""",
    )
    assert path(rank, "half").differences == ((0.5, 1),)
    assert path(rank, "exact").passes == path(rank, "root").passes == 1


def test_sums_beyond_64_bits_stay_exact(tmp_path):
    rank = recorded(
        tmp_path,
        """int64_t most = 9223372036854775807;
           ma_var("most", most);
           for (int i = 0; i < 3; i++) ma_flop_count("f", "most", most);""",
    )
    assert path(rank, "f").asserted == path(rank, "f").measured == 3 * (2**63 - 1)


def test_names_may_hold_any_bytes(tmp_path):
    rank = recorded(
        tmp_path, r'ma_region_begin("a\"\\\n\xc3\xa9\xf0\x9f\x98\x80\xff"); ma_region_end("x");'
    )
    assert rank.paths[0].name == 'a"\\\né😀�'
