"""The array evaluation gives the very doubles of kerncraft, run apart from it."""

import json
import math
import random
import subprocess
import sys

import pytest
from kerncraft_compare import exactly_as_kerncraft
from kerncraft_kernels import DAXPY, PIRK, STAR_2D
from kerncraft_machines import machine_file

from autotune.models.kerncraft.ecm_point import reduced


@pytest.mark.long
def test_haswell(tmp_path):
    exactly_as_kerncraft(tmp_path, machine_file("HaswellEP_E5-2695v3"), [DAXPY, STAR_2D, PIRK])


def test_quantities_lose_the_same_bits_as_kerncraft_s():
    chance = random.Random(7)
    values = [chance.uniform(1, 10) * 10 ** chance.randint(0, 7) for _ in range(3000)]
    values += [round(value, chance.randint(0, 3)) for value in values] + [0.0, math.inf]
    program = (
        "import json, sys; from kerncraft.prefixedunit import PrefixedUnit as P\n"
        "print(json.dumps([float(P(v, 'cy/CL').reduced()) for v in json.load(sys.stdin)]))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        input=json.dumps(values), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [reduced(value) for value in values] == json.loads(done.stdout)
