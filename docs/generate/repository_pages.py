"""Pages that are files of the repository: README, CONTRIBUTING, CHANGELOG, the map, folders."""

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "house.md": "autotune/README.md",
    "files/kernels.md": "kernels/README.md",
    "files/variants.md": "variants/README.md",
    "files/programs.md": "variants/program/README.md",
    "files/machines.md": "machines/README.md",
}
"""Path of the page in the site: its file in the repository."""
GENERATED = {
    "reference/files/config.md": "schemas/config.json",
    "reference/files/index.md": "schemas",
}
"""Path of a generated page in the site: what has the same in the repository, as JSON schemas."""
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")


def pages() -> dict[str, str]:
    """The Markdown of every page, links made to fit its place in the site."""
    return {
        page: adapted((ROOT / source).read_text(encoding="utf-8"), source, page)
        for page, source in PAGES.items()
    }


def adapted(text: str, source: str, page: str) -> str:
    """The text of a file with its links between files as links between pages.

    A link to a file that is no page becomes its words: the site is read without the repository.
    """
    places = {file: target for target, file in {**PAGES, **GENERATED}.items()}

    def replaced(match: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        target = places.get(file) or (file[5:] if file.startswith("docs/") else None)
        if target is None:
            return match[1]
        start = posixpath.dirname(page) or "."
        return f"[{match[1]}]({posixpath.relpath(target, start)}{match[3] or ''})"

    return _LINK.sub(replaced, text)
