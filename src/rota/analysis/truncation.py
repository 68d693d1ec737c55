"""Where truncation bites: mass cut and error of the profile, as functions of the largest frequency kept."""

from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.spectra.base import Law
from rota.spectra.lattice import Lattice
from rota.spectra.mixture import Mixture
from rota.types import Float64Array
from rota.units import seconds

__all__ = ["TruncationCurve", "truncated", "truncation_curve"]

_EXPECTED = 'expected the largest harmonic kept, such as 6, or the shortest cycle, such as "2h"'
_FINEST, _SCALES = 48, 5.0  # points of a curve, and how many scales it goes to
_MANY = 5000  # harmonics: each point then takes a tenth of a second


@dataclass(frozen=True, eq=False)
class TruncationCurve:
    """What is lost at each largest frequency.

    Attributes:
        cycles_per_second: Largest frequency kept, shape ``(n,)``.
        mass_cut: Mass beyond, of the law before truncation.
        sup_error: Most by which the profile changes, at any lag.
    """

    cycles_per_second: Float64Array
    mass_cut: Float64Array
    sup_error: Float64Array


def truncation_curve(law: Law) -> TruncationCurve:
    """Truncate a law at ever higher frequencies, up to five times its scale.

    Args:
        law: Before truncation; a mixture is cut at one frequency for all of its parts.
    """
    whole = law.merged() if isinstance(law, Mixture) else law
    if isinstance(whole, Lattice):
        top = min(max(int(np.ceil(_SCALES * whole.spread)), 1), max(int(np.abs(whole.harmonics).max()), 1))
        points = _FINEST if top < _MANY else _FINEST // 4
        steps = np.unique(np.linspace(0, top, min(top, points) + 1).round())
        cuts = [(s / whole.period, float(s)) for s in steps.tolist()]
    else:
        cuts = [(s, s) for s in np.linspace(0, _SCALES * whole.scale, _FINEST + 1)[1:].tolist()]
    found = [(at, cut) for at, s in cuts if (cut := _cut(whole, s)) is not None]
    return TruncationCurve(
        np.array([at for at, _ in found]),
        np.array([cut.mass_cut for _, cut in found]),
        np.array([min(cut.sup_error, 2 * cut.mass_cut) for _, cut in found]),  # no measure moves it by more
    )


def _cut(law: Law, s: float) -> Law | None:
    """The law truncated, or none where that leaves no mass."""
    try:
        return law.truncate_at(s) if isinstance(law, Mixture) else law.truncate(s)
    except InputError:
        return None


def shortest_cycle(written: str) -> float:
    """Length in seconds of the shortest cycle that a truncation keeps.

    Raises:
        InputError: It is no length of time.
    """
    try:
        return seconds(written)
    except InputError as error:
        raise InputError(f"truncation at {written!r}: {_EXPECTED}") from error


def truncated(law: Law, at: int | str | None = None) -> Law:
    """Truncate as an encoding does.

    Args:
        law: Of a profile; each part of a mixture is truncated by itself.
        at: Largest harmonic of each period; or, as a length of time, the shortest cycle that is kept. By
            default a lattice keeps ``ceil(3 sigma*)`` harmonics, as ClockRoPE's does, and a density all.

    Raises:
        InputError: No mass is left, a harmonic is asked of a law without harmonics, or it is neither a
            harmonic nor a length of time.
    """
    if isinstance(at, int) and at < 0:
        raise InputError(f"truncation at {at}: {_EXPECTED}")
    if isinstance(law, Mixture) and not isinstance(at, str):
        return Mixture([truncated(part, at) for part in law.laws], law.weights)
    if isinstance(at, str):
        highest = (1 + 1e-12) / shortest_cycle(at)  # the cycle itself is kept, whatever the rounding
        if isinstance(law, Mixture):
            return law.truncate_at(highest)
        return law.truncate(np.floor(highest * law.period) if isinstance(law, Lattice) else highest)
    if isinstance(law, Lattice):
        return law.truncate(at)
    if at is not None:
        raise InputError(
            f'truncation at harmonic {at} of a law without harmonics: give the shortest cycle, such as "2h"'
        )
    return law
