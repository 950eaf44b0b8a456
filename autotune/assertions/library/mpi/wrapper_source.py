"""The source of the wrappers around MPI's functions, for the bindings of C and Fortran.

A wrapper calls the real function and then counts its messages (``counting.h``). In C the real
function is the one that MPI also exports with ``PMPI_``; only functions that the header of the MPI
at hand declares are wrapped. In Fortran (``mpif.h`` and the module ``mpi``: ``mpi_send_``; the
module ``mpi_f08``: ``mpi_send_f08_``) it is looked up when it is called first. Every argument of
Fortran is an address, so both bindings share a body and no Fortran compiler is needed.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from autotune.assertions.library.mpi.message_calls import (
    ARRIVED,
    CountedMessage,
    MessageCall,
    message_calls,
)

_WORD = re.compile(r"\b[a-z]\w*\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrappedFunction:
    """A function of MPI, and what is done before and after it is called.

    The statements name parameters; each binding puts in how it reads them.
    """

    name: str
    """Without ``MPI_``."""
    parameters: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    """Done where the function succeeded."""
    finally_: tuple[str, ...] = ()
    """Done in any case."""
    entry: str = "ma_enter()"
    """Whether all this is done; the function alone is called otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """How a language passes parameters."""

    types: Mapping[str, str]
    other_type: str
    """The type of parameters that are not in ``types``."""
    values: Mapping[str, str]
    """How statements read a parameter; ``{}`` stands for it."""
    other_value: str

    def declarations(self, parameters: tuple[str, ...]) -> list[str]:
        """The parameters with their types."""
        return [f"{self.types.get(name, self.other_type)}{name}" for name in parameters]

    def put(self, statement: str, parameters: tuple[str, ...]) -> str:
        """A statement with the parameters as this language reads them."""

        def value(match: re.Match[str]) -> str:
            name = match.group()
            if name not in parameters:
                return name
            return self.values.get(name, self.other_value).format(name)

        return _WORD.sub(value, statement)


C = Binding(
    types={
        **dict.fromkeys(("sendbuf", "origin_addr", "compare_addr"), "const void *"),
        **dict.fromkeys(("recvbuf", "buffer"), "void *"),
        **dict.fromkeys(("count", "sendcount", "recvcount"), "COUNT "),
        **dict.fromkeys(("origin_count", "target_count"), "COUNT "),
        **dict.fromkeys(("sendcounts", "recvcounts"), "const COUNT *"),
        **dict.fromkeys(("displs", "senddispls", "recvdispls"), "const DISPLACEMENT *"),
        **dict.fromkeys(("send_offsets", "recv_offsets"), "const MPI_Aint *"),
        **dict.fromkeys(("datatype", "sendtype", "recvtype"), "MPI_Datatype "),
        **dict.fromkeys(("origin_type", "target_type"), "MPI_Datatype "),
        **dict.fromkeys(("sendtypes", "recvtypes"), "const MPI_Datatype *"),
        **dict.fromkeys(("request", "requests"), "MPI_Request *"),
        **dict.fromkeys(("flag", "index", "indices", "outcount"), "int *"),
        "partition_count": "MPI_Count ",
        "target_offset": "MPI_Aint ",
        "op": "MPI_Op ",
        "comm": "MPI_Comm ",
        "win": "MPI_Win ",
        "info": "MPI_Info ",
        "handler": "MPI_Errhandler ",
        "session": "MPI_Session *",
        "message": "MPI_Message *",
        "status": "MPI_Status *",
    },
    other_type="int ",
    values={
        **dict.fromkeys(("sendtypes", "recvtypes", "requests"), "{}, NULL"),
        **dict.fromkeys(("request", "message", "flag", "outcount"), "*{}"),
        "index": "{}, 0",
        "indices": "{}, 0",
        "status": "{}, 0",
    },
    other_value="{}",
)
"""COUNT and DISPLACEMENT are int, and wide in the functions whose names end on _c."""

