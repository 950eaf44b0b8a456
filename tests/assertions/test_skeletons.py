"""Skeletons run on real ranks and send the messages of their model; traces list them."""

import json
from collections import Counter
from pathlib import Path

import assertion_programs
import counted_messages
import pytest

from autotune.assertions.modelling import parsed_model
from autotune.assertions.modelling.binding import ModelBinding, bind
from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.skeletons.c_skeleton import c_skeleton
from autotune.assertions.modelling.skeletons.message_tree import events, received_as_sent
from autotune.assertions.modelling.skeletons.python_skeleton import python_skeleton
from autotune.assertions.modelling.skeletons.synthetic_trace import synthetic_trace
from autotune.assertions.modelling.tree_walk import rank_counts
from autotune.domain.assertion_model import AssertionModel, ModelNode
from autotune.domain.assertion_record import NamedVariable
from autotune.errors import InputError

MODELS = Path(__file__).parents[2] / "examples" / "assertions" / "models"
Sizes = Counter[tuple[str, str, int]]


def node(kind: str, name: str, formula: str, **more: object) -> ModelNode:
    return ModelNode(kind=kind, name=name, expression=formula, **more)


RING = AssertionModel(
    name="ring without peers",
    variables=(NamedVariable(name="n"), NamedVariable(name="int", expression="n/2")),
    values={"n": 6, "nprocs": 4},
    nodes=(
        node("loop", "turns", "int", index="k", inner=(
            node("send", "s", "8*k + 100*rank", repeat="2"),
            node("coll", "norm", "8", operation="allreduce"),
            node("coll", "all", "4*nprocs", operation="alltoall", repeat="1/3"),
            node("send", "large", "70000", nonblocking=True),
            node("coll", "b", "0", operation="barrier"),
            node("coll", "g", "3", operation="iallgatherv"),
            node("flop", "work", "n"),
        )),
    ),
)  # fmt: skip


def loaded(name: str) -> ParsedModel:
    if name == "ring":
        return parsed_model.parse(RING)
    return parsed_model.load(MODELS / f"{name}.json")


def of_model(binding: ModelBinding, rank: int, kinds: tuple[str, ...]) -> Sizes:
    """The messages of a rank by kind and size, by walking the model."""
    return Counter(
        {
            (sent.kind, collective_name(sent.operation), int(sent.size)): int(number)
            for sent, number in rank_counts(binding, rank).messages.items()
            if sent.kind in kinds
        }
    )


def collective_name(operation: str) -> str:
    return parsed_model.collective(operation) or "" if operation else ""


def program(model: ParsedModel, language: str, folder: Path, posted: bool) -> list[str]:
    """The command that starts the skeleton of a model."""
    binding = bind(model, {})
    make = c_skeleton if language == "c" else python_skeleton
    source = folder / f"skeleton.{'c' if language == 'c' else 'py'}"
    source.write_text(make(model, binding.given, posted=posted))
    return assertion_programs.build(language, source, folder / "skeleton", "-Wextra", "-O1")


@pytest.mark.parametrize("language", ["c", "python"])
@pytest.mark.parametrize(
    ("name", "posted", "cases"),
    [
        ("cg", True, [(1, {}), (2, {"na": 701}), (4, {})]),
        ("sp", True, [(1, {}), (4, {"problem_size": 13}), (9, {})]),
        ("sp", False, [(4, {})]),
        ("ring", False, [(1, {}), (2, {}), (4, {"n": 8})]),
    ],
)
def test_skeletons_send_the_messages_of_their_model(
    language: str, name: str, posted: bool, cases: list, tmp_path: Path
) -> None:
    model = loaded(name)
    command = program(model, language, tmp_path, posted)
    for ranks, values in cases:
        values = values | ({} if name == "ring" else {"niter": 1})
        binding = bind(model, {**values, "nprocs": ranks})
        arguments = [f"{key}={value}" for key, value in values.items()]
        folder = tmp_path / f"{ranks}"
        folder.mkdir()
        text = assertion_programs.launch(
            language, [*command, *arguments, f"--histogram={folder}"], ranks
        )
        sent, received = Counter(), Counter()
        for rank in range(ranks):
            document = json.loads((folder / f"{rank}.json").read_text())
            sizes: Sizes = Counter()
            for line in document["sizes"]:
                sizes[line["kind"], line["operation"], line["size"]] += line["messages"]
            kinds = ("send", "recv", "coll") if posted else ("send", "coll")
            assert Counter({k: v for k, v in sizes.items() if k[0] in kinds}) == of_model(
                binding, rank, kinds
            )
            sent.update({k[2]: v for k, v in sizes.items() if k[0] == "send"})
            received.update({k[2]: v for k, v in sizes.items() if k[0] == "recv"})
            counts = rank_counts(binding, rank)
            line = f"rank {rank}: sent {counts['messages']} messages, {counts['volume']} B"
            assert line in text
        assert sent == received


