"""Comparing the array evaluation with kerncraft at work in a process of its own."""

import json
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
from kerncraft_kernels import SIZES

from autotune.models.kerncraft import EcmModel, KerncraftAnalyser

_REFERENCE = str(Path(__file__).with_name("kerncraft_reference.py"))


def points(kernel: str, seed: str, cores: list[int], count: int) -> list[dict]:
    chance = random.Random(seed + kernel)
    return [
        {
            "sizes": {
                name: round(math.exp(chance.uniform(math.log(low), math.log(high))))
                for name, (low, high) in SIZES[kernel].items()
            },
            "cores": chance.choice(cores),
        }
        for _ in range(count)
    ]


class Reference:
    """kerncraft itself, at work in a fresh folder."""

    def __init__(self, folder: Path, machine: str, kernels: dict, **options) -> None:
        folder.mkdir()
        (folder / "machine.yml").write_text(machine)
        job = {"machine": str(folder / "machine.yml"), "predictor": "LC", "quick": True}
        job |= options
        job["kernels"] = [{"text": text, "points": asked} for text, asked in kernels.items()]
        (folder / "job.json").write_text(json.dumps(job))
        self._process = subprocess.Popen(
            [sys.executable, "-P", _REFERENCE, "job.json"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def answers(self) -> list[list[dict]]:
        try:
            out, err = self._process.communicate(timeout=200)
        finally:
            self._process.kill()
        assert self._process.returncode == 0, err[-2000:]
        return json.loads(out)


def compare(model: EcmModel, asked: list[dict], answers: list[dict]) -> None:
    """All sizes in one evaluation, on every number of cores of a socket."""
    cores = list(range(1, model.cores + 1))
    sizes = {name: np.array([p["sizes"][name] for p in asked]) for name in model.constants}
    times = model.evaluate(sizes, cores)
    for row, (point, answer) in enumerate(zip(asked, answers, strict=True)):
        column = cores.index(point["cores"])
        found = {
            "T_OL": times.T_OL,
            "T_nOL": times.T_nOL,
            "transfers": times.transfers[row, column].tolist(),
            "T_ECM": times.T_ECM[row, column],
            "bandwidth": times.bandwidth[row, column],
            "saturation": times.saturation_at[row, column],
            "multi_core": times.scaling[row, column],
        }
        if point["cores"] == 1:
            assert times.saturation[row] == answer["saturation"]
        for name, value in found.items():
            assert value == answer[name], (name, point)
        assert times.memory[row, column] == answer["transfers"][-1]


def exactly_as_kerncraft(folder: Path, machine: str, kernels: list[str]) -> list[EcmModel]:
    """The models of kernels at random sizes, each double compared with kerncraft's."""
    with KerncraftAnalyser(machine) as analyser:
        models = analyser.analyse(kernels)
    assert all(isinstance(model, EcmModel) for model in models), models
    domain, socket = models[0].record.domain_cores, models[0].cores
    asked = {text: points(text, machine, [1, domain, socket], 10) for text in kernels}
    answers = Reference(folder / "reference", machine, asked).answers()
    for model, text, found in zip(models, kernels, answers, strict=True):
        compare(model, asked[text], found)
    ends = [answer["transfers"][-1] for found in answers for answer in found]
    assert min(ends) == 0.0 < max(ends)  # from the caches and from memory
    return models
