"""Lesson: what Lightning calls in each step and after each epoch."""

from collections.abc import Callable
from functools import partial

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import Checkpoint
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from rota.models.base import Network
from rota.training.divergence import LossGuard
from rota.training.order import EpochOrder
from rota.training.progress import Progress
from rota.training.recipe import Training
from rota.training.seeds import Purpose, stream_seed
from rota.training.windows import TrainingBatch

__all__: list[str] = []

SCORE = "validation"


class Lesson(LightningModule):
    """One step of learning, and the validation after each epoch."""

    def __init__(
        self,
        network: Network,
        training: Training,
        order: EpochOrder,
        counts: Tensor,
        validate: Callable[[], float],
    ) -> None:
        super().__init__()
        self.network, self.training_recipe, self.order, self.validate = network, training, order, validate
        self.counts = counts
        self.validation: list[float] = []
        self.guard = LossGuard(network)

    def transfer_batch_to_device(
        self, batch: TrainingBatch, device: torch.device, dataloader_idx: int
    ) -> TrainingBatch:
        return batch.to(device)

    def on_train_epoch_start(self) -> None:
        self.order.set_epoch(self.current_epoch)  # Lightning tells samplers, but not batch samplers

    def training_step(self, batch: TrainingBatch, batch_idx: int) -> Tensor:
        step = partial(stream_seed, self.order.seed)
        torch.manual_seed(step(Purpose.DROPOUT, self.current_epoch, batch_idx))
        negatives = torch.Generator().manual_seed(step(Purpose.NEGATIVES, self.current_epoch, batch_idx))
        features, copies = self.network(batch.batch)
        losses = self.training_recipe.loss.each(
            features.flatten(0, 1)[batch.asked],
            batch.targets,
            self.network.item_embeddings,
            negatives,
            self.counts,
        )
        if copies is not None:
            losses = -copies.mixed(-losses, batch.asked, batch.targets)
        loss = losses.mean()
        self.guard.watch(loss, self.current_epoch, batch_idx)
        return loss

    def on_train_epoch_end(self) -> None:
        self.guard.require_sound(self.current_epoch)
        self.validation.append(self.validate())
        self.log(SCORE, self.validation[-1])

    def configure_optimizers(self) -> Optimizer:
        recipe = self.training_recipe
        decayed = {id(module.weight) for module in self.network.modules() if isinstance(module, nn.Linear)}
        parameters = list(self.network.parameters())
        groups = [
            {"params": [p for p in parameters if id(p) in decayed], "weight_decay": recipe.weight_decay},
            {"params": [p for p in parameters if id(p) not in decayed], "weight_decay": 0.0},
        ]
        return AdamW(groups, lr=recipe.learning_rate, fused=True)


class KeepBest(Checkpoint):
    """Holds the weights of the best epoch; a `Checkpoint`, so that it runs after the epoch's validation."""

    def __init__(self, network: Network, keep: Callable[[], None]) -> None:
        self.network, self.keep = network, keep
        self.score, self.epoch = -float("inf"), -1
        self.state: dict[str, Tensor] = {}

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, Lesson)
        score = pl_module.validation[-1]
        if score > self.score:
            self.score, self.epoch = score, trainer.current_epoch
            self.state = {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}
            self.keep()


class Report(Callback):
    """Tells the caller where training is."""

    def __init__(self, report: Callable[[Progress], None]) -> None:
        self.report = report

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: object, batch: object, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, Lesson)
        assert isinstance(outputs, dict)
        steps = int(trainer.num_training_batches)
        done = tuple(pl_module.validation)
        self.report(Progress(trainer.current_epoch, batch_idx + 1, steps, outputs["loss"], done))
