"""OSACA's answers about many instruction forms: from memory, from disk, or from worker processes.

Unknown forms are looked up in one batch. A worker needs half a second (with large tables seconds)
to start, so a second one starts only for batches that keep both busy for longer.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from autotune.models.answer_cache import Answer
from autotune.models.incore import incore_cache
from autotune.models.incore.assembly.instructions import Instruction
from autotune.models.incore.assembly.x86 import X86
from autotune.models.incore.osaca import instruction_forms
from autotune.models.incore.osaca.equivalents import equivalents_of
from autotune.models.incore.osaca.instruction_forms import FormProperties, InstructionForm
from autotune.models.incore.osaca.osaca_architectures import OsacaArchitecture, RelatedTable
from autotune.models.incore.osaca.osaca_client import OsacaWorker, OsacaWorkerFailed

_WORTH = 400
"""Forms per worker above which a further worker pays."""
PIPES = frozenset({"0", "1", "2", "3", "3DV"})
"""Ports of vector arithmetic, which have the same names in related tables."""
MOVES = tuple(
    (text, X86().parse(text)) for text in ("vmovupd 8(%r8), %xmm0", "vmovupd %xmm0, 8(%r8)")
)
"""A plain load and a plain store of a vector."""
_WIDTHS = {"xmm": 16, "ymm": 32, "zmm": 64}
"""Bytes of registers by the beginning of their names."""
_ATONCE = 200
"""Largest number of forms in one request, so that the time limit is meaningful."""


class OsacaPool:
    """The worker processes for one architecture, and all answers so far.

    Workers start at the first unknown form, in the calling thread, and end with this thread.
    """

    def __init__(self, workers: Sequence[OsacaWorker], architecture: OsacaArchitecture) -> None:
        self._workers = workers
        self._architecture = architecture
        self._facts: dict[str, FormProperties] = {}
        self._kept: Mapping[str, Answer] | None = None
        self.forward: float | None = None
        """Cycles of store forwarding in the tables of the architecture."""

    def facts(
        self, forms: Iterable[tuple[InstructionForm, Instruction]]
    ) -> Mapping[str, FormProperties]:
        """The properties of all forms looked up so far, including the requested ones, by the text
        of the form.

        Raises ``OsacaWorkerFailed`` where the workers give no answer.
        """
        if self._kept is None:
            self._kept = incore_cache.forms(self._architecture)
        missing = []
        for form, instruction in forms:
            if form.text not in self._facts:
                answer = self._kept.get(form.text)
                if answer is None or not self._take(form.text, answer):
                    missing.append((form.text, instruction))
        if missing:
            self._ask(list(dict(missing).items()))
        return self._facts

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.close()

    def _take(self, text: str, answer: Answer) -> bool:
        """Store an answer; False if it is not valid."""
        try:
            self._facts[text] = instruction_forms.facts(answer)
        except (TypeError, ValueError):
            return False
        forward = answer.get("forward")
        if isinstance(forward, int | float):
            self.forward = float(forward)
        return True

    def _ask(self, missing: Sequence[tuple[str, Instruction]]) -> None:
        count = max(1, min(len(self._workers), len(missing) // _WORTH))
        for worker in self._workers[:count]:
            worker.start()  # here: a worker ends with the thread that started it
        with ThreadPoolExecutor(count) as pool:
            others = [
                pool.submit(self._forms_from, worker, missing[number::count])
                for number, worker in enumerate(self._workers[1:count], start=1)
            ]
            answered = self._forms_from(self._workers[0], missing[::count])
        answers = dict(answered + [item for part in others for item in part.result()])
        if not all(self._take(text, answer) for text, answer in answers.items()):
            raise OsacaWorkerFailed("an answer without ports")
        incore_cache.keep_forms(self._architecture, answers)

    def _forms_from(
        self, worker: OsacaWorker, part: Sequence[tuple[str, Instruction]]
    ) -> list[tuple[str, Answer]]:
        answered = self._answers(worker, self._architecture.name, part)
        for table in self._architecture.related:
            lacking = {
                text: instruction
                for (text, instruction), (_, answer) in zip(part, answered, strict=True)
                if answer.get("known") is False and instruction.works
            }
            if lacking:
                later = dict(self._answers(worker, table.name, list(lacking.items())))
                moves = [a for _, a in self._answers(worker, self._architecture.name, MOVES)]
                answered = [
                    (text, borrowed(answer, later[text], table, lacking[text], moves))
                    if text in lacking
                    else (text, answer)
                    for text, answer in answered
                ]
        return answered

    def _answers(
        self, worker: OsacaWorker, architecture: str, part: Sequence[tuple[str, Instruction]]
    ) -> list[tuple[str, Answer]]:
        """The answers of the table of an architecture, in order."""
        answered: list[tuple[str, Answer]] = []
        for first in range(0, len(part), _ATONCE):
            batch = part[first : first + _ATONCE]
            forms = [
                [text, list(equivalents_of(i.mnemonic, self._architecture.isa))]
                for text, i in batch
            ]
            reply = worker.ask({"arch": architecture, "forms": forms})
            answers = reply.get("forms")
            if not isinstance(answers, list) or len(answers) != len(batch):
                raise OsacaWorkerFailed("not one answer per form")
            forward = reply.get("forward")
            for (text, _), answer in zip(batch, answers, strict=True):
                if not isinstance(answer, dict):
                    raise OsacaWorkerFailed("an answer without ports")
                answered.append((text, {**answer, "forward": forward}))
        return answered


def borrowed(
    lacking: Answer,
    later: Answer,
    table: RelatedTable,
    instruction: Instruction,
    moves: Sequence[Answer],
) -> Answer:
    """The answer of a related table for an instruction; ``lacking`` where it has none.

    Taken over is the work on ``PIPES``, which mean the same in both; vectors wider than a unit take
    as many times the cycles as they have pieces. Loads and stores are those of the architecture's
    own table, in ``moves``. Work on other ports says nothing here, so that an instruction with such
    work alone is not taken over.
    """
    uops = later.get("uops")
    if later.get("known") is not True or not isinstance(uops, list):
        return lacking
    inside = [(float(cycles), names) for cycles, names in uops if PIPES.issuperset(names)]
    moved = (instruction.loads, instruction.stores)
    if not any(moved) and len(inside) < len(uops):
        return lacking
    names = [*_words(later.get("reads")), *_words(later.get("writes"))]
    wide = max((_WIDTHS.get(name[:3], 0) for name in names), default=0)
    kept = [[cycles * max(1.0, wide / table.width), pipes] for cycles, pipes in inside]
    for answer, size in zip(moves, moved, strict=True):
        parts = answer.get("uops")
        if size and isinstance(parts, list):
            kept += [[float(c) * max(1.0, size / table.width), ports] for c, ports in parts]
    if not kept:
        return lacking
    changed = {"uops": kept, "known": True, "taken_as": f"in {table.name}"}
    return {**later, **changed, "forward": lacking.get("forward")}


def _words(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []
