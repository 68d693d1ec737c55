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
from rota.kernels.constant import Constant
from rota.kernels.harmonics import Harmonics
from rota.kernels.laplace import Laplace
from rota.kernels.measured import Measured
from rota.models.base import Model
from rota.recipes.baselines import untrained_names
from rota.rooms import find, offers

BY_LAW = "clockrope-measured"  # the arm whose profile is measured on the log's own training events
_BY_PRIOR = "rfr"  # an arm that has no profile of its own
# Stands for the law until the log is read, so that sizes are checked before: it has a part of each kind.
UNMEASURED = Measured(Constant() * 0.25 + Harmonics("24h", [1], [1.0]) * 0.5 + Laplace("12h") * 0.25)


def arm_encoding(
    arm: str, prior: Sequence[Kernel] = (), *, named: str | None = None, law: Measured | None = None
) -> Encoding:
    """Encoding of an arm, with the defaults of each recipe.

    Args:
        arm: A file of the room ``encodings``, or ``clockrope-measured``, or several joined by ``+``, which
            share a head's features equally: ``"rope+clockrope"``.
        prior: Kernels of every ClockRoPE in it, that which a LearnableClock starts from too, instead of that
            recipe's own; and of RFR, which has none and takes one.
        named: What errors call it, where it is part of an arm that says more.
        law: What ``clockrope-measured`` draws from, see `measure_law`.

    Raises:
        InputError: There is no such arm, RFR is not given one kernel, or the law is missing.
    """
    names = arm.split("+")
    parts = [
        _by_law(law, named or arm) if name == BY_LAW else _part(name, named or arm, tuple(prior))
        for name in names
    ]
    return parts[0] if len(parts) == 1 else Split(parts)


def _by_law(law: Measured | None, arm: str) -> Encoding:
    if law is None:
        raise InputError(
            f"arm {arm!r}: its law is measured on the training events of a log, which a comparison does; "
            "elsewhere give a measured profile as prior of the arm clockrope"
        )
    return ClockRoPE((law,))


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
    """Arms that need no more than their name, then those that need a law and a prior."""
    needy = (dataclasses.MISSING, dataclasses.MISSING)

    def complete(name: str) -> bool:
        fields = dataclasses.fields(find("encodings", name, Encoding))  # type: ignore[type-abstract]
        return all((field.default, field.default_factory) != needy for field in fields)

    return [*(name for name in offers("encodings", Encoding) if complete(name)), BY_LAW, _BY_PRIOR]
