"""The page of a machine: whether its figures were measured, then the figures."""

from dataclasses import replace

import fabricated as fake

from autotune.results.page import frame
from autotune.results.report import machine_page


def test_a_calibrated_machine_has_a_decision_and_its_figures() -> None:
    page = machine_page.page(fake.machine())
    (decision,) = page.decisions
    assert (decision.verdict, decision.state, decision.lines) == ("Calibrated", "decided", ())
    text = frame.render(page)
    assert "Figures that predictions use" in text
    assert "Load bandwidth" in text


def test_without_a_calibration_there_is_no_decision() -> None:
    (decision,) = machine_page.page(fake.machine(calibrated=False)).decisions
    assert decision.verdict == "No decision: not calibrated"
    assert decision.lines[0].line == "autotune machine calibrate"


def test_a_disturbed_calibration_is_no_decision() -> None:
    machine = fake.machine()
    disturbed = replace(machine, calibration=replace(machine.calibration, contended=True))
    (decision,) = machine_page.page(disturbed).decisions
    assert decision.state == "open"
    assert "Other processes took the cores" in decision.sure
