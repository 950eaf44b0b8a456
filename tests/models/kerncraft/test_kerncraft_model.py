"""The array evaluation of a kernel that is known, without kerncraft."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerncraft_fake import RECORD

from autotune.errors import InputError
from autotune.models.kerncraft.kerncraft_model import EcmModel, disagreement
from autotune.models.kerncraft.kerncraft_record import read_record
from autotune.models.kerncraft.size_polynomial import SizePolynomial

MODEL = EcmModel(read_record(RECORD))


def at(*sizes: int, cores=(1,)):
    return MODEL.evaluate({"N": np.array(sizes, dtype=np.int64)}, list(cores))


def test_the_first_condition_that_holds_decides():
    # all of 8 N < 1024; else 512 + 2 N <= 1024; the L2 has 64 KiB
    times = at(127, 128, 256, 257, 8191, 8192, 32512, 32513)
    assert times.transfers[:, 0, 0].tolist() == [0, 2, 2, 4, 4, 4, 4, 4]
    assert times.transfers[:, 0, 1].tolist() == [0, 0, 0, 0, 0, 5, 5, 12]
    assert times.memory.tolist() == times.transfers[:, :, 1].tolist()
    assert times.T_ECM[:, 0].tolist() == [3, 3, 3, 5, 5, 10, 10, 17.5]  # 1 + 4 + 12 + 0.5
    assert times.memory_lines[:, 0].tolist() == [0, 0, 0, 0, 0, 2, 2, 4]
    assert times.bandwidth[:, 0].tolist() == [4e9] * 5 + [3e9] * 2 + [2e9]


def test_more_cores_have_less_of_a_shared_cache():
    times = at(5000, cores=(1, 2, 3, 4))
    assert times.memory[0].tolist() == [0.0, 5.0, 5.0, 5.0]  # the L2 of a domain of two cores
    assert times.T_ECM[0].tolist() == [5.0, 10.0, 10.0, 10.0]


def test_scaling_saturates_and_goes_on_in_the_next_domain():
    times = at(100_000, cores=(1, 2, 3, 4))
    # u(1) = 12 / 17.5; 2 x 12 > 17.5 + u(1) 12 / 2: saturated by two cores
    assert times.saturation.tolist() == [2.0]
    assert times.saturation_at.tolist() == [[2.0] * 4]
    assert times.scaling[0] == pytest.approx([17.5, 12.0, 8.0, 6.0], rel=1e-15)


def test_what_fits_into_caches_never_saturates():
    times = at(100, cores=(1, 2, 4))
    assert times.saturation.tolist() == [math.inf]
    assert times.scaling[0].tolist() == [3.0, 1.5, 0.75]


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=20))
def test_sizes_do_not_disturb_one_another(sizes):
    together = at(*sizes, cores=(2, 1))
    for row, size in enumerate(sizes):
        alone = at(size, cores=(2, 1))
        assert together.scaling[row].tolist() == alone.scaling[0].tolist()
        assert together.transfers[row].tolist() == alone.transfers[0].tolist()


@given(st.integers(1, 10**11), st.integers(1, 10**11), st.integers(-(10**6), 10**6))
def test_polynomials_are_exact_whatever_their_length(n, m, c):
    polynomial = SizePolynomial(((c, (("M", 2), ("N", 1))), (-16, (("M", 1),)), (7, ())))
    found = polynomial.at({"M": np.array([m, 1]), "N": np.array([n, 1])}, 2)
    assert [int(value) for value in found] == [c * m * m * n - 16 * m + 7, c - 9]


@pytest.mark.parametrize(
    ("sizes", "cores", "words"),
    [
        ({"M": np.array([4])}, [1], "no size for N"),
        ({"N": np.array([4, 0])}, [1], "no positive integers"),
        ({"N": np.array([4.5])}, [1], "no positive integers"),
        ({"N": np.array([4])}, [5], "5 cores; expected 1 to 4"),
        ({"N": np.array([4])}, [0], "0 cores"),
    ],
)
def test_wrong_sizes_are_refused(sizes, cores, words):
    with pytest.raises(InputError, match=words):
        MODEL.evaluate(sizes, cores)


def test_no_sizes_and_no_cores_are_no_times():
    assert at(cores=(1, 2)).T_ECM.shape == (0, 2)
    assert at(4, 5, cores=()).transfers.shape == (2, 0, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"options": RECORD["options"][:2]},
        {"overlapping": [False]},
        {"T_OL": math.inf},
        {"needed": [[["8", []]]]},
        {"caches": 7},
        {"constants": None},
    ],
)
def test_records_that_are_none_are_refused(change):
    with pytest.raises(ValueError, match=r"\w"):
        read_record({**RECORD, **change})
    with pytest.raises(ValueError, match="missing"):
        read_record({name: RECORD[name] for name in RECORD if name not in change})


def test_what_kerncraft_does_not_say_is_told():
    sample = {"sizes": {"N": 257}, "cores": 1, "transfers": [4.0, 0.0], "T_ECM": 5.0}
    sample |= {"saturation": math.inf, "scaling": 5.0}
    assert disagreement(EcmModel(read_record({**RECORD, "samples": [sample]}))) is None
    sample["T_ECM"] = math.nextafter(5.0, 6.0)
    wrong = disagreement(EcmModel(read_record({**RECORD, "samples": [sample]})))
    assert wrong is not None
    assert wrong.startswith("T_ECM is 5.000000000000001 by kerncraft but 5.0 here for {'N': 257}")
