"""Splits as people write them: ``leave_last(k=2)``, ``temporal(test=0.9, gap="1d")``, ``by_user``."""

import ast
import re

from rota.data.splits.base import Splitter
from rota.errors import InputError
from rota.rooms import offers
from rota.tables import from_table

__all__ = ["parse_split"]

_ROOM = "data.splits"
_WRITTEN = re.compile(r"\s*([a-z_]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def parse_split(text: str) -> Splitter:
    """Split of a name and its arguments, all by name.

    Args:
        text: A file of ``rota.data.splits``, with or without arguments in parentheses; these are numbers or
            text in quotes.

    Raises:
        InputError: It is no such split, or an argument is unknown or out of range.
    """
    written = _WRITTEN.fullmatch(text)
    kind: type[Splitter] = Splitter  # type: ignore[type-abstract]
    known = offers(_ROOM, kind)
    if written is None or written[1] not in known:
        raise InputError(
            f"split {text!r}: expected one of {', '.join(known)}, with or without arguments, for instance "
            "'temporal(test=0.9, validation=0.8)'"
        )
    try:
        return from_table({"recipe": f"{_ROOM}.{written[1]}", **_arguments(written[2] or "")}, kind)
    except InputError as error:
        raise InputError(f"split {text!r}: {error}") from error


def _arguments(text: str) -> dict[str, object]:
    """Values by name; nothing is evaluated but literals.

    Raises:
        InputError: It cannot be read so.
    """
    try:
        call = ast.parse(f"split({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        if call.args or any(word.arg is None for word in call.keywords):
            raise ValueError("an argument without a name")
        return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise InputError(
            f"cannot read the arguments ({error}): expected name=value, text in quotes, with commas between"
        ) from error
