"""Programs that break the rules: a bounded, named loss, and never a wrong PASS."""

import json
import resource
import signal

import pytest
from assertion_runs import (
    compiled,
    losses,
    main,
    path,
    record,
    recorded,
    run,
    variable,
    with_library,
)

from autotune.assertions.modelling.variable_domains import domain


def test_blocks_that_do_not_match(tmp_path):
    rank = recorded(
        tmp_path,
        """ma_region_begin("outer"); ma_loop_begin("left", "1"); ma_region_begin("inner");
           ma_region_end("outer"); ma_region_end("never"); ma_loop_end("left", 1);
           ma_region_begin("open");""",
    )
    assert losses(rank) == {
        "begin without end: region 'inner'": 1,
        "begin without end: loop 'left'": 1,
        "end without begin: region 'never'": 1,
        "end without begin: loop 'left'": 1,
        "open when the record was written: region 'open'": 1,
    }
    left = path(rank, "outer", "left")
    assert (left.passes, left.failures) == (0, 0)
    assert left.unevaluated == (("its end was not reached", 1),)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("later", "variable 'later' has no value"),
        ("n/(n - 7)", "division by zero"),
        ("n*2**62", "a number is too large"),
        ("p", "variable 'p' is outside its domain 'power of two'"),
        ("failed", "variable 'failed' has no value"),
        ("n +", "not an expression: column 4: it ends here"),
        ("ceil(log(536870912)/log(2))", "a rounded number is too near a whole one"),
    ],
)
def test_what_has_no_value_never_passes(tmp_path, expression, reason):
    rank = recorded(
        tmp_path,
        f"""ma_var("n", 7); ma_var_in("p", 3, "", "power of two"); ma_derive("failed", "1/0");
            ma_loop_begin("k", "{expression}"); ma_loop_end("k", 0);
            ma_flop_count("f", "{expression}", 0);""",
    )
    for point in (path(rank, "k"), path(rank, "f")):
        assert (point.passes, point.failures, point.visits) == (0, 0, 1)
        ((words, visits),) = point.unevaluated
        assert words.startswith(reason)
        assert visits == 1


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("power of two", "1 2 4.0 1024 9007199254740992", "0 3 -2 0.5"),
        ("square", "0 1 4 9.0 1000000", "2 -4 2.5"),
        ("whole", "0 -3 2.0", "0.5"),
        ("even", "0 -2 4.0", "1 -3 0.5"),
        ("[1, 64]", "1 64 1.5", "0 65 0.999"),
        ("[ -1.5e1,]", "-15 1000000", "-15.5 -16"),
        ("power of two; [1, 64]", "64", "128 3"),
    ],
)
def test_domains_are_those_of_models(tmp_path, text, inside, outside):
    statements = "".join(
        f'ma_var_in("{name}", {value}, "", "{text}");'
        for name, values in (("inside", inside), ("outside", outside))
        for value in values.split()
    )
    rank = recorded(tmp_path, statements)
    assert losses(rank) == {}
    assert variable(rank, "inside").violations == 0
    assert variable(rank, "outside").violations == len(outside.split())
    assert variable(rank, "outside").worst_value == float(outside.split()[0])
    assert all(domain(text).holds(float(value)) for value in inside.split())
    assert not any(domain(text).holds(float(value)) for value in outside.split())


@pytest.mark.parametrize("text", ["prime", "[1; 2]", "[2, 1]", "(0, 1)", "[1e, 2]", "[a, 2]"])
def test_a_domain_that_cannot_be_read_is_named(tmp_path, text):
    rank = recorded(tmp_path, f'ma_var_in("p", 3, "", "{text}");')
    (lost,) = losses(rank)
    assert lost.startswith(f"domain '{text}' of variable 'p' cannot be read; expected power of two")
    with pytest.raises(ValueError, match=r"\S"):
        domain(text)


def test_contradictions_of_variables_are_named(tmp_path):
    rank = recorded(
        tmp_path,
        """double none = 0.0; ma_var("none", none / none);
           ma_derive("a", "1"); ma_derive("a", "2"); ma_var("a", 3);
           ma_derive_check("b", "2", 3);""",
    )
    assert losses(rank) == {
        "variable 'a' is derived by several expressions": 1,
        "variables that are derived and also set": 1,
        "variable 'none' never had a value: the program gave no finite number": 1,
    }
    assert (variable(rank, "b").passes, variable(rank, "b").failures) == (0, 1)


MANY = """
    char name[40];
    struct ma_site site = {0, 0, "", name, "", "1", "", "", "", 0, 0};
    for (long i = 0; i < %d; i++) {
        site.parent = 0; site.path = 0;
        snprintf(name, sizeof name, "%%ld", i);
        ma_functions_1.begin(&site); ma_functions_1.end(&site);
    }
"""


def test_ten_million_paths_are_bounded(tmp_path):
    program = with_library(main(MANY % 10_000_000))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert run(program, tmp_path / "records", preload=False).returncode == 0
    rank = record(tmp_path / "records")
    assert len(rank.paths) == 4096
    assert losses(rank) == {"visits of paths beyond the first 4,096": 10_000_000 - 4096}
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 64 << 10)


