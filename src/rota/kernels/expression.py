"""Profiles as people write them: ``wrapped_gaussian(24h, 0.5h)``; parsed, never evaluated."""

import re

from rota.errors import InputError
from rota.kernels.base import Kernel, find_kernel

_CALL = re.compile(r"\s*([a-z_]+)\s*\(([^()]*)\)\s*")


def parse_kernel(expression: str) -> Kernel:
    """Kernel of an expression.

    Args:
        expression: A kernel's name and its arguments, for instance ``"cosine(24h)"``.

    Raises:
        InputError: It cannot be read, or names no kernel.
    """
    call = _CALL.fullmatch(expression)
    if call is None:
        raise InputError(
            f'profile {expression!r}: expected a name and arguments, for instance "wrapped_gaussian(24h, 2h)"'
        )
    made = find_kernel(call[1])
    arguments = [argument.strip() for argument in call[2].split(",") if argument.strip()]
    try:
        return made(*arguments)
    except TypeError as error:
        wanted = ", ".join(made.__annotations__)
        raise InputError(f"profile {expression!r}: expected {call[1]}({wanted})") from error
