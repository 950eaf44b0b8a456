"""The functions of MPI that carry messages: parameters, and how many bytes each of them moves.

A call counts one or more messages of this rank. What a message weighs is an expression of C over
the parameters, written once for the bindings of C and Fortran:

- a send or receive: the message. A receive weighs what arrived, not the room that was posted.
- a collective: what this rank contributes. A broadcast or scatter, in which only the root
  contributes, weighs what every rank gets of it: the message, or the block.
- a call of one-sided communication: what leaves (send) and what comes (recv).

Messages to and from MPI_PROC_NULL move nothing and are not counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

ARRIVED = "ARRIVED"
"""The size of a message that is known when it has arrived."""

Form = Literal["blocking", "nonblocking", "persistent"]


@dataclass(frozen=True, slots=True)
class CountedMessage:
    """One message of a call."""

    kind: Literal["send", "recv", "coll"]
    size: str
    """Its bytes, as an expression of C over the parameters; ``ARRIVED``: its status says it."""
    peer: str = ""
    """The parameter that names the partner, or the root of a collective; empty: all take part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCall:
    """A function of MPI that carries messages."""

    name: str
    """Without ``MPI_``."""
    parameters: tuple[str, ...]
    messages: tuple[CountedMessage, ...]
    form: Form = "blocking"

    @property
    def operation(self) -> str:
        """Of a collective, the word by which assertions name it, such as ``allreduce``."""
        if self.messages[0].kind != "coll":
            return ""
        word = self.name.lower().removesuffix("_init")
        return word[1:] if self.form == "nonblocking" else word


_SEND = CountedMessage("send", "bytes(count, datatype)", "dest")
_RECEIVE = CountedMessage("recv", ARRIVED, "source")
_OUT = "bytes(origin_count, origin_type)"
_SENT = "in_place(sendbuf) ? {} : {}"
_BLOCK = _SENT.format("bytes(recvcount, recvtype)", "bytes(sendcount, sendtype)")
_OWN_BLOCK = _SENT.format("bytes(own(comm, recvcounts), recvtype)", "bytes(sendcount, sendtype)")
_LISTED = "bytes(sum(all(comm), {0}counts), {0}type)"
_TYPED = "typed_sum(all(comm), {0}counts, {0}types)"
_TARGET = "target_rank target_offset target_count target_type"

_COLLECTIVES: tuple[tuple[str, str, str], ...] = (
    ("Barrier", "", "0"),
    ("Bcast", "buffer count datatype root", "bytes(count, datatype)"),
    ("Reduce", "sendbuf recvbuf count datatype op root", "bytes(count, datatype)"),
    ("Allreduce", "sendbuf recvbuf count datatype op", "bytes(count, datatype)"),
    ("Scan", "sendbuf recvbuf count datatype op", "bytes(count, datatype)"),
    ("Exscan", "sendbuf recvbuf count datatype op", "bytes(count, datatype)"),
    (
        "Reduce_scatter",
        "sendbuf recvbuf recvcounts datatype op",
        "bytes(sum(here(comm), recvcounts), datatype)",
    ),
    (
        "Reduce_scatter_block",
        "sendbuf recvbuf recvcount datatype op",
        "to_every(here(comm), bytes(recvcount, datatype))",
    ),
    ("Gather", "sendbuf sendcount sendtype recvbuf recvcount recvtype root", _BLOCK),
    ("Gatherv", "sendbuf sendcount sendtype recvbuf recvcounts displs recvtype root", _OWN_BLOCK),
    (
        "Scatter",
        "sendbuf sendcount sendtype recvbuf recvcount recvtype root",
        "is_root(comm, root) ? bytes(sendcount, sendtype) : bytes(recvcount, recvtype)",
    ),
    (
        "Scatterv",
        "sendbuf sendcounts displs sendtype recvbuf recvcount recvtype root",
        "is_root(comm, root) ? bytes(own(comm, sendcounts), sendtype) : bytes(recvcount, recvtype)",
    ),
    ("Allgather", "sendbuf sendcount sendtype recvbuf recvcount recvtype", _BLOCK),
    ("Allgatherv", "sendbuf sendcount sendtype recvbuf recvcounts displs recvtype", _OWN_BLOCK),
    (
        "Alltoall",
        "sendbuf sendcount sendtype recvbuf recvcount recvtype",
        f"to_every(all(comm), {_BLOCK})",
    ),
    (
        "Alltoallv",
        "sendbuf sendcounts senddispls sendtype recvbuf recvcounts recvdispls recvtype",
        _SENT.format(_LISTED.format("recv"), _LISTED.format("send")),
    ),
    (
        "Alltoallw",
        "sendbuf sendcounts senddispls sendtypes recvbuf recvcounts recvdispls recvtypes",
        _SENT.format(_TYPED.format("recv"), _TYPED.format("send")),
    ),
    (
        "Neighbor_allgather",
        "sendbuf sendcount sendtype recvbuf recvcount recvtype",
        "bytes(sendcount, sendtype)",
    ),
    (
        "Neighbor_allgatherv",
        "sendbuf sendcount sendtype recvbuf recvcounts displs recvtype",
        "bytes(sendcount, sendtype)",
    ),
    (
        "Neighbor_alltoall",
        "sendbuf sendcount sendtype recvbuf recvcount recvtype",
        "to_every(neighbours(comm), bytes(sendcount, sendtype))",
    ),
    (
        "Neighbor_alltoallv",
        "sendbuf sendcounts senddispls sendtype recvbuf recvcounts recvdispls recvtype",
        "bytes(sum(neighbours(comm), sendcounts), sendtype)",
    ),
    (
        "Neighbor_alltoallw",
        "sendbuf sendcounts send_offsets sendtypes recvbuf recvcounts recv_offsets recvtypes",
        "typed_sum(neighbours(comm), sendcounts, sendtypes)",
    ),
)
"""Name, parameters before the communicator, bytes."""

