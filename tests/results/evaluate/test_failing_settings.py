"""Which settings are said to make candidates fail."""

from types import SimpleNamespace

import pytest

from autotune.results.evaluate import failing_settings as failing


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setattr(failing, "varied", lambda candidate: candidate)


def row(status, detail="", **values):
    measurement = SimpleNamespace(detail=detail)
    return SimpleNamespace(candidate=values, status=status, measurement=measurement)


def settings_of(*rows):
    failures = [r for r in rows if r.status != "ok"]
    result = SimpleNamespace(rows=rows, failures=failures)
    return [(s.name, s.value, s.count) for s in failing.failing_settings(result)]


def test_a_value_that_only_failures_have_is_named():
    assert settings_of(
        row("ok", a=1, b=1), row("ok", a=1, b=2), row("crashed", a=2, b=1), row("crashed", a=2, b=2)
    ) == [("a", 2, 2)]


def test_of_several_values_the_one_that_the_compiler_names():
    refused = "gcc: error: unrecognized command-line option '-fx'"
    rows = [row("build-failed", refused, x="-fx", y="-fy") for _ in range(3)]
    assert settings_of(row("ok", x=None, y=None), *rows) == [("x", "-fx", 3)]


def test_where_several_values_explain_as_much_all_are_named_if_they_are_few():
    rows = [row("ok", a=1, b=1), *[row("crashed", a=2, b=2)] * 2]
    result = SimpleNamespace(rows=rows, failures=rows[1:])
    (setting,) = failing.failing_settings(result)
    assert (setting.name, setting.value, setting.alike) == ("a", 2, (("b", 2),))
    many = dict.fromkeys("abcdefgh", 2)
    assert (
        settings_of(row("ok", **dict.fromkeys("abcdefgh", 1)), *[row("crashed", **many)] * 2) == []
    )


def test_a_single_failure_or_a_value_that_also_worked_explains_nothing():
    assert settings_of(row("ok", a=1, b=1), row("crashed", a=2, b=1)) == []
    assert (
        settings_of(row("ok", a=2, b=1), row("crashed", a=2, b=1), row("crashed", a=2, b=1)) == []
    )


def test_what_the_text_blames_on_another_value_is_not_blamed():
    refused = "gcc: error: unrecognized command-line option '-fnuroll-loops'"
    rows = [row("build-failed", refused, x="-fnuroll-loops", y="-fmodulo-sched") for _ in range(2)]
    ok = [row("ok", x=None, y=None, z=z) for z in (None, "-funroll")]
    assert settings_of(*ok, *rows) == [("x", "-fnuroll-loops", 2)]
    longer = [row("build-failed", "error: '-funroll-all'", x="-funroll", y=str(k)) for k in (1, 2)]
    assert settings_of(*ok, *longer) == [("x", "-funroll", 2)]  # by itself, not by the text


def test_two_values_that_fail():
    refused = ["error: -fx", "error: -fx", "error: -fz", "error: -fz", "error: -fz"]
    rows = [row("build-failed", text, x="-fx" if k < 2 else None, z=None if k < 2 else "-fz")
            for k, text in enumerate(refused)]  # fmt: skip
    assert settings_of(row("ok", x=None, z=None), *rows) == [("z", "-fz", 3), ("x", "-fx", 2)]


def test_failures_that_another_setting_explains_as_well_are_counted():
    both = [row("build-failed", "error: -fx", x="-fx", tile=9) for _ in range(2)]
    one = [row("crashed", "a signal", x=None, tile=9) for _ in range(3)]
    assert settings_of(row("ok", x=None, tile=1), *both, *one) == [("tile", 9, 5), ("x", "-fx", 2)]
