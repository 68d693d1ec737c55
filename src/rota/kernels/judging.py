"""Judging a function: no with a witness, yes under the caller's word, else undecided."""

from collections.abc import Callable, Sequence

import numpy as np

from rota.errors import InputError
from rota.kernels.certificate import Certificate, Verdict
from rota.kernels.evidence import first_flaw, scale_of
from rota.kernels.inversion import Inversion
from rota.kernels.searching import Found, search, search_period
from rota.types import Float64Array
from rota.units import duration_text

__all__: list[str] = []

Profile = Callable[[Float64Array], Float64Array]

TOLERANCE = 1e-6  # of a profile's value: a bound below it makes a yes
_STEPS = 1.1 * 2.0 ** np.arange(-7, 8)  # of the grids that are searched, over the profile's scale
_PARTS = 1.1 * 2.0 ** -np.arange(4.0, 14.0)  # likewise, over a period whose own grids show nothing


def judged(
    profile: Profile, period: float | None, claims: Sequence[str], inversion: Callable[[], Inversion]
) -> Certificate:
    """Certificate of a profile that is known by its values.

    Args:
        profile: Lags in seconds.
        period: As claimed, in seconds; ``None`` for one that dies away.
        claims: The caller's word, as a reader should see it.
        inversion: Gives the nearest law; asked only where nothing is found against the profile.
    """
    flaw = first_flaw(profile, period)
    if flaw is not None:
        return flaw
    found = _searched(profile, period)
    if found.is_negative:
        return Certificate(Verdict.NO, _negative(found, period), found.witness)
    try:
        inverted = inversion()
    except InputError as error:
        return Certificate(Verdict.UNDECIDED, str(error), None, 2.0)  # no two profiles differ by more
    if inverted.bound is not None and inverted.bound <= TOLERANCE:
        reason = f"given that {' and '.join(claims)}, it is within {inverted.bound:.2g} of a law's profile"
        return Certificate(Verdict.YES, reason, None, inverted.bound)
    return Certificate(Verdict.UNDECIDED, _open(inverted, period), None, inverted.error)


def _searched(profile: Profile, period: float | None) -> Found:
    if period is not None:
        found = search_period(profile, period)
        return found if found.is_negative else search(profile, (period * _PARTS).tolist())
    try:
        return search(profile, (scale_of(profile) * _STEPS).tolist())
    except InputError:  # no scale is seen, which `inversion` then says
        return search(profile)


def _negative(found: Found, period: float | None) -> str:
    points, weights = found.witness.points, found.witness.weights
    assert weights is not None
    form = f"a quadratic form of {found.witness.value:.3g} at {len(points)} points"
    if period is None or not np.isclose(points[1] * len(points), period):
        return f"it has {form}, {points[1]:.4g} s apart"
    harmonic = int(np.argmax(np.abs(np.fft.rfft(weights))))
    mass = found.witness.value / len(points)
    return (
        f"harmonic {harmonic} of {duration_text(period)} has a mass of {mass:.3g}, the first that is "
        f"negative: {form} over a period"
    )


def _open(inverted: Inversion, period: float | None) -> str:
    near = f"nothing was found against it, and a law's profile within {inverted.error:.2g} of its samples"
    if inverted.bound is not None:
        return f"{near}; the bound reached is {inverted.bound:.2g}, where {TOLERANCE:g} would decide"
    needed = "smoothness" if period is not None else "smoothness and tail"
    return f"{near}; give {needed} to `from_function` for a bound"
