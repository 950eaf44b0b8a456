"""``autotune schema``: the JSON Schemas of YAML files and documents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands.options import Json, command, command_options
from autotune.commands.output import document

if TYPE_CHECKING:
    from autotune.commands.schema.document import SchemaKind

EPILOG = "Example: autotune schema machine > machine.json; autotune schema lists the kinds"


@command_options
class SchemaOptions:
    """Options of ``autotune schema``, in the order of its help."""

    kind: Annotated[
        str,
        typer.Argument(
            help="A kind of YAML file, such as machine or config, or of document, such as rank;"
            " all are listed if left out."
        ),
    ] = ""
    json: Json = False


@command
def schema(options: SchemaOptions) -> None:
    """Print the JSON Schema of a kind of file or document.

    Files that only benchmarks/ reads are not among the kinds. Their schemas, published.json and
    published-table.json in schemas/, are kept by hand.
    """
    from autotune.commands.schema.document import SchemaDocument
    from autotune.commands.schema.flow import kinds, schema_of

    if options.kind:
        document(schema_of(options.kind))
    elif options.json:
        document(SchemaDocument(kinds=kinds()))
    else:
        typer.echo(_text(kinds()))


_TITLES = (("file", "YAML files"), ("data", "JSON files"), ("document", "documents (--json)"))


def _text(kinds: "Sequence[SchemaKind]") -> str:
    """The kinds with their descriptions as text, files first."""
    width = max(len(kind.name) for kind in kinds)
    lines = []
    for form, title in _TITLES:
        lines.append(f"{title}:")
        lines += [f"  {k.name:{width}}  {k.about}" for k in kinds if k.form == form]
    return "\n".join(lines)
