"""What ``autotune explain`` prints."""

from collections.abc import Sequence

from autotune.commands.explain.explanations import GlossaryWord, MessageKind


def meaning(explained: GlossaryWord | MessageKind) -> str:
    """A word or a kind of message in sentences."""
    if isinstance(explained, MessageKind):
        return f"{explained.name}\n  {explained.means}\n  What helps: {explained.advice}"
    also = f" (also: {', '.join(explained.also)})" if explained.also else ""
    see = f"\n  See also: {', '.join(explained.see)}." if explained.see else ""
    return f"{explained.name}{also}\n  {explained.text}{see}"


def listed(words: Sequence[GlossaryWord]) -> str:
    """All words by name."""
    names = ", ".join(sorted((word.name for word in words), key=str.lower))
    return (
        f"{len(words)} words:\n  {names}\n"
        "autotune explain WORD says what one means; a message of an error may be pasted in its"
        " place."
    )
