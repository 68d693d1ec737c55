"""FoPE: a sum of RoPE's waves for each pair of features, and no wave that training never completes."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from rota.encodings.base import Encoding, Rotation
from rota.encodings.numerals import require_base, require_spread, require_whole
from rota.encodings.positions import positions_of
from rota.encodings.site import Site
from rota.errors import InputError
from rota.frequencies.geometric import rope_ladder
from rota.frequencies.streams import streams
from rota.rotary.apply import rotate_by
from rota.rotary.phase import real_turns
from rota.types import Float64Array


class WaveRotation(Rotation):
    """Turns and scales pairs by ``c + i s``, where ``c`` and ``s`` are sums of waves of position.

    It is no rotation in the strict sense: ``c^2 + s^2`` is not 1, so norms are not kept, and a product of
    query and key depends on both positions and not on their distance alone.

    Attributes:
        cosine_mix: Share of each wave in the ``c`` of each pair that turns, float64, shape
            ``(kv_heads, waves, planes)``.
        sine_mix: Share in its ``s``, likewise.
        cycles_per_position: Of the waves, float64, shape ``(waves,)``.
    """

    name = "FoPE"
    cosine_mix: Tensor
    sine_mix: Tensor
    cycles_per_position: Tensor

    def __init__(
        self,
        cosine_mix: Float64[Tensor, "kv_heads waves planes"],
        sine_mix: Float64[Tensor, "kv_heads waves planes"],
        cycles_per_position: Float64[Tensor, " waves"],
        *,
        pairs: int,
        num_heads: int,
    ) -> None:
        super().__init__()
        self.register_buffer("cosine_mix", cosine_mix)
        self.register_buffer("sine_mix", sine_mix)
        self.register_buffer("cycles_per_position", cycles_per_position)
        self.pairs, self.num_heads = pairs, num_heads

    def turn_query(
        self, q: Tensor, *, time: Tensor | None = None, position: Int64[Tensor, "*batch query"] | None = None
    ) -> Tensor:
        """Turn queries, shape ``(batch, heads, query, head_dim)``, by their positions; time is not used."""
        return self._turn(q, position, self.num_heads // self.cosine_mix.shape[0])

    def turn_key(
        self, k: Tensor, *, time: Tensor | None = None, position: Int64[Tensor, "*batch key"] | None = None
    ) -> Tensor:
        """Turn keys, shape ``(batch, kv_heads, key, head_dim)``, by their positions; time is not used."""
        return self._turn(k, position, 1)

    def _turn(self, x: Tensor, position: Tensor | None, group: int) -> Tensor:
        return rotate_by(x, self._points(positions_of(x, position), group, x.dtype))

    def _points(self, position: Tensor, group: int, dtype: torch.dtype) -> Tensor:
        """``c + i s`` of the moving pairs, as `rotate_by` takes them; the other pairs stay as they are.

        The mixing is in float64, which neither autocast nor TF32 touches; there is one for each position.
        """
        angle = 2 * math.pi * real_turns(position[..., None, :, None], self.cycles_per_position).double()
        cosine, sine = (
            torch.repeat_interleave(wave @ mix, group, -3)
            for wave, mix in ((angle.cos(), self.cosine_mix), (angle.sin(), self.sine_mix))
        )
        wide = torch.promote_types(dtype, torch.float32)
        if torch.compiler.is_compiling():
            return torch.stack((cosine, sine), -1).to(wide)
        return torch.complex(cosine, sine).to(wide.to_complex())


@dataclass(frozen=True)
class FoPE(Encoding):
    """Fourier position embedding (Hua et al. 2024, Sec. 4), with the settings of its published code.

    Waves of RoPE's ladder that do not complete a turn in the training length are dropped; pairs that get no
    wave are not turned. Each of the others, at most half of all, starts from one wave and adds all waves by a
    fixed random matrix, one for the cosines and one for the sines of each key head. The published code also
    turns the pairs without a wave, by ``1 + i``, which doubles their share of every logit; that is left out.

    Attributes:
        train_length: Positions of a row in training; waves longer than that are dropped.
        base: Of the ladder.
        gain: Of the Xavier normal law of the matrices; published 0.3, 0.4 and 0.6 for 60M, 180M and 1.2B
            parameters. We take the law of each head's matrix; the published code takes all heads' for one
            tensor, whose numbers are smaller.
    """

    train_length: int = 512
    base: float = 10_000.0
    gain: float = 0.3
    needs_clock = False

    def __post_init__(self) -> None:
        require_whole(self.train_length, 1, "train_length", "FoPE")
        require_base(self.base)
        require_spread(self.gain, "gain", "FoPE")

    def rotation(self, site: Site) -> WaveRotation:
        """Draw the matrices of one layer, for each key head its own.

        Raises:
            InputError: No wave completes a turn in the training length.
        """
        ladder = rope_ladder(site.head_dim, self.base)
        kept = ladder[ladder * self.train_length >= 1]
        if not len(kept):
            raise InputError(
                f"train_length {self.train_length}: no wave completes a turn in it; expected 7 or more"
            )
        planes = min(len(kept), max(1, site.pairs // 2))
        stream = streams(site.seed, site.layer, site.path)
        drawn = [self._mixes(len(kept), planes, stream(head)) for head in range(site.num_kv_heads)]
        cosine, sine = torch.from_numpy(np.stack(drawn, 1))
        cycles = torch.from_numpy(kept)
        return WaveRotation(cosine.clone(), sine.clone(), cycles, pairs=site.pairs, num_heads=site.num_heads)

    def _mixes(self, waves: int, planes: int, rng: np.random.Generator) -> Float64Array:
        """Matrices of one head, for cosine and sine: one wave for each plane, evenly spread, and noise."""
        own = np.zeros((waves, planes))
        at = np.arange(planes) * math.ceil(waves / planes)
        own[at[at < waves], np.flatnonzero(at < waves)] = 1
        spread = self.gain * math.sqrt(2 / (waves + planes))
        return own + spread * rng.standard_normal((2, waves, planes))
