"""``learn show`` and ``tune --replay`` take the columns of the same table for the same."""

import pytest
from typer.testing import CliRunner

from autotune.commands.app import app

COMMAS = (
    "tile,order,predicted,time_ms\n8,ijk,1.1,1.0\n16,ijk,0.9,0.8\n8,kij,1.4,1.3\n16,kij,1.2,1.25\n"
)
SEMICOLONS = COMMAS.replace(",", ";").replace(".", ",")


@pytest.mark.parametrize("text", [COMMAS, SEMICOLONS], ids=["commas", "decimal commas"])
def test_both_commands_find_two_parameters_and_a_prediction(text, tmp_path):
    path = tmp_path / "b.csv"
    path.write_text(text, encoding="utf-8")
    shown = CliRunner().invoke(app, ["learn", "show", str(path)])
    assert shown.exit_code == 0, shown.output
    assert "b: 4 rows, 2 parameters" in shown.output
    assert "time from 800.0 us to 1.300 ms" in shown.output
    assert "analytical   4 of 4 rows, median deviation 8.85 %" in shown.output
    searched = CliRunner().invoke(app, ["tune", "--replay", str(path)])
    assert searched.exit_code == 0, searched.output
    assert "b: 4 recorded candidates; tile (2), order (2)" in searched.output
    assert "800.0 us" in searched.output
    assert "with the predictions of the file" in searched.output
