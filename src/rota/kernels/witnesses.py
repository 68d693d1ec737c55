"""Witnesses of a whole: whether a sum or product is positive definite when not all of its parts are."""

from collections.abc import Sequence

import numpy as np

from rota.kernels.base import Kernel
from rota.kernels.certificate import Certificate, Verdict, Witness
from rota.kernels.evidence import first_flaw
from rota.kernels.searching import Found, rounding_of, search

__all__: list[str] = []


def certificate_of_parts(
    kernel: Kernel, parts: Sequence[Kernel], sensitivity: Sequence[float]
) -> Certificate:
    """Certificate of a sum or product: its parts' if all are admissible, else what a search shows.

    Args:
        kernel: The whole.
        parts: What it is made of.
        sensitivity: By how much a sup error of each part can change the whole.
    """
    known = [part.certificate() for part in parts]
    doubtful = [(part, one) for part, one in zip(parts, known, strict=True) if one.verdict != Verdict.YES]
    if not doubtful:
        tolerance = sum(by * one.tolerance for by, one in zip(sensitivity, known, strict=True))
        return Certificate(
            Verdict.YES, "sums with positive weights and products of admissible profiles are", None, tolerance
        )
    flaw = first_flaw(kernel)
    if flaw is not None:
        return flaw
    seen = [one.witness for _, one in doubtful if one.witness is not None and one.witness.weights is not None]
    found = min(
        [search(kernel), *(_seen_again(kernel, witness) for witness in seen)], key=lambda one: one.clarity
    )
    worst = next((one for one in doubtful if one[1].verdict == Verdict.NO), doubtful[0])
    which = f"{worst[0]} is not {'' if worst[1].verdict == Verdict.NO else 'known to be '}positive definite"
    if found.is_negative:
        reason = f"{which}, and the whole has a quadratic form of {found.witness.value:.2g}"
        return Certificate(Verdict.NO, reason, found.witness)
    reason = f"{which}, and no negative quadratic form of the whole was found"
    # How far from admissible a part is that is none, no one has measured; profiles differ by 2 at most.
    by_part = [2.0 if one.verdict == Verdict.NO else one.tolerance for one in known]
    tolerance = sum(by * far for by, far in zip(sensitivity, by_part, strict=True))
    return Certificate(Verdict.UNDECIDED, reason, None, min(tolerance, 2.0))


def _seen_again(kernel: Kernel, witness: Witness) -> Found:
    """What shows a part not to be positive definite may show it of the whole."""
    assert witness.weights is not None
    lags = np.subtract.outer(witness.points, witness.points)
    form = float(witness.weights @ kernel(lags) @ witness.weights)
    again = Witness(witness.points, witness.weights, form)
    return Found(again, len(witness.points) * rounding_of(kernel, lags[0]))
