"""Readers of formulas in Octave and LaTeX, written apart from the writers: they compute values."""

import functools
import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

Number = int | float | Fraction
Scope = dict[str, object]


def _divided(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    return Fraction(a) / Fraction(b)


def _power(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float) or Fraction(b).denominator > 1:
        return float(a) ** float(b)
    return Fraction(a) ** int(b)


def _log2(a: Number) -> Number:
    top = Fraction(a)
    if top.denominator == 1 and top > 0 and int(top) & (int(top) - 1) == 0:
        return int(top).bit_length() - 1
    return math.log2(a)


def _sqrt(a: Number) -> Number:
    whole = Fraction(a)
    if whole.denominator == 1 and math.isqrt(int(whole)) ** 2 == whole:
        return math.isqrt(int(whole))
    return math.sqrt(a)


FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "abs": abs, "ceil": math.ceil, "floor": math.floor, "exp": math.exp, "log": math.log,
    "log2": _log2, "sqrt": _sqrt, "max": max, "min": min, "mod": lambda a, b: a % b,
    "ma_if": lambda test, a, b: a if test else b,
    "ma_sum": lambda f, trips: sum(f(i) for i in range(int(trips))),
}  # fmt: skip


class Octave:
    """Statements ``name = expression;`` of Octave: its own grammar, powers from the left."""

    _TOKEN = re.compile(r"\s*(\d+\.?\d*(?:[eE][-+]?\d+)?|[A-Za-z_]\w*|<=|>=|@|[-+*/^()<>,])")

    def __init__(self, text: str) -> None:
        self.tokens = self._TOKEN.findall(text)
        assert "".join(self.tokens) == re.sub(r"\s+", "", text), text
        self.place = 0

    @classmethod
    def totals(cls, source: str, values: Mapping[str, Number]) -> dict[str, object]:
        """All names that the first function of a file gives a value, by the arguments."""
        scope: Scope = dict(values)
        for name, value in cls.statements(source):
            scope[name] = value(scope)
        return scope

    @classmethod
    @functools.cache
    def statements(cls, source: str) -> list[tuple[str, Callable[[Scope], object]]]:
        """The names of the first function of a file with what they are given."""
        lines = [line.strip() for line in source.partition("\nend\n")[0].splitlines()[1:]]
        pairs = [
            line.removesuffix(";").split(" = ", 1) for line in lines if line[:1] not in ("", "%")
        ]
        return [(name, cls(text).whole()) for name, text in pairs]

    def whole(self) -> Callable[[Scope], object]:
        value = self.comparison()
        assert self.place == len(self.tokens)
        return value

    def next(self, *expected: str) -> str:
        token = self.tokens[self.place] if self.place < len(self.tokens) else ""
        if expected and token not in expected:
            return ""
        self.place += 1
        return token

    def comparison(self) -> Callable[[Scope], object]:
        left = self.sum()
        sign = self.next("<", "<=", ">", ">=")
        if not sign:
            return left
        right = self.sum()
        tests = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
        return lambda s: getattr(Fraction(left(s)), tests[sign])(Fraction(right(s)))

    def sum(self) -> Callable[[Scope], object]:
        value = self.product()
        while sign := self.next("+", "-"):
            left, right = value, self.product()
            value = self._joined(sign, left, right)
        return value

    @staticmethod
    def _joined(sign: str, left, right):
        signs = {
            "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
            "/": _divided, "^": _power,
        }  # fmt: skip
        return lambda s: signs[sign](left(s), right(s))

    def product(self) -> Callable[[Scope], object]:
        value = self.unary()
        while sign := self.next("*", "/"):
            value = self._joined(sign, value, self.unary())
        return value

    def unary(self) -> Callable[[Scope], object]:
        if self.next("-"):
            inner = self.unary()
            return lambda s: -inner(s)
        value = self.atom()
        while self.next("^"):
            value = self._joined("^", value, self.atom())
        return value

    def atom(self) -> Callable[[Scope], object]:
        token = self.next()
        if token == "(":
            value = self.comparison()
            assert self.next(")")
            return value
        if token == "@":
            assert self.next("(")
            index = self.next()
            assert self.next(")")
            body = self.comparison()
            return lambda s: lambda number: body({**s, index: number})
        if token[0].isdigit():
            number = float(token) if re.search(r"[.eE]", token) else int(token)
            return lambda _: number
        if not self.next("("):
            return lambda s: s[token]
        arguments = [self.comparison()]
        while self.next(","):
            arguments.append(self.comparison())
        assert self.next(")")
        return lambda s: FUNCTIONS[token](*(argument(s) for argument in arguments))


