"""InputFeature: what is added to an item's embedding before the first layer; and its recipe."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from jaxtyping import Float, Int64
from torch import Tensor, nn

from rota.tables import Recipe


class InputFeature(nn.Module, ABC):
    """Features of an event's time, and of the time at which the query after it asks.

    Attributes:
        sees_query_time: It depends on the query's time, so that from the first layer on the last position's
            keys and values have seen now.
    """

    sees_query_time: bool = False

    @abstractmethod
    def forward(
        self, key_time: Int64[Tensor, "batch length"] | None, query_time: Int64[Tensor, "batch length"] | None
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """Features to add to the items' embeddings, each token's a function of its own two times.

        Args:
            key_time: Time of each event, int64 clock ticks since the epoch.
            query_time: Time at which each position asks, likewise.

        Raises:
            InputError: A time is missing that it needs.
        """

    if TYPE_CHECKING:  # nn.Module's own says Any
        __call__ = forward


class InputRecipe(Recipe, ABC):
    """Recipe of an `InputFeature`: a frozen dataclass, one TOML table."""

    @abstractmethod
    def build(self, embedding_dim: int, unit: str = "s") -> InputFeature:
        """Build the module; its weights start as those of any ``nn.Module``, from torch's own generator.

        Args:
            embedding_dim: Width of the items' embeddings.
            unit: Unit of the clock: s, ms, us or ns.

        Raises:
            InputError: The width is under 1, or the clock's unit does not fit.
        """