def test_what_lies_in_a_lost_path_cannot_pass(tmp_path):
    text = main(
        MANY % 5000
        + """ma_region_begin("beyond"); ma_loop_begin("k", "1"); ma_loop_end("k", 1);
             ma_region_end("beyond"); ma_flop_count("f", "1", 1); ma_send("s", "1");"""
    )
    assert run(with_library(text), tmp_path / "records", preload=False).returncode == 0
    rank = record(tmp_path / "records")
    assert losses(rank) == {"visits of paths beyond the first 4,096": 5000 - 4096 + 4}
    assert sum(p.passes for p in rank.paths) == 0


def test_differences_are_bounded(tmp_path):
    rank = recorded(
        tmp_path,
        'for (int i = 0; i < 1000; i++) { ma_loop_begin("k", "0"); ma_loop_end("k", i); }',
    )
    loop = path(rank, "k")
    assert len(loop.differences) == 65  # with the one of 0
    assert loop.other_differences == 1000 - 65
    assert (loop.passes, loop.failures) == (1, 999)
    assert loop.worst is not None
    assert loop.worst.measured == 999


def test_variables_and_deep_nesting_are_bounded(tmp_path):
    text = main(
        """char name[40];
           struct ma_site site = {9, 0, "", name, "", "1", "", "", "", 0, 0};
           for (int i = 0; i < 2000; i++) {
               site.path = 0; snprintf(name, sizeof name, "v%d", i);
               ma_functions_1.set_whole(&site, i);
           }
           for (int i = 0; i < 200000; i++) ma_sub_begin("deep");
           for (int i = 0; i < 200000; i++) ma_sub_end("deep");
           ma_region_begin("after"); ma_region_end("after");"""
    )
    assert run(with_library(text), tmp_path / "records", preload=False).returncode == 0
    rank = record(tmp_path / "records")
    assert len(rank.variables) == 1024
    assert losses(rank)["values of variables beyond the first 1,024"] == 976
    assert [(p.name, p.parent) for p in rank.paths] == [("deep", -1), ("after", -1)]
    assert rank.paths[0].visits + losses(rank)["blocks nested more than 65,536 deep"] == 200_000


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT"])
def test_a_killed_rank_writes_nothing(tmp_path, name):
    text = "#include <signal.h>\n" + main(
        f'ma_region_begin("a"); ma_region_end("a"); raise({name});'
    )
    outcome = run(compiled(tmp_path, text), tmp_path / "records")
    assert outcome.returncode == -signal.Signals[name]
    assert not list(tmp_path.glob("records/*.json"))


def test_a_forked_child_writes_nothing(tmp_path):
    rank = recorded(
        tmp_path,
        """ma_region_begin("a"); ma_region_end("a");
           if (fork() == 0) { ma_region_begin("child"); ma_region_end("child"); exit(0); }
           ma_region_begin("b"); ma_region_end("b"); sleep(1);""",
    )
    assert [p.name for p in rank.paths] == ["a", "b"]
    assert losses(rank) == {"child processes, which record nothing": 1}
    assert [p.name for p in (tmp_path / "records").iterdir()] == ["r.0.json"]


def test_a_second_program_of_a_run_keeps_the_first_record(tmp_path):
    program = compiled(tmp_path, main('ma_region_begin("a"); ma_region_end("a");'))
    for _ in range(3):
        run(program, tmp_path / "records")
    names = sorted(p.name for p in (tmp_path / "records").iterdir())
    assert names == ["r-2.0.json", "r-3.0.json", "r.0.json"]
    assert [record(tmp_path / "records", name).run for name in names] == ["r-2", "r-3", "r"]


def test_a_program_without_assertions_writes_nothing(tmp_path):
    assert run(["true"], tmp_path / "records").returncode == 0
    assert not (tmp_path / "records").exists()


def test_a_folder_that_cannot_be_written_is_an_error_message(tmp_path):
    (tmp_path / "file").write_text("")
    program = compiled(tmp_path, main('ma_region_begin("a"); ma_region_end("a");'))
    outcome = run(program, tmp_path / "file")
    assert outcome.returncode == 0
    assert "cannot be written: Not a directory" in outcome.stderr


def test_other_threads_are_a_loss(tmp_path):
    text = "#include <pthread.h>\n" + main(
        """pthread_t thread; ma_region_begin("main");
           pthread_create(&thread, NULL, work, NULL); pthread_join(thread, NULL);
           ma_region_end("main");""",
        """static void *work(void *data) {
               for (int i = 0; i < 10; i++) { ma_region_begin("other"); ma_region_end("other"); }
               return data; }""",
    )
    program = compiled(tmp_path, text, link=("-pthread",))
    assert run(program, tmp_path / "records").returncode == 0
    rank = record(tmp_path / "records")
    assert [p.name for p in rank.paths] == ["main"]
    assert losses(rank) == {"points that other threads than the main one reached": 20}


