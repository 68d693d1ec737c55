"""Arms: names on the command line to encodings."""

import dataclasses
from collections.abc import Sequence

from rota.encodings.base import Encoding
from rota.encodings.bias import BiasRecipe
from rota.encodings.clockrope import ClockRoPE
from rota.encodings.inputs import InputRecipe
from rota.encodings.learnable_clock import LearnableClock
from rota.encodings.rfr import RFR
from rota.encodings.split import Split
from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.models.base import Model
from rota.recipes.baselines import untrained_names
from rota.rooms import find, offers

_BY_PRIOR = "rfr"  # an arm that has no profile of its own


def arm_encoding(arm: str, prior: Sequence[Kernel] = (), *, named: str | None = None) -> Encoding:
    """Encoding of an arm, with the defaults of each recipe.

    Args:
        arm: A file of the room ``encodings``, or several joined by ``+``, which share a head's features
            equally: ``"rope+clockrope"``.
        prior: Kernels of every ClockRoPE in it, that which a LearnableClock starts from too, instead of that
            recipe's own; and of RFR, which has none and takes one.
        named: What errors call it, where it is part of an arm that says more.

    Raises:
        InputError: There is no such arm, or RFR is not given one kernel.
    """
    parts = [_part(name, named or arm, tuple(prior)) for name in arm.split("+")]
    return parts[0] if len(parts) == 1 else Split(parts)


def _part(name: str, arm: str, prior: tuple[Kernel, ...]) -> Encoding:
    known = _known_parts()
    if name in untrained_names():
        raise InputError(
            f"arm {arm!r}: {name} is untrained and always in the table; leave it out of the arms"
        )
    if name not in known:
        raise InputError(
            f"unknown arm {arm!r}: expected one of {', '.join(known)}, or several joined by +; beside them "
            f"{', '.join(_beside())}, repeat; before a colon a model, {', '.join(offers('models', Model))}"
        )
    made = find("encodings", name, Encoding)  # type: ignore[type-abstract]
    if issubclass(made, RFR):
        return made(_only(prior, arm))
    if issubclass(made, ClockRoPE) and prior:
        return made(prior)
    if issubclass(made, LearnableClock) and prior:
        return made(ClockRoPE(prior))
    return made()


def _only(prior: tuple[Kernel, ...], arm: str) -> Kernel:
    if not prior:
        raise InputError(
            f"arm {arm!r}: rfr has no profile of its own; give one as prior: --prior 'laplace(3d)'"
        )
    if len(prior) > 1:
        raise InputError(
            f"arm {arm!r}: rfr draws from one profile, and {len(prior)} priors are given; add them up: "
            f"--prior '{' + '.join(f'{kernel} * {1 / len(prior):.3g}' for kernel in prior)}'"
        )
    return prior[0]


def _beside() -> list[str]:
    return [*offers("encodings", BiasRecipe), *offers("encodings", InputRecipe)]


def _known_parts() -> list[str]:
    """Arms that need no more than their name, then the one that needs a prior."""
    needy = (dataclasses.MISSING, dataclasses.MISSING)

    def complete(name: str) -> bool:
        fields = dataclasses.fields(find("encodings", name, Encoding))  # type: ignore[type-abstract]
        return all((field.default, field.default_factory) != needy for field in fields)

    return [*(name for name in offers("encodings", Encoding) if complete(name)), _BY_PRIOR]
