"""Recipes as people write them on a command line: ``leave_last(k=2)``, ``gbce(num_negatives=256)``."""

import ast
import re
from typing import TypeVar

from rota.errors import InputError
from rota.rooms import offers
from rota.tables import Recipe, from_table

R = TypeVar("R", bound=Recipe)

__all__ = ["parse_recipe"]

_WRITTEN = re.compile(r"\s*([a-z_]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def parse_recipe(text: str, room: str, kind: type[R], what: str, example: str) -> R:
    """Recipe of a name and its arguments, all by name.

    Args:
        text: A file of a room, with or without arguments in parentheses; these are numbers or text in quotes.
        room: For instance ``"data.splits"``.
        kind: What is expected.
        what: What errors call it.
        example: How it may be written.

    Raises:
        InputError: It is no such recipe, or an argument is unknown or out of range.
    """
    written = _WRITTEN.fullmatch(text)
    known = offers(room, kind)
    if written is None or written[1] not in known:
        raise InputError(
            f"{what} {text!r}: expected one of {', '.join(known)}, with or without arguments, for instance "
            f"{example!r}"
        )
    try:
        return from_table({"recipe": f"{room}.{written[1]}", **_arguments(written[2] or "")}, kind)
    except InputError as error:
        raise InputError(f"{what} {text!r}: {error}") from error


def _arguments(text: str) -> dict[str, object]:
    """Values by name; nothing is evaluated but literals.

    Raises:
        InputError: It cannot be read so.
    """
    try:
        call = ast.parse(f"recipe({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        if call.args or any(word.arg is None for word in call.keywords):
            raise ValueError("an argument without a name")
        return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise InputError(
            f"cannot read the arguments ({error}): expected name=value, text in quotes, with commas between"
        ) from error
