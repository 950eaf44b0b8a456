"""Shortens SVG text to a third of its length, as a page holds several dozen figures."""

import re

_TAG = re.compile(r"<[^>]*>")
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_FONTS = re.compile(r"font-family: *[^;\"]*;? ?")
_REFERENCE = re.compile(r'(?:url\(#|href="#)([^)"]+)')
_ID = re.compile(r' id="([^"]*)"')
_STYLE = re.compile(r' style="[^"]*"')
_ALONE = re.compile(r"<g>(<(?:use|path)[^>]*/>|<text[^>]*>[^<]*</text>)</g>")


def compact(text: str, prefix: str = "i") -> str:
    r"""SVG that draws the same with coordinates to a hundredth of a point and without unused ids.

    ``text``: elements of matplotlib's SVG with text kept as text; that content is left unchanged,
    and its font is inherited from the page. The remaining ids begin with ``prefix``.

    >>> compact('<g id="a">\n <path id="b" d="M 0.12345 1 \nL 2 3 \n"/>\n</g>')
    '<path d="M 0.12 1 L 2 3"/>'
    """
    referred = dict.fromkeys(_REFERENCE.findall(text))
    names = {name: f"{prefix}{number}" for number, name in enumerate(referred)}

    def tag(match: re.Match[str]) -> str:
        short = _REFERENCE.sub(
            lambda m: m.group().replace(m.group(1), names[m.group(1)]), match.group()
        )
        short = " ".join(short.split())
        short = _NUMBER.sub(lambda number: _rounded(number.group()), short)
        short = re.sub(r' transform="rotate\(-?0 [^"]*"', "", _FONTS.sub("", short))
        short = _ID.sub(
            lambda m: f' id="{names[m.group(1)]}"' if m.group(1) in names else "", short
        )
        short = _STYLE.sub(lambda m: re.sub(r"([:;]) ", r"\1", m.group()), short)
        return short.replace(' style=""', "").replace(' "', '"')

    text = re.sub(r">\s+<", "><", _TAG.sub(tag, text))
    before = ""
    while before != text:
        before = text
        text = _ALONE.sub(r"\1", text).replace("<g></g>", "").replace("<defs></defs>", "")
    return text.strip()


def _rounded(number: str) -> str:
    text = f"{float(number):.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
