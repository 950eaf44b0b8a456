"""The decorator: stored choices by size and threads, and the choice on line with its bound."""

import asyncio
import pickle
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.api.choosing.online_race import FIRST_VISITS, LossAccount, OnlineRace
from autotune.api.choosing.tuned import OnlineChoice, tuned
from autotune.errors import InputError
from autotune.results.export.readers import autotune_wisdom

ENTRIES = [(256, 1, 16), (256, 2, 32), (4096, 1, 64), (4096, 2, 128)]


@pytest.fixture
def wisdom(tmp_path):
    """A wisdom file with a block for two sizes and two numbers of threads."""
    entries = ",".join(
        f'{{"size": {size}, "threads": {threads}, "candidate": "c{block}", "parameters":'
        f' {{"block": {block}}}, "compiler": "gcc", "flags": [], "seconds": 1e-3,'
        ' "interval_s": null, "loss_bound": null, "verified": true}'
        for size, threads, block in ENTRIES
    )
    path = tmp_path / "sum.wisdom.json"
    path.write_text(
        '{"schema": "autotune.wisdom/1", "sections": [{"machine": {"identity": "m"},'
        f' "problem": {{"id": "sum"}}, "ranks": 1, "entries": [{entries}]}}]}}'
    )
    return path


class Machine:
    """A clock that a function moves on by what its variant takes, and the calls that it saw."""

    def __init__(self, seconds):
        self.seconds, self.now, self.calls = seconds, 0.0, []

    def clock(self):
        return self.now

    def run(self, variant):
        self.calls.append(variant)
        took = self.seconds[variant]
        self.now += took(len(self.calls)) if callable(took) else took
        return variant

    def lost(self):
        """Seconds beyond as many calls of the best."""
        return self.now - len(self.calls) * min(self.seconds)


def raced(machine, online=10.0, **more):
    """A function of ``machine`` that chooses its variant on line."""
    variants = [{"variant": k} for k in range(len(machine.seconds))]

    @tuned(online=OnlineChoice(online, variants, clock=machine.clock), **more)
    def function(*_, variant):
        return machine.run(variant)

    return function


# --- stored choices -------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 100, 256, 1000, 2000, 4096, 10**9])
@pytest.mark.parametrize("threads", [0, 1, 2, 64])
def test_the_stored_winner_is_that_of_the_reader(wisdom, size, threads):
    @tuned(wisdom, size="n", threads="threads")
    def block_of(n, threads, *, block):
        return block

    expected = autotune_wisdom.load(str(wisdom)).lookup(size, threads)
    assert block_of(size, threads) == expected.parameters["block"]
    assert block_of.choice(size, threads).candidate == expected.candidate
    assert block_of.chosen(size, threads=threads) == expected.parameters


def test_sizes_come_from_numbers_arguments_and_functions(wisdom):
    @tuned(wisdom, size=lambda values, **_: len(values), threads=2)
    def total(values, block=0):
        return sum(values), block

    assert total([1] * 256) == (256, 32)
    assert total([1] * 5000)[1] == 128
    assert total([1, 2], block=7) == (3, 7)  # the caller's own value stays
    assert total.function([1, 2]) == (3, 0)
    assert total.__name__ == "total"


def test_defaults_of_arguments_count_as_sizes(wisdom):
    @tuned(wisdom, size="n")
    def function(n=4096, *, block):
        return block

    assert function() in (64, 128)


