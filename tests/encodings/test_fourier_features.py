"""Fourier features against cosines at 50 digits, and the products that depend on gaps alone."""

from datetime import timedelta

import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rota.encodings import FourierFeatures, clock_features
from rota.errors import InputError

DAY, WEEK = 86_400, 604_800
PERIODS = torch.tensor([DAY, WEEK])
SECONDS = st.integers(-2_000_000_000, 7_000_000_000)


@given(time=SECONDS)
def test_the_paper_s_four_features_in_its_order(time: int) -> None:
    with mpmath.workdps(50):
        wanted = [
            float(function(2 * mpmath.pi * time / period))
            for period in (DAY, WEEK)
            for function in (mpmath.cos, mpmath.sin)
        ]
    got = clock_features(torch.tensor([time]), PERIODS)
    assert got.shape == (1, 4)
    assert got[0].tolist() == pytest.approx(wanted, abs=3e-7)


@given(one=SECONDS, other=SECONDS, shift=SECONDS)
def test_their_product_depends_on_the_gap_alone(one: int, other: int, shift: int) -> None:
    def product(first: int, second: int) -> float:
        return float(
            clock_features(torch.tensor(first), PERIODS) @ clock_features(torch.tensor(second), PERIODS)
        )

    with mpmath.workdps(50):
        gap = sum(float(mpmath.cos(2 * mpmath.pi * (one - other) / period)) for period in (DAY, WEEK))
    assert product(one, other) == pytest.approx(gap, abs=2e-6)
    assert product(one + shift, other + shift) == pytest.approx(gap, abs=2e-6)


def test_by_hand() -> None:
    time = torch.tensor([[0, DAY // 4, DAY // 2, DAY, -DAY]])
    daily = clock_features(time, PERIODS)[..., :2]
    wanted = torch.tensor([[[1.0, 0], [0, 1], [-1, 0], [1, 0], [1, 0]]])
    torch.testing.assert_close(daily, wanted, rtol=0, atol=1e-6)
    assert daily.dtype == torch.float32


def test_event_and_query_are_projected_apart_without_a_bias() -> None:
    module = FourierFeatures(["24h"]).build(2)
    assert set(dict(module.named_parameters())) == {"project.weight"}
    with torch.no_grad():
        module.project.weight.copy_(torch.tensor([[1.0, 0, 0, 10], [0, 1, 10, 0]]))
    key, query = torch.tensor([[0, DAY // 4]]), torch.tensor([[DAY // 4, DAY // 2]])
    torch.testing.assert_close(
        module(key, query).detach(), torch.tensor([[[11.0, 0], [0, -9]]]), rtol=0, atol=1e-5
    )


def test_periods_are_kept_as_seconds() -> None:
    assert FourierFeatures() == FourierFeatures(["24h", "7d"]) == FourierFeatures([timedelta(days=1), WEEK])
    assert FourierFeatures(["0.7d"]).build(4, "ms").periods.tolist() == [60_480_000]


@pytest.mark.parametrize(
    ("periods", "says"),
    [
        ("24h", r"periods '24h': expected a list of periods: write FourierFeatures\(\['24h'\]\)"),
        (["fortnight"], "duration 'fortnight': expected a number and one of s, min, h, d, w"),
        (["24h", "1M"], "duration '1M'"),
        ([0], "duration 0: expected a positive"),
        ([], "FourierFeatures has no period: expected at least one"),
    ],
)
def test_periods_that_nobody_can_read_are_refused(periods: object, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        FourierFeatures(periods)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_single_number_is_no_list_of_periods(unchecked_shapes: None) -> None:
    with pytest.raises(InputError, match=r"periods 86400: expected a list of periods: write"):
        FourierFeatures(86_400)  # type: ignore[arg-type]


def test_a_period_must_be_whole_ticks_of_the_clock() -> None:
    with pytest.raises(InputError, match=r"period 0\.5 .* use a finer unit"):
        FourierFeatures([0.5]).build(4, "s")
    assert FourierFeatures([0.5]).build(4, "ms").periods.tolist() == [500]
