"""ROTE: rotation by position, and by the logarithm of how long ago it was."""

from dataclasses import dataclass

import torch

from rota.encodings.base import Encoding
from rota.encodings.gaps import Gap, GapRotation
from rota.encodings.site import Site
from rota.errors import InputError
from rota.frequencies.geometric import rope_ladder
from rota.types import Duration
from rota.units import seconds


@dataclass(frozen=True)
class ROTE(Encoding):
    """Rotary temporal encoding (ROTE, Kunlun, arXiv 2602.10016), of queries and keys by one rotation.

    Plane ``j`` of an event turns by ``i theta_j + tau_i phi_j`` radians, ``i`` its position and
    ``tau_i = log(1 + gap / scale)``, of a gap without sign. The formula is from secondary sources and no
    official code was found; what the gap is, scale, ladders and what is learned are **our reading**, each a
    parameter. ReST's RoTE and a rotation by year, month and day are other methods of the same name.

    The gap to the request, ``t_now - t_i``, makes the phase of a query and a key
    ``phi log((1 + D_q / scale) / (1 + D_k / scale))``: all keys turn anew at every request, and **none can be
    cached**. A rotation has one ``now`` for a row, the latest time at which its queries ask (the last
    event's, with time access history). Where a row trains many queries, that is the future of all but the
    last: they are told how long before the end of the row they and their keys are, though not what follows,
    and serving, which asks the last alone at a gap of 0, never shows such phases. Only the last query of a
    row is answered honestly; a gap of each query's own would need keys of its own. It cannot be a part of
    `Split` or `HeadSplit`, which turn queries and keys apart.

    The gap to the previous event, ``t_i - t_(i-1)``, has no such leak. Queries have the gap between the
    times at which they ask, and the first of a row has 0. It knows a key's predecessor only within one call,
    so it is not cached either: a block of new events lacks the time before its first. The same holds for
    queries: one that is rotated alone, as when writing token by token by hand, is the first of its row and
    has gap 0, whatever its time. Rotate the whole row again and keep the last.

    Attributes:
        gap: ``"request"`` or ``"previous"``.
        scale: Gap at which the logarithm bends, kept as seconds.
        time_base: Of the ladder ``phi_j = time_base^(-2j / head_dim)``.
        position: Turn by position too.
        position_base: Of the ladder ``theta_j`` of positions, RoPE's.
        learned: Train ``phi``, which starts as the ladder; a step of 1e-3 moves a gap of ten years, with the
            default scale, by 0.008 turns at most.
    """

    gap: Gap | str = Gap.REQUEST
    scale: Duration = "24h"
    time_base: float = 10_000.0
    position: bool = True
    position_base: float = 10_000.0
    learned: bool = False
    needs_clock = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gap", Gap.parse(self.gap))
        object.__setattr__(self, "scale", seconds(self.scale))

    def rotation(self, site: Site) -> GapRotation:
        """Build the rotation; layer and seed do not matter to where it starts.

        Raises:
            InputError: A base is not above 1, or it is part of a combination and counts gaps to the request.
        """
        gap = Gap.parse(self.gap)
        if gap == Gap.REQUEST and site.path:
            raise InputError(
                "ROTE by the gap to the request cannot share a layer, which turns queries and keys apart: "
                'use it alone (it has the position already), or with gap "previous"'
            )
        ladder = torch.from_numpy(rope_ladder(site.head_dim, self.position_base))
        return GapRotation(
            ladder if self.position else torch.zeros_like(ladder),
            torch.from_numpy(rope_ladder(site.head_dim, self.time_base)),
            scale=seconds(self.scale),
            gap=gap,
            learned=self.learned,
            unit=site.unit,
        )
