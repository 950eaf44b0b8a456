"""The constraints of SPL Conqueror as conditions of ``autotune.language.constraint``.

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
    """Options of a model and the identifiers that conditions know them by."""

    aliases: dict[str, str]
    """Option to identifier."""
    binary: frozenset[str]
    """Identifiers of the binary options."""

    @classmethod
    def of(cls, binary: Sequence[str], numeric: Sequence[str]) -> "Language":
        """The language over these options."""
        names = (*binary, *numeric)
        aliases = {name: _identifier(name, i, names) for i, name in enumerate(names)}
        return cls(aliases, frozenset(aliases[name] for name in binary))

    def name(self, option: str) -> str:
        """The identifier of an option; an unknown one stands for itself."""
        return self.aliases.get(option, option)

    def unknown(self, constraint: ParameterConstraint) -> list[str]:
        """What a constraint names that is no option."""
        return [name for name in constraint.names if name not in self.aliases]

    def constraint(self, text: str) -> ParameterConstraint:
        """The constraint of a condition over identifiers; ValueError where it is none."""
        back = {alias: option for option, alias in self.aliases.items() if alias != option}
        used = Condition(text).names
        return ParameterConstraint(
            text, tuple((alias, back[alias]) for alias in used if alias in back)
        )

    def logic(self, text: str) -> str:
        """A boolean constraint as a condition; ``a => b => c`` is ``a => (b => c)``."""
        *premises, condition = [self._chosen(part) for part in text.split("=>")]
        for premise in reversed(premises):
            condition = f"not ({premise}) or ({condition})"
        return condition

    def _chosen(self, text: str) -> str:
        """Options joined by ``!``, ``|`` and ``&``, as a condition."""
        words = {"!": " not ", "|": " or ", "&": " and "}
        spaced = re.sub(r"\|+|&+|!", lambda match: words[match[0][0]], self._renamed(text))
        return _NAME.sub(_is_chosen, spaced).strip()

    def arithmetic(self, text: str, required: str = "all", *, negated: bool = False) -> str:
        """A comparison that counts only where its options are chosen.

        ``all``: where all are chosen; ``one``: where one is, and then all must be.
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
        """The text with every option under its identifier, longest names first."""
        odd = [option for option, alias in self.aliases.items() if alias != option]
        for option in sorted(odd, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(option)}(?!\w)", self.aliases[option], text)
        return text.strip()


def _is_chosen(match: re.Match[str]) -> str:
    name = match.group()
    return name if name in ("not", "or", "and") else f"{name} == 1"


def _identifier(option: str, number: int, taken: Collection[str]) -> str:
    """A name that a condition takes; that of the option where it does, else none of another."""
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


def known(names: Collection[str]) -> str:
    """The options as text, the first few of many."""
    shown = sorted(names)[:8]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) else "")
