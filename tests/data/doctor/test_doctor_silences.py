"""Days without events: which of them chance and custom explain."""

import numpy as np

from rota.data.doctor import Counts, unexplained_silences


def daily(events: list[int]) -> Counts:
    days = np.flatnonzero(events).astype(np.int64)
    return Counts(days, np.asarray(events, dtype=np.int64)[days])


def steady(days: int, mean: float, seed: int = 0) -> list[int]:
    return [int(n) for n in np.random.default_rng(seed).poisson(mean, days)]


def test_a_hole_in_a_steady_log_is_found() -> None:
    events = steady(200, 40)
    events[90:95] = [0] * 5
    (found,) = unexplained_silences(daily(events))
    assert (found.start, found.days) == (90, 5)
    assert 180 < found.expected < 220


def test_the_longest_is_first() -> None:
    events = steady(300, 40)
    events[50:52], events[200:209] = [0] * 2, [0] * 9
    assert [each.days for each in unexplained_silences(daily(events))] == [9, 2]


def test_one_silence_does_not_excuse_the_next() -> None:
    events = steady(200, 40)
    for start in (60, 85, 110):
        events[start : start + 14] = [0] * 14
    assert [each.start for each in unexplained_silences(daily(events))] == [60, 85, 110]


def test_chance_leaves_days_empty() -> None:
    for seed in range(20):
        assert not unexplained_silences(daily([1, *steady(400, 1.0, seed), 1]))


def test_closed_on_sundays_is_a_custom_and_a_holiday_is_not() -> None:
    events = steady(210, 40)
    events[6::7] = [0] * 30
    assert not unexplained_silences(daily(events))
    events[100:112] = [0] * 12
    (found,) = unexplained_silences(daily(events))
    assert found.days >= 12


def test_bursts_explain_silence() -> None:
    rng = np.random.default_rng(0)
    bursts = [int(n) for n in rng.poisson(60, 400) * (rng.random(400) < 0.2)]  # one user's evenings
    assert not unexplained_silences(daily([60, *bursts, 60]))


def test_a_log_of_one_or_two_days_has_none() -> None:
    assert not unexplained_silences(daily([5]))
    assert not unexplained_silences(daily([5, 5]))
