"""Seen items: may a model be right by naming what the user has done before?"""

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from rota.choice import Choice
from rota.histories import Histories, Spans, flat_rows
from rota.types import Int64Array

__all__ = ["SeenItems"]


class SeenItems(Choice):
    """What becomes of the items in a user's own history.

    Attributes:
        KEEP: They are candidates like any other: people return to places.
        DROP: They are no candidates; a target among them is a miss.
    """

    KEEP = "keep"
    DROP = "drop"


def unseen(
    histories: Histories, spans: Spans, rows: Int64Array, scores: Tensor
) -> Bool[Tensor, "batch items"]:
    """True at items that are nowhere in a row's visible history, all of it; in the shape of ``scores``."""
    starts, stops = spans.starts[rows], spans.stops[rows]
    own = np.repeat(np.arange(len(rows)), stops - starts)
    items = histories.items[flat_rows(starts, stops)]
    candidates = torch.ones_like(scores, dtype=torch.bool)
    candidates[torch.from_numpy(own), torch.from_numpy(items)] = False
    return candidates
