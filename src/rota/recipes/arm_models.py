"""Arms as networks: what a name on the command line trains."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TypeVar

from rota.attention.intervals import Intervals
from rota.encodings.bias import BiasRecipe
from rota.encodings.inputs import InputRecipe
from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.measured import Measured
from rota.models.base import Model
from rota.models.repeat_head import RepeatHead
from rota.models.tisasrec import TiSASRec
from rota.recipes.arms import arm_encoding
from rota.rooms import find, offers

Kind = TypeVar("Kind")

__all__ = ["arm_model"]

REPEAT = "repeat"
_SIZES = ("embedding_dim", "num_layers", "num_heads", "max_len", "dropout", "repeat_head")


def arm_model(
    arm: str,
    base: Model,
    prior: Sequence[Kernel] = (),
    inputs: tuple[InputRecipe, ...] | None = None,
    law: Measured | None = None,
) -> Model:
    """Network of an arm.

    An arm is ``model``, ``model:parts``, or ``parts`` alone, which are those of the base. Parts are joined by
    ``+``: encodings, which share a head's features equally; a bias of pairs; features of time, which take
    the place of the model's own; and ``repeat``, a repeat head. Where an encoding or a bias is named, these
    are all that its layers know of time and position: ``hstu`` has its bias by position and time,
    ``hstu:rope`` has none, and ``hstu:repeat`` is ``hstu`` with a repeat head.

    Args:
        arm: ``"rope+clockrope"``, ``"hstu:position_bias+trope"``, ``"sasrec:calendar+repeat"``.
        base: Network of arms that name none; one of another kind has its sizes.
        prior: As for `arm_encoding`.
        inputs: Features of time of an arm that names none; ``None``: those that are its model's own.
        law: As for `arm_encoding`.

    Raises:
        InputError: There is no such arm, or its model does not take such a part.
    """
    name, _, parts = arm.partition(":")
    if ":" not in arm and name not in offers("models", Model):
        name, parts = "", arm
    named = parts.split("+")
    if (parts or ":" in arm or not arm) and not all(named):
        raise InputError(
            f"arm {arm!r}: a part is missing; expected a model, model:parts, or parts joined by +"
        )
    if named.count(REPEAT) > 1:
        raise InputError(f"arm {arm!r}: {REPEAT} twice; a model has one repeat head")
    model = base if not name else _like(base, _kind(name, arm))
    if inputs is not None:
        model = replace(model, inputs=inputs)  # type: ignore[type-var]
    return _with_parts(model, named, arm, prior, law) if parts else model


def parse_inputs(text: str) -> tuple[InputRecipe, ...]:
    """Features of time by their names, separated by commas; none by the word ``none``.

    Raises:
        InputError: There is no such input.
    """
    names = [] if text.strip() == "none" else [name.strip() for name in text.split(",")]
    known = offers("encodings", InputRecipe)
    for name in names:
        if name not in known:
            raise InputError(f"unknown input {name!r}: expected none, or some of {', '.join(known)}")
    return tuple(_made(name, InputRecipe) for name in names)  # type: ignore[type-abstract]


def _kind(name: str, arm: str) -> type[Model]:
    if name not in offers("models", Model):
        known = ", ".join(offers("models", Model))
        raise InputError(f"arm {arm!r}: unknown model {name!r}: expected one of {known} before the colon")
    return find("models", name, Model)  # type: ignore[type-abstract]


def _like(base: Model, kind: type[Model]) -> Model:
    if kind is type(base):
        return base
    return kind(**{name: getattr(base, name) for name in _SIZES}, **_intervals(base, kind))


def _intervals(base: Model, kind: type[Model]) -> dict[str, object]:
    """Attention of TiSASRec drops as much as everything else, as published."""
    return {"intervals": Intervals(dropout=base.dropout)} if kind is TiSASRec else {}


def _with_parts(
    model: Model, parts: Sequence[str], arm: str, prior: Sequence[Kernel], law: Measured | None
) -> Model:
    biases = [part for part in parts if part in offers("encodings", BiasRecipe)]
    inputs = [part for part in parts if part in offers("encodings", InputRecipe)]
    encodings = [part for part in parts if part not in (*biases, *inputs, REPEAT)]
    if len(biases) > 1:
        raise InputError(f"arm {arm!r}: two biases of pairs, {' and '.join(biases)}; name one")
    changed: dict[str, object] = {}
    if encodings or biases:
        changed["encoding"] = arm_encoding("+".join(encodings or ["none"]), prior, named=arm, law=law)
        if biases or _takes(model, "bias"):
            changed["bias"] = _made(biases[0], BiasRecipe) if biases else None  # type: ignore[type-abstract]
    if inputs:
        changed["inputs"] = tuple(_made(part, InputRecipe) for part in inputs)  # type: ignore[type-abstract]
    if REPEAT in parts:
        changed["repeat_head"] = model.repeat_head or RepeatHead()
    for name in changed:
        if not _takes(model, name):
            raise InputError(f"arm {arm!r}: {type(model).__name__} takes no {name}: leave it out")
    return replace(model, **changed)  # type: ignore[type-var]


def _takes(model: Model, name: str) -> bool:
    return name in {field.name for field in fields(model)}  # type: ignore[arg-type]


def _made(name: str, kind: type[Kind]) -> Kind:
    return find("encodings", name, kind)()
