"""Progress: where a training is, and what it left."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Progress:
    """Where training is, after a step.

    Attributes:
        epoch: From 0.
        step: Steps done in this epoch.
        steps: Steps of an epoch.
        loss: Of the step; read it rarely, it may wait for the device.
        validation: Scores of the epochs done, in order.
    """

    epoch: int
    step: int
    steps: int
    loss: Tensor
    validation: tuple[float, ...]


@dataclass(frozen=True)
class Fitted:
    """What training left.

    Attributes:
        validation: Score of each epoch, larger is better.
        best_epoch: The epoch whose weights the network holds now, from 0.
    """

    validation: tuple[float, ...]
    best_epoch: int
