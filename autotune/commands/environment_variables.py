"""The environment variables that autotune and what it generates read."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentVariable:
    """A variable, who sets it, and what it changes."""

    name: str
    set_by: Literal["user", "autotune", "developer"]
    """``autotune`` sets it for programs that it starts; ``developer``: for tests and benchmarks."""
    about: str
    """What it is for, and what holds without it."""


VARIABLES: tuple[EnvironmentVariable, ...] = (
    EnvironmentVariable(
        name="AUTOTUNE_STORE",
        set_by="user",
        about="The results file (SQLite) or database URL, as `--store` says it. Without it: "
        "`autotune-results.sqlite` in the working folder.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_CACHE",
        set_by="user",
        about="The folder of cached builds and analyses; may be deleted at any time. Without it: "
        "`autotune` in `XDG_CACHE_HOME`, else `~/.cache/autotune`.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_DATA",
        set_by="user",
        about="The folder of calibrations of this host. Without it: `autotune` in `XDG_DATA_HOME`, "
        "else `~/.local/share/autotune`.",
    ),
    EnvironmentVariable(
        name="COLUMNS",
        set_by="user",
        about="How wide text is laid out. Without it: as the terminal; in a pipe or file one row "
        "per line, however long.",
    ),
    EnvironmentVariable(
        name="NO_COLOR",
        set_by="user",
        about="Set to anything: no colours. Without it: colours on a terminal.",
    ),
    EnvironmentVariable(
        name="FORCE_COLOR",
        set_by="user",
        about="Set to anything: colours in pipes and files too, unless `NO_COLOR` is set.",
    ),
    EnvironmentVariable(
        name="XDG_CACHE_HOME",
        set_by="user",
        about="Where caches go on this system; `AUTOTUNE_CACHE` comes first.",
    ),
    EnvironmentVariable(
        name="XDG_DATA_HOME",
        set_by="user",
        about="Where data go on this system; `AUTOTUNE_DATA` comes first.",
    ),
    EnvironmentVariable(
        name="PATH",
        set_by="user",
        about="Where compilers, launchers and programs are looked for.",
    ),
    EnvironmentVariable(
        name="NO_COLOR",
        set_by="user",
        about="Set to anything but nothing: no colours in the terminal.",
    ),
    EnvironmentVariable(
        name="<LIBRARY>_WISDOM",
        set_by="user",
        about="In an application with an exported library (`HEAT2D_WISDOM` for heat2d): the file "
        "of wisdom that the library reads, where the call names none.",
    ),
    EnvironmentVariable(
        name="<LIBRARY>_LIBRARY",
        set_by="user",
        about="The shared library that the Python module of an exported library loads. Without it: "
        "the one beside the module.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_ASSERT",
        set_by="autotune",
        about="Turns the library of assertions on, and names the folder of its records. `autotune "
        "assert run` sets it; without it the library does nothing.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_ASSERT_RUN",
        set_by="autotune",
        about="The name of the run in the records. Without it, the program makes one.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_ASSERT_EVENTS",
        set_by="autotune",
        about="`1`: every message is also kept as an event (`RUN.RANK.events.jsonl`).",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_ASSERT_PAPI",
        set_by="user",
        about="`0`: operations are not counted by hardware counters during the run.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_ASSERT_PCONTROL",
        set_by="user",
        about="`named`: the second argument of `MPI_Pcontrol` is the name of a region. Without it, "
        "regions are called `pcontrol n`.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_PIN",
        set_by="autotune",
        about="`1`: each thread of a rank gets a core, where the ranks of a node were given the "
        "same CPUs.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_PACED",
        set_by="autotune",
        about="`1`: a measuring program waits after each sample until it has been kept.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_PDEATHSIG",
        set_by="autotune",
        about="`1`: a program ends when the process that started it ends.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_NICE",
        set_by="autotune",
        about="The priority that the network benchmark asks for; it says whether it got it.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_GOLDEN",
        set_by="developer",
        about="`1`: tests write their golden samples anew instead of comparing with them.",
    ),
    EnvironmentVariable(
        name="AUTOTUNE_PEERS",
        set_by="developer",
        about="A folder of virtual environments with other tuners, which the tests of replays are "
        "compared with.",
    ),
)
"""In the order of the reference: those of users first."""
