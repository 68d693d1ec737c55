"""RepeatHead: the next item may come from the user's own history, by attention with its own time rotation."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from rota.encodings.base import Encoding, Rotation
from rota.models.copies import Copies
from rota.models.rotations import rotation_of
from rota.tables import Recipe

__all__ = ["RepeatHead"]


class RepeatAttention(nn.Module):
    """Attention of each position over itself and what came before; what it falls on is copied.

    A gate shares the probability between the catalogue and the heads, each of which attends by itself. It is
    a softmax of the position's features, so that it can close for a user who does not return, and for a head
    that knows nothing.

    An event's key is of two things: of the event itself, and of what was known just before it, with the time
    at which it was asked for. A query so finds the events that came in a state like that of now.

    Attributes:
        rotation: Encoding of time or position of queries and keys.
    """

    def __init__(self, embedding_dim: int, num_heads: int, rotation: Rotation) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(embedding_dim, embedding_dim)
        self.event_key = nn.Linear(embedding_dim, embedding_dim)
        self.state_key = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.gate = nn.Linear(embedding_dim, num_heads + 1)
        self.rotation = rotation

    def forward(
        self,
        events: Float[Tensor, "batch length embedding_dim"],
        hidden: Float[Tensor, "batch length embedding_dim"],
        items: Int64[Tensor, "batch length"],
        query_time: Int64[Tensor, "batch length"] | None,
        key_time: Int64[Tensor, "batch length"] | None,
    ) -> Copies:
        """Say what each position would copy.

        Args:
            events: Each event as the first layer is told of it.
            hidden: What all layers made of them.
            items: Item of each event.
            query_time: Time at which each position asks, clock ticks.
            key_time: Time of each event, likewise.
        """
        before = torch.cat((torch.zeros_like(hidden[:, :1]), hidden[:, :-1]), 1)
        q = self._heads(self.query(hidden))
        k = self._heads(self.event_key(events) + self.state_key(before))
        q, k = self.rotation(q, k, query_time, key_time)
        logits = (q @ k.mT).float() / math.sqrt(q.shape[-1])
        future = torch.ones(logits.shape[-2:], dtype=torch.bool, device=logits.device).triu(1)
        falls = logits.masked_fill(future, -math.inf).softmax(-1)
        shares = self.gate(hidden).float().log_softmax(-1)
        copied = (falls * shares[..., 1:].exp().mT[..., None]).sum(1)
        return Copies(shares[..., 0], copied, items)

    def _heads(self, x: Tensor) -> Tensor:
        heads: Tensor = x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        return heads


@dataclass(frozen=True)
class RepeatHead(Recipe):
    """Recipe of the head.

    Attributes:
        encoding: Of time or position; ``None`` takes that of the model's layers, with a draw of its own.
    """

    encoding: Encoding | None = None

    def clocks(self) -> list[str]:
        """Names of its parts that cannot do without a clock."""
        needy = self.encoding is not None and self.encoding.needs_clock
        return [type(self.encoding).__name__] if needy else []

    def build(
        self, embedding_dim: int, num_heads: int, *, encoding: Encoding, layer: int, seed: int, unit: str
    ) -> RepeatAttention:
        """Build the head.

        Args:
            embedding_dim: Width of the network.
            num_heads: Heads.
            encoding: That of the network's layers.
            layer: Index that its draw has, that of no layer of the network.
            seed: Of the run.
            unit: Unit of the clock.

        Raises:
            InputError: The encoding does not fit the width.
        """
        own = self.encoding or encoding
        rotation = rotation_of(
            own, head_dim=embedding_dim // num_heads, num_heads=num_heads, layer=layer, seed=seed, unit=unit
        )
        return RepeatAttention(embedding_dim, num_heads, rotation)
