"""Profiles as people write them: ``wrapped_gaussian(24h, 2h) * 0.7 + cosine(7d) * 0.3``; never evaluated."""

import dataclasses
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import reduce
from types import NoneType, UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

from rota.errors import InputError
from rota.kernels.base import Kernel, find_kernel
from rota.kernels.tokens import Token, tokens_of, wrong
from rota.tables import Recipe
from rota.units import seconds

__all__ = ["parse_kernel"]

Made = TypeVar("Made")
R = TypeVar("R", bound=Recipe)

_DEEPEST = 20  # brackets inside brackets: no one's profile, and Python's own stack is not to be spent
_INSTANCE = 'for instance "wrapped_gaussian(24h, 2h)"'


def parse_kernel(expression: str, *, functions: bool = False) -> Kernel:
    """Kernel of an expression: the inverse of ``str(kernel)``.

    Profiles are called by their names, with lengths of time (``24h``), numbers, lists of them, profiles or,
    for a function of one's own, ``module:name``; arguments may be named. They are added with ``+``,
    multiplied with ``*``, given weights with ``*`` and a number, and bracketed.

    Args:
        expression: For instance ``"wrapped_gaussian(24h, 2h) * 0.7 + cosine(period=7d) * 0.3"``.
        functions: Allow ``function(module:name)``, which imports and calls what it names; leave it off for
            text from strangers.

    Raises:
        InputError: It cannot be read; the message names the place and what was expected there.
    """
    return _Reader(expression, functions).whole()


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, expression: str, functions: bool) -> None:
        self.expression, self.functions = expression, functions
        self.tokens = tokens_of(expression)
        self.at = 0
        self.depth = 0

    def whole(self) -> Kernel:
        kernel = self.profile()
        if self.next.kind != "end":
            raise self.unexpected("+, * or the end")
        return kernel

    # sum := product ("+" product)*; product := atom ("*" atom)*; atom := number | "(" sum ")" | call

    def profile(self) -> Kernel:
        """A sum that is a profile, not a number."""
        self.depth += 1
        start = self.next
        if self.depth > _DEEPEST:
            raise wrong(self.expression, start.place, f"brackets are nested over {_DEEPEST} deep")
        parts = [self.product()]
        while self.accept("+"):
            parts.append(self.product())
        self.depth -= 1
        for part, place in parts:
            if not isinstance(part, Kernel):
                raise wrong(self.expression, place, "a number alone: expected a profile that it is times of")
        return self.made(lambda: reduce(operator.add, [part for part, _ in parts]), start)  # type: ignore[return-value]

    def product(self) -> tuple[Kernel | float, int]:
        start = self.next
        value = self.atom()
        while self.accept("*"):
            factor = self.atom()
            value = self.made(lambda left=value, right=factor: left * right, start)  # type: ignore[misc]
        return value, start.place

    def atom(self) -> Kernel | float:
        token = self.next
        if token.kind == "number":
            self.at += 1
            return float(token.text)
        if token.kind == "(":
            self.at += 1
            kernel = self.profile()
            self.expect(")")
            return kernel
        if token.kind == "name":
            return self.call()
        raise self.unexpected(f"a profile, {_INSTANCE}")

    def call(self) -> Kernel:
        name = self.expect("name")
        if self.next.kind != "(":
            raise self.unexpected(f'"(" and arguments after {name.text}, {_INSTANCE}')
        kind = self.made(lambda: find_kernel(name.text), name)
        if name.text == "function" and not self.functions:
            what = "a function would be imported and called: give it by --function, or by from_function"
            raise wrong(self.expression, name.place, what)
        if any(want is None for want in _fields(kind).values()):  # a sum or a product
            raise wrong(
                self.expression, name.place, f"{name.text} is not called: write + or * between profiles"
            )
        return self.recipe(kind, name)

    def recipe(self, kind: type[R], name: Token) -> R:
        """A kernel, or a part of one, from the arguments in brackets."""
        fields = _fields(kind)
        self.expect("(")
        given: dict[str, object] = {}
        while self.next.kind != ")":
            self.argument(given, fields, f"{name.text}({_signature(kind)})")
            if not self.accept(","):
                break
        if not self.accept(")"):
            raise self.unexpected(f'"," or ")", {_INSTANCE}')
        missing = [field for field in _needed(kind) if field not in given]
        if missing:
            what = f"{missing[0]} is missing: expected {name.text}({_signature(kind)})"
            raise wrong(self.expression, name.place, what)
        return self.made(lambda: kind(**given), name)

    def argument(self, given: dict[str, object], fields: "dict[str, _Want | None]", call: str) -> None:
        """Read one argument into what is given: the next field's, or the named one's."""
        token = self.next
        named = token.kind == "name" and self.tokens[self.at + 1].kind == "="
        field = token.text if named else next((one for one in fields if one not in given), None)
        want = fields.get(field or "")
        if field is None or want is None:
            raise wrong(self.expression, token.place, f"{token.text!r} is too much: expected {call}")
        if field in given:
            raise wrong(self.expression, token.place, f"{field} is given twice: expected {call}")
        self.at += 2 * named
        given[field] = self.value(want)

    def value(self, want: "_Want") -> object:
        token = self.next
        if want.optional and token.text == "None":
            self.at += 1
            return None
        if want.kind == "a profile":
            return self.profile()
        if want.recipe is not None:
            if token.text != want.kind:
                raise self.unexpected(f"{want.kind}({_signature(want.recipe)})")
            self.at += 1
            return self.recipe(want.recipe, token)
        return self.listed(want) if want.several else self.word(want)

    def listed(self, want: "_Want") -> tuple[object, ...]:
        self.expect("[")
        values: list[object] = []
        while self.next.kind != "]":
            values.append(self.word(want))
            if not self.accept(","):
                break
        self.expect("]")
        return tuple(values)

    def word(self, want: "_Want") -> object:
        token = self.next
        if token.kind not in ("number", "name", "target"):
            raise self.unexpected(want.kind)
        self.at += 1
        text = token.text
        if token.kind == "number" and self.next.kind == "name" and want.read is seconds:
            text += self.expect("name").text
        try:
            return want.read(text)
        except ValueError as error:
            said = str(error) if isinstance(error, InputError) else f"{text!r}: expected {want.kind}"
            raise wrong(self.expression, token.place, said) from error

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def accept(self, sign: str) -> bool:
        """Step over a sign, if it is next."""
        found = self.next.kind == sign
        self.at += found
        return found

    def expect(self, kind: str) -> Token:
        token = self.next
        if token.kind != kind:
            raise self.unexpected(f'"{kind}"')
        self.at += 1
        return token

    def unexpected(self, wanted: str) -> InputError:
        found = repr(self.next.text) if self.next.text else "the end"
        return wrong(self.expression, self.next.place, f"found {found}: expected {wanted}")

    def made(self, make: Callable[[], Made], token: Token) -> Made:
        """What a kernel's own file makes of it; what that refuses is told with its place."""
        try:
            return make()
        except InputError as error:
            raise wrong(self.expression, token.place, str(error)) from error


