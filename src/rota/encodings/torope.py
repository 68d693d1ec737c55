"""TO-RoPE: rotation by the index and by the time, added in each plane or dealt to planes or heads."""

from dataclasses import dataclass

import torch
from torch import Tensor

from rota.choice import Choice
from rota.encodings.base import Encoding
from rota.encodings.fused import FusedRotation
from rota.encodings.origins import START_OF_2020, require_origin
from rota.encodings.shares import share_heads, share_pairs
from rota.encodings.site import Site
from rota.errors import InputError
from rota.frequencies.geometric import rope_ladder
from rota.types import Duration
from rota.units import seconds


class Fusion(Choice):
    """How index and time share a head: in every plane, or each its own planes, or its own heads."""

    EARLY = "early"
    DIMENSION = "dimension"
    HEAD = "head"


@dataclass(frozen=True)
class TORoPE(Encoding):
    """Time-and-order RoPE (TO-RoPE, Wei et al. 2025, arXiv 2510.20455), of queries and keys alike.

    Plane ``k`` of event ``i`` turns by ``(1 - lambda_k) a_p i omega^p_k + lambda_k a_t tau_i omega^t_k``
    radians, with ``tau_i = (t_i - origin) / scale``. Early fusion has ``lambda_k`` equal to the time share in
    every plane; the splits have 0 or 1, by plane or by head. Only gaps matter: a common shift of all times
    changes nothing (T-RoPE, Remark 2).

    The formula is from secondary sources; no official code was found. **Our reading** is what they leave
    open, each a parameter: the scale, the ladder of time (RoPE's, of ``tau``), one origin for all sequences
    instead of one for each (logits do not depend on it, cached keys would), the splits' ladders (each spans
    the planes it is given, order before time), what is learned (the two gains ``a_p`` and ``a_t`` of a
    layer; in early fusion they say all that a learned ``lambda`` would), and the split by planes as default,
    since the splits are reported better than early fusion.

    Attributes:
        fusion: ``"early"``, ``"dimension"`` or ``"head"``.
        time_share: Of the phase, the planes (largest remainder) or the key heads (whole heads), between 0
            and 1; reported best from 0.3 to 0.5.
        scale: Time that counts as much as one event, kept as seconds.
        position_base: Of the ladder of the index.
        time_base: Of the ladder of time: its time scales run from ``scale`` to ``time_base`` times that.
        learned: Train the gains; both start at 1. A step of 1e-3 then moves the fastest plane by a
            thousandth of ``tau``, in radians: choose a scale that is not small against the log.
        origin: Seconds since the epoch from which ``tau`` is counted; by default the start of 2020.
    """

    fusion: Fusion | str = Fusion.DIMENSION
    time_share: float = 0.5
    scale: Duration = "24h"
    position_base: float = 10_000.0
    time_base: float = 10_000.0
    learned: bool = True
    origin: int = START_OF_2020
    needs_clock = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "fusion", Fusion.parse(self.fusion))
        object.__setattr__(self, "scale", seconds(self.scale))
        if not 0 < self.time_share < 1:
            raise InputError(
                f"time_share {self.time_share} of TO-RoPE: expected a number between 0 and 1; use RoPE for "
                "the index alone"
            )
        require_origin(self.origin, "TO-RoPE")

    def rotation(self, site: Site) -> FusedRotation:
        """Build the rotation; layer and seed do not matter to where it starts.

        Raises:
            InputError: A base is not above 1, or the share leaves index or time without a plane, or is not
                a whole number of key heads.
        """
        by_position, by_time = self._ladders(site)
        return FusedRotation(
            by_position,
            by_time / seconds(self.scale),
            num_heads=site.num_heads,
            learned=self.learned,
            origin=self.origin,
            unit=site.unit,
        )

    def _ladders(self, site: Site) -> tuple[Tensor, Tensor]:
        """Cycles per position and per unit of ``tau``, weighted by the shares; ``(1 or kv_heads, pairs)``."""
        shares = (1 - self.time_share, self.time_share)
        if self.fusion == Fusion.DIMENSION:
            order, time = share_pairs(site.pairs, 2, shares)
            position, tau = _ladder(order, self.position_base), _ladder(time, self.time_base)
            return torch.cat((position, 0 * tau), -1), torch.cat((0 * position, tau), -1)
        position, tau = _ladder(site.pairs, self.position_base), _ladder(site.pairs, self.time_base)
        if self.fusion == Fusion.EARLY:
            return position * shares[0], tau * shares[1]
        order, time = share_heads(site.num_kv_heads, 2, shares)
        of_time = torch.tensor([0.0] * order + [1.0] * time, dtype=torch.float64)[:, None]
        return position * (1 - of_time), tau * of_time


def _ladder(pairs: int, base: float) -> Tensor:
    return torch.from_numpy(rope_ladder(2 * pairs, base))[None]