def test_a_wisdom_file_needs_neither_numpy_nor_a_store(wisdom):
    code = f"""
import sys, autotune as at
block = at.tuned({str(wisdom)!r}, size=256, threads=1, online=5)(lambda *, block: block)
print(block(), sorted({{"numpy", "sqlalchemy", "scipy", "pydantic"}} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "16 []"


def test_methods_are_bound(wisdom):
    class Grid:
        points = 4096

        @tuned(wisdom, size=lambda self: self.points, threads=1)
        def sweep(self, *, block):
            return self.points, block

    assert Grid().sweep() == (4096, 64)
    assert Grid.sweep.__name__ == "sweep"


def test_coroutines_get_the_stored_choice(wisdom):
    @tuned(wisdom, size=256, threads=1)
    async def function(*, block):
        return block

    assert asyncio.run(function()) == 16


def test_a_file_that_comes_later_is_read_after_reload(tmp_path, wisdom):
    path = tmp_path / "later.json"

    @tuned(path, size=256, threads=1, otherwise={"block": 1})
    def function(*, block):
        return block

    assert function() == 1
    assert function.choice() is None
    path.write_bytes(wisdom.read_bytes())
    assert function() == 1
    function.reload()
    assert function() == 16


def test_exceptions_pass_unchanged(wisdom):
    error = KeyError("mine")

    @tuned(wisdom)
    def function(*, block):
        raise error

    with pytest.raises(KeyError) as raised:
        function()
    assert raised.value is error


# --- the choice on line ---------------------------------------------------------------------


def test_it_is_off_unless_asked_for():
    machine = Machine([3.0, 1.0])
    function = raced(machine, online=0.0)
    for _ in range(50):
        function()
    assert set(machine.calls) == {0}
    assert function.lost_calls == 0


def test_the_fastest_stays():
    machine = Machine([1.5, 1.0, 1.2])
    function = raced(machine)
    assert [function() for _ in range(100)] == machine.calls  # results of the chosen variant
    assert set(machine.calls[40:]) == {1}
    assert machine.lost() <= 10 * 1.0


def test_the_first_variant_stays_where_nothing_is_gained():
    machine = Machine([1.0, 1.0, 1.0])
    function = raced(machine)
    for _ in range(100):
        function()
    assert machine.calls[-1] == 0


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(0.01, 100.0), min_size=2, max_size=6),
    st.floats(0.5, 30.0),
    st.floats(0.0, 50.0),
)
def test_the_loss_is_bounded(seconds, bound, compiling):
    """At most ``bound`` calls of the best, and what one first call of a variant takes beyond."""
    machine = Machine([])
    tried = set()

    def took(number):
        cold = number not in tried
        tried.add(number)
        return seconds[number] + (compiling if cold and number else 0.0)

    machine.seconds = [lambda _, k=k: took(k) for k in range(len(seconds))]
    function = raced(machine, online=bound)
    for _ in range(150):
        function()
    compiled = compiling * len(set(machine.calls) - {0})
    best, stored = min(seconds), seconds[0]
    first_call = max(seconds) + compiling
    beyond_stored = sum(seconds[call] - stored for call in machine.calls) + compiled
    assert beyond_stored <= bound * stored + first_call
    others = [k for k, call in enumerate(machine.calls) if call != machine.calls[-1]]
    race = machine.calls[: 1 + max(others, default=-1)]
    final = seconds[machine.calls[-1]]
    lost = sum(seconds[call] - final for call in race) + compiled
    if best >= stored / 2:
        assert lost <= bound * final + first_call


def test_the_bound_holds_over_all_sizes_together():
    machine = Machine([1.0, 1.3, 1.3])
    function = raced(machine, online=10.0, size=lambda n: n)
    for n in range(1, 200):
        for _ in range(3):
            function(n)
    assert machine.lost() <= 10 * 1.0 + 0.3
    assert function.lost_calls <= 10.0 + 0.3


def test_sizes_that_take_turns_pay_one_dear_first_call_together():
    """Their races were all opened before the first of them knew what a call costs."""
    machine = Machine([1.0, 1000.0])
    function = raced(machine, online=10.0, size=lambda n: n)
    for _ in range(6):
        for n in range(1, 21):
            function(n)
    assert machine.calls.count(1) == 1
    assert machine.lost() <= 10.0 + 999.0
    assert function.lost_calls == pytest.approx(999.0)


def test_the_time_of_calls_that_raise_is_lost():
    account = LossAccount(10.0)
    race = OnlineRace(3, account)
    for seconds in (1.0, 1.0):
        race.ended(seconds)
    assert race.running == 1
    race.failed(101.0)
    assert race.lost_calls == pytest.approx(100.0)
    assert not race.racing, "variant 2 is not affordable any more"


@tuned(online=OnlineChoice(variants=[{"variant": 0}, {"variant": 1}]))
def of_this_module(*, variant):
    return variant


def test_a_tuned_function_goes_to_process_pools_by_its_name():
    assert pickle.loads(pickle.dumps(of_this_module)) is of_this_module


def test_one_dear_first_call_ends_the_race():
    machine = Machine([1.0, 1000.0, 1000.0, 1000.0])
    function = raced(machine)
    for _ in range(200):
        function()
    assert sum(call != 0 for call in machine.calls) == 1
    assert machine.calls[-1] == 0


def test_a_variant_that_raises_drops_out_and_its_exception_passes():
    calls = []

    @tuned(online=OnlineChoice(variants=[{"k": 0}, {"k": 1}, {"k": 2}]))
    def function(*, k):
        calls.append(k)
        if k == 1:
            raise ArithmeticError("of variant 1")
        return k

    raised = 0
    for _ in range(60):
        try:
            function()
        except ArithmeticError:
            raised += 1
    assert raised == 1
    assert calls.count(1) == 1


def test_a_caller_that_sets_a_parameter_takes_no_part():
    machine = Machine([1.0, 2.0])
    function = raced(machine)
    for _ in range(30):
        assert function(variant=1) == 1
    assert function.lost_calls == 0


def test_threads_share_one_race_and_are_never_timed_side_by_side():
    at_once, most = [0], [0]
    lock = threading.Lock()
    seen = []

    @tuned(online=OnlineChoice(variants=[{"k": k} for k in range(4)]))
    def function(*, k):
        with lock:
            at_once[0] += k != 0
            most[0] = max(most[0], at_once[0])
            seen.append(k)
        try:
            return k
        finally:
            with lock:
                at_once[0] -= k != 0

    def call():
        for _ in range(300):
            function()

    workers = [threading.Thread(target=call) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(seen) == 1800
    assert len(set(seen)) > 1


def test_a_call_inside_a_timed_call_is_not_timed():
    @tuned(online=OnlineChoice(variants=[{"k": 0}, {"k": 1}]))
    def depth(n, *, k):
        return 0 if n == 0 else 1 + depth(n - 1)

    assert [depth(5) for _ in range(30)] == [5] * 30


def test_stored_winners_of_near_sizes_race(wisdom):
    seconds = {16: 3.0, 32: 1.0, 64: 2.0, 128: 2.5}
    machine = Machine(list(seconds.values()))

    @tuned(wisdom, size=256, threads=1, online=OnlineChoice(10.0, clock=machine.clock))
    def function(*, block):
        machine.run(list(seconds).index(block))
        return block

    results = [function() for _ in range(100)]
    assert results[0] == 16  # the stored winner
    assert results[-1] == 32  # the fastest here and now
    assert function.lost_calls <= 10.0


def test_races_share_the_account():
    account = LossAccount(10.0)
    first, second = OnlineRace(2, account), OnlineRace(2, account)
    for seconds in (1.0, 1.0, 1.0, 5.0):
        first.ended(seconds)
    assert account.others(second) > 0
    assert account.others(first) == 0
    assert 0 < FIRST_VISITS < 1


# --- wrong calls ----------------------------------------------------------------------------


def faults(error):
    return str(error.value)


def test_wrong_decorators_say_what_is_wrong(wisdom):
    def function(n, *, block):
        return block

    with pytest.raises(InputError, match=r"no brackets.*@at\.tuned\("):
        tuned(function)
    with pytest.raises(InputError, match=r"online of @at\.tuned: 'yes'.*10 is usual"):
        tuned(wisdom, online="yes")
    with pytest.raises(InputError, match=r"type dict, whose arguments are not known"):
        tuned(wisdom)({})
    with pytest.raises(InputError, match="neither a source nor variants"):
        tuned()(function)
    with pytest.raises(InputError, match=r"no argument 'blok'.*did you mean block"):
        tuned(online=OnlineChoice(variants=[{"blok": 1}]))(function)
    with pytest.raises(InputError, match=r"size of .*no argument 'm'"):
        tuned(wisdom, size="m")(function)
    with pytest.raises(InputError, match=r"online of .*-1"):
        tuned(wisdom, online=-1.0)(function)
    with pytest.raises(InputError, match=r"only.*problem= names one|leave study out"):
        tuned(wisdom, study="x")(function)(1)


def test_wrong_sizes_are_refused(wisdom):
    @tuned(wisdom, size="n")
    def function(n, *, block):
        return block

    for size in (0, -5, "many", None, 2**60):
        with pytest.raises(InputError, match=r"size of @at.tuned of function.*2\*\*53"):
            function(size)


def test_coroutines_cannot_be_timed(wisdom):
    async def function(*, block):
        return block

    with pytest.raises(InputError, match=r"coroutine or generator.*leave online out"):
        tuned(wisdom, online=10)(function)


def test_sources_that_are_missing_or_wrong(tmp_path):
    @tuned(tmp_path / "none.json")
    def of_file(*, block):
        return block

    @tuned(tmp_path / "none.sqlite")
    def of_store(*, block):
        return block

    with pytest.raises(InputError, match=r"none\.json.*autotune export"):
        of_file()
    with pytest.raises(InputError, match=r"none\.sqlite"):
        of_store()


def test_parameters_that_the_function_does_not_take(wisdom):
    @tuned(wisdom, size=256)
    def function(*, blocks):
        return blocks

    with pytest.raises(InputError, match=r"no argument 'block'.*did you mean blocks"):
        function()
