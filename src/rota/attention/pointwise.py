"""PointwiseAttention: HSTU's SiLU attention, which takes any rotation and any bias of pairs."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.functional import silu

from rota.attention.pointwise_blocks import silu_sums
from rota.choice import Choice
from rota.encodings.base import Rotation
from rota.encodings.bias import LogitBias
from rota.encodings.numerals import require_whole


class Divisor(Choice):
    """What a sum over events is divided by, where softmax would divide by the sum of its weights.

    Attributes:
        PADDED: The same number for every query, ``max_len + slack``, however short a row or its batch; as
            published.
        LENGTH: The number of events that the query sees, ``i + 1`` for the one at position ``i``. The length
            of the whole row would tell a query how many events come after it.
    """

    PADDED = "padded"
    LENGTH = "length"


class PointwiseAttention(nn.Module):
    """``A_ij = SiLU(q_i k_j + bias_ij) / n`` over ``j <= i`` (HSTU, Zhai et al. 2024, in its published code).

    There is no softmax, so that the weights of a query tell how much there was, and may be below zero; and
    no ``1/sqrt(d)``. Queries and keys are rotated as they are given, in HSTU after a SiLU of their own.
    Padding on the right needs no mask: no real query can see it.

    Memory grows with ``length x width``, and with ``length x length`` only for a bias: backward computes the
    logits again, a block of queries at a time.

    Attributes:
        rotation: Encoding of time or position of queries and keys.
        bias: Of pairs, or ``None``.
        max_len: Most events of a row.
        divisor: What ``n`` is.
        slack: Added to ``max_len`` where the divisor is padded; published 11, the place of the event to be
            predicted and 10 more that the published code keeps free.
        block: Queries computed at a time.
    """

    def __init__(
        self,
        rotation: Rotation,
        bias: LogitBias | None = None,
        *,
        max_len: int,
        divisor: Divisor | str = Divisor.PADDED,
        slack: int = 11,
        block: int = 64,
    ) -> None:
        super().__init__()
        require_whole(max_len, 1, "max_len")
        require_whole(slack, 0, "slack")
        require_whole(block, 1, "block")
        self.rotation, self.bias = rotation, bias
        self.max_len, self.slack, self.block = max_len, slack, block
        self.divisor = Divisor.parse(divisor)

    def forward(
        self,
        q: Float[Tensor, "batch heads length qk_dim"],
        k: Float[Tensor, "batch heads length qk_dim"],
        v: Float[Tensor, "batch heads length value_dim"],
        query_time: Int64[Tensor, "batch length"] | None,
        key_time: Int64[Tensor, "batch length"] | None,
        bias: Float[Tensor, "#batch #heads length length"] | None = None,
    ) -> Float[Tensor, "batch heads length value_dim"]:
        """Attend.

        Args:
            q: Queries, not rotated.
            k: Keys, not rotated.
            v: Values.
            query_time: Time at which each position asks, clock ticks; ``None`` without a clock.
            key_time: Time of each event, likewise.
            bias: What the module's own bias says of each pair, where the caller has computed it, as a network
                does that shares the work of its layers; by default it is asked.

        Raises:
            InputError: A time is missing that the rotation or the bias needs, or features do not fit.
        """
        bias = self._biased(q, query_time, key_time) if bias is None else bias
        q, k = self.rotation(q, k, query_time, key_time)
        return (silu_sums(q, k, v, bias, self.block) / self._divisors(v)).to(v.dtype)

    def weights(
        self,
        q: Float[Tensor, "batch heads length qk_dim"],
        k: Float[Tensor, "batch heads length qk_dim"],
        query_time: Int64[Tensor, "batch length"] | None,
        key_time: Int64[Tensor, "batch length"] | None,
    ) -> Float[Tensor, "batch heads length length"]:
        """Weight of each event (last axis) for each query (third axis), by the plain formula.

        They sum to what they sum to; arguments as for `forward`.
        """
        bias = self._biased(q, query_time, key_time)
        q, k = self.rotation(q, k, query_time, key_time)
        logits = q @ k.mT if bias is None else q @ k.mT + bias
        return silu(logits).tril() / self._divisors(logits)

    def _biased(self, q: Tensor, query_time: Tensor | None, key_time: Tensor | None) -> Tensor | None:
        """What the bias says of each pair of a row; ``None`` where there is none."""
        if self.bias is None:
            return None
        place = torch.arange(q.shape[2], device=q.device)
        return self.bias(query_time, key_time, place, place)

    def _divisors(self, like: Tensor) -> Tensor | int:
        """``n`` of each query, shape ``(length, 1)``, or of all; no bfloat16, which cannot count to 257."""
        if self.divisor == Divisor.PADDED:
            return self.max_len + self.slack
        wide = torch.promote_types(like.dtype, torch.float32)
        return torch.arange(1, like.shape[2] + 1, device=like.device, dtype=wide)[:, None]
