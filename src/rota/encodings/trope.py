"""T-RoPE: rotation by time with learned coefficients on a geometric bank, keys turned backwards."""

import math
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import torch

from rota.encodings.base import Encoding
from rota.encodings.coefficients import CoefficientRotation, Mix
from rota.encodings.origins import START_OF_2020, require_origin
from rota.encodings.site import Site
from rota.encodings.trope_choices import Coefficients, KeyRotation, Parametrisation, RotatedSides
from rota.errors import InputError
from rota.frequencies.geometric import geometric_bank
from rota.frequencies.streams import streams
from rota.types import Duration
from rota.units import seconds


@dataclass(frozen=True)
class TRoPE(Encoding):
    """Time-aware rotary embedding (T-RoPE, Eq. 1-9, App. B.1), one coefficient for each plane and side.

    Queries turn by ``alpha_q t / beta`` radians, keys by ``-alpha_k t / beta`` (nonstationary) or
    ``alpha_k t / beta`` (stationary). Coefficients are shared by the heads of a layer and start as
    ``N(0, 1)`` times the spread. With free coefficients the phase of a query and a key is no function of
    their gap, so that a common shift of all times changes the logits: it can tell the season.

    **Free, nonstationary and stationary keys are one model**: ``-alpha_k`` is as likely a start as
    ``alpha_k``, and optimisers treat both alike. Only tied coefficients tell the two apart: tied and
    stationary depends on the gap alone (Theorem 1), tied and nonstationary on the sum of both times.

    The conditioned parametrisation is our own, of the same functions. It writes the phase of a pair as
    ``w (t_q - t_k) / beta + nu (t_k - t_0) / beta``, with ``w = alpha_q`` and ``nu`` the sum of both, and
    learns how far ``w / beta`` and ``nu / beta`` are from where they started, in turns over ``span``. A step
    of ``lr`` (Adam's) then moves the phase of two times within a span of the origin by at most ``2 lr``
    turns, in every plane, and weight decay pulls back to the start. In the paper's own, a step of 1e-3 moves
    the fastest plane by 2700 turns today. The constant ``nu t_0 / beta`` is a fixed rotation, which the
    projections absorb.

    Attributes:
        shortest: Smallest time scale beta of the bank, kept as seconds (a period of ``2 pi`` times that).
        longest: Largest time scale beta. Equal to the shortest it is a single frequency in all planes.
        spread: Standard deviation of the coefficients at the start.
        coefficients: ``"free"`` or ``"tied"``, which the paper does not offer.
        keys: ``"nonstationary"`` or ``"stationary"``.
        sides: ``"both"``, or ``"query"`` or ``"key"`` alone.
        parametrisation: ``"paper"``: the coefficients, and time since 1970, "without centring"; or
            ``"conditioned"``.
        span: Length of the log, in the conditioned parametrisation.
        origin: ``t_0`` in seconds since 1970, likewise: one for all sequences, so that cached keys stay
            valid. By default the start of 2020.
    """

    shortest: Duration = 1e2
    longest: Duration = 1e8
    spread: float = 1.0
    coefficients: Coefficients | str = Coefficients.FREE
    keys: KeyRotation | str = KeyRotation.NONSTATIONARY
    sides: RotatedSides | str = RotatedSides.BOTH
    parametrisation: Parametrisation | str = Parametrisation.PAPER
    span: Duration = "730d"
    origin: int = START_OF_2020
    needs_clock = True

    def __post_init__(self) -> None:
        parsed = {
            "shortest": _scale(self.shortest),
            "longest": _scale(self.longest),
            "coefficients": Coefficients.parse(self.coefficients),
            "keys": KeyRotation.parse(self.keys),
            "sides": RotatedSides.parse(self.sides),
            "parametrisation": Parametrisation.parse(self.parametrisation),
            "span": seconds(self.span),
        }
        for name, value in parsed.items():
            object.__setattr__(self, name, value)
        if not 0 <= self.spread < math.inf:
            raise InputError(f"spread {self.spread} of T-RoPE: expected a finite number, 0 or above")
        require_origin(self.origin, "T-RoPE")

    def rotation(self, site: Site) -> CoefficientRotation:
        """Draw the starting coefficients of one layer and build the rotation.

        Raises:
            InputError: Sizes do not fit, or the bank's range is not ``0 < shortest <= longest``.
        """
        scales = geometric_bank(site.pairs, _scale(self.shortest), _scale(self.longest))
        bank = torch.from_numpy(1 / (2 * math.pi * scales))
        drawn = self.spread * streams(site.seed, site.layer, site.path)(None).standard_normal((2, site.pairs))
        query, key = torch.from_numpy(drawn.astype(np.float64))
        names, mix = self._learned()
        alphas = [key if name == "key_coefficients" else query for name in names]
        if self.parametrisation == Parametrisation.PAPER:
            learned = {name: alpha.clone() for name, alpha in zip(names, alphas, strict=True)}
            return CoefficientRotation(learned, mix, bank, unit=site.unit)
        start = [
            sum(weight * alpha for weight, alpha in zip(side, alphas, strict=True)) * bank for side in mix
        ]
        if len(names) == 2:  # the query's is w; the key's is w - nu, whichever way it turns
            names, mix = ("relative", "absolute"), ((1, 0), (1, -1))
        return CoefficientRotation(
            {name: torch.zeros_like(bank) for name in names},
            mix,
            torch.full_like(bank, 1 / seconds(self.span)),
            start=torch.stack(start),
            origin=self.origin,
            unit=site.unit,
        )

    def _learned(self) -> tuple[tuple[str, ...], Mix]:
        """Names of the coefficients, and how the turns of queries and of keys are made of them."""
        back = -1 if self.keys == KeyRotation.NONSTATIONARY else 1
        if self.sides == RotatedSides.QUERY:
            return ("query_coefficients",), ((1,), (0,))
        if self.sides == RotatedSides.KEY:
            return ("key_coefficients",), ((0,), (back,))
        if self.coefficients == Coefficients.TIED:
            return ("coefficients",), ((1,), (back,))
        return ("query_coefficients", "key_coefficients"), ((1, 0), (0, back))


def _scale(length: Duration) -> float:
    """Seconds; of a plain number the bank itself says what is wrong with it."""
    return seconds(length) if isinstance(length, str | timedelta) else length
