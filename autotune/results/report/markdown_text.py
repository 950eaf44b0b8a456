"""Text in Markdown, as the summaries of jobs and merge requests show it."""

_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#|~!&"} | {"\n": " ", "\r": " "})


def plain(text: str) -> str:
    r"""Text in which nothing is a mark of Markdown or HTML.

    >>> plain("a|b_c")
    'a\\|b\\_c'
    """
    return text.translate(_SPECIAL)