class Latex:
    """Rows ``name &= formula \\\\`` of LaTeX."""

    _TOKEN = re.compile(
        r"\s*(\\mathrm\{(?:[^{}\\]|\\_)*\}|\\text\{[^{}]*\}|\\(?:begin|end)\{[a-z*]+\}|\\\\"
        r"|\\[a-z]+(?:_2)?|\d+\.?\d*|[A-Za-z]|[-+^_{}()<>=,|&.])"
    )

    def __init__(self, text: str) -> None:
        self.tokens = self._TOKEN.findall(text)
        assert "".join(self.tokens).replace(" ", "") == re.sub(r"\s+", "", text), text
        self.place = 0

    @classmethod
    def totals(cls, source: str, values: Mapping[str, Number]) -> dict[str, object]:
        """All names that have a row, by the values of the inputs."""
        scope: Scope = dict(values)
        for name, value in cls.rows(source):
            scope[name] = value(scope)
        return scope

    @classmethod
    @functools.cache
    def rows(cls, source: str) -> list[tuple[str, Callable[[Scope], object]]]:
        """The names of all rows with their formulas."""
        rows = []
        for line in source.splitlines()[2:-1]:
            name, formula = line.removesuffix(r"\\").split("&=", 1)
            text = name.strip()
            if text.startswith((r"\mathrm", r"\text")):
                text = text.partition("{")[2].removesuffix("}").replace(r"\_", "_")
            reader = cls(formula)
            value = reader.comparison()
            assert reader.place == len(reader.tokens), formula
            rows.append((text, value))
        return rows

    next = Octave.next
    _joined = staticmethod(Octave._joined)

    def comparison(self) -> Callable[[Scope], object]:
        left = self.sum()
        sign = self.next("<", ">", r"\le", r"\ge")
        if not sign:
            return left
        right = self.sum()
        tests = {"<": "__lt__", r"\le": "__le__", ">": "__gt__", r"\ge": "__ge__"}
        return lambda s: getattr(Fraction(left(s)), tests[sign])(Fraction(right(s)))

    sum = Octave.sum

    def product(self) -> Callable[[Scope], object]:
        value = self.unary()
        while True:
            if self.next(r"\cdot"):
                value = self._joined("*", value, self.unary())
            elif self.next(r"\bmod"):
                left, right = value, self.unary()
                return lambda s: left(s) % right(s)
            else:
                return value

    def unary(self) -> Callable[[Scope], object]:
        if self.next("-"):
            inner = self.unary()
            return lambda s: -inner(s)
        value = self.atom()
        if self.next("^"):
            value = self._joined("^", value, self.braced())
        return value

    def braced(self) -> Callable[[Scope], object]:
        assert self.next("{")
        value = self.comparison()
        assert self.next("}")
        return value

    def bracketed(self, closing: str) -> list[Callable[[Scope], object]]:
        values = [self.comparison()]
        while self.next(","):
            values.append(self.comparison())
        assert self.next(r"\right")
        assert self.next(closing)
        return values

    def atom(self) -> Callable[[Scope], object]:
        token = self.next()
        if token == r"\left":
            opening = self.next()
            closing = {"(": ")", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil", "|": "|"}[opening]
            (value,) = self.bracketed(closing)
            name = {"(": "", r"\lfloor": "floor", r"\lceil": "ceil", "|": "abs"}[opening]
            return (lambda s: FUNCTIONS[name](value(s))) if name else value
        if token == r"\frac":
            return self._joined("/", self.braced(), self.braced())
        if token == r"\sqrt":
            value = self.braced()
            return lambda s: _sqrt(value(s))
        if token == r"\begin{cases}":
            return self.cases()
        if token == r"\sum":
            return self.total()
        functions = {
            r"\log_2": "log2",
            r"\ln": "log",
            r"\exp": "exp",
            r"\max": "max",
            r"\min": "min",
        }
        if token in functions:
            assert self.next(r"\left")
            assert self.next("(")
            arguments = self.bracketed(")")
            return lambda s: FUNCTIONS[functions[token]](*(a(s) for a in arguments))
        if token[0].isdigit():
            number = float(token) if "." in token else int(token)
            return lambda _: number
        name = self.name(token)
        return lambda s: s[name]

    @staticmethod
    def name(token: str) -> str:
        return token.removeprefix(r"\mathrm{").removesuffix("}").replace(r"\_", "_")

    def cases(self) -> Callable[[Scope], object]:
        then = self.comparison()
        assert self.next("&")
        assert self.next().startswith(r"\text")
        test = self.comparison()
        assert self.next(r"\\")
        other = self.comparison()
        assert self.next("&")
        assert self.next().startswith(r"\text")
        assert self.next(r"\end{cases}")
        return lambda s: then(s) if test(s) else other(s)

    def total(self) -> Callable[[Scope], object]:
        assert self.next("_")
        assert self.next("{")
        index = self.name(self.next())
        assert self.next("=")
        assert self.next("0")
        assert self.next("}")
        assert self.next("^")
        last = self.braced()
        assert self.next(r"\left")
        assert self.next("(")
        (body,) = self.bracketed(")")
        return lambda s: sum(body({**s, index: number}) for number in range(int(last(s)) + 1))
