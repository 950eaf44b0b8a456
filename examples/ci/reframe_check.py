"""A ReFrame test that fails where a program is slower than in another revision, as is proven.

    reframe -c reframe_check.py -r -S config=/path/solver-tune.yaml -S revision=HEAD~1

``autotune check`` launches old and new program in turn; ReFrame logs the slowdown as a performance
variable, and the test passes by the exit code.
"""

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class RunTimeCheck(rfm.RunOnlyRegressionTest):
    """The winners or baselines of a config against another revision."""

    config = variable(str, value="solver-tune.yaml")  # noqa: F821 - ReFrame's own words
    revision = variable(str, value="HEAD~1")  # noqa: F821
    max_slowdown = variable(str, value="3%")  # noqa: F821
    budget = variable(str, value="300")  # noqa: F821
    valid_systems = ["*"]  # noqa: RUF012
    valid_prog_environs = ["*"]  # noqa: RUF012
    executable = "autotune"
    time_limit = "1h"

    @run_before("run")  # noqa: F821
    def set_options(self) -> None:
        """Build the command line."""
        self.executable_opts = [
            "check",
            self.config,
            "--against-revision",
            self.revision,
            "--max-slowdown",
            self.max_slowdown,
            "--budget-seconds",
            self.budget,
            "--json",
        ]

    @sanity_function  # noqa: F821
    def no_regression_is_proven(self) -> object:
        """Whether the check passed: its exit code is 0, and its document says the same."""
        return sn.all(
            [
                sn.assert_eq(self.job.exitcode, 0),
                sn.assert_found(r'"passes": true', self.stdout),
            ]
        )

    @performance_function("x")  # noqa: F821
    def slowdown(self) -> object:
        """Time now over time then, of the first problem; 1 where both are one program."""
        ratios = sn.extractall(r'"ratio": ([0-9.]+)', self.stdout, 1, float)
        return sn.getitem(sn.chain(ratios, [1.0]), 0)
