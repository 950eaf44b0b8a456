"""Translates the constraints of SPL Conqueror to conditions of ``autotune.language.constraint``.

    boolean      !a | b, a & b, a => b             over binary options
    non-boolean  a * 2 + b <= 8                    holds where not all its options are chosen
    mixed        the same with req="all" or "one", and exprKind="neg" for its contrary

Source: SPL Conqueror's NonBooleanConstraint and MixedConstraint.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.language.constraint import Condition

_COMPARISON = re.compile(r"(<=|>=|!=|==|=|<|>)")
_NAME = re.compile(r"[^\W\d]\w*")
_RESERVED = ("not", "and", "or", "in", "is", "if", "else", "true", "false", "null", "lambda")


@dataclass(frozen=True, slots=True)
class Language:
    """The options of a model, with the identifier of each in conditions."""

    aliases: dict[str, str]
    """Option to identifier."""
    binary: frozenset[str]
    """Identifiers of the binary options."""

    @classmethod
    def of(cls, binary: Sequence[str], numeric: Sequence[str]) -> "Language":
        """The language for these binary and numeric options."""
        names = (*binary, *numeric)
        aliases = {name: _identifier(name, i, names) for i, name in enumerate(names)}
        return cls(aliases, frozenset(aliases[name] for name in binary))

    def name(self, option: str) -> str:
        """The identifier of an option; for an unknown option its own name."""
        return self.aliases.get(option, option)

    def unknown(self, constraint: ParameterConstraint) -> list[str]:
        """The names in a constraint that are no options."""
        return [name for name in constraint.names if name not in self.aliases]

    def constraint(self, text: str) -> ParameterConstraint:
        """The constraint for a condition over identifiers; ValueError where the text is no
        condition.
        """
        back = {alias: option for option, alias in self.aliases.items() if alias != option}
        used = Condition(text).names
        return ParameterConstraint(
            text, tuple((alias, back[alias]) for alias in used if alias in back)
        )

    def logic(self, text: str) -> str:
        """A boolean constraint as a condition; ``a => b => c`` means ``a => (b => c)``."""
        *premises, condition = [self._chosen(part) for part in text.split("=>")]
        for premise in reversed(premises):
            condition = f"not ({premise}) or ({condition})"
        return condition

    def _chosen(self, text: str) -> str:
        """Options joined by ``!``, ``|`` and ``&``, as a condition on which options are chosen."""
        words = {"!": " not ", "|": " or ", "&": " and "}
        spaced = re.sub(r"\|+|&+|!", lambda match: words[match[0][0]], self._renamed(text))
        return _NAME.sub(_is_chosen, spaced).strip()

    def arithmetic(self, text: str, required: str = "all", *, negated: bool = False) -> str:
        """A comparison as a condition that applies only where its options are chosen.

        ``required`` is ``all``: it applies where all of them are chosen; ``one``: where one is
        chosen, all must be.
        """
        renamed = self._renamed(text.replace(",", "."))
        left, sign, right = [*_COMPARISON.split(renamed, maxsplit=1), "", ""][:3]
        if not sign:
            raise ValueError(f"{text.strip()!r} compares nothing")
        compared = f"{left.strip()} {'==' if sign == '=' else sign} {right.strip()}"
        compared = f"not ({compared})" if negated else compared
        named = sorted(set(_NAME.findall(renamed)) & set(self.aliases.values()))
        flags = [name for name in named if name in self.binary]
        if required == "all":
            return " or ".join([*(f"{name} == 0" for name in flags), compared])
        present = [f"{name} == 1" if name in flags else f"{name} != 0" for name in named]
        return f"not ({' or '.join(present)}) or ({' and '.join([*present, compared])})"

    def _renamed(self, text: str) -> str:
        """The text with every option replaced by its identifier, longest names first."""
        odd = [option for option, alias in self.aliases.items() if alias != option]
        for option in sorted(odd, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(option)}(?!\w)", self.aliases[option], text)
        return text.strip()


def _is_chosen(match: re.Match[str]) -> str:
    name = match.group()
    return name if name in ("not", "or", "and") else f"{name} == 1"


def _identifier(option: str, number: int, taken: Collection[str]) -> str:
    """The identifier of an option: its name where conditions allow that, else a name that no other
    option has.
    """
    usable = _NAME.fullmatch(option) is not None and option not in _RESERVED
    if usable and _is_name(option):
        return option
    identifier = f"option_{number}"
    while identifier in taken:
        identifier += "_"
    return identifier


def _is_name(text: str) -> bool:
    try:
        return Condition(text).names == (text,)
    except ValueError:
        return False


def option_names(names: Collection[str]) -> str:
    """The names of options as text; of many, only the first few."""
    shown = sorted(names)[:8]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) else "")