_ONE_SIDED: tuple[tuple[str, str, tuple[CountedMessage, ...]], ...] = (
    (
        "Put",
        f"origin_addr origin_count origin_type {_TARGET} win",
        (CountedMessage("send", _OUT, "target_rank"),),
    ),
    (
        "Get",
        f"recvbuf origin_count origin_type {_TARGET} win",
        (CountedMessage("recv", _OUT, "target_rank"),),
    ),
    (
        "Accumulate",
        f"origin_addr origin_count origin_type {_TARGET} op win",
        (CountedMessage("send", _OUT, "target_rank"),),
    ),
    (
        "Get_accumulate",
        f"origin_addr origin_count origin_type recvbuf recvcount recvtype {_TARGET} op win",
        (
            CountedMessage("send", _OUT, "target_rank"),
            CountedMessage("recv", "bytes(recvcount, recvtype)", "target_rank"),
        ),
    ),
)

_SINGLE: tuple[tuple[str, str, tuple[CountedMessage, ...], Form], ...] = (
    ("Mrecv", "recvbuf count datatype message status", (_RECEIVE,), "blocking"),
    ("Imrecv", "recvbuf count datatype message request", (_RECEIVE,), "nonblocking"),
    (
        "Psend_init",
        "sendbuf partitions partition_count datatype dest tag comm info request",
        (CountedMessage("send", "(int64_t)partitions * bytes(partition_count, datatype)", "dest"),),
        "persistent",
    ),
    (
        "Precv_init",
        "recvbuf partitions partition_count datatype source tag comm info request",
        (
            CountedMessage(
                "recv", "(int64_t)partitions * bytes(partition_count, datatype)", "source"
            ),
        ),
        "persistent",
    ),
    (
        "Fetch_and_op",
        "origin_addr recvbuf datatype target_rank target_offset op win",
        (
            CountedMessage("send", "bytes(1, datatype)", "target_rank"),
            CountedMessage("recv", "bytes(1, datatype)", "target_rank"),
        ),
        "blocking",
    ),
    (
        "Compare_and_swap",
        "origin_addr compare_addr recvbuf datatype target_rank target_offset win",
        (
            CountedMessage("send", "bytes(2, datatype)", "target_rank"),
            CountedMessage("recv", "bytes(1, datatype)", "target_rank"),
        ),
        "blocking",
    ),
)


def message_calls() -> Iterator[MessageCall]:
    """Every function that carries messages; the ones that an MPI lacks included."""
    for mode in ("Send", "Bsend", "Ssend", "Rsend"):
        yield from _point_to_point(mode, "sendbuf count datatype dest tag comm", _SEND)
    yield from _point_to_point("Recv", "recvbuf count datatype source tag comm", _RECEIVE)
    for name, parameters, size in (
        ("Sendrecv", "sendbuf sendcount sendtype dest sendtag recvbuf recvcount recvtype", "send"),
        ("Sendrecv_replace", "recvbuf count datatype dest sendtag", ""),
    ):
        sent = CountedMessage("send", f"bytes({size}count, {size or 'data'}type)", "dest")
        words = (*parameters.split(), "source", "recvtag", "comm")
        yield MessageCall(name=name, parameters=(*words, "status"), messages=(sent, _RECEIVE))
        yield _started(name, words, (sent, _RECEIVE))
    for name, parameters, size in _COLLECTIVES:
        words = (*parameters.split(), "comm")
        counted = (CountedMessage("coll", size, "root" if "root" in words else ""),)
        yield MessageCall(name=name, parameters=words, messages=counted)
        yield _started(name, words, counted)
        yield MessageCall(
            name=f"{name}_init",
            parameters=(*words, "info", "request"),
            messages=counted,
            form="persistent",
        )
    for name, parameters, messages in _ONE_SIDED:
        words = tuple(parameters.split())
        yield MessageCall(name=name, parameters=words, messages=messages)
        yield MessageCall(
            name=f"R{name.lower()}", parameters=(*words, "request"), messages=messages
        )
    for name, parameters, messages, form in _SINGLE:
        yield MessageCall(
            name=name, parameters=tuple(parameters.split()), messages=messages, form=form
        )


def _point_to_point(name: str, parameters: str, message: CountedMessage) -> Iterator[MessageCall]:
    words = tuple(parameters.split())
    status = ("status",) if message.size == ARRIVED else ()
    yield MessageCall(name=name, parameters=(*words, *status), messages=(message,))
    yield _started(name, words, (message,))
    yield MessageCall(
        name=f"{name}_init",
        parameters=(*words, "request"),
        messages=(message,),
        form="persistent",
    )


def _started(
    name: str, words: tuple[str, ...], messages: tuple[CountedMessage, ...]
) -> MessageCall:
    """The nonblocking form of a call, which ends with a request."""
    return MessageCall(
        name=f"I{name.lower()}",
        parameters=(*words, "request"),
        messages=messages,
        form="nonblocking",
    )
