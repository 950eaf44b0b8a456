"""Launcher templates become arguments, never shell text."""

import pytest

from autotune.errors import InputError, MissingTool
from autotune.toolchain import launcher


def test_the_plain_template_changes_nothing():
    assert launcher.expand("{command}", ["./p", "a b", "$HOME"]) == ["./p", "a b", "$HOME"]


def test_quotes_group_words_and_nothing_is_expanded():
    words = launcher.expand("srun -n 1 --comment 'a $b' {command}", ["./p"])
    assert words == ["srun", "-n", "1", "--comment", "a $b", "./p"]


def test_inside_a_word_the_command_is_quoted():
    words = launcher.expand("sh -c 'ulimit -s unlimited; {command}'", ["./p", "a b"])
    assert words == ["sh", "-c", "ulimit -s unlimited; ./p 'a b'"]


@pytest.mark.parametrize("template", ["", "srun -n 1", "srun '{command}"])
def test_templates_that_cannot_work(template: str):
    with pytest.raises(InputError) as caught:
        launcher.expand(template, ["./p"], "study.yaml:3:11")
    assert caught.value.faults[0].where == "study.yaml:3:11"


def test_unknown_launcher():
    with pytest.raises(MissingTool, match="no-such-launcher"):
        launcher.check("no-such-launcher {command}", "study.yaml:3:11")
    launcher.check("env {command}")
    launcher.check("{command}")