FORTRAN = Binding(
    types={
        **dict.fromkeys(("sendbuf", "origin_addr", "compare_addr", "recvbuf", "buffer"), "void *"),
        **dict.fromkeys(("target_offset", "send_offsets", "recv_offsets"), "MPI_Aint *"),
        "partition_count": "MPI_Count *",
    },
    other_type="MPI_Fint *",
    values={
        **dict.fromkeys(("sendbuf", "recvbuf"), "fortran_buffer({})"),
        **dict.fromkeys(("datatype", "sendtype", "recvtype", "origin_type"), "PMPI_Type_f2c(*{})"),
        **dict.fromkeys(("sendtypes", "recvtypes", "requests"), "NULL, {}"),
        **dict.fromkeys(("sendcounts", "recvcounts"), "{}"),
        "request": "PMPI_Request_f2c(*{})",
        "comm": "PMPI_Comm_f2c(*{})",
        "win": "PMPI_Win_f2c(*{})",
        "message": "PMPI_Message_f2c(*{})",
        "index": "{}, 1",
        "indices": "{}, 1",
        "status": "{}, 1",
    },
    other_value="(*{})",
)
"""Indices of Fortran begin at 1."""


def declared_functions(preprocessed: str) -> frozenset[str]:
    """The functions that a preprocessed ``mpi.h`` declares with PMPI_, without this prefix."""
    return frozenset(re.findall(r"\bPMPI_(\w+)\s*\(", preprocessed))


def c_source(declared: Collection[str]) -> str:
    """The wrappers of the C binding around the functions that the MPI declares."""
    texts = [
        _c_wrapper(function, ending)
        for function in wrapped_functions()
        for ending in ("", "_c")
        if function.name + ending in declared
    ]
    return "\n".join(['#include "counting.h"', *texts])


def fortran_source() -> str:
    """The wrappers of both bindings of Fortran."""
    return "\n".join(['#include "counting.h"', *map(_fortran_wrapper, wrapped_functions())])


def _c_wrapper(function: WrappedFunction, ending: str) -> str:
    wide = {"COUNT": "MPI_Count", "DISPLACEMENT": "MPI_Aint"}
    narrow = {"COUNT": "int", "DISPLACEMENT": "int"}
    types = wide if ending else narrow
    names = function.parameters
    declared = ", ".join(C.declarations(names))
    declared = re.sub("COUNT|DISPLACEMENT", lambda word: types[word.group()], declared)
    call = f"PMPI_{function.name}{ending}({', '.join(names)})"
    return _body(
        f"MA_EXPORT int MPI_{function.name}{ending}({declared})",
        [
            f"    if (!{function.entry}) return {call};",
            *[f"    {C.put(line, names)}" for line in function.before],
            f"    int code = {call};",
            "    if (ma_leave(code)) {",
            *[f"        {C.put(line, names)}" for line in function.after],
            "    }",
            *[f"    {C.put(line, names)}" for line in function.finally_],
            "    return code;",
        ],
    ).replace(f'"MPI_{function.name}"', f'"MPI_{function.name}{ending}"')


def _fortran_wrapper(function: WrappedFunction) -> str:
    names = function.parameters
    low = function.name.lower()
    declared = ", ".join(FORTRAN.declarations((*names, "ierror")))
    passed = ", ".join((*names, "ierror"))
    body = _body(
        f"typedef void {low}_function({declared});\n"
        f"static void counted_{low}({low}_function *real, int module, {declared})",
        [
            "    MPI_Fint own_code;",
            "    if (!ierror) ierror = &own_code;",
            f"    if (ma_counted_in_c(module) || !{function.entry}) {{",
            f"        real({passed});",
            "        return;",
            "    }",
            *[f"    {FORTRAN.put(line, names)}" for line in function.before],
            f"    real({passed});",
            "    if (ma_leave(*ierror)) {",
            *[f"        {FORTRAN.put(line, names)}" for line in function.after],
            "    }",
            *[f"    {FORTRAN.put(line, names)}" for line in function.finally_],
        ],
    )
    entries = [
        _body(
            f"MA_EXPORT void mpi_{low}_{ending}({declared})",
            [
                f"    static {low}_function *real;",
                f'    if (!real) real = ({low}_function *)ma_real("mpi_{low}_{ending}");',
                f"    counted_{low}(real, {module}, {passed});",
            ],
        )
        for module, ending in (("MA_MPIF", ""), ("MA_F08", "f08_"))
    ]
    return "\n".join([body, *entries])


def _body(head: str, lines: list[str]) -> str:
    return "\n".join([head, "{", *lines, "}", ""])


