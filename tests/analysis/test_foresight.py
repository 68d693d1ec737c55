"""Foresight: harmonics that help nobody to foresee are left out, and those that do are kept."""

import math

import numpy as np
import pytest

from rota.analysis.foresight import Hindsight, fastest_of_use, slowed
from rota.kernels import Constant, Harmonics, Laplace, Measured
from rota.types import Int64Array

HOUR, DAY = 3600, 86_400
LAW = Measured(Constant() * 0.2 + Harmonics("24h", [1, 2, 5], [0.5, 0.3, 0.2]) * 0.6 + Laplace("12h") * 0.2)
FLAT = Measured(Constant() * 0.2 + Harmonics("24h", list(range(1, 25)), [1 / 24] * 24) * 0.8)


def town(jitter: float, users: int = 60, days: int = 40) -> tuple[Int64Array, Int64Array, Int64Array]:
    """A habit for each hour, of which a user keeps one in six a day, so many hours early or late."""
    rng = np.random.default_rng(0)
    times, items, offsets = [], [], [0]
    for _ in range(users):
        day, habit = np.nonzero(rng.random((days, 24)) < 1 / 6)
        hour = habit + rng.normal(0, jitter, len(day))
        order = np.argsort(24 * day + hour)
        times.append(np.round((24 * day + hour)[order] * HOUR).astype(np.int64) + 10 * DAY)
        items.append(habit[order])
        offsets.append(offsets[-1] + len(day))
    return np.array(offsets), np.concatenate(times), np.concatenate(items)


def test_surprise_equals_a_loop() -> None:
    offsets, times, items = np.array([0, 7, 8, 16]), np.arange(16) * 5 * HOUR, np.arange(16) % 3
    hindsight = Hindsight.of(offsets, times, items, "s")
    profile = LAW(np.nan_to_num(hindsight.lags))
    told: list[list[float]] = []
    for beta in (2, 3, 4, 6, 8, 12):
        own = []
        for event in (5, 6, 13, 14, 15):
            first = 0 if event < 7 else 8
            back = range(first, event)
            weights = [math.exp(beta * float(LAW(float(times[event] - times[k])))) for k in back]
            same = sum(w for w, k in zip(weights, back, strict=True) if items[k] == items[event])
            own.append(-math.log(0.9 * same / sum(weights) + 0.1 / 3))
        told.append(own)
    assert hindsight.users.tolist() == [0, 0, 2, 2, 2]
    np.testing.assert_allclose(hindsight.surprise(profile), min(told, key=np.mean), rtol=1e-12)


def test_where_the_wall_clock_steps_back_an_event_is_as_near_as_it_was() -> None:
    times = np.array([0, 1, 2, 3, 4, 3.5]) * HOUR
    hindsight = Hindsight.of(np.array([0, 6]), times.astype(np.int64), np.zeros(6, np.int64), "s")
    assert hindsight.lags[0, 0] == HOUR / 2


def test_what_stays_changes_nothing() -> None:
    hindsight = Hindsight.of(*town(1.0, users=5), "s")
    moving = Measured(Harmonics("24h", [1, 2, 5], [0.5, 0.3, 0.2]) * 0.75 + Laplace("12h") * 0.25)
    assert fastest_of_use(LAW, hindsight) == fastest_of_use(moving, hindsight)


def test_the_later_the_habit_the_slower_the_law() -> None:
    found = [fastest_of_use(FLAT, Hindsight.of(*town(jitter), "s")) / HOUR for jitter in (0.1, 1.0, 2.0)]
    assert found[0] <= 2
    assert found[0] < found[1] < found[2] <= 24
    assert found[2] >= 12


def test_a_law_without_a_period_and_a_log_without_a_past_are_left_alone() -> None:
    fading = Measured(Constant() * 0.5 + Laplace("12h") * 0.5)
    hindsight = Hindsight.of(*town(1.0, users=5), "s")
    assert fastest_of_use(fading, hindsight) == np.inf
    assert slowed(fading, np.inf) == (fading, 1.0, 0)
    nobody = Hindsight.of(np.array([0, 3]), np.arange(3) * DAY, np.arange(3), "s")
    assert fastest_of_use(LAW, nobody) == pytest.approx(DAY / 5)
    assert slowed(LAW, fastest_of_use(LAW, nobody)) == (LAW, 1.0, 0)


def test_slowed_is_the_law_without_its_fast_harmonics() -> None:
    kernel, left, dropped = slowed(LAW, DAY / 2)
    assert (left, dropped) == (pytest.approx(0.88), 1)
    lags = np.linspace(0, 3 * DAY, 500)
    fast = 0.12 * np.cos(2 * np.pi * 5 * lags / DAY)
    np.testing.assert_allclose(kernel(lags) * 0.88, LAW(lags) - fast, atol=1e-4)  # shares have four digits
    weekly = Measured(Harmonics("24h", [1, 2], [0.5, 0.5]) * 0.5 + Harmonics("7d", [1, 3], [0.5, 0.5]) * 0.5)
    kernel, _, dropped = slowed(weekly, 5 * DAY)
    assert dropped == 3
    assert [(part.period, part.harmonics) for _, part in kernel.periodic] == [(7 * DAY, (1,))]