@dataclass(frozen=True)
class _Want:
    """How the text of a field is read."""

    kind: str
    read: Callable[[str], object] = str
    optional: bool = False
    several: bool = False
    recipe: type[Recipe] | None = None


def _fields(kind: type[Recipe]) -> dict[str, _Want | None]:
    """Fields of a kernel in order; ``None`` for one that no text can give."""
    hints = get_type_hints(kind)
    return {field.name: _want(hints[field.name]) for field in dataclasses.fields(kind)}  # type: ignore[arg-type]


def _want(hint: object) -> _Want | None:
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    optional = NoneType in parts
    for part in parts:
        if isinstance(part, type) and issubclass(part, Recipe):
            if issubclass(part, Kernel):
                return _Want("a profile", optional=optional)
            return _Want(part.__module__.rpartition(".")[2], optional=optional, recipe=part)
    if get_origin(hint) is Sequence:
        inner = _want(get_args(hint)[0])
        return None if inner is None or inner.kind == "a profile" else replace(inner, several=True)
    if timedelta in parts:  # of all that a `Duration` may be, it alone is nothing else
        return _Want('a length of time, for instance "24h"', seconds, optional)
    if float in parts:
        return _Want("a number", float, optional)
    if int in parts:
        return _Want("a whole number", int, optional)
    return _Want('a function as "module:name"', str, optional) if str in parts else None


def _needed(kind: type[Recipe]) -> list[str]:
    """Fields without a default."""
    absent = dataclasses.MISSING
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    return [one.name for one in fields if one.default is absent and one.default_factory is absent]


def _signature(kind: type[Recipe]) -> str:
    needed, fields = _needed(kind), dataclasses.fields(kind)  # type: ignore[arg-type]
    return ", ".join(one.name if one.name in needed else f"{one.name}={one.default}" for one in fields)
