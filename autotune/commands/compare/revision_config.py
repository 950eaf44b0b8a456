"""The config of a user in another revision of its repository."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autotune.commands.rank.ranked_space import load
from autotune.errors import AutotuneError
from autotune.toolchain.git_worktrees import GitRepository, GitRevision
from autotune.workloads.base import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionConfig:
    """A config as a revision has it: its workload, or why there is none."""

    revision: GitRevision
    workload: Workload | None
    fault: str = ""


@contextlib.contextmanager
def config_at(
    repository: GitRepository, revision: GitRevision, config: Path
) -> Iterator[RevisionConfig]:
    """The config in a worktree of a revision, which is there until the block is left.

    A config that does not exist there, or is wrong, is a result with its fault.
    """
    with repository.checked_out(revision) as folder:
        path = folder / repository.within(config)
        workload, fault = _loaded(path, folder, revision)
        yield RevisionConfig(revision=revision, workload=workload, fault=fault)


def _loaded(path: Path, folder: Path, revision: GitRevision) -> tuple[Workload | None, str]:
    if not path.is_file():
        return None, f"{path.relative_to(folder)} does not exist in this revision"
    try:
        workload = load(path)
        workload.check()
    except AutotuneError as error:
        said = str(error).replace(f"{folder}/", "")
        return None, said + _submodule_of(said, folder)
    for source in workload.setup.subject.source_folders:
        if revision.commit and not Path(source).is_relative_to(folder):
            return None, (
                f"source_folder: {source} is a path outside of the revision, so that the files of"
                " the working tree would be built; write it relative to the program's file"
            )
    return workload, ""


def _submodule_of(said: str, folder: Path) -> str:
    """That what a fault misses is in a submodule, which no worktree has; empty if it is not."""
    listing = folder / ".gitmodules"
    if not listing.is_file():
        return ""
    text = listing.read_text(encoding="utf-8", errors="replace")
    for name in re.findall(r"^\s*path\s*=\s*(.+?)\s*$", text, re.M):
        if re.search(rf"(^|[/'\s]){re.escape(name)}($|[/'\s])", said):
            return f" ({name} is a submodule: the files of a revision are checked out without them)"
    return ""
