"""The start of ``rank``: what it does not need is not loaded."""

import subprocess
import sys

MODULES = "autotune.commands.rank.text, autotune.commands.rank.ranked_space"
SLOW = ("scipy.stats", "sqlalchemy", "optuna", "pandas")


def test_a_ranking_loads_no_sql_no_statistics_and_no_optuna() -> None:
    """Each takes about half a second of CPU time."""
    program = f"import sys, {MODULES}; print([m for m in {SLOW!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
