"""Printed numbers of Garren (2010) beside computed ones: verdicts, and what cannot be computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["agrees", "truncated", "within", "erratum", "differs"]
VERDICTS: Mapping[Verdict, str] = {
    "agrees": "agree to the last digit",
    "truncated": "do, cut off instead of rounded",
    "within": "within what their inputs leave open",
    "erratum": "are printed wrongly",
    "differs": "differ",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One number, printed and computed."""

    where: str
    what: str
    printed: float
    computed: float
    slack: float = 0.0
    """What the rounding of the printed inputs may change."""
    digits: int = 2
    corrected: float | None = None
    """What must have been meant, with the reason in ``note``."""
    expected: bool = True
    """False where the difference is known, and the reason is in ``note``."""
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether they agree."""
        gap, step = abs(self.printed - self.computed), 10.0**-self.digits
        unit = 0.5 * step * (1 + 1e-9)
        if gap <= unit:
            return "agrees"
        if 0 <= abs(self.computed) - abs(self.printed) < step and self.computed * self.printed > 0:
            return "truncated"
        if self.corrected is not None and abs(self.corrected - self.computed) <= unit:
            return "erratum"
        return "within" if gap <= unit + self.slack else "differs"


IRREPRODUCIBLE = (
    ("tables 4.1, 4.2, 4.6, 4.7, 4.14", "fits to 21-2542 runs of six applications: not published"),
    ("table 4.6, LU 40.64 %", "the three runs nearest to LT = 6 at each P: not published"),
    (
        "table 4.6, SMG 7.50 %",
        "the text has 11.77 % in section 4.2, 7.50 % in section 4.4; its 36 runs are not published",
    ),
    ("section 4.4, SMG 8.07 %; chapter 5, CG 124.61 %", "forecasts of runs that are not published"),
    ("figure 2.1, figures 4.3 to 4.5", "curves and points without numbers"),
)
SLIPS = (
    "equation (1), Amdahl: printed as 1/(1 - f), must be 1/((1 - f) + f/P)",
    "section 2.1.2.3: a run of 85.20 s whose time is to be kept at 85.23 s",
    "section 4.1: the 68 outliers are CG's, the 2542 cases SMG's",
    "chapter 1 has P = 144 where table 4.9 has 100",
    "section 4.2 has 11.77 % where table 4.6 has 7.50 % for SMG",
    "what the thesis calls MAPE is the median; SIZE is an edge for BT in tables 4.8 to 4.10, a"
    " volume in 4.2 and 4.7, the grid index (K + 50)/60 for CG",
)
"""What its text says wrongly beside the numbers."""
