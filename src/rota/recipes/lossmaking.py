"""Losses as people write them: ``full_softmax``, ``bce``, ``gbce(num_negatives=256)``."""

from dataclasses import fields, replace

from rota.errors import InputError
from rota.recipes.written import parse_recipe
from rota.training.losses.base import Loss
from rota.training.negatives.base import Negatives

__all__ = ["parse_loss"]


def parse_loss(text: str, num_negatives: int | None = None, negatives: str | None = None) -> Loss:
    """Loss of a name and its arguments, all by name.

    Args:
        text: A file of ``rota.training.losses``, with or without arguments in parentheses.
        num_negatives: How many negatives it draws; ``None``: as many as it does by itself.
        negatives: Where they come from, a file of ``rota.training.negatives``, likewise.

    Raises:
        InputError: It is no such loss, or it draws no negatives and they are asked for.
    """
    loss = parse_recipe(
        text, "training.losses", Loss, "loss", "gbce(num_negatives=256)"  # type: ignore[type-abstract]
    )  # fmt: skip
    changed: dict[str, object] = {}
    if num_negatives is not None:
        changed["num_negatives"] = num_negatives
    if negatives is not None:
        kind: type[Negatives] = Negatives  # type: ignore[type-abstract]
        changed["negatives"] = parse_recipe(
            negatives, "training.negatives", kind, "negatives", "popularity(power=0.75)"
        )
    known = {field.name for field in fields(loss)}  # type: ignore[arg-type]
    for name in changed:
        if name not in known:
            raise InputError(f"loss {text!r} takes no {name}: leave it out")
    return replace(loss, **changed)  # type: ignore[type-var]
