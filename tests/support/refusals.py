"""How commands refuse what they cannot take: the words, the exit code, and no result."""

from collections.abc import Callable

import pytest
import typer
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.errors import InputError


def bad_parameter(action: Callable[[], object]) -> str:
    """The option that a BadParameter names, and its words: ``--to: 'many' is not a number``."""
    with pytest.raises(typer.BadParameter) as caught:
        action()
    return f"{caught.value.param_hint}: {caught.value.message}"


def faults(action: Callable[[], object]) -> str:
    """The faults of an InputError, a line each."""
    with pytest.raises(InputError) as caught:
        action()
    return str(caught.value)


def usage_error(*words: object) -> str:
    """What a command line prints behind ``Error:``; it ends with code 2 and prints no result."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    return " ".join(done.stderr.partition("Error: ")[2].split())
