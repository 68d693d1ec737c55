"""A stack: blocks one after the other and a norm after the last, and what a block owes."""

from abc import ABC, abstractmethod
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from rota.models.base import Network


class StackedBlock(nn.Module, ABC):
    """One layer of a `StackedNetwork`; what that tells every block is passed on to its attention."""

    @abstractmethod
    def forward(self, x: Tensor, *told: Any) -> Tensor:
        """Transform features of shape ``(batch, length, embedding_dim)``."""

    @abstractmethod
    def probabilities(self, x: Tensor, *told: Any) -> Tensor:
        """Attention within it, by the plain formula, shape ``(batch, heads, length, length)``."""


class StackedNetwork(Network, ABC):
    """Blocks one after the other, and a norm after the last.

    Its weights are drawn and named in one order: what it is told of events, what blocks share, blocks, norm.

    Attributes:
        blocks: Each a `StackedBlock`, which the network of each kind makes, as it makes the norm.
        norm: Of what the last block gives.
    """

    blocks: nn.ModuleList
    norm: nn.LayerNorm

    @abstractmethod
    def told(self, length: int, query_time: Tensor | None, key_time: Tensor | None) -> tuple[Any, ...]:
        """What every block is told beside the features of ``length`` events; times as for `hidden`."""

    def hidden(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """What all layers make of the events."""
        told = self.told(x.shape[1], query_time, key_time)
        for block in self.blocks:
            x = block(x, *told)
        normed: Tensor = self.norm(x)
        return normed

    def layers(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> list[Float[Tensor, "batch heads length length"]]:
        """Attention probabilities of each layer, by the plain formula."""
        told, probabilities = self.told(x.shape[1], query_time, key_time), []
        for block in self.blocks:
            assert isinstance(block, StackedBlock)
            probabilities.append(block.probabilities(x, *told))
            x = block(x, *told)
        return probabilities
