"""Reference pages of YAML files, JSON files and documents, from what `autotune schema` prints."""

from collections.abc import Iterator, Mapping
from typing import Any

from autotune.commands.schema.document import SchemaKind
from autotune.commands.schema.flow import kinds, schema_of

Schema = Mapping[str, Any]

FORMS = {
    "file": ("files", "YAML files"),
    "data": ("data", "JSON files"),
    "document": ("documents", "JSON documents"),
}
"""Form of a kind: the folder of its pages, and their title."""
_BOUNDS = {
    "minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<",
}  # fmt: skip


def pages() -> dict[str, str]:
    """The Markdown of every page by its path: one per kind, and a list per form."""
    every = kinds()
    text = {_path(kind): page(kind, schema_of(kind.key)) for kind in every}
    for form in FORMS:
        text[f"reference/{FORMS[form][0]}/index.md"] = _list(form, every)
    return text


def page(kind: SchemaKind, schema: Schema) -> str:
    """The page of one kind: its own keys first, then those of what it contains."""
    lines = [f"# {kind.name}", "", cell(kind.about), ""]
    key = {"file": "A file of this kind begins", "data": "Its key `schema` is"}.get(
        kind.form, "The first key of the document is"
    )
    lines += [f"{key} `schema: {kind.key}`. The same as JSON Schema:", ""]
    lines += ["```sh", f"autotune schema {kind.name}", "```", ""]
    lines += _keys(schema)
    for name, part in schema.get("$defs", {}).items():
        lines += ["", f"## {name}", "", cell(part.get("description", "")), "", *_keys(part)]
    return "\n".join(lines) + "\n"


def _list(form: str, every: tuple[SchemaKind, ...]) -> str:
    lines = [f"# {FORMS[form][1]}", "", "| kind | what it is |", "|---|---|"]
    lines += [f"| [{k.name}]({k.name}.md) | {cell(k.about)} |" for k in every if k.form == form]
    return "\n".join(lines) + "\n"


def _path(kind: SchemaKind) -> str:
    return f"reference/{FORMS[kind.form][0]}/{kind.name}.md"


def _keys(schema: Schema) -> list[str]:
    """The table of the keys of an object, keys of inner objects as ``outer.inner``."""
    rows = [*_rows(schema, "")]
    other = schema.get("additionalProperties")
    if isinstance(other, Mapping) and other:
        rows.append(f"| any name | {type_words(other)} | | |")
    if not rows:
        return [f"{type_words(schema)}."]
    return ["| key | value | default | meaning |", "|---|---|---|---|", *rows]


def _rows(schema: Schema, prefix: str) -> Iterator[str]:
    needed = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        default = f"`{part['default']}`" if "default" in part else ""
        default = "required" if name in needed and not default else default
        yield (
            f"| `{prefix}{name}` | {type_words(part)} | {default} |"
            f" {cell(part.get('description', ''))} |"
        )
        yield from _rows(part, f"{prefix}{name}.")


def type_words(schema: Schema) -> str:
    """What a value may be, in words, with links to the sections of classes."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_words(part) for part in schema["anyOf"]))
    kinds_of = schema.get("type", "any value")
    names = [kinds_of] if isinstance(kinds_of, str) else [*kinds_of]
    return " or ".join(_named(name, schema) for name in names) + _example(schema)


def _named(name: str, schema: Schema) -> str:
    if name == "array" and "prefixItems" in schema:
        return "[" + ", ".join(type_words(part) for part in schema["prefixItems"]) + "]"
    if name == "array":
        return f"list of {type_words(schema.get('items', {}))}"
    if name == "object":
        value = schema.get("additionalProperties")
        words = type_words(value) if isinstance(value, Mapping) and value else ""
        return f"names with {words}" if words else "object"
    limits = [f"{sign} {schema[key]}" for key, sign in _BOUNDS.items() if key in schema]
    words = {"null": "`null`", "string": "text", "boolean": "`true`, `false`"}.get(name, name)
    return " ".join([words, *limits]) if name in ("number", "integer") else words


def _example(schema: Schema) -> str:
    examples = schema.get("examples", ())
    return f", such as `{examples[0]}`" if examples else ""


def cell(text: str) -> str:
    """Text for a cell of a table: one line, bars escaped, reST's double ticks single."""
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|").replace("<", "&lt;")
