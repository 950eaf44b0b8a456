"""The kinds of files and documents, and the schema of each."""

from autotune.commands.documents import documents
from autotune.commands.schema.document import SchemaKind
from autotune.errors import InputError, unknown_name
from autotune.files.config.kinds import DATA, FILES, SOURCED
from autotune.files.json_schema import Schema, about, data_schema, document_schema, file_schema


def kinds() -> tuple[SchemaKind, ...]:
    """Every kind of YAML file, then those of JSON files, then every kind of document."""
    files = [
        SchemaKind(name=_name(key), key=key, form="file", about=about(kind))
        for key, kind in FILES.items()
    ]
    data = [
        SchemaKind(name=_name(key), key=key, form="data", about=about(kind))
        for key, kind in DATA.items()
    ]
    printed = [
        SchemaKind(name=_name(key), key=key, form="document", about=about(kind))
        for key, kind in documents().items()
    ]
    return (*files, *data, *printed)


def schema_of(name: str) -> Schema:
    """The JSON Schema of a kind by its name, ``machine`` or ``autotune.machine/1``.

    Raises InputError for an unknown kind.
    """
    for kind in kinds():
        if name in (kind.name, kind.key, kind.key.partition("/")[0]):
            if kind.form == "document":
                return document_schema(kind.key, documents()[kind.key])
            if kind.form == "data":
                return data_schema(kind.key, DATA[kind.key])
            return file_schema(kind.key, FILES[kind.key], sourced=kind.key in SOURCED)
    plain = name.removeprefix("autotune.")
    raise InputError(unknown_name("KIND", "kind", plain, [kind.name for kind in kinds()]))


def _name(key: str) -> str:
    """The short name of a kind: ``machine`` for ``autotune.machine/1``."""
    return key.removeprefix("autotune.").partition("/")[0]
