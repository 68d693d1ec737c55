"""Arms and the profiles that reach them, and whose frequencies a network's are."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from rota.batch import TimeAccess
from rota.encodings import (
    RFR,
    ClockRoPE,
    Encoding,
    HarmonicRotation,
    HeadSplit,
    LearnableClock,
    LearnableRotation,
    RealRotation,
    RoPE,
    Split,
    TRoPE,
)
from rota.errors import InputError
from rota.kernels import Cosine, Gaussian, Kernel, Laplace, WrappedGaussian, parse_kernel
from rota.models import Transformer
from rota.models.base import Network
from rota.recipes.arms import arm_encoding
from rota.recipes.plan import Plan
from rota.recipes.priors import clocks_of, realised_priors

DAY, WEEK = Cosine("24h"), WrappedGaussian("7d", "2h")


def network(encoding: Encoding) -> Network:
    model = Transformer(encoding, embedding_dim=64, num_layers=2, num_heads=2, max_len=8)
    return model.build(num_items=5, unit="s", time_access=TimeAccess.REQUEST, seed=3)


def test_the_prior_reaches_every_clock_and_nothing_else() -> None:
    prior = (DAY, WEEK)
    assert arm_encoding("clockrope", prior) == ClockRoPE(prior)
    assert arm_encoding("learnable_clock", prior) == LearnableClock(ClockRoPE(prior))
    assert arm_encoding("rope+learnable_clock", prior) == Split([RoPE(), LearnableClock(ClockRoPE(prior))])
    assert arm_encoding("trope", prior) == TRoPE()
    assert arm_encoding("learnable_clock") == LearnableClock()


def test_rfr_is_the_arm_of_its_prior() -> None:
    assert arm_encoding("rfr", (Laplace("3d"),)) == RFR(Laplace("3d"))
    assert arm_encoding("rope+rfr", (Laplace("3d"),)) == Split([RoPE(), RFR(Laplace("3d"))])
    plan = Plan(arms=("none", "rfr", "learnable_clock"), prior=(DAY,))
    found = {arm: recipe.encoding for arm, recipe in plan.recipes().items()}
    assert found["rfr"] == RFR(DAY)
    assert found["learnable_clock"] == LearnableClock(ClockRoPE([DAY]))
    assert Plan(arms=("rfr",), prior=(Gaussian("6h"),)).arms == ("rfr",)  # a use for the prior by itself


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (
            lambda: arm_encoding("rfr"),
            r"arm 'rfr': rfr has no profile of its own; give one as prior: --prior",
        ),
        (lambda: arm_encoding("rope+rfr"), r"arm 'rope\+rfr': rfr has no profile"),
        (lambda: Plan(arms=("none", "rfr")), "give one as prior"),
        (lambda: arm_encoding("rfr", (DAY, WEEK)), "one profile, and 2 priors are given; add them up"),
        (
            lambda: arm_encoding("split", (DAY,)),
            "unknown arm 'split': expected one of clockrope, .*, rfr, or ",
        ),
        (lambda: arm_encoding("rope+routine"), "routine is untrained and always in the table"),
    ],
)
def test_what_is_no_arm_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        wrong()
    assert "\n" not in str(refused.value)


def test_the_sum_that_the_error_writes_can_be_given() -> None:
    with pytest.raises(InputError) as refused:
        arm_encoding("rfr", (DAY, WEEK))
    written = parse_kernel(str(refused.value).split("'")[-2])
    lags = np.linspace(0, 1e6, 50)
    np.testing.assert_allclose(written(lags), (DAY(lags) + WEEK(lags)) / 2, atol=1e-12)
    assert arm_encoding("rfr", (written,)) == RFR(written)


def test_each_part_has_the_frequencies_of_its_own_modules() -> None:
    """A harmonic RFR builds the same module as ClockRoPE: where it stands says whose it is."""
    inner = HeadSplit([RFR(DAY), RFR(Laplace("3d"))])
    encoding = Split([RoPE(), ClockRoPE([WEEK, DAY], shares=[0.75, 0.25]), inner, LearnableClock()])
    built = network(encoding)
    found = realised_priors(encoding, built)
    assert [fit.label for fit in found] == [
        str(WEEK),
        str(DAY),
        str(DAY),
        str(Laplace("3d")),
        f"{LearnableClock().clock.kernels[0]}, frequencies learned",
    ]
    clocks = [module for module in built.modules() if isinstance(module, HarmonicRotation)]
    real = [module for module in built.modules() if isinstance(module, RealRotation)]
    learned = [module for module in built.modules() if isinstance(module, LearnableRotation)]
    assert (len(clocks), len(real), len(learned)) == (4, 2, 2)
    week, day = np.split(_held(clocks[0::2]), [3], axis=-1)
    wanted = [week, day, _held(clocks[1::2]), _held(real), _held(learned)]
    for fit, held in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(fit.cycles_per_second, held)
    assert found[2].cycles_per_second.shape == (2, 1, 4)  # layers, its one head, pairs
    assert list(clocks_of(encoding)) == [encoding.parts[1], *inner.parts, encoding.parts[3]]


def _held(modules: list[HarmonicRotation] | list[RealRotation] | list[LearnableRotation]) -> np.ndarray:
    return np.stack([module.cycles_per_second.detach().numpy() for module in modules])


def test_what_was_learned_is_shown_as_it_is_now() -> None:
    encoding = LearnableClock(ClockRoPE([DAY]), init="zero")
    built = network(encoding)
    (before,) = realised_priors(encoding, built)
    assert not before.cycles_per_second.any()
    with torch.no_grad():
        for module in built.modules():
            if isinstance(module, LearnableRotation):
                module.values.fill_(365.0)
    (after,) = realised_priors(encoding, built)
    np.testing.assert_allclose(after.cycles_per_second, 1 / 86_400)


@pytest.mark.parametrize("encoding", [RoPE(), TRoPE(), Split([RoPE(), TRoPE()])])
def test_who_has_no_profile_has_no_prior(encoding: Encoding) -> None:
    assert realised_priors(encoding, network(encoding)) == []
    assert not list(clocks_of(encoding))


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        (ClockRoPE(), RoPE()),
        (Split([RoPE(), ClockRoPE()]), ClockRoPE()),
        (Split([RoPE(), ClockRoPE()]), Split([RoPE(), ClockRoPE(), TRoPE()])),
    ],
)
def test_another_encoding_is_refused(given: Encoding, holds: Encoding) -> None:
    with pytest.raises(InputError, match="pass the encoding that the network was built with"):
        realised_priors(given, network(holds))


def test_every_kernel_of_several_is_shown() -> None:
    kernels: list[Kernel] = [DAY, WEEK]
    found = realised_priors(ClockRoPE(kernels), network(ClockRoPE(kernels)))
    assert [fit.wanted for fit in found] == kernels
