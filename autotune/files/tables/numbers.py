"""Numbers as files write them."""


def to_number(text: str) -> float | None:
    """The number that a text is, infinite and nan too; None for other text.

    >>> to_number(" 1e3 "), to_number("1_000"), to_number("")
    (1000.0, None, None)
    """
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
