"""Tokens of an expression, each with its place, and the one line that says what is wrong where."""

import re
from dataclasses import dataclass

from rota.errors import InputError

__all__: list[str] = []

_TOKEN = re.compile(
    r"(?P<target>[A-Za-z_][\w.]*:[A-Za-z_][\w.]*)"  # module:name of a function
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<sign>[-+*(),=\[\]])"
)
_SHOWN = 60  # characters of a long expression in a message


@dataclass(frozen=True)
class Token:
    """A piece of an expression.

    Attributes:
        kind: ``"name"``, ``"number"``, ``"target"``, ``"end"``, or a sign itself.
        text: As written.
        place: Its first character, counted from 0.
    """

    kind: str
    text: str
    place: int


def tokens_of(expression: str) -> list[Token]:
    """Tokens in order; the last has the kind ``"end"``.

    Raises:
        InputError: There is a character that no token begins with.
    """
    found, place = [], 0
    while place < len(expression):
        if expression[place].isspace():
            place += 1
            continue
        match = _TOKEN.match(expression, place)
        if match is None:
            raise wrong(expression, place, f"unexpected {expression[place]!r}: expected a profile, + or *")
        text, kind = match[0], str(match.lastgroup)
        found.append(Token(text if kind == "sign" else kind, text, place))
        place = match.end()
    return [*found, Token("end", "", len(expression))]


def wrong(expression: str, place: int, what: str) -> InputError:
    """One line: the expression, or what of a long one lies around the place; the place from 1; and what."""
    shown = expression
    if len(expression) > _SHOWN:
        start = max(0, min(place - _SHOWN // 2, len(expression) - _SHOWN))
        before, after = "…" if start else "", "…" if start + _SHOWN < len(expression) else ""
        shown = f"{before}{expression[start : start + _SHOWN]}{after}"
    return InputError(f"profile {shown!r}, character {place + 1}: {what}")
