"""The hooks of mkdocs: pages that are generated at every build, so that none can go stale."""

import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[2])]

import command_pages  # noqa: E402
import environment_page  # noqa: E402
import glossary_page  # noqa: E402
import repository_pages  # noqa: E402
import schema_pages  # noqa: E402
from mkdocs.structure.files import File  # noqa: E402

REFERENCE = "Reference"
"""The section of the navigation that gets the generated pages."""


def generated_pages() -> dict[str, str]:
    """The Markdown of every generated page by its path in the site."""
    sources = (
        repository_pages, command_pages, schema_pages, environment_page, glossary_page,
    )  # fmt: skip
    return {path: text for source in sources for path, text in source.pages().items()}


def on_config(config: Any) -> Any:
    """Put the pages of commands, files and documents into the navigation."""
    for section in config.nav:
        if REFERENCE in section:
            section[REFERENCE] += [
                {"Commands": _in_folder("reference/commands", command_pages.pages())},
                *(
                    {title: _in_folder(f"reference/{folder}", schema_pages.pages())}
                    for folder, title in schema_pages.FORMS.values()
                ),
            ]
    return config


def _in_folder(folder: str, pages: dict[str, str]) -> list[str]:
    return [path for path in pages if path.startswith(f"{folder}/")]


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages to those that lie in the folder."""
    for path, text in generated_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to files of the repository that are no pages into words."""
    path = page.file.src_uri
    if page.file.generated_by is not None:
        return markdown
    return repository_pages.adapted(markdown, f"docs/{path}", path)
