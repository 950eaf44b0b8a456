"""Predictions within a number of seconds: what is not looked at until then is predicted cheaply."""

from pathlib import Path

from autotune.commands.rank.ranked_space import load, rank_space
from autotune.progress import silent

STUDY = """\
schema: autotune.config/1
machine: haswell-e5-2630v3
skeleton: pirk
space: pirk-small
problems:
  - {ivp: heat2d, method: radau-iia-5, correctors: 3, size: 64}
builds:
  - {compiler: gcc, flags: [-O2, -march=haswell]}
threads: [8]
"""
LATE = "the time for predictions was over"


def test_all_candidates_are_predicted_when_there_is_no_time(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    workload = load(path)
    hurried, patient = rank_space(workload, silent, within=0.0), rank_space(workload, silent)

    for ranked, late in ((hurried, True), (patient, False)):
        (ranking,) = ranked.rankings
        for entry in ranking.entries:
            assert entry.prediction.seconds is not None
            assert any(LATE in note for note in entry.prediction.notes) is late
