"""Evidence: what single values of a profile show against it, before any quadratic form is looked for."""

from collections.abc import Callable

import numpy as np

from rota.errors import InputError
from rota.kernels.certificate import Certificate, Verdict, Witness
from rota.kernels.sampled import even_samples
from rota.types import Float64Array
from rota.units import duration_text

__all__: list[str] = []

Profile = Callable[[Float64Array], Float64Array]

_SLACK = 1e-9  # of a value: what a careful function may be off by
_FAR = 1e10  # s, 300 years: a profile that has not died away by then does not
_DEAD = 1e-3
_PERIODS_AWAY = (1, -2, 7, 30)


def probe_lags(period: float | None = None) -> Float64Array:
    """Lags at which a profile is first looked at, in seconds, ascending from 0.

    From a microsecond to 30,000 years, 64 to a decade; within one period where there is one.
    """
    if period is None:
        return np.concatenate([[0.0], np.geomspace(1e-6, 1e12, 18 * 64 + 1)])
    uneven = np.mod(np.arange(1, 1025) * 0.6180339887498949, 1)
    return np.unique(np.concatenate([np.arange(256) / 256, uneven])) * period


def scale_of(profile: Profile) -> float:
    """First lag at which a profile has fallen by a tenth, in seconds.

    Raises:
        InputError: It does not die away, or not begin to fall within the lags that are looked at.
    """
    lags = probe_lags()
    values = np.abs(even_samples(profile, lags)).max(0)
    last = values[lags >= _FAR]
    if not last.max() <= _DEAD:
        lag = lags[lags >= _FAR][int(np.argmax(last))]
        raise InputError(
            f"the profile does not die away: it is {last.max():.3g} at a lag of {lag:.3g} s; give its "
            "period, if it has one"
        )
    fallen = np.flatnonzero(profile(lags) < 0.9)
    if not len(fallen) or lags[fallen[0]] <= lags[1]:
        raise InputError(f"the profile falls at once: expected one that is near 1 at a lag of {lags[1]:g} s")
    return float(lags[fallen[0]])


def first_flaw(profile: Profile, period: float | None = None) -> Certificate | None:
    """No, with the first value that no admissible profile has; ``None`` where none was found.

    Looked at: that values are finite, ``f(0) = 1``, f is even, ``|f| <= 1``, and the period is one.

    Args:
        profile: Lags in seconds.
        period: As claimed, in seconds.
    """
    lags = probe_lags(period)
    values, mirrored = profile(lags), profile(-lags)
    return (
        _not_finite(lags, values)
        or _not_finite(-lags, mirrored)
        or _not_one_at_zero(values)
        or _not_even(lags, values, mirrored)
        or _above_one(lags, values)
        or (None if period is None else _not_periodic(profile, lags, period))
    )


def _no(reason: str, points: list[float], value: float, weights: Float64Array | None = None) -> Certificate:
    return Certificate(Verdict.NO, reason, Witness(np.array(points), weights, value))


def _not_finite(lags: Float64Array, values: Float64Array) -> Certificate | None:
    wrong = np.flatnonzero(~np.isfinite(values))
    if not len(wrong):
        return None
    lag, value = float(lags[wrong[0]]), float(values[wrong[0]])
    return _no(f"it is not finite: {value} at a lag of {lag:g} s", [lag], value)


def _not_one_at_zero(values: Float64Array) -> Certificate | None:
    value = float(values[0])
    if abs(value - 1) <= _SLACK:
        return None
    return _no(f"f(0) = {value:.9g}, and an attention profile has f(0) = 1: divide it by that", [0.0], value)


def _not_even(lags: Float64Array, values: Float64Array, mirrored: Float64Array) -> Certificate | None:
    worst = int(np.argmax(np.abs(values - mirrored)))
    lag, apart = float(lags[worst]), float(values[worst] - mirrored[worst])
    if abs(apart) <= _SLACK:
        return None
    reason = (
        f"it is not even: f({lag:g} s) = {values[worst]:.6g} and f({-lag:g} s) = {mirrored[worst]:.6g}, and "
        "real positive definite profiles are even"
    )
    return _no(reason, [lag, -lag], apart)


def _above_one(lags: Float64Array, values: Float64Array) -> Certificate | None:
    worst = int(np.argmax(np.abs(values)))
    lag, value = float(lags[worst]), float(values[worst])
    form = float(values[0]) - abs(value)
    if form >= -_SLACK:
        return None
    weights = np.array([1.0, -np.sign(value)]) / np.sqrt(2)
    reason = f"|f({lag:g} s)| = {abs(value):.6g} exceeds f(0): two points so far apart have a negative form"
    return _no(reason, [0.0, lag], form, weights)


def _not_periodic(profile: Profile, lags: Float64Array, period: float) -> Certificate | None:
    lags = lags[np.mod(lags * 256 / period, 1) != 0]  # a jump may lie at a round part of a period
    values = profile(lags)
    for count in _PERIODS_AWAY:
        apart = profile(lags + count * period) - values
        wrong = ~(np.abs(apart) <= _SLACK)  # nan is wrong too
        if wrong.any():
            worst = int(np.argmax(np.where(np.isnan(apart), np.inf, np.abs(apart))))
            lag, far = float(lags[worst]), float(lags[worst] + count * period)
            reason = (
                f"its period is not {duration_text(period)}: f({lag:g} s) = {values[worst]:.6g} and "
                f"f({far:g} s) = {values[worst] + apart[worst]:.6g}"
            )
            return _no(reason, [lag, far], float(apart[worst]))
    return None
