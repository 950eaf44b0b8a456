import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from codegen_build import COMPILER, Workshop

from autotune.toolchain import mpi


@pytest.fixture(scope="session")
def workshop(
    tmp_path_factory: pytest.TempPathFactory, session_folder: Callable[[str], Path]
) -> Workshop:
    if COMPILER is None:
        pytest.skip("no C compiler (gcc or cc) on the PATH")
    return Workshop(tmp_path_factory.mktemp("programs"), session_folder("objects"))


@pytest.fixture(scope="session")
def mpi_workshop(
    tmp_path_factory: pytest.TempPathFactory, session_folder: Callable[[str], Path]
) -> Workshop:
    assert COMPILER, "no C compiler (gcc or cc) on the PATH"
    compiling, linking = mpi.compile_flags(mpi.find())
    folder, objects = tmp_path_factory.mktemp("hybrid"), session_folder("objects")
    plain = Workshop(folder, objects)
    return replace(plain, flags=(*plain.flags, *compiling), link=linking)


@pytest.fixture
def golden() -> bool:
    """Write the samples anew instead of comparing with them: AUTOTUNE_GOLDEN=1."""
    return os.environ.get("AUTOTUNE_GOLDEN") == "1"


@pytest.fixture
def samples() -> Path:
    return Path(__file__).parents[1] / "golden"
