"""A machine as a page: whether predictions may use its figures, then the figures."""

from autotune.domain.machine import Machine
from autotune.results.page.frame import CopyLine, Decision, KeyNumber, Page
from autotune.results.report import number_words, study_page


def page(machine: Machine) -> Page:
    """The content of the page."""
    return Page(
        title=machine.title or machine.name,
        lead=(f"{machine.name}, {machine.cores} cores, {machine.frequency / 1e9:.3f} GHz.",),
        decisions=(_decision(machine),),
        sections=(study_page.machine_section(machine),),
    )


def _decision(machine: Machine) -> Decision:
    """Whether it is calibrated, and by an undisturbed run."""
    calibration = machine.calibration
    again = (CopyLine("measure this host", "autotune machine calibrate"),)
    if calibration is None:
        return Decision(
            about="Calibration",
            verdict="No decision: not calibrated",
            state="open",
            sure="Predictions rest on documented figures only.",
            advice="Calibrate it if it is this host; of another machine, trust orders of candidates"
            " more than times.",
            lines=again,
            link="machine",
        )
    quiet = not calibration.contended
    return Decision(
        about="Calibration",
        verdict="Calibrated" if quiet else "No decision: measured beside other processes",
        state="decided" if quiet else "open",
        numbers=(
            KeyNumber(number_words.percent(calibration.clock_spread), "spread of the clock"),
            KeyNumber(number_words.seconds(calibration.seconds), "spent on measuring"),
        ),
        sure=f"Measured {study_page.moment(calibration.taken)} with {calibration.compiler}."
        + ("" if quiet else " Other processes took the cores while it was measured."),
        advice="Predictions use these figures. Calibrate again after a change of compiler, kernel"
        " or clock settings."
        if quiet
        else "Calibrate again while nothing else runs.",
        lines=() if quiet else again,
        link="machine",
    )
