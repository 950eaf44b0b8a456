"""Units of time as programs print them, and as descriptions of programs write them."""

import re

TIME_UNITS = {
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("us", "usec", "usecs", "\u00b5s", "\u03bcs"), "us"),
    **dict.fromkeys(("microsec", "microsecs", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("ms", "msec", "msecs", "millisec", "millisecs"), "ms"),
    **dict.fromkeys(("millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hour", "hours"), "h"),
}
"""A spelling in small letters to the unit that a description has."""


def _spelling(name: str) -> str:
    """A pattern of a unit; a word may begin with a capital letter or have only such."""
    if len(name) < 3 or name == "min":
        return re.escape(name)
    return "|".join(map(re.escape, (name, name.capitalize(), name.upper())))


TIME_UNIT = "|".join(map(_spelling, sorted(TIME_UNITS, key=len, reverse=True)))
"""A pattern of any spelling, the longest first, without a group of its own."""


def unit_of(printed: str) -> str:
    """The unit that a description writes for a spelling that ``TIME_UNIT`` matches.

    >>> unit_of("Seconds"), unit_of("usec")
    ('s', 'us')
    """
    return TIME_UNITS[printed.lower()]