@pytest.mark.parametrize("ranks", [4, 9])
def test_the_solver_sends_what_mpi_counts(ranks: int, tmp_path: Path) -> None:
    """Byte by byte: the wrappers around MPI count what the model says, by size and by peer."""
    model = loaded("sp")
    command = program(model, "c", tmp_path, posted=True)
    folder = tmp_path / "records"
    folder.mkdir()
    values = {"problem_size": 14, "niter": 1}
    arguments = [f"{key}={value}" for key, value in values.items()]
    records = counted_messages.recorded("c", [*command, *arguments], ranks, folder)
    assert len(records) == ranks
    binding = bind(model, {**values, "nprocs": ranks})
    for record in records:
        calls = {call.kind: call for call in record.calls if call.kind in ("send", "recv")}
        counts = rank_counts(binding, record.rank)
        for kind in ("send", "recv"):
            assert {int(size): n for size, n in calls[kind].sizes} == counts.sizes(kind)
        peers = Counter(e.peer for e in events(binding, record.rank) if e.node.node.kind == "send")
        assert {peer.rank: peer.messages for peer in calls["send"].peers} == peers


@pytest.mark.parametrize("language", ["c", "python"])
def test_a_wrong_argument_ends_the_skeleton(language: str, tmp_path: Path) -> None:
    command = program(loaded("ring"), language, tmp_path, posted=False)
    text = assertion_programs.launch(language, [*command, "m=4"], 1, status=2)
    assert "skeleton: " in text
    assert "unknown argument" in text
    text = assertion_programs.launch(language, [*command, "n=5"], 1, status=2)
    assert "turns" in text
    assert "no whole number" in text


@pytest.mark.parametrize("ranks", [1, 2, 4, 8, 16])
def test_receives_of_the_examples_match_their_sends(ranks: int) -> None:
    for name, count in (("cg", ranks), ("sp", ranks * ranks if ranks < 8 else 9)):
        model = loaded(name)
        assert received_as_sent(bind(model, {"nprocs": count, "niter": 0})) == (True, "")


def test_receives_that_do_not_match_are_named() -> None:
    model = parsed_model.parse(
        AssertionModel(
            name="m", values={"nprocs": 2},
            nodes=(node("send", "s", "8"), node("recv", "r", "16")),
        )
    )  # fmt: skip
    matched, why = received_as_sent(bind(model, {}))
    assert not matched
    assert why == "rank 0 sends 1 messages of 8 B to rank 1, which receives 0"


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ((node("send", "s", "7/2"),), "s on rank 0: the size 7 / 2 is no whole number: 7/2"),
        ((node("send", "s", "8", peer="nprocs"),), "the peer is rank 2 of 2"),
        ((node("send", "s", "8", peer="rank - 1"),), "the peer is negative: -1"),
        ((node("send", "s", "8", repeat="-1"),), "the repeat is negative: -1"),
        ((node("loop", "l", "0 - 3", inner=(node("send", "s", "8"),)),), "is negative: -3"),
    ],
)  # fmt: skip
def test_impossible_messages_are_refused(nodes: tuple, message: str) -> None:
    model = parsed_model.parse(AssertionModel(name="m", values={"nprocs": 2}, nodes=nodes))
    with pytest.raises(InputError) as error:
        list(events(bind(model, {}), 0))
    assert message in str(error.value)


def test_a_trace_lists_the_messages_and_is_bounded() -> None:
    model = loaded("cg")
    binding = bind(model, {"niter": 0})
    head, *lines = map(json.loads, synthetic_trace(binding, 10**6))
    assert head["schema"] == "autotune.assertion-trace/1"
    assert head["ranks"] == 4
    for rank in range(4):
        sizes = Counter(e["size"] for e in lines if e["rank"] == rank and e["event"] == "send")
        assert sizes == rank_counts(binding, rank).sizes("send")
    assert {e["peer"] for e in lines} == {0, 1, 2, 3}
    bounded = [json.loads(line) for line in synthetic_trace(binding, 7)]
    assert len(bounded) == 1 + 4 * 8
    lost = [line["left_out"] for line in bounded if "left_out" in line]
    assert lost == [len(lines) // 4 - 7] * 4


def test_messages_without_end_are_bounded() -> None:
    """A million million messages: a trace lists the first, and nothing is compared."""
    send = ModelNode(kind="send", name="s", expression="8")
    loops = node("loop", "a", "10**6", inner=(node("loop", "b", "10**6", inner=(send,)),))
    model = parsed_model.parse(AssertionModel(name="m", values={"nprocs": 1}, nodes=(loops,)))
    binding = bind(model, {})
    assert rank_counts(binding)["volume"] == 8 * 10**12
    lines = [json.loads(line) for line in synthetic_trace(binding, 5)]
    assert lines[-1] == {"rank": 0, "left_out": 10**12 - 5}
    assert received_as_sent(binding) == (False, "more than 1,000,000 messages are not compared")
