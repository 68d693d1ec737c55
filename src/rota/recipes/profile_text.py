"""Profiles as people name them on a command line: an expression, or the file that holds one."""

from pathlib import Path

from rota.kernels.base import Kernel
from rota.kernels.expression import parse_kernel

__all__ = ["read_profile"]


def read_profile(text: str) -> Kernel:
    """Kernel of an expression, or of a TOML file such as ``rota prior --log --save`` writes.

    Args:
        text: ``"wrapped_gaussian(24h, 2h)"`` or ``"flights.toml"``.

    Raises:
        InputError: It cannot be read.
    """
    if not text.strip().endswith(".toml"):
        return parse_kernel(text)
    from rota.toml import read_recipe  # an expression needs no TOML

    return read_recipe(Path(text.strip()), Kernel)  # type: ignore[type-abstract]
