"""design: from a wanted profile to frequencies, and how well they realise it."""

import json
from pathlib import Path

import numpy as np

from rota.analysis.designs import Design
from rota.analysis.horizons import horizon
from rota.analysis.spread import spread_over_seeds
from rota.analysis.truncation import truncated
from rota.errors import InputError
from rota.files import written_whole
from rota.frequencies.convergence import pairs_needed
from rota.frequencies.drawing import draw
from rota.kernels.base import Kernel
from rota.kernels.certificate import Certificate, Verdict
from rota.kernels.certification import certify
from rota.kernels.expression import parse_kernel
from rota.kernels.measured import Measured
from rota.kernels.projection import Projection, project

__all__ = ["design", "save_design"]

_MOST_DRAWN = 100_000  # frequencies of a draw: half a minute over seeds, and more than any layer has
_FEWEST, _MOST = 721, 2881  # lags: one every two minutes of a day, or enough for narrow peaks


def design(
    profile: Kernel | str,
    *,
    pairs: int = 32,
    heads: int = 8,
    seed: int = 0,
    method: str = "nested_lattice",
    fold: bool = True,
    truncation: int | str | None = None,
    error: float = 0.1,
    confidence: float = 0.95,
) -> Design:
    """Certify a profile, draw frequencies for it, and measure what they realise.

    A profile that is not positive definite, or not known to be, is replaced by the nearest one that is: the
    design says so, and how far the two are apart.

    Args:
        profile: A kernel, or its expression: ``"wrapped_gaussian(24h, 2h)"``.
        pairs: Of a head: half of its features.
        heads: Of a layer.
        seed: Of the draw, in layer 0.
        method: How draws are spread; see `draw`.
        fold: Draw absolute frequencies (ClockRoPE, Eq. 20).
        truncation: Largest harmonic of each period, or the shortest cycle kept (``"2h"``); by default
            ``ceil(3 sigma*)`` harmonics, and a density whole.
        error: Of the profile at a lag, for which the pairs that are needed are given.
        confidence: With which they keep it.

    Raises:
        InputError: The expression cannot be read, the profile is not admissible and none that is can be found
            near it, or sizes (to 100,000 pairs of all heads), seed, method, truncation, error or confidence
            are out of range.
    """
    if pairs * heads > _MOST_DRAWN:
        raise InputError(
            f"{pairs:,} pairs of {heads:,} heads: expected at most {_MOST_DRAWN:,} frequencies in all"
        )
    needed = pairs_needed(error, confidence)
    wanted = parse_kernel(profile) if isinstance(profile, str) else profile
    certificate = certify(wanted)
    drawn, distance = wanted, 0.0
    if certificate.verdict != Verdict.YES:
        nearest = _nearest(wanted, certificate)
        drawn, distance = nearest.kernel, nearest.distance
    whole = drawn.spectrum()
    # What was measured has the harmonics that it was found to have: by default none is cut.
    law = whole if truncation is None and isinstance(drawn, Measured) else truncated(whole, truncation)
    law = law.fold() if fold else law
    frequencies = draw(law, pairs, heads, seed, method=method)
    lags = _lags(horizon(drawn), law.scale)
    values = drawn(lags)
    spread = spread_over_seeds(law, values, lags, pairs=pairs, heads=heads, method=method)
    return Design(
        wanted, certificate, drawn, distance, whole, law, truncation, frequencies, method, seed, lags,
        values, spread, error, confidence, needed,
    )  # fmt: skip


def _nearest(wanted: Kernel, certificate: Certificate) -> Projection:
    try:
        return project(wanted)
    except InputError as error:
        if certificate.verdict != Verdict.NO:  # what is undecided for this reason says so itself
            raise
        raise InputError(
            f"{wanted} is not admissible: {certificate.reason}; nor is one near it found that is: {error}"
        ) from error


def _lags(longest: float, scale: float) -> np.ndarray:
    """Even lags from 0 on: at least sixteen to the shortest cycle of any weight."""
    wanted = 48 * scale * longest
    return np.linspace(0, longest, int(np.clip(wanted, _FEWEST - 1, _MOST - 1)) + 1)


def save_design(found: Design, path: str | Path) -> None:
    """Write a design's figures and frequencies as JSON; the file appears only when complete.

    Raises:
        InputError: The folder does not exist, or the path is a folder.
    """
    with written_whole(path) as part:
        part.write_text(json.dumps(found.facts(), indent=2, allow_nan=False) + "\n", encoding="utf-8")
