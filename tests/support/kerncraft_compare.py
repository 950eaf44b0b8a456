"""Comparing the array evaluation with kerncraft at work in a process of its own."""

import json
import math
import random
import select
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from kerncraft_kernels import SIZES

from autotune.models.kerncraft import EcmModel, KerncraftAnalyser
from autotune.models.kerncraft.kerncraft_client import KerncraftPool

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
    """kerncraft itself, at work in fresh folders, one after the other."""

    def __init__(self) -> None:
        self._folder = Path()
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", _REFERENCE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
        )

    def begin(self, folder: Path, machine: str, kernels: dict, **options) -> None:
        """Begin with a job; ``answers`` waits for its end."""
        folder.mkdir()
        (folder / "machine.yml").write_text(machine)
        job = {"machine": str(folder / "machine.yml"), "predictor": "LC", "quick": True}
        job |= options
        job["kernels"] = [{"text": text, "points": asked} for text, asked in kernels.items()]
        (folder / "job.json").write_text(json.dumps(job))
        self._folder = folder
        self._process.stdin.write(f"{folder}\n".encode())

    def answers(self) -> list[list[dict]]:
        ended, _, _ = select.select([self._process.stdout], [], [], 200)
        assert ended, f"not done after 200 s: {self._folder}"
        if self._process.stdout.readline() != b"0\n":
            self._errors.seek(0)
            pytest.fail(self._errors.read()[-2000:])
        return json.loads((self._folder / "answers.json").read_text())

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()


def one_worker(command, environment, *, count: int, limit: float) -> KerncraftPool:
    """The pool of an analyser: its start takes longer than the few kernels of a test."""
    return KerncraftPool(command, environment, count=1, limit=limit)


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


def exactly_as_kerncraft(
    reference: Reference,
    folder: Path,
    analyser: KerncraftAnalyser,
    machine: str,
    kernels: list[str],
) -> list[EcmModel]:
    """The models of kernels at random sizes, each double compared with kerncraft's."""
    models = analyser.analyse(kernels)
    assert all(isinstance(model, EcmModel) for model in models), models
    domain, socket = models[0].record.domain_cores, models[0].cores
    asked = {text: points(text, machine, [1, domain, socket], 10) for text in kernels}
    reference.begin(folder / "reference", machine, asked)
    answers = reference.answers()
    for model, text, found in zip(models, kernels, answers, strict=True):
        compare(model, asked[text], found)
    ends = [answer["transfers"][-1] for found in answers for answer in found]
    assert min(ends) == 0.0 < max(ends)  # from the caches and from memory
    return models
