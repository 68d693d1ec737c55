"""Training: how a network is trained, as a recipe."""

import math
from dataclasses import dataclass, field

from rota.errors import InputError
from rota.tables import Recipe
from rota.training.losses.base import Loss
from rota.training.losses.sampled_softmax import SampledSoftmax


@dataclass(frozen=True)
class Training(Recipe):
    """How a network is trained.

    Attributes:
        epochs: At most so many passes over the targets.
        batch_size: Windows of a step.
        learning_rate: Of AdamW.
        weight_decay: Of matrices; vectors, embeddings and what encodings learn have none.
        patience: Epochs without a better validation score before it stops.
        loss: Over the catalogue.
    """

    epochs: int = 8
    batch_size: int = 24
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    patience: int = 3
    loss: Loss = field(default_factory=SampledSoftmax)

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "patience"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} {getattr(self, name)}: expected at least 1")
        if not 0 < self.learning_rate < math.inf:
            raise InputError(f"learning_rate {self.learning_rate}: expected a finite number above 0")
        if not 0 <= self.weight_decay < math.inf:
            raise InputError(f"weight_decay {self.weight_decay}: expected a finite number, 0 or above")
