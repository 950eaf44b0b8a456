"""What a writer acknowledged is there after kill -9, once; two writers at once lose nothing."""

import contextlib
import random
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import fabricated as fake

from autotune.files.store import Store

WRITER = textwrap.dedent(
    """
    import sys
    sys.path.insert(0, sys.argv[4])
    import fabricated as fake
    from autotune.files.store import Store, StudyOrigin

    store = Store.open(sys.argv[1])
    one = fake.candidate()
    store.begin_study("study", StudyOrigin(config="c", setup_text=""))
    store.add_candidates("study", [one])
    run = store.begin_run("study", fake.facts())
    print("run", run, flush=True)
    for launch in range(int(sys.argv[2])):
        for number in range(int(sys.argv[3])):
            sample = fake.sample(1e-3 + 1e-6 * number, launch=launch)
            store.add_sample(run, one.identity, number, sample)
            print(launch, number, flush=True)
    """
)


def writer(path: Path, launches: int, samples: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(launches), str(samples)]
    here = str(Path(__file__).parents[2] / "support")
    return subprocess.Popen([*command, here], stdout=subprocess.PIPE, text=True)


def test_kill_at_random_points(tmp_path):
    generator = random.Random(3)
    path = tmp_path / "results.sqlite"
    acknowledged: dict[str, Counter[tuple[int, float]]] = {}
    for _ in range(8):
        process = writer(path, 1000, 5)
        stop = generator.randrange(0, 60)
        run, seen = "", Counter[tuple[int, float]]()
        for number, line in enumerate(process.stdout):
            words = line.split()
            if words[0] == "run":
                run = words[1]
            else:
                seen[int(words[0]), 1e-3 + 1e-6 * int(words[1])] += 1
            if number == stop:
                process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        acknowledged[run] = seen
    with Store.open(path, create=False) as store:
        study = store.load_study("study")
    assert {run.id for run in study.runs} == set(acknowledged)
    for run in study.runs:
        samples = run.measurements[0].samples if run.measurements else ()
        stored = Counter((s.launch, s.seconds) for s in samples)
        assert max(stored.values(), default=1) == 1
        assert not acknowledged[run.id] - stored
        assert (stored - acknowledged[run.id]).total() <= 1
        assert run.state == "running"


def test_kill_while_the_store_is_made(tmp_path):
    generator = random.Random(5)
    for number in range(4):
        path = tmp_path / f"{number}.sqlite"
        process = writer(path, 1, 1)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(generator.uniform(0.1, 1.2))
        process.kill()
        process.wait()
        process.stdout.close()
        Store.open(path).close()


def test_two_writers_at_once(tmp_path):
    path = tmp_path / "results.sqlite"
    both = [writer(path, 5, 10) for _ in range(2)]
    for process in both:
        process.communicate()
        assert process.returncode == 0
    with Store.open(path, create=False) as store:
        runs = store.load_study("study").runs
    assert len(runs) == 2
    assert [len(run.measurements[0].samples) for run in runs] == [50, 50]
    assert fake.candidate().identity == runs[0].measurements[0].candidate
