"""Whatever is done to a file that comes with autotune: it is read, or its faults have places."""

import re
from random import Random

import pytest

from autotune import paths
from autotune.errors import ConfigError
from autotune.files import config

READERS = {
    "machines": config.machine,
    "kernels/method": config.method,
    "kernels/ivp": config.ivp,
    "kernels/stencil": config.stencil,
    "variants/skeleton": config.skeleton,
    "variants/space": config.generated,
    "configs": config.load,
}
JUNK = [
    "", "null", "[]", "{}", "-1", "0", "1e6", "1e400", "true", "no", '""', "[1, 2]", "{a: 1}",
    "sync", "$tile", "$", "((N**8)**8)**8", "y[j]", '"[0, n)"', "5 GHz", "32 KiB", "9" * 400, "(",
    "j", "host", "../x.yaml", '"\\0"', "1/0", "exp(9**8)", "~", "&a", "*a", "!t x", "|", "? ",
    "- x", "\t", "\x00",
]  # fmt: skip


PARTS = re.compile(r'[^\s{}\[\],:"]+|"[^"\n]*"|[{}\[\],:]|\n *')


def spoil(text, random):
    for _ in range(random.randint(1, 3)):
        part = random.choice(list(PARTS.finditer(text)))
        new = random.choice([*JUNK, part.group() * 2])
        text = text[: part.start()] + new + text[part.end() :]
    return text


@pytest.mark.parametrize("collection", list(READERS))
def test_spoilt_files_are_read_or_their_faults_have_places(collection, tmp_path):
    random = Random(1)
    path = tmp_path / "x.yaml"
    texts = [file.read_text(encoding="utf-8") for file in paths.folder(collection).glob("*.yaml")]
    for _ in range(80):
        path.write_text(spoil(random.choice(sorted(texts)), random), encoding="utf-8")
        assert all(fault.where and fault.found for fault in faults(READERS[collection], path))


def faults(read, path):
    try:
        read(str(path))
    except ConfigError as error:
        return error.faults
    return ()
