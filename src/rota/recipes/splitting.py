"""Splits as people write them: ``leave_last(k=2)``, ``temporal(test=0.9, gap="1d")``, ``by_user``."""

from rota.data.splits.base import Splitter
from rota.recipes.written import parse_recipe

__all__ = ["parse_split"]


def parse_split(text: str) -> Splitter:
    """Split of a name and its arguments, all by name.

    Args:
        text: A file of ``rota.data.splits``, with or without arguments in parentheses; these are numbers or
            text in quotes.

    Raises:
        InputError: It is no such split, or an argument is unknown or out of range.
    """
    kind: type[Splitter] = Splitter  # type: ignore[type-abstract]
    return parse_recipe(text, "data.splits", kind, "split", "temporal(test=0.9, validation=0.8)")
