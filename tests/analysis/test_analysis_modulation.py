"""What is measured on modules against the formula of each."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.analysis import modulation
from rota.encodings import RFR, ROTE, ClockRoPE, FoPE, NoEncoding, RoPE, Split, TRoPE
from rota.encodings.harmonic import HarmonicRotation
from rota.errors import InputError
from rota.kernels import Gaussian, WrappedGaussian

HOURS = np.arange(0, 8 * 86_400 + 1, 3600)


def test_of_a_rotation_it_is_the_mean_of_cosines() -> None:
    clock = ClockRoPE([WrappedGaussian("24h", "2h")], fold=False)
    found = modulation(clock, HOURS, head_dim=16, num_heads=4, seed=3)
    module = clock.build(head_dim=16, num_heads=4, seed=3)
    assert isinstance(module, HarmonicRotation)
    cycles = module.cycles_per_second.numpy()
    wanted = np.cos(2 * np.pi * cycles[..., None] * HOURS).mean(1)
    np.testing.assert_allclose(found.heads, wanted, atol=1e-6)
    np.testing.assert_allclose(found.mean, wanted.mean(0), atol=1e-6)
    np.testing.assert_allclose(found.elsewhere, wanted.mean(0), atol=1e-6)


def test_by_position_against_the_ladder() -> None:
    found = modulation(RoPE(base=500.0), np.arange(40), "position", head_dim=8, num_heads=2)
    theta = 500.0 ** (-np.arange(4) / 4)
    wanted = np.cos(np.multiply.outer(np.arange(40), theta)).mean(1)
    np.testing.assert_allclose(found.heads, [wanted, wanted], atol=1e-6)
    np.testing.assert_allclose(found.elsewhere, wanted, atol=1e-6)


def test_the_profile_is_what_was_asked_for() -> None:
    found = modulation(RFR(Gaussian("6h")), HOURS)
    np.testing.assert_allclose(found.mean, Gaussian("6h")(HOURS.astype(float)), atol=0.03)


def test_what_does_not_turn_with_the_lag_stays_one() -> None:
    for encoding, along in ((NoEncoding(), "time"), (RoPE(), "time"), (ClockRoPE(), "position")):
        np.testing.assert_allclose(modulation(encoding, np.arange(9), along).heads, 1.0, atol=1e-12)
    half = modulation(Split([RoPE(), ClockRoPE()]), HOURS)
    assert half.mean.min() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("encoding", "along", "same"),
    [
        (ClockRoPE(), "time", True),
        (ROTE(), "time", True),
        (RoPE(), "position", True),
        (TRoPE(), "time", False),
        (FoPE(), "position", False),
    ],
    ids=["clock", "rote", "rope", "trope", "fope"],
)
def test_elsewhere_is_the_same_where_only_lags_matter(encoding: RoPE, along: str, same: bool) -> None:
    found = modulation(encoding, HOURS if along == "time" else np.arange(64), along)
    assert np.allclose(found.mean, found.elsewhere, atol=1e-5) == same


@settings(deadline=None, max_examples=20)
@given(heads=st.integers(1, 4), pairs=st.integers(1, 8), count=st.integers(1, 5))
def test_shapes(heads: int, pairs: int, count: int) -> None:
    found = modulation(ClockRoPE(), np.arange(count) * 60, head_dim=2 * pairs, num_heads=heads)
    assert found.heads.shape == (heads, count)
    assert found.mean.shape == found.elsewhere.shape == found.lags.shape == (count,)
    assert found.heads[:, 0] == pytest.approx(np.ones(heads))


def test_nothing_of_the_global_generator_is_used() -> None:
    before = torch.get_rng_state()
    modulation(TRoPE(), HOURS)
    assert torch.equal(torch.get_rng_state(), before)


def test_what_is_no_lag_is_refused() -> None:
    for lags in (np.arange(0), np.array([3, -1]), np.zeros((2, 2), np.int64)):
        with pytest.raises(InputError, match="expected at least one, none negative"):
            modulation(RoPE(), lags)
    with pytest.raises(InputError, match="colour"):
        modulation(RoPE(), HOURS, "colour")
