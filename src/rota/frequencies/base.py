"""Sampling method: how n numbers in [0, 1) are spread before a law's quantile turns them into frequencies."""

from abc import ABC, abstractmethod

from rota.frequencies.streams import Streams
from rota.types import Float64Array


class SamplingMethod(ABC):
    """Spreads ``pairs`` numbers for each of ``heads`` heads; each is uniform on its own."""

    @abstractmethod
    def uniforms(self, pairs: int, heads: int, streams: Streams) -> Float64Array:
        """Numbers in ``[0, 1)``, shape ``(heads, pairs)``, in random order within a head."""
