"""``autotune noise``: launches of twins, what they say of the noise, in words and as a document."""

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import Finished
from fake_host import Host, candidate
from own_programs import put
from refusals import usage_error

from autotune.commands.noise.advice import advice
from autotune.commands.noise.command import EXAMPLE
from autotune.commands.noise.document import NoiseDocument
from autotune.commands.noise.flow import NoiseResult, TwinLaunches, TwinRun, measure_noise
from autotune.commands.noise.resolution import RoundsOfRatio, TwinFigures, noise_figures
from autotune.commands.noise.text import noise
from autotune.commands.rank.ranked_space import load
from autotune.domain.metric import Metric
from autotune.domain.results import Sample
from autotune.errors import InputError
from autotune.measuring.conditions.host_load import HostLoad
from autotune.measuring.conditions.quiet import OtherProcesses
from autotune.statistics.drift import NOISE, DriftFreeTimes, contest
from autotune.statistics.launch_times import LaunchTime
from autotune.tuning import NoOtherTuner
from autotune.tuning.race import most_rounds

IDLE = HostLoad(cores=2, others=OtherProcesses(cpus=0.0, names=()), load=0.1, pressure=0.01)


def unshown(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown."""


def twins(host: Host, rounds: int = 6, seed: int = 1) -> TwinRun:
    """An A/A run on a made-up host, on which every round takes 2 s."""
    clock = itertools.count(0.0, 2.0)
    prepared = host.prepare(candidate(0))
    launches = TwinLaunches(prepared, host, NoOtherTuner(), unshown, lambda: next(clock))
    return launches.run(rounds, seed)


def figures(run: TwinRun, usual: int = 5) -> TwinFigures:
    return noise_figures(run.samples, run.round_seconds, usual)


def result(run: TwinRun) -> NoiseResult:
    return NoiseResult(run=run, load=IDLE, figures=figures(run) if run.rounds else None)


def scripted(logs: dict[str, list[list[float]]], undisturbed: bool = True) -> dict[str, list]:
    """Samples of A and B from the logarithms of their times, launch by launch."""
    return {
        name: [
            Sample(
                seconds=math.exp(log),
                steps=1,
                busy=1.0,
                undisturbed=undisturbed,
                launch=number,
                round=number,
                taken="",
                conditions={"threads": 1},
            )
            for number, launch in enumerate(launches)
            for log in launch
        ]
        for name, launches in logs.items()
    }


# --- launching ----------------------------------------------------------------------------------


def test_every_round_launches_both_once_and_counts_its_wall_time() -> None:
    host = Host({0: 1e-3})
    run = twins(host)
    assert [number for _, number in host.launched] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert run.round_seconds == (2.0,) * 6
    for name in ("A", "B"):
        assert [s.round for s in run.samples[name]] == sorted([*range(6)] * 3)
    assert run.samples["A"] != run.samples["B"]
    assert (run.status, run.interrupted) == ("ok", False)


def test_who_comes_first_in_a_round_is_drawn_at_random() -> None:
    run = twins(Host({0: 1e-3}), rounds=20)
    pairs = zip(run.samples["A"], run.samples["B"], strict=True)
    first = [a.taken < b.taken for a, b in pairs]
    assert 10 < sum(first) < 50, "of 60 samples"


def test_a_second_launch_is_limited_by_the_fastest_before() -> None:
    host = Host({0: 1e-3}, noise=1e-6)
    twins(host, rounds=2)
    assert host.limits[0] == [None, *[pytest.approx(1e-3, rel=1e-3)] * 3]


def test_interrupted_the_finished_rounds_are_kept() -> None:
    """A launch is four events: the ninth comes after the first round, the eleventh in B's."""
    for event in (9, 11, 14):
        run = twins(Host({0: 1e-3}, interrupt_at=event))
        assert run.interrupted
        assert run.rounds == 1
        assert [len(run.samples[name]) for name in ("A", "B")] == [3, 3]
        assert figures(run).rounds == 1


def test_interrupted_in_the_first_round_nothing_is_known() -> None:
    run = twins(Host({0: 1e-3}, interrupt_at=6))
    assert (run.interrupted, run.rounds) == (True, 0)
    assert "no round was finished" in noise(result(run))


def test_a_launch_that_fails_ends_the_run() -> None:
    host = Host({0: 1e-3}, fates={0: "crashed"})
    run = twins(host)
    assert (run.status, run.detail, run.rounds) == ("crashed", "it did", 0)
    assert len(host.launched) == 1
    assert noise(result(run)).splitlines()[2:4] == ["status   crashed", "it did"]


def test_a_result_that_changes_is_wrong() -> None:
    class Changing(Host):
        def launch(self, prepared, **given):  # type: ignore[no-untyped-def]
            self.checksums = {0: (1.0 + (len(self.launched) > 2), 1.0)}
            return super().launch(prepared, **given)

    run = twins(Changing({0: 1e-3}))
    assert (run.status, run.rounds) == ("wrong-result", 1)
    assert run.detail == "the checksum changed between launches: 1.0, 2.0"


def test_disturbed_launches_have_times_too() -> None:
    run = twins(Host({0: 1e-3}, disturbed=lambda count: count % 2 == 0))
    assert run.status == "ok"
    assert (figures(run).samples, figures(run).disturbed) == (36, 18)


# --- what they say ------------------------------------------------------------------------------


def test_spreads_are_relative_standard_deviations() -> None:
    """Within launches +-1 %; launches +-4 % in each round, and 0.2 more in every second round."""
    logs = {
        name: [[level + 0.01, level - 0.01] for level in levels]
        for name, levels in (
            ("A", [0.04, 0.16, 0.04, 0.16]),
            ("B", [-0.04, 0.24, -0.04, 0.24]),
        )
    }
    of = noise_figures(scripted(logs), [1.0] * 4, 5)
    assert of.within == pytest.approx(0.01 * math.sqrt(2), rel=1e-6)
    assert of.between == pytest.approx(np.std([*logs_of(logs)], ddof=1), rel=1e-6)
    assert of.noise < of.between
    assert of.holds


def logs_of(logs: dict[str, list[list[float]]]) -> list[float]:
    return [min(launch) for launches in logs.values() for launch in launches]


def test_launches_of_one_sample_have_no_spread_within() -> None:
    of = noise_figures(scripted({"A": [[0.0], [0.1]], "B": [[0.0], [0.1]]}), [1.0, 1.0], 5)
    assert of.within is None
    assert "within launches" not in noise(
        NoiseResult(run=twins(Host({0: 1.0}), 2), load=IDLE, figures=of)
    )


def test_twins_that_differ_do_not_hold_one() -> None:
    of = noise_figures(scripted({"A": [[0.5]] * 12, "B": [[0.0]] * 12}), [1.0] * 12, 5)
    assert of.twins.ratio == pytest.approx(math.exp(0.5))
    assert not of.holds
    shown = noise(NoiseResult(run=twins(Host({0: 1.0})), load=IDLE, figures=of))
    assert "does not hold 1, although both are one program" in shown


def test_equal_twins_hold_one_and_finer_differences_take_more_rounds() -> None:
    of = figures(twins(Host({0: 1e-3}, noise=0.01), rounds=20))
    assert of.holds
    rounds = [row.rounds or math.inf for row in of.differences]
    assert rounds == sorted(rounds, reverse=True)
    assert [row.difference for row in of.differences] == [0.005, 0.01, 0.02, 0.05, 0.1]
    for row in of.differences:
        assert row.rounds is not None
        assert row.seconds == pytest.approx(2.0 * row.rounds)
    assert (of.usual.rounds, of.close.rounds) == (5, 10)
    assert of.usual.difference > of.close.difference


def test_a_noisier_host_resolves_less() -> None:
    calm, loud = (figures(twins(Host({0: 1e-3}, noise=n), rounds=20)) for n in (0.005, 0.1))
    assert loud.usual.difference > 3 * calm.usual.difference
    assert loud.noise > 3 * calm.noise


@pytest.mark.parametrize("difference", [0.01, 0.05, 0.3])
def test_the_rounds_of_a_difference_are_the_fewest(difference: float) -> None:
    fit = DriftFreeTimes(times={}, errors={}, drift={}, noise=0.02, freedom=1000)
    resolution = RoundsOfRatio(fit, 0.0)
    rounds = resolution.rounds(difference)
    assert rounds is not None
    assert resolution.difference(rounds) <= difference
    assert rounds == 1 or resolution.difference(rounds - 1) > difference


def test_what_takes_too_many_rounds_has_none() -> None:
    fit = DriftFreeTimes(times={}, errors={}, drift={}, noise=3.0, freedom=1000)
    assert RoundsOfRatio(fit, 0.0).rounds(0.005) is None
    row = noise_figures(scripted({"A": [[0.0], [9.0]], "B": [[9.0], [0.0]]}), [1.0] * 2, 5)
    assert row.differences[0].rounds is None
    shown = noise(NoiseResult(run=twins(Host({0: 1.0})), load=IDLE, figures=row))
    assert "     0.5 %       -     -" in shown


def test_unknown_losses_of_launches_take_more_rounds() -> None:
    fit = DriftFreeTimes(times={}, errors={}, drift={}, noise=0.01, freedom=1000)
    sure, unsure = (RoundsOfRatio(fit, error).rounds(0.05) for error in (0.0, 0.1))
    assert sure is not None
    assert unsure is not None
    assert unsure > 10 * sure


@pytest.mark.parametrize(("sigma", "difference"), [(0.01, 0.02), (0.04, 0.05)])
def test_in_that_many_rounds_contests_are_decided_as_often_as_stated(
    sigma: float, difference: float
) -> None:
    chance = np.random.default_rng(6)
    fit = DriftFreeTimes(times={}, errors={}, drift={}, noise=sigma, freedom=10**6)
    rounds = RoundsOfRatio(fit, 0.0).rounds(difference)
    assert rounds is not None
    decided = 0
    for _ in range(100):
        first, second = (
            {j: LaunchTime(math.exp(x)) for j, x in enumerate(chance.normal(mean, sigma, rounds))}
            for mean in (math.log1p(difference), 0.0)
        )
        comparison = contest(first, second, fit.noise_of(rounds - 1))
        assert comparison is not None
        decided += comparison.slower
    assert 65 <= decided <= 95


def test_without_freedom_the_assumed_noise_counts() -> None:
    fit = DriftFreeTimes(times={}, errors={}, drift={}, noise=NOISE)
    assert RoundsOfRatio(fit, 0.0).difference(1) > NOISE


# --- in words, as a document --------------------------------------------------------------------


def test_the_words_say_load_spread_ratio_and_what_can_be_told_apart() -> None:
    run = result(twins(Host({0: 1e-3}, noise=0.01), rounds=20))
    shown = noise(run, "a/b.yaml").splitlines()
    assert shown[0] == f"{candidate(0).label} of a/b.yaml"
    assert shown[1].startswith("host     other processes use 0.0 of 2 CPUs, load average 0.1, ")
    assert [line.split()[0] for line in shown[2:6]] == ["time", "samples", "spread", "A"]
    assert shown[5].endswith("holds 1, as it should")
    assert shown[7] == "to tell two candidates apart in 80 % of cases, 99 % sure:"
    assert shown[8].split() == ["difference", "rounds", "time"]
    assert [line.split()[0] for line in shown[9:14]] == ["0.5", "1", "2", "5", "10"]
    assert shown[14].startswith("The 5 rounds of a/b.yaml tell apart what differs by ")


def test_the_document_has_every_sample_and_the_figures() -> None:
    of = result(twins(Host({0: 1e-3}), rounds=3))
    document = NoiseDocument.of(of)
    assert (document.status, document.interrupted, document.figures) == ("ok", False, of.figures)
    assert [len(times) for times in document.samples.values()] == [9, 9]
    assert document.load == IDLE


RATE = Metric("rate", "MB/s", "more")


def test_a_rate_is_shown_as_such_and_not_as_its_cost() -> None:
    """A has 4 % less time, so 4 % more of a rate."""
    taken = scripted({"A": [[-6.04], [-6.04], [-6.04]], "B": [[-6.0], [-6.0], [-6.0]]})
    of = noise_figures(taken, [1.0] * 3, 5, RATE)
    low, high = of.interval or (0.0, 0.0)
    assert low < of.value < high
    assert math.exp(6.0) <= of.value <= math.exp(6.04)
    assert of.twins.ratio == pytest.approx(math.exp(0.04))
    assert of.twins.low < of.twins.ratio < of.twins.high
    line = noise(NoiseResult(run=twins(Host({0: 1.0})), load=IDLE, figures=of)).splitlines()[2]
    assert line.startswith("rate     41")
    assert line.endswith("MB/s], the more the better")
    assert "per" not in line.replace("the", "")


BUSY = replace(IDLE, others=OtherProcesses(cpus=1.9, names=("cc1",)))


def test_what_is_resolved_needs_no_advice() -> None:
    assert advice(figures(twins(Host({0: 1e-3}, noise=0.0005), rounds=20), 20), IDLE) == []


def test_a_noisy_host_is_told_what_helps_from_what_was_measured() -> None:
    chance = np.random.default_rng(3)
    logs = {name: [[x] for x in chance.normal(-6.0, 0.05, 12)] for name in "AB"}
    taken = scripted(logs, undisturbed=False)
    taken = {
        name: [replace(s, conditions={**s.conditions, "wall_s": 0.004}) for s in of]
        for name, of in taken.items()
    }
    of = noise_figures(taken, [0.01] * 12, 3)
    rounds, runs, quiet = advice(of, BUSY)
    row = next(x for x in of.differences if x.difference < of.close.difference)
    assert row.rounds is not None
    assert most_rounds(int(rounds.split("rounds: ")[1].split("}")[0])) >= row.rounds
    assert f"up to {row.rounds} rounds in place of {of.close.rounds}, which tell" in rounds
    assert f"tell {100 * row.difference:g} % apart" in rounds
    assert runs.startswith("longer runs: one takes 0.004 s")
    assert quiet.startswith("a quieter time: other processes disturbed 100 % of the samples")
    assert "1.9 of 2 CPUs" in quiet


def test_where_launches_take_long_more_of_them_alone_are_not_enough() -> None:
    chance = np.random.default_rng(3)
    logs = {name: [[x] for x in chance.normal(0.0, 0.3, 12)] for name in "AB"}
    (line,) = advice(noise_figures(scripted(logs), [20.0] * 12, 3), IDLE)
    assert line.startswith("more launches alone are not enough: to tell 10 % apart takes ")


def test_samples_that_spread_within_launches_are_taken_more_often() -> None:
    chance = np.random.default_rng(4)
    logs = {name: [list(chance.normal(0.0, 0.3, 2)) for _ in range(12)] for name in "AB"}
    of = noise_figures(scripted(logs), [20.0] * 12, 3)
    line = advice(of, IDLE)[-1]
    assert "more samples in a launch: measuring: {samples: 8}" in line
    assert f"from {100 * of.noise:.1f} % to about " in line


# --- the command --------------------------------------------------------------------------------


def test_the_twins_of_a_real_program(tmp_path: Path, autotune: Callable[..., Finished]) -> None:
    """The program prints 80 us but for some 1e-7 of it, so that A and B are equal."""
    path = put(tmp_path)
    document = autotune("noise", str(path), "--rounds", "2", "--json").json()
    assert document["schema"] == "autotune.noise/1"
    assert document["status"] == "ok"
    assert document["samples"] == {name: pytest.approx([8e-5] * 2) for name in "AB"}
    of = document["figures"]
    assert isinstance(of, dict)
    assert (of["rounds"], of["twins"]["ratio"]) == (2, pytest.approx(1.0, abs=1e-6))
    shown = autotune("noise", str(path), "--rounds", "2", "--candidate", "block2@tiny-n500-T1")
    assert "time     20.00 us per run" in shown.out
    assert document["objective"] == {"name": "time", "unit": "s", "better": "less"}
    assert "holds 1" in shown.out
    assert "launch A and B" in shown.err


def test_a_program_that_does_not_compile_ends_with_its_words(
    tmp_path: Path, autotune: Callable[..., Finished]
) -> None:
    path = put(tmp_path, sources={"tiny.c": "int main(void) { return nothing; }\n"})
    done = autotune("noise", str(path), "--json", check=1)
    document = json.loads(done.out)
    assert (document["status"], document["figures"]) == ("build-failed", None)
    assert "nothing" in document["detail"]


def test_an_unknown_candidate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'block=3'"):
        measure_noise(load(put(tmp_path)), "block=3", 2, unshown)


def test_a_config_and_two_rounds_are_needed(autotune: Callable[..., Finished]) -> None:
    assert "CONFIG" in usage_error("noise")
    assert "--rounds" in usage_error("noise", "small.yaml", "--rounds", "1")
    assert EXAMPLE in " ".join(autotune("noise", "--help").out.split())
