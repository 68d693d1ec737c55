"""Durations and ticks: hand-computed values, and that nothing is rounded or guessed."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

from rota.errors import InputError
from rota.types import Duration
from rota.units import UNITS, duration_text, lag_seconds, seconds, ticks_per_second, whole_ticks

SIZES = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        ("24h", 86_400),
        ("7d", 604_800),
        ("0.5h", 1800),
        (".5 h", 1800),
        (" 30 min ", 1800),
        ("90", 90),
        ("1e3s", 1000),
        ("2w", 1_209_600),
        ("1 Day", 86_400),
        ("24H", 86_400),
        (90, 90),
        (0.25, 0.25),
        (timedelta(hours=1, milliseconds=1), 3600.001),
    ],
)
def test_seconds(duration: Duration, expected: float) -> None:
    value = seconds(duration)
    assert value == expected
    assert type(value) is float


@pytest.mark.parametrize(
    "duration",
    [
        "",
        "h",
        "24 hh",
        "1h30",
        "-1h",
        "1,5h",
        "nan",
        "1M",
        0,
        -1,
        "0s",
        "1e400s",
        "1e99w",
        10**400,
        float("nan"),
        float("inf"),
        True,
        timedelta(0),
        "1" * 400,
    ],
)
def test_what_is_no_duration(duration: Duration) -> None:
    with pytest.raises(InputError, match=r"^duration") as caught:
        seconds(duration)
    assert "expected" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("duration", [None, b"24h", np.timedelta64(24, "h"), ["24h"]])
def test_what_is_of_no_type_for_a_duration(duration: Any) -> None:
    with pytest.raises(
        (InputError, TypeCheckError)
    ) as caught:  # the latter where types are checked at run time
        seconds(duration)
    if isinstance(caught.value, InputError):
        assert "expected" in str(caught.value)


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (86_400, "24h"),
        (604_800, "7d"),
        (3600, "1h"),
        (1800, "0.5h"),
        (90, "1.5min"),
        (30, "30s"),
        (129_600, "36h"),
    ],
)
def test_duration_text(length: int, text: str) -> None:
    assert duration_text(float(length)) == text


@given(st.floats(1e-9, 1e12) | st.integers(1, 10**9).map(float))
def test_duration_text_reads_back_exactly(length: float) -> None:
    assert seconds(duration_text(length)) == length


def test_ticks_per_second() -> None:
    assert [ticks_per_second(unit) for unit in UNITS] == [1, 10**3, 10**6, 10**9]
    with pytest.raises(InputError, match="time unit 'h': expected one of s, ms, us, ns"):
        ticks_per_second("h")


@given(
    st.integers(1, 10**6),
    st.sampled_from([1, 10, 100, 1000]),
    st.sampled_from(list(SIZES)),
    st.sampled_from(UNITS),
)
def test_whole_ticks_equals_exact_fractions(count: int, parts: int, size: str, unit: str) -> None:
    text = f"{count / parts}{size}"
    exact = Fraction(str(count / parts)) * SIZES[size] * ticks_per_second(unit)
    if exact.denominator == 1 and 2 <= exact < 2**63:
        assert whole_ticks(text, unit) == exact
    else:
        with pytest.raises(InputError, match="unit"):
            whole_ticks(text, unit)


@given(st.integers(2, 10**9), st.sampled_from([1, 10**3, 10**6]))
def test_seconds_computed_in_floating_point_are_ticks(ticks: int, parts: int) -> None:
    unit = {1: "s", 10**3: "ms", 10**6: "us"}[parts]
    assert whole_ticks(ticks / parts, unit) == ticks
    assert whole_ticks(ticks * 0.1 / parts * 10, unit) == ticks


def test_whole_ticks_never_rounds() -> None:
    assert whole_ticks("0.7d") == whole_ticks(0.7 * 86_400) == 60_480  # the float is 60479.99999999999
    assert whole_ticks("9.451w", "ns") == 5_715_964_800_000_000
    assert whole_ticks(timedelta(days=3, microseconds=1), "us") == 259_200_000_001
    with pytest.raises(InputError, match=r"period 1\.5 is 1\.5 ticks of the clock's unit 's': .* finer unit"):
        whole_ticks(1.5)
    for length in (1_000_000_000.5, "1000000000000000.5s"):
        with pytest.raises(InputError, match="expected a whole number"):
            whole_ticks(length)
    with pytest.raises(InputError, match="under two ticks"):
        whole_ticks("1s")
    with pytest.raises(InputError, match="exceeds int64"):
        whole_ticks("1e12d", "ns")


@pytest.mark.parametrize(
    ("lag", "expected"),
    [
        (3600, 3600.0),
        (np.float32(0.5), 0.5),
        (np.array([[1, -2]], np.int16), [[1.0, -2.0]]),
        (10**25, 1e25),
        ([], []),
        (np.timedelta64(2, "h"), 7200.0),
        (np.timedelta64(3, "W"), 3 * 604_800.0),
        (np.array([1, -1_500_000_000], "m8[ns]"), [1e-9, -1.5]),
        (np.array([[3]], "m8[10ms]"), [[0.03]]),
        (timedelta(hours=-1, microseconds=1), -3599.999999),
        (np.array([timedelta(1), timedelta(0)], object), [86_400.0, 0.0]),
        (np.array([timedelta(1), np.timedelta64(1, "s"), 2], object), [86_400.0, 1.0, 2.0]),
    ],
)
def test_lag_seconds(lag: Any, expected: Any) -> None:
    found = lag_seconds(lag)
    assert found.dtype == np.float64
    assert found.shape == np.shape(expected)
    np.testing.assert_array_equal(found, expected)


@given(st.integers(-(2**53), 2**53), st.sampled_from(["D", "h", "m", "s", "ms", "us", "ns"]))
def test_lag_seconds_of_numpys_units_are_exact_fractions_rounded(count: int, unit: str) -> None:
    sizes = {"D": 86_400, "h": 3600, "m": 60, "s": 1}
    size = Fraction(sizes[unit]) if unit in sizes else Fraction(1, ticks_per_second(unit))
    assert float(lag_seconds(np.timedelta64(count, unit))) == pytest.approx(float(count * size), rel=3e-16)


def test_floats_are_not_copied_and_not_a_time_is_not_a_number() -> None:
    lags = np.arange(3.0)
    assert lag_seconds(lags) is lags
    assert np.isnan(lag_seconds(np.array(["NaT"], "m8[s]"))).all()


@pytest.mark.parametrize(
    "lag",
    [
        "1h",
        ["1h", "2h"],
        b"1",
        True,
        np.array([True]),
        1j,
        np.array([None]),
        np.array([timedelta(1), True], object),
        np.datetime64("2024-01-01"),
        np.timedelta64(1, "M"),
        np.timedelta64(1),
        [[1.0], [1.0, 2.0]],
        np.array(["a"] * 100),
    ],
    ids=repr,
)
def test_what_is_no_lag(lag: Any) -> None:
    with pytest.raises(InputError, match=r"lags are seconds \(numbers\), or timedelta64") as caught:
        lag_seconds(lag)
    assert "\n" not in str(caught.value)
