"""Training: how a network is trained, as a recipe."""

import math
from dataclasses import dataclass, field

from rota.errors import InputError
from rota.tables import Recipe
from rota.training.losses.base import Loss
from rota.training.losses.sampled_softmax import SampledSoftmax

_WHOLE = {
    "epochs": 1,
    "batch_size": 1,
    "patience": 1,
    "accumulate": 1,
    "warmup": 0,
    "plateau": 0,
    "num_workers": 0,
}


@dataclass(frozen=True)
class Training(Recipe):
    """How a network is trained.

    Attributes:
        epochs: At most so many passes over the targets.
        batch_size: Windows of a step, over all processes.
        learning_rate: Of AdamW.
        weight_decay: Of matrices; vectors, embeddings and what encodings learn have none.
        patience: Epochs without a better validation score before it stops.
        loss: Over the catalogue.
        accumulate: Parts in which a step computes its batch one after another, each of them in a part of the
            memory. The step is the same but for rounding and dropout's masks.
        warmup: Steps over which the learning rate rises to what it is.
        plateau: Epochs without a better validation score after which the learning rate is lowered; 0: never.
        plateau_factor: By which it is then multiplied.
        clip: Largest norm of the gradient of all that encodings do not learn; ``None``: any.
        clip_coefficients: Largest norm of the gradient of what they learn, such as T-RoPE's coefficients.
        num_workers: Processes that make batches ahead of the steps; 0: none, the best for small logs. It
            changes no number.
    """

    epochs: int = 8
    batch_size: int = 24
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    patience: int = 3
    loss: Loss = field(default_factory=SampledSoftmax)
    accumulate: int = 1
    warmup: int = 0
    plateau: int = 0
    plateau_factor: float = 0.5
    clip: float | None = None
    clip_coefficients: float | None = None
    num_workers: int = 0

    def __post_init__(self) -> None:
        for name, least in _WHOLE.items():
            if getattr(self, name) < least:
                raise InputError(f"{name} {getattr(self, name)}: expected at least {least}")
        for name in ("learning_rate", "clip", "clip_coefficients"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"{name} {value}: expected a finite number above 0")
        if not 0 <= self.weight_decay < math.inf:
            raise InputError(f"weight_decay {self.weight_decay}: expected a finite number, 0 or above")
        if not 0 < self.plateau_factor < 1:
            raise InputError(f"plateau_factor {self.plateau_factor}: expected a number between 0 and 1")
        if self.accumulate > self.batch_size:
            raise InputError(
                f"accumulate {self.accumulate}: expected at most batch_size {self.batch_size}: a part has a "
                "window at least"
            )
