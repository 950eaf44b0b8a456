"""Measuring candidates of a study at random, so that models can be scored on them."""

import random
import time
from collections.abc import Collection

from autotune.errors import Fault, InputError
from autotune.pipeline.circumstances import check_launchers, check_objectives, conditions_of
from autotune.pipeline.conduct import Conduct
from autotune.pipeline.learn_study import RANDOM
from autotune.pipeline.programs import check_program
from autotune.pipeline.prospect import check_builds, prospect
from autotune.pipeline.study import measurer_of
from autotune.progress import Progress
from autotune.ranking import Ranking
from autotune.setup import Setup
from autotune.store import Store
from autotune.tuning import Chosen


def measure_random(
    setup: Setup, study: str, store: str, wanted: int, progress: Progress, seed: int = 0
) -> tuple[str, int]:
    """Draw and measure as many candidates as ``wanted`` lacks, in a new run.

    Gives the name of the study, the latest of the config where none is named, and how many.
    All that were not drawn before may be, also those that the tuner chose: the fast ones are not to
    be missing. The same share of each problem, none twice. InputError where the study is of another
    config.
    """
    started = time.monotonic()
    with Store.open(store, create=False) as results:
        name = study or results.latest_study(setup.name)
        if name is None:
            raise InputError(
                Fault(where=results.shown, found=f"no study of {setup.name}", hint="tune first")
            )
        record = results.load_study(name)
        if record.config != setup.name:
            found = f"a study of {record.config}, not of {setup.name}"
            raise InputError(Fault(where=f"study {name}", found=found, expected="its own config"))
        before = {c.candidate for run in record.runs for c in run.choices if RANDOM in c.reason}
        timed = {m.candidate for run in record.runs for m in run.measurements if m.status == "ok"}
        lacking = wanted - len(before & timed)
        if lacking <= 0:
            return name, 0
        check_builds(setup, openmp=True)
        check_program(setup)
        check_launchers(setup)
        check_objectives(setup)
        ahead = prospect(setup, progress)
        conduct = Conduct(
            results=results,
            study=name,
            found=ahead,
            measurer=measurer_of(setup, ahead.machine),
            conditions=conditions_of(ahead, progress),
            deadline=float("inf"),
            started=started,
        )
        each = -(-lacking // len(ahead.rankings))
        picks = {r.problem.label: draw(r, each, before, seed) for r in ahead.rankings}
        conduct.run(lambda ranking: picks[ranking.problem.label], progress)
        return name, sum(map(len, picks.values()))


def draw(ranking: Ranking, count: int, before: Collection[str], seed: int = 0) -> list[Chosen]:
    """So many candidates of a problem, or all there are; none of those drawn ``before``.

    The draw depends on the seed and on which candidates there are, not on their order.
    """
    entries = {entry.candidate.identity: entry for entry in ranking.entries}
    left = sorted(entries.keys() - set(before))
    generator = random.Random(f"{seed} {ranking.problem.label} evaluate")
    drawn = generator.sample(left, min(count, len(left)))
    why = f"{RANDOM} from {len(left)}, to score models on"
    return [Chosen(entries[i].candidate, entries[i].prediction, why) for i in drawn]
