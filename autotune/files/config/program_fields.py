"""The kinds of values in models of external programs: formulas, shares, reuse distances."""

from typing import Annotated

from autotune.files.config.fields import Read
from autotune.files.config.yaml_document import describe
from autotune.language.constraint import Condition
from autotune.units import parse as parse_quantity

_NEVER = "never"


def formula(found: object) -> Condition:
    """An expression that gives a number, or a plain number."""
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        raise ValueError(f"{describe(found)} is not a formula")
    try:
        return Condition(str(found))
    except ValueError as error:
        raise ValueError(str(error).replace("a condition", "a formula")) from error


def terms(found: object) -> dict[str, Condition]:
    """One formula, or several by name, which are added up."""
    if not isinstance(found, dict):
        return {"formula": formula(found)}
    if not found:
        raise ValueError("no formula")
    made = {}
    for name, text in found.items():
        try:
            made[name] = formula(text)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return made


def value(found: object) -> Condition:
    """An expression that gives any value; text without operators is a name."""
    if found is None or isinstance(found, bool):
        return Condition({None: "null", True: "true", False: "false"}[found])
    return formula(found)


def reuse(found: object) -> Condition | None:
    """A formula for bytes, or ``never``."""
    return None if found == _NEVER else formula(found)


def share(found: object) -> float:
    """A share above 0: ``30 %`` or 0.3."""
    text = str(found).strip()
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = -1.0
    if isinstance(found, bool) or not 0 < number <= 10:
        raise ValueError(f"{describe(found)} is not a share such as 30 %")
    return number


def element(found: object) -> int:
    """Bytes of an element: ``4 B``, or a whole number of them."""
    number = parse_quantity(found, "size") if isinstance(found, str) else found
    if isinstance(number, bool) or not isinstance(number, int | float) or number != int(number):
        raise ValueError(f"{describe(found)} is not a whole number of bytes")
    if not 1 <= number <= 64:
        raise ValueError(f"an element has 1 to 64 B, not {int(number)}")
    return int(number)


Formula = Annotated[Condition, Read(formula, "1")]
Terms = Annotated[dict[str, Condition], Read(terms, "1")]
Where = dict[str, Annotated[Condition, Read(value, "1")]]
AnyFormula = Annotated[Condition, Read(value, "1")]
Reuse = Annotated[Condition | None, Read(reuse, "1")]
Share = Annotated[float, Read(share, 0.3)]
Element = Annotated[int, Read(element, 8)]
