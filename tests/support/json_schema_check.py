"""What of a plain value a JSON Schema does not allow: the keywords that our own schemas use."""

import re
from collections.abc import Iterator, Mapping

TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool,
    "array": list, "object": dict, "null": type(None),
}  # fmt: skip
WORDS = {"$schema", "title", "description", "examples", "default", "$defs"}


def faults(schema, value, root=None, at=""):
    """Where a value is not what a schema allows, and why; keywords that are not known raise."""
    root = schema if root is None else root
    return list(_faults(schema, value, root, at))


def _faults(schema, value, root, at) -> Iterator[str]:
    if "$ref" in schema:
        yield from _faults(root["$defs"][schema["$ref"].rpartition("/")[2]], value, root, at)
    for keyword, allowed in schema.items():
        if keyword in WORDS or keyword == "$ref":
            continue
        check = CHECKS[keyword]
        yield from (f"{at or 'top'}: {text}" for text in check(allowed, value, schema))
    yield from _inside(schema, value, root, at)


def _inside(schema, value, root, at) -> Iterator[str]:
    options = schema.get("anyOf")
    if options and all(faults(each, value, root, at) for each in options):
        yield f"{at}: {value!r} is none of what is allowed"
    if isinstance(value, list):
        kinds = schema.get("prefixItems") or [schema.get("items", {})] * len(value)
        for i, (kind, item) in enumerate(zip(kinds, value, strict=False)):
            yield from _faults(kind, item, root, f"{at}.{i}")
    if isinstance(value, dict):
        keys, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        for name, item in value.items():
            if name in keys:
                yield from _faults(keys[name], item, root, f"{at}.{name}")
            elif others is False:
                yield f"{at}: unknown key {name!r}"
            else:
                yield from _faults(others, item, root, f"{at}.{name}")


def _type(allowed, value, _):
    names = allowed if isinstance(allowed, list) else [allowed]
    if (isinstance(value, bool) and "boolean" not in names) or not any(
        isinstance(value, TYPES[name]) for name in names
    ):
        yield f"{value!r} is not {allowed}"


def _least(measure):
    return lambda bound, value, _: [f"below {bound}"] if measure(value, bound) < bound else []


def _most(measure):
    return lambda bound, value, _: [f"above {bound}"] if measure(value, bound) > bound else []


def _size(kind):
    return lambda value, bound: len(value) if isinstance(value, kind) else bound


def _number(value, bound):
    return value if isinstance(value, int | float) else bound


def _nothing(*_):
    return ()


CHECKS = {
    "type": _type,
    "enum": lambda names, value, _: [] if value in names else [f"{value!r} is not in {names}"],
    "const": lambda only, value, _: [] if value == only else [f"{value!r} is not {only!r}"],
    "required": lambda names, value, _: [
        f"no key {name!r}" for name in names if isinstance(value, dict) and name not in value
    ],
    "pattern": lambda form, value, _: [
        f"{value!r} is not {form}"
        for _ in [0]
        if isinstance(value, str) and not re.search(form, value)
    ],
    "minLength": _least(_size(str)),
    "minItems": _least(_size(list)),
    "maxItems": _most(_size(list)),
    "minProperties": _least(_size(dict)),
    "maxProperties": _most(_size(dict)),
    "minimum": _least(_number),
    "maximum": _most(_number),
    "exclusiveMinimum": lambda bound, value, _: [
        f"not above {bound}" for _ in [0] if _number(value, bound + 1) <= bound
    ],
    "exclusiveMaximum": lambda bound, value, _: [
        f"not below {bound}" for _ in [0] if _number(value, bound - 1) >= bound
    ],
    **dict.fromkeys(
        ["properties", "additionalProperties", "items", "prefixItems", "anyOf"], _nothing
    ),
}
