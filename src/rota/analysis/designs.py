"""Design: a wanted profile, what can be had of it, and a draw that realises it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rota.analysis.spread import Spread
from rota.frequencies.convergence import PairsNeeded
from rota.frequencies.drawing import Frequencies
from rota.frequencies.quality import KernelRMSE, realised_profile, still_share
from rota.kernels.base import Kernel
from rota.kernels.certificate import Certificate
from rota.spectra.base import Law
from rota.spectra.discrete import Discrete
from rota.spectra.lattice import Lattice
from rota.spectra.mixture import Mixture
from rota.types import Float64Array

SCHEMA = "rota.design/1"
_QUANTILES = 2048


@dataclass(frozen=True, eq=False)
class Design:
    """What `design` found.

    Attributes:
        wanted: The profile that was asked for.
        certificate: Whether it is positive definite, that is, whether any law realises it.
        drawn: The profile that is drawn: the wanted one, or the nearest that is admissible.
        distance: Largest difference of the two that was found at any lag, see `Projection`; 0 where they
            are one.
        whole: Law of the drawn profile.
        law: The same as frequencies come from it: truncated, and folded where that was asked.
        truncation: As asked for: a harmonic, a shortest cycle, or ``None`` for the default.
        frequencies: The draw.
        method: How it was spread.
        seed: Of the draw.
        lags: Over which errors are measured, in seconds, shape ``(lags,)``.
        profile: The drawn profile at the lags.
        spread: What other seeds would have drawn.
        error: For which `needed` is given.
        confidence: Likewise.
        needed: Pairs that keep the profile within the error at a lag, with that confidence.
    """

    wanted: Kernel
    certificate: Certificate
    drawn: Kernel
    distance: float
    whole: Law
    law: Law
    truncation: int | str | None
    frequencies: Frequencies
    method: str
    seed: int
    lags: Float64Array
    profile: Float64Array
    spread: Spread
    error: float
    confidence: float
    needed: PairsNeeded

    @cached_property
    def realised(self) -> Float64Array:
        """Profile of each head at the lags, shape ``(heads, lags)``."""
        return realised_profile(self.frequencies, self.lags)

    @cached_property
    def rmse(self) -> KernelRMSE:
        """Error of the draw over the lags, from the drawn profile."""
        return KernelRMSE.of(self.realised, self.profile)

    @cached_property
    def merged(self) -> Law:
        """The law that frequencies come from, on one lattice where it has one."""
        return self.law.merged() if isinstance(self.law, Mixture) else self.law

    @property
    def highest(self) -> float:
        """Largest frequency that can be drawn, in cycles per second; infinite for a density that is whole."""
        one = self.merged
        if isinstance(one, Lattice):
            return float(np.abs(one.frequencies).max())
        return float("inf") if self.law.mass_cut == 0 else float(self.law.fold().quantile(1 - 2.0**-53))

    @property
    def still(self) -> tuple[float, float]:
        """Share of pairs that never rotate: expected of the law, and of the draw."""
        return float(self.merged.mass_at(0.0)), float(still_share(self.frequencies).mean())

    @cached_property
    def conjugate(self) -> tuple[float, float]:
        """Largest mean of ``sin(2 pi xi lag)``, which folding brings, and the lag in seconds where it is.

        To three digits: on some hundred lags, and for a density on even quantiles.
        """
        one, lags = self.merged, self.lags[:: max(1, len(self.lags) // 720)]
        if not one.is_folded:
            return 0.0, 0.0
        if isinstance(one, Discrete):
            term = np.abs(one.characteristic(lags).imag)
        else:
            even = one.quantile((np.arange(_QUANTILES) + 0.5) / _QUANTILES)
            term = np.abs(np.sin(2 * np.pi * np.multiply.outer(lags, even)).mean(axis=1))
        return float(term.max()), float(lags[term.argmax()])

    def facts(self) -> Mapping[str, object]:
        """What ``rota prior --json`` writes."""
        one, certificate, drawn = self.merged, self.certificate, self.frequencies
        expected, found = self.still
        lattice = isinstance(one, Lattice)
        return {
            "schema": SCHEMA,
            "expression": str(self.wanted),
            "certificate": {
                "verdict": str(certificate.verdict),
                "reason": certificate.reason,
                "tolerance": certificate.tolerance,
            },
            "drawn": {"expression": str(self.drawn), "distance": self.distance},
            "law": {
                "kind": type(one).__name__.lower(),
                "period": one.period if isinstance(one, Lattice) else None,
                "folded": one.is_folded,
                "harmonics": one.harmonics.tolist() if isinstance(one, Lattice) else None,
                "masses": one.masses.tolist() if isinstance(one, Lattice) else None,
            },
            "truncation": {
                "s": int(np.abs(one.harmonics).max()) if isinstance(one, Lattice) else None,
                "cycles_per_second": self.highest if np.isfinite(self.highest) else None,
                "mass_cut": self.law.mass_cut,
                "sup_error": self.law.sup_error,
            },
            "still_share": {"expected": expected, "drawn": found},
            "rmse": {
                "per_head": float(self.rmse.heads.mean()),
                "mean_over_heads": self.rmse.together,
                "lags_up_to": float(self.lags[-1]),
                "expected": {
                    "seeds": self.spread.seeds,
                    "per_head": list(self.spread.head_error),
                    "mean_over_heads": list(self.spread.mean_error),
                },
            },
            "conjugate": dict(zip(("largest", "lag"), self.conjugate, strict=True)),
            "pairs_needed": {
                "error": self.error,
                "confidence": self.confidence,
                "bound": self.needed.bound,
                "normal": self.needed.normal,
            },
            "frequencies": {
                "method": self.method,
                "seed": self.seed,
                "cycles_per_second": drawn.cycles_per_second.tolist(),
                "harmonics": drawn.harmonics.tolist() if drawn.harmonics is not None and lattice else None,
                "period": None if drawn.period is None else int(drawn.period),
            },
        }
