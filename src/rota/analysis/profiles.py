"""The wanted profile against the one that drawn frequencies realise."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.frequencies.drawing import Frequencies
from rota.frequencies.quality import KernelRMSE, realised_profile
from rota.types import Float64Array


@dataclass(frozen=True, eq=False)
class Observed:
    """What was measured of a profile, in its units.

    Attributes:
        lags: Seconds, shape ``(bins,)``.
        value: Likewise.
        low: Lower end of its 95 % band.
        high: Upper end.
    """

    lags: Float64Array
    value: Float64Array
    low: Float64Array
    high: Float64Array


@dataclass(frozen=True)
class ProfileFit:
    """A wanted profile and the frequencies that were drawn for it.

    Attributes:
        label: What is wanted, for instance ``"24 h, 0.5 h"``.
        wanted: Profile f(lag) with f(0) = 1; lags in seconds.
        cycles_per_second: Drawn frequencies, shape ``(layers or draws, heads, pairs)``.
        observed: What the profile was fitted to, where it was measured.
    """

    label: str
    wanted: Callable[[Float64Array], Float64Array]
    cycles_per_second: Float64Array
    observed: Observed | None = None

    def __post_init__(self) -> None:
        shape = np.shape(self.cycles_per_second)
        if len(shape) != 3 or 0 in shape:
            raise InputError(
                f"frequencies of {self.label!r} have shape {shape}: "
                "expected (layers or draws, heads, pairs), none of them 0"
            )

    def realised(self, lag: Float64Array) -> Float64Array:
        """Profile of each head of each layer: the mean of cos(2 pi frequency lag) over its pairs.

        Args:
            lag: Lags in seconds, shape ``(lags,)``.

        Returns:
            Shape ``(layers * heads, lags)``.
        """
        heads = self.cycles_per_second.reshape(-1, self.cycles_per_second.shape[-1])
        return realised_profile(Frequencies(heads, None, None), lag)

    def rmse(self, lag: Float64Array) -> KernelRMSE:
        """Root mean square errors over the lags, of each head of each layer and of their mean."""
        return KernelRMSE.of(self.realised(lag), self.wanted(lag))
