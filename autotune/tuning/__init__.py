"""Measuring the candidates of problems: which, how often, until when; every sample is kept.

    tasks = [Task(ranking=ranking, first=chosen, baseline=identity)]
    ended = tune_problems(tasks, trials, Bench(measurer=..., journal=..., progress=...), plan)

``tune_problem`` measures a given list all alike. ``events`` is for those who watch.
"""

from autotune.tuning.base import (
    Bench,
    Chosen,
    EarlierResult,
    Journal,
    NoOtherTuner,
    Proposal,
    Search,
    TunerLock,
    TuningPlan,
)
from autotune.tuning.events import Best, Event, Standing, Verdict, Watcher, unwatched
from autotune.tuning.fixed_list import tune_problem
from autotune.tuning.problem_search import Task
from autotune.tuning.result_checks import agree, odd_ones_out
from autotune.tuning.study_problems import EndedSearch, tune_problems

__all__ = [
    "Bench",
    "Best",
    "Chosen",
    "EarlierResult",
    "EndedSearch",
    "Event",
    "Journal",
    "NoOtherTuner",
    "Proposal",
    "Search",
    "Standing",
    "Task",
    "TunerLock",
    "TuningPlan",
    "Verdict",
    "Watcher",
    "agree",
    "odd_ones_out",
    "tune_problem",
    "tune_problems",
    "unwatched",
]
