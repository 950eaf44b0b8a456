"""kerncraft behind the analyser: kernels that it cannot express, machine files that do not do."""

import pytest
from kerncraft_kernels import COPY, DAXPY
from kerncraft_machines import machine_file

from autotune.models.kerncraft import EcmModel, KerncraftAnalyser

FLAT = """double a[M*N], b[M*N];
for(int j=1; j<M; ++j)
  for(int i=0; i<N; ++i)
    a[j*N+i] = b[(j-1)*N+i];"""

UNFIT = {
    "double a[N], b[N];\nfor(int i=0; i<N; i+=2) a[i] = b[i];": "step length 1",
    "double a[N], b[N];\nfor(int i=0; i<N; ++i) a[i] = sin(b[i]);": "only references to arrays",
    "double a[N], b[N];\nfor(int i=0; i<N; ++i) if (b[i]) a[i] = b[i];": "inner loop may contain",
    "double a[N];\nfor(int i=0; i<N; ++i) a[i] = a[N-i];": "loop counter|increment",
    "double a[N], b[N];\nfor(int i=0; i<=N; ++i) a[i] = b[i];": "lt",
    "double a[N], b[N];\nfor(int i=0; i<N; ++i) a[i] = b[i;": "Error parsing kernel code",
    "double a[N]; float b[N];\nfor(int i=0; i<N; ++i) a[i] = b[i];": "mixing of datatypes",
    FLAT: "Unable to split expression",
    "double a[N][4], b[N][4];\nfor(int j=0; j<N; ++j) for(int i=0; i<4; ++i) a[j][i] = b[j][i];": (
        "the inner loop has 4 iterations"
    ),
}


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOTUNE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("scratch")))
        yield


def test_what_kerncraft_cannot_express_has_its_words():
    with KerncraftAnalyser(machine_file("HaswellEP_E5-2695v3")) as analyser:
        *found, good = analyser.analyse([*UNFIT, DAXPY])
    for reason, words in zip(found, UNFIT.values(), strict=True):
        assert isinstance(reason, str)
        assert any(word in reason for word in words.split("|")), reason
        assert reason.startswith("kerncraft: ")
        assert "\n" not in reason
    assert isinstance(good, EcmModel)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("0.8.11.dev0", "0.9.7"), "incompatible with this version"),
        (("0.8.11.dev0", "0.6.6"), "incompatible with this version"),
        (("gcc:", "no-such-compiler:"), "No compiler"),
        (("- OSACA: HSW", ""), "no OSACA under 'in-core model'"),
        (("cores per socket: 14", ""), "no entry 'cores per socket'"),
        (("- OSACA: HSW", "- OSACA: XYZ"), "XYZ|xyz"),
        (("isa: x86", "isa: !!python/object/apply:os.getcwd []"), "tags of Python objects"),
    ],
)
def test_machine_files_that_are_not_enough_are_a_reason(change, words):
    text = machine_file("HaswellEP_E5-2695v3")
    assert change[0] in text
    with KerncraftAnalyser(text.replace(*change)) as analyser:
        (reason,) = analyser.analyse([COPY])
    assert isinstance(reason, str)
    assert any(word in reason for word in words.split("|")), reason
