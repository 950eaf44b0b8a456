"""What a command imports before it answers."""

import subprocess
import sys

from autotune import paths

HEAVY = {"matplotlib", "optuna", "osaca", "pandas", "scipy", "sklearn", "sqlalchemy", "sympy"}


def test_the_candidates_of_a_study_are_listed_without_the_libraries_of_tuning():
    code = (
        "import sys\n"
        "from autotune.commands import main\n"
        "sys.argv = ['autotune', 'variants', 'configs/quickstart.yaml']\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code, file=sys.stderr)\n"
        "print('heavy', *[n for n in sys.modules if '.' not in n], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=paths.data_root(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "candidates" in done.stdout
    imported = set(done.stderr.split("heavy", 1)[1].split())
    assert "numpy" in imported
    assert imported & HEAVY == set()
