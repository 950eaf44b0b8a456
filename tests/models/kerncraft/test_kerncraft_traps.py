"""Traps of kerncraft's caches that no result falls into: machines, cores, processes at once."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import kerncraft_compare
import numpy as np
import pytest
from kerncraft_kernels import COPY, DAXPY, STAR_2D, UPDATE
from kerncraft_machines import machine_file

from autotune.models.kerncraft import KerncraftAnalyser, kerncraft_analyser


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOTUNE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("scratch")))
        patch.setattr(kerncraft_analyser, "KerncraftPool", kerncraft_compare.one_worker)
        yield


@pytest.fixture(scope="module")
def first(_own_cache):
    """The models of three kernels by whoever was first; the cache has them then."""
    kernels = [STAR_2D, UPDATE, DAXPY]
    with KerncraftAnalyser(machine_file("HaswellEP_E5-2695v3")) as analyser:
        return dict(zip(kernels, analyser.analyse(kernels), strict=True))


def test_no_machine_gets_what_was_found_for_another(first):
    asked = {"M": np.array([2000] * 3), "N": np.array([600, 3000, 200_000])}
    found = [first[STAR_2D].evaluate(asked, [1, 4])]
    for name in ("SkylakeSP_Gold-6148_SNC", "HaswellEP_E5-2695v3"):
        with KerncraftAnalyser(machine_file(name)) as analyser:
            (model,) = analyser.analyse([STAR_2D])
        found.append(model.evaluate(asked, [1, 4]))
    assert found[0].transfers.tolist() == found[2].transfers.tolist()
    assert found[0].transfers.tolist() != found[1].transfers.tolist()
    assert found[0].T_ECM.tolist() != found[1].T_ECM.tolist()
    assert found[0].bandwidth.tolist() != found[1].bandwidth.tolist()


def test_a_changed_number_of_cores_changes_the_shared_cache(first):
    model = first[UPDATE]
    with KerncraftAnalyser(machine_file("HaswellEP_E5-2695v3")) as analyser:
        assert analyser.analyse([UPDATE]) == [model]
    sizes = {"N": np.array([500_000])}  # 20 MB: in the L3 of one core, not in the half of it
    one, two = (model.evaluate(sizes, [cores]).memory[0, 0] for cores in (1, 2))
    assert one == 0.0 < two
    assert model.evaluate(sizes, [2, 1]).memory[0].tolist() == [two, one]


def test_a_second_process_reads_what_the_first_has_kept(first):
    found = at_once([DAXPY], 1)
    assert [starts for starts, _ in found] == [0]


@pytest.mark.long
def test_two_processes_at_once_find_the_same():
    kernel = DAXPY.replace("s*", "3.25*")
    found = at_once([kernel], 2)
    assert found[0][1] == found[1][1]
    assert at_once([kernel], 1)[0] == [0, found[0][1]]


PROGRAM = """
import json, sys
import numpy as np
from autotune.models.kerncraft import KerncraftAnalyser
machine, kernels = json.load(sys.stdin)
with KerncraftAnalyser(machine) as analyser:
    models = analyser.analyse(kernels)
    times = [m.evaluate({"N": np.array([100, 10**4, 10**8])}, [1, 8]) for m in models]
    print(json.dumps([analyser.starts, [t.scaling.tolist() for t in times]]))
assert "kerncraft" not in sys.modules and "osaca" not in sys.modules
"""


def at_once(kernels: list[str], count: int) -> list:
    """Processes that analyse the same at the same time: workers started, times."""
    given = json.dumps([machine_file("HaswellEP_E5-2695v3"), kernels])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(count)
    ]  # fmt: skip
    for process in started:
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.close()
        process.stdin = None
    return [json.loads(process.communicate(timeout=100)[0]) for process in started]


def test_nothing_is_left_in_the_folder_of_the_kernel():
    scratch = Path(tempfile.gettempdir())
    before = set(scratch.iterdir())
    with KerncraftAnalyser(machine_file("HaswellEP_E5-2695v3")) as analyser:
        analyser.analyse([COPY.replace("a[", "never[")])
        (own,) = set(scratch.iterdir()) - before
        assert [file.name for file in own.iterdir()] == ["machine.yml"]
    assert set(scratch.iterdir()) == before
