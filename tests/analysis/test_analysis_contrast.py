import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.analysis import AttentionByGap, daily_contrast
from rota.errors import InputError
from rota.types import Float64Array

CENTRES = np.arange(337) / 2
EDGES = (np.arange(338) - 0.5) / 2
UNTIL_PEAK = np.abs((CENTRES + 12) % 24 - 12)


def curve(relative: Float64Array, pairs: Float64Array | None = None) -> AttentionByGap:
    counts = np.full(337, 10) if pairs is None else np.asarray(pairs).astype(np.int64)
    return AttentionByGap(EDGES, np.where(counts > 0, relative, np.nan), counts)


def test_peaks_over_a_flat_ground_by_hand() -> None:
    assert daily_contrast(curve(np.where(UNTIL_PEAK <= 1, 6.0, 2.0))) == pytest.approx(3.0)
    half = np.where(UNTIL_PEAK <= 0.5, 6.0, 2.0)  # 3 of the 5 half-hours of a window
    assert daily_contrast(curve(half)) == pytest.approx((3 * 6 + 2 * 2) / 5 / 2)


def test_only_the_peaks_with_both_sides_count() -> None:
    ends = np.where((CENTRES <= 6) | (CENTRES >= 162), 100.0, 1.0)
    assert daily_contrast(curve(ends)) == pytest.approx(1.0)


@given(st.floats(0, 0.2), st.integers(0, 1000))
def test_recency_alone_is_no_daily_peak(rate: float, seed: int) -> None:
    """Two bins a day, so that the pairs' spread within a window cannot matter: then exactly 1."""
    pairs = np.random.default_rng(seed).integers(1, 1000, 337) * (UNTIL_PEAK % 12 == 0)
    assert daily_contrast(curve(np.exp(-rate * CENTRES), pairs)) == pytest.approx(1.0)


def test_pairs_weigh_the_peaks() -> None:
    peaks = np.where(UNTIL_PEAK <= 1, np.where(CENTRES < 36, 9.0, 2.0), 1.0)
    pairs = np.where(CENTRES < 36, 50, 10)
    assert daily_contrast(curve(peaks, pairs)) == pytest.approx((50 * 9 + 5 * 10 * 2) / 100)


def test_windows_without_pairs_are_left_out() -> None:
    relative = np.where(UNTIL_PEAK <= 1, np.where(CENTRES > 100, 7.0, 3.0), 1.0)
    no_third_night = np.where(np.abs(CENTRES - 84) <= 1, 0, 10)
    without = daily_contrast(curve(relative, no_third_night))
    assert without == pytest.approx((3 + 3 + 7 + 7) / 4)  # 24, 48, 120, 144; 72 and 96 lack a side
    assert np.isnan(daily_contrast(curve(relative, np.zeros(337))))


def test_another_period() -> None:
    weekly = np.where(np.abs(CENTRES - 84) <= 1, 5.0, 1.0)
    assert daily_contrast(curve(weekly), period_hours=84.0) == pytest.approx(5.0)


@pytest.mark.parametrize("period", [0.0, -24.0, 113.0])
def test_a_period_that_does_not_fit_is_refused(period: float) -> None:
    with pytest.raises(InputError, match=r"expected above 0 and, for attention up to 168 h, at most 112 h"):
        daily_contrast(curve(np.ones(337)), period)