# --- what is wrapped ----------------------------------------------------------------------------


def wrapped_functions() -> Iterator[WrappedFunction]:
    """All functions that carry messages, and those that start, complete and free requests."""
    yield from map(_counting, message_calls())
    yield from map(_completing, *zip(*_COMPLETIONS, strict=True))
    yield WrappedFunction(name="Start", parameters=("requests",), after=("ma_start(1, requests);",))
    yield WrappedFunction(
        name="Startall",
        parameters=("incount", "requests"),
        after=("ma_start(incount, requests);",),
    )
    yield WrappedFunction(
        name="Request_free", parameters=("requests",), before=("ma_release(requests);",)
    )
    yield WrappedFunction(
        name="Session_init",
        parameters=("info", "handler", "session"),
        after=("ma_session();",),
        entry="1",
    )
    for name, words, there in (
        ("Mprobe", "source tag comm message status", ""),
        ("Improbe", "source tag comm flag message status", "if (flag) "),
    ):
        yield WrappedFunction(
            name=name,
            parameters=tuple(words.split()),
            after=(f"{there}ma_probed(message, ranks_of(comm));",),
        )


_COMPLETIONS: tuple[tuple[str, str, str], ...] = (
    ("Wait", "requests status", "1, NULL, 0"),
    ("Waitall", "incount requests status", "incount, NULL, 0"),
    ("Waitany", "incount requests index status", "1, index"),
    ("Waitsome", "incount requests outcount indices status", "outcount, indices"),
    ("Test", "requests flag status", "flag != 0, NULL, 0"),
    ("Testall", "incount requests flag status", "flag ? incount : 0, NULL, 0"),
    ("Testany", "incount requests index flag status", "flag != 0, index"),
    ("Testsome", "incount requests outcount indices status", "outcount, indices"),
)
"""Name, parameters; how many requests are complete, the list of these and its first index."""


def _completing(name: str, words: str, complete: str) -> WrappedFunction:
    parameters = tuple(words.split())
    number = "incount" if "incount" in parameters else "1"
    return WrappedFunction(
        name=name,
        parameters=parameters,
        entry="ma_enter_completion()",
        before=(
            "struct ma_batch batch;",
            f"ma_take_batch(&batch, {number}, requests);",
            "OWN_STATUS(batch.receives, ma_batch_statuses(&batch), status);",
        ),
        after=(f"ma_settle_batch(&batch, {complete}, status);",),
        finally_=("ma_end_batch(&batch);",),
    )


def _counting(call: MessageCall) -> WrappedFunction:
    before, after, finally_ = [], [], []
    if "message" in call.parameters:
        finally_.append("ma_drop_ranks(message_ranks);")
        before.append("struct ma_ranks *message_ranks = ma_unprobed(message);")
    if "status" in call.parameters:
        before.append("MPI_Status own_status;")
        before.append("OWN_STATUS(1, (void *)&own_status, status);")
    for message in call.messages:
        text = f'"MPI_{call.name}"'
        if message.size == ARRIVED:
            after.append(_arriving(call, text))
        else:
            keep = "ma_keep(request, " if call.form == "persistent" else "ma_count_message("
            kind = f"MA_{message.kind.upper()}"
            peer = _peer(call, message)
            after.append(f'{keep}{kind}, {text}, "{call.operation}", {message.size}, {peer});')
    return WrappedFunction(
        name=call.name,
        parameters=call.parameters,
        before=tuple(before),
        after=tuple(after),
        finally_=tuple(finally_),
    )


def _arriving(call: MessageCall, name: str) -> str:
    """The statement that counts a receive when its message has arrived."""
    ranks = "message_ranks" if "message" in call.parameters else "ranks_of(comm)"
    if call.form == "blocking":
        return f"ma_received({name}, {ranks}, status);"
    there = "if (source != MPI_PROC_NULL) " if "source" in call.parameters else ""
    return f"{there}ma_expect(request, {name}, {ranks}, {int(call.form == 'persistent')});"


def _peer(call: MessageCall, message: CountedMessage) -> str:
    if message.kind == "coll":
        return f"taking_part({message.peer})" if message.peer else "NO_PEER"
    if "win" in call.parameters:
        return f"rank_in_window(win, {message.peer})"
    return f"rank_in(ranks_of(comm), {message.peer})"
