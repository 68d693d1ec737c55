"""Lesson: one step of learning, from the loss of its targets to new weights."""

from collections.abc import Sequence

import torch
from torch import Tensor

from rota.models.base import Network
from rota.training.divergence import LossGuard
from rota.training.hardware import loss_scaler, lowered_precision
from rota.training.optimizer import Clipping, adamw, set_rate
from rota.training.processes import Processes
from rota.training.recipe import Training
from rota.training.schedule import learning_rate
from rota.training.seeds import Purpose, enter_stream
from rota.training.sharding import is_sharded
from rota.training.step_batch import Part, StepBatch, Syllabus

__all__: list[str] = []


class Lesson:
    """A network that learns, step by step.

    Every target weighs the same, whichever batch it came in: a step's gradient is that of the sum over its
    targets, divided by how many targets a step of the epoch has on average.

    Attributes:
        tally: Sum of the losses of the epoch so far, and number of its targets; on the device, float64.
    """

    def __init__(
        self, network: Network, syllabus: Syllabus, device: str, precision: str, processes: Processes
    ) -> None:
        self.network, self.syllabus, self.processes = network, syllabus, processes
        self.training: Training = syllabus.training
        self.device, self.precision = torch.device(device), precision
        self.counts = syllabus.windows.counts
        self.optimizer = adamw(network, self.training)
        self.clipping = Clipping(network, self.training, processes)
        self.scaler = loss_scaler(device, precision)
        self.guard = LossGuard(network, processes)
        self.tally = torch.zeros(2, dtype=torch.float64, device=self.device)

    def learn(self, batch: StepBatch, validation: Sequence[float]) -> Tensor:
        """Take a step.

        Args:
            batch: What it learns from.
            validation: Scores of the epochs done; the learning rate may follow from them.

        Returns:
            Mean loss of its targets, over all processes, a scalar on the device.

        Raises:
            DivergedError: It, or on a GPU that of one of the last steps, is no finite number.
            InputError: Another process has died.
        """
        loss = torch.zeros((), device=self.device)
        for part in batch.parts:
            loss = loss + self._backward(part.to(self.device), batch)
        gradients = [weights.grad for weights in self.network.parameters() if weights.grad is not None]
        alone = [gradient for gradient in gradients if not is_sharded(gradient)]  # the others are added up
        self.processes.add_up([*alone, loss])
        self.tally += torch.stack((loss.double(), torch.full_like(loss, batch.targets).double()))
        loss = loss / batch.targets
        self.guard.watch(loss, batch.epoch, batch.step)
        self._update(batch, validation)
        return loss

    def _backward(self, part: Part, batch: StepBatch) -> Tensor:
        """Add a part's share to the gradients, and return the sum of its losses."""
        place = (batch.epoch, batch.step, *([part.number] if part.number else []))
        enter_stream(self.syllabus.seed, Purpose.DROPOUT, *place)
        with lowered_precision(self.device.type, self.precision):
            loss = self._losses(part).sum()
            if not part.counts:
                loss = loss * 0
        self.scaler.scale(loss / self.syllabus.targets_per_step).backward()
        return loss.detach()

    def _losses(self, part: Part) -> Tensor:
        lesson = part.lesson
        features, copies = self.network(lesson.batch)
        losses = part.loss(self.training.loss).each(
            features.flatten(0, 1)[lesson.asked],
            lesson.targets,
            self.network.item_embeddings,
            torch.Generator(),  # what there is to draw was drawn with the batch
            self.counts,
        )
        if copies is not None:
            losses = -copies.mixed(-losses, lesson.asked, lesson.targets)
        return losses

    def _update(self, batch: StepBatch, validation: Sequence[float]) -> None:
        done = batch.epoch * self.syllabus.steps + batch.step
        set_rate(self.optimizer, learning_rate(self.training, done, validation))
        self.scaler.unscale_(self.optimizer)
        self.clipping.bound()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
