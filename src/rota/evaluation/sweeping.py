"""Ranks of a model whose scores are products, without ever holding the scores of a whole catalogue.

Items are scored a block at a time, and counted while the scores are still in the processor's cache. To write
the scores of all items down takes longer than to make them: a batch of them is larger than any cache.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from rota.batch import Batch
from rota.evaluation.answering import Answering, require_catalogue
from rota.evaluation.counting import block_width, ones_of, refuse_nan
from rota.evaluation.ranking import require_codes
from rota.evaluation.seen import SeenPairs
from rota.models.base import Network, Outlook, Scorer
from rota.types import Int64Array

__all__: list[str] = []


@dataclass(frozen=True)
class Product(Answering):
    """A network whose scores are the products of its features with items: it answers with the features.

    Attributes:
        network: The network.
        items: What its features are multiplied with, shape ``(items, embedding_dim)``.
        largest: Largest absolute number of these; NaN where one is NaN.
    """

    network: Network
    items: Float[Tensor, "items embedding_dim"]
    largest: float

    @classmethod
    def of(cls, scorer: Scorer, num_items: int) -> "Product | None":
        """The scorer as a product; ``None`` where it is none: a baseline, or a network with a repeat head.

        Args:
            scorer: The scorer.
            num_items: Size of the catalogue.

        Raises:
            InputError: It is of another catalogue.
        """
        if not isinstance(scorer, Network) or scorer.repeat_head is not None:
            return None
        items = scorer.item_embeddings
        require_catalogue(scorer, len(items), num_items)
        return cls(scorer, items, float(items.abs().max()))

    def answers(self, batch: Batch) -> Float[Tensor, "batch embedding_dim"]:
        """Features of each row's last event; `Network.scores` is their product with the items.

        Raises:
            InputError: As `Network.forward`.
        """
        outlook: Outlook = self.network(batch)
        return outlook.last(batch.lengths)

    def ranks(
        self, answers: Float[Tensor, "rows embedding_dim"], targets: Int64Array, seen: SeenPairs | None
    ) -> Int64[Tensor, " rows"]:
        """Rank by scores that are made and counted a block of items at a time; arguments as above."""
        codes = torch.from_numpy(targets).to(self.items.device)
        require_codes(codes, len(self.items))
        count, rows, items = len(targets), np.arange(len(targets)), targets
        if seen is not None:
            rows, items = np.concatenate([rows, seen.rows]), np.concatenate([items, seen.items])
        bars = (answers @ self.items[codes].T).diagonal()
        ranks, met = self._swept(answers, bars, rows, items)
        if not torch.equal(met[:count], bars):  # products of another shape may be rounded otherwise
            bars = met[:count]
            ranks, met = self._swept(answers, bars, rows, items)
        return ranks if seen is None else seen.left_out(ranks, met[count:], bars, targets)

    def _swept(
        self, features: Tensor, bars: Tensor, rows: Int64Array, items: Int64Array
    ) -> tuple[Tensor, Tensor]:
        """How many scores reach the bar of each row, shape ``(rows,)``; and the scores of some pairs."""
        width = block_width(len(features), len(self.items), features.device)
        firsts = np.arange(0, len(self.items), width)
        starts = np.minimum(firsts, len(self.items) - width)  # the last is as wide, so rounded as the others
        order = np.argsort(items, kind="stable")
        flat = torch.from_numpy((rows * width + items - starts[items // width])[order]).to(features.device)
        places = flat.tensor_split(torch.from_numpy(np.searchsorted(items[order], firsts[1:])))
        tile, bar = features.new_empty(len(features), width), bars[:, None].contiguous()
        counts = torch.empty(len(firsts), len(features), device=features.device)
        numbers, suspect, met = tile.view(-1), self._may_be_nan(features), []
        for block, (first, start) in enumerate(zip(firsts.tolist(), starts.tolist(), strict=True)):
            torch.mm(features, self.items[start : start + width].T, out=tile)
            if suspect:
                refuse_nan(tile, start)
            met.append(numbers.index_select(0, places[block]))
            counts[block] = ones_of(tile.ge_(bar)[:, first - start :])
        scores = features.new_empty(len(items))
        scores[torch.from_numpy(order).to(features.device)] = torch.cat(met)
        return counts.long().sum(0), scores

    def _may_be_nan(self, features: Tensor) -> bool:
        """Whether a score can be NaN: not while no sum of products can pass what the numbers hold."""
        largest = float(features.abs().max()) * self.largest * features.shape[-1]
        return not largest < torch.finfo(features.dtype).max