CLOCK = """
    uint64_t test_ticks(void);
    static uint64_t now = 1000;
    uint64_t test_ticks(void) { return now; }
"""


def test_a_clock_that_runs_backwards_or_jumps_is_a_loss(tmp_path):
    text = main(
        """ma_region_begin("a"); now -= 500; ma_region_end("a");
           ma_region_begin("a"); now += 1ULL << 63; ma_region_end("a");
           ma_region_begin("a"); now += 1000; ma_region_end("a");""",
        CLOCK,
    )
    program = with_library(text, "-DMA_TICKS=test_ticks")
    assert run(program, tmp_path / "records", preload=False).returncode == 0
    rank = record(tmp_path / "records")
    assert losses(rank) == {
        "times at which the clock ran backwards": 1,
        "times beyond the range of the clock": 1,
    }
    assert 0 <= path(rank, "a").seconds < 1


def test_another_locale_changes_nothing(tmp_path):
    text = "#include <locale.h>\n" + main(
        'setlocale(LC_ALL, ""); ma_var("x", 0.5); ma_flop_count("f", "x + 1.25", 1.75);'
    )
    program = compiled(tmp_path, text)
    assert run(program, tmp_path / "records", LC_ALL="de_DE.UTF-8").returncode == 0
    assert path(record(tmp_path / "records"), "f").passes == 1


def test_a_forked_child_writes_no_events(tmp_path):
    recorded(
        tmp_path,
        """ma_region_begin("r"); ma_region_end("r"); fflush(NULL); ma_region_begin("r");
           ma_region_end("r"); if (fork() == 0) exit(0); sleep(1);""",
        AUTOTUNE_ASSERT_EVENTS="1",
    )
    text = (tmp_path / "records" / "r.0.events.jsonl").read_text()
    assert text.count('"begin"') == 2


def test_events_are_bounded(tmp_path):
    rank = recorded(
        tmp_path,
        'for (int i = 0; i < 500010; i++) { ma_region_begin("a"); ma_region_end("a"); }',
        AUTOTUNE_ASSERT_EVENTS="1",
    )
    assert losses(rank) == {"events beyond the first 1,000,000": 20}
    lines = (tmp_path / "records" / "r.0.events.jsonl").read_text().splitlines()
    assert len(lines) == 1_000_001
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    assert (first["event"], first["path"]) == ("begin", 0)
    assert last["seconds_per_tick"] > 0


def test_a_domain_that_is_named_late_holds_for_the_value_before(tmp_path):
    rank = recorded(
        tmp_path,
        """ma_var("p", 3); ma_var_in("p", 3, "", "power of two"); ma_var("q", 1); ma_var("q", 2);
           ma_var_in("q", 2, "", "whole"); ma_var_in("q", 2, "", "[1, 3]");
           ma_loop_begin("k", "p"); ma_loop_end("k", 3);""",
    )
    assert (variable(rank, "p").violations > 0, variable(rank, "p").worst_value) == (True, 3)
    assert path(rank, "k").passes == 0
    assert losses(rank) == {
        "values of variables before their domain was named": 1,
        "variable 'q' has several domains": 1,
    }


def test_a_derived_variable_is_derived_anew_where_its_inputs_changed(tmp_path):
    rank = recorded(
        tmp_path,
        """ma_var("n", 3); ma_derive("m", "2*n"); ma_var("n", 3);
           ma_loop_begin("valid", "m"); ma_loop_end("valid", 6); ma_var("n", 5);
           ma_loop_begin("old", "m"); ma_loop_end("old", 6); ma_derive("m", "2*n");
           ma_loop_begin("new", "m"); ma_loop_end("new", 10);""",
    )
    assert [path(rank, name).passes for name in ("valid", "old", "new")] == [1, 0, 1]
    reason = "variable 'm' was derived before a variable that it depends on changed"
    assert path(rank, "old").unevaluated == ((reason, 1),)


def test_a_count_below_zero_never_passes(tmp_path):
    rank = recorded(
        tmp_path,
        """ma_var("n", 3); ma_loop_begin("k", "n - 5"); ma_loop_end("k", -2);
           ma_flop_count("f", "n - 5", -2.0);""",
    )
    for point in (path(rank, "k"), path(rank, "f")):
        assert (point.passes, point.unevaluated) == (0, (("the count is below 0", 1),))


def test_what_a_program_stated_before_exec_is_a_loss(tmp_path):
    text = main(
        """ma_loop_begin("k", "1"); ma_loop_end("k", count > 1 ? 1 : 2);
           if (count < 2) execl(arguments[0], arguments[0], "again", (char *)0);"""
    ).replace("(void) {", "(int count, char **arguments) {")
    program = compiled(tmp_path, text)
    run(program, tmp_path / "records")
    rank = record(tmp_path / "records")
    assert path(rank, "k").passes == 1
    assert losses(rank) == {"statements of a program that called exec": 1}
    assert not list((tmp_path / "records").glob("*.started"))
