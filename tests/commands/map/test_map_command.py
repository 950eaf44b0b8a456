"""``autotune map``: its options, and the command line that goes on with an interrupted map."""

from pathlib import Path

import pytest
from refusals import bad_parameter, faults, usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.map.command import EXAMPLE, MapOptions
from autotune.commands.map.map_request import MapRequest
from autotune.commands.options import StoreOptions

CONFIG = Path("configs/quickstart.yaml")


def test_without_options_the_axes_are_those_of_the_config() -> None:
    request = MapOptions(config=CONFIG).request
    assert (request.size_axis(), request.threads, request.loss()) == (None, None, 0.05)
    assert (request.budget_seconds, request.budget_evaluations) == (None, None)
    assert (request.problem, request.resume) == ("", False)


def test_the_axis_and_the_tolerance_are_read() -> None:
    request = MapRequest(sizes="64..256:3", tolerance="2 %")
    assert request.size_axis() == (64, 128, 256)
    assert request.loss() == 0.02


def test_sizes_are_named_one_by_one_too() -> None:
    assert MapRequest(sizes="512,64").size_axis() == (64, 512)


@pytest.mark.parametrize("sizes", ["many", "64..", "4096..64:3", "0,2", "64..128:0", ""])
def test_sizes_that_make_no_axis_are_refused(sizes: str) -> None:
    assert faults(lambda: MapRequest(sizes=sizes)).startswith("--sizes: ")


def test_a_tolerance_is_a_share() -> None:
    told = bad_parameter(lambda: MapRequest(tolerance="little"))
    assert told == "--tolerance: 'little' is not a share: 5 %"


@pytest.mark.parametrize(
    ("chosen", "others", "words"),
    [
        (MapRequest(), {}, "autotune map configs/quickstart.yaml --resume"),
        (
            MapRequest(sizes="64..256:3", threads="1,all", problem="a b"),
            {},
            "autotune map configs/quickstart.yaml --sizes 64..256:3 --threads 1,all"
            " --problem 'a b' --resume",
        ),
        (
            MapRequest(tolerance="2 %", resume=True),
            {},
            "autotune map configs/quickstart.yaml --tolerance '2 %' --resume",
        ),
        (
            MapRequest(),
            {"config": Path("my config.yaml"), "results": StoreOptions(store="my store.sqlite")},
            "autotune map 'my config.yaml' --resume --store 'my store.sqlite'",
        ),
    ],
)
def test_the_command_that_goes_on_can_be_pasted(
    chosen: MapRequest, others: dict[str, object], words: str
) -> None:
    options = MapOptions(request=chosen, **({"config": CONFIG} | others))  # type: ignore[arg-type]
    assert options.resumed() == words


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ((), ("CONFIG",)),
        (("a.yaml", "--budget-seconds", "0"), ("--budget-seconds", "1")),
        (("a.yaml", "--budget-evaluations", "1"), ("--budget-evaluations", "2")),
        (("a.yaml", "--tolerance", "x"), ("--tolerance", "'x' is not a share")),
        (("a.yaml", "--size", "64"), ("--size", "--sizes")),
    ],
)
def test_wrong_words_end_with_code_2(words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    told = usage_error("map", *words)
    assert [part for part in parts if part not in told] == []


def test_the_help_has_the_example() -> None:
    assert EXAMPLE in " ".join(CliRunner().invoke(app, ["map", "--help"]).output.split())
