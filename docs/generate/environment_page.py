"""The reference page of environment variables, from the list in the package."""

from schema_pages import cell

from autotune.commands.environment_variables import VARIABLES

_HEADS = {
    "user": "You may set",
    "autotune": "Set by autotune for programs that it starts",
    "developer": "For tests and benchmarks",
}


def pages() -> dict[str, str]:
    """The Markdown of the page by its path."""
    lines = ["# Environment variables", ""]
    for who, head in _HEADS.items():
        lines += [f"## {head}", "", "| variable | meaning |", "|---|---|"]
        lines += [f"| `{v.name}` | {cell(v.about)} |" for v in VARIABLES if v.set_by == who]
        lines.append("")
    return {"reference/environment.md": "\n".join(lines)}
