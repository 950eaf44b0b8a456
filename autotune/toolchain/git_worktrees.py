"""Revisions of a user's git repository, checked out beside the working tree.

The working tree, its index and its branches are never touched: a revision is a worktree of its own
(``git worktree add --detach``) among the temporary files, which is removed at the end of the block,
also after Ctrl-C. What a killed process left is removed by the next one.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autotune import paths
from autotune.errors import Fault, InputError, WorkFailed, nearest
from autotune.toolchain import child_process
from autotune.toolchain.scratch_folder import temporary_folder

WORKING_TREE = "."
"""The name that stands for the working tree as it is, in place of a revision."""
_SCRATCH = "autotune-revision-"
"""What the names of the folders begin with that hold worktrees."""
_LIMIT = 120.0
"""Seconds of a git command."""
_SHORT = 10
"""Digits of a commit that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitRevision:
    """A commit by the name that a user gave it, or the working tree."""

    name: str
    """As given: ``HEAD~1``."""
    commit: str
    """All digits; empty for the working tree."""
    subject: str
    """The first line of its message."""

    @property
    def words(self) -> str:
        """The revision for a person: ``HEAD~1 (1f2e3d4c5b, tile the inner loop)``."""
        if not self.commit:
            return f"the working tree ({self.subject})"
        return f"{self.name} ({self.commit[:_SHORT]}, {self.subject})"


@dataclass(frozen=True, slots=True)
class GitRepository:
    """The git repository that a file of a user lies in."""

    root: Path

    @classmethod
    def of(cls, file: Path) -> "GitRepository":
        """The repository of a file; InputError where it lies in none."""
        folder = paths.absolute(file).parent
        if not folder.is_dir():
            raise InputError(Fault(where=str(file), found="no such file"))
        outcome = _git(folder, "rev-parse", "--show-toplevel")
        if outcome.code != 0:
            raise InputError(
                Fault(
                    where=str(file),
                    found="it lies in no git repository",
                    expected="a config that is kept in git with the sources that it names",
                    hint="git init; git add; git commit",
                )
            )
        return cls(paths.absolute(Path(outcome.out.rstrip("\n"))))

    def revision(self, name: str, option: str) -> GitRevision:
        """The commit of a name; ``.`` is the working tree. InputError suggests the nearest name of
        a branch or tag.
        """
        if name == WORKING_TREE:
            changed = self.uncommitted()
            state = f"{len(changed)} files not committed" if changed else "nothing uncommitted"
            return GitRevision(name=name, commit="", subject=state)
        # an option of git cannot hide behind a name
        answer = _git(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options",
                     f"{name}^{{commit}}")  # fmt: skip
        if answer.code != 0:
            known_names = _git(self.root, "for-each-ref", "--format=%(refname:short)").out.split()
            raise InputError(
                Fault(
                    where=option,
                    found=f"{name!r} is no revision of {self.root}",
                    expected=f"a commit, branch or tag, or {WORKING_TREE} for the working tree",
                    hint=nearest(name, known_names) or _shallow(self.root),
                )
            )
        commit = answer.out.strip()
        subject = _git(self.root, "log", "-1", "--format=%s", commit).out.strip()
        return GitRevision(name=name, commit=commit, subject=subject)

    def uncommitted(self) -> tuple[str, ...]:
        """Files of the working tree that differ from the last commit, or that git does not keep."""
        # a rename takes two entries of which the second has no state
        listed = _git(self.root, "status", "--porcelain", "-z", "--no-renames").out
        return tuple(entry[3:] for entry in listed.split("\0") if entry)

    def within(self, file: Path) -> Path:
        """The path of a file relative to the root."""
        return paths.absolute(file).relative_to(self.root)

    @contextlib.contextmanager
    def checked_out(self, revision: GitRevision) -> Iterator[Path]:
        """A folder with the files of a revision, removed at the end of the block; the root itself
        for the working tree.

        WorkFailed with git's words where it cannot be made.
        """
        if not revision.commit:
            yield self.root
            return
        self._remove_left()
        with temporary_folder(_SCRATCH) as scratch:
            folder = scratch / self.root.name
            try:
                added = _git(self.root, "worktree", "add", "--detach", str(folder), revision.commit)
                if added.code != 0:
                    raise WorkFailed(f"git cannot check out {revision.words}: {added.describe()}")
                yield folder
            finally:
                self._remove(folder)

    def _remove(self, folder: Path) -> None:
        """Remove a worktree, also one that git was interrupted in making and so keeps locked."""
        _git(self.root, "worktree", "unlock", str(folder))
        _git(self.root, "worktree", "remove", "--force", "--force", str(folder))
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _git(self.root, "worktree", "remove", "--force", "--force", str(folder))

    def _remove_left(self) -> None:
        """Forget the worktrees of processes that were killed; those of the user, which may lie on a
        disk that is not there now, are kept (``git worktree prune`` would forget them too).
        """
        for line in _git(self.root, "worktree", "list", "--porcelain").out.splitlines():
            folder = Path(line.removeprefix("worktree "))
            ours = line.startswith("worktree ") and folder.parent.name.startswith(_SCRATCH)
            if ours and not folder.exists():
                self._remove(folder)


def _shallow(root: Path) -> str:
    """A hint where the repository was cloned without its history."""
    answer = _git(root, "rev-parse", "--is-shallow-repository")
    if answer.out.strip() == "true":
        return "this is a shallow clone: fetch the history (fetch-depth: 0, GIT_DEPTH: 0)"
    return ""


def _git(folder: Path, *words: str) -> child_process.ProcessOutcome:
    """A git command in a folder; variables by which a hook names another repository are not set."""
    variables = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "core.quotePath=false", "-c", "advice.detachedHead=false", *words]
    return child_process.run(command, timeout=_LIMIT, environment=variables, folder=folder)
