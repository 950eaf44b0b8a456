"""Errors say where, what was found, what is allowed and what to do."""

import pytest

from autotune import errors
from autotune.errors import Fault


def test_a_fault_reads_as_one_sentence():
    fault = Fault(where="a.yaml:3:5", found="unknown key 'sze'", expected="size", hint="see there")
    assert str(fault) == "a.yaml:3:5: unknown key 'sze'; expected size (see there)"
    assert str(Fault(where="", found="no gcc")) == "no gcc"


def test_an_error_carries_every_fault():
    faults = [Fault(where="a:1", found="one"), Fault(where="a:2", found="two")]
    error = errors.ConfigError(*faults)
    assert error.faults == tuple(faults)
    assert str(error) == "a:1: one\na:2: two"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.InputError, 2),
        (errors.ConfigError, 2),
        (errors.MissingTool, 2),
        (errors.StoreError, 2),
        (errors.WorkFailed, 1),
    ],
)
def test_exit_codes(kind, code):
    assert kind.exit_code == code
    assert issubclass(kind, errors.AutotuneError)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("heat2", "did you mean heat2d?"),
        ("HEAT2D", "did you mean heat2d?"),
        ("radau", "did you mean Radau5?"),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_the_nearest_name(name, hint):
    assert errors.nearest(name, ["heat2d", "wave1d", "Radau5"]) == hint


@pytest.mark.parametrize(
    ("name", "names", "hint"),
    [
        ("gcx", ["icx", "gcc"], "did you mean gcc?"),
        ("gcx", ["gcc", "icx"], "did you mean gcc?"),
        ("glang", ["clang", "flang"], "did you mean clang or flang?"),
        ("p1", ["p2", "p3", "p4", "p5"], "did you mean p2, p3 or p4?"),
    ],
)
def test_of_equally_near_names_those_that_begin_alike_are_listed(name, names, hint):
    assert errors.nearest(name, names) == hint


def test_an_unknown_name_lists_the_known_ones():
    fault = errors.unknown_name("f:1:2", "ivp", "heat2", ["wave1d", "heat2d"])
    assert str(fault) == (
        "f:1:2: unknown ivp 'heat2'; expected one of heat2d, wave1d (did you mean heat2d?)"
    )
    assert "none is known" in str(errors.unknown_name("", "ivp", "heat2", []))
